import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.rotation import quat
from tests.oracles.quat import rotate
from tests.oracles.twitches import calm_twitches

N, FREE, STOP = 80, 0.0055, 6.0


def twitching(seed, *, size=0.1):
    """A foot that turns slowly, but for a few frames; its ankle in the clip, and its levers."""
    rng = np.random.Generator(np.random.PCG64(seed))
    turns = np.linspace(0.0, 0.2, N)[:, None] * rng.normal(size=3)
    for frame in rng.integers(10, N - 10, size=4):
        across = rng.choice([-size, size], size=3)
        turns[frame : frame + rng.integers(1, 4)] += across
    levers = rotate(quat.exp(turns)[:, None], np.array([[0.0, -0.07, -0.05], [0.01, -0.08, 0.13]]))
    ankle = np.cumsum(rng.normal(scale=1e-4, size=(N, 3)), axis=0)
    return ankle, levers


def calmed(ankle, held, places, levers, *, free_change=FREE, stop=STOP):
    """Levers and turns of foot and toes as the core finds them."""
    n, made = len(ankle), np.array(levers)
    q_foot, q_toes = (np.tile(quat.IDENTITY, (n, 1)) for _ in range(2))
    kernel("ml_twitch_calm")(
        n, ankle, held, places, free_change, stop, np.zeros(n, dtype=np.uint8), np.zeros((4, n)),
        made, q_foot, q_toes,
    )  # fmt: skip
    return made, q_foot, q_toes


def on_one_point(point, first=5, last=75):
    held, places = np.zeros((N, 2), dtype=bool), np.zeros((N, 2, 3))
    held[first : last + 1, point] = True
    return held, places


def jolt(track):
    """Largest second difference of a track."""
    return np.linalg.norm(np.diff(track, n=2, axis=0), axis=-1).max()


@pytest.mark.parametrize("point", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_a_twitch_of_a_foot_no_longer_jolts_its_ankle(seed, point):
    ankle, levers = twitching(seed)
    held, places = on_one_point(point)
    made, q_foot, q_toes = calmed(ankle, held, places, levers)
    before, after = (jolt(each[5:76, point]) for each in (levers, made))
    assert before > 2.0 * FREE
    assert after <= FREE
    assert np.array_equal(q_foot, q_toes)
    assert np.allclose(rotate(q_foot[:, None], levers), made, rtol=0.0, atol=1e-12)
    still = (q_foot == quat.IDENTITY).all(axis=1)
    assert still.sum() > N // 3
    assert np.array_equal(made[still], levers[still])


def test_what_the_ankle_does_nearby_is_no_twitch():
    ankle, levers = twitching(0)
    held, places = on_one_point(1)
    ankle[:, 1] += 0.03 * (np.arange(N) % 20 == 0)
    made, q_foot, _ = calmed(ankle, held, places, levers)
    assert np.array_equal(made, levers)
    assert (q_foot == quat.IDENTITY).all()


def test_a_foot_that_lies_on_two_points_or_on_none_is_not_turned():
    ankle, levers = twitching(1)
    held, places = on_one_point(1)
    for changed in (np.ones_like(held), np.zeros_like(held)):
        made, q_foot, _ = calmed(ankle, changed, places, levers)
        assert np.array_equal(made, levers)
        assert (q_foot == quat.IDENTITY).all()
    moved = np.arange(N)[:, None, None] * np.ones_like(places)  # a place for every frame
    assert np.array_equal(calmed(ankle, held, moved, levers)[0], levers)


@pytest.mark.parametrize("stop", [1.0, 6.0, 1e3])
@pytest.mark.parametrize("seed", range(5))
def test_twitches_are_calmed_as_in_the_plain_form(seed, stop):
    ankle, levers = twitching(seed, size=0.3)
    rng = np.random.Generator(np.random.PCG64(seed))
    held, places = on_one_point(seed % 2)
    held[int(rng.integers(20, 40)) : int(rng.integers(40, 60)), 1 - seed % 2] = True
    places[40:, :] = 1.0
    made, q_foot, _ = calmed(ankle, held, places, levers, stop=stop)
    turns, expected = calm_twitches(ankle, held, places, levers, free_change=FREE, stop=stop)
    assert (turns != quat.IDENTITY).any()
    assert np.abs(made - expected).max() < 1e-12
    assert np.abs(q_foot - turns).max() < 1e-12


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_clips_of_few_frames_are_calmed_or_left(n):
    ankle, levers = np.zeros((n, 3)), np.zeros((n, 2, 3))
    levers[:, :, 1] = -0.1
    levers[1:2, :, 2] = 0.05
    held = np.tile([True, False], (n, 1))
    made = calmed(ankle, held, np.zeros((n, 2, 3)), levers)[0]
    turns, expected = calm_twitches(
        ankle, held, np.zeros((n, 2, 3)), levers, free_change=FREE, stop=STOP
    )
    assert np.allclose(made, expected, rtol=0.0, atol=1e-12)
    assert (turns != quat.IDENTITY).any() == (n > 2)
