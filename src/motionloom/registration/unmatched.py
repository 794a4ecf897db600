"""Constraints of a clip that found no partner in the other clips, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom.motion.edit import Frames
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.prepared import Prepared
from motionloom.retargeting.match import clip_names

Interval = tuple[float, float]


def unmatched_notes(curve: RegistrationCurve, clips: Prepared) -> tuple[str, ...]:
    """One note for every interval that the blend does not hold: which, why, and what to do.

    ``curve`` has the matches of the clips' constraints.
    """
    names = clip_names(len(curve.motions))
    notes = []
    for kind, per_clip in clips.constraints.items():
        for k, intervals in enumerate(per_clip):
            for interval in intervals:
                if not _is_matched(curve, kind, k, interval):
                    span = _seconds(clips, k, interval)
                    why = _reason(curve, clips, kind, k, interval)
                    notes.append(f"{names[k]}: `{kind}` at {span} is not held: {why}")
    return tuple(notes)


def _is_matched(curve: RegistrationCurve, kind: str, k: int, interval: Interval) -> bool:
    """Whether a match has a part of the interval."""
    inside = _inside(curve, k, interval)
    if inside is None:
        return False
    start, end = inside
    near = 1e-6 * (1.0 + curve.u_range[1])
    spans = [match.intervals[k] for match in curve.matches[kind]]
    return any(low >= start - near and high <= end + near for low, high in spans)


def _inside(curve: RegistrationCurve, k: int, interval: Interval) -> Interval | None:
    """The part of an interval that lies on the curve, in its parameter; None without any."""
    low, high = _ends(curve, k)
    start, end = (min(max(frame, low), high) for frame in interval)
    if start >= end:
        return None
    first, last = curve.u_of(k, np.array([start, end]))
    return float(first), float(last)


def _ends(curve: RegistrationCurve, k: int) -> Interval:
    """First and last frame of a clip on the curve."""
    low, high = curve.times(np.array([0.0, curve.times.u_end]))[:, k]
    return float(low), float(high)


def _reason(
    curve: RegistrationCurve, clips: Prepared, kind: str, k: int, interval: Interval
) -> str:
    """Why an interval has no partner, and the remedy."""
    names, per_clip = clip_names(len(curve.motions)), clips.constraints[kind]
    inside = _inside(curve, k, interval)
    if inside is None:
        return (
            f"it lies outside the part that the clips share, {_seconds(clips, k, _ends(curve, k))} "
            f"of {names[k]}. Move it there, or use ends='match'."
        )
    without = [name for name, intervals in zip(names, per_clip, strict=True) if not intervals]
    if without:
        clip, has = ("clip", "has") if len(without) == 1 else ("clips", "have")
        return (
            f"{clip} {', '.join(without)} {has} no interval of this name. Add one to "
            "each clip, or leave this one out."
        )
    apart = [
        f"{_seconds(clips, other, span)} of {names[other]}, which has `{kind}` at "
        + ", ".join(_seconds(clips, other, each) for each in intervals)
        for other, intervals in enumerate(per_clip)
        if other != k and not _overlaps(span := _on_clip(curve, other, inside), intervals)
    ]
    if apart:
        return (
            f"the timing of the clips puts it at {'; at '.join(apart)}. Give intervals that "
            "overlap at the same moments of the motion, or pass `pins`."
        )
    return (
        "its partners in the other clips belong to another interval of this clip. Give every clip "
        "as many intervals of this name."
    )


def _on_clip(curve: RegistrationCurve, k: int, inside: Interval) -> Interval:
    """Frames of a clip at an interval of the curve's parameter."""
    first, last = curve.frames(np.array(inside))[:, k]
    return float(first), float(last)


def _overlaps(span: Interval, intervals: Frames | Sequence[Interval]) -> bool:
    return any(low <= span[1] and high >= span[0] for low, high in intervals)


def _seconds(clips: Prepared, k: int, frames: Interval) -> str:
    """Frames of a clip as seconds of the whole clip that it was cut from."""
    start, end = ((frame + clips.first_frames[k]) / clips.motions[k].fps for frame in frames)
    return f"{start:.2f} to {end:.2f} s"
