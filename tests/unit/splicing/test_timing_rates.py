"""Pace: how fast bones swing, and how fast the action may run for it."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.timing import (
    CAP,
    FASTEST,
    MOST,
    SLOWED,
    SLOWEST,
    _fastest_rate,
    _start_of_bone,
    _swings,
    _turns,
    arm_speeds,
    eased,
    rate_caps,
    unrushed,
)

STAND = ml.synthetic.clip("stand", duration_s=1.0).motion
BODY = ml.BodyMap.guess(STAND.skeleton)


def rod(length, angles):
    """A bone that a root turns about z, from upright. Joints: root, tip."""
    skeleton = ml.Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, length, 0]])
    quats = np.tile(quat.IDENTITY, (len(angles), 2, 1))
    quats[:, 0] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.asarray(angles))
    return ml.Motion(skeleton, np.zeros((len(angles), 3)), quats, fps=60.0)


def test_a_bone_swings_by_the_angle_between_its_directions():
    angles = [0.0, 0.3, 0.1, 0.1, 0.1 + np.pi]
    steps = [0.3, 0.2, 0.0, np.pi]
    assert _swings(rod(0.4, angles), [1], ml.BodyMap())[:, 0] == pytest.approx(steps, abs=1e-6)
    assert _turns(rod(0.4, angles), [0, 1]) == pytest.approx(
        np.stack([steps, np.zeros(4)], axis=-1), abs=1e-7
    )


def test_a_bone_shorter_than_a_centimetre_swings_less():
    # A millimetre turned over moves by two: a fifth of a centimetre.
    (found,) = _swings(rod(1e-3, [0.0, np.pi]), [1], ml.BodyMap())[0]
    assert found == pytest.approx(2.0 * np.arcsin(0.1))


def test_a_bone_starts_at_a_joint_with_a_role_or_far_enough():
    offsets = [[0, 0, 0], [0, 0.3, 0], [0, 0.2, 0], [0, 0, 0], [0, 0, 0]]
    arm = ml.Skeleton(["hips", "shoulder", "elbow", "twist", "wrist"], [-1, 0, 1, 2, 3], offsets)
    assert [_start_of_bone(arm, joint, {1, 2, 4}) for joint in (4, 3, 2, 1)] == [2, 2, 1, 0]
    assert _start_of_bone(arm, 4, set()) == 1
    assert _start_of_bone(arm, 4, {3}) == 3


def test_the_arm_joint_that_turns_most_counts():
    quats = np.array(STAND.local_quats)
    quats[:] = quats[:1]
    for joint, angle in ((BODY.left_elbow, 0.2), (BODY.right_wrist, 0.5), (BODY.head, 1.5)):
        turn = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), angle)
        quats[30:, joint] = quat.multiply(quats[30:, joint], turn)
    found = arm_speeds(STAND.replace(local_quats=quats), BODY)
    assert len(found) == STAND.n_frames - 1
    assert found[29] == pytest.approx(0.5)
    assert np.abs(np.delete(found, 29)).max() < 1e-6


@pytest.mark.parametrize("ease", [1, 2, 4])
def test_the_pace_keeps_every_joint_below_its_limit_in_the_frames_around(ease):
    rng = np.random.default_rng(1)
    turns, own = rng.uniform(0.02, 0.2, size=(12, 3)), np.array([0.08, 0.15, 0.1])
    found = _fastest_rate(turns, own, ease)
    assert len(found) == 12
    for k, pace in enumerate(found):
        around = turns[max(0, k - ease) : k + ease + 1].max(axis=0)
        wanted = min(MOST * limit / turn for limit, turn in zip(own, around, strict=True))
        assert pace == pytest.approx(min(max(wanted, SLOWEST), FASTEST))


def test_a_still_arm_may_run_as_fast_as_anything():
    assert _fastest_rate(np.zeros((3, 2)), np.ones(2), 1).tolist() == [FASTEST] * 3
    assert _fastest_rate(np.full((3, 2), 9.0), 0.1, 1).tolist() == [SLOWEST] * 3


@pytest.mark.parametrize("width", [1, 2, 5])
def testeased_times_are_averages_and_keep_both_ends(width):
    times = np.cumsum(np.random.default_rng(2).uniform(0.5, 2.0, size=9))
    found = eased(times, width)
    straight = np.arange(9.0) * 1.3 + 4.0
    assert eased(straight, width) == pytest.approx(straight)
    assert found[[0, -1]] == pytest.approx(times[[0, -1]])
    bell = np.sin(np.pi * np.arange(1, 2 * width + 2) / (2 * width + 2)) ** 2

    # Before the first and after the last frame, times go on point by point as in a mirror.
    def at(k):
        if k < 0:
            return 2.0 * times[0] - times[-k]
        return times[k] if k < 9 else 2.0 * times[8] - times[16 - k]

    for k in range(9):
        around = [at(n) for n in range(k - width, k + width + 1)]
        assert found[k] == pytest.approx(np.dot(bell, around) / bell.sum())


def jerked(angle):
    """A body that stands still and turns an elbow by an angle once, at frame 30."""
    quats = np.tile(STAND.local_quats[:1], (STAND.n_frames, 1, 1))
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    quats[30:, BODY.left_elbow] = quat.multiply(turn, quats[30:, BODY.left_elbow])
    return STAND.replace(
        local_quats=quats, root_positions=np.tile(STAND.root_positions[:1], (STAND.n_frames, 1))
    )


def test_a_pace_is_capped_so_that_the_arm_is_as_fast_as_in_the_action():
    made, upper = jerked(0.28), jerked(0.25)
    still = jerked(0.0)
    frames = np.arange(STAND.n_frames) * 0.9
    # At 0.9 of its pace frame 30 of the splice shows frame 27 of the action.
    wrist = [BODY.left_wrist]
    over = _swings(made, wrist, BODY).max() / _swings(upper, wrist, BODY).max()
    assert over > 1.05
    caps = rate_caps(made, frames, upper, still, BODY)
    assert caps is not None
    assert len(caps) == upper.n_frames - 1
    capped = np.flatnonzero(np.isfinite(caps))
    assert capped.tolist() == list(range(26 - 6, 26 + 7))  # frame 29 x 0.9, and 0.1 s around
    assert caps[capped] == pytest.approx(np.full(13, CAP * 0.9 / over))
    assert rate_caps(upper, frames, upper, still, BODY) is None
    assert rate_caps(made, frames, still, made, BODY) is None
    # Much too fast: slowed as far as it may be.
    caps = rate_caps(jerked(1.5), frames, upper, still, BODY)
    assert caps is not None
    assert np.unique(caps).tolist() == [SLOWED, np.inf]


def test_a_hurried_action_that_ends_before_is_not_read_beyond_its_end():
    upper, still = jerked(2.0), jerked(0.0)
    last = upper.n_frames - 1.0
    frames = np.concatenate([np.arange(0.0, last - 1.0, 1.9), last - 0.01 * np.arange(8)[::-1]])
    found = unrushed(frames, upper, still, BODY, sure=np.zeros(len(frames)))
    assert found is not frames
    assert found[0] == frames[0]
    assert found.max() <= last
    assert np.diff(found).min() > 0.0
