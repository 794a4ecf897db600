"""Laws of root bones: results do not depend on which bone above the pelvis carries the travel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import facing
from motionloom.body.root_motion import travel_on_pelvis, travel_on_root, with_root_bone
from motionloom.errors import SkeletonMismatchError
from motionloom.rotation import quat
from motionloom.tables.collection.common_skeleton import make_rigid
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.synthesis.fill import fill

FLOAT64 = 1e-9
SAME_RESULT_M = 1e-6
FLOAT32_M = 2e-6
STILL = (np.array([1.5, 0.0, -2.0]), np.array([np.cos(0.2), 0.0, np.sin(0.2), 0.0]))
"""Where a root bone lies still, and how it is turned."""


def clip(kind: str, **options: float) -> ml.Motion:
    motion = ml.synthetic.clip(kind, duration_s=2.5, fps=30, **options).motion
    return ml.move(motion, heading=0.7, x=2.0, z=1.0).replace(name=kind)


def on_root(motion: ml.Motion) -> ml.Motion:
    """Under a root bone on the ground that travels and turns with the body."""
    return with_root_bone(motion)


def rehung(motion: ml.Motion, places: np.ndarray, turns: np.ndarray) -> ml.Motion:
    """Under a root bone that is at given places (F, 3) and turned so (F, 4)."""
    rooted = with_root_bone(motion)
    quats, moving = np.array(rooted.local_quats), np.array(rooted.joint_translations)
    back = quat.conjugate(turns)
    quats[:, 0] = turns
    quats[:, 1] = quat.multiply(back, motion.local_quats[:, 0])
    moving[:, 1] = quat.rotate(back, motion.root_positions - places)
    return rooted.replace(root_positions=places, local_quats=quats, joint_translations=moving)


def still_root(motion: ml.Motion) -> ml.Motion:
    """Under a root bone that lies still, as in Bandai's clips."""
    n = motion.n_frames
    return rehung(motion, np.tile(STILL[0], (n, 1)), np.tile(STILL[1], (n, 1)))


def travels_unturned(motion: ml.Motion) -> ml.Motion:
    """Under a root bone that travels and never turns."""
    places = motion.root_positions * np.array([1.0, 0.0, 1.0])
    return rehung(motion, places, np.tile(quat.IDENTITY, (motion.n_frames, 1)))


def rigid_far_root(motion: ml.Motion) -> ml.Motion:
    """Rigid bones, the root far from the pelvis and without its heading, as retargeting makes."""
    offset = np.array([0.3, 0.9, -2.0])
    n = motion.n_frames
    far = rehung(motion, motion.root_positions - offset, np.tile(quat.IDENTITY, (n, 1)))
    offsets = np.array(far.skeleton.offsets)
    offsets[1] = offset
    skeleton = dataclasses.replace(far.skeleton, offsets=offsets)
    return far.replace(skeleton=skeleton, joint_translations=None)


ONE_BONE: list[Callable[[ml.Motion], ml.Motion]] = [still_root, travels_unturned, rigid_far_root]


def three_bones(motion: ml.Motion) -> ml.Motion:
    """Under three bones that lie still, one off the other."""
    for name, shift in (("cog", 0.3), ("reference", -0.2), ("world", 0.0)):
        n = motion.n_frames
        rooted = with_root_bone(motion, name=name)
        quats, moving = np.array(rooted.local_quats), np.array(rooted.joint_translations)
        place = np.array([shift, 0.1, shift])
        quats[:, 0], quats[:, 1] = (
            STILL[1],
            quat.multiply(quat.conjugate(STILL[1]), motion.local_quats[:, 0]),
        )
        moving[:, 1] = quat.rotate(quat.conjugate(STILL[1]), motion.root_positions - place)
        motion = rooted.replace(
            root_positions=np.tile(place, (n, 1)), local_quats=quats, joint_translations=moving
        )
    return motion


def below(motion: ml.Motion) -> np.ndarray:
    """World positions of the pelvis and of everything below it."""
    pelvis = ml.BodyMap.guess(motion.skeleton).pelvis
    assert pelvis is not None
    return motion.world_positions()[:, pelvis:]


@pytest.mark.parametrize("layout", [*ONE_BONE, three_bones])
def test_moving_travel_to_the_root_moves_no_joint_of_the_body(layout) -> None:
    motion = layout(clip("walk", turn=1.2))
    led = travel_on_root(motion)
    assert np.abs(below(led) - below(motion)).max() < FLOAT64
    pelvis = ml.BodyMap.guess(led.skeleton).pelvis
    positions, turns = led.world_pose()
    under = positions[:, pelvis] * [1.0, 0.0, 1.0]
    assert np.abs(positions[:, :pelvis] - under[:, None]).max() < FLOAT64
    heading = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), facing(motion))
    assert quat.angle_between(turns[:, :pelvis], heading[:, None]).max() < 1e-7
    assert travel_on_root(led) is led


@pytest.mark.parametrize("layout", [still_root, three_bones])
def test_to_the_root_and_back_is_the_identity(layout) -> None:
    motion = layout(clip("walk", turn=1.2))
    back = travel_on_pelvis(travel_on_root(motion), like=motion)
    assert np.abs(back.world_positions() - motion.world_positions()).max() < FLOAT64
    assert np.abs(back.end_positions() - motion.end_positions()).max() < FLOAT64
    assert quat.angle_between(back.local_quats, motion.local_quats).max() < 1e-7
    assert np.array_equal(back.skeleton.offsets, motion.skeleton.offsets)


def test_a_root_that_travels_unturned_gives_up_only_its_turn_on_the_way_back() -> None:
    motion = travels_unturned(clip("walk", turn=1.2))
    back = travel_on_pelvis(travel_on_root(motion), like=motion)
    assert np.abs(back.world_positions() - motion.world_positions()).max() < FLOAT64
    assert quat.angle_between(back.local_quats, motion.local_quats).max() < 1e-7


def test_motions_whose_pelvis_is_the_root_stay_as_they_are() -> None:
    motion = clip("walk")
    assert travel_on_root(motion) is motion
    assert travel_on_pelvis(motion, like=motion) is motion


def test_a_layout_of_other_joints_is_refused() -> None:
    with pytest.raises(SkeletonMismatchError, match="`like` must have the joints"):
        travel_on_pelvis(clip("walk"), like=still_root(clip("walk")))


@pytest.mark.parametrize("layout", ONE_BONE)
@pytest.mark.parametrize("other", [on_root, still_root])
def test_a_transition_does_not_depend_on_the_layout_of_the_root(layout, other) -> None:
    a, b = clip("walk", turn=0.6), clip("jog", turn=-0.4)
    expected = ml.transition(on_root(a), on_root(b))
    made = ml.transition(layout(a), other(b))
    assert made.span == expected.span
    assert np.abs(below(made.motion) - below(expected.motion)).max() < SAME_RESULT_M
    assert np.abs(made.motion.root_positions - expected.motion.root_positions).max() < SAME_RESULT_M
    assert made.cost == pytest.approx(expected.cost, abs=SAME_RESULT_M)


def test_a_transition_under_several_bones_keeps_to_its_sources() -> None:
    a, b = three_bones(clip("walk", turn=0.6)), three_bones(clip("jog", turn=-0.4))
    made = ml.transition(a, b)
    own = np.maximum(
        *(np.linalg.norm(np.diff(below(m), axis=0), axis=-1).max(axis=0) for m in (a, b))
    )
    assert (np.linalg.norm(np.diff(below(made.motion), axis=0), axis=-1) <= 1.15 * own).all()


@pytest.mark.parametrize("layout", ONE_BONE)
def test_a_blend_does_not_depend_on_the_layout_of_the_root(layout) -> None:
    walks = [clip("walk", turn=turn) for turn in (0.8, -0.8)]
    expected = ml.blend(ml.register([on_root(w) for w in walks]), [0.5, 0.5]).motion
    made = ml.blend(ml.register([layout(w) for w in walks]), [0.5, 0.5]).motion
    assert np.abs(below(made) - below(expected)).max() < SAME_RESULT_M


@pytest.mark.parametrize("layout", [*ONE_BONE, three_bones])
def test_a_loop_does_not_jump_at_its_seam(layout) -> None:
    motion = layout(clip("walk", turn=0.8))
    cycle = ml.loop(motion)
    lap = ml.motion.edit.transform(cycle.motion, cycle.closure)
    twice = ml.concatenate([cycle.motion[:-1], lap])
    n = cycle.motion.n_frames
    seam = np.linalg.norm(np.diff(below(twice)[n - 8 : n + 8], axis=0), axis=-1)
    own = np.linalg.norm(np.diff(below(motion), axis=0), axis=-1).max(axis=0)
    assert (seam <= 1.1 * own).all()
    assert any("root bone" in note for note in cycle.notes)


@pytest.mark.parametrize("layout", [on_root, *ONE_BONE])
def test_in_a_collection_the_root_carries_travel_and_heading(layout) -> None:
    motion = clip("walk", turn=2.0)
    expected = frames_of([make_rigid(on_root(motion))[0]])
    rigid, notes = make_rigid(layout(motion))
    frames = frames_of([rigid])
    assert any("travel and heading" in note for note in notes)
    for column in ("heading", "ground", "body", "points"):
        apart = getattr(frames, column) - getattr(expected, column)
        assert np.abs(apart).max() < FLOAT32_M, column
    assert np.abs(np.abs(frames.quats[:, 0]) - [1.0, 0.0, 0.0, 0.0]).max() < FLOAT32_M
    assert quat.angle_between(
        frames.quats[:, 1].astype(float), expected.quats[:, 1].astype(float)
    ).max() < 1e-3  # fmt: skip
    again = frames.motion(0, motion.n_frames - 1)
    assert np.abs(again.world_positions()[:, 1:] - motion.world_positions()).max() < FLOAT32_M


def test_rigid_clips_with_a_long_bone_to_the_pelvis_keep_their_body_in_frames() -> None:
    motion = rigid_far_root(clip("walk", turn=2.0))
    frames = frames_of([motion])
    assert np.abs(np.abs(frames.quats[:, 0]) - [1.0, 0.0, 0.0, 0.0]).max() < FLOAT32_M
    again = frames.motion(0, motion.n_frames - 1)
    assert np.abs(below(again) - below(motion)).max() < 2.0 * FLOAT32_M


def test_a_table_of_still_roots_gives_the_transitions_of_travelling_roots(tmp_path: Path) -> None:
    tables = []
    for layout in (on_root, still_root):
        folder = tmp_path / layout.__name__
        folder.mkdir()
        for kind in ("walk", "run", "sneak", "stand"):
            turn = {} if kind == "stand" else {"turn": 1.0}
            ml.save(layout(clip(kind, **turn)), folder / f"{kind}.mlm")
        lib = ml.Collection.ingest(folder, fps=30)
        options = {"length_s": 0.5, "clusters": 5, "lookup": 8, "progress": False, "jobs": 1}
        tables.append(ml.build_table(lib, **options))
    for source, target in ((("walk", 20), ("run", 30)), (("sneak", 25), ("walk", 40))):
        expected, made = (table.transition(source, target).motion for table in tables)
        assert np.abs(below(made) - below(expected)).max() < 1e-4
        moved = np.abs(np.diff(facing(made)))
        own = max(
            np.abs(np.diff(facing(clip(k, turn=1.0)))).max() for k in ("walk", "run", "sneak")
        )
        assert moved.max() < 1.5 * own


def test_a_fill_leaves_root_and_pelvis_without_counter_rotation() -> None:
    walks = [clip("walk", turn=turn, seed=k) for k, turn in enumerate((2.0, -2.0, 1.0))]
    frames = frames_of(
        [make_rigid(still_root(w))[0].replace(name=f"w{k}") for k, w in enumerate(walks)]
    )
    motion = make_rigid(still_root(walks[0]))[0]
    filled = fill(frames, motion, 25, 45).motion
    rate = quat.angle_between(filled.local_quats[1:, :2], filled.local_quats[:-1, :2]).max(axis=0)
    own = quat.angle_between(motion.local_quats[1:, :2], motion.local_quats[:-1, :2]).max(axis=0)
    assert (rate <= 1.5 * own + 0.02).all()
