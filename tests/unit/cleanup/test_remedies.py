from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup import footskate
from motionloom.cleanup.cleanup_report import Cleanup
from motionloom.cleanup.footskate import (
    MOST_M,
    STEP_M,
    STEP_OVER_M,
    clean_until_sound,
    lifted,
    raised,
)
from motionloom.cleanup.legs import Pose
from motionloom.features.checks.verification import FailedCheck, Verification

FPS = 60.0


def drag(joint: str, frame: int) -> FailedCheck:
    return FailedCheck("dragged foot", joint, frame, 30.0, 10.0, "cm")


def dragging() -> tuple[np.ndarray, np.ndarray]:
    """A left ball that stands, moves along the floor from frame 20 to 40, and stands again."""
    points = np.zeros((60, 4, 3))
    points[:, 1, 0] = np.interp(np.arange(60), [20, 40], [0.0, 0.4])
    held = np.zeros((60, 4), dtype=bool)
    held[:20, 1] = held[41:, 1] = True
    return points, held


def test_a_dragged_foot_is_lifted_between_its_contacts() -> None:
    points, held = dragging()
    lifts = lifted(np.zeros((60, 2)), [drag("left toe", 40)], points, held, FPS)
    assert lifts is not None
    assert lifts[30, 0] == pytest.approx(STEP_M)
    assert not lifts[held[:, 1], 0].any()
    assert not lifts[:, 1].any()
    assert np.abs(np.diff(lifts[:, 0], n=2)).max() * FPS**2 < 15.0  # m/s2: no kick


def test_a_foot_is_lifted_only_so_far() -> None:
    points, held = dragging()
    lifts = np.zeros((60, 2))
    for _ in range(10):
        higher = lifted(lifts, [drag("left toe", 40)], points, held, FPS)
        if higher is None:
            break
        lifts = higher
    else:
        pytest.fail("a foot is lifted without end")
    assert lifts.max() == pytest.approx(MOST_M)


def slip(joint: str, frame: int) -> FailedCheck:
    return FailedCheck("foot slip", joint, frame, 6.0, 2.5, "cm")


def test_a_free_foot_that_slips_makes_a_step_between_its_contacts() -> None:
    points, held = dragging()
    points[:, :2, 1] = 0.01  # the other foot stands a centimetre lower
    lifts = lifted(np.zeros((60, 2)), [slip("left foot", 32)], points, held, FPS)
    assert lifts is not None
    assert lifts[30, 0] == pytest.approx(STEP_OVER_M - 0.01)
    assert not lifts[held[:, 1], 0].any()
    assert not lifts[:, 1].any()


@pytest.mark.parametrize("each", [slip("left foot", 10), slip("both feet", 30)])
def test_no_step_where_the_foot_is_held_or_none_is_named(each: FailedCheck) -> None:
    points, held = dragging()
    assert lifted(np.zeros((60, 2)), [each], points, held, FPS) is None


def test_other_failures_lift_nothing() -> None:
    points, held = dragging()
    other = FailedCheck("sliding contact", "left toe", 40, 9.0, 4.0, "cm")
    assert lifted(np.zeros((60, 2)), [other], points, held, FPS) is None


def test_clean_up_lifts_a_swing_that_its_check_calls_dragged_and_keeps_contacts() -> None:
    clip = ml.synthetic.clip("walk", duration_s=3.0, fps=FPS)
    body = BodyMap.guess(clip.motion.skeleton)
    stances = clip.footplants.intervals()["left_toe"]
    swing = (stances[1][1] + stances[2][0]) // 2
    tries: list[Cleanup] = []

    def verified(cleanup: Cleanup, _: Pose) -> Verification:
        tries.append(cleanup)
        failed = () if len(tries) > 1 else (drag("left toe", swing),)
        return Verification(not failed, failed)

    cleanup, found = clean_until_sound(clip.motion, clip.footplants, verified, body=body)
    assert found.passed
    assert len(tries) == 2
    heights = [foot_points(each.motion, body=body)[:, 1, 1] for each in tries]
    assert heights[1][swing - 1] - heights[0][swing - 1] == pytest.approx(STEP_M, abs=2e-3)
    assert np.array_equal(cleanup.footplants.planted, tries[0].footplants.planted)
    standing = cleanup.footplants.planted[:, 1]
    assert np.abs(heights[1] - heights[0])[standing].max() < 1e-3


def passing(height: float) -> np.ndarray:
    """A left ball that stands at 0, passes 0.4 m at a height, and stands again."""
    points, held = dragging()
    points[..., 1] = 1.0
    points[:, 1, 1] = height * ~held[:, 1]
    return points


def test_a_foot_that_passes_lower_than_it_came_is_raised_by_what_it_lost() -> None:
    _, held = dragging()
    lifts = raised(passing(0.025), passing(0.012), np.zeros(4), held, FPS)
    assert lifts is not None
    assert lifts[30, 0] == pytest.approx(0.013)
    assert not lifts[held[:, 1], 0].any()
    assert not lifts[:, 1].any()


@pytest.mark.parametrize(
    ("before", "after"),
    [(0.012, 0.012), (0.012, 0.025), (0.08, 0.06), (0.004, 0.003)],
    ids=["as before", "higher", "far over the floor", "as low as before"],
)
def test_other_feet_are_not_raised(before: float, after: float) -> None:
    _, held = dragging()
    assert raised(passing(before), passing(after), np.zeros(4), held, FPS) is None


def test_clean_up_raises_feet_that_come_to_lower_contacts(monkeypatch) -> None:
    """Steps that are captured too high are held lower, and feet would sweep the floor before."""
    clip = ml.synthetic.clip("walk")
    planted = clip.footplants.planted
    asked: list[np.ndarray | None] = []

    def spy(before, after, floors, held, rate):
        lower = np.array(before)
        lower[~planted] += [0.0, -0.5 * (lower[~planted, 1].mean() - floors.mean()), 0.0]
        asked.append(raised(before, np.where(planted[..., None], after, lower), floors, held, rate))
        return asked[-1]

    plain = ml.clean_footskate(clip.motion, clip.footplants)
    monkeypatch.setattr(footskate, "raised", spy)
    cleanup = ml.clean_footskate(clip.motion, clip.footplants)
    assert len(asked) == 1 and asked[0] is not None
    rise = foot_points(cleanup.motion)[..., 1] - foot_points(plain.motion)[..., 1]
    assert rise.max() == pytest.approx(asked[0].max(), abs=2e-3)
    held = cleanup.footplants.planted & plain.footplants.planted
    assert np.abs(rise[held]).max() < 1e-6
    assert cleanup.verification.passed


def test_a_foot_that_is_free_for_a_moment_is_not_raised() -> None:
    _, held = dragging()
    held[:27] = held[34:] = [False, True, False, False]
    assert raised(passing(0.025), passing(0.012), np.zeros(4), held, FPS) is None
