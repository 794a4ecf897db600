"""Parts of blends, loops and transitions, each against values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending import join
from motionloom.blending.cycle import _travel
from motionloom.cleanup.finalize import above_floor
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.registration.curve import Spline
from motionloom.registration.timewarp import distance_grid
from motionloom.retargeting.match import _resampled

STAND = ml.synthetic.clip("stand", duration_s=2.0, fps=60)
WALK = ml.synthetic.clip("walk", duration_s=2.0, fps=60)


def test_plants_of_a_rate_that_is_rounded_end_with_the_clip():
    planted = np.zeros((5, 4), dtype=bool)
    planted[4] = True
    clips = [SimpleNamespace(fps=fps, n_frames=n) for fps, n in ((31.0, 5), (30.0, 6))]
    found = _resampled(ml.Footplants(planted), *clips).planted[:, 0]
    assert found.tolist() == [False, False, False, False, True, True]


def test_places_are_compared_over_a_sixth_of_a_second(monkeypatch):
    windows = []

    def watched(*given, half_window):
        windows.append(half_window)
        return distance_grid(*given, half_window=half_window)

    monkeypatch.setattr(join, "distance_grid", watched)
    plants = WALK.footplants
    join.find_candidates((WALK.motion, WALK.motion), (plants, plants), margin=10)
    assert windows == [2]  # five frames at 30 a second


def test_without_a_wish_places_where_a_body_stands_are_as_good():
    moving = WALK.motion[:60]
    both = ml.concatenate([moving, *[moving[-1:]] * 60])  # walks, then stands
    plants = ml.Footplants(np.ones((both.n_frames, 4), dtype=bool))
    given = ((both, both), (plants, plants))
    free = join.find_candidates(*given, margin=5, count=30)
    wished = join.find_candidates(*given, margin=5, count=30, moving=True)
    assert not all(place.both_moving for place in free)
    assert all(place.both_moving for place in wished)


def test_a_body_that_goes_round_and_round_does_not_travel():
    # Twice round a circle of 20 cm, each in a second: 0.8 m/s over half a second, and never
    # more than 0.4 m in a whole one.
    motion = ml.synthetic.clip("stand", duration_s=4.0, fps=60).motion
    body = ml.BodyMap.guess(motion.skeleton)
    time = np.arange(motion.n_frames) / 60.0
    phase = 2.0 * np.pi * np.clip(time - 1.0, 0.0, 2.0)
    root = np.array(motion.root_positions)
    root[:, 0] += 0.2 * np.cos(phase)
    root[:, 2] += 0.2 * np.sin(phase)
    speed, travel_speed = _travel(motion.replace(root_positions=root), body)
    assert (speed > 0.5).sum() > 90
    assert travel_speed == 0.0
    root = np.array(motion.root_positions)
    root[:, 0] += 1.2 * time
    _, travel_speed = _travel(motion.replace(root_positions=root), body)
    assert travel_speed == pytest.approx(1.2, abs=0.05)


def test_a_cycle_may_be_as_short_as_two_frames():
    cycle = ml.loop(STAND.motion, shortest_s=0.01, longest_s=2.2 / 60.0, moving=False)
    assert cycle.span[1] - cycle.span[0] == 2


def test_a_body_is_lifted_alike_before_and_after_the_frame_that_sinks():
    motion = STAND.motion
    body = ml.BodyMap.guess(motion.skeleton)
    still = motion.replace(
        root_positions=np.repeat(motion.root_positions[:1], motion.n_frames, axis=0),
        local_quats=np.repeat(motion.local_quats[:1], motion.n_frames, axis=0),
    )
    check = QualityCheck([still], footplants=[STAND.footplants], body=body)
    root = np.array(still.root_positions)
    middle, half = 60, 9  # 0.15 s at 60 frames a second
    root[middle, 1] -= 0.05
    lift = above_floor(still.replace(root_positions=root), check).root_positions[:, 1] - root[:, 1]
    assert lift[middle] == pytest.approx(0.04, abs=1e-6)  # a centimetre may stay
    assert lift[middle - 30 : middle] == pytest.approx(lift[middle + 30 : middle : -1], abs=1e-12)
    raised = np.flatnonzero(lift > 0.0)
    assert (raised[0], raised[-1]) == (middle - 2 * half, middle + 2 * half)
    assert above_floor(still, check) is still


def test_a_blend_of_fewer_than_three_frames_is_refused():
    walk = ml.synthetic.clip("walk").motion
    curve = ml.register([walk, walk])
    for frames, weights in ((1.5, [1.0, 0.0]), (0.5, [1.0, 0.0]), (1.5, [0.0, 1.0])):
        points = np.linspace((0.0, 0.0), (frames, frames), 3)
        short = replace(curve, times=Spline(points), matches={})
        with pytest.raises(ml.RegistrationError, match=r"at least 3 frames.*share more"):
            ml.blend(short, weights)
        with pytest.raises(ml.RegistrationError, match="at least 3 frames"):
            ml.blend(short, lambda second, weights=weights: weights)
