"""The skeleton in a USD layer, its animation, and the transforms above it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.findings import Finding
from motionloom.formats.text import unique_names
from motionloom.formats.usd.usd_parse import Numbers, Prim, Property, Tokens, text_of
from motionloom.rotation import quat
from motionloom.rotation.euler import euler_to_quat

_SAME_TURN = 1e-6
_SAME_STEP = 1e-3
_TRACK_WIDTHS = {"rotations": 4, "translations": 3, "scales": 3}
_RESET = "!resetXformStack!"
_WIDTHS = {"translate": 3, "scale": 3, "orient": 4, "transform": 16}
_TURNS = ("X", "Y", "Z", *("".join(each) for each in permutations("XYZ")))
MOST_OPS = 64


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


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """Local transforms of every joint at every frame."""

    places: FloatArray
    """Shape (F, N, 3)."""
    turns: FloatArray
    """Shape (F, N, 4)."""
    scales: FloatArray
    """Shape (F, N, 3)."""
    step: float
    """Time codes between frames."""
    findings: tuple[Finding, ...] = ()


def read_tracks(prim: Prim | None, skeleton: UsdSkeleton, tokens: Tokens, limits: Limits) -> Tracks:
    """Rotations and places of the joints in every frame; the rest pose where nothing moves them."""
    n_joints = len(skeleton.paths)
    if prim is None:
        return Tracks(skeleton.places[None], skeleton.turns[None], skeleton.scales[None], 1.0)
    times, findings = _frame_times(prim, limits)
    tokens.budget.check_poses(len(times), n_joints, sliding=True, per_frame=n_joints * 80)
    listed = texts_of(prim, "joints") or list(skeleton.paths)
    places = {path: j for j, path in enumerate(skeleton.paths)}
    columns = [k for k, path in enumerate(listed) if path in places]
    joints = [places[listed[k]] for k in columns]
    tracks = {
        "translations": np.tile(skeleton.places, (len(times), 1, 1)),
        "rotations": np.tile(skeleton.turns, (len(times), 1, 1)),
        "scales": np.tile(skeleton.scales, (len(times), 1, 1)),
    }
    for name, width in _TRACK_WIDTHS.items():
        entry = prim.properties.get(name)
        if entry is None or not columns:
            continue
        values = _sampled(entry, times, (len(listed), width), tokens, f"{prim.path}.{name}")
        if values is not None:
            tracks[name][:, joints] = values[:, columns]
    return Tracks(
        tracks["translations"],
        tracks["rotations"],
        tracks["scales"],
        float(times[1] - times[0]) if len(times) > 1 else 1.0,
        tuple(findings),
    )


def _frame_times(prim: Prim, limits: Limits) -> tuple[FloatArray, list[Finding]]:
    """Evenly spaced times that cover all samples."""
    stated: set[float] = set()
    for name in _TRACK_WIDTHS:
        entry = prim.properties.get(name)
        if entry is not None and entry.samples:
            stated |= entry.samples.keys()
    if len(stated) < 2:
        return np.array(sorted(stated) or [0.0]), []
    times = np.array(sorted(stated))
    steps = np.diff(times)
    step = float(np.median(steps))
    if len(times) > limits.max_frames:
        raise FormatError(f"At most {limits.max_frames} frames can be read.", where=prim.path)
    if not step > 0.0:
        raise FormatError("Times must grow.", where=prim.path)
    if np.abs(steps - step).max() <= _SAME_STEP * step:
        return times, []
    n_frames = (times[-1] - times[0]) / step + 1.0
    if n_frames > min(limits.max_frames, 64 * len(times)):
        raise FormatError("The times of the samples are too uneven.", where=prim.path)
    even = times[0] + step * np.arange(int(n_frames + 1e-6))
    problem = f"Samples are {steps.min():g} to {steps.max():g} time codes apart; resampled evenly."
    return even, [Finding("warning", prim.path, problem)]


def _sampled(
    entry: Property, times: FloatArray, shape: tuple[int, int], tokens: Tokens, where: str
) -> FloatArray | None:
    """Values (F, N, width) at the times; None where the attribute has none."""
    samples = {time: value for time, value in (entry.samples or {}).items() if value != "None"}
    if not samples:
        if entry.value is None or entry.value == "None":
            return None
        samples = {0.0: entry.value}
    at = np.array(sorted(samples))
    if len(at) * shape[0] > 4 * len(times) * max(shape[0], 1):
        raise FormatError("The samples are too many.", where=where)
    values = np.zeros((len(at), *shape))
    for row, time in enumerate(at.tolist()):
        numbers = flat_numbers(samples[time], tokens, where)
        if numbers.size != values[row].size:
            raise FormatError(
                f"{values[row].size} numbers are needed, got {numbers.size}.",
                where=f"{where} at {time:g}",
            )
        # The schema's numbers are float32; the text is their shortest form.
        values[row] = numbers.astype(np.float32).reshape(shape)
    if shape[1] == 4:
        lengths = np.linalg.norm(values, axis=-1)
        if not lengths.min() > 1e-3:
            raise FormatError("A rotation must have a length.", where=where)
        values = quat.make_continuous(values / lengths[..., None])
    if len(at) == len(times) and np.array_equal(at, times):
        return values
    after = np.clip(np.searchsorted(at, times), 1, max(len(at) - 1, 1))
    if len(at) == 1:
        return np.broadcast_to(values, (len(times), *shape))
    part = np.clip((times - at[after - 1]) / (at[after] - at[after - 1]), 0.0, 1.0)[:, None]
    if shape[1] == 4:
        return quat.slerp(values[after - 1], values[after], part)
    moved: FloatArray = values[after - 1] + part[..., None] * (values[after] - values[after - 1])
    return moved


def flat_numbers(value: Any, tokens: Tokens, what: str) -> FloatArray:
    """The numbers of a value, however they are nested."""
    if isinstance(value, Numbers):
        return tokens.numbers(value, what)
    waiting, numbers = [value], []
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, list):
            waiting.extend(reversed(entry))
            continue
        if isinstance(entry, Numbers):
            numbers.extend(tokens.numbers(entry, what).tolist())
            continue
        try:
            numbers.append(float(entry))
        except (TypeError, ValueError):
            raise FormatError(f"{what}: numbers are needed, got {str(entry)[:40]!r}.") from None
    values = np.array(numbers, dtype=np.float64)
    if values.size and not np.abs(values).max() < 1e12:
        raise FormatError(f"{what}: numbers must be finite and below 1e12.")
    return values


def matrix_of(prim: Prim, tokens: Tokens) -> tuple[FloatArray, bool, bool]:
    """The local matrix for column vectors, whether it is reset, and whether it moves."""
    order = prim.properties.get("xformOpOrder")
    listed = order.value if order is not None and isinstance(order.value, list) else []
    names = [text_of(name) for name in listed if isinstance(name, str)]
    if len(names) > MOST_OPS:
        raise FormatError(f"A prim may have {MOST_OPS} transforms.", where=prim.path)
    matrix, moves = np.eye(4), False
    for name in names:
        if name == _RESET:
            continue
        inverted = name.startswith("!invert!")
        entry = prim.properties.get(name.removeprefix("!invert!"))
        if entry is None:
            continue
        value = _still(entry)
        moves = moves or (entry.samples is not None and len(entry.samples) > 1)
        if value is None:
            continue
        step = _operation(name.removeprefix("!invert!"), value, tokens, prim.path)
        if inverted:
            if abs(np.linalg.det(step[:3, :3])) < 1e-9:
                raise FormatError("A transform must be invertible.", where=prim.path)
            step = np.asarray(np.linalg.inv(step), dtype=np.float64)
        matrix = matrix @ step
    return matrix, _RESET in names, moves


def _still(entry: Property) -> Any:
    """The default value, else the first sample."""
    if entry.value is None and entry.samples:
        return entry.samples[min(entry.samples)]
    return entry.value


def _operation(name: str, value: Any, tokens: Tokens, where: str) -> FloatArray:
    kind = name.split(":")[1] if name.count(":") else name
    numbers = flat_numbers(value, tokens, f"{where}.{name}")
    width = _WIDTHS.get(kind, 1 if len(kind) == len("rotateX") else 3)
    if numbers.size != width:
        raise FormatError(
            f"{width} numbers are needed, got {numbers.size}.", where=f"{where}.{name}"
        )
    step = np.eye(4)
    if kind == "translate":
        step[:3, 3] = numbers
    elif kind == "scale":
        step[:3, :3] = np.diag(numbers)
    elif kind == "transform":
        step = numbers.reshape(4, 4).T.copy()
    elif kind == "orient":
        if not np.linalg.norm(numbers) > 1e-6:
            raise FormatError("A rotation must have a length.", where=f"{where}.{name}")
        step[:3, :3] = quat.to_matrix(quat.normalize(numbers))
    elif kind.startswith("rotate") and kind[6:] in _TURNS:
        # Numbers are those of X, Y and Z; rotateXYZ turns about X first.
        angles = dict(zip("XYZ" if width == 3 else kind[6:], np.radians(numbers), strict=True))
        order = kind[6:][::-1]
        turn = euler_to_quat(np.array([angles[axis] for axis in order]), order)
        step[:3, :3] = quat.to_matrix(turn)
    else:
        raise FormatError(f"The transform {name[:40]!r} is not known.", where=where)
    return step
