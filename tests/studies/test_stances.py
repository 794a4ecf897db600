"""Stances by the extremes of the foot, and the scores of plants."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.errors import ArrayError
from motionloom.features.footplants.plant_edges import line_slopes, noise_level
from motionloom.motion.motion import Footplants
from studies.baselines.stances import _pair, find_extremes, find_stances
from studies.measures.plant_score import PlantScore, score_footplants


@pytest.mark.parametrize("kind", ["walk", "run"])
def test_every_stance_holds_one_true_plant_of_its_ball(kind: str) -> None:
    clip = synthetic.clip(kind, duration_s=6.0)
    plants = clip.footplants.intervals()
    for side, stances in find_stances(clip.motion).items():
        assert len(stances) > 3
        for first, last in stances:
            inside = [(a, b) for a, b in plants[f"{side}_toe"] if a <= last and b >= first]
            assert len(inside) == 1


def test_a_clip_that_stands_has_no_stances() -> None:
    assert find_stances(synthetic.clip("stand").motion) == {"left": (), "right": ()}


def test_scores_add_up_and_count_both_ways() -> None:
    truth = Footplants.from_intervals({"left_heel": ((0, 1), (10, 20), (30, 40))}, 50)
    found = Footplants.from_intervals({"left_heel": ((0, 2), (12, 18), (30, 44))}, 50)
    score = score_footplants(truth, found, within=2, shortest=3)["left_heel"]
    assert score == PlantScore(hits=1, missed=1, extra=1)
    assert score.f1 == pytest.approx(0.5)
    assert (score + PlantScore(3, 0, 0)).f1 == pytest.approx(0.8)
    assert PlantScore().f1 == 1.0


def test_scores_need_the_same_frames() -> None:
    with pytest.raises(ArrayError, match="frames"):
        score_footplants(Footplants(np.zeros((3, 4), bool)), Footplants(np.zeros((4, 4), bool)))


def test_slopes_of_a_line_are_exact_up_to_the_ends() -> None:
    line = np.outer(np.arange(20) / 50.0, [1.0, -2.0, 0.5])
    slopes = line_slopes(line, 7, 50.0)
    assert slopes == pytest.approx(np.tile([1.0, -2.0, 0.5], (20, 1)))


def test_noise_is_estimated_over_the_ground_and_upwards() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(0.0, [0.004, 0.009, 0.004], (4000, 1, 3))
    assert noise_level(points)[0] == pytest.approx([0.004, 0.009], rel=0.08)


def test_landings_are_paired_with_the_next_leaving_before_the_next_landing() -> None:
    def pairs(landings: list[int], leavings: list[int]) -> tuple[tuple[int, int], ...]:
        return _pair(np.array(landings, dtype=int), np.array(leavings, dtype=int), 100, 9.0)

    assert pairs([20, 60], [40, 80]) == ((20, 40), (60, 80))
    assert pairs([20, 60], [30, 40, 80]) == ((20, 30), (60, 80))
    assert pairs([20, 60], [60, 80]) == ((60, 80),)  # left by the foot that lands there
    assert pairs([20, 60], [20, 80]) == ((0, 20), (60, 80))
    assert pairs([], []) == ()
    # What the ends cut counts from nine frames on.
    assert pairs([], [9]) == ((0, 9),)
    assert pairs([], [8]) == ()
    assert pairs([20], [8, 40]) == ((20, 40),)
    assert pairs([20, 90], [12, 40]) == ((0, 12), (20, 40), (90, 99))
    assert pairs([20, 91], [12, 40]) == ((0, 12), (20, 40))


@pytest.mark.parametrize(("frames", "stances"), [(8, 0), (9, 1), (11, 1)])
def test_a_stance_cut_by_the_end_counts_from_fifteen_hundredths_of_a_second(
    frames: int, stances: int
) -> None:
    motion = synthetic.clip("walk", duration_s=4.0, fps=60).motion
    landing = int(find_extremes(motion)["left"][0][1])
    cut = motion[landing - 60 : landing + frames + 1]
    after = [span for span in find_stances(cut)["left"] if span[0] == 60]
    assert after == [(60, 60 + frames)] * stances
