from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing import twist
from motionloom.splicing.twist import lost_twist, twists

SWAY = np.radians(3.0)
"""How far the shoulders of a still stander may turn."""


def wound_up(motion: ml.Motion, angle: float) -> ml.Motion:
    """The motion with its shoulders wound back and forth by so much once."""
    body = ml.BodyMap.guess(motion.skeleton)
    half = 0.5 * angle * np.sin(np.linspace(0.0, 2.0 * np.pi, motion.n_frames))
    turn = np.stack([np.cos(half), 0.0 * half, np.sin(half), 0.0 * half], axis=-1)
    quats = np.array(motion.local_quats)
    quats[:, body.spine[0]] = quat.multiply(turn, quats[:, body.spine[0]])
    return motion.replace(local_quats=quats)


@pytest.fixture(scope="module")
def stand() -> ml.Motion:
    return ml.synthetic.clip("stand", duration_s=2.0).motion


def test_a_turn_of_the_spine_is_the_twist_of_the_shoulders(stand) -> None:
    body = ml.BodyMap.guess(stand.skeleton)
    found = twists(wound_up(stand, 0.5).world_positions(), body)
    assert np.ptp(found) == pytest.approx(1.0, abs=2 * SWAY)
    assert found[stand.n_frames // 4] > 0.4


def test_twist_does_not_care_where_the_body_stands_or_faces(stand) -> None:
    body = ml.BodyMap.guess(stand.skeleton)
    wound = wound_up(stand, 0.5)
    moved = ml.move(wound, heading=2.5, x=4.0, z=-1.0)
    apart = twists(moved.world_positions(), body) - twists(wound.world_positions(), body)
    assert np.abs(apart).max() < 1e-9


def test_a_throw_that_loses_its_wind_up_is_told_with_a_remedy_that_holds(stand) -> None:
    throw = wound_up(stand, 0.6)
    walk = ml.synthetic.clip("walk", duration_s=2.0).motion
    body = ml.BodyMap.guess(walk.skeleton)
    made = ml.splice(throw, walk)
    (said,) = [note for note in made.notes if "twists" in note]
    assert "method='time'" in said
    kept = ml.splice(throw, walk, method="time")
    assert not lost_twist(throw.world_positions(), kept.motion.world_positions(), body)
    assert np.ptp(twists(kept.motion.world_positions(), body)) > 1.0


def test_an_action_that_hardly_twists_is_not_told() -> None:
    carry, walk = (ml.synthetic.clip(k, duration_s=2.0).motion for k in ("carry", "walk"))
    assert not [note for note in ml.splice(carry, walk).notes if "twists" in note]


FOUR = ml.BodyMap(left_shoulder=0, right_shoulder=1, left_hip=2, right_hip=3)


def trunk(angle: float, bend: float = 0.0, shift: float = 0.0) -> np.ndarray:
    """Shoulders turned by an angle about a trunk that bends forward, and hips. (1, 4, 3)."""
    across = 0.4 * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    top = np.array([shift, np.cos(bend), np.sin(bend)])
    hip = np.array([0.2, 0.0, 0.0])
    return np.stack([top + 0.5 * across, top - 0.5 * across, hip, -hip])[None]


@pytest.mark.parametrize("angle", [0.0, 0.3, -0.7, 1.2, 2.0, -2.5])
def test_the_twist_is_the_turn_of_the_shoulders_to_the_left(angle) -> None:
    assert twists(trunk(angle), FOUR) == pytest.approx([angle], abs=1e-12)


def test_a_trunk_bent_by_more_than_45_degrees_has_no_twist() -> None:
    assert twists(trunk(0.3, bend=np.radians(44.9)), FOUR) == pytest.approx([0.3])
    assert twists(trunk(0.3, bend=np.radians(45.1)), FOUR).tolist() == [0.0]
    assert twists(trunk(0.3, bend=np.radians(-45.1)), FOUR).tolist() == [0.0]
    assert twists(trunk(0.3, shift=0.99), FOUR) == pytest.approx([0.3])
    assert twists(trunk(0.3, shift=1.01), FOUR).tolist() == [0.0]
    lying = np.concatenate([trunk(0.3), trunk(0.3, bend=1.0), trunk(-0.2)])
    assert twists(lying, FOUR) == pytest.approx([0.3, 0.0, -0.2])


def test_a_twist_that_is_lost_is_noted_above_the_limit_and_not_at_it(monkeypatch) -> None:
    action = np.concatenate([trunk(0.0), trunk(0.5), trunk(-0.25)])
    made = np.concatenate([trunk(0.1)] * 3)
    lost = float(np.ptp(twists(action, FOUR)))
    monkeypatch.setattr(twist, "MATTERS", lost)
    assert lost_twist(action, made, FOUR) == []
    monkeypatch.setattr(twist, "MATTERS", np.nextafter(lost, 0.0))
    (note,) = lost_twist(action, made, FOUR)
    assert "through 43 degrees, the splice through 0" in note
