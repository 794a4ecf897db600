"""balance(): a motion whose weight is over its feet, and whose flights fall freely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, items, not_negative, of_kind
from motionloom._records import record
from motionloom.body.anatomy import foot_points, stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.masses import mass_segments
from motionloom.cleanup.balance_shift import (
    FARTHEST_M,
    FlightPath,
    balance_shift,
    fall_of,
    flight_path,
    flights_of,
    near,
)
from motionloom.cleanup.cleanup_report import Cleanup, CleanupReport
from motionloom.cleanup.footskate import clean_until_sound
from motionloom.errors import SkeletonMismatchError
from motionloom.features.balance import GRAVITY, SMOOTH_S, Support, support_of
from motionloom.features.checks.quality_check import mended_notes, merged_verdict, verify
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Footplants, Motion, contacts_for

USUAL_M = 0.02
"""How far the zero moment point of captured walks lies outside the soles (95th percentile)."""
ROUNDS = 3
"""Times that the balance is measured and the remaining error is corrected."""
MOST_CHANGE = 0.06
"""A joint may move by this part of the body's height; where it would move farther, less is
corrected: the contacts are then more likely wrong than the balance."""
FLIGHT_PART = 0.95
"""Part of that distance that a flight may take; the rest is for shifts over the ground."""
INSIDE = 0.7
"""The correction aims at this part of what is allowed."""
FREE = 0.1
"""A flight whose acceleration is off by at most this part of gravity counts as free fall, as
most captured jumps do."""
PARTS = (1.0, 0.5, 0.25)
"""Parts of the correction that are tried until the result passes the quality check."""


@dataclass(frozen=True, slots=True)
@record
class BalanceFigures:
    """How well a motion keeps its balance.

    Frames within an eighth of a second of a flight do not count as standing: the window that
    accelerations are measured over mixes the flight with the stance there.

    Attributes
    ----------
    outside : float or None
        Part of the standing frames whose zero moment point is farther outside the soles than
        allowed; None where the motion never stands.
    distance_m : float or None
        How far it is outside the soles beyond what is allowed, mean of the standing frames.
    fall : float or None
        Largest error of the acceleration in a flight, parts of gravity; None without flights.
    """

    outside: float | None
    distance_m: float | None
    fall: float | None


@dataclass(frozen=True, slots=True, eq=False)
@record
class Balanced:
    """A balanced motion, and how it was changed.

    Attributes
    ----------
    motion : Motion
        The balanced motion.
    footplants : Footplants
        Contacts that are held.
    before, after : BalanceFigures
        Balance of the given motion, and of the result.
    allowed_m : float
        How far the zero moment point may be outside the soles.
    notes : tuple of str
        What was decided, and failed checks.
    verification : Verification
        Quality check of the result against the sources. Without sources, of the result alone, and
        of a changed one also against the given motion.
    cleanup : CleanupReport or None
        What holding the feet and shifting the body changed; None where nothing was changed.
    """

    motion: Motion
    footplants: Footplants
    before: BalanceFigures
    after: BalanceFigures
    allowed_m: float
    notes: tuple[str, ...]
    verification: Verification
    cleanup: CleanupReport | None

    @property
    def span(self) -> tuple[int, int]:
        """First and last frame of the motion."""
        return 0, self.motion.n_frames - 1


def balance(
    motion: Motion,
    footplants: Footplants | None = None,
    *,
    sources: Sequence[Motion] = (),
    allowed_m: float | None = None,
    body: BodyMap | None = None,
) -> Balanced:
    """Balance a motion: its zero moment point over its feet, its flights in free fall.

    Where the zero moment point is farther outside the soles than in the sources, the body is
    shifted over the ground, as little and as smoothly as possible; legs follow, and planted feet
    stay. In flight the centre of mass follows a parabola. Where the result would fail the quality
    check, less is corrected.

    Parameters
    ----------
    motion
        A blend, a splice or any other motion, at least half a second long.
    footplants
        Its contacts; detected by default.
    sources
        The clips that it was made from; they count as balanced.
    allowed_m
        How far the zero moment point may be outside the soles, metres. By default the 95th
        percentile of the sources, at least 2 cm, which captured walks have.
    body
        Roles of its joints; guessed by default.

    Returns
    -------
    Balanced
        With the motion, its contacts, and how balanced it was before and is after.

    Raises
    ------
    SkeletonMismatchError
        A source has other joints than the motion, or the motion has no whole legs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("stand")
    >>> balanced = balance(clip.motion, clip.footplants)
    >>> balanced.after.outside, balanced.notes
    (0.0, ('nothing was changed: the motion is balanced',))
    """
    of_kind(motion, Motion, "motion")
    body = roles_for(motion.skeleton, body)
    body.require(*_LEGS, task="balance")
    if footplants is None:
        footplants = detect_footplants(motion, body=body)
    contacts_for(footplants, motion.n_frames)
    clips = _checked_sources(sources, motion)
    if allowed_m is None:
        allowed = max([USUAL_M, *(_usual(clip, body) for clip in clips)])
    else:
        allowed = not_negative(allowed_m, "allowed_m")
    state = _State.of(motion, footplants, body)
    before = state.figures(allowed)
    more_would = ""
    for part in PARTS:
        best, problem = _corrected(state, allowed, part)
        if best is not None:
            break
        more_would = problem
    if best is None or not _better(best.state, state, allowed):
        return _unchanged(state, before, allowed, clips)
    cleanup = best.cleanup
    verification = _verdict(cleanup, clips, body)
    notes = [text for flight in best.path.flights if (text := flight.note(part))]
    if part < 1.0:
        notes.append(f"{100.0 * part:.0f} % of the correction is applied: more would {more_would}")
    notes += _failed_notes(verification)
    if not clips:
        notes += mended_notes(motion, footplants, body, verification)
    return Balanced(
        cleanup.motion,
        cleanup.footplants,
        before,
        best.state.figures(allowed),
        allowed,
        tuple(notes),
        verification,
        cleanup.report,
    )


_LEGS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("hip", "knee", "ankle"))


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """A motion and all that its balance is measured by."""

    motion: Motion
    footplants: Footplants
    body: BodyMap
    support: Support
    centre: FloatArray
    """Centre of mass. (F, 3)"""
    flights: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        motion: Motion,
        footplants: Footplants,
        body: BodyMap,
        flights: list[tuple[int, int]] | None = None,
    ) -> _State:
        """The state of a motion, with its flights where they are known."""
        pose = motion.world_pose()
        points = foot_points(motion, body=body, pose=pose)
        return cls(
            motion,
            footplants,
            body,
            support_of(motion, points, footplants.planted, body),
            mass_segments(motion.skeleton.n_joints, body).centre(pose[0]),
            flights_of(points, footplants.planted, motion.fps) if flights is None else flights,
        )

    @property
    def farthest(self) -> float:
        """How far a joint may be moved, metres."""
        return MOST_CHANGE * stature(self.motion.skeleton, self.body)

    def path(self) -> FlightPath:
        """What makes its flights ballistic."""
        farthest = min(FARTHEST_M, FLIGHT_PART * self.farthest)
        return flight_path(self.centre, self.flights, self.motion.fps, farthest)

    @property
    def flying(self) -> BoolArray:
        """Which frames belong to flights, one value per frame."""
        flying = np.zeros(self.motion.n_frames, dtype=bool)
        for first, last in self.flights:
            flying[first : last + 1] = True
        return flying

    def falls(self) -> list[float]:
        """Error of the acceleration in every flight, parts of gravity."""
        return [
            abs(fall_of(self.centre[a : b + 1, 1], self.motion.fps) + GRAVITY) / GRAVITY
            for a, b in self.flights
        ]

    def figures(self, allowed: float) -> BalanceFigures:
        """How well it is balanced."""
        distance = self.support.distance()
        counts = np.isfinite(distance) & ~near(self.flying, round(0.5 * SMOOTH_S * self.motion.fps))
        over = np.maximum(distance[counts] - allowed, 0.0)
        return BalanceFigures(
            float(np.mean(over > 0.0)) if over.size else None,
            float(over.mean()) if over.size else None,
            max(self.falls(), default=None),
        )


class _Corrected(NamedTuple):
    """A corrected motion."""

    state: _State
    cleanup: Cleanup
    path: FlightPath


def _corrected(state: _State, allowed: float, part: float) -> tuple[_Corrected | None, str]:
    """The motion corrected in part; None where that is too much, with the reason."""
    motion, fps = state.motion, state.motion.fps
    path, farthest = state.path(), state.farthest
    lifted = motion.replace(root_positions=motion.root_positions + part * path.flying)
    ground = np.zeros((motion.n_frames, 3))
    now, best, problem = state, None, ""
    plain = len(_held(lifted, state, None).verification.failed)
    for _ in range(ROUNDS):
        heights = now.centre[:, 1] - now.support.floor
        goal = INSIDE * allowed
        moved = balance_shift(now.support, heights, fps, allowed=goal, flying=state.flying)
        ground[:, [0, 2]] += part * moved
        cleanup = _held(lifted, state, ground + part * path.standing)
        if len(cleanup.verification.failed) > plain:
            problem = "fail the quality check"
            break
        if _moved(motion, cleanup.motion) > farthest:
            problem = f"move a joint by more than {100.0 * farthest:.3g} cm"
            break
        now = _State.of(cleanup.motion, state.footplants, state.body, state.flights)
        if best is not None and not _better(now, best.state, allowed):
            break
        best = _Corrected(now, cleanup, path)
    return best, problem


def _held(motion: Motion, state: _State, shift: FloatArray | None) -> Cleanup:
    """The motion with its root shifted and its feet where they were.

    Feet that stood a little restlessly go on to: held at one point they would be more still than
    captured ones, which classifiers notice.
    """
    return clean_until_sound(
        motion, state.footplants, lambda cleanup, _: cleanup.verification,
        body=state.body, shift=shift, own_paths=True,
    )[0]  # fmt: skip


def _moved(before: Motion, after: Motion) -> float:
    """The farthest that a joint moved, metres."""
    apart = after.world_positions() - before.world_positions()
    return float(np.linalg.norm(apart, axis=-1).max())


def _better(now: _State, before: _State, allowed: float) -> bool:
    """Whether the zero moment point is nearer, or flights fall more freely and it is no farther."""
    ours, theirs = (state.figures(allowed).distance_m or 0.0 for state in (now, before))
    return ours < 0.98 * theirs or (
        ours <= theirs + 1e-4 and sum(now.falls()) < 0.9 * sum(before.falls())
    )


def _unchanged(
    state: _State, figures: BalanceFigures, allowed: float, clips: Sequence[Motion]
) -> Balanced:
    """The motion as it came in, with its own verdict."""
    note = "nothing was changed: the motion is balanced"
    if figures.distance_m is None and figures.fall is None:
        note = "nothing was changed: no stance and no flight is long enough to be measured"
    elif figures.distance_m or (figures.fall or 0.0) > FREE:
        note = (
            "nothing was changed: no correction improves the balance, passes the check and moves "
            f"no joint by more than {100.0 * state.farthest:.3g} cm"
        )
    verification = verify(state.motion, sources=clips, footplants=state.footplants, body=state.body)
    left = [flight.note() for flight in state.path().flights if not flight.part]
    notes = (note, *left, *_failed_notes(verification))
    return Balanced(
        state.motion, state.footplants, figures, figures, allowed, notes, verification, None
    )


def _verdict(cleanup: Cleanup, clips: Sequence[Motion], body: BodyMap) -> Verification:
    """The quality check of a changed motion."""
    checked = verify(cleanup.motion, sources=clips, footplants=cleanup.footplants, body=body)
    return checked if clips else merged_verdict(cleanup.verification, checked)


def _failed_notes(verification: Verification) -> list[str]:
    """Faults of the data and failed checks, in words."""
    faults = [f"failed check: {each}" for each in verification.unsound]
    return faults + [f"failed check: {each}" for each in verification.failed]


def _usual(clip: Motion, body: BodyMap) -> float:
    """How far the zero moment point of a clip is outside its soles, 95th percentile."""
    plants = detect_footplants(clip, body=body)
    points = foot_points(clip, body=body)
    distance = support_of(clip, points, plants.planted, body).distance()
    outside = np.maximum(distance[np.isfinite(distance)], 0.0)
    return float(np.quantile(outside, 0.95)) if outside.size else 0.0


def _checked_sources(sources: Sequence[Motion], motion: Motion) -> list[Motion]:
    """The sources, all on the motion's joints."""
    clips = items(sources, "sources", "motions")
    for k, clip in enumerate(clips):
        of_kind(clip, Motion, f"sources[{k}]")
        if not clip.skeleton.same_joints(motion.skeleton):
            raise SkeletonMismatchError(
                f"`sources[{k}]` must have the joints of `motion`, got {clip!r}. Retarget it "
                "first, or leave it out."
            )
    return list(clips)
