"""The compiled series against plain numpy forms."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import find_knees, foot_points, knee_flexion
from motionloom.body.body_map import BodyMap, facing
from motionloom.errors import ArrayError
from motionloom.features.checks.source_limits import (
    CheckRig,
    check_rig,
    measure_series,
    new_series,
    series_of,
)
from motionloom.rotation import quat
from tests.oracles import series as plain

ANGLE = 3e-3
"""Turns are chords of the quaternion: a third of a per cent for steps below 30 degrees."""
FLOAT64 = 1e-9


@pytest.fixture(scope="module", params=["walk", "run", "kick"])
def motion(request: pytest.FixtureRequest) -> ml.Motion:
    return ml.synthetic.clip(request.param).motion


def test_speeds_and_bends_are_differences_of_positions(motion: ml.Motion) -> None:
    rig = check_rig(motion)
    series = series_of(rig, motion)
    positions, fps = motion.world_positions(), motion.fps
    joints, parents = rig.checked[1:], rig.parents[rig.checked[1:]]
    bones = positions[:, joints] - positions[:, parents]
    speed = fps * np.linalg.norm(np.diff(bones, axis=0), axis=-1)
    assert np.abs(series.speed[1:, 1:] - speed).max() < FLOAT64 * fps
    bend = fps**2 * np.linalg.norm(np.diff(positions[:, rig.checked], n=2, axis=0), axis=-1)
    assert np.abs(series.bend[1:-1] - bend).max() < FLOAT64 * fps**2
    assert not series.bend[[0, -1]].any()


def test_turns_are_angles_between_neighbouring_frames(motion: ml.Motion) -> None:
    rig = check_rig(motion)
    series = series_of(rig, motion)
    quats = motion.local_quats[:, rig.checked[1:]]
    turn = motion.fps * quat.angle_between(quats[1:], quats[:-1])
    assert np.abs(series.turn[1:, 1:] - turn).max() <= ANGLE * turn.max()


def test_knees_feet_and_heading_agree_with_the_motion_core(motion: ml.Motion) -> None:
    body = BodyMap.guess(motion.skeleton)
    series = series_of(check_rig(motion, body=body), motion)
    knees = find_knees(motion.skeleton, body, motion=motion)
    assert np.abs(series.flexion - knee_flexion(knees, *motion.world_pose())).max() < FLOAT64
    heading = facing(motion, body=body)
    off = (series.heading - heading + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(off).max() < FLOAT64
    points = foot_points(motion, body=body)
    assert np.abs(series.soles - points).max() < 1e-6


def test_the_lowest_point_is_a_joint_or_a_sole(motion: ml.Motion) -> None:
    rig = check_rig(motion)
    series = series_of(rig, motion)
    joints = motion.world_positions()[:, rig.checked, 1].min(axis=1)
    soles = foot_points(motion)[..., 1].min(axis=1)
    assert series.lowest == pytest.approx(np.minimum(joints, soles), abs=FLOAT64)
    # Upside down the head is the lowest, and no sole.
    over = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.pi)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(over, quats[:, 0])
    turned = motion.replace(local_quats=quats)
    joints = turned.world_positions()[:, rig.checked, 1].min(axis=1)
    assert series_of(rig, turned).lowest == pytest.approx(joints, abs=FLOAT64)
    assert (series_of(rig, turned).soles[..., 1].min(axis=1) > joints + 0.5).all()


def some_rig(n_legs: int = 2, head: int = 5, carriers: tuple[int, ...] = (0,)) -> CheckRig:
    """A rig of nine joints, of which joint 1 is the pelvis."""
    rng = np.random.Generator(np.random.PCG64(2))
    return CheckRig(
        parents=np.array([-1, 0, 1, 2, 3, 1, 5, 6, 1]),
        checked=np.array([1, 2, 3, 4, 5, 8]),
        carriers=np.array(carriers, dtype=np.int64),
        head=head,
        across=np.array([[2, 5], [4, 7]]),
        legs=np.array([[2, 3, 4], [5, 6, 7]])[:n_legs],
        hinges=quat.rotate(quat.normalize(rng.normal(size=(2, 4))), np.array([1.0, 0, 0]))[:n_legs],
        soles=0.1 * rng.normal(size=(2, 2, 3))[:n_legs],
        quick=np.ones(6),
    )


@pytest.mark.parametrize(
    "rig",
    [some_rig(), some_rig(n_legs=0), some_rig(head=-1), some_rig(carriers=(0, 8, 0))],
    ids=["all", "no legs", "no head", "three root bones"],
)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 80])
def test_every_series_is_that_of_the_plain_form(rig: CheckRig, n: int) -> None:
    rng = np.random.Generator(np.random.PCG64(n))
    positions = rng.normal(size=(n, 9, 3))
    positions[n // 2 : n // 2 + 9, [2, 4]] = positions[n // 2 : n // 2 + 9, [5, 7]]  # no heading
    world, quats = (quat.normalize(rng.normal(size=(n, 9, 4))) for _ in range(2))
    quats[1::3] = -quats[:-1:3][: len(quats[1::3])]  # the same rotation, the other sign
    found = new_series(rig, n)
    measure_series(rig, 50.0, positions, world, quats, found)
    expected = plain.measure_series(rig, 50.0, positions, world, quats)
    for name, a, b in zip(found._fields, found, expected, strict=True):
        assert a.shape == b.shape, name
        assert np.allclose(a, b, rtol=1e-11, atol=1e-11), name


@pytest.mark.parametrize(
    "wrong",
    [
        {"checked": np.array([1, 2, 3, 4, 5, 9])},
        {"checked": np.array([1, 2, 3, 4, 5, 0])},  # the root has no parent to be compared with
        {"carriers": np.array([-1])},
        {"across": np.array([[2, 5], [4, -7]])},
        {"legs": np.array([[2, 3, 4], [5, 6, 9]])},
        {"head": 9},
    ],
)
def test_joints_that_a_skeleton_does_not_have_are_refused(wrong: dict[str, object]) -> None:
    rig = some_rig()._replace(**wrong)
    at, q = np.zeros((4, 9, 3)), np.ones((4, 9, 4))
    with pytest.raises(ArrayError, match="ml_check_measure"):
        measure_series(rig, 50.0, at, q, q, new_series(rig, 4))
