import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.motion.motion import solve_limb
from motionloom.rotation import quat
from tests.oracles import limbs as plain

RNG = np.random.Generator(np.random.PCG64(5))
N = 300
TOP = RNG.normal(size=(N, 3))
MIDDLE = TOP + RNG.normal(size=(N, 3))
END = MIDDLE + RNG.normal(size=(N, 3))
HINGE = RNG.normal(size=(N, 3))
UPPER = np.linalg.norm(MIDDLE - TOP, axis=-1)
LOWER = np.linalg.norm(END - MIDDLE, axis=-1)


def reachable_targets():
    direction = RNG.normal(size=(N, 3))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    low, high = np.abs(UPPER - LOWER) + 0.01, UPPER + LOWER - 0.01
    return TOP + direction * (low + RNG.random(N) * (high - low))[:, None]


def test_the_kernel_matches_its_plain_form():
    target = TOP + 2.0 * RNG.normal(size=(N, 3))
    ours, wanted = (f(TOP, MIDDLE, END, target, HINGE) for f in (solve_limb, plain.solve_limb))
    for name in ("q_upper", "q_lower", "middle", "end", "miss"):
        assert np.abs(getattr(ours, name) - getattr(wanted, name)).max() < 1e-9


def test_a_target_in_reach_is_met_with_rigid_bones():
    target = reachable_targets()
    s = solve_limb(TOP, MIDDLE, END, target, HINGE)
    assert np.abs(s.end - target).max() < 1e-9
    assert np.abs(np.linalg.norm(s.middle - TOP, axis=-1) - UPPER).max() < 1e-9
    assert np.abs(np.linalg.norm(s.end - s.middle, axis=-1) - LOWER).max() < 1e-9


def test_the_turns_carry_the_bones_to_the_returned_places():
    s = solve_limb(TOP, MIDDLE, END, reachable_targets(), HINGE)
    assert np.abs(TOP + quat.rotate(s.q_upper, MIDDLE - TOP) - s.middle).max() < 1e-9
    assert np.abs(s.middle + quat.rotate(s.q_lower, END - MIDDLE) - s.end).max() < 1e-9


def test_a_target_where_the_end_is_already_changes_nothing():
    s = solve_limb(TOP, MIDDLE, END, END, HINGE)
    assert quat.angle_between(s.q_upper, quat.IDENTITY).max() < 1e-6
    assert quat.angle_between(s.q_lower, quat.IDENTITY).max() < 1e-6


def test_out_of_reach_stretches_towards_the_target_and_returns_how_much_is_missing():
    far = TOP + 10.0 * (END - TOP) / np.linalg.norm(END - TOP, axis=-1, keepdims=True)
    s = solve_limb(TOP, MIDDLE, END, far, HINGE)
    expected = 10.0 - np.minimum(UPPER + LOWER, 10.0)
    assert np.abs(s.miss - expected).max() < 2e-4


def test_a_straight_limb_bends_about_the_hinge():
    top, middle = np.zeros((1, 3)), np.array([[0.0, -0.4, 0.0]])
    s = solve_limb(top, middle, 2 * middle, np.array([[0.0, -0.6, 0.0]]), np.array([[1.0, 0, 0]]))
    assert s.miss[0] < 1e-9
    assert abs(s.middle[0, 0]) < 1e-9  # bends in the plane across the hinge
    assert abs(s.middle[0, 2]) > 0.1


@pytest.mark.parametrize("guide", ["hinge", "pole"])
def test_legs_that_have_no_direction_stay_finite(guide):
    target, end = reachable_targets()[:20], np.array(END[:20])
    target[3], end[5] = TOP[3], MIDDLE[5]  # the ankle in the hip, a bone without length
    solved = solve_limb(TOP[:20], MIDDLE[:20], end, target, **{guide: HINGE[:20]})
    for name in ("q_upper", "q_lower", "middle", "end", "miss"):
        assert np.isfinite(getattr(solved, name)).all()
    assert np.abs(np.linalg.norm(solved.q_upper, axis=-1) - 1.0).max() < 1e-12
    assert np.abs(np.linalg.norm(solved.q_lower, axis=-1) - 1.0).max() < 1e-12


@pytest.mark.parametrize("short", ["thigh", "shank"])
def test_a_leg_with_a_bone_of_no_length_stays_as_it_is(short):
    hip, ankle = np.array([[0.1, 0.9, 0.2]]), np.array([[0.2, 0.5, 0.3]])
    knee = hip if short == "thigh" else ankle
    target, pole = np.array([[0.3, 0.4, 0.5]]), np.array([[0.0, 0.0, 1.0]])
    s = solve_limb(hip, knee, ankle, target, pole=pole)
    assert s.end.tolist() == ankle.tolist()
    assert s.middle.tolist() == knee.tolist()
    assert s.q_upper.tolist() == s.q_lower.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert s.miss == pytest.approx(np.linalg.norm(target - ankle, axis=1))


def test_what_output_arrays_held_before_makes_no_difference():
    """Also where an end is to be in its top, which is no direction: nothing turns there."""
    target = np.where(np.arange(N)[:, None] % 3 == 0, TOP, TOP + RNG.normal(size=(N, 3)))
    solved = []
    for value in (0.0, 7.0):
        shapes = ((N, 4), (N, 4), (N, 3), (N, 3), (N,))
        out = [np.full(shape, value) for shape in shapes]
        kernel("ml_limb_solve")(N, TOP, MIDDLE, END, target, HINGE, 1e-3, *out)
        solved.append(out)
    for a, b in zip(*solved, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(solved[0][0][::3], np.tile([1.0, 0.0, 0.0, 0.0], (N // 3, 1)))
