"""Footskate clean-up: feet that stand, on rigid bones.

After Kovar, Schreiner and Gleicher 2002, with four departures, each because of what real clips
showed: a point is held at the mean of its whole plant and at its own height; the foot rolls over
the ball before a leg is pulled straight; the root is lowered where smoothing would leave a foot out
of reach; and offsets run out with the slope that they have at the edge of a hold.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray, positive
from motionloom.cleanup.ankles import AnkleTarget, place_ankle
from motionloom.cleanup.blend_off import nearness
from motionloom.cleanup.foot import Foot, read_feet
from motionloom.cleanup.ground import ground_under, lift_out
from motionloom.cleanup.holds import Hold, find_holds, holding
from motionloom.cleanup.legs import LegSolution, reach_of, solve_leg
from motionloom.cleanup.report import Cleanup, CleanupReport, contact_speed, plant_reports
from motionloom.cleanup.root import shift_root
from motionloom.cleanup.targets import fit_targets
from motionloom.errors import ArrayError
from motionloom.features.footplants import detect_footplants
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.feet import foot_points
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["clean_footskate"]

MISSED_M = 1e-4
"""A held point farther than this from its place counts as unreached."""
SMOOTH_S = 0.12
"""The root's shift is smoothed over this long to either side."""
DAMP_S = 0.06
"""A knee is damped in full from this long after a hold, seconds."""
LOWEST_PART = 0.12
"""The root is lowered by no more than this part of a leg."""


def clean_footskate(
    motion: Motion,
    footplants: Footplants | None = None,
    *,
    body: BodyMap | None = None,
    stretch: bool = False,
    blend_s: float = 0.25,
    farthest_m: float = 0.25,
) -> Cleanup:
    """The motion with its planted heels and toes held in place.

    Bones stay rigid, knees stay short of straight, and frames farther than ``blend_s`` (and the
    root's smoothing) from any plant come out bit for bit as they went in.

    Parameters
    ----------
    motion
        Any rate from 20 Hz up. Sliding joints (``joint_translations``) are kept.
    footplants
        Which points should stand when; detected by default.
    body
        Roles of its joints; guessed by default.
    stretch
        Let thighs and shanks change length where that is needed, in place of lowering the root
        and rolling feet; the result then has ``joint_translations``.
    blend_s
        Time over which a foot leaves the place where it was held, seconds.
    farthest_m
        A plant that slides farther than this from its place is let go: its label is wrong.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.motion.spoil import spoil
    >>> clip = synthetic.clip("walk")
    >>> cleanup = clean_footskate(spoil(clip.motion, travel=1.1), clip.footplants)
    >>> cleanup.report.slide_before > 0.02, cleanup.report.slide_after < 0.001
    (True, True)
    """
    blend_s, farthest_m = positive(blend_s, "blend_s"), positive(farthest_m, "farthest_m")
    body = BodyMap.guess(motion.skeleton) if body is None else body
    legs = [f"{side}_{role}" for side in ("left", "right") for role in ("hip", "knee", "ankle")]
    body.require(*legs, task="footskate clean-up")
    footplants = detect_footplants(motion, body=body) if footplants is None else footplants
    if footplants.n_frames != motion.n_frames:
        raise ArrayError(
            f"`footplants` must have one row per frame of the motion ({motion.n_frames}), "
            f"got {footplants.n_frames}."
        )
    pose = motion.world_pose()
    points = foot_points(motion, body=body, pose=pose)
    moving = velocities(points, motion.fps)
    travel = velocities(motion.root_positions * np.array([1.0, 0.0, 1.0]), motion.fps)
    holds = find_holds(moving, footplants.planted, travel)
    places = fit_targets(holds, points, moving, motion.fps)
    holds, places, let_go = _let_go(holds, places, points, farthest_m)
    length = max(blend_s * motion.fps, 1.0)
    feet = read_feet(body, pose, points, holds, places)
    reach = np.stack([reach_of(foot) for foot in feet], axis=1)
    pulls = [nearness(foot.standing, max(DAMP_S * motion.fps, 1.0)) for foot in feet]
    ankles = [
        place_ankle(foot, reach[:, k], length=length, roll=not stretch)
        for k, foot in enumerate(feet)
    ]
    targets = [_ankle_goal(*parts) for parts in zip(feet, ankles, pulls, strict=True)]
    shift = shift_root(
        np.stack([foot.hip for foot in feet], axis=1),
        np.stack(targets, axis=1),
        reach,
        np.stack(pulls, axis=1),
        half=max(1, round(SMOOTH_S * motion.fps)),
        rigid=not stretch,
        most=LOWEST_PART * float(np.median(reach)),
    )
    solved = [
        solve_leg(foot, shift, target, pull, stretch=stretch)
        for foot, target, pull in zip(feet, targets, pulls, strict=True)
    ]
    cleaned = _apply(motion, pose, feet, ankles, targets, shift, solved, stretch=stretch)
    after_pose = cleaned.world_pose()
    after = _points_after(feet, ankles, pose, after_pose, points)
    planted = footplants.planted
    held = holding(holds, motion.n_frames)
    speed_before, worst_before = contact_speed(points, planted, motion.fps)
    speed_after, worst_after = contact_speed(after, planted, motion.fps)
    change = np.linalg.norm(after_pose[0] - pose[0], axis=-1)
    miss = _misses(holds, places, after)
    ground = np.concatenate([ground_under(foot) for foot in feet], axis=1)
    report = CleanupReport(
        plants=plant_reports(holds, let_go, points, after),
        held_part=float(held.sum() / planted.sum()) if planted.any() else float("nan"),
        contact_speed_before=speed_before,
        contact_speed_after=speed_after,
        worst_before=worst_before,
        worst_after=worst_after,
        joint_change_mean=float(change.mean()),
        joint_change_max=float(change.max()),
        root_shift_max=float(np.linalg.norm(shift, axis=-1).max()),
        foot_turn_max=max(float(_angles(ankle.q_foot).max()) for ankle in ankles),
        stretch_max=max(float(np.abs(leg.scale - 1.0).max()) for leg in solved),
        unreached_frames=int(np.any(miss > MISSED_M, axis=1).sum()),
        unreached_max=float(miss.max(initial=0.0)),
        penetration_before=float(np.maximum(ground - points[..., 1], 0.0).max()),
        penetration_after=float(np.maximum(ground - after[..., 1], 0.0).max()),
    )
    return Cleanup(cleaned, Footplants(held), report)


def _let_go(
    holds: tuple[Hold, ...], places: FloatArray, points: FloatArray, farthest: float
) -> tuple[tuple[Hold, ...], FloatArray, tuple[Hold, ...]]:
    """Holds and places without those that would have to move too far, and those."""
    kept: list[int] = []
    gone: list[int] = []
    for i, hold in enumerate(holds):
        gap = points[hold.span[0] : hold.span[1] + 1, hold.kind] - places[i]
        (kept if np.sum(gap**2, axis=-1).max() <= farthest**2 else gone).append(i)
    return tuple(holds[i] for i in kept), places[kept], tuple(holds[i] for i in gone)


def _ankle_goal(foot: Foot, ankle: AnkleTarget, pull: FloatArray) -> FloatArray:
    """Where the ankle is to be: shifted, and raised where the foot would sink in. Shape (F, 3)."""
    goal = foot.ankle + ankle.shift
    before = np.stack([foot.heel[:, 1], foot.ball[:, 1]], axis=1)
    levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)
    after = goal[:, None, 1] + quat.rotate(ankle.q_foot[:, None], levers)[..., 1]
    goal[:, 1] += lift_out(before, after, ground_under(foot), pull)
    return goal


def _apply(
    motion: Motion,
    pose: tuple[FloatArray, FloatArray],
    feet: tuple[Foot, Foot],
    ankles: list[AnkleTarget],
    targets: list[FloatArray],
    shift: FloatArray,
    solved: list[LegSolution],
    *,
    stretch: bool,
) -> Motion:
    """The motion with new rotations in the frames that change, the others untouched."""
    quats = pose[1]
    local = np.array(motion.local_quats)
    moving = motion.joint_translations
    if stretch:
        n_frames = motion.n_frames
        moving = np.array(
            np.broadcast_to(motion.skeleton.offsets, (n_frames, motion.skeleton.n_joints, 3))
            if moving is None
            else moving
        )
    shifted = np.any(shift != 0.0, axis=1)
    for foot, ankle, target, leg in zip(feet, ankles, targets, solved, strict=True):
        hip, knee, end, toe = foot.joints
        changed = shifted | np.any(target != foot.ankle, axis=1)
        changed |= np.any(ankle.q_foot[:, 1:] != 0.0, axis=1)
        at = np.flatnonzero(changed)
        if not at.size:
            continue
        q_upper, q_lower, q_foot = leg.limb.q_upper[at], leg.limb.q_lower[at], ankle.q_foot[at]

        local[at, hip] = _local(motion, quats, at, hip, None, q_upper)
        local[at, knee] = _local(motion, quats, at, knee, q_upper, q_lower)
        local[at, end] = _local(motion, quats, at, end, q_lower, q_foot)
        if toe is not None:
            local[at, toe] = _local(motion, quats, at, toe, q_foot, ankle.q_toes[at])
        if stretch and moving is not None:
            for joint in motion.skeleton.chain(end):
                if joint > hip and hip in motion.skeleton.chain(joint):
                    moving[:, joint] *= leg.scale[:, None]
    return motion.replace(
        root_positions=motion.root_positions + shift, local_quats=local, joint_translations=moving
    )


def _local(
    motion: Motion,
    quats: FloatArray,
    at: IntArray,
    joint: int,
    turn_parent: FloatArray | None,
    turn: FloatArray,
) -> FloatArray:
    """Local rotation of a joint in frames ``at`` after world turns of its parent and itself."""
    parent = motion.skeleton.parents[joint]
    q_world = quat.multiply(turn, quats[at, joint])
    if parent < 0:
        return q_world
    q_parent = quats[at, parent]
    if turn_parent is not None:
        q_parent = quat.multiply(turn_parent, q_parent)
    return quat.multiply(quat.conjugate(q_parent), q_world)


def _points_after(
    feet: tuple[Foot, Foot],
    ankles: list[AnkleTarget],
    pose: tuple[FloatArray, FloatArray],
    after: tuple[FloatArray, FloatArray],
    points: FloatArray,
) -> FloatArray:
    """Heels and balls of the cleaned motion: they go with their ankles. Shape (F, 4, 3)."""
    moved = np.zeros_like(points)
    for k, foot in enumerate(feet):
        ankle = foot.joints[2]
        turn = quat.multiply(after[1][:, ankle], quat.conjugate(pose[1][:, ankle]))
        levers = points[:, 2 * k : 2 * k + 2] - foot.ankle[:, None]
        moved[:, 2 * k : 2 * k + 2] = after[0][:, ankle, None] + quat.rotate(turn[:, None], levers)
    return moved


def _misses(holds: tuple[Hold, ...], places: FloatArray, after: FloatArray) -> FloatArray:
    """Distance of held points from their places, 0 where nothing is held. Shape (F, 4)."""
    miss = np.zeros(after.shape[:2])
    for hold, place in zip(holds, places, strict=True):
        span = slice(hold.span[0], hold.span[1] + 1)
        miss[span, hold.kind] = np.linalg.norm(after[span, hold.kind] - place, axis=-1)
    return miss


def _angles(q: FloatArray) -> FloatArray:
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(q[:, 1:], axis=-1), np.abs(q[:, 0])))
