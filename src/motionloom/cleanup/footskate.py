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
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import Block, BoolArray, FloatArray, flag, of_kind, positive
from motionloom._core import kernel
from motionloom.body.anatomy import foot_offsets, foot_points, knees_of_pose
from motionloom.body.anatomy import repair_knees as knee_repair
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.cleanup.cleanup_report import (
    Cleanup,
    CleanupReport,
    PlantReport,
    verified_in,
    with_report,
)
from motionloom.cleanup.legs import (
    Foot,
    Hold,
    Placed,
    Pose,
    find_holds,
    highest_nearby,
    nearness,
    place_holds,
    reach_of,
    read_feet,
    spread_smoothly,
)
from motionloom.cleanup.solve import (
    MISSED_M,
    Leg,
    LegLimits,
    Solved,
    calm_body,
    limits_of,
    solve_body,
)
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import DRAG_SPEED, LANDS, floor_heights, rig_of_body
from motionloom.features.checks.verification import FailedCheck, Verification
from motionloom.features.footplants.detect import detect_in
from motionloom.features.footplants.plant_edges import foot_tracks
from motionloom.features.footplants.sliding_floor import find_floor
from motionloom.features.glitches.repair import spread_bursts
from motionloom.motion.motion import (
    KINDS,
    Footplants,
    Motion,
    column_runs,
    contacts_for,
    forward_into,
    runs_of,
    velocities,
)

_fastest = kernel("ml_contact_fastest")
_speeds = kernel("ml_contact_speeds")
_slides = kernel("ml_contact_slides")
_ways = kernel("ml_rewrite_ways")
_misses = kernel("ml_contact_misses")

ROUNDS = 12
"""Times that contacts are released and the motion is cleaned again."""
LOOSE_M_S = 5.0
"""Points in frames that hardly say where they stand count as this much faster, m/s."""
SKATED = 0.65
"""A clip skates whose feet slide in more than this part of the frames on the floor."""
CALM = 0.8
"""Where a hold leaves out frames of its plant, they stay below this part of the fastest that the
clip's planted points move, with and without their common slide; else the whole plant is held."""
SLIDING_M = 1e-6
"""Toes that slide in their foot by less than this do not slide."""
BODY_NUMBERS = 24
"""Numbers of a frame that a check measures of the body as a whole."""
HOLDING_SLACK = 1.1
"""How much more than usual a cleaned motion may exceed the one that came in: its feet stand, and
the legs that skated have the rest of the way to go."""

Holds = tuple[Hold, ...]
"""Holds of both feet, by kind of point and in time."""


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

    def held(contacts: Footplants) -> Cleanup:
        return clean_until_sound(
            motion,
            contacts,
            verified_in,
            body=body,
            stretch=stretch,
            blend_s=blend_s,
            farthest_m=farthest_m,
            repair_knees=repair_knees,
        )[0]

    calmed = False
    if footplants is None:
        footplants, calmed = _contacts(motion, body, held)
    cleanup = held(footplants)
    slide = find_floor(foot_tracks(cleanup.motion, body), motion.fps).slide
    return with_report(cleanup, calmed=calmed, floor_slide=slide)


def _contacts(
    motion: Motion, body: BodyMap, held: Callable[[Footplants], Cleanup]
) -> tuple[Footplants, bool]:
    """Contacts of a motion, and whether it skates so much that they are those of a calmed copy.

    ``held`` cleans the motion with given contacts: a calmed copy of the cleaned motion shows its
    contacts better than one of the motion as it came.
    """
    tracks = foot_tracks(motion, body)
    floor = find_floor(tracks, motion.fps)
    if floor.slide is None or floor.slide <= SKATED:
        return detect_in(tracks, motion, body), False
    once = held(Footplants(floor.planted)).motion
    return Footplants(find_floor(foot_tracks(once, body), motion.fps).planted), True


def clean_until_sound(
    motion: Motion,
    footplants: Footplants,
    verified: Callable[[Cleanup, Pose], Verification],
    *,
    body: BodyMap,
    stretch: bool = False,
    blend_s: float = 0.2,
    farthest_m: float = 0.25,
    repair_knees: bool = True,
    shift: FloatArray | None = None,
    own_paths: bool = False,
    loose: BoolArray | None = None,
) -> tuple[Cleanup, Verification]:
    """Hold the feet of a motion as far as the result passes a check; the result and its check.

    Clean; where the result fails, lift feet that drag, release contacts near the failures, and
    clean again. Feet that then pass lower over the floor than they came are raised, unless that
    fails. Where nothing passes, the try with the fewest failed checks is returned.

    Parameters
    ----------
    motion, footplants, body, stretch, blend_s, farthest_m, repair_knees
        As in :func:`clean_footskate`.
    verified
        The check of a cleaned motion, whose joints in the world are the second argument.
    shift : (F, 3)
        A shift of the root, metres; feet stay where they are.
    own_paths
        Whether held points keep the paths that they have, instead of standing at one place.
    loose : (F,)
        Frames in which points are not where they belong: a contact that reaches into others stands
        where it stands in those.
    """
    source = read_source(motion, footplants, body, repair_knees=repair_knees, loose=loose)

    def place(holds: Holds, lifts: FloatArray, spare: Placed | None) -> tuple[Holds, Placed]:
        return place_holds(
            holds,
            source.points,
            source.resting,
            source.feet,
            source.reach,
            fps=motion.fps,
            blend_s=blend_s,
            farthest_m=farthest_m,
            own_paths=own_paths,
            roll=not stretch,
            lifts=lifts,
            spare=spare,
        )

    def solve(placed: Placed) -> Solved:
        return solve_body(
            source.motion, source.pose, placed, stretch=stretch, spare=source.spare, wanted=shift
        )

    best: tuple[Cleanup, Verification] | None = None
    labels, lifts, releases = footplants, np.zeros((motion.n_frames, 2)), Releases(motion.fps)
    with source.check.tries(source.block):
        for _ in range(ROUNDS):
            cleanup, pose = _clean(source, labels, lifts, place, solve)
            verification = verified(cleanup, pose)
            failed = verification.failed
            if best is None or len(failed) < len(best[1].failed):
                best = (cleanup, verification)
            if verification.passed:
                break
            higher = None
            if any(each.check in LIFTED for each in failed):
                points = foot_points(cleanup.motion, body=body, pose=pose)
                higher = lifted(lifts, failed, points, labels.planted, motion.fps)
            # Contacts are released for drags and slips only where lifting the foot does not help.
            kept = [each for each in failed if higher is None or each.check not in LIFTED]
            fewer = released(labels, releases.after(kept), motion, body)
            if fewer is None and higher is None:
                break
            labels = labels if fewer is None else fewer
            lifts = lifts if higher is None else higher
        assert best is not None
        higher = _raised(source, best[0], pose, body) if best[1].passed else None
        if higher is not None:
            higher = np.minimum(lifts + higher, MOST_M)
            cleanup, pose = _clean(source, labels, higher, place, solve)
            verification = verified(cleanup, pose)
            if verification.passed:
                best = (cleanup, verification)
    return best


# --- The motion as it is read before its feet are held


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A motion whose feet are to be held. Metres, seconds, world."""

    captured: Motion
    """As it came in, with toes that do not slide in their feet."""
    motion: Motion
    """The same with knees that bend forwards."""
    repaired_knees: tuple[str, ...]
    """One line for each knee that was repaired."""
    pose: Pose
    spare: Pose
    """Memory for the pose of what is made from it."""
    block: Block
    """Memory for its check."""
    footplants: Footplants
    """Its contacts as they were given."""
    points: FloatArray
    """Heels and balls. Shape (F, 4, 3)."""
    moving: FloatArray
    """Their velocities. Shape (F, 4, 3)."""
    resting: FloatArray
    """The same, faster in frames that hardly say where a point stands: a place is where its point
    is at rest. Shape (F, 4, 3)."""
    travel: FloatArray
    """Velocity of the pelvis over the ground. Shape (F, 3)."""
    holds: Holds
    """A hold for every contact."""
    feet: tuple[Foot, Foot]
    """Left and right, without holds."""
    reach: tuple[FloatArray, FloatArray]
    """How far each ankle may be from its hip. Shapes (F,)."""
    limits: tuple[LegLimits, ...]
    """What the legs may do, as far as the clip is long enough to say."""
    check: QualityCheck
    """Compares cleaned motion with this one."""


def read_source(
    motion: Motion,
    footplants: Footplants,
    body: BodyMap,
    *,
    repair_knees: bool,
    loose: BoolArray | None,
) -> Source:
    """Read a motion. See :class:`Source`.

    Parameters
    ----------
    motion, footplants
        The motion and its contacts.
    body
        Roles of its joints.
    repair_knees
        Bend knees that were captured bent backwards forwards.
    loose : (F,)
        Frames that hardly say where a point stands.
    """
    captured = motion = _with_stiff_feet(motion, body)
    n_frames, n_joints = motion.local_quats.shape[:2]
    # Two poses, and what a check takes: three numbers of a joint that it measures, three that it
    # allows, and a few of the body.
    block = Block(n_frames * (2 * 7 * n_joints + 6 * n_joints + BODY_NUMBERS))
    shapes = (n_frames, n_joints, 3), (n_frames, n_joints, 4)
    positions, quats, *others = block.zeros(*shapes, *shapes)
    pose, spare = (positions, quats), (others[0], others[1])
    _pose_into(motion, pose)
    offsets = foot_offsets(motion.skeleton, body, motion=motion, pose=pose)
    knees = knees_of_pose(motion.skeleton, body, offsets, pose)
    repair = knee_repair(motion, body=body, knees=knees, pose=pose) if repair_knees else None
    if repair is not None and repair.motion is not motion:
        motion = spread_bursts(repair.motion, body, legs_only=True).motion
        _pose_into(motion, pose)
    same = motion is captured and motion.joint_translations is None  # else feet may be others
    points = foot_points(motion, body=body, pose=pose, feet=offsets if same else None)
    feet = read_feet(knees, body, pose, points, poles=repair_knees)
    pelvis = pose[0][:, 0 if body.pelvis is None else body.pelvis]
    moving = velocities(points, motion.fps)
    travel = velocities(pelvis * np.array([1.0, 0.0, 1.0]), motion.fps)
    return Source(
        captured,
        motion,
        () if repair is None else repair.notes,
        pose,
        spare,
        block,
        footplants,
        points,
        moving,
        moving if loose is None else moving + LOOSE_M_S * loose[:, None, None],
        travel,
        find_holds(moving, footplants.planted, travel),
        feet,
        (reach_of(feet[0]), reach_of(feet[1])),
        limits_of(captured, motion, [Leg(foot.joints, foot.knee) for foot in feet]),
        QualityCheck(
            [motion],
            footplants=[footplants],
            body=body,
            slack=HOLDING_SLACK,
            rig=rig_of_body(motion.skeleton, body, knees, offsets),
            poses=[pose],
        ),
    )


def _pose_into(motion: Motion, out: Pose) -> None:
    forward_into(
        motion.skeleton, motion.root_positions, motion.local_quats, motion.joint_translations, out
    )


def _with_stiff_feet(motion: Motion, body: BodyMap) -> Motion:
    """The motion with toes that slide in their foot put to their median place in it."""
    if motion.joint_translations is None:
        return motion
    toes = [toe for toe in (body.left_toe, body.right_toe) if toe is not None]
    sliding = motion.joint_translations[:, toes]
    if not toes or float(np.ptp(sliding, axis=0).max()) < SLIDING_M:
        return motion
    moving = np.array(motion.joint_translations)
    moving[:, toes] = np.median(sliding, axis=0)
    return motion.replace(joint_translations=moving)


# --- One round


def _clean(
    source: Source,
    labels: Footplants,
    lifts: FloatArray,
    place: Callable[[Holds, FloatArray, Placed | None], tuple[Holds, Placed]],
    solve: Callable[[Placed], Solved],
) -> tuple[Cleanup, Pose]:
    """Clean once: place the feet, let the body follow, calm its legs, and report.

    Returns the pose, too; it lies in memory that the next round writes to.

    Parameters
    ----------
    source
        The motion.
    labels
        Its contacts, those that were released left out.
    lifts : (F, 2)
        How much higher each foot passes, metres.
    place
        The holds that are near enough to their places, and the feet placed for them. The placed
        feet of the last call may be written to.
    solve
        The body that follows placed feet.
    """
    motion, points, planted = source.motion, source.points, labels.planted
    holds = source.holds
    if labels is not source.footplants:
        holds = find_holds(source.moving, planted, source.travel)
    placed: Placed | None = None
    fastest = CALM * contact_speeds(points, planted, motion.fps).max()
    while True:
        near_holds, placed = place(holds, lifts, placed)
        widened = _widened(holds, placed.points, labels, motion.fps, fastest)
        if widened == holds:
            solved = solve(placed)
            # A free leg that is damped may leave its foot where it was not expected.
            widened = _widened(holds, solved.points, labels, motion.fps, fastest)
        if widened == holds:
            break
        holds = widened
    placed, solved, calmed, loose = calm_body(motion, source.pose, placed, solved, source.limits)
    listed = {(hold.kind, hold.label) for hold in holds}
    given_up = (hold for hold in source.holds if (hold.kind, hold.label) not in listed)
    report = build_report(
        source,
        source.footplants.planted,
        (*holds, *given_up),
        near_holds,
        placed,
        solved,
        loose=loose,
        labels=planted,
    )
    held = np.concatenate([foot.held for foot in placed.feet], axis=1)
    return Cleanup(calmed, Footplants(held), report, source.check), solved.pose


def _widened(
    holds: tuple[Hold, ...], after: FloatArray, footplants: Footplants, fps: float, most: float
) -> tuple[Hold, ...]:
    """The holds, widened to whole plants where frames that were left out would move too fast."""
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


def _raised(source: Source, cleanup: Cleanup, pose: Pose, body: BodyMap) -> FloatArray | None:
    """Lifts (F, 2) of feet that pass lower than they came; None where none does."""
    before, planted = source.points, source.footplants.planted
    floors = floor_heights(before, before[..., 1].min(axis=1), planted, LANDS)
    after = foot_points(cleanup.motion, body=body, pose=pose)
    return raised(before, after, floors, cleanup.footplants.planted, cleanup.motion.fps)


# --- Speeds of planted points, from one planted frame to the next


def contact_speeds(points: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """Speed to the next frame of points planted in both, m/s, else -1. Shape (F, 4)."""
    speeds = np.zeros(planted.shape)
    points = np.ascontiguousarray(points, dtype=np.float64)
    _speeds(len(points), points, np.ascontiguousarray(planted), float(fps), speeds)
    return speeds


def fastest_contact(
    points: FloatArray, planted: BoolArray, fps: float
) -> tuple[float | None, tuple[int, str] | None]:
    """Highest speed from one planted frame to the next, and its frame and kind."""
    speeds = contact_speeds(points, planted, fps)
    frame, kind = np.unravel_index(int(np.argmax(speeds)), speeds.shape)
    if speeds[frame, kind] < 0.0:
        return None, None
    return float(speeds[frame, kind]), (int(frame), KINDS[int(kind)])


# --- The report of a round


def build_report(
    source: Source,
    planted: BoolArray,
    holds: tuple[Hold, ...],
    placed_holds: tuple[Hold, ...],
    placed: Placed,
    solved: Solved,
    *,
    loose: int = 0,
    labels: BoolArray | None = None,
) -> CleanupReport:
    """What became of every plant and how far the motion moved.

    Parameters
    ----------
    source
        The motion before.
    planted : (F, 4)
        The labels.
    holds, placed_holds
        Every hold there could be, and those that were solved for.
    placed, solved
        Where the feet were to be, and what came out.
    loose
        As of :class:`CleanupReport`.
    labels : (F, 4)
        The labels without released contacts; ``planted`` by default.
    """
    positions, points, fps = source.pose[0], source.points, source.motion.fps
    speed_before, worst_before = fastest_contact(points, planted, fps)
    labels = planted if labels is None else labels
    speed_after, worst_after = fastest_contact(solved.points, labels, fps)
    change = np.zeros(2)
    _ways(*positions.shape[:2], positions, solved.pose[0], change)
    held = np.concatenate([foot.held for foot in placed.feet], axis=1)
    places, figures = (foot.places for foot in placed.feet), np.zeros(5)
    shift, ground = solved.shift, placed.ground
    _misses(len(held), points, solved.points, held, *places, ground, shift, MISSED_M, figures)
    unreached, farthest, deepest, deepest_after, shifted = figures.tolist()
    return CleanupReport(
        plants=_plants(holds, set(placed_holds), held, points, solved.points),
        held_part=float(held.sum() / planted.sum()) if planted.any() else None,
        contact_speed_before=speed_before,
        contact_speed_after=speed_after,
        worst_before=worst_before,
        worst_after=worst_after,
        joint_change_mean=float(change[0]),
        joint_change_max=float(change[1]),
        root_shift_max=math.sqrt(shifted),
        foot_turn_max=max(_largest_angle(ankle.q_foot) for ankle in placed.ankles),
        stretch_max=max(
            0.0 if leg.scale is None else float(np.abs(leg.scale - 1.0).max())
            for leg in solved.legs
        ),
        unreached_frames=int(unreached),
        unreached_max=farthest,
        penetration_before=deepest,
        penetration_after=deepest_after,
        loose_frames=loose,
        knees=source.repaired_knees,
    )


def _plants(
    holds: tuple[Hold, ...],
    placed_holds: set[Hold],
    held: BoolArray,
    before: FloatArray,
    after: FloatArray,
) -> tuple[PlantReport, ...]:
    """What became of every hold; ``held`` (F, 4), points ``before`` and ``after`` (F, 4, 3)."""
    if not holds:
        return ()
    rows = [(hold.kind, *hold.label, *hold.span, hold in placed_holds) for hold in holds]
    spans, slides = np.zeros((len(rows), 2), dtype=np.int64), np.zeros((len(rows), 4))
    _slides(len(held), before, after, held, len(rows), np.array(rows, np.int64), spans, slides)
    return tuple(
        PlantReport(KINDS[hold.kind], *hold.label, None if first < 0 else (first, last), *slide)
        for hold, (first, last), slide in zip(holds, spans.tolist(), slides.tolist(), strict=True)
    )


def _largest_angle(q: FloatArray) -> float:
    largest = q[np.argmax(np.einsum("fc,fc->f", q[:, 1:], q[:, 1:]))]
    return float(2.0 * np.arctan2(np.linalg.norm(largest[1:]), abs(largest[0])))


# --- Remedies for failed checks: feet that pass too low are lifted, contacts are released

STEP_M, MOST_M = 0.015, 0.06
"""Each try lifts a foot by the first more, and by no more than the second in all, metres."""
ABOUT, CM = 0.9, 100.0
"""Ways over the floor longer than this part of the limit are lifted with those that are too long;
limits are in centimetres."""
RISE_S = 0.1
"""Time over which a foot is lifted and comes down again, seconds."""
HELD_S = 0.08
"""A foot is lifted in full at least this long before and after its contacts, seconds."""
LEAST_M = 1e-4
"""Less is no lift, metres."""
BRIEF_S = 0.15
"""A foot that is free for a shorter time is not lifted, seconds: its leg would kick."""
LIFTED = ("dragged foot", "foot slip")
"""Checks that a foot may pass where it is lifted."""
STEPS = {"left foot": 0, "right foot": 1}
STEP_OVER_M = 0.04
"""A free foot that slips steps so high over the floor, metres: 2.5 cm over it, it still carries."""
LOW_M = (0.01, 0.015, 0.02, 0.03)
"""Heights over the floor at which a foot that was held is compared with the one that came in."""
Sweep = tuple[int, int, float]
"""First and last frame of a sweep of a point over the floor, and its length, metres."""
FARTHER_M, FAR_M = 0.03, 0.05
"""A foot that moves below one of these heights by the first more than it did, and by the second or
more in all, passes lower than it did, metres."""


def lifted(
    lifts: FloatArray,
    failed: Sequence[FailedCheck],
    points: FloatArray,
    held: BoolArray,
    fps: float,
) -> FloatArray | None:
    """Lifts of both feet, higher where a foot is dragged; None where there is nothing to lift.

    Blends of feet in different phases of a step can pass lower than those of either source. A free
    foot that slips while it carries the body, because it stands in one clip only, makes a step.

    Parameters
    ----------
    lifts : (F, 2)
        So far, metres.
    failed
        Where the result fails its check.
    points : (F, 4, 3)
        Heels and balls of the result.
    held : (F, 4)
        Contacts: there a foot is not lifted.
    fps
        Frames per second.
    """
    more, left = np.zeros_like(lifts), MOST_M - lifts
    for each in failed:
        kind = each.joint.replace(" ", "_")
        if each.check == "foot slip" and each.joint in STEPS:
            side = STEPS[each.joint]
            rows = _free(held, side, each.frame)
            need = _step(points, side, rows)
            more[rows, side] = np.clip(need, 0.0, left[rows, side])
        elif each.check == "dragged foot" and kind in KINDS:
            point = KINDS.index(kind)
            for rows in _drags(points[:, point], each, fps):
                more[rows, point // 2] = np.clip(left[rows, point // 2].min(), 0.0, STEP_M)
    more = _smooth(more, held, fps)
    return lifts + more if more.max(initial=0.0) > LEAST_M else None


def _free(held: BoolArray, side: int, frame: int) -> slice:
    """Frames around one in which neither point of a foot is held (F, 4); none if one is there."""
    free = np.asarray(~(held[:, 2 * side] | held[:, 2 * side + 1]))
    runs = (slice(first, last + 1) for first, last in runs_of(free) if first <= frame <= last)
    return next(runs, slice(frame, frame))


def _step(points: FloatArray, side: int, rows: slice) -> FloatArray:
    """How much higher a foot must be in some frames to step over the floor, metres."""
    around = points[max(rows.start - 1, 0) : rows.stop + 1, :, 1]
    floor = float(around.min(axis=1).max())
    lowest = points[rows, 2 * side : 2 * side + 2, 1].min(axis=1)
    return np.asarray(floor + STEP_OVER_M - lowest)


def raised(
    before: FloatArray, after: FloatArray, floors: FloatArray, held: BoolArray, fps: float
) -> FloatArray | None:
    """Lifts (F, 2) of feet that pass lower over the floor than they did; None where none does.

    A foot that is held lower than it was captured comes down to its place, and leaves it, over a
    fifth of a second: on the way it may sweep the floor.

    Parameters
    ----------
    before, after : (F, 4, 3)
        Heels and balls as they came, and with their contacts held.
    floors : (4,)
        Heights below which they are on the floor, metres.
    held : (F, 4)
        Contacts: there a foot is not lifted.
    fps
        Frames per second.
    """
    need, near = np.zeros((len(before), 2)), round(RISE_S * fps)
    lowered = before[..., 1] - after[..., 1]
    low = np.repeat(floors, len(LOW_M)) + np.tile(LOW_M, 4)
    swept = [_sweeps_below(track, low, fps) for track in (before, after)]
    for k, (captured, sweeps) in enumerate(zip(*swept, strict=True)):
        point = k // len(LOW_M)
        for first, last, way in sweeps:
            own = (w for a, b, w in captured if a <= last + near and b >= first - near)
            if way > FAR_M and way > FARTHER_M + max(own, default=0.0):
                rows = slice(first, last + 1)
                need[rows, point // 2] = np.maximum(need[rows, point // 2], lowered[rows, point])
    lifts = _smooth(np.clip(need, 0.0, MOST_M), held, fps)
    return lifts if lifts.max(initial=0.0) > LEAST_M else None


def _sweeps_below(points: FloatArray, low: FloatArray, fps: float) -> list[list[Sweep]]:
    """Sweeps of P points (F, P, 3) below each of H heights (P * H,)."""
    each = len(low) // points.shape[1]
    ways = [np.hypot(*np.diff(points[:, p, [0, 2]], axis=0).T) for p in range(points.shape[1])]
    heights = np.repeat(points[..., 1], each, axis=1)
    return _sweeps(heights < low, [ways[k // each] for k in range(len(low))], fps)


def _sweeps(low: BoolArray, ways: Sequence[FloatArray], fps: float) -> list[list[Sweep]]:
    """Sweeps of N points over the floor.

    ``low`` (F, N) is where they are near the floor, each of ``ways`` (F - 1,) what one goes from
    frame to frame.
    """
    fast = np.zeros(low.shape, dtype=bool)
    fast[1:] = low[1:] & low[:-1] & (np.stack(ways, axis=1) * fps > DRAG_SPEED)
    return [
        [(a, b, float(way[a - 1 : b].sum())) for a, b in runs]
        for way, runs in zip(ways, column_runs(fast), strict=True)
    ]


def _smooth(lifts: FloatArray, held: BoolArray, fps: float) -> FloatArray:
    """Lifts (F, 2) that begin and end smoothly, and are 0 where a foot is held (F, 4).

    A foot that is free for a moment is not lifted.
    """
    half = max(1, round(0.5 * RISE_S * fps))
    smooth = np.zeros_like(lifts)
    standing = held[:, 0::2] | held[:, 1::2]
    for side, free in enumerate(column_runs(~standing)):
        rise = spread_smoothly(highest_nearby(lifts[:, side], half), half)
        smooth[:, side] = rise * (1.0 - nearness(standing[:, side], max(1.0, HELD_S * fps)))
        for first, last in free:
            if last - first + 1 < BRIEF_S * fps:
                smooth[first : last + 1, side] = 0.0
    return smooth


def _drags(point: FloatArray, failed: FailedCheck, fps: float) -> Iterator[slice]:
    """Frames of all sweeps over the floor that are about as low and as long as the failed one.

    A check names the worst one only, and a gait has one in every step.
    """
    ways = np.hypot(*np.diff(point[:, [0, 2]], axis=0).T)
    first = failed.frame
    while first > 0 and ways[first - 1] * fps > DRAG_SPEED:
        first -= 1
    level = point[first : failed.frame + 1, 1].max()
    for first, last, way in _sweeps(point[:, 1:2] <= level, [ways], fps)[0]:
        if way > ABOUT * failed.limit / CM or first <= failed.frame <= last:
            yield slice(first, last + 1)


# --- Contacts that are released, because holding them breaks the motion

NEAR_S = 0.3
"""A contact at most this far from a failed check may have caused it, seconds."""
TRIM_S, SHORTEST_S = 0.034, 0.05
"""A contact loses the first at the end that is nearer to the failure, and twice as much each time
that this did not help. A contact that would be shorter than the second is released. Seconds."""
MOST_TIMES = 8
"""Contacts that lost 8 times the usual length without any help are not the cause."""
SAME_S = 0.1
"""A check that fails at most this far from where it failed before fails again, seconds."""
TRAVELS = ("stall", "launch", "direction", "travel speed", "heading", "head turn")
"""Checks of how the body travels, which contacts of feet do not cause."""
LEG = ("hip", "knee", "ankle", "toe")


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
        """Releases for the checks that a try fails: twice as much where the same check fails again.

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
    planted, plants = np.array(footplants.planted), column_runs(footplants.planted)
    for each, times in failed:
        nearest = [
            (_apart(run, each.frame), column, run)
            for side in _sides(each, motion, body)
            for column in (2 * side, 2 * side + 1)
            for run in plants[column]
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
