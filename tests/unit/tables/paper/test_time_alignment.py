import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.paper.time_alignment import (
    LONGEST,
    aligned,
    find_border_path,
    join_paths,
    match_all,
    match_windows,
)
from motionloom.tables.score.recipe import Recipe
from tests.oracles.joined_paths import joined_paths

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
    joined = join_paths([left, right], 4)
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
    with pytest.raises(ArrayError, match="1 to 3 pairs"):
        join_paths([], 5)


def some_path(rng, length):
    """A random match of two windows, from any cell to any later one."""
    at = rng.integers(0, length // 2, 2)
    cells = [at]
    while (at < length - 1).all():
        at = at + [(1, 1), (1, 0), (0, 1)][rng.integers(3)]
        cells.append(at)
    return np.array(cells[: rng.integers(2, len(cells) + 1)])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_joined_matches_are_those_of_the_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    joined = 0
    for _ in range(300):
        paths = [some_path(rng, 12) for _ in range(n)]
        mine, plain = join_paths(paths, 12), joined_paths(paths, 12, LONGEST * 12)
        assert (mine is None) == (plain is None)
        assert mine is None or np.array_equal(mine, plain)
        joined += mine is not None
    assert joined > 50


def test_all_matches_are_those_of_each_pair(kinds_frames):
    rows = kinds_frames.windows(LENGTH)[::37][:4]
    matches = match_all(kinds_frames, rows, LENGTH)
    for i in range(len(rows)):
        for j in range(len(rows)):
            pair = i * len(rows) + j
            cells = matches.cells[matches.firsts[pair] : matches.firsts[pair + 1]]
            times = aligned(kinds_frames, Recipe((rows[i], rows[j]), LENGTH)).times
            assert np.array_equal(cells, times)


def test_what_comes_before_and_after_a_match_is_played_as_it_is():
    times = np.array([[2, 0], [3, 1], [4, 2]])
    whole = join_paths([times], 5)
    assert whole is not None
    assert whole.tolist() == [[0, 0], [1, 0], [2, 0], [3, 1], [4, 2], [4, 3], [4, 4]]
