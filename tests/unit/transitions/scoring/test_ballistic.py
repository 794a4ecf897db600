"""Flights, and whether they fall freely."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.transitions.scoring.ballistic import find_flights, measure_flights

GRAVITY = 9.81
EXACT = 1e-6
FPS = 60.0
UP_S = 0.6


def jump(*, fall=-GRAVITY, spin=0.0, kick=0.0):
    """Somebody stands, is in the air for 0.6 s, and stands; nothing moves but what is said."""
    stand = ml.synthetic.clip("stand", life=0.0, duration_s=2.0)
    motion = stand.motion
    n = motion.n_frames
    first, count = 40, round(UP_S * FPS)
    time = np.arange(count) / FPS
    root = np.repeat(motion.root_positions[:1], n, axis=0)
    up = 0.5 * fall * time * (time - UP_S)
    root[first : first + count, 1] += 0.3 + up
    quats = np.repeat(motion.local_quats[:1], n, axis=0)
    turned = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), spin * time + kick * time**2)
    quats[first : first + count, 0] = quat.multiply(turned, quats[first : first + count, 0])
    planted = np.ones((n, 4), dtype=bool)
    planted[first : first + count] = False
    made = motion.replace(root_positions=root, local_quats=quat.make_continuous(quats))
    return made, ml.Footplants(planted), (first, first + count - 1)


def test_a_flight_is_where_no_foot_is_near_the_ground():
    motion, plants, span = jump()
    assert find_flights(motion, plants) == (span,)


def test_a_free_fall_has_no_error():
    motion, plants, _ = jump()
    (flight,) = measure_flights(motion, plants)
    assert flight.fall == pytest.approx(-GRAVITY, abs=EXACT)
    assert flight.error < EXACT
    assert flight.natural


def test_a_body_that_spins_evenly_keeps_its_momentum():
    motion, plants, _ = jump(spin=4.0)
    (flight,) = measure_flights(motion, plants)
    assert flight.turning < 1e-3
    assert flight.natural


def test_a_body_that_spins_up_in_the_air_does_not():
    motion, plants, _ = jump(kick=40.0)
    (flight,) = measure_flights(motion, plants)
    even, plants, _ = jump(spin=24.0)
    (steady,) = measure_flights(even, plants)
    assert flight.turning > 3.0 * steady.turning


def test_moonlike_gravity_is_not_natural():
    motion, plants, _ = jump(fall=-1.6)
    (flight,) = measure_flights(motion, plants)
    assert flight.error == pytest.approx((GRAVITY - 1.6) / GRAVITY, abs=1e-3)
    assert not flight.natural


def test_a_probability_may_judge_instead():
    motion, plants, _ = jump(fall=-1.6)
    seen = []

    def generous(accelerations):
        seen.append(accelerations)
        return 0.9

    (flight,) = measure_flights(motion, plants, probability=generous)
    assert flight.natural
    assert seen[0].shape == (motion.skeleton.n_joints,)
    assert seen[0].max() == pytest.approx(1.6, abs=1e-3)


def test_a_walk_never_flies_and_wrong_plants_are_refused():
    clip = ml.synthetic.clip("walk")
    assert find_flights(clip.motion, clip.footplants) == ()
    with pytest.raises(ml.ArrayError, match="one row per frame"):
        find_flights(clip.motion, clip.footplants[:5])


def test_only_flights_that_last_count_wherever_they_are():
    motion, plants, (first, last) = jump()
    planted = np.array(plants.planted)
    planted[first : last - 1] = True  # two frames of the flight are left
    assert find_flights(motion, ml.Footplants(planted)) == ()
