"""Laws of the score of tables: plants, masses, balance (36 to 39)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments
from motionloom.synthetic import clip
from motionloom.tables.score.stance import Stand, measure_balance
from tests.oracles.blend_score import choose_plants

EXACT = 1e-9
SOLE = np.array([0.18, 0.06, 0.045, 1.7])
FPS = 60.0

spans = st.tuples(st.integers(0, 1), st.integers(0, 25), st.integers(2, 14))


@given(st.lists(st.lists(spans, max_size=4), min_size=1, max_size=4), st.integers(0, 2**31))
@settings(max_examples=100)
def test_kept_plants_do_not_overlap_and_none_better_was_free(windows, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    feet = np.cumsum(rng.normal(scale=0.05, size=(40, 2, 2)), axis=0)
    candidates = [
        [(foot, first, rng.normal(size=(n, 2))) for foot, first, n in plants] for plants in windows
    ]
    chosen = choose_plants(feet, candidates)
    taken = np.zeros((2, 40), dtype=int)
    for plant in chosen:
        taken[plant.foot, plant.first : plant.last + 1] += 1
    assert taken.max(initial=0) <= 1
    for window, plants in enumerate(candidates):
        for foot, first, where in plants:
            last = first + len(where) - 1
            kept = any((p.window, p.foot, p.first) == (window, foot, first) for p in chosen)
            error = np.linalg.norm(feet[first : last + 1, foot] - where.mean(axis=0), axis=1).mean()
            in_its_way = [
                p for p in chosen if p.foot == foot and p.first <= last and p.last >= first
            ]
            assert kept or any(p.error <= error + EXACT for p in in_its_way)


@given(
    npst.arrays(np.float64, (3,), elements=st.floats(-2.0, 2.0)),
    st.floats(0.2, 1.6),
    st.floats(-3.0, 3.0),
)
@settings(max_examples=60)
def test_a_body_that_accelerates_leans_by_height_over_gravity(acceleration, height, turn):
    acceleration = acceleration * [1.0, 0.0, 1.0]
    time = np.arange(30)[:, None] / FPS
    point = np.array([0.0, height, 0.0]) + 0.5 * time**2 * acceleration
    far = 50.0
    ahead = np.array([np.sin(turn), np.cos(turn)])
    stands = [Stand(0, 0, 29, far * ahead, ahead)]
    found = measure_balance(point[:, None], np.ones(1), stands, SOLE, FPS, range(30))
    zmp = point[8:22, [0, 2]] - height * acceleration[[0, 2]] / 9.81
    along = (far * ahead - zmp) @ ahead - SOLE[0]
    across = np.abs((far * ahead - zmp) @ [ahead[1], -ahead[0]])
    expected = np.hypot(along, np.maximum(across - SOLE[2], 0.0))
    assert np.abs(found.outside - expected).max() < 1e-6


def test_masses_sum_to_one_and_left_is_right():
    skeleton = clip("stand").motion.skeleton
    segments = mass_segments(skeleton.n_joints, BodyMap.guess(skeleton))
    mass = dict(zip(segments.names, segments.masses, strict=True))
    assert abs(segments.masses.sum() - 1.0) < EXACT
    assert all(mass[n] == mass[n.replace("left", "right")] for n in mass if n.startswith("left"))
