"""Keys of animations: the frame rate behind their times, and values in single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.rotation import quat

KNOWN_RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 120.0, 100.0, 90.0, 240.0, 200.0, 250.0)
BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
SNAP_RATE = 3e-4
"""Relative distance at which a measured rate is taken for a known one; 29.97 and 30 stay apart."""
SNAP_FRAME = 0.02
"""Frames that a key may lie off a grid and still be on it: key times are float32."""
EVEN_RATES = (10.0, 1001.0)
UNEVEN_RATE = 60.0
ONE_FRAME_RATE = 30.0
MAX_FRAMES_PER_KEY = 1000
FAR_M = 32.0
"""From here on a float32 key is off by 2e-6 m or more; ten times farther out it would show."""
QUAT_STEPS = 2.0**24
"""Parts of 1 that a float32 holds exactly, up to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """When the frames of a clip are, and how that was found."""

    times: FloatArray
    """Shape (F,), seconds in the file's own time."""
    fps: float
    stated: bool
    how: str
    """One sentence for the findings."""


def clock_of(keys: FloatArray, stated: float | None, max_frames: int, where: str) -> Clock:
    """The rate of keys, and the frame times between the first key and the last.

    Parameters
    ----------
    keys : (N,)
        Every time at which there is a key, increasing, seconds.
    stated
        The rate where the file states one for certain.
    max_frames
        More are refused.
    where
        Place in the file, for errors.
    """
    if stated is not None:
        fps, how = stated, f"The file states {stated:.6g} fps."
        on_keys = abs((keys[-1] - keys[0]) * stated - (len(keys) - 1)) < 0.5
    elif len(keys) == 1:
        how = f"A single frame says no rate; {ONE_FRAME_RATE:g} fps is only a guess."
        return Clock(keys, ONE_FRAME_RATE, False, how)
    elif (even := even_rate(keys)) is not None:
        fps, how, on_keys = even, f"There is a key for every frame: {even:.6g} fps.", True
    else:
        (fps, how), on_keys = uneven_rate(keys), False
    # With a key for every frame the frames are the keys, however float32 rounded their times.
    times = keys if on_keys else grid(keys, fps, max_frames, where)
    if len(times) > max_frames:
        raise FormatError(
            f"At most {max_frames} frames can be read, got {len(times)}.", where=where
        )
    return Clock(times, fps, True, how)


def grid(keys: FloatArray, fps: float, max_frames: int, where: str) -> FloatArray:
    """Frame times from the first key to the last, exactly on the keys where they are near."""
    span = float(keys[-1] - keys[0]) * fps
    budget = min(max_frames, MAX_FRAMES_PER_KEY * len(keys))
    if not span < budget:
        raise FormatError(
            f"{len(keys)} key times from {keys[0]:g} to {keys[-1]:g} s at {fps:g} fps must make at "
            f"most {budget} frames.",
            where=where,
        )
    # Where the last key lies between two frames, one more frame shows it.
    n = int(np.ceil(span - SNAP_FRAME)) + 1
    times = keys[0] + np.arange(n) / fps
    nearest = keys[np.clip(np.searchsorted(keys, times - 0.5 / fps), 0, len(keys) - 1)]
    on_key = np.abs(times - nearest) * fps < SNAP_FRAME
    return np.asarray(np.where(on_key, nearest, times))


def even_rate(keys: FloatArray) -> float | None:
    """The rate of keys at one constant step, None where they are at none."""
    mean = float(keys[-1] - keys[0]) / (len(keys) - 1)
    off = np.abs(keys - keys[0] - mean * np.arange(len(keys))).max()
    rounding = float(np.spacing(np.float32(np.abs(keys).max())))
    if off >= max(SNAP_FRAME * mean, min(2.0 * rounding, 0.25 * mean)):
        return None
    return _snapped(1.0 / mean) if EVEN_RATES[0] * mean <= 1.0 <= EVEN_RATES[1] * mean else None


def uneven_rate(keys: FloatArray) -> tuple[float, str]:
    """A known rate on whose frames all keys lie, or one that is fine enough for most."""
    for fps in (*KNOWN_RATES, *BROADCAST_RATES):
        frames = (keys - keys[0]) * fps
        if np.abs(frames - np.round(frames)).max() < SNAP_FRAME:
            return fps, f"Keys lie on frames of {fps:.6g} fps, not on every one; filled in."
    steps = np.diff(keys)
    return (
        UNEVEN_RATE,
        f"Keys are uneven ({steps.min():.4g} to {steps.max():.4g} s apart); "
        f"sampled at {UNEVEN_RATE:g} fps.",
    )


def _snapped(fps: float) -> float:
    nearest = min((*KNOWN_RATES, *BROADCAST_RATES), key=lambda rate: abs(rate - fps))
    return nearest if abs(nearest - fps) < SNAP_RATE * nearest else fps


def single_quats(quats: FloatArray) -> npt.NDArray[np.float32]:
    """Float32 quaternions that normalising leaves as they are.

    Rounded to multiples of 2^-24, where lengths are off by up to 1e-7; normalising and rounding
    again settles in a few turns, so that a file read and written again is the same file. On
    float32's own finer grid near zero it would not: small parts would drift at every turn.
    """
    settled = np.round(quats * QUAT_STEPS)
    for _ in range(16):
        again = np.round(quat.normalize(settled) * QUAT_STEPS)
        if np.array_equal(again, settled):
            break
        settled = again
    return (settled / QUAT_STEPS).astype(np.float32)


def far_origin(root_positions: FloatArray, unit_m: float) -> FloatArray:
    """Whole units that a node above the root takes off its keys (F, 3) where they are far out."""
    if np.abs(root_positions).max() * unit_m < FAR_M:
        return np.zeros(3)
    low, high = root_positions.min(axis=0), root_positions.max(axis=0)
    return np.asarray(np.round(0.5 * (low + high)))
