"""Flights, and whether they fall freely."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import stature
from motionloom.body.masses import mass_segments
from motionloom.rotation import quat
from studies.measures.ballistic import find_flights, measure_flights
from tests.support.clips import takes_of_143

GRAVITY = 9.81
EXACT = 1e-6
FPS = 60.0
UP_S = 0.6


def jump(*, fall=-GRAVITY, spin=0.0, kick=0.0):
    """Somebody stands, is in the air for 0.6 s, and stands; nothing else moves."""
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


def test_a_body_that_falls_faster_than_freely_is_as_wrong_as_a_slower_one():
    motion, plants, _ = jump(fall=-2.0 * GRAVITY)
    (flight,) = measure_flights(motion, plants)
    assert flight.error == pytest.approx(1.0, abs=1e-3)
    assert not flight.natural


def test_turning_is_the_largest_change_of_momentum_over_that_of_a_fall():
    motion, plants, (first, last) = jump(kick=30.0)
    (flight,) = measure_flights(motion, plants)
    body = ml.BodyMap.guess(motion.skeleton)
    segments = mass_segments(motion.skeleton.n_joints, body)
    momenta = []
    for f in range(first, last):
        now, then = segments.centres(motion.world_positions()[f : f + 2])
        now, then = now - segments.masses @ now, then - segments.masses @ then
        momenta.append(FPS * (segments.masses[:, None] * np.cross(now, then)).sum(axis=0))
    change = np.linalg.norm(np.array(momenta) - np.mean(momenta, axis=0), axis=1).max()
    tall = stature(motion.skeleton, body)
    assert flight.turning == pytest.approx(change / np.sqrt(GRAVITY * tall**3), rel=1e-4)
    assert flight.error == pytest.approx(flight.turning, abs=EXACT)
    assert (flight.first, flight.last) == (first, last)


@pytest.mark.parametrize("frame", [0, -1])
def test_the_first_and_the_last_frame_of_a_flight_count(frame):
    motion, plants, span = jump()
    root = np.array(motion.root_positions)
    root[span[frame], 1] += 0.01
    seen = []
    measure_flights(
        motion.replace(root_positions=root), plants, probability=lambda a: seen.append(a) or 0.0
    )
    assert seen[0].max() == pytest.approx(0.01 * FPS**2 - GRAVITY, rel=1e-4)


@pytest.mark.parametrize(("chance", "natural"), [(0.5, True), (0.499, False)])
def test_an_even_chance_is_natural(chance, natural):
    motion, plants, _ = jump()
    (flight,) = measure_flights(motion, plants, probability=lambda _: chance)
    assert flight.natural is natural


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


@pytest.mark.parametrize(("frames", "count"), [(6, 0), (7, 1)])
def test_a_flight_lasts_at_least_twelve_hundredths_of_a_second(frames, count):
    motion, plants, (first, last) = jump()
    planted = np.array(plants.planted)
    planted[first : last + 1 - frames] = True
    assert len(find_flights(motion, ml.Footplants(planted))) == count


@pytest.mark.parametrize(("height", "flies"), [(0.049, False), (0.051, True)])
def test_feet_must_be_five_centimetres_over_where_they_stand(height, flies):
    motion, plants, (first, last) = jump()
    root = np.array(motion.root_positions)
    root[first : last + 1, 1] = root[0, 1] + height
    raised = motion.replace(root_positions=root, local_quats=motion.local_quats[[0] * len(root)])
    assert bool(find_flights(raised, plants)) is flies


def test_captured_jumps_fall_freely(mocap):
    flights = measure_flights(takes_of_143(mocap, "143_06")[0])
    assert len(flights) >= 2
    for flight in flights:
        assert flight.natural
        assert flight.fall == pytest.approx(-9.81, abs=1.0)
