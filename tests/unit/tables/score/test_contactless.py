"""Scores of motions that never stand, and of bodies without feet."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.score.score import peak_accelerations, peaks_of, score, score_motion

FPS = 60.0


@pytest.fixture(scope="module")
def rope():
    """A chain of joints without any role of a body, that swings."""
    names = tuple(f"bead{k}" for k in range(5))
    offsets = np.array([[0.0, 1.0, 0.0], *([[0.0, -0.2, 0.0]] * 4)])
    skeleton = ml.Skeleton(names, np.array([-1, 0, 1, 2, 3]), offsets)
    time = np.arange(60) / FPS
    angle = 0.3 * np.sin(2.0 * np.pi * time)
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (60, 5, 1))
    quats[:, 0] = np.stack(
        [np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0 * time, 0.0 * time], axis=1
    )
    return ml.Motion(skeleton, np.zeros((60, 3)), quats, FPS)


def without_legs(motion):
    """The upper body of a motion."""
    body, skeleton = ml.BodyMap.guess(motion.skeleton), motion.skeleton
    dropped = {body.left_hip, body.right_hip}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in dropped:
            dropped.add(joint)
    kept = [j for j in range(skeleton.n_joints) if j not in dropped]
    parents = np.array([kept.index(p) if p >= 0 else -1 for p in skeleton.parents[kept].tolist()])
    names = tuple(skeleton.names[j] for j in kept)
    upper = ml.Skeleton(names, parents, skeleton.offsets[kept], skeleton.rest_quats[kept])
    return ml.Motion(upper, motion.root_positions, motion.local_quats[:, kept], motion.fps)


def calm(peaks):
    return float(1.0 / (1.0 + np.exp(0.2 * (peaks.max() - 20.0))))


def test_accelerations_are_those_of_a_parabola():
    time = np.arange(30) / FPS
    positions = np.zeros((30, 2, 3))
    positions[:, 1, 1] = 0.5 * 7.0 * time**2
    assert peaks_of(positions, FPS) == pytest.approx([0.0, 7.0])


def test_a_body_without_feet_is_scored_by_its_accelerations(rope):
    found = score(rope, chance=calm)
    assert found.naturalness == calm(peak_accelerations(rope))
    assert found.total == pytest.approx(12.0 * (1.0 - found.naturalness))
    assert found.natural
    assert (found.foot_plant, found.zmp, found.zmp_high, found.zmp_mean) == (None,) * 4
    quats = np.array(rope.local_quats)
    quats[30:, 0] = -quats[30:, 0][:, [1, 0, 2, 3]]
    assert not score(rope.replace(local_quats=quats), chance=calm).natural


def test_arms_of_an_upper_body_are_not_taken_for_legs():
    upper = without_legs(ml.synthetic.clip("walk").motion)
    body = ml.BodyMap.guess(upper.skeleton)
    assert body.left_ankle is None
    assert upper.skeleton.names[body.left_wrist] == "LeftHand"
    assert score(upper, chance=calm).naturalness == calm(peak_accelerations(upper))
    with pytest.raises(ArrayError, match="`chance` to score it"):
        score(upper)


def test_without_a_regression_it_is_refused_in_words(rope):
    with pytest.raises(ArrayError, match="`chance` to score it"):
        score(rope)
    with pytest.raises(ArrayError, match="`chance` must return"):
        score(rope, chance=lambda _: 2.0)


def test_a_motion_that_never_stands_is_scored_so_and_one_that_stands_by_its_contacts():
    walk = ml.synthetic.clip("walk")
    nothing = ml.Footplants(np.zeros((walk.motion.n_frames, 4), dtype=bool))
    flies = score_motion(walk.motion, nothing, chance=lambda _: 0.75)
    assert (flies.total, flies.naturalness) == (3.0, 0.75)
    stands = score_motion(walk.motion, walk.footplants, chance=lambda _: 0.75)
    assert stands == score_motion(walk.motion, walk.footplants)


def test_too_few_frames_have_no_accelerations():
    with pytest.raises(ArrayError, match="at least 3 frames"):
        peaks_of(np.zeros((2, 1, 3)), FPS)


@pytest.mark.parametrize("chance", [3, "calm", np.ones(3)])
def test_a_chance_that_is_no_function_is_refused_also_where_feet_stand(chance):
    with pytest.raises(ArrayError, match="`chance` must be a function"):
        score(ml.synthetic.clip("walk", duration_s=1.0), chance=chance)
