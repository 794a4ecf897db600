"""Join: A, a blend around a place, and B, as one clip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, whole
from motionloom.blending.candidates import Candidate, find_candidates
from motionloom.blending.evaluate import Evaluated, evaluate
from motionloom.blending.pair import Pair
from motionloom.blending.walk import walk_parameters
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.verification import Copied, Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Motion
from motionloom.motion.result_motion import joined_name
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.grids import GRID_RATE
from motionloom.registration.register import register
from motionloom.rotation.easing import ease
from motionloom.rotation.planar import PlanarTransform

PLACES = 12
"""Places that are looked at, best first, until one passes the check."""
SEEN = 12
"""Frames before and after a blend that are looked at with it."""


def copied_frames(span: tuple[int, int], frames: FloatArray, low: int, high: int) -> list[Copied]:
    """Frames ``low`` to ``high`` of a transition that are A's (source 0) and B's (source 1)."""
    first, last = span
    after = round(float(frames[-1, 1])) + 1
    return [Copied(0, first + 1 - low, 0, low), Copied(last + 1 - low, high - low, 1, after)]


class Joined(NamedTuple):
    """A, blend and B at one place."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    frames: FloatArray
    placement: PlanarTransform


def verify_blend(pair: Pair, joined: Joined) -> Verification:
    """The check of the blended frames, feet not yet held, with a little of what is around."""
    first, last = joined.span
    low, high = max(0, first - SEEN), min(joined.motion.n_frames, last + SEEN + 1)
    return pair.check.verify(
        joined.motion[low:high],
        footplants=joined.footplants[low:high],
        span=(first - low, last - low),
        copied=copied_frames(joined.span, joined.frames, low, high),
        held=False,
    )


def join_at(pair: Pair, place: Candidate, half: int, *, timewarp: bool) -> Joined:
    """A, the blend around a place, and B.

    Parameters
    ----------
    pair
        The clips.
    place
        Where they meet.
    half
        Half the frames of the blend.
    timewarp
        Let the clips' own times follow one another inside the blend.
    """
    a, b, plants = pair.a, pair.b, pair.footplants
    curve = _curve(a, b, plants, place, half, timewarp, pair.body)
    u = _parameters(curve, place, half)
    n = len(u)
    w_a = ease(np.arange(n) / (n - 1))
    weights = np.stack([w_a, 1.0 - w_a], axis=-1)
    frames = curve.frames(u)
    first, last = round(float(frames[0, 0])), round(float(frames[-1, 1]))
    evaluated = _standing_on_a(evaluate(curve, u, weights, name=joined_name(a, "to", b)))
    placement = _at(evaluated.placement, -1) @ _at(evaluated.alignments, (-1, 1))
    parts = [evaluated.motion[1:-1]] if n > 2 else []
    motion = concatenate([a[: first + 1], *parts, transform(b, placement)[last:]])
    planted = np.concatenate(
        [
            plants[0].planted[: first + 1],
            evaluated.footplants.planted[1:-1],
            plants[1].planted[last:],
        ]
    )
    return Joined(
        motion.replace(name=evaluated.motion.name, source=a.source.for_result()),
        Footplants(planted),
        (first, first + n - 1),
        frames,
        placement,
    )


def _at(transforms: PlanarTransform, index: int | tuple[int, int]) -> PlanarTransform:
    """One of many transforms."""
    return PlanarTransform(
        *(float(np.asarray(x)[index]) for x in (transforms.theta, transforms.x0, transforms.z0))
    )


def find_places(pair: Pair, half: int, *, moving: bool) -> tuple[Candidate, ...]:
    """Best places with enough frames for the blend, or with as many as the clips have."""
    a, b = pair.a, pair.b
    most = (min(a.n_frames, b.n_frames) - 1) // 2 - 1
    if most < 2:
        raise RegistrationError(
            f"Clips must have at least 7 frames for a transition, got {a.n_frames} and "
            f"{b.n_frames}. Use longer clips."
        )
    # Places are looked for at the grid's rate: one of its frames must lie between the margins.
    stride = max(1, round(a.fps / GRID_RATE))
    margin = min(
        int(np.ceil(1.4 * half)), most, max(0, (min(a.n_frames, b.n_frames) - stride) // 2)
    )
    return find_candidates(
        (a, b),
        pair.footplants,
        margin=margin,
        count=PLACES,
        moving=moving,
        avoid=pair.glitches,
        body=pair.body,
    )


def named_place(pair: Pair, at: tuple[int, int]) -> Candidate:
    """The place that the caller named, with its cost."""
    a, b = pair.a, pair.b
    at = (whole(at[0], "at[0]"), whole(at[1], "at[1]"))
    for k, (frame, clip) in enumerate(zip(at, (a, b), strict=True)):
        if not 2 <= frame <= clip.n_frames - 3:
            raise ArrayError(
                f"`at` must leave two frames on both sides; {frame} does not, in clip "
                f"{'AB'[k]} of {clip.n_frames} frames."
            )
    reach = 8
    part_a, part_b = (slice(max(0, frame - reach), frame + reach + 1) for frame in at)
    near = find_candidates(
        (a[part_a], b[part_b]),
        (pair.footplants[0][part_a], pair.footplants[1][part_b]),
        margin=0,
        count=1,
        body=pair.body,
    )[0]
    return Candidate(at[0], at[1], near.cost, near.pose, near.feet, near.both_moving)


def _curve(
    a: Motion,
    b: Motion,
    plants: tuple[Footplants, Footplants],
    place: Candidate,
    half: int,
    timewarp: bool,
    body: BodyMap,
) -> RegistrationCurve:
    """The curve through the place, over as much of the clips as the blend can need."""
    reach = 3 * half + 12
    low = (max(0, place.frame_a - reach), max(0, place.frame_b - reach))
    part_a = a[low[0] : place.frame_a + reach + 1]
    part_b = b[low[1] : place.frame_b + reach + 1]
    parts = (
        plants[0][low[0] : place.frame_a + reach + 1],
        plants[1][low[1] : place.frame_b + reach + 1],
    )
    at = (place.frame_a - low[0], place.frame_b - low[1])
    curve = register(
        [part_a, part_b],
        at=at,
        footplants=parts,
        slope_limit=2 if timewarp else 0,
        epsilon=0.5,
        window_s=0.17,
        least_s=2.0 * half / a.fps,
        body=body,
        repair_knees=None,
        match=False,
    )
    return curve.shifted(low, (a, b), plants)


def _parameters(curve: RegistrationCurve, place: Candidate, half: int) -> FloatArray:
    """Parameters of the blended frames, A's frame whole at the first and B's at the last.

    Walked both ways from the place with the weights that each frame will have, then shifted a
    little towards each end so that both ends fall on frames.
    """
    points, spacing = curve.times.points, curve.frames_per_knot
    middle = 0.5 * (
        float(curve.times.inverse(0, place.frame_a)) + float(curve.times.inverse(1, place.frame_b))
    )
    end = curve.times.u_end
    middle = min(max(middle, 0.0), end)
    half = min(half, max(motion.n_frames for motion in curve.motions))  # one step is one frame
    for h in range(half, 0, -1):
        w = ease(np.arange(2 * h + 1) / (2 * h))
        weights = np.stack([w, 1.0 - w], axis=-1)
        back = walk_parameters(points, weights[h::-1].copy(), middle, -1.0, 0.0, False)
        on = walk_parameters(points, weights[h:].copy(), middle, 1.0, end, False)
        if len(back) == h + 1 and len(on) == h + 1:
            u = np.concatenate([back[::-1], on[1:]])
            snapped = _snapped(curve, u, h)
            if snapped is not None:
                return snapped * spacing
    raise RegistrationError(
        f"A blend needs more frames around frame {place.frame_a} of A and {place.frame_b} of B. "
        "Choose another place with `at`, or leave `at` out."
    )


def _snapped(curve: RegistrationCurve, u: FloatArray, h: int) -> FloatArray | None:
    """``u`` with A whole at its first frame and B at its last; None where it would turn back."""
    first = np.round(float(curve.times(u[0])[0]))
    last = np.round(float(curve.times(u[-1])[1]))
    end = curve.times.u_end
    shift_first = float(curve.times.inverse(0, first)) - u[0]
    shift_last = float(curve.times.inverse(1, last)) - u[-1]
    i = np.arange(-h, h + 1)
    moved = u + np.where(i <= 0, shift_first * ease((i + h) / h), shift_last * ease((h - i) / h))
    if np.diff(moved).min() <= 0.0 or moved[0] < -1e-9 or moved[-1] > end + 1e-9:
        return None
    return np.asarray(np.clip(moved, 0.0, end))


def _standing_on_a(evaluated: Evaluated) -> Evaluated:
    """The blend moved so that its first frame stands where A stands."""
    first = _at(evaluated.placement, 0) @ _at(evaluated.alignments, (0, 0))
    back = first.inverse()
    return Evaluated(
        transform(evaluated.motion, back),
        evaluated.footplants,
        back @ evaluated.placement,
        evaluated.alignments,
        evaluated.wide_joints,
    )
