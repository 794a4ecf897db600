"""Matches: contacts and other constraints of clips, brought together on their curve.

Poses say where motions belong together to about a frame: which frame of a stance is which depends
on style. A foot that comes down or leaves the ground is an event without style, and a blend keeps
a foot still only where all its examples plant it. So after the path through the grid, the times can
be drawn towards the events that the motions share, as far as the curve's knots and its limits on
rates allow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.edit import Frames, Spans, frames_of
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch, match_constraints
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.gait_cycles import GaitCycle
from motionloom.registration.splines import adjust_increasing, fit_spline
from motionloom.retargeting.match import clip_names

FOLLOWED = ("left_toe", "right_toe")
"""Contacts whose times count. Heels come down and go up more gradually: they are found less
well."""
WEIGHT = 12.0
"""Weight of an event against that of one sample of the path; a knot has about eight samples."""
PER_KNOT = 8
"""Samples of the present times per control point."""
FARTHEST_S = 0.15
"""Contacts that begin or end farther apart than this may not be the same event."""
EDGE_S = 0.03
"""An event this close to an end of the curve may be cut."""
Interval = tuple[float, float]
"""Two frames, or two parameters of a curve."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedClips:
    """Clips, their contacts, and other constraints in frames."""

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    constraints: Mapping[str, tuple[Frames, ...]]
    """For every name the intervals of each clip, in its frames."""
    first_frames: tuple[int, ...]
    """Frame of each whole clip at which the clip begins: 0 unless it was cut to a cycle."""


def marked(
    motions: Sequence[Motion],
    footplants: Sequence[Footplants],
    constraints: Sequence[Mapping[str, Spans]] | None,
) -> MarkedClips:
    """Clips with their constraints checked and brought to frames."""
    n = len(motions)
    if constraints is None:
        return MarkedClips(tuple(motions), tuple(footplants), {}, (0,) * n)
    if not isinstance(constraints, list | tuple) or len(constraints) != n:
        raise ArrayError(
            f"`constraints` must have one entry per motion ({n}), each a dictionary of intervals "
            f"by name, such as {{'hand': [(0.4, 1.2)]}}, got {constraints!r:.80}."
        )
    names: list[str] = []
    for k, each in enumerate(constraints):
        if not isinstance(each, Mapping):
            raise ArrayError(f"`constraints[{k}]` must be a dictionary, got {each!r:.80}.")
        for name in each:
            if not isinstance(name, str) or name in KINDS:
                raise ArrayError(
                    f"Names in `constraints[{k}]` must be texts other than {', '.join(KINDS)}, got "
                    f"{name!r}. Pass contacts of the feet as `footplants`."
                )
            if name not in names:
                names.append(name)
    spans = {
        name: tuple(
            frames_of(each.get(name, ()), motion, f"constraints[{k}][{name!r}]")
            for k, (each, motion) in enumerate(zip(constraints, motions, strict=True))
        )
        for name in names
    }
    return MarkedClips(tuple(motions), tuple(footplants), spans, (0,) * n)


def cut_to(clips: MarkedClips, cycles: Sequence[GaitCycle], notes: list[str]) -> MarkedClips:
    """Cut every clip to its cycle; ``notes`` get the frames, and constraints outside of them."""
    names = clip_names(len(clips.motions))
    for name, cycle in zip(names, cycles, strict=True):
        notes.append(f"{name}: cut to its cycle of frames {cycle.first} to {cycle.last}")
    for name, per_clip in clips.constraints.items():
        for k, (each, cycle) in enumerate(zip(per_clip, cycles, strict=True)):
            notes += [
                f"{names[k]}: `{name}` at {low / clips.motions[k].fps:.2f} to "
                f"{high / clips.motions[k].fps:.2f} s is not held: it lies outside the cycle. "
                "Move it there, or choose another cycle."
                for low, high in each
                if low >= cycle.last or high <= cycle.first
            ]
    spans = {
        name: tuple(
            tuple(
                (max(low - cycle.first, 0.0), float(min(high, cycle.last) - cycle.first))
                for low, high in each
                if low < cycle.last and high > cycle.first
            )
            for each, cycle in zip(per_clip, cycles, strict=True)
        )
        for name, per_clip in clips.constraints.items()
    }
    return MarkedClips(
        tuple(m[c.frames] for m, c in zip(clips.motions, cycles, strict=True)),
        tuple(
            Footplants(np.array(p.planted[c.frames]))
            for p, c in zip(clips.footplants, cycles, strict=True)
        ),
        spans,
        tuple(cycle.first for cycle in cycles),
    )


def with_matches(
    curve: RegistrationCurve, constraints: Mapping[str, Sequence[Frames]]
) -> RegistrationCurve:
    """Match contacts and other constraints of the curve's motions, kind by kind.

    ``constraints`` holds, by name, the intervals of every motion in its frames.
    """
    every = {kind: [p.intervals()[kind] for p in curve.footplants] for kind in KINDS}
    matches: dict[str, tuple[ConstraintMatch, ...]] = {}
    ends = curve.times(np.array([0.0, curve.times.u_end]))  # (2, K)
    for kind, per_clip in {**every, **constraints}.items():
        per_motion = []
        for k, intervals in enumerate(per_clip):
            spans = np.array(intervals, dtype=np.float64).reshape(-1, 2)
            spans = np.clip(spans, ends[0, k], ends[1, k])
            inside = curve.u_of(k, spans[spans[:, 1] > spans[:, 0]])
            per_motion.append([(float(start), float(end)) for start, end in inside])
        matches[kind] = match_constraints(per_motion)
    return dataclasses.replace(curve, matches=matches)


def timed_by_contacts(curve: RegistrationCurve, epsilon: float) -> RegistrationCurve:
    """Draw the times of the curve to the contacts that were matched on it.

    Parameters
    ----------
    curve
        With matched contacts.
    epsilon
        Smallest ratio of two motions' rates.
    """
    events = _shared_events(curve)
    if not events:
        return curve
    spline, scale = curve.times, curve.frames_per_knot
    even = np.linspace(0.0, spline.u_end, PER_KNOT * len(spline.points))
    u = np.concatenate([even, [event.u / scale for event in events]])
    values = np.concatenate([spline(even), np.array([event.frames for event in events])])
    weights = np.concatenate([np.ones(len(even)), np.full(len(events), WEIGHT)])
    ends = spline(np.array([0.0, spline.u_end]))
    fitted = fit_spline(u, values, len(spline.points), weights=weights, ends=ends)
    times = adjust_increasing(fitted, epsilon=epsilon, ends=ends)
    return dataclasses.replace(curve, times=times)


class _Event(NamedTuple):
    """A contact that begins or ends in every motion."""

    u: float
    """Where it should lie on the curve."""
    frames: FloatArray
    """Frame of every motion. (K,)"""


def _shared_events(curve: RegistrationCurve) -> list[_Event]:
    """Matched contacts that begin, or end, in every motion."""
    fps = curve.motions[0].fps
    low, high = curve.u_range
    events = []
    for kind in FOLLOWED:
        matches = curve.matches[kind]
        edges = _edges(curve, kind)
        for match in matches:
            spans = np.array(match.intervals)  # (K, 2)
            for side in range(2):
                at = spans[:, side]
                near = np.ptp(at) <= 2.0 * FARTHEST_S * fps
                inside = at.min() > low + EDGE_S * fps and at.max() < high - EDGE_S * fps
                if not (near and inside):
                    continue
                whole = [
                    np.abs(own - u).min(initial=np.inf) < 1e-3
                    for own, u in zip(edges, at, strict=True)
                ]
                if all(whole):
                    frames = np.array([curve.frames(u)[k] for k, u in enumerate(at)])
                    events.append(_Event(float(at.mean()), frames))
    return events


def _edges(curve: RegistrationCurve, kind: str) -> list[FloatArray]:
    """Where contacts of a kind begin or end in each motion: a split one begins and ends inside."""
    edges = []
    for k, plants in enumerate(curve.footplants):
        frames = np.array(plants.intervals()[kind], dtype=np.float64).ravel()
        u = curve.u_of(k, frames) if len(frames) else frames
        edges.append(u[np.isfinite(u)])
    return edges


def unmatched_notes(curve: RegistrationCurve, clips: MarkedClips) -> tuple[str, ...]:
    """Write a note for every interval that the blend does not hold: which, why, and the remedy.

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
    curve: RegistrationCurve, clips: MarkedClips, kind: str, k: int, interval: Interval
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


def _seconds(clips: MarkedClips, k: int, frames: Interval) -> str:
    """Frames of a clip as seconds of the whole clip that it was cut from."""
    start, end = ((frame + clips.first_frames[k]) / clips.motions[k].fps for frame in frames)
    return f"{start:.2f} to {end:.2f} s"
