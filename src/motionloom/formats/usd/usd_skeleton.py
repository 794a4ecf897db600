"""A UsdSkel Skeleton: joints, parents and the rest pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.text import unique_names
from motionloom.formats.usd.usd_prims import Prim
from motionloom.formats.usd.usd_tokens import Tokens, text_of
from motionloom.formats.usd.usd_xforms import flat_numbers
from motionloom.rotation import quat

_SAME_TURN = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class UsdSkeleton:
    """Joints in the file's own unit and axes, parents before children."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    parents: tuple[int, ...]
    places: FloatArray
    """Rest translation in the parent. Shape (N, 3)."""
    turns: FloatArray
    """Rest rotation in the parent. Shape (N, 4)."""
    scales: FloatArray
    """Rest scale in the parent. Shape (N, 3)."""
    n_ends: int = 0
    """How many of the last joints are end sites of ours."""


def texts_of(prim: Prim, name: str) -> list[str]:
    """The strings of an attribute, empty where there is none."""
    entry = prim.properties.get(name)
    value = None if entry is None else entry.value
    if not isinstance(value, list):
        return []
    return [text_of(each) for each in value if isinstance(each, str)]


def read_skeleton(prim: Prim, tokens: Tokens, max_joints: int) -> UsdSkeleton:
    """The joints of a Skeleton prim."""
    paths = texts_of(prim, "joints")
    if not 1 <= len(paths) <= max_joints:
        raise FormatError(
            f"A skeleton must have 1 to {max_joints} joints, got {len(paths)}.", where=prim.path
        )
    if len(set(paths)) != len(paths):
        raise FormatError("Every joint must have its own path.", where=f"{prim.path}.joints")
    names = texts_of(prim, "jointNames")
    if len(names) != len(paths):
        names = [path.rpartition("/")[2] for path in paths]
    order = list(range(len(paths)))
    if any(parent >= j for j, parent in enumerate(_parents(paths))):
        order.sort(key=lambda j: paths[j].count("/"))
    matrices = _rest_matrices(prim, tokens, paths)[order]
    paths, names = [paths[j] for j in order], [names[j] for j in order]
    parents = _parents(paths)
    scales = np.linalg.norm(matrices[:, :3, :3], axis=1)
    if not scales.min() > 1e-6:
        raise FormatError("A rest transform must not be flat.", where=prim.path)
    turns = quat.from_matrix(matrices[:, :3, :3] / scales[:, None, :])
    ends = prim.properties.get("motionloom:endSites")
    n_ends = 0
    if ends is not None and str(ends.value).isdecimal():
        n_ends = min(int(str(ends.value)[:9]), len(paths) - 1)
        if set(range(len(paths) - n_ends, len(paths))) & set(parents):
            n_ends = 0
    turns[: len(paths) - n_ends] = _own_turns(prim, tokens, turns[: len(paths) - n_ends])
    return UsdSkeleton(
        tuple(paths),
        tuple(unique_names(names)[0]),
        parents,
        matrices[:, :3, 3].copy(),
        turns,
        scales,
        n_ends,
    )


def _parents(paths: list[str]) -> tuple[int, ...]:
    """The nearest joint above each, -1 for none."""
    places = {path: j for j, path in enumerate(paths)}
    parents = []
    for path in paths:
        above = path
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in places:
                break
        parents.append(places.get(above, -1) if above != path else -1)
    return tuple(parents)


def _rest_matrices(prim: Prim, tokens: Tokens, paths: list[str]) -> FloatArray:
    """Local rest matrices (N, 4, 4) for column vectors."""
    for name in ("restTransforms", "bindTransforms"):
        entry = prim.properties.get(name)
        if entry is None or entry.value is None:
            continue
        where = f"{prim.path}.{name}"
        numbers = flat_numbers(entry.value, tokens, where)
        if numbers.size != 16 * len(paths):
            raise FormatError(
                f"{16 * len(paths)} numbers are needed, got {numbers.size}.", where=where
            )
        matrices = numbers.reshape(-1, 4, 4).transpose(0, 2, 1)
        sizes = np.abs([np.linalg.det(matrices[:, :3, :3]), np.linalg.det(matrices)])
        if not np.all(sizes > 1e-12):
            raise FormatError("Transforms must be invertible.", where=where)
        if name == "restTransforms":
            return np.array(matrices)
        local = np.array(matrices)
        for j, parent in enumerate(_parents(paths)):
            if parent >= 0:
                local[j] = np.linalg.inv(matrices[parent]) @ matrices[j]
        return local
    raise FormatError("A skeleton must have rest transforms or bind transforms.", where=prim.path)


def _own_turns(prim: Prim, tokens: Tokens, turns: FloatArray) -> FloatArray:
    """Rest rotations as we wrote them, to the last bit, where they agree with the matrices."""
    entry = prim.properties.get("motionloom:restRotations")
    if entry is None or entry.value is None:
        return turns
    numbers = flat_numbers(entry.value, tokens, f"{prim.path}.motionloom:restRotations")
    if numbers.size != turns.size:
        return turns
    exact = numbers.reshape(turns.shape)
    if np.abs(np.linalg.norm(exact, axis=1) - 1.0).max() > _SAME_TURN:
        return turns
    same = np.abs(np.sum(exact * turns, axis=1)) > 1.0 - _SAME_TURN
    return exact if same.all() else turns
