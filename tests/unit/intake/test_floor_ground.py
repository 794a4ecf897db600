from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.anatomy import ball_height
from motionloom.body.body_map import BodyMap
from motionloom.errors import MotionLoomError, SkeletonMismatchError
from motionloom.intake.floor import ground
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Floor, Source
from motionloom.rotation import quat

LEVEL_M = 0.001
FLOAT64_M = 1e-12


def balls(motion: Motion) -> np.ndarray:
    body = BodyMap.guess(motion.skeleton)
    return motion.world_positions()[:, [body.left_toe, body.right_toe]]


def sole(motion: Motion) -> float:
    return ball_height(motion.skeleton, BodyMap.guess(motion.skeleton))


def tilted(motion: Motion, degrees: float, rise: float) -> Motion:
    turn = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(degrees))
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(np.broadcast_to(turn, quats[:, 0].shape), quats[:, 0])
    root = quat.rotate(turn, motion.root_positions) + np.array([0.0, rise, 0.0])
    return motion.replace(root_positions=root, local_quats=quats)


def standing_about(person) -> Motion:
    """Stands in five places on level ground, far enough apart to tell a tilt."""
    root = np.zeros((300, 3))
    root[:, 1] = 0.95
    for i in range(5):
        root[60 * i : 60 * i + 60, 0] = 2.0 * np.cos(2.5 * i)
        root[60 * i : 60 * i + 60, 2] = 2.0 * np.sin(2.5 * i)
    return person(root=root)


def test_a_clip_that_floats_is_brought_down_to_its_soles(person) -> None:
    grounded = ground(person(root=np.tile([1.0, 1.4, -2.0], (60, 1))))
    np.testing.assert_allclose(balls(grounded)[..., 1], sole(grounded), atol=LEVEL_M)
    np.testing.assert_allclose(grounded.root_positions[:, [0, 2]], [[1.0, -2.0]] * 60, atol=1e-9)


def test_a_tilted_floor_is_levelled(person) -> None:
    level = standing_about(person)
    grounded = ground(tilted(level, 0.5, 0.3))
    np.testing.assert_allclose(balls(grounded)[..., 1], sole(level), atol=0.004)
    before = tilted(level, 0.5, 0.0)
    assert np.ptp(balls(before)[..., 1]) > 0.03


def test_a_grounded_clip_is_left_alone(person) -> None:
    once = ground(standing_about(person))
    assert ground(once) is once


def test_a_cut_of_a_loaded_clip_stands_on_the_floor_of_the_whole(person) -> None:
    motion = tilted(standing_about(person), 0.5, 0.3)
    floor = Floor(0.325, 0.325, np.tan(np.radians(0.5)), 0.0, 0.0)
    known = motion.replace(source=Source(floor=floor))
    # One place alone cannot tell the tilt, the floor of the whole clip can.
    whole, cut = ground(known), ground(known[:60])
    np.testing.assert_allclose(cut.local_quats, whole.local_quats[:60], atol=FLOAT64_M)


def test_a_clip_that_was_turned_since_it_was_loaded_is_fitted_anew(person) -> None:
    motion = tilted(standing_about(person), 0.5, 0.3)
    floor = Floor(0.325, 0.325, np.tan(np.radians(0.5)), 0.0, 0.0)
    turned = move(motion.replace(source=Source(floor=floor)), heading=np.pi)
    np.testing.assert_allclose(balls(ground(turned))[..., 1], sole(turned), atol=0.004)


def test_grounding_is_rigid(person) -> None:
    motion = tilted(standing_about(person), 0.4, 0.2)
    grounded = ground(motion)
    before, after = motion.world_positions(), grounded.world_positions()
    for a, b in ((0, 150), (30, 290)):
        np.testing.assert_allclose(
            np.linalg.norm(before[a] - before[b], axis=-1),
            np.linalg.norm(after[a] - after[b], axis=-1),
            atol=FLOAT64_M,
        )


def test_a_floor_may_be_given(person) -> None:
    motion = person()
    grounded = ground(motion, floor=Floor(0.5, 0.5, 0.0, 0.0, 0.0))
    moved = grounded.root_positions - motion.root_positions
    np.testing.assert_allclose(moved, [[0.0, sole(motion) - 0.5, 0.0]] * 60, atol=FLOAT64_M)


def test_the_source_knows_the_new_floor_and_that_it_was_moved(person) -> None:
    grounded = ground(tilted(standing_about(person), 0.5, 0.3))
    assert grounded.source.floor is not None
    assert grounded.source.floor.height == pytest.approx(sole(grounded))
    assert (grounded.source.floor.slope_x, grounded.source.floor.slope_z) == (0.0, 0.0)
    assert "ml.ground" in grounded.source.findings[-1].problem


def test_one_frame_needs_a_given_floor(person) -> None:
    with pytest.raises(MotionLoomError, match="Pass floor="):
        ground(person(1))


def test_a_thing_without_feet_is_reported() -> None:
    rod = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    motion = Motion(rod, np.zeros((4, 3)), np.tile(quat.IDENTITY, (4, 2, 1)), 30.0)
    with pytest.raises(SkeletonMismatchError, match="left_ankle"):
        ground(motion)
