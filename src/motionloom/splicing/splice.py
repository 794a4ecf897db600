"""splice(): the upper body of one clip on the legs of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, RegistrationError, SkeletonMismatchError
from motionloom.features.footplants import detect_footplants
from motionloom.features.markers import SyncMarkers, sync_markers
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import resample, sample
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames, nearest_rotation, posture_turn
from motionloom.splicing.timing import UpperTimes, find_upper_times, own_times

__all__ = ["Splice", "splice"]

Method = Literal["naive", "time", "time+space", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Splice:
    """A spliced motion; it starts at the lower clip's first frame."""

    motion: Motion
    footplants: Footplants
    """The lower clip's."""
    timewarp: UpperTimes
    """Which frame of the action each frame of the result has."""
    notes: tuple[str, ...]
    """What was decided, and what of the action is lost."""

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def splice(
    upper: Motion,
    lower: Motion,
    *,
    method: Method = "full",
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
) -> Splice:
    """The action of one clip's upper body on the locomotion of another.

    Parameters
    ----------
    upper
        Clip with the action.
    lower
        Clip with the locomotion; root and legs of the result are exactly its own.
    method
        ``"full"``; or fewer steps, to compare: ``"naive"`` copies joints frame by frame,
        ``"time"`` also keeps step, ``"time+space"`` also moves the torso as the locomotion's
        moves, ``"full"`` also keeps the action's mean posture.
    footplants
        Plants of the lower clip; detected where not given.
    body
        Which joint is which; guessed where not given.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> carry, turn = synthetic.clip("carry").motion, synthetic.clip("walk", turn=1.2).motion
    >>> made = splice(upper=carry, lower=turn)
    >>> n = made.motion.n_frames
    >>> bool((made.motion.root_positions == turn.root_positions[:n]).all())
    True
    """
    if method not in get_args(Method):
        raise ArrayError(f"`method` must be one of {', '.join(get_args(Method))}, got {method!r}.")
    upper, notes = _fitting(upper, lower)
    body = BodyMap.guess(lower.skeleton) if body is None else body
    joint = _hanging_joint(lower.skeleton, body)
    times = own_times(lower, upper) if method == "naive" else find_upper_times(lower, upper, body)
    if times.kept_own_time and method != "naive":
        notes.append("one of the clips does not travel: the action keeps its own time")
    if len(times.frames) < 2:
        raise RegistrationError(
            "No frames are left that both clips have. Use a longer action or locomotion."
        )
    action = sample(upper, times.frames)
    legs = lower[: len(times.frames)]
    above = _below(lower.skeleton, joint)
    quats = np.array(legs.local_quats)
    quats[:, above] = action.local_quats[:, above]
    if method in ("time+space", "full"):
        points = _torso_points(body, above, joint)
        quats[:, joint] = _moved_as_the_legs(legs, action, joint, points)
        if method == "full":
            made = legs.replace(local_quats=quats)
            quats[:, joint] = _with_posture_of(action, made, legs, joint, body)
            notes += _lost(action, legs.replace(local_quats=quats), joint, body)
    moving = legs.joint_translations
    if action.joint_translations is not None:
        moving = np.array(_offsets(legs) if moving is None else moving)
        moving[:, above] = _offsets(action)[:, above]
    plants = detect_footplants(lower, body=body) if footplants is None else footplants
    name = f"{upper.name} on {lower.name}".strip()
    return Splice(
        legs.replace(local_quats=quats, joint_translations=moving, name=name),
        plants[: legs.n_frames],
        times,
        tuple(notes),
    )


def _fitting(upper: Motion, lower: Motion) -> tuple[Motion, list[str]]:
    """The upper clip on the lower one's joints and rate, or a clear word."""
    if not lower.skeleton.same_joints(upper.skeleton):
        differ = sorted(set(lower.skeleton.names) ^ set(upper.skeleton.names))[:6]
        raise SkeletonMismatchError(
            f"Both clips must share one skeleton; they differ in {', '.join(differ) or 'order'}. "
            "Use ml.retarget(upper, lower.skeleton) first."
        )
    if abs(upper.fps - lower.fps) > 1e-3 * lower.fps:
        note = f"the action was resampled from {upper.fps:g} to {lower.fps:g} fps"
        return resample(upper, fps=lower.fps), [note]
    return upper, []


def _hanging_joint(skeleton: Skeleton, body: BodyMap) -> int:
    """The joint at which the upper body hangs: the first of the spine above the pelvis."""
    body.require("left_shoulder", "right_shoulder", "left_knee", "right_knee", task="splicing")
    if not body.spine:
        raise SkeletonMismatchError(
            "Splicing needs a joint between pelvis and shoulders to split the body at; none was "
            "found. Name the spine with body=."
        )
    return body.spine[0]


def _below(skeleton: Skeleton, joint: int) -> list[int]:
    """The joint and everything that hangs on it."""
    hanging = {joint}
    for j in range(joint + 1, skeleton.n_joints):
        if int(skeleton.parents[j]) in hanging:
            hanging.add(j)
    return sorted(hanging)


def _torso_points(body: BodyMap, above: list[int], joint: int) -> list[int]:
    points = [*body.spine[1:], body.left_shoulder, body.right_shoulder]
    return [j for j in points if j is not None and j in above and j != joint]


def _moved_as_the_legs(
    legs: Motion, action: Motion, joint: int, points: list[int]
) -> FloatArray:
    """Rotation of the joint that lays the action's torso over the locomotion's own, per frame."""
    clouds = []
    for motion in (legs, action):
        positions, quats = motion.world_pose()
        parent = int(motion.skeleton.parents[joint])
        relative = positions[:, points] - positions[:, [joint]]
        clouds.append(quat.rotate(quat.conjugate(quats[:, parent])[:, None], relative))
    turn = nearest_rotation(clouds[0], clouds[1])
    return quat.multiply(turn, action.local_quats[:, joint])


def _with_posture_of(
    action: Motion, made: Motion, legs: Motion, joint: int, body: BodyMap
) -> FloatArray:
    """The joint's rotation with the action's mean posture given back.

    The turn is found in the hips' axes and applied in those of the joint's parent, whatever axes a
    rig gives it: ``(H G)^-1 q (H G)`` with G the parent's rotation and H the hips' axes.
    """
    shoulders = [j for j in (body.left_shoulder, body.right_shoulder) if j is not None]
    theirs, ours = action.world_positions(), made.world_positions()
    hips_theirs, hips_ours = hip_frames(theirs, body), hip_frames(ours, body)
    turn = posture_turn(
        theirs[:, shoulders] - theirs[:, [joint]],
        ours[:, shoulders] - ours[:, [joint]],
        hips_theirs,
        hips_ours,
    )
    parent = int(made.skeleton.parents[joint])
    seen = quat.multiply(hips_ours, legs.world_quats()[:, parent])
    about = quat.multiply(quat.multiply(quat.conjugate(seen), turn), seen)
    return quat.multiply(about, made.local_quats[:, joint])


def _lost(action: Motion, made: Motion, joint: int, body: BodyMap) -> list[str]:
    """Bends of the action that the locomotion's torso does not make."""
    tilts = []
    for motion in (action, made):
        positions = motion.world_positions()
        shoulders = positions[:, [body.left_shoulder, body.right_shoulder]].mean(axis=1)
        trunk = shoulders - positions[:, joint]
        level = np.linalg.norm(trunk[:, [0, 2]], axis=-1)
        tilts.append(float(np.degrees(np.arctan2(level, trunk[:, 1])).max()))
    if tilts[0] > tilts[1] + 20.0:
        return [
            f"the action bends its torso by up to {tilts[0]:.0f} degrees, the splice by "
            f"{tilts[1]:.0f}: the torso moves as the locomotion's does"
        ]
    return []


def _offsets(motion: Motion) -> FloatArray:
    if motion.joint_translations is not None:
        return motion.joint_translations
    still = np.array(motion.skeleton.offsets)
    still[0] = 0.0
    return np.broadcast_to(still, (motion.n_frames, *still.shape))
