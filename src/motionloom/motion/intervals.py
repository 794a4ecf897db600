"""Intervals of a clip: given in seconds, used in frames."""

from __future__ import annotations

from collections.abc import Sequence

from motionloom._arrays import finite
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion

Spans = Sequence[tuple[float, float]]
"""Intervals in seconds: (start, end) each."""
Frames = tuple[tuple[float, float], ...]
"""Intervals in frames, which need not be whole."""


def frames_of(spans: Spans, motion: Motion, where: str) -> Frames:
    """Intervals in frames of a clip, in time order, from intervals in seconds.

    ``where`` names the argument in errors.
    """
    frames: list[tuple[float, float]] = []
    pairs = isinstance(spans, list | tuple) and all(
        isinstance(span, list | tuple) and len(span) == 2 for span in spans
    )
    if not pairs:
        raise ArrayError(f"`{where}` must be a list of (start, end) in seconds, got {spans!r:.80}.")
    for start, end in spans:
        low, high = (finite(value, where) * motion.fps for value in (start, end))
        if not 0.0 <= low < high or (frames and low <= frames[-1][1]):
            raise ArrayError(
                f"`{where}` must hold intervals with a start before the end, one after the other, "
                f"got {start!r} to {end!r}."
            )
        # One frame more: durations are often counted in frames, and resampling may drop the last.
        if high > motion.n_frames + 1e-6 or low >= motion.n_frames - 1:
            raise ArrayError(
                f"`{where}` must lie in the clip of {motion.duration_s:.2f} s, got {start:g} to "
                f"{end:g} s. Give start and end in seconds from the clip's first frame."
            )
        frames.append((low, min(high, motion.n_frames - 1.0)))
    return tuple(frames)
