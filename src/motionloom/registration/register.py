"""register(): from motions to a registration curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal, Unpack

import numpy as np

from motionloom._arrays import known_options, whole
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.edit import Frames
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch, match_constraints
from motionloom.registration.contact_timing import timed_by_contacts
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.foot_speeds import with_foot_speeds
from motionloom.registration.gait_cycles import GaitCycle
from motionloom.registration.grids import Grids
from motionloom.registration.inputs import matched_motions, repaired_motions
from motionloom.registration.many_clips import ManyClips, register_many
from motionloom.registration.prepared import cut_to_cycles, prepared
from motionloom.registration.registration_settings import RegistrationOptions, RegistrationSettings
from motionloom.registration.splines import Spline
from motionloom.registration.two_clips import register_two
from motionloom.registration.uncut_clips import UncutClips
from motionloom.registration.unmatched import unmatched_notes


def register(
    motions: Sequence[Motion],
    *,
    ends: Literal["open", "match"] = "open",
    at: tuple[int, int] | None = None,
    pins: Sequence[tuple[int, int]] = (),
    footplants: Sequence[Footplants] | None = None,
    reference: int | None = None,
    body: BodyMap | None = None,
    **options: Unpack[RegistrationOptions],
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
        must be kept.
    least_s
        With ``at`` or ``pins`` and open ends, the least seconds that the curve must go on before
        the first and after the last of them.
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
        like a point that is so many metres off from one that stands. 0 compares poses alone;
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
    known_options("register", RegistrationSettings, options)
    settings = RegistrationSettings(ends, **options)
    matched, notes = matched_motions(
        motions, at, pins, footplants=footplants, body=body, match=settings.match
    )
    _check_used(options, settings, pinned=at is not None or bool(pins))
    clips, roles = list(matched.motions), matched.body
    if reference is not None:
        reference = whole(reference, "reference", least=0, most=len(clips) - 1)
    if settings.repair_knees is not None:
        clips = repaired_motions(clips, roles, notes, knees=settings.repair_knees)
    ready, uncut = prepared(clips, matched.footplants, settings.constraints), None
    if settings.cycles is not False:
        _check_cycles(settings.cycles, len(clips))
        if at is not None or pins or ends == "match":
            raise ArrayError(
                "`cycles` cuts the motions: `at`, `pins` and ends='match' must not be given with "
                "it. Cut the motions with `find_cycles` first."
            )
        whole_clips = ready
        ready = cut_to_cycles(ready, roles, notes, settings.cycles)
        uncut = UncutClips(whole_clips.motions, whole_clips.footplants, ready.first_frames)
        settings = dataclasses.replace(settings, ends="match")
    placed = _placed(ready.motions, roles, settings, reference, at, pins)
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
    if settings.sync_contacts:
        curve = with_matches(timed_by_contacts(curve, settings.epsilon), ready.constraints)
    return dataclasses.replace(curve, notes=curve.notes + unmatched_notes(curve, ready))


def _check_used(
    options: RegistrationOptions, settings: RegistrationSettings, *, pinned: bool
) -> None:
    """Refuse options of open ends that these ends do not use."""
    closed = settings.ends == "match" or settings.cycles is not False
    if "cover" in options and (closed or pinned):
        why = (
            "ends='match' and `cycles` keep all of every motion. Leave `cover` out"
            if closed
            else "with `at` or `pins` the curve is grown from those. Pass `least_s` in its place"
        )
        raise ArrayError(
            f"`cover` is the part of the shorter motion that open ends must keep, got "
            f"{settings.cover:g}, but {why}."
        )
    if "least_s" in options and (closed or not pinned):
        raise ArrayError(
            "`least_s` is how far a curve with open ends must go on from `at` or `pins`, got "
            f"{settings.least_s:g} without them or with other ends. Pass `at`, leave ends='open' "
            "and `cycles` out, or leave `least_s` out."
        )


def _check_cycles(cycles: bool | Sequence[GaitCycle], n_motions: int) -> None:
    if not isinstance(cycles, bool) and len(cycles) != n_motions:
        raise ArrayError(
            f"`cycles` must have one cycle per motion ({n_motions}), got {len(cycles)}. Pass True "
            "for the one of each that closes best."
        )


def _placed(
    clips: Sequence[Motion],
    body: BodyMap,
    settings: RegistrationSettings,
    reference: int | None,
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
) -> ManyClips:
    """Times and alignments of the clips."""
    among = [clip.skeleton for clip in clips]
    clouds = [
        point_cloud(clip, body=body, among=among, joint_weights=settings.joint_weights)
        for clip in clips
    ]
    if settings.foot_speeds > 0.0:
        clouds = [
            with_foot_speeds(cloud, clip, body, settings.foot_speeds)
            for cloud, clip in zip(clouds, clips, strict=True)
        ]
    if len(clips) > 2:
        return register_many(Grids(clips, clouds, settings.window_s, body), settings, reference)
    reference = reference or 0
    step = -1 if reference else 1  # the reference comes first
    grids = Grids(clips[::step], clouds[::step], settings.window_s, body)
    pair = register_two(
        grids,
        settings,
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


def with_matches(
    curve: RegistrationCurve, constraints: Mapping[str, Sequence[Frames]]
) -> RegistrationCurve:
    """The curve with contacts and other constraints of its motions matched, kind by kind.

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
