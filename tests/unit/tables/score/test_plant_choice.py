"""Plants of a collection, and which of them a blend keeps."""

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.motion.motion import runs_of
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.stance import BALLS, plants_of
from tests.oracles.blend_score import choose_plants

FLOAT32_M = 1e-5
"""Points of frames are kept in single precision."""


@pytest.fixture(scope="module")
def clips():
    return [ml.synthetic.clip("walk", turn=0.8), ml.synthetic.clip("stand")]


@pytest.fixture(scope="module")
def frames(clips):
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "stand"],
        footplants=[clip.footplants for clip in clips],
    )


def test_every_run_of_a_standing_ball_is_one_plant(clips, frames):
    plants = plants_of(frames)
    expected = []
    for clip, start in zip(clips, frames.starts[:-1], strict=True):
        for ball in BALLS:
            for first, last in runs_of(clip.footplants.planted[:, ball]):
                expected.append((start + first, start + last))
    assert sorted(map(tuple, plants.spans.tolist())) == sorted(expected)
    for number, (first, last) in enumerate(plants.spans):
        foot = 0 if (plants.ids[first, 0] == number) else 1
        assert (plants.ids[first : last + 1, foot] == number).all()
    for foot, ball in enumerate(BALLS):
        assert ((plants.ids[:, foot] >= 0) == frames.planted[:, ball]).all()


def test_a_plant_that_lasts_to_the_end_of_a_clip_is_not_carried_into_the_next():
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    twice = frames_of(
        [stand.motion, stand.motion], ids=["a", "b"], footplants=[stand.footplants] * 2
    )
    plants = plants_of(twice)
    edge = int(twice.starts[1])
    assert plants.ids[edge - 1, 0] >= 0
    assert plants.ids[edge, 0] >= 0
    assert plants.ids[edge - 1, 0] != plants.ids[edge, 0]


def test_a_plant_stands_where_the_ball_is_and_points_as_the_foot_does(clips, frames):
    plants = plants_of(frames)
    walk = clips[0].motion
    points = foot_points(walk)
    number = int(plants.ids[plants.ids[:, 1] >= 0][0, 1])
    first, last = plants.spans[number]
    track = points[first : last + 1]
    assert np.abs(plants.places[number] - track[:, 3][:, [0, 2]].mean(axis=0)).max() < FLOAT32_M
    ahead = (track[:, 3] - track[:, 2])[:, [0, 2]].mean(axis=0)
    assert plants.ahead[number] @ ahead / np.linalg.norm(ahead) > 1.0 - FLOAT32_M


def test_a_foot_that_stands_on_end_points_forwards(frames):
    points = np.array(frames.points)
    points[:, 0, ::2] = points[:, 1, ::2]  # the left heel is over its ball
    plants = plants_of(replace(frames, points=points))
    left = np.unique(plants.ids[:, 0])[1:]
    right = np.unique(plants.ids[:, 1])[1:]
    assert plants.ahead[left].tolist() == [[0.0, 1.0]] * len(left)
    assert np.linalg.norm(plants.ahead[right], axis=1) == pytest.approx(1.0)
    assert (plants.ahead[right] == plants_of(frames).ahead[right]).all()


def test_a_collection_without_plants_has_none(frames):
    plants = plants_of(replace(frames, planted=np.zeros_like(frames.planted)))
    assert (plants.ids == -1).all()
    assert plants.places.shape == plants.ahead.shape == plants.spans.shape == (0, 2)


def test_the_plant_with_less_error_is_taken_and_those_in_its_way_are_not():
    feet = np.zeros((10, 2, 2))
    here, far = np.zeros((6, 2)), np.full((6, 2), 0.3)
    left, right = 0, 1
    chosen = choose_plants(feet, [[(left, 0, far)], [(left, 4, here), (right, 2, far)]])
    assert [(p.foot, p.first, p.last, p.window) for p in chosen] == [
        (left, 4, 9, 1),
        (right, 2, 7, 1),
    ]
    assert chosen[0].error == 0.0
    assert chosen[1].error == pytest.approx(0.3 * np.sqrt(2.0))


def test_equal_plants_are_taken_by_start_then_by_window():
    feet = np.zeros((8, 2, 2))
    places = np.full((4, 2), 0.1)
    chosen = choose_plants(feet, [[(0, 3, places)], [(0, 1, places)], [(0, 1, places)]])
    assert [(p.first, p.window) for p in chosen] == [(1, 1)]


def test_an_error_is_the_mean_distance_of_all_its_frames_from_the_mean_place():
    feet = np.zeros((6, 2, 2))
    feet[2:5, 1] = [[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]]
    places = np.array([[0.3, 0.0], [-0.3, 0.0], [0.0, 0.0]])
    (plant,) = choose_plants(feet, [[(1, 2, places)]])
    assert plant.place == pytest.approx([0.0, 0.0])
    assert plant.error == pytest.approx((5.0 + 0.0 + 2.0) / 3.0)
    assert (plant.first, plant.last) == (2, 4)
