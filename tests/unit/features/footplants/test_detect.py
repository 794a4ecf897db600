"""Footplants on embedded clips, whose plants are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.mirror import mirror
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.footplants.detect import (
    HELD_M,
    _long_enough,
    _risen,
    _shuffles,
    _slides,
    _to_the_ends,
    _without_pauses,
    detect_footplants,
)
from motionloom.features.footplants.plant_edges import FootSignals
from motionloom.motion.corrupt import corrupt
from motionloom.motion.edit import move, resample
from motionloom.motion.motion import KINDS, Footplants, Motion, Skeleton, runs_of
from motionloom.rotation import quat
from tests.support.tables import PlantScore, score_footplants

WITHIN = 2
"""Frames at 60 Hz by which each end of a plant may be off."""
SHORTEST = 4
"""Frames at 60 Hz: what the detector drops, 0.06 s."""
GOAL = 0.97

POINTS_GOAL = 0.94
"""Where every coordinate of every joint has separate noise: what is reached, see docs/feet.md."""

POINTS_SPOILT = {"point_noise_m": 0.005, "floor_slope": 0.01, "travel": 1.15}
SPOILT = {"noise_m": 0.005, "floor_slope": 0.01, "travel": 1.15}


def totals(truth: Footplants, found: Footplants) -> tuple[PlantScore, PlantScore]:
    """Score of both heels and of both toes."""
    score = score_footplants(truth, found, within=WITHIN, shortest=SHORTEST)
    return (
        score["left_heel"] + score["right_heel"],
        score["left_toe"] + score["right_toe"],
    )


@pytest.mark.parametrize("kind", synthetic.kinds())
def test_every_plant_of_a_clean_clip_is_found(kind: str) -> None:
    clip = synthetic.clip(kind)
    heels, toes = totals(clip.footplants, detect_footplants(clip.motion))
    assert (heels.missed, heels.extra) == (0, 0)
    assert (toes.missed, toes.extra) == (0, 0)


@pytest.mark.parametrize("kind", synthetic.kinds())
def test_skate_and_a_drifting_floor_alone_cost_nothing(kind: str) -> None:
    clip = synthetic.clip(kind)
    skated = corrupt(clip.motion, floor_slope=SPOILT["floor_slope"], travel=SPOILT["travel"])
    heels, toes = totals(clip.footplants, detect_footplants(skated))
    assert heels.missed + heels.extra + toes.missed + toes.extra == 0


def test_with_noise_drift_and_skate_the_plants_of_all_clips_are_found_to_two_frames() -> None:
    heels, toes = PlantScore(), PlantScore()
    for number, kind in enumerate(synthetic.kinds()):
        for seed in (0, 1):
            clip = synthetic.clip(kind, seed=seed)
            corrupted = corrupt(clip.motion, **SPOILT, seed=10 * number + seed)
            more_heels, more_toes = totals(clip.footplants, detect_footplants(corrupted))
            heels, toes = heels + more_heels, toes + more_toes
    assert heels.f1 >= GOAL, heels
    assert toes.f1 >= GOAL, toes


def test_noise_of_single_points_costs_few_plants() -> None:
    heels, toes = PlantScore(), PlantScore()
    for number, kind in enumerate(synthetic.kinds()):
        clip = synthetic.clip(kind)
        corrupted = corrupt(clip.motion, **POINTS_SPOILT, seed=number)
        more_heels, more_toes = totals(clip.footplants, detect_footplants(corrupted))
        heels, toes = heels + more_heels, toes + more_toes
    assert heels.f1 >= POINTS_GOAL, heels
    assert toes.f1 >= POINTS_GOAL, toes


def test_noise_of_the_root_alone_is_seen_through() -> None:
    heels, toes = PlantScore(), PlantScore()
    rng = np.random.default_rng(3)
    for kind in ("walk", "run", "sneak", "turn", "kick", "sidestep"):
        clip = synthetic.clip(kind)
        root = clip.motion.root_positions
        shaken = clip.motion.replace(root_positions=root + rng.normal(0, 0.005, root.shape))
        more_heels, more_toes = totals(clip.footplants, detect_footplants(shaken))
        heels, toes = heels + more_heels, toes + more_toes
    assert heels.f1 >= GOAL, heels
    assert toes.f1 >= GOAL, toes


@pytest.mark.parametrize("fps", [20, 24, 30, 50, 120, 240])
@pytest.mark.parametrize("kind", ["walk", "run"])
def test_any_rate_finds_the_same_plants(kind: str, fps: int) -> None:
    clip = synthetic.clip(kind, fps=240)
    motion = resample(clip.motion, fps=fps)
    keep = np.round(np.arange(motion.n_frames) * 240 / fps).astype(int)
    truth = Footplants(clip.footplants.planted[keep])
    found = detect_footplants(motion)
    # Two frames at 60 Hz, or one frame where frames are longer than that.
    within = max(1, round(2 * fps / 60))
    score = score_footplants(truth, found, within=within, shortest=max(1, round(0.06 * fps)))
    total = sum((score[k] for k in KINDS), PlantScore())
    assert total.f1 >= GOAL, total


def test_on_tiptoe_no_heel_is_planted() -> None:
    plants = detect_footplants(synthetic.clip("tiptoe").motion)
    assert not plants.planted[:, [0, 2]].any()
    assert plants.planted[:, [1, 3]].any()


def test_standing_still_is_one_plant_of_every_kind() -> None:
    plants = detect_footplants(synthetic.clip("stand").motion)
    last = plants.n_frames - 1
    assert all(spans == ((0, last),) for spans in plants.intervals().values())


def test_a_foot_held_in_the_air_is_not_planted() -> None:
    stand = synthetic.clip("stand").motion
    body = synthetic.clip("stand").motion.skeleton
    hip, knee = body.index("LeftUpLeg"), body.index("LeftLeg")
    quats = np.array(stand.local_quats)
    # Bent hip and knee, kept so: the foot hangs still, knee-high, for the middle of the clip.
    lift = np.clip(
        np.minimum(np.arange(len(quats)) - 30, len(quats) - 30 - np.arange(len(quats))) / 15, 0, 1
    )
    quats[:, hip] = quat.multiply(quats[:, hip], quat.exp(np.outer(lift, [-1.2, 0, 0])))
    quats[:, knee] = quat.multiply(quats[:, knee], quat.exp(np.outer(lift, [1.5, 0, 0])))
    plants = detect_footplants(stand.replace(local_quats=quats))
    middle = slice(60, len(quats) - 60)
    assert not plants.planted[middle, :2].any()
    assert plants.planted[middle, 2:].all()


def test_a_standing_foot_that_steps_aside_makes_two_plants() -> None:
    stand = synthetic.clip("stand").motion
    hip = stand.skeleton.index("LeftUpLeg")
    aside = np.clip((np.arange(stand.n_frames) - 60) / 6, 0, 1)  # 6 frames, some 4 cm
    quats = np.array(stand.local_quats)
    quats[:, hip] = quat.multiply(quats[:, hip], quat.exp(np.outer(aside, [0, 0, 0.05])))
    plants = detect_footplants(stand.replace(local_quats=quats)).intervals()
    assert len(plants["left_toe"]) == 2
    assert len(plants["right_toe"]) == 1
    (_, last), (first, _) = plants["left_toe"]
    assert abs(last - 60) <= WITHIN and abs(first - 66) <= WITHIN


def test_the_one_foot_that_carries_a_walker_may_slide() -> None:
    clip = synthetic.clip("walk")
    planted = clip.footplants.planted
    alone = planted[:, 1] & ~planted[:, 2:].any(axis=1)
    first, last = next(run for run in runs_of(alone) if run[0] > 60)
    middle = (first + last) // 2
    # 5 cm in 6 frames: too fast to stand, and more than one spot.
    root = np.array(clip.motion.root_positions)
    root[:, 0] += np.interp(np.arange(len(root)), [middle - 3, middle + 3], [0.0, 0.05])
    found = detect_footplants(clip.motion.replace(root_positions=root)).intervals()
    here = [(a, b) for a, b in found["left_toe"] if a <= last and b >= first]
    truth = [(a, b) for a, b in clip.footplants.intervals()["left_toe"] if a <= first <= b]
    assert len(here) == 1
    assert np.abs(np.array(here) - truth).max() <= WITHIN


def test_a_heel_that_pauses_a_little_over_the_ground_does_not_stand() -> None:
    stand = synthetic.clip("stand").motion
    ankle, toe = stand.skeleton.index("LeftFoot"), stand.skeleton.index("LeftToeBase")
    # The foot pitches about its ball: the heel goes up, is held 2 to 3 cm over the ground, and up
    # and down again.
    pitch = np.interp(
        np.arange(stand.n_frames), [40, 48, 56, 90, 98, 106], [0.0, 0.35, 0.13, 0.13, 0.35, 0.0]
    )
    quats = np.array(stand.local_quats)
    quats[:, ankle] = quat.multiply(quats[:, ankle], quat.exp(np.outer(pitch, [1.0, 0, 0])))
    raised = stand.replace(local_quats=quats)
    sunk = stand.world_positions()[:, toe] - raised.world_positions()[:, toe]
    raised = raised.replace(root_positions=raised.root_positions + sunk)
    heel = detect_footplants(raised).planted[:, 0]
    assert heel[:36].all() and heel[110:].all()
    assert not heel[46:100].any()


def test_moving_and_turning_the_clip_changes_no_plant() -> None:
    clip = synthetic.clip("walk", turn=0.7)
    elsewhere = move(clip.motion, heading=2.1, x=40.0, z=-7.0)
    assert np.array_equal(
        detect_footplants(clip.motion).planted, detect_footplants(elsewhere).planted
    )


def test_the_mirrored_clip_has_the_plants_of_the_other_side() -> None:
    clip = synthetic.clip("walk", turn=0.7)
    swapped = detect_footplants(mirror(clip.motion)).planted[:, [2, 3, 0, 1]]
    assert np.array_equal(detect_footplants(clip.motion).planted, swapped)


@pytest.mark.parametrize("n_frames", [1, 2, 3, 5, 9])
def test_clips_of_a_few_frames_are_answered(n_frames: int) -> None:
    plants = detect_footplants(synthetic.clip("walk").motion[:n_frames])
    assert plants.n_frames == n_frames


def test_two_equal_frames_stand() -> None:
    pose = synthetic.clip("stand").motion[:1]
    twice = pose.replace(
        root_positions=np.repeat(pose.root_positions, 2, axis=0),
        local_quats=np.repeat(pose.local_quats, 2, axis=0),
    )
    assert detect_footplants(twice).planted.all()


def test_a_walk_in_place_has_no_plants() -> None:
    clip = synthetic.clip("walk")
    root = np.array(clip.motion.root_positions)
    root[:, [0, 2]] = root[0, [0, 2]]
    assert detect_footplants(clip.motion.replace(root_positions=root)).planted.mean() < 0.05


def test_a_skeleton_without_feet_is_refused_by_name() -> None:
    rod = Skeleton(["base", "tip"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    motion = Motion(rod, np.zeros((9, 3)), np.tile(quat.IDENTITY, (9, 2, 1)), fps=30)
    with pytest.raises(SkeletonMismatchError, match="left_ankle"):
        detect_footplants(motion)


def test_thresholds_must_be_above_zero() -> None:
    motion = synthetic.clip("stand").motion
    with pytest.raises(ArrayError, match="speed"):
        detect_footplants(motion, speed=0.0)
    with pytest.raises(ArrayError, match="shortest_s"):
        detect_footplants(motion, shortest_s=-1.0)


def signals_of(points: np.ndarray, speeds: np.ndarray, noise: float = 0.0) -> FootSignals:
    n = len(points)
    return FootSignals(
        points=points,
        speeds=speeds,
        sharp_speeds=speeds,
        sharp_noise=np.zeros(4),
        body_speed=np.full(n, 1.5),
        noise=np.full((4, 2), noise),
        sway=np.zeros((4, 1)),
        slide=0.0,
        lift=np.zeros(n),
        lowest=np.zeros(n),
    )


@pytest.mark.parametrize(("ball", "other"), [(1, 2), (1, 3), (3, 0), (3, 1)])
@pytest.mark.parametrize("way", [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
def test_a_ball_shuffles_if_it_moves_on_while_the_other_foot_stands(
    ball: int, other: int, way: list[float]
) -> None:
    def shuffles(metres: float, stands: slice = slice(0, 40), noise: float = 0.0) -> list[int]:
        planted, speeds = np.zeros((40, 4), dtype=bool), np.zeros((40, 4))
        planted[2:38, ball] = True
        planted[stands, other] = True
        speeds[18:21, ball] = 0.25
        points = np.zeros((40, 4, 3))
        points[19, ball] = 0.5 * metres * np.array(way)
        points[20:, ball] = metres * np.array(way)
        points[:14, ball] = points[28:, ball] = 0.7  # more than 0.12 s away: another spot
        points += 5.0
        begins = np.full(40, 0.25)
        found = _shuffles(planted, signals_of(points, speeds, noise), begins, 50.0)
        assert not found[:, [k for k in range(4) if k != ball]].any()
        return np.flatnonzero(found[:, ball]).tolist()

    assert shuffles(0.021) == [18, 19, 20]
    assert shuffles(0.019) == []
    assert shuffles(0.024, noise=0.001) == [18, 19, 20]  # three times the noise comes on top
    assert shuffles(0.022, noise=0.001) == []
    assert shuffles(0.1, slice(18, 21)) == [18, 19, 20]
    assert shuffles(0.1, slice(18, 20)) == shuffles(0.1, slice(19, 21)) == []


@pytest.mark.parametrize(("ball", "other"), [(1, 2), (1, 3), (3, 0), (3, 1)])
def test_a_ball_slides_between_two_plants_if_nothing_else_carries_the_body(
    ball: int, other: int
) -> None:
    def slides(
        gap: int, *, speed: float = 0.6, body: float = 1.1, stands: tuple[int, ...] = ()
    ) -> list[int]:
        planted, speeds = np.zeros((40, 4), dtype=bool), np.full((40, 4), speed)
        planted[5:15, ball] = planted[15 + gap : 35, ball] = True
        planted[list(stands), other] = True
        signals = signals_of(np.zeros((40, 4, 3)), speeds)
        signals.body_speed[:] = body
        found = _slides(planted, signals, np.full(40, 0.25), 50.0)
        assert not found[:, [0, 2]].any()
        return np.flatnonzero(found[:, ball]).tolist()

    assert slides(10) == list(range(15, 25))  # 0.2 s
    assert slides(11) == []
    assert slides(5, stands=(14, 20)) == list(range(15, 20))
    assert slides(5, stands=(15,)) == slides(5, stands=(19,)) == []
    assert slides(5, body=1.0) == []
    assert slides(5, speed=0.625) == []  # two and a half times what begins a plant
    assert slides(5, speed=0.62) == list(range(15, 20))


def test_plants_near_an_end_reach_it_and_short_ones_go() -> None:
    planted = np.zeros((30, 4), dtype=bool)
    planted[3:8, 0] = planted[4:8, 1] = planted[20:27, 2] = planted[20:26, 3] = True
    drawn = _to_the_ends(planted, 3.5)
    spans = [np.flatnonzero(column)[[0, -1]].tolist() for column in drawn.T]
    assert spans == [[0, 7], [4, 7], [20, 29], [20, 25]]
    assert _long_enough(planted, 5.0).any(axis=0).tolist() == [True, False, True, True]
    assert np.array_equal(_long_enough(planted, 4.0), planted)


def test_a_plant_ends_where_its_point_rises_off_its_level() -> None:
    heights, planted = np.full((20, 2), 0.5), np.zeros((20, 2), dtype=bool)
    planted[3:15] = True
    heights[13], heights[14], heights[15] = 0.529, 0.531, 0.9
    assert np.argwhere(_risen(planted, heights, np.array([0.0, 0.001]))).tolist() == [[14, 0]]


@pytest.mark.parametrize(("height", "is_kept"), [(HELD_M, True), (HELD_M + 0.001, False)])
def test_a_foot_is_held_where_it_is_farther_above_the_other_than_a_low_step(height, is_kept):
    planted, heights = np.zeros((200, 4), dtype=bool), np.zeros((200, 4))
    planted[:, 2] = True
    planted[60:140, 0] = True
    heights[:, 0] = height
    kept = _without_pauses(planted, heights, np.zeros(4), 60.0)
    assert kept[60:140, 0].all() == is_kept
    assert kept[60:140, 0].any() == is_kept
    assert kept[:, 2].all()
