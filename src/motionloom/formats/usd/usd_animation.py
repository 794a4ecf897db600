"""A UsdSkel animation: rotations, translations and scales of joints at regular times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.usd.usd_prims import Prim, Property
from motionloom.formats.usd.usd_skeleton import UsdSkeleton, texts_of
from motionloom.formats.usd.usd_tokens import Tokens
from motionloom.formats.usd.usd_xforms import flat_numbers
from motionloom.reading.size_limits import Limits
from motionloom.rotation import quat

_SAME_STEP = 1e-3
_WIDTHS = {"rotations": 4, "translations": 3, "scales": 3}


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
    """What an animation makes of the joints; the rest pose in one frame without one."""
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
    for name, width in _WIDTHS.items():
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
    for name in _WIDTHS:
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
