"""The kernel against its plain form, on embedded clips."""

from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.errors import TableError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import COLUMNS, PAPER, Ranking, column, score_recipes
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import term_source, terms_of
from tests.oracles.blend_score import measure_blend

LENGTH = 60
FOOT_IN = 1e-5
"""Single precision four metres from where a blend starts: neighbouring numbers are this far."""
FLOAT32 = 2e-6
"""Part of a sum of sixty numbers that single precision may lose."""
ZMP_IN = 2e-3
"""Accelerations magnify what single precision loses."""
SMALL = 1e-3


@pytest.fixture(scope="module")
def frames():
    clips = [
        ml.synthetic.clip(kind, turn=turn, seed=seed)
        for seed, (kind, turn) in enumerate([("walk", 0.9), ("run", -0.5), ("sneak", 0.0)])
    ]
    clips.append(ml.synthetic.clip("wave"))
    return frames_of(
        [clip.motion for clip in clips],
        ids=[f"clip{k}" for k in range(len(clips))],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def rows(frames):
    """Windows from all clips, two of them at the very start and end of a clip."""
    inner = frames.windows(LENGTH)[17::67]
    return np.array([0, int(frames.starts[1]) - LENGTH, *inner])


@pytest.fixture(scope="module")
def terms(frames, rows):
    return terms_of(frames, rows, LENGTH)


def recipes(n_windows, n_ways, count):
    rng = np.random.Generator(np.random.PCG64(n_ways))
    ids = rng.integers(0, n_windows, (count, n_ways))
    ids[0, [0, -1]] = 0, 1  # no frames before, none after
    ids[-1, [0, -1]] = 1, 0
    return ids


@pytest.mark.parametrize("n_ways", [1, 2, 3, 4])
def test_the_kernel_measures_what_the_plain_form_does(frames, rows, terms, n_ways):
    plants = plants_of(frames)
    ids = recipes(len(rows), n_ways, 12)
    got = score_recipes(terms, ids)
    for recipe, columns in zip(ids, got, strict=True):
        plain = measure_blend(frames, plants, [int(rows[i]) for i in recipe], LENGTH)
        for name in ("planted", "scored", "unsupported", "bare"):
            assert columns[column(name)] == plain[name], name
        for name in ("foot_in", "foot_worst_in"):
            close = FOOT_IN + FLOAT32 * plain[name]
            assert columns[column(name)] == pytest.approx(plain[name], abs=close), name
        for name in ("zmp_max_in", "zmp_p95_in", "zmp_mean_in"):
            assert columns[column(name)] == pytest.approx(plain[name], abs=ZMP_IN), name
        assert columns[column("com_acc")] == pytest.approx(plain["com_acc"], abs=SMALL)


@pytest.mark.parametrize("length", [3, 7, 8, 13, 31, 67])
def test_windows_of_any_length_are_measured(frames, length):
    plants = plants_of(frames)
    rows = [0, int(frames.starts[1]) - length, *frames.windows(length)[29::113][:6]]
    terms = terms_of(frames, rows, length)
    for n_ways in (1, 2, 3, 4):
        ids = recipes(len(rows), n_ways, 6)
        for recipe, columns in zip(ids, score_recipes(terms, ids), strict=True):
            plain = measure_blend(frames, plants, [int(rows[i]) for i in recipe], length)
            for name in ("planted", "scored", "unsupported", "bare"):
                assert columns[column(name)] == plain[name], name
            close = FOOT_IN + FLOAT32 * plain["foot_in"]
            assert columns[column("foot_in")] == pytest.approx(plain["foot_in"], abs=close)
            for name in ("zmp_max_in", "zmp_p95_in", "zmp_mean_in"):
                assert columns[column(name)] == pytest.approx(plain[name], abs=ZMP_IN), name
            assert columns[column("com_acc")] == pytest.approx(plain["com_acc"], abs=SMALL)


def test_no_recipes_have_no_rows(terms):
    assert score_recipes(terms, np.zeros((0, 4))).shape == (0, len(COLUMNS))


@pytest.mark.parametrize("ids", [[[10**6, 0]], [[-1, 0]], [[0, 10**6, 1]], [[0, 1, 2, 3, 0]], [0]])
def test_recipes_of_windows_that_are_not_there_are_refused(terms, ids):
    with pytest.raises(ml.ArrayError, match=r"ml_recipe_score refused|must have one row"):
        score_recipes(terms, ids)


def test_other_weights_are_judged_as_they_blend(frames, rows):
    terms = terms_of(frames, rows[:4], LENGTH, family="hat")
    columns = score_recipes(terms, [[0, 2, 3]])[0]
    plants = plants_of(frames)
    plain = measure_blend(frames, plants, [int(rows[i]) for i in (0, 2, 3)], LENGTH, family="hat")
    assert columns[0] == pytest.approx(plain["foot_in"], abs=FOOT_IN)


def test_copies_of_one_window_are_that_window(terms):
    ids = np.array([[3, -1, -1, -1], [3, 3, -1, -1], [3, 3, 3, -1], [3, 3, 3, 3]])
    columns = score_recipes(terms, ids)
    assert np.abs(columns - columns[0]).max(axis=0)[column("foot_in")] < FOOT_IN
    assert columns[:, column("spread_m")].max() < SMALL
    assert columns[:, column("root_spread")].max() < 10 * SMALL
    assert np.abs(columns[:, column("speed_ratio")] - 1.0).max() < SMALL
    assert columns[:, column("disagreement")].max() == 0.0
    assert columns[:, column("disagreement_weighted")].max() < SMALL


def test_a_blend_with_exact_plants_of_one_clip_has_no_foot_error(terms):
    assert score_recipes(terms, [[2, 2, 2, 2]])[0, 0] < SMALL


def test_where_a_clip_was_captured_does_not_matter(frames, rows, terms):
    moved = [
        ml.move(frames.motion(int(a), int(b) - 1), heading=1.0 + k, x=4.0, z=-2.0 * k)
        for k, (a, b) in enumerate(zip(frames.starts[:-1], frames.starts[1:], strict=True))
    ]
    plants = [
        frames.footplants(int(a), int(b) - 1)
        for a, b in zip(frames.starts[:-1], frames.starts[1:], strict=True)
    ]
    again = terms_of(frames_of(moved, ids=frames.ids, footplants=plants), rows, LENGTH)
    ids = recipes(len(rows), 4, 10)
    here, there = score_recipes(terms, ids), score_recipes(again, ids)
    scale = np.maximum(1.0, np.abs(here).max(axis=0))
    assert (np.abs(here - there).max(axis=0) < 5 * SMALL * scale).all()


def test_windows_that_stand_at_other_times_disagree(frames, rows, terms):
    pair = [2, len(rows) - 1]
    columns = score_recipes(terms, [pair])[0]
    planted = [frames.planted[rows[k] : rows[k] + LENGTH][:, [1, 3]] for k in pair]
    assert columns[column("disagreement")] == np.count_nonzero(planted[0] != planted[1])


def test_postures_that_differ_are_spread_and_lose_speed(terms, rows):
    columns = score_recipes(terms, [[2, len(rows) - 1]])[0]
    posture = terms.arrays.posture[[2, len(rows) - 1], terms.pad : terms.pad + LENGTH]
    weight = np.linspace(1.0, 0.0, LENGTH)[:, None]
    between = weight * (1.0 - weight) * (posture[0] - posture[1]) ** 2
    expected = np.sqrt(between.sum() / LENGTH)
    assert columns[column("spread_m")] == pytest.approx(expected, rel=SMALL)


def test_a_body_that_hangs_in_the_air_is_no_free_fall():
    stand = ml.synthetic.clip("stand", duration_s=2.0).motion
    nothing = ml.Footplants(np.zeros((stand.n_frames, 4), dtype=bool))
    hangs = terms_of(frames_of([stand], footplants=[nothing]), [20], LENGTH)
    columns = score_recipes(hangs, [[0]])[0]
    assert columns[column("planted")] == 0
    assert columns[column("ballistic")] == pytest.approx(1.0, abs=0.05)
    assert columns[column("unsupported")] == LENGTH
    assert PAPER.cost(columns[None])[0] > 6.0


def test_a_body_that_falls_is_free():
    stand = ml.synthetic.clip("stand", duration_s=2.0, life=0.0).motion
    time = np.arange(stand.n_frames) / stand.fps
    root = np.repeat(stand.root_positions[:1], stand.n_frames, axis=0)
    root[:, 1] += 20.0 + 3.0 * time - 0.5 * 9.81 * time**2
    still = np.repeat(stand.local_quats[:1], stand.n_frames, axis=0)
    falls = stand.replace(root_positions=root, local_quats=still)
    nothing = ml.Footplants(np.zeros((stand.n_frames, 4), dtype=bool))
    terms = terms_of(frames_of([falls], footplants=[nothing]), [20], LENGTH)
    columns = score_recipes(terms, [[0]])[0]
    assert columns[column("ballistic")] < 0.01
    assert columns[column("unsupported")] == 0
    assert columns[column("com_acc")] == pytest.approx(9.81, abs=0.05)


def test_a_body_that_falls_faster_than_freely_is_no_free_fall():
    stand = ml.synthetic.clip("stand", duration_s=2.0, life=0.0).motion
    time = np.arange(stand.n_frames) / stand.fps
    root = np.repeat(stand.root_positions[:1], stand.n_frames, axis=0)
    root[:, 1] += 60.0 - 9.81 * time**2
    still = np.repeat(stand.local_quats[:1], stand.n_frames, axis=0)
    nothing = ml.Footplants(np.zeros((stand.n_frames, 4), dtype=bool))
    falls = frames_of([stand.replace(root_positions=root, local_quats=still)], footplants=[nothing])
    columns = score_recipes(terms_of(falls, [20], LENGTH), [[0]])[0]
    assert columns[column("ballistic")] == pytest.approx(1.0, abs=0.02)
    plain = measure_blend(falls, plants_of(falls), [20], LENGTH)
    assert columns[column("ballistic")] == pytest.approx(plain["ballistic"], abs=0.01)


def balls_of(frames, first):
    """Balls of a window's feet in the world. (L, 2, 3)."""
    return foot_points(frames.motion(first, first + LENGTH - 1))[:, [1, 3]]


def test_slides_are_mean_speeds_of_balls_that_stand_or_are_low(frames, rows, terms):
    alone = score_recipes(terms, [[k] for k in range(len(rows))])
    for first, columns in zip(rows.tolist(), alone, strict=True):
        balls = balls_of(frames, first)
        speed = frames.fps * np.linalg.norm(np.diff(balls[..., ::2], axis=0), axis=-1)
        low = balls[1:, :, 1] < terms.low
        expected = speed[low].mean() if low.any() else 0.0
        assert columns[column("low_slide_m_s")] == pytest.approx(expected, rel=SMALL, abs=SMALL)
        stands = frames.planted[first : first + LENGTH][:, [1, 3]]
        both = stands[1:] & stands[:-1]
        expected = speed[both].mean() if both.any() else 0.0
        assert columns[column("slide_m_s")] == pytest.approx(expected, rel=SMALL, abs=SMALL)


def test_what_roots_differ_by_is_a_weighted_variance_of_their_velocities(frames, rows, terms):
    pair = [2, len(rows) - 1]
    columns = score_recipes(terms, [pair])[0]
    moves = []
    for first in rows[pair].tolist():
        heading = frames.heading[first - 1 : first + LENGTH]
        step = np.diff(frames.ground[first - 1 : first + LENGTH], axis=0)
        c, s = np.cos(heading[:-1]), np.sin(heading[:-1])
        ahead = np.stack([c * step[:, 0] - s * step[:, 1], s * step[:, 0] + c * step[:, 1]])
        moves.append(frames.fps * np.stack([0.3 * np.diff(heading), *ahead]))
    share = np.linspace(1.0, 0.0, LENGTH)
    between = share * (1.0 - share) * ((moves[0] - moves[1]) ** 2).sum(axis=0)
    expected = np.sqrt(between.mean())
    assert columns[column("root_spread")] == pytest.approx(expected, rel=SMALL)
    stands = [frames.planted[first : first + LENGTH][:, [1, 3]] for first in rows[pair].tolist()]
    part = share[:, None] * stands[0] + (1.0 - share)[:, None] * stands[1]
    expected = (4.0 * part * (1.0 - part)).sum()
    assert columns[column("disagreement_weighted")] == pytest.approx(expected, rel=SMALL)


def test_speed_and_acceleration_of_a_posture_are_those_of_its_segments(terms, rows):
    pair = [2, len(rows) - 1]
    columns = score_recipes(terms, [pair])[0]
    posture = terms.arrays.posture[pair, terms.pad : terms.pad + LENGTH].astype(np.float64)
    share = np.linspace(1.0, 0.0, LENGTH)[:, None]
    blend = share * posture[0] + (1.0 - share) * posture[1]
    before = terms.arrays.posture[pair, terms.pad - 1 : terms.pad + LENGTH].astype(np.float64)
    steps = np.square(np.diff(before, axis=1)).sum(axis=2)
    had = (share[1:, 0] * steps[0, 1:] + (1.0 - share[1:, 0]) * steps[1, 1:]).sum()
    kept = np.square(np.diff(blend, axis=0)).sum()
    assert columns[column("speed_ratio")] == pytest.approx(kept / had, rel=SMALL)
    bends = np.square(np.diff(blend, 2, axis=0)).reshape(LENGTH - 2, 3, -1).sum(axis=1)
    peak = np.sqrt((bends.max(axis=0) / terms.masses).max()) * terms.fps**2
    assert columns[column("peak_acc")] == pytest.approx(peak, rel=SMALL)


def test_a_long_window_has_room_for_a_step_every_fifth_of_a_second():
    stand = ml.synthetic.clip("stand", duration_s=4.0).motion
    planted = np.zeros((stand.n_frames, 4), dtype=bool)
    planted[np.arange(stand.n_frames) % 12 < 9] = True
    frames = frames_of([stand], footplants=[ml.Footplants(planted)])
    length = 200
    columns = score_recipes(terms_of(frames, [12], length), [[0]])[0]
    stands = planted[12 : 12 + length, [1, 3]]
    assert columns[column("planted")] == np.count_nonzero(stands)


def test_a_window_put_in_place_of_another_is_judged_like_one_made_at_first(frames, rows, terms):
    late = terms_of(frames, rows[:3], LENGTH)
    source = term_source(frames)
    late.put(source, 1, int(rows[5]))
    both = np.array([[0, 1, 2]])
    assert (score_recipes(late, both) == score_recipes(terms, [[0, 5, 2]])).all()


def test_windows_that_leave_their_clip_are_refused(frames):
    with pytest.raises(TableError, match="must stay inside their clip"):
        terms_of(frames, [int(frames.starts[1]) - 5], LENGTH)


def test_a_ranking_adds_columns_and_their_logarithms():
    ranking = Ranking.of({"foot_in": 2.0}, {"planted": 3.0})
    columns = np.zeros((1, len(COLUMNS)), dtype=np.float32)
    columns[0, column("foot_in")], columns[0, column("planted")] = 1.5, 4.0
    assert ranking.cost(columns)[0] == pytest.approx(3.0 + 3.0 * np.log(5.0))
    assert ranking.prunes
    assert not Ranking.of({"zmp_mean_in": -1.0}).prunes
    assert Ranking.of({"spread_m": 1.0}).bounded_by_spread
    assert not PAPER.bounded_by_spread


def test_an_unknown_column_is_refused():
    with pytest.raises(ml.ArrayError, match="must be one of"):
        Ranking.of({"beauty": 1.0})


def jump_with_feet_before_and_after(gravity):
    """A body that stands, flies for 0.6 s under some gravity, and stands again; and its plants."""
    stand = ml.synthetic.clip("stand", duration_s=2.0, life=0.0).motion
    time = np.arange(stand.n_frames) / stand.fps
    first, last = 42, 78
    flight = (last - first) / stand.fps
    since = np.clip(time - time[first], 0.0, flight)
    root = np.repeat(stand.root_positions[:1], stand.n_frames, axis=0)
    root[:, 1] += 0.5 * gravity * since * (flight - since)
    still = np.repeat(stand.local_quats[:1], stand.n_frames, axis=0)
    planted = np.ones((stand.n_frames, 4), dtype=bool)
    planted[first : last + 1] = False
    motion = stand.replace(root_positions=root, local_quats=still)
    return motion, ml.Footplants(planted)


@pytest.mark.parametrize(("gravity", "error"), [(9.81, 0.0), (0.5 * 9.81, 0.5), (2.0 * 9.81, 1.0)])
def test_a_flight_between_plants_is_compared_with_free_fall(gravity, error):
    motion, plants = jump_with_feet_before_and_after(gravity)
    frames = frames_of([motion], footplants=[plants])
    columns = score_recipes(terms_of(frames, [30], LENGTH), [[0]])[0]
    assert columns[column("planted")] > 0
    assert columns[column("ballistic")] == pytest.approx(error, abs=0.1)
    plain = measure_blend(frames, plants_of(frames), [30], LENGTH)
    assert columns[column("ballistic")] == pytest.approx(plain["ballistic"], abs=1e-3)
    without = columns.copy()
    without[column("ballistic")] = 0.0
    paid = PAPER.cost(columns[None])[0] - PAPER.cost(without[None])[0]
    assert paid == pytest.approx(12.0 * columns[column("ballistic")], rel=1e-4)


def test_a_step_is_no_flight(frames, rows, terms):
    for number in range(len(rows)):
        columns = score_recipes(terms, [[number]])[0]
        if columns[column("planted")] > 0:
            assert columns[column("ballistic")] == 0.0


def test_a_motion_pays_for_a_flight_that_is_no_free_fall():
    fair, slow = (
        ml.score(SimpleNamespace(motion=motion, footplants=plants))
        for motion, plants in map(jump_with_feet_before_and_after, (9.81, 3.0))
    )
    assert fair.ballistic < 0.1
    assert slow.ballistic == pytest.approx(1.0 - 3.0 / 9.81, abs=0.1)
    assert slow.total - slow.foot_plant - slow.zmp == pytest.approx(12.0 * slow.ballistic)
