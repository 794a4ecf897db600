"""register(): from motions to a registration curve, on which their contacts are brought together.

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
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import (
    FloatArray,
    finite,
    flag,
    items,
    not_negative,
    of_kind,
    positive,
    whole,
)
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.legs import spread_smoothly
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.edit import Frames, Spans, frames_of
from motionloom.motion.motion import KINDS, Footplants, Motion, velocities
from motionloom.registration.curve import (
    RegistrationCurve,
    Spline,
    adjust_increasing,
    fit_spline,
    match_constraints,
)
from motionloom.registration.gait_cycles import GaitCycle, UncutClips, find_cycles
from motionloom.registration.many_clips import ManyClips, register_many
from motionloom.registration.pair_curve import CurveRules, register_two
from motionloom.registration.timewarp import Grids, PointCloud, named_clip, point_cloud
from motionloom.retargeting.match import MatchedClips, clip_names, match_clips

STEEPEST = 16
"""Largest `slope_limit`: with more steps in a row in one clip, the clips do not match at all."""
COVER = 0.6
"""Part of the shorter motion that open ends must keep by default."""
BALLS = [1, 3]
"""Columns of the foot points whose speeds count: heels come down and go up more gradually."""
SLOW_M_S = 0.3
"""Speeds count in full up to about this, and ever less above: near contacts, not in the air."""
SMOOTH_S = 0.025
"""Seconds to either side over which speeds are smoothed."""


def register(
    motions: Sequence[Motion],
    *,
    ends: Literal["open", "match"] = "open",
    at: tuple[int, int] | None = None,
    pins: Sequence[tuple[int, int]] = (),
    footplants: Sequence[Footplants] | None = None,
    reference: int | None = None,
    body: BodyMap | None = None,
    refine: bool = False,
    slope_limit: int = 3,
    epsilon: float = 0.33,
    knot_s: float = 0.27,
    window_s: float = 0.17,
    cover: float | None = None,
    least_s: float | None = None,
    repair_knees: bool | None = True,
    match: bool = True,
    cycles: bool | Sequence[GaitCycle] = False,
    sync_contacts: bool = False,
    foot_speeds: float = 0.0,
    joint_weights: Mapping[str, float] | None = None,
    constraints: Sequence[Mapping[str, Spans]] | None = None,
) -> RegistrationCurve:
    """The registration curve of two or more motions: timing, alignment and matched plants.

    Parameters
    ----------
    motions
        Two or more; the others are matched to the skeleton and rate of the first, and notes report
        it.
    ends
        ``"open"`` finds the part the motions share and crops them to it; ``"match"`` forces first
        frames together and last frames together.
    at
        A pair of frames, at the first motion's rate, that must match; the curve is grown from it
        both ways. Two motions only.
    pins
        More pairs of frames that should match, in time order. Two motions only. They are met where
        the curve can bend so quickly; pins that ask for sudden changes of rate are missed by some
        frames.
    footplants
        Contacts of every motion, in its own frames; detected where not given.
    reference
        Index of the motion to which the others are aligned; by default the one nearest to all
        others, of two the first.
    body
        Which joint is which; guessed where not given.
    refine
        Move the times to a small part of a frame. For near-copies: between different takes it
        follows style.
    slope_limit
        Most frames in a row in which one motion may wait while the other advances.
    epsilon
        Smallest ratio of two motions' rates along the curve.
    knot_s, window_s
        Seconds between control points, and of the window in which frames are compared.
    cover
        With open ends and without ``at`` or ``pins``, the least part of the shorter motion that
        must be kept; 0.6 by default.
    least_s
        With ``at`` or ``pins`` and open ends, the least seconds that the curve must go on before
        the first and after the last of them; 0 by default.
    repair_knees
        Whether knees that were captured bent backwards are repaired first; single glitched frames
        are interpolated in either case. None leaves captures entirely as they are.
    match
        If False, all motions must have the same joints, and bones of other lengths are left as
        they are.
    cycles
        Cut every motion to the gait cycle that closes best, from the middle of a left stance to
        the next, and match these from end to end: a curve that can be repeated. A list of one
        cycle per motion, from :func:`motionloom.find_cycles`, says which, in frames at the first
        motion's rate.
    sync_contacts
        Move the times to the contacts that the motions share, so that these begin and end together.
    foot_speeds
        How much the speeds of the feet count when frames are compared: a foot in the air counts
        like a point that is this many metres off from one that stands. 0 compares poses alone;
        with 1 and ``knot_s=0.15`` steps of different takes land closer together in time.
    joint_weights
        How much each joint counts when poses are compared, by name; others count 1.
    constraints
        One dictionary per motion: by name, intervals (start, end) in seconds over which something
        holds, such as a hand on an object. They must lie in their motion. Intervals that overlap
        at the same moments of the motions are matched as contacts of the feet are; notes name
        those that find no partner.
        ``curve.matches[name]``, and ``blend.constraints[name]`` says when a blend holds them.
        Under the name ``left_wrist`` or ``right_wrist``, or that of the joint, the blend holds the
        hand in its place, as :func:`motionloom.hold_hands` does.

    Returns
    -------
    RegistrationCurve
        Times, alignments and matched contacts over one parameter, with the motions.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> slow, fast = (synthetic.clip("walk", speed=v).motion for v in (1.1, 1.5))
    >>> curve = register([slow, fast])
    >>> curve.frames(0.5 * curve.u_range[1]).shape
    (2,)
    """
    rules = _checked_rules(
        ends, slope_limit, epsilon, knot_s, COVER if cover is None else cover,
        0.0 if least_s is None else least_s, refine, cycles,
    )  # fmt: skip
    positive(window_s, "window_s")
    not_negative(foot_speeds, "foot_speeds")
    flag(match, "match")
    flag(sync_contacts, "sync_contacts")
    if repair_knees is not None:
        flag(repair_knees, "repair_knees")
    matched = _matched(motions, at, pins, footplants=footplants, body=body, match=match)
    _check_used(cover, least_s, closed=rules.closed, pinned=at is not None or bool(pins))
    clips, roles = list(matched.motions), matched.body
    notes = matched.named_notes(clip_names(len(clips)))
    if reference is not None:
        reference = whole(reference, "reference", least=0, most=len(clips) - 1)
    if repair_knees is not None:
        clips = _repaired(clips, roles, notes, knees=repair_knees)
    ready, uncut = marked(clips, matched.footplants, constraints), None
    if cycles is not False:
        if at is not None or pins or ends == "match":
            raise ArrayError(
                "`cycles` cuts the motions: `at`, `pins` and ends='match' must not be given with "
                "it. Cut the motions with `find_cycles` first."
            )
        uncut_clips = ready
        ready = cut_to(ready, _chosen_cycles(ready, roles, cycles), notes)
        uncut = UncutClips(uncut_clips.motions, uncut_clips.footplants, ready.first_frames)
    clouds = _clouds(ready.motions, roles, joint_weights, foot_speeds)
    placed = _placed(ready.motions, clouds, roles, window_s, rules, reference, at, pins)
    curve = RegistrationCurve(
        motions=ready.motions,
        footplants=ready.footplants,
        times=placed.times,
        alignment=tuple(placed.alignments),
        matches={},
        reference=placed.reference,
        frames_per_knot=_mean_spacing(placed.times),
        costs=placed.costs,
        notes=tuple(notes),
        body=roles,
        uncut=uncut,
    )
    curve = with_matches(curve, ready.constraints)
    if sync_contacts:
        curve = with_matches(timed_by_contacts(curve, epsilon), ready.constraints)
    return dataclasses.replace(curve, notes=curve.notes + unmatched_notes(curve, ready))


def _checked_rules(
    ends: str,
    slope_limit: int,
    epsilon: float,
    knot_s: float,
    cover: float,
    least_s: float,
    refine: bool,
    cycles: bool | Sequence[GaitCycle],
) -> CurveRules:
    """The rules for the times of a curve, checked; with cycles both ends are closed."""
    if not isinstance(ends, str) or ends not in ("open", "match"):
        raise ArrayError(f"`ends` must be 'open' or 'match', got {ends!r}.")
    is_whole = isinstance(slope_limit, int) and not isinstance(slope_limit, bool)
    if not is_whole or not 0 <= slope_limit <= STEEPEST:
        raise ArrayError(
            f"`slope_limit` must be a whole number from 0 to {STEEPEST}, got {slope_limit!r}."
        )
    positive(knot_s, "knot_s")
    for value, name in ((epsilon, "epsilon"), (cover, "cover")):
        if not 0.0 < positive(value, name) <= 1.0:
            raise ArrayError(f"`{name}` must lie above 0 and at most at 1, got {value!r}.")
    if finite(least_s, "least_s") < 0.0:
        raise ArrayError(f"`least_s` must not be negative, got {least_s!r}.")
    flag(refine, "refine")
    if not isinstance(cycles, bool):
        for k, cycle in enumerate(items(cycles, "cycles", "gait cycles")):
            of_kind(cycle, GaitCycle, f"cycles[{k}]")
    closed = ends == "match" or cycles is not False
    return CurveRules(closed, slope_limit, epsilon, knot_s, cover, least_s, refine)


def _matched(
    motions: Sequence[Motion],
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
    *,
    footplants: Sequence[Footplants] | None,
    body: BodyMap | None,
    match: bool,
) -> MatchedClips:
    """The motions on one skeleton and at one rate, and long enough; frames to match lie in them."""
    if not isinstance(motions, list | tuple):
        raise ArrayError(f"`motions` must be a list of motions, got {type(motions).__name__}.")
    for k, motion in enumerate(motions):
        of_kind(motion, Motion, f"motions[{k}]")
    if len(motions) < 2:
        raise ArrayError(f"`motions` must hold two or more motions, got {len(motions)}.")
    if not isinstance(pins, list | tuple):
        raise ArrayError(f"`pins` must be a list of pairs of frames, got {type(pins).__name__}.")
    if len(motions) > 2 and (at is not None or pins):
        raise ArrayError("`at` and `pins` are for two motions; register the pairs one by one.")
    matched = match_clips(motions, footplants=footplants, body=body, match=match)
    clips = matched.motions
    for k, clip in enumerate(clips):
        if clip.n_frames < 3:
            raise RegistrationError(
                f"{named_clip(clips, k)} has {clip.n_frames} frames; three are the least for a "
                "curve."
            )
    for pair in [*([at] if at is not None else []), *pins]:
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not all(isinstance(frame, int | np.integer) for frame in pair)
        ):
            raise ArrayError(f"Matched frames must be pairs of whole numbers, got {pair!r}.")
        for k in range(2):
            if not 0 <= pair[k] < clips[k].n_frames:
                raise ArrayError(
                    f"Matched frames must lie in their motions; {pair[k]} is not in motion {k} "
                    f"of {clips[k].n_frames} frames."
                )
    return matched


def _check_used(cover: float | None, least_s: float | None, *, closed: bool, pinned: bool) -> None:
    """Refuse options of open ends that these ends do not use."""
    if cover is not None and (closed or pinned):
        why = (
            "ends='match' and `cycles` keep all of every motion. Leave `cover` out"
            if closed
            else "with `at` or `pins` the curve is grown from those. Pass `least_s` in its place"
        )
        raise ArrayError(
            f"`cover` is the part of the shorter motion that open ends must keep, got "
            f"{cover:g}, but {why}."
        )
    if least_s is not None and (closed or not pinned):
        raise ArrayError(
            "`least_s` is how far a curve with open ends must go on from `at` or `pins`, got "
            f"{least_s:g} without them or with other ends. Pass `at`, leave ends='open' "
            "and `cycles` out, or leave `least_s` out."
        )


def _repaired(
    clips: Sequence[Motion], body: BodyMap, notes: list[str], *, knees: bool
) -> list[Motion]:
    """Repair single glitched frames and knees bent backwards; ``notes`` get the repairs."""
    ready = []
    for name, clip in zip(clip_names(len(clips)), clips, strict=True):
        repaired = repair_capture(clip, body=body, knees=knees)
        notes += [f"{name}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
    return ready


def _chosen_cycles(
    clips: MarkedClips, body: BodyMap, chosen: bool | Sequence[GaitCycle]
) -> list[GaitCycle]:
    """A cycle of every clip: the one given, else the one that closes best."""
    n_motions = len(clips.motions)
    if not isinstance(chosen, bool) and len(chosen) != n_motions:
        raise ArrayError(
            f"`cycles` must have one cycle per motion ({n_motions}), got {len(chosen)}. Pass True "
            "for the one of each that closes best."
        )
    cycles = []
    for k, (motion, plants) in enumerate(zip(clips.motions, clips.footplants, strict=True)):
        if isinstance(chosen, bool):
            try:
                cycle = find_cycles(motion, footplants=plants, body=body)[0]
            except RegistrationError as error:
                raise RegistrationError(f"{named_clip(clips.motions, k)}: {error}") from error
        else:
            cycle = chosen[k]
            if not 0 <= cycle.first < cycle.last < motion.n_frames:
                raise ArrayError(
                    f"`cycles[{k}]` must lie in its motion of {motion.n_frames} frames, got "
                    f"{cycle.first} to {cycle.last}. Find cycles at the rate of the first motion."
                )
        cycles.append(cycle)
    return cycles


def _clouds(
    clips: Sequence[Motion],
    body: BodyMap,
    joint_weights: Mapping[str, float] | None,
    foot_speeds: float,
) -> list[PointCloud]:
    """The points of every clip that are compared."""
    among = [clip.skeleton for clip in clips]
    clouds = [
        point_cloud(clip, body=body, among=among, joint_weights=joint_weights) for clip in clips
    ]
    if foot_speeds > 0.0:
        clouds = [
            with_foot_speeds(cloud, clip, body, foot_speeds)
            for cloud, clip in zip(clouds, clips, strict=True)
        ]
    return clouds


def with_foot_speeds(
    cloud: PointCloud, motion: Motion, body: BodyMap, height_m: float
) -> PointCloud:
    """Add a point for each foot to the cloud, over the root, as high as the foot is fast.

    Poses change little while a foot comes to rest, and styles differ by more than that. The speed
    of a foot changes by metres a second within a few frames. As points whose height is that speed,
    the balls of the feet enter the distance between frames like any other point.

    Parameters
    ----------
    cloud
        Of the motion.
    motion, body
        The motion and roles of its joints.
    height_m
        Height of the point of a foot in the air, metres.
    """
    balls = foot_points(motion, body=body)[:, BALLS]
    speeds = np.linalg.norm(velocities(balls, motion.fps), axis=-1)  # (F, 2)
    speeds = spread_smoothly(speeds, max(1, round(SMOOTH_S * motion.fps))) / SLOW_M_S
    extra = np.repeat(motion.root_positions[:, None], len(BALLS), axis=1)
    extra[..., 1] = height_m * speeds / np.sqrt(np.sqrt(1.0 + speeds**4))
    weights = np.append(cloud.weights, np.full(len(BALLS), cloud.weights.mean()))
    points = np.concatenate([cloud.points, extra], axis=1)
    return PointCloud(points, weights / weights.sum())


def _placed(
    clips: Sequence[Motion],
    clouds: Sequence[PointCloud],
    body: BodyMap,
    window_s: float,
    rules: CurveRules,
    reference: int | None,
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
) -> ManyClips:
    """Times and alignments of the clips."""
    if len(clips) > 2:
        return register_many(Grids(clips, clouds, window_s, body), rules, reference)
    reference = reference or 0
    step = -1 if reference else 1  # the reference comes first
    grids = Grids(clips[::step], clouds[::step], window_s, body)
    pair = register_two(
        grids,
        rules,
        None if at is None else (at[reference], at[1 - reference]),
        [(pin[reference], pin[1 - reference]) for pin in pins],
    )
    times = Spline(pair.times.points[:, ::step] * grids.stride)
    costs = (0.0, float(np.sqrt(pair.path.mean_cost)))[::step]
    alignments: list[Spline | None] = [None, pair.alignment][::step]
    return ManyClips(reference, times, alignments, costs)


def _mean_spacing(times: Spline) -> float:
    """Average frames per unit of the spline's own parameter."""
    ends = times(np.array([0.0, times.u_end]))
    return float((ends[1] - ends[0]).mean()) / times.u_end


# --- Matches: contacts and other constraints of clips, brought together on their curve

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
    ends = curve.times(np.array([0.0, curve.times.u_end]))  # (2, K)
    on_curve: list[list[list[Interval]]] = []  # by motion, then by kind
    for k, plants in enumerate(curve.footplants):
        kinds = [*plants.intervals().values(), *(each[k] for each in constraints.values())]
        spans = [
            np.clip(np.array(each, dtype=np.float64).reshape(-1, 2), *ends[:, k]) for each in kinds
        ]
        spans = [each[each[:, 1] > each[:, 0]] for each in spans]
        stops = np.cumsum([len(each) for each in spans])[:-1]
        inside = np.split(curve.u_of(k, np.concatenate(spans)), stops)
        on_curve.append([[(float(a), float(b)) for a, b in each] for each in inside])
    matches = {
        kind: match_constraints(per_motion)
        for kind, *per_motion in zip((*KINDS, *constraints), *on_curve, strict=True)
    }
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
