from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing import lean
from motionloom.splicing.lean import kept_twist, lost_twist, twists
from motionloom.splicing.posture import Posed

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


@pytest.mark.parametrize("kind", ["stand", "walk"])
def test_a_throw_keeps_its_wind_up_on_the_twist_of_the_steps(kind) -> None:
    upper = ml.synthetic.clip(kind, duration_s=2.0).motion
    throw = wound_up(upper, 0.5)
    walk = ml.synthetic.clip("walk", duration_s=2.0).motion
    body = ml.BodyMap.guess(walk.skeleton)
    made = ml.splice(throw, walk)
    assert not [note for note in made.notes if "twists" in note]
    n = made.motion.n_frames
    added = twists(made.motion.world_positions(), body) - twists(walk.world_positions()[:n], body)
    wound = np.ptp(twists(throw.world_positions(), body))
    assert np.ptp(added) > 0.75 * wound
    plain = ml.splice(throw, walk, method="time+space").motion
    lost = np.ptp(twists(plain.world_positions(), body) - twists(walk.world_positions()[:n], body))
    assert lost < 0.3 * wound


def posed(angles: np.ndarray) -> Posed:
    """Trunks with these twists; nothing else of a motion is looked at but its rate."""
    still = ml.synthetic.clip("stand", duration_s=2.0).motion[: len(angles)]
    positions = np.concatenate([trunk(angle) for angle in angles])
    return Posed(still, positions, still.world_quats())


def test_a_twist_of_the_gait_is_not_added_twice_and_a_large_one_is_kept() -> None:
    beat = np.linspace(0.0, 4.0 * np.pi, 120, endpoint=False)
    gait, throw = 0.1 * np.sin(beat), 0.5 * np.sin(0.5 * beat)
    walks = {"walks": True}
    assert np.abs(kept_twist(posed(0.8 * gait), posed(gait), FOUR, **walks)).max() < 1e-6
    assert np.abs(kept_twist(posed(0.05 * np.cos(beat)), posed(gait), FOUR, **walks)).max() < 1e-6
    found = kept_twist(posed(throw + gait), posed(gait), FOUR, **walks)
    assert np.abs(found - throw)[5:-5].max() < 0.06  # large twists are held below a limit
    assert np.corrcoef(found, throw)[0, 1] > 0.99


def test_hips_that_pivot_on_feet_that_stay_turn_the_shoulders_too(stand) -> None:
    body = ml.BodyMap.guess(stand.skeleton)
    angles = np.radians(18.0) * np.sin(np.linspace(0.0, 4.0 * np.pi, stand.n_frames))
    quats = np.array(stand.local_quats)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    quats[:, 0] = quat.multiply(turn, quats[:, 0])
    pivoting, still = Posed.of(stand.replace(local_quats=quats)), Posed.of(stand)
    assert np.ptp(kept_twist(pivoting, still, body, walks=False)) > np.radians(18.0)
    assert np.ptp(kept_twist(pivoting, still, body, walks=True)) < np.radians(1.0)


def test_an_action_that_hardly_twists_is_not_reported() -> None:
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
    monkeypatch.setattr(lean, "MATTERS", lost)
    assert lost_twist(action, made, FOUR) == []
    monkeypatch.setattr(lean, "MATTERS", np.nextafter(lost, 0.0))
    (note,) = lost_twist(action, made, FOUR)
    assert "through 43 degrees, the splice through 0" in note
