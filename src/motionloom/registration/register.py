"""register(): from motions to a registration curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, Unpack

import numpy as np

from motionloom._arrays import known_options, whole
from motionloom.body.body_map import BodyMap
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch, match_constraints
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.grids import Grids
from motionloom.registration.inputs import matched_motions, repaired_motions
from motionloom.registration.many_clips import nearest_to_all, register_many
from motionloom.registration.registration_settings import RegistrationOptions, RegistrationSettings
from motionloom.registration.splines import Spline
from motionloom.registration.two_clips import register_two


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
        Two or more; others than the first are matched to its skeleton and rate, and noted.
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
        Motion that the others are brought to; where not given, the one nearest to all others, of
        two the first.
    body
        Which joint is which; guessed where not given.
    refine
        Move the times to a small part of a frame. For near-copies: between different takes it
        follows style.
    slope_limit
        Most frames in a row that one motion may stand while the other goes on.
    epsilon
        Smallest ratio of two motions' rates along the curve.
    knot_s, window_s
        Seconds between control points, and of the window in which frames are compared.
    cover
        With open ends, the least part of the shorter motion that must be kept.
    least_s
        With ``at``, the least seconds that the curve must go on either side of it.
    repair_knees
        Whether knees that were captured bent backwards are repaired first; single glitched frames
        are interpolated in either case. None leaves captures entirely as they are.
    match
        If False, all motions must have the same joints, and bones of other lengths are left as
        they are.

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
    clips, roles = list(matched.motions), matched.body
    if reference is not None:
        reference = whole(reference, "reference", least=0, most=len(clips) - 1)
    if settings.repair_knees is not None:
        clips = repaired_motions(clips, roles, notes, knees=settings.repair_knees)
    among = [clip.skeleton for clip in clips]
    clouds = [point_cloud(clip, body=roles, among=among) for clip in clips]
    if len(clips) == 2:
        reference = reference or 0
        step = -1 if reference else 1  # the reference comes first
        grids = Grids(clips[::step], clouds[::step], settings.window_s)
        pair = register_two(
            grids,
            settings,
            None if at is None else (at[reference], at[1 - reference]),
            [(pin[reference], pin[1 - reference]) for pin in pins],
        )
        times = Spline(pair.times.points[:, ::step] * grids.stride)
        costs: tuple[float, ...] = (0.0, float(np.sqrt(pair.path.mean_cost)))[::step]
        alignments: list[Spline | None] = [None, pair.alignment][::step]
    else:
        grids = Grids(clips, clouds, settings.window_s)
        if reference is None:
            reference = nearest_to_all(grids, settings)
        times, alignments, costs = register_many(grids, settings, reference)
    spacing = _mean_spacing(times)
    curve = RegistrationCurve(
        motions=tuple(clips),
        footplants=matched.footplants,
        times=times,
        alignment=tuple(alignments),
        matches={},
        reference=reference,
        frames_per_knot=spacing,
        costs=costs,
        notes=tuple(notes),
        body=roles,
    )
    return _with_matches(curve)


def _mean_spacing(times: Spline) -> float:
    """Average frames per unit of the spline's own parameter."""
    ends = times(np.array([0.0, times.u_end]))
    return float((ends[1] - ends[0]).mean()) / times.u_end


def _with_matches(curve: RegistrationCurve) -> RegistrationCurve:
    """The curve with the plants of its motions matched, kind by kind."""
    matches: dict[str, tuple[ConstraintMatch, ...]] = {}
    ends = curve.times(np.array([0.0, curve.times.u_end]))  # (2, K)
    for kind in KINDS:
        per_motion = []
        for k, plants in enumerate(curve.footplants):
            spans = np.array(plants.intervals()[kind], dtype=np.float64).reshape(-1, 2)
            spans = np.clip(spans, ends[0, k], ends[1, k])
            inside = curve.u_of(k, spans[spans[:, 1] > spans[:, 0]])
            per_motion.append([(float(start), float(end)) for start, end in inside])
        matches[kind] = match_constraints(per_motion)
    return dataclasses.replace(curve, matches=matches)
