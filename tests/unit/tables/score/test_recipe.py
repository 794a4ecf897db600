import numpy as np
import pytest

from motionloom.errors import ArrayError, TableError
from motionloom.tables.score.recipe import Recipe, rows_at, weights_of
from tests.oracles.blend_kernel import _turned


def test_a_recipe_counts_its_ways_and_frames():
    plain = Recipe((0, 5, 9), 20)
    assert (plain.n_ways, plain.n_frames) == (3, 20)
    timed = Recipe((0, 5), 20, times=np.stack([np.arange(20)] * 2, axis=1)[:15])
    assert timed.n_frames == 15
    assert timed.weights().shape == (2, 15)


def test_rows_of_a_recipe_follow_its_times(kinds_frames):
    times = np.array([[0, 0], [1, 0], [2, 1]])
    assert rows_at(kinds_frames, Recipe((3, 40), 10, times=times)).tolist() == [
        [3, 40],
        [4, 40],
        [5, 41],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": (), "length": 10}, "1 to 4 windows, got 0"),
        ({"rows": (0,) * 5, "length": 10}, "1 to 4 windows, got 5"),
        ({"rows": (0,), "length": 1}, "at least 2, got 1"),
        ({"rows": (0,), "length": 10, "family": "magic"}, "bernstein"),
        ({"rows": (0,), "length": 10, "times": np.array([[0], [10]])}, "frames 0 to 9"),
    ],
)
def test_recipes_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ArrayError, match=message):
        Recipe(**arguments)


def test_a_window_that_leaves_its_clip_is_refused(kinds_frames):
    last = int(kinds_frames.starts[1])
    with pytest.raises(TableError, match=f"row {last - 9}"):
        rows_at(kinds_frames, Recipe((last - 10, last - 9), 10))
    with pytest.raises(TableError, match="inside their clip"):
        rows_at(kinds_frames, Recipe((kinds_frames.n_rows - 5,), 10))


def test_unknown_weights_are_refused_with_the_known_ones():
    with pytest.raises(ArrayError, match="bernstein, eased, hat"):
        weights_of("magic", 2, 10)


def test_eased_weights_leave_and_arrive_gently():
    weights = weights_of("eased", 4, 61)
    assert np.abs(weights[:, 1] - weights[:, 0]).max() < 0.01
    assert np.abs(weights_of("bernstein", 4, 61)[:, 1] - weights[:, 0]).max() > 0.04


def test_times_are_frames_of_the_windows():
    Recipe((0, 5), 4, times=np.array([[0, 0], [3, 3]]))
    for bad in ([[0, 0], [4, 3]], [[0, -1], [3, 3]], [[0, 0]]):
        with pytest.raises(ArrayError, match="must be frames 0 to 3"):
            Recipe((0, 5), 4, times=np.array(bad))


def test_ground_is_turned_about_the_up_axis():
    turned = _turned(np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0]]), np.full(3, np.pi / 2))
    assert turned == pytest.approx(np.array([[1.0, 0.0], [0.0, -1.0], [4.0, -3.0]]))
