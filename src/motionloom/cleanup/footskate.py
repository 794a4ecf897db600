"""Footskate clean-up: feet that stand, on rigid bones.

After Kovar, Schreiner and Gleicher 2002, with departures that ``docs/papers/registration.md`` (16)
lists with what each of them changes: a point is held at the mean of its whole plant and at its own
height; the foot rolls over the ball before a leg is pulled straight; the root is lowered where
smoothing would leave a foot out of reach; offsets run out with the slope that they have at the edge
of a hold; a knee that opens at the end of a hold is braked before full stretch stops it; a foot
that comes to a lower contact is raised on the way where it would sweep the floor; a foot that
twitches on one held point turns less; the hips take up what would jerk a knee over a held foot; and
no joint of a leg turns faster than it does in the clip.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, of_kind, positive
from motionloom._core import kernel
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import foot_points
from motionloom.cleanup.cleanup_input import Source, read_source
from motionloom.cleanup.cleanup_report import Cleanup, build_report, verified_in, with_report
from motionloom.cleanup.clearance import LIFTED, MOST_M, lifted, raised
from motionloom.cleanup.contact_speeds import contact_speeds
from motionloom.cleanup.foot import hold_feet, on_own_paths
from motionloom.cleanup.holds import Hold, find_holds, fit_targets
from motionloom.cleanup.rewrite import Pose
from motionloom.cleanup.solve import Placed, calm_body, place_feet, solve_body
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.features.checks.soles import LANDS, floor_heights
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_in
from motionloom.features.footplants.foot_signals import foot_tracks
from motionloom.features.footplants.skated import find_floor
from motionloom.motion.contacts import Footplants, contacts_for, runs_of
from motionloom.motion.motion import Motion

_fastest = kernel("ml_contact_fastest")

ROUNDS = 12
"""Times that contacts are released and the motion is cleaned again."""

LOOSE_M_S = 5.0
"""Points in frames that hardly say where they stand count as if they were so much faster."""
SKATED = 0.65
"""A clip skates whose feet slide in more than this part of the frames on the floor."""

CALM = 0.8
"""Where a hold leaves out frames of its plant, they stay below this part of the fastest that the
clip's planted points move, with and without their common slide; else the whole plant is held."""
NEAR_S = 0.3
"""Contacts so close to a failed check may have caused it, seconds."""
TRIM_S, SHORTEST_S = 0.034, 0.05
"""A contact gives up so much at the end that is nearer to the failure, and twice as much each time
that this did not help; what is left shorter than the second is given up whole. Seconds."""
MOST_TIMES = 8
"""Contacts that gave up so many times the usual length without any help are not the cause."""
SAME_S = 0.1
"""A check that fails at most so far from where it failed before fails again, seconds."""
TRAVELS = ("stall", "launch", "direction", "travel speed", "heading", "head turn")
"""Checks of how the body travels, which contacts of feet do not cause."""
LEG = ("hip", "knee", "ankle", "toe")


def clean_footskate(
    motion: Motion,
    footplants: Footplants | None = None,
    *,
    body: BodyMap | None = None,
    stretch: bool = False,
    blend_s: float = 0.2,
    farthest_m: float = 0.25,
    repair_knees: bool = True,
) -> Cleanup:
    """The motion with its planted heels and toes held in place.

    Contacts that cannot be held without failing the quality check (``Cleanup.verification``) are
    released, and feet that drag along the floor between contacts are lifted. Bones stay rigid,
    knees stay short of straight, and frames farther than ``blend_s`` (and the root's smoothing)
    from any plant and any lift come out bit for bit as they went in.

    Parameters
    ----------
    motion
        Any rate from 20 Hz up. Sliding joints (``joint_translations``) are kept, but for toes
        that slide in their foot: heel and ball can only both stand on a foot of one length.
    footplants
        Which points should stand when; detected by default, on a calmed copy where the clip
        skates so much that hardly any foot is slow (``report.calmed``).
    body
        Roles of its joints; guessed by default.
    stretch
        Let thighs and shanks change length where that is needed, in place of lowering the root
        and rolling feet; the result then has ``joint_translations``.
    blend_s
        Time over which a foot leaves the place where it was held, seconds.
    farthest_m
        A plant that slides farther than this from its place is released: its label is wrong.
    repair_knees
        Bend knees that were captured bent backwards forwards first, and keep knees on the side
        that anatomy gives them. False keeps the side that each knee has.

    Returns
    -------
    Cleanup
        With the motion, the contacts that are held, and a report.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.motion.corrupt import corrupt
    >>> clip = synthetic.clip("walk")
    >>> cleanup = clean_footskate(corrupt(clip.motion, travel=1.1), clip.footplants)
    >>> cleanup.report.slide_before > 0.02, cleanup.report.slide_after < 0.001
    (True, True)
    """
    of_kind(motion, Motion, "motion")
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    stretch, repair_knees = flag(stretch, "stretch"), flag(repair_knees, "repair_knees")
    blend_s, farthest_m = positive(blend_s, "blend_s"), positive(farthest_m, "farthest_m")
    body = roles_for(motion.skeleton, body)
    legs = [f"{side}_{role}" for side in ("left", "right") for role in ("hip", "knee", "ankle")]
    body.require(*legs, task="footskate clean-up")
    options, calmed = _Options(body, stretch, blend_s, farthest_m, repair_knees), False
    if footplants is None:
        footplants, calmed = _contacts(motion, options)
    cleanup = _until_sound(motion, footplants, verified_in, options)[0]
    slide = find_floor(foot_tracks(cleanup.motion, body), motion.fps).slide
    return with_report(cleanup, calmed=calmed, floor_slide=slide)


def _contacts(motion: Motion, options: _Options) -> tuple[Footplants, bool]:
    """Contacts of a motion, and whether it skates so much that they are those of a calmed copy.

    The copy of the cleaned motion shows them better than the first one.
    """
    tracks = foot_tracks(motion, options.body)
    floor = find_floor(tracks, motion.fps)
    if floor.slide is None or floor.slide <= SKATED:
        return detect_in(tracks, motion, options.body), False
    once = _until_sound(motion, Footplants(floor.planted), verified_in, options)[0].motion
    return Footplants(find_floor(foot_tracks(once, options.body), motion.fps).planted), True


def clean_until_sound(
    motion: Motion,
    footplants: Footplants,
    verified: Callable[[Cleanup], Verification],
    *,
    body: BodyMap,
    shift: FloatArray | None = None,
    own_paths: bool = False,
    loose: BoolArray | None = None,
) -> tuple[Cleanup, Verification]:
    """The motion with its feet held as far as it passes a check, and what the check says.

    Parameters
    ----------
    motion, footplants, body
        As in :func:`clean_footskate`.
    verified
        The check of a cleaned motion.
    shift : (F, 3)
        A shift of the root, metres; feet stay where they are.
    own_paths
        Whether held points keep the paths that they have, instead of standing at one place.
    loose : (F,)
        Frames in which points are not where they belong: a contact that reaches into others stands
        where it stands in those.
    """
    options = _Options(body, shift=shift, own_paths=own_paths, loose=loose)
    return _until_sound(motion, footplants, lambda cleanup, _: verified(cleanup), options)


@dataclass(frozen=True, slots=True)
class _Options:
    """How feet are held."""

    body: BodyMap
    stretch: bool = False
    blend_s: float = 0.2
    farthest_m: float = 0.25
    repair_knees: bool = True
    shift: FloatArray | None = None
    """Of the root, with feet left where they are. (F, 3)"""
    own_paths: bool = False
    """Whether held points keep the paths that they have."""
    loose: BoolArray | None = None
    """Frames that hardly say where a point stands. (F,)"""


def _until_sound(
    motion: Motion,
    footplants: Footplants,
    verified: Callable[[Cleanup, Pose], Verification],
    options: _Options,
) -> tuple[Cleanup, Verification]:
    """Clean; lift feet that drag and release contacts where the result fails, until it passes.

    Feet that then pass lower over the floor than they came are raised, unless that fails. Where
    nothing passes, the try with the fewest failed checks.
    """
    best: tuple[Cleanup, Verification] | None = None
    source = read_source(motion, footplants, options.body, repair_knees=options.repair_knees)
    labels, lifts, releases = footplants, np.zeros((motion.n_frames, 2)), Releases(motion.fps)
    possible = find_holds(source.moving, labels.planted, source.travel)
    with source.check.tries(source.block):
        for _ in range(ROUNDS):
            cleanup, pose = _clean(source, labels, footplants, possible, options, lifts)
            verification = verified(cleanup, pose)
            if best is None or len(verification.failed) < len(best[1].failed):
                best = (cleanup, verification)
            if verification.passed:
                break
            higher = None
            if any(each.check in LIFTED for each in verification.failed):
                points = foot_points(cleanup.motion, body=options.body, pose=pose)
                higher = lifted(lifts, verification.failed, points, labels.planted, motion.fps)
            # Contacts are released for drags and slips only where lifting the foot does not help.
            failed = [
                each for each in verification.failed if higher is None or each.check not in LIFTED
            ]
            fewer = released(labels, releases.after(failed), motion, options.body)
            if fewer is None and higher is None:
                break
            labels = labels if fewer is None else fewer
            lifts = lifts if higher is None else higher
        assert best is not None
        if best[1].passed:
            higher = _raised(source, best[0], pose, footplants, options.body)
            if higher is not None:
                higher = np.minimum(lifts + higher, MOST_M)
                cleanup, pose = _clean(source, labels, footplants, possible, options, higher)
                verification = verified(cleanup, pose)
                if verification.passed:
                    best = (cleanup, verification)
    return best


def _raised(
    source: Source, cleanup: Cleanup, pose: Pose, footplants: Footplants, body: BodyMap
) -> FloatArray | None:
    """Lifts (F, 2) of feet that pass lower than they came; None where none does."""
    before, planted = source.points, footplants.planted
    floors = floor_heights(before, before[..., 1].min(axis=1), planted, LANDS)
    after = foot_points(cleanup.motion, body=body, pose=pose)
    return raised(before, after, floors, cleanup.footplants.planted, cleanup.motion.fps)


def _clean(
    source: Source,
    footplants: Footplants,
    given: Footplants,
    possible: tuple[Hold, ...],
    options: _Options,
    lifts: FloatArray,
) -> tuple[Cleanup, Pose]:
    """One round of clean-up, with its pose, which is the next round's too.

    ``given`` are the contacts before any was released, ``possible`` their holds.
    """
    motion, points, stretch = source.motion, source.points, options.stretch
    telling = source.moving
    if options.loose is not None:  # places are where points are at rest
        telling = telling + LOOSE_M_S * options.loose[:, None, None]
    holds = possible
    if given is not footplants:
        holds = find_holds(source.moving, footplants.planted, source.travel)

    def place(holds: tuple[Hold, ...], spare: Placed | None) -> tuple[tuple[Hold, ...], Placed]:
        places, farthest = fit_targets(holds, points, telling, motion.fps)
        near = np.flatnonzero(farthest <= options.farthest_m)
        near_holds = tuple(holds[i] for i in near)
        feet = hold_feet(source.feet, near_holds, places[near])
        feet = on_own_paths(feet) if options.own_paths else feet
        return near_holds, place_feet(
            feet,
            source.reach,
            fps=motion.fps,
            blend_s=options.blend_s,
            roll=not stretch,
            lifts=lifts,
            spare=spare,
        )

    placed: Placed | None = None
    fastest = CALM * contact_speeds(points, footplants.planted, motion.fps).max()
    while True:
        near_holds, placed = place(holds, placed)
        widened = _widened(holds, placed.points, footplants, motion.fps, fastest)
        if widened == holds:
            solved = solve_body(
                motion, source.pose, placed,
                stretch=stretch, spare=source.spare, wanted=options.shift,
            )  # fmt: skip
            # A free leg that is damped may leave its foot where it was not expected.
            widened = _widened(holds, solved.points, footplants, motion.fps, fastest)
        if widened == holds:
            break
        holds = widened
    placed, solved, calmed, loose = calm_body(motion, source.pose, placed, solved, source.limits)
    listed = {(hold.kind, hold.label) for hold in holds}
    given_up = (hold for hold in possible if (hold.kind, hold.label) not in listed)
    labels = footplants.planted
    report = build_report(
        source, given.planted, (*holds, *given_up), near_holds, placed, solved,
        loose=loose, labels=labels,
    )  # fmt: skip
    held = np.concatenate([foot.held for foot in placed.feet], axis=1)
    return Cleanup(calmed, Footplants(held), report, source.check), solved.pose


def _widened(
    holds: tuple[Hold, ...], after: FloatArray, footplants: Footplants, fps: float, most: float
) -> tuple[Hold, ...]:
    """The holds, whole plants where the frames left out would move too fast."""
    trimmed = [hold for hold in holds if hold.span != hold.label]
    if not trimmed:
        return holds
    calm = min(CALM * max(hold.own_speed for hold in holds), most)
    labels = np.array([(hold.kind, *hold.label) for hold in trimmed], dtype=np.int64)
    fastest, planted = np.zeros(len(labels)), np.ascontiguousarray(footplants.planted)
    _fastest(len(after), after, planted, fps, len(labels), labels, fastest)
    moving = {
        id(hold) for hold, speed in zip(trimmed, fastest.tolist(), strict=True) if speed > calm
    }
    if not moving:
        return holds
    return tuple(
        dataclasses.replace(hold, span=hold.label) if id(hold) in moving else hold for hold in holds
    )


# --- Contacts that are given up, because holding them breaks the motion


class Release(NamedTuple):
    """A failed check for which contacts are released."""

    failed: FailedCheck
    times: int
    """How many times the usual length contacts give up for it."""


class Releases:
    """Which failed checks contacts are released for, try after try."""

    def __init__(self, fps: float) -> None:
        self._near = SAME_S * fps
        self._last: dict[tuple[str, str], Release] = {}

    def after(self, failed: Sequence[FailedCheck]) -> list[Release]:
        """For what a try still fails: twice as much as before where the same check fails again.

        Left out are checks of travel, and those that stayed whatever was given up.
        """
        now = [self._again(each) for each in failed if each.check not in TRAVELS]
        self._last = {(each.failed.check, each.failed.joint): each for each in now}
        return [each for each in now if each.times <= MOST_TIMES]

    def _again(self, failed: FailedCheck) -> Release:
        last = self._last.get((failed.check, failed.joint))
        stays = last is not None and abs(last.failed.frame - failed.frame) <= self._near
        return Release(failed, 2 * last.times if last is not None and stays else 1)


def released(
    footplants: Footplants, failed: Sequence[Release], motion: Motion, body: BodyMap
) -> Footplants | None:
    """The contacts without the ends that are nearest to failed checks; None where none is near.

    A check that fails in one leg trims contacts of its own foot, any other those of both feet.

    Parameters
    ----------
    footplants
        What was held.
    failed
        Where the result fails.
    motion, body
        For its rate and the sides of its joints.
    """
    trim = max(1, round(TRIM_S * motion.fps))
    planted = np.array(footplants.planted)
    for each, times in failed:
        nearest = [
            (_apart(run, each.frame), column, run)
            for side in _sides(each, motion, body)
            for column in (2 * side, 2 * side + 1)
            for run in runs_of(footplants.planted[:, column])
        ]
        near = min(nearest, default=None)
        if near is None or near[0] > NEAR_S * motion.fps:
            continue
        for away, column, run in nearest:
            if away <= near[0] + 2:  # heel and ball of one stance
                shortest = SHORTEST_S * motion.fps
                _trim(planted[:, column], run, each.frame, times * trim, shortest)
    if np.array_equal(planted, footplants.planted):
        return None
    return Footplants(planted)


def _apart(run: tuple[int, int], frame: int) -> int:
    """Frames from the nearer end of a contact."""
    return min(abs(frame - run[0]), abs(frame - run[1]))


def _trim(planted: BoolArray, run: tuple[int, int], frame: int, trim: int, shortest: float) -> None:
    """Give up the end of a contact that is nearer to a frame, or all of one that gets short."""
    first, last = run
    if last - first + 1 - trim < shortest:
        planted[first : last + 1] = False
    elif abs(frame - first) <= abs(frame - last):
        planted[first : first + trim] = False
    else:
        planted[last + 1 - trim : last + 1] = False


def _sides(failed: FailedCheck, motion: Motion, body: BodyMap) -> tuple[int, ...]:
    """0 for the left foot, 1 for the right one, or both."""
    for number, side in enumerate(("left", "right")):
        joints = [getattr(body, f"{side}_{role}") for role in LEG]
        names = {motion.skeleton.names[joint] for joint in joints if joint is not None}
        if failed.joint in names or failed.joint.startswith(f"{side} "):
            return (number,)
    return (0, 1)
