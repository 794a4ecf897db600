"""Animations of a glTF file, sampled onto a constant rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.errors import FormatError
from motionloom.formats.gltf.gltf_document import Document, index_of, objects
from motionloom.formats.gltf.gltf_nodes import MARK
from motionloom.formats.key_clock import Clock, clock_of
from motionloom.formats.text import unique_names
from motionloom.rotation import quat

PATHS = {"translation": 3, "rotation": 4, "scale": 3}
LATEST_S = 1e9
MOST_AT_ONCE = 2
"""Keys at one time that a track without other keys may have: still poses are written so."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The keys of one property of one node."""

    node: int
    path: str
    times: FloatArray
    """Strictly increasing, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N, 3), or (N, 4) wxyz; (N, 3, C) with in-tangent, value, out-tangent for splines."""
    interpolation: str
    n_empty: int = 0
    """Rotation keys that are (0, 0, 0, 0), which is no rotation; they are read as no turn."""

    def sample(self, at: FloatArray) -> FloatArray:
        """Values at times ``at`` (F,), held before the first key and after the last."""
        times, n = self.times, len(self.times)
        low = np.clip(np.searchsorted(times, at, side="right") - 1, 0, max(n - 2, 0))
        high = np.minimum(low + 1, n - 1)
        span = np.where(high > low, times[high] - times[low], 1.0)
        u = np.clip((at - times[low]) / span, 0.0, 1.0) * (high > low)
        spline = self.interpolation == "CUBICSPLINE"
        keys = self.values[:, 1] if spline else self.values
        if self.interpolation == "STEP":
            values = np.where((u >= 1.0)[:, None], keys[high], keys[low])
        elif spline:
            values = _hermite(self.values, low, high, span, u)
        elif self.path == "rotation":
            values = quat.slerp(keys[low], keys[high], u)
        else:
            values = keys[low] + u[:, None] * (keys[high] - keys[low])
        values = np.where((u == 0.0)[:, None], keys[low], values)
        values = np.where((u == 1.0)[:, None], keys[high], values)
        return quat.normalize(values) if self.path == "rotation" else values


def _hermite(
    values: FloatArray, low: Any, high: Any, span: FloatArray, u: FloatArray
) -> FloatArray:
    s, d = u[:, None], span[:, None]
    s2, s3 = s * s, s * s * s
    return np.asarray(
        (2 * s3 - 3 * s2 + 1) * values[low, 1]
        + (s3 - 2 * s2 + s) * d * values[low, 2]
        + (3 * s2 - 2 * s3) * values[high, 1]
        + (s3 - s2) * d * values[high, 0]
    )


def animation_names(document: Document) -> tuple[str, ...]:
    """A unique name for every animation: its own, or its number where it has none."""
    specs = document.listed("animations")
    names = [spec.get("name") for spec in specs]
    named = [name if isinstance(name, str) and name else str(i) for i, name in enumerate(names)]
    return tuple(unique_names(named)[0])


def tracks_of(document: Document, animation: int, n_nodes: int) -> list[Track]:
    """The tracks of one animation that move nodes."""
    spec = document.listed("animations")[animation]
    where = f"animation {animation}"
    samplers = objects(spec.get("samplers"), f"{where}, samplers")
    tracks: list[Track] = []
    keys = _Keys(document)
    seen: set[tuple[int, str]] = set()
    for c, channel in enumerate(objects(spec.get("channels"), f"{where}, channels")):
        place = f"{where}, channel {c}"
        target = channel.get("target")
        if not isinstance(target, dict):
            raise FormatError("A channel needs a target.", where=place)
        path = target.get("path")
        if "node" not in target or not isinstance(path, str) or path not in PATHS:
            continue  # morph weights, and what extensions animate
        node = index_of(target["node"], n_nodes, place)
        if (node, path) in seen:
            raise FormatError(f"Node {node} has two channels for its {path}.", where=place)
        seen.add((node, path))
        sampler = samplers[index_of(channel.get("sampler"), len(samplers), place)]
        interpolation = sampler.get("interpolation", "LINEAR")
        if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
            raise FormatError(
                "Interpolation must be LINEAR, STEP or CUBICSPLINE, got "
                f"{str(interpolation)[:40]!r}.",
                where=place,
            )
        tracks.append(Track(node, path, *keys.of(sampler, path, interpolation, place)))
    return tracks


class _Keys:
    """Times and values of samplers. Those that many samplers share are read once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.times: dict[int, tuple[FloatArray, BoolArray | None]] = {}
        self.values: dict[tuple[int, int, str, str], tuple[FloatArray, int]] = {}

    def of(
        self, sampler: dict[str, Any], path: str, interpolation: str, place: str
    ) -> tuple[FloatArray, FloatArray, str, int]:
        """The last fields of a track: times, values, interpolation and empty keys."""
        n_accessors = len(self.document.listed("accessors"))
        first = index_of(sampler.get("input"), n_accessors, place)
        second = index_of(sampler.get("output"), n_accessors, place)
        if first not in self.times:
            self.times[first] = self._read_times(first, place)
        times, fresh = self.times[first]
        key = (first, second, path, interpolation)
        if key not in self.values:
            n_keys = len(times) if fresh is None else len(fresh)
            values, n_empty = self._read_values(second, n_keys, path, interpolation, place)
            self.values[key] = (values if fresh is None else values[fresh]), n_empty
        values, n_empty = self.values[key]
        return times, values, interpolation, n_empty

    def _read_times(self, index: int, place: str) -> tuple[FloatArray, BoolArray | None]:
        """Strictly increasing times, and which of the keys they belong to; None for all."""
        times = self.document.accessor(index, place, 1)[:, 0]
        self.document.budget.take(times.nbytes, "its key times", place)
        ordered = len(times) and np.abs(times).max() < LATEST_S and (np.diff(times) >= 0).all()
        if not ordered:  # also where one is not a number
            raise FormatError("Key times must be finite and increase; these do not.", where=place)
        fresh = np.concatenate([[True], np.diff(times) > 0])
        if fresh.all():
            return times, None
        if len(times) > MOST_AT_ONCE and not fresh[1:].any():
            raise FormatError(
                f"Key times must increase, and all {len(times)} are {times[0]:g} s.",
                where=place,
                fix="The file is damaged: copy or download it again.",
            )
        return times[fresh], fresh  # of keys at one time the first counts

    def _read_values(
        self, index: int, n_keys: int, path: str, interpolation: str, place: str
    ) -> tuple[FloatArray, int]:
        """Shape (n_keys, C), or (n_keys, 3, C) for splines; and how many rotations are empty."""
        width = PATHS[path]
        values = self.document.accessor(index, place, width)
        self.document.budget.take(values.nbytes, "its keys", place)
        per_key = 3 if interpolation == "CUBICSPLINE" else 1
        if len(values) != per_key * n_keys:
            raise FormatError(
                f"{n_keys} key times need {per_key * n_keys} values, got {len(values)}.",
                where=place,
            )
        if not np.isfinite(values).all() or np.abs(values).max() > 1e15:
            raise FormatError("Keys must be finite numbers; some are not.", where=place)
        n_empty = 0
        if path == "rotation":
            values = values[:, [3, 0, 1, 2]]
            n_empty = int((values[per_key // 2 :: per_key] == 0.0).all(axis=1).sum())
            if per_key == 1:
                values = quat.make_continuous(quat.normalize(values))
        return (values.reshape(n_keys, 3, width) if per_key == 3 else values), n_empty


def find_clock(document: Document, animation: int, tracks: list[Track], max_frames: int) -> Clock:
    """The constant rate behind the keys of a clip, and its frame times."""
    each = {id(track.times): track.times for track in tracks}  # most share one array of times
    keys = np.unique(np.concatenate(list(each.values())))
    stated = _stated_rate(document, animation)
    return clock_of(keys, stated, max_frames, f"animation {animation}")


def own_facts(document: Document, animation: int) -> dict[str, Any]:
    """What motionloom itself wrote next to the keys: the rate, the frames, the source."""
    extras = document.json["animations"][animation].get("extras")
    ours = extras.get(MARK) if isinstance(extras, dict) else None
    return ours if isinstance(ours, dict) else {}


def _stated_rate(document: Document, animation: int) -> float | None:
    fps = own_facts(document, animation).get("fps")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 1e6:
        return None
    return float(fps)
