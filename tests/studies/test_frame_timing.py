import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.score.recipe import Recipe
from studies.baselines.frame_timing import (
    _from_end_to_end,
    aligned,
    find_border_path,
    join_paths,
    match_windows,
)

LENGTH = 30


def recipes(frames, n):
    rng = np.random.Generator(np.random.PCG64(n))
    rows = frames.windows(LENGTH)
    return [Recipe(tuple(rng.choice(rows, n)), LENGTH) for _ in range(4)]


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("borders", [False, True])
def test_matched_frames_go_on_one_by_one_from_the_first_to_the_last(kinds_frames, n, borders):
    for recipe in recipes(kinds_frames, n):
        times = aligned(kinds_frames, recipe, borders=borders).times
        if times is None:
            continue
        steps = np.diff(times, axis=0)
        assert set(np.unique(steps)) <= {0, 1}
        assert steps.any(axis=1).all()
        assert times[0, 0] == 0
        assert times[-1, -1] == LENGTH - 1
        shortest = (
            LENGTH // 2 if borders else LENGTH
        )  # border matches leave out beginnings and ends
        assert shortest <= len(times) <= 2 * LENGTH


def test_a_window_matched_with_itself_is_the_diagonal(kinds_frames):
    times = aligned(kinds_frames, Recipe((40, 40, 40), LENGTH)).times
    assert np.array_equal(times, np.repeat(np.arange(LENGTH)[:, None], 3, axis=1))


def test_neighbours_stay_on_their_own_match():
    left = np.array([[0, 0], [0, 1], [1, 2], [2, 3], [3, 3]])
    right = np.array([[0, 0], [1, 0], [2, 1], [2, 2], [3, 3]])
    joined = join_paths([left, right])
    assert {tuple(pair) for pair in joined[:, :2]} == {tuple(pair) for pair in left}
    assert {tuple(pair) for pair in joined[:, 1:]} == {tuple(pair) for pair in right}


def test_a_border_match_may_leave_out_a_beginning():
    grid = np.full((20, 20), 1.0)
    for k in range(15):
        grid[k, k + 5] = 0.0
    path = find_border_path(grid)
    assert path[0].tolist() == [0, 5]
    assert path[-1].tolist() == [14, 19]


def test_a_recipe_of_one_window_has_nothing_to_match(kinds_frames):
    recipe = Recipe((7,), LENGTH)
    assert aligned(kinds_frames, recipe) is recipe
    assert match_windows(kinds_frames, recipe) == []


def test_no_match_at_all_is_refused():
    with pytest.raises(ArrayError, match="at least one pair"):
        join_paths([])


def test_what_comes_before_and_after_a_match_is_played_as_it_is():
    times = np.array([[2, 0], [3, 1], [4, 2]])
    whole = _from_end_to_end(times, 5)
    assert whole.tolist() == [[0, 0], [1, 0], [2, 0], [3, 1], [4, 2], [4, 3], [4, 4]]
