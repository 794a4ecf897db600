"""Retargeting: the same movement on other bodies and other rigs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.edit import move
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.retargeting import retarget as module
from motionloom.retargeting.retarget import retarget
from motionloom.rotation import quat

from .bodies import a_pose, along_x, longer, random_axes, re_rigged, with_axes

FLOAT64 = 1e-9
SAME_BODY_M = 2e-3
"""Two rigs of one body may differ by this: a foot's ball is found on each."""
LEG_DEG = 3.0
"""Leg bones turn from the source's by at most this, on average, on a body of other proportions."""
STILL = 0.03
"""Speed of a planted foot of an embedded clip on another body, m/s; on its own body it is 0."""


@pytest.fixture(scope="module")
def walk() -> synthetic.SyntheticClip:
    return synthetic.clip("walk", turn=0.6)


@pytest.fixture(scope="module")
def giant(walk: synthetic.SyntheticClip) -> Skeleton:
    """Long shins, long arms, wide hips, a short trunk."""
    return longer(
        walk.motion.skeleton, Foot=1.25, LeftLeg=1.1, RightLeg=1.1, Hand=1.3, UpLeg=1.4, Spine=0.8
    )


def direction_errors(a: Motion, b: Motion, bones: tuple[tuple[str, str], ...]) -> np.ndarray:
    """Angles between the same bones of two motions, degrees. Shape (bones * sides, F)."""
    roles_a, roles_b = BodyMap.guess(a.skeleton), BodyMap.guess(b.skeleton)
    at_a, at_b = a.world_positions(), b.world_positions()
    out = []
    for side in ("left", "right"):
        for above, below in bones:
            u, v = (
                at[:, getattr(roles, f"{side}_{below}")] - at[:, getattr(roles, f"{side}_{above}")]
                for at, roles in ((at_a, roles_a), (at_b, roles_b))
            )
            lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
            out.append(np.arccos(np.clip(np.sum(u * v, axis=1) / lengths, -1.0, 1.0)))
    return np.degrees(np.array(out))


def planted_speeds(motion: Motion, plants: Footplants) -> np.ndarray:
    points = foot_points(motion)
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=-1) * motion.fps
    return np.asarray(speeds[plants.planted[1:] & plants.planted[:-1]])


def test_its_own_skeleton_gives_the_motion_itself(walk: synthetic.SyntheticClip) -> None:
    assert retarget(walk.motion, walk.motion.skeleton) is walk.motion


def test_the_whole_way_round_on_its_own_skeleton_changes_nothing(
    walk: synthetic.SyntheticClip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_same", lambda a, b: False)
    back = retarget(walk.motion, walk.motion.skeleton, footplants=walk.footplants)
    assert back is not walk.motion
    assert np.allclose(back.world_positions(), walk.motion.world_positions(), atol=1e-6)


def test_arms_point_where_they_pointed(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    made = retarget(walk.motion, giant)
    arms = direction_errors(walk.motion, made, (("shoulder", "elbow"), ("elbow", "wrist")))
    assert arms.max() < 1e-4


def test_legs_point_nearly_where_they_pointed(
    walk: synthetic.SyntheticClip, giant: Skeleton
) -> None:
    made = retarget(walk.motion, giant)
    legs = direction_errors(walk.motion, made, (("hip", "knee"), ("knee", "ankle")))
    assert legs.mean() < LEG_DEG


def test_planted_feet_stay_planted(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    made = retarget(walk.motion, giant, footplants=walk.footplants)
    assert planted_speeds(made, walk.footplants).max() < STILL
    careless = _without_foot_work(walk.motion, giant)
    assert planted_speeds(careless, walk.footplants).mean() > 3.0 * STILL


def _without_foot_work(motion: Motion, skeleton: Skeleton) -> Motion:
    """Rotations copied over and the root left where it was: what retargeting must improve on."""
    return motion.replace(skeleton=skeleton)


def test_bones_keep_the_targets_lengths(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    made = retarget(walk.motion, giant)
    at = made.world_positions()
    bones = np.linalg.norm(at[:, 1:] - at[:, giant.parents[1:]], axis=-1)
    assert np.allclose(bones, np.linalg.norm(giant.offsets[1:], axis=1), atol=FLOAT64)
    assert made.joint_translations is None
    assert made.skeleton is giant
    assert (made.n_frames, made.fps, made.name) == (
        walk.motion.n_frames,
        walk.motion.fps,
        walk.motion.name,
    )


def test_travel_is_scaled_by_the_legs(walk: synthetic.SyntheticClip) -> None:
    double = dataclasses.replace(
        walk.motion.skeleton,
        offsets=2.0 * walk.motion.skeleton.offsets,
        end_offsets=2.0 * walk.motion.skeleton.end_offsets,
    )
    made = retarget(walk.motion, double, footplants=walk.footplants)
    start = walk.motion.world_positions()[0, 0] * [1, 0, 1]
    expected = start + 2.0 * (walk.motion.world_positions() - start)
    assert np.allclose(made.world_positions(), expected, atol=1e-3)


def test_moving_the_source_moves_the_result(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    made = retarget(walk.motion, giant, footplants=walk.footplants)
    there = move(walk.motion, heading=2.0, x=1.5, z=-4.0)
    moved = retarget(there, giant, footplants=walk.footplants)
    # Both roots start over the same spot, about which `move` turns.
    again = move(made, heading=2.0, x=1.5, z=-4.0)
    gap = moved.root_positions[0] - again.root_positions[0]
    assert abs(gap[1]) < FLOAT64
    assert np.allclose(moved.world_positions() - gap, again.world_positions(), atol=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_joint_axes_of_the_target_do_not_matter(
    walk: synthetic.SyntheticClip, giant: Skeleton, seed: int
) -> None:
    rig = with_axes(giant, random_axes(giant, seed), keep_rest=True)
    plain = retarget(walk.motion, giant, footplants=walk.footplants)
    made = retarget(walk.motion, rig, footplants=walk.footplants)
    assert np.allclose(made.world_positions(), plain.world_positions(), atol=1e-6)


def test_the_rest_pose_of_the_target_does_not_matter(
    walk: synthetic.SyntheticClip, giant: Skeleton
) -> None:
    plain = retarget(walk.motion, giant, footplants=walk.footplants)
    made = retarget(walk.motion, a_pose(giant), footplants=walk.footplants)
    assert np.allclose(made.world_positions(), plain.world_positions(), atol=SAME_BODY_M)


@pytest.mark.parametrize("axes", ["random", "along x"])
def test_a_target_whose_rest_pose_is_no_pose_is_understood_by_a_clip_on_it(
    walk: synthetic.SyntheticClip, axes: str
) -> None:
    # The same body: what comes out has to be the walk itself.
    body = walk.motion.skeleton
    own = random_axes(body, 3) if axes == "random" else along_x(body)
    rig = with_axes(body, own, keep_rest=False)
    other = re_rigged(synthetic.clip("jog").motion, rig, own)
    made = retarget(walk.motion, other, footplants=walk.footplants)
    roles = BodyMap.guess(body)
    limbs = [j for role, j in dataclasses.asdict(roles).items() if role != "spine"]
    gap = np.linalg.norm(made.world_positions() - walk.motion.world_positions(), axis=-1)
    assert gap[:, limbs].max() < 0.06
    assert gap[:, limbs].mean() < 0.02


def test_a_source_whose_rest_pose_is_no_pose_is_understood(walk: synthetic.SyntheticClip) -> None:
    body = walk.motion.skeleton
    own = along_x(body)
    source = re_rigged(walk.motion, with_axes(body, own, keep_rest=False), own)
    assert np.allclose(source.world_positions(), walk.motion.world_positions(), atol=FLOAT64)
    made = retarget(source, body, footplants=walk.footplants)
    gap = np.linalg.norm(made.world_positions() - walk.motion.world_positions(), axis=-1)
    assert gap.mean() < 0.02
    # Twists too: bones are turned about themselves as they were, within a natural range.
    roles = BodyMap.guess(body)
    shanks = [roles.left_knee, roles.right_knee]
    twist = quat.angle_between(made.world_quats()[:, shanks], walk.motion.world_quats()[:, shanks])
    assert np.degrees(twist).mean() < 15.0


def test_spines_of_other_lengths_bend_as_far(walk: synthetic.SyntheticClip) -> None:
    body = walk.motion.skeleton
    spine = [body.index(name) for name in ("Spine", "Spine1", "Spine2")]
    bent = np.array(walk.motion.local_quats)
    for j in spine:
        bent[:, j] = quat.multiply(bent[:, j], quat.from_axis_angle(np.array([1.0, 0, 0]), 0.2))
    bowing = walk.motion.replace(local_quats=bent)
    made = retarget(bowing, _without(body, "Spine1"), footplants=walk.footplants)
    arms = direction_errors(bowing, made, (("shoulder", "elbow"),))
    assert arms.max() < 1e-4
    chests = [m.world_quats()[:, m.skeleton.index("Spine2")] for m in (bowing, made)]
    assert np.degrees(quat.angle_between(*chests)).max() < 1e-4


def _without(skeleton: Skeleton, name: str) -> Skeleton:
    """The skeleton with one joint left out; its children hang on its parent."""
    gone = skeleton.index(name)
    parents = np.array(skeleton.parents)
    offsets = np.array(skeleton.offsets)
    for child in skeleton.children(gone):
        parents[child] = parents[gone]
        offsets[child] += offsets[gone]
    keep = [j for j in range(skeleton.n_joints) if j != gone]
    new = {old: i for i, old in enumerate(keep)} | {-1: -1}
    return Skeleton(
        [skeleton.names[j] for j in keep],
        [new[int(parents[j])] for j in keep],
        offsets[keep],
        end_parents=[new[int(j)] for j in skeleton.end_parents],
        end_offsets=skeleton.end_offsets,
    )


def test_a_target_without_toes_hands_or_head_is_enough(walk: synthetic.SyntheticClip) -> None:
    body = walk.motion.skeleton
    for name in ("Head", "LeftHand", "RightHand"):
        body = _without(_drop_ends(body, name), name)
    made = retarget(walk.motion, body, footplants=walk.footplants)
    assert made.skeleton.n_joints == walk.motion.skeleton.n_joints - 3


def _drop_ends(skeleton: Skeleton, name: str) -> Skeleton:
    kept = skeleton.end_parents != skeleton.index(name)
    return dataclasses.replace(
        skeleton,
        end_parents=skeleton.end_parents[kept],
        end_offsets=skeleton.end_offsets[kept],
    )


def test_legs_are_needed(walk: synthetic.SyntheticClip) -> None:
    rope = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    with pytest.raises(SkeletonMismatchError, match="left_knee"):
        retarget(walk.motion, rope)


def test_plants_must_fit_the_motion(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    with pytest.raises(ArrayError, match="one row per frame"):
        retarget(walk.motion, giant, footplants=walk.footplants[:10])


def test_nothing_pops(walk: synthetic.SyntheticClip, giant: Skeleton) -> None:
    made = retarget(walk.motion, giant)

    def fastest(motion: Motion) -> float:
        steps = quat.angle_between(motion.local_quats[1:], motion.local_quats[:-1])
        return float(steps.max()) * motion.fps

    assert fastest(made) < 1.5 * fastest(walk.motion)
