"""The frames of an FBX animation: from its keys, and from the rate that the file states."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.key_clock import (
    ONE_FRAME_RATE,
    SNAP_FRAME,
    Clock,
    even_rate,
    grid,
    uneven_rate,
)

SAME_S = 2e-5
"""Keys nearer than this are at one time."""
FASTEST_SCENE = 250.0
"""A stated rate above this counts time finely; it is not that of the frames."""
STILL = "No animation moves the skeleton: one frame, the rest pose."


def clock_of_keys(
    keys: FloatArray, span: tuple[float, float] | None, stated: float | None, max_frames: int
) -> Clock:
    """The frames of a clip.

    Parameters
    ----------
    keys : (N,)
        Every time at which there is a key, increasing, seconds; empty where nothing moves.
    span
        First and last second that the stack states.
    stated
        Frames per second of the file's TimeMode.
    max_frames
        More are refused.
    """
    keys = _within(_merged(keys, SAME_S if stated is None else min(SAME_S, 0.2 / stated)), span)
    if len(keys) < 2:
        fps = stated or ONE_FRAME_RATE
        how = STILL if not len(keys) else f"A single frame, at {fps:.6g} fps."
        times = keys if len(keys) else np.zeros(1)
        return Clock(times, fps, stated is not None, how)
    even = even_rate(keys)
    on_frames = stated is not None and _on_frames(keys, stated)
    if stated is not None and on_frames and _is_full(keys, stated):
        fps, how = stated, f"There is a key for every frame, at the stated {stated:.6g} fps."
        times = keys
    elif stated is not None and on_frames and stated <= FASTEST_SCENE:
        fps, how = stated, f"The file states {stated:.6g} fps; frames between keys are filled in."
        times = grid(keys, fps, max_frames, "animation")
    elif even is not None:
        fps, how, times = even, f"There is a key for every frame: {even:.6g} fps.", keys
    else:
        fps, how = uneven_rate(keys)
        times = grid(keys, fps, max_frames, "animation")
    if len(times) > max_frames:
        raise FormatError(
            f"At most {max_frames} frames can be read, got {len(times)}.",
            where="animation",
            fix="Cut it into shorter clips.",
        )
    return Clock(times, fps, True, how)


def _merged(keys: FloatArray, same_s: float) -> FloatArray:
    """Keys without those that follow another at once."""
    if len(keys) < 2:
        return keys
    return np.asarray(keys[np.concatenate([[True], np.diff(keys) > same_s])])


def _within(keys: FloatArray, span: tuple[float, float] | None) -> FloatArray:
    """Keys within a span, where there are two or more."""
    if span is None:
        return keys
    inside = keys[(keys >= span[0] - SAME_S) & (keys <= span[1] + SAME_S)]
    return inside if len(inside) >= 2 else keys


def _on_frames(keys: FloatArray, fps: float) -> bool:
    frames = (keys - keys[0]) * fps
    return bool(np.abs(frames - np.round(frames)).max() < SNAP_FRAME)


def _is_full(keys: FloatArray, fps: float) -> bool:
    """Whether there is a key for every frame."""
    return abs(float(keys[-1] - keys[0]) * fps - (len(keys) - 1)) < 0.5
