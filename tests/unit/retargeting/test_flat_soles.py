"""Which way a foot is flat, where only a clip shows it; soles of the result on one floor."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import FootOffsets, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.body.neutral import RestStance, _off_tiptoe, _up_at_rest, neutral_stance
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.retargeting.retarget import retarget
from motionloom.rotation import quat

from .bodies import along_x, longer, re_rigged, with_axes

X = np.array([1.0, 0.0, 0.0])
TIPTOE = np.radians(25.0)
SAME_DEG = 2.0
LEVEL_M = 0.002
N_FRAMES, FLAT_FROM = 120, 90


def fall_deg(foot: FootOffsets) -> float:
    """How steeply the foot falls from ankle to ball when it is flat."""
    return float(np.degrees(np.arcsin(-(foot.ball @ foot.up) / np.linalg.norm(foot.ball))))


def standing() -> Motion:
    """Somebody who stands still in the rest pose, 2 seconds."""
    walk = synthetic.clip("walk").motion
    root = np.tile(walk.root_positions[0], (N_FRAMES, 1))
    quats = np.tile(walk.skeleton.rest_quats, (N_FRAMES, 1, 1))
    return walk.replace(root_positions=root, local_quats=quats, fps=60.0)


def on_tiptoe(flat: tuple[str, ...]) -> Motion:
    """The same on tiptoe; feet of the sides in ``flat`` come down at the end."""
    still = standing()
    quats = np.array(still.local_quats)
    for side in ("Left", "Right"):
        up_to = FLAT_FROM if side in flat else N_FRAMES
        quats[:up_to, still.skeleton.index(f"{side}Foot")] = quat.from_axis_angle(X, TIPTOE)
    return still.replace(local_quats=quats)


@pytest.mark.parametrize("flat", [("Left", "Right"), ("Left",), ("Right",)])
def test_the_flattest_stance_of_either_foot_is_flat(flat: tuple[str, ...]) -> None:
    clip = on_tiptoe(flat)
    body = BodyMap.guess(clip.skeleton)
    own = along_x(clip.skeleton)
    rig = with_axes(clip.skeleton, own, keep_rest=False)
    planted = np.ones((N_FRAMES, 4), dtype=bool)
    true = neutral_stance(clip.skeleton, body).feet
    found = neutral_stance(rig, body, re_rigged(clip, rig, own), planted).feet
    for foot, expected in zip(found, true, strict=True):
        assert abs(fall_deg(foot) - fall_deg(expected)) < SAME_DEG


def test_contacts_of_moving_feet_do_not_overrule_a_standing_rest_pose() -> None:
    # Walking in place: the feet are labelled as planted, tilted, and slide at 1 m/s.
    clip = on_tiptoe(())
    root = np.array(clip.root_positions)
    root[:, 2] += np.arange(N_FRAMES) / clip.fps
    sliding = clip.replace(root_positions=root)
    body = BodyMap.guess(clip.skeleton)
    planted = np.ones((N_FRAMES, 4), dtype=bool)
    rest = neutral_stance(clip.skeleton, body).feet
    for foot, expected in zip(
        neutral_stance(clip.skeleton, body, sliding, planted).feet, rest, strict=True
    ):
        assert abs(fall_deg(foot) - fall_deg(expected)) < SAME_DEG


def test_feet_that_are_drawn_differently_come_out_on_one_floor() -> None:
    # The source's left ankle is drawn 2 cm higher; both of its soles are on the floor.
    still = standing()
    skeleton = still.skeleton
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.index("LeftFoot"), 1] += 0.02
    offsets[skeleton.index("LeftToeBase"), 1] -= 0.02
    source = still.replace(skeleton=dataclasses.replace(skeleton, offsets=offsets))
    plants = Footplants(np.ones((N_FRAMES, 4), dtype=bool))
    points = foot_points(source)[:, [1, 3], 1]
    assert np.ptp(points, axis=1).max() < LEVEL_M
    made = retarget(source, longer(skeleton, UpLeg=1.1), footplants=plants)
    assert np.ptp(foot_points(made)[:, [1, 3], 1], axis=1).max() < LEVEL_M


@pytest.mark.parametrize(("longer_by", "is_shared"), [(0.01, True), (0.03, False), (-0.03, False)])
def test_only_feet_of_one_length_are_flat_at_one_angle(longer_by: float, is_shared: bool) -> None:
    # Both feet are believed to be flat as they are on tiptoe; only the left one ever comes down.
    clip = on_tiptoe(("Left",))
    rest = neutral_stance(clip.skeleton, BodyMap.guess(clip.skeleton)).feet
    back = quat.conjugate(quat.from_axis_angle(X, TIPTOE))
    steep = [dataclasses.replace(foot, up=quat.rotate(back, foot.up)) for foot in rest]
    steep[1] = dataclasses.replace(steep[1], ball=(1.0 + longer_by) * steep[1].ball)
    stands = np.ones(N_FRAMES, dtype=bool)
    left, right = _off_tiptoe(clip, (steep[0], steep[1]), (stands, stands), 1.7)
    assert fall_deg(left) == pytest.approx(fall_deg(rest[0]), abs=SAME_DEG)
    if is_shared:
        assert fall_deg(right) == pytest.approx(fall_deg(rest[1]), abs=SAME_DEG)
    else:
        assert right is steep[1]
    assert left.up @ left.forward == pytest.approx(0.0, abs=1e-12)
    assert left.ball.tolist() == rest[0].ball.tolist()
    # A foot that hardly ever stands says nothing: 11 frames are less than 0.2 s.
    for n, is_believed in ((11, False), (12, True)):
        briefly = np.zeros(N_FRAMES, dtype=bool)
        briefly[-n:] = True
        alone, _ = _off_tiptoe(clip, (steep[0], steep[1]), (briefly, ~stands), 1.7)
        assert (alone is not steep[0]) is is_believed


@pytest.mark.parametrize(
    ("spread_deg", "roll_deg", "by_upright_legs"),
    [
        (20.0, 0.0, True),  # in line with a spread leg
        (20.0, 5.0, True),
        (20.0, 7.0, False),  # rolled by more than 0.3 of the spread
        (-20.0, -5.0, True),  # the other leg
        (4.0, 0.0, False),  # the leg is as good as upright
        (0.0, 10.0, False),
    ],
)
def test_a_foot_in_line_with_a_spread_leg_is_flat_when_the_leg_is_upright(
    spread_deg: float, roll_deg: float, by_upright_legs: bool
) -> None:
    spread, roll = np.radians([spread_deg, roll_deg])
    skeleton = Skeleton(
        ("hip", "knee", "ankle"), np.array([-1, 0, 1]), [[0, 0, 0], [0, -0.4, 0], [0, -0.4, 0]]
    )
    shank = np.array([np.sin(spread), -np.cos(spread), 0.0])
    positions = np.array([[0.0, 0.8, 0.0], [0.0, 0.4, 0.0], [0.0, 0.4, 0.0] + 0.4 * shank])
    # With the legs upright the foot is not turned; at rest it is by 30 degrees, another up.
    pitch = quat.from_axis_angle(X, np.radians(30.0))
    neutral = np.tile(quat.IDENTITY, (3, 1))
    quats = np.tile(pitch, (3, 1))
    stance = RestStance(skeleton, BodyMap(), positions, quats, neutral, True)
    ball = np.array([-0.06 * np.tan(roll), -0.06, 0.06])
    away = np.zeros(3)
    foot = FootOffsets(2, None, away, ball, away, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0, 1]))
    up = _up_at_rest(stance, foot, 1.7)
    expected = [0.0, 1.0, 0.0] if by_upright_legs else quat.to_matrix(pitch).T[:, 1]
    assert up == pytest.approx(expected, abs=1e-12)


def test_a_foot_that_is_not_under_its_ankle_at_rest_shows_nothing() -> None:
    skeleton = Skeleton(
        ("hip", "knee", "ankle"), np.array([-1, 0, 1]), [[0, 0, 0], [0, -0.4, 0], [0, -0.4, 0]]
    )
    positions = np.array([[0.0, 0.8, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.0]])
    still = np.tile(quat.IDENTITY, (3, 1))
    stance = RestStance(skeleton, BodyMap(), positions, still, still, True)
    up, ahead, away = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.zeros(3)
    # At 1.7 m a flat ankle is 3.2 cm over the ball; 0.97 cm of that are enough.
    for ball, is_flat in (
        ([0.0, -0.0098, 0.1], True),
        ([0.0, -0.0096, 0.1], False),
        ([0.0, 0.02, 0.1], False),
        ([0.0, -0.096, 0.03], True),
        ([0.0, -0.1, 0.02], False),  # toes that point down: a sine of 0.98
    ):
        foot = FootOffsets(2, None, away, np.array(ball), away, up, ahead)
        found = _up_at_rest(stance, foot, 1.7)
        assert (found is not None) is is_flat
        assert found is None or found.tolist() == [0.0, 1.0, 0.0]
