"""Geometries of an FBX file: polygons cut into triangles, and what stands at their corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_parse import Element

MOST_UVS = 8
POINT_BYTES = 80
"""Memory that a point takes, with one joint that carries it."""
COLUMN_BYTES = 32
"""Memory that a value at a corner takes while equal corners are found."""


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Points of triangles: one for every place, normal and texture coordinate that go together."""

    points: FloatArray
    """Shape (V, 3)."""
    places: IntArray
    """Which of the file's points each of them is. Shape (V,)."""
    triangles: IntArray
    """Shape (T, 3)."""
    surfaces: IntArray
    """Which of the materials of the model each triangle has. Shape (T,)."""
    normals: FloatArray | None
    uvs: tuple[FloatArray, ...]
    colours: FloatArray | None
    n_places: int
    is_cut: bool
    """Whether some polygons had more than three corners."""


@dataclass(frozen=True, slots=True, eq=False)
class _Polygons:
    places: IntArray
    """Point at every corner. Shape (M,)."""
    polygon: IntArray
    """Polygon of every corner. Shape (M,)."""
    corners: IntArray
    """Corners of each triangle. Shape (T, 3)."""


def read_geometry(document: FbxDocument, element: Element) -> Geometry | None:
    """The triangles of a geometry; None where it has none."""
    vertices, indices = element.child("Vertices"), element.child("PolygonVertexIndex")
    if vertices is None or indices is None:
        return None
    points = _finite(document, vertices)
    points = points[: len(points) // 3 * 3].reshape(-1, 3)
    document.budget.take(POINT_BYTES * len(points), "its points", document.place(element))
    polygons = _polygons(document, indices, len(points))
    if not len(polygons.corners):
        return None
    reader = _Layers(document, element, polygons, len(points))
    normals, colours = reader.first("LayerElementNormal", "Normals", 3), reader.colours()
    uvs = reader.every("LayerElementUV", "UV", 2)
    columns = [polygons.places[:, None].astype(np.float64)]
    columns += [each for each in (normals, *uvs, colours) if each is not None]
    rows = np.column_stack(columns)
    document.budget.check(COLUMN_BYTES * rows.size, "its corners", document.place(element))
    used = np.unique(polygons.corners)
    _, first, same = np.unique(rows[used], axis=0, return_index=True, return_inverse=True)
    point_of = np.zeros(len(rows), dtype=np.int64)
    point_of[used] = same.reshape(-1)
    at = used[first]
    return Geometry(
        points[polygons.places[at]],
        polygons.places[at],
        point_of[polygons.corners],
        reader.surfaces()[polygons.polygon[polygons.corners[:, 0]]],
        None if normals is None else normals[at],
        tuple(np.column_stack([uv[at, 0], 1.0 - uv[at, 1]]) for uv in uvs),
        None if colours is None else colours[at],
        len(points),
        len(polygons.corners) > int(polygons.polygon[-1]) + 1,
    )


def _polygons(document: FbxDocument, element: Element, n_points: int) -> _Polygons:
    stated = _finite(document, element).astype(np.int64)
    ends = np.flatnonzero(stated < 0)
    stated = stated[: ends[-1] + 1] if ends.size else stated[:0]
    places = np.where(stated < 0, -1 - stated, stated)
    if places.size and places.max() >= n_points:
        raise FormatError(
            f"Polygons must name points below {n_points}, got {int(places.max())}.",
            where=document.place(element),
            fix="The file is damaged: copy or export it again.",
        )
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1] + 1])[: len(ends)]
    sizes = ends - starts + 1
    polygon = np.repeat(np.arange(len(ends)), sizes)
    cuts = np.maximum(sizes - 2, 0)
    owner = np.repeat(np.arange(len(ends)), cuts)
    turn = np.arange(len(owner)) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    first = starts[owner]
    return _Polygons(places, polygon, np.column_stack([first, first + turn + 1, first + turn + 2]))


@dataclass(frozen=True, slots=True, eq=False)
class _Layers:
    """Values at the corners, points or polygons of a geometry."""

    document: FbxDocument
    element: Element
    polygons: _Polygons
    n_points: int

    def first(self, kind: str, name: str, width: int) -> FloatArray | None:
        """Values at every corner (M, width); None where there are none."""
        layer = self.element.child(kind)
        return None if layer is None else self._at_corners(layer, name, width)

    def every(self, kind: str, name: str, width: int) -> list[FloatArray]:
        """Values of every layer of a kind that has some."""
        layers = [each for each in self.element.children if each.name == kind][:MOST_UVS]
        values = (self._at_corners(layer, name, width) for layer in layers)
        return [each for each in values if each is not None]

    def colours(self) -> FloatArray | None:
        """Colours at corners (M, 4)."""
        return self.first("LayerElementColor", "Colors", 4)

    def surfaces(self) -> IntArray:
        """Material of every polygon. Shape (P,)."""
        n = int(self.polygons.polygon[-1]) + 1
        layer = self.element.child("LayerElementMaterial")
        listed = None if layer is None else layer.child("Materials")
        if layer is None or listed is None:
            return np.zeros(n, dtype=np.int64)
        rows = _finite(self.document, listed).astype(np.int64)
        if _text(layer, "MappingInformationType") != "ByPolygon" or len(rows) < n:
            return np.full(n, rows[0] if len(rows) else 0)
        return rows[:n]

    def _at_corners(self, layer: Element, name: str, width: int) -> FloatArray | None:
        stored = layer.child(name)
        if stored is None:
            return None
        values = _finite(self.document, stored)
        values = values[: len(values) // width * width].reshape(-1, width)
        mapping = _text(layer, "MappingInformationType")
        if mapping == "ByPolygonVertex":
            rows = np.arange(len(self.polygons.places))
        elif mapping in ("ByVertice", "ByVertex"):
            rows = self.polygons.places
        elif mapping == "ByPolygon":
            rows = self.polygons.polygon
        elif mapping == "AllSame":
            rows = np.zeros(len(self.polygons.places), dtype=np.int64)
        else:
            return None
        indices = layer.child(f"{name}Index") or layer.child(f"{name.removesuffix('s')}Index")
        if _text(layer, "ReferenceInformationType") != "Direct" and indices is not None:
            listed = _finite(self.document, indices)
            self._check_rows(rows, len(listed), layer)
            rows = listed[rows].astype(np.int64)
        self._check_rows(rows, len(values), layer)
        return values[rows]

    def _check_rows(self, rows: IntArray, n: int, layer: Element) -> None:
        if rows.size and not 0 <= rows.min() <= rows.max() < n:
            raise FormatError(
                f"A layer must have a value for each corner; it has {n} and row "
                f"{int(rows.max())} is asked for.",
                where=self.document.place(layer),
                fix="The file is damaged: copy or export it again.",
            )


def _text(element: Element, name: str) -> str:
    child = element.child(name)
    return "" if child is None else child.text(0)


def _finite(document: FbxDocument, element: Element) -> FloatArray:
    values = document.numbers(element)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e15:
        raise FormatError("Meshes must have finite numbers.", where=document.place(element))
    return values
