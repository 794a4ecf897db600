"""One call against its plain forms, and what it promises: seams, feet, pace."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.motion import check_rows, runs_of
from motionloom.rotation import quat
from motionloom.tables.collection.frames import clip_speeds, frames_of
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import NOT_HELD, rig_of, run_offsets, synthesize
from tests.oracles import synthesis as plain
from tests.oracles.blend_kernel import track_of
from tests.oracles.rotation_means import mean_of_rotations

LENGTH = 48
FLOAT64 = 1e-9
STRAIGHT = 1e-7
"""Knees of straight legs move by the square root of what is rounded."""
FLOAT32_M = 1e-5
CHORD_DEG = 8.0
"""Means by chords differ from Park's by at most so much where kicks meet walks."""
SINK_M = 0.01
HELD_M_S = 0.05
"""Held balls of legs that are nearly straight give way by millimetres."""


@pytest.fixture(scope="module")
def frames():
    names = ("walk", "run", "stand", "kick", "sneak")
    clips = [ml.synthetic.clip(name) for name in names]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, names, strict=True)]
    return frames_of(motions, footplants=[clip.footplants for clip in clips])


@pytest.fixture(scope="module")
def rig(frames):
    return rig_of(frames)


def some_recipes(frames, count, n, family="eased"):
    rng = np.random.Generator(np.random.PCG64(3))
    rows = frames.windows(LENGTH)
    return [Recipe(tuple(rng.choice(rows, n)), LENGTH, family) for _ in range(count)]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_kernel_walks_as_the_plain_form_does(frames, rig, n):
    for recipe in some_recipes(frames, 5, n):
        made = synthesize(frames, recipe, rig=rig, feet=False)
        track = track_of(frames, recipe)
        assert np.abs(made.heading - track.heading).max() < FLOAT64
        assert np.abs(made.root_positions[:, ::2] - track.ground).max() < FLOAT64
        assert np.abs(made.root_positions[:, 1] - track.height).max() < FLOAT64


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_kernel_makes_what_the_plain_forms_make_one_after_another(frames, rig, n):
    for recipe in some_recipes(frames, 12, n):
        made = synthesize(frames, recipe, rig=rig)
        speed = max(float(clip_speeds(frames, frames.clip_at(row))[0]) for row in recipe.rows)
        expected = plain.synthesize(frames, recipe, rig, speed)
        assert np.abs(made.root_positions - expected.root_positions).max() < FLOAT64
        assert np.abs(made.local_quats - expected.local_quats).max() < STRAIGHT
        assert (made.planted == expected.planted).all()
        assert made.foot_error == pytest.approx(expected.foot_error, abs=FLOAT64)
        assert made.missed == pytest.approx(expected.missed, abs=FLOAT64)


def test_the_kernels_rotations_are_near_parks_mean(frames, rig):
    for recipe in some_recipes(frames, 8, 3):
        made = synthesize(frames, recipe, rig=rig, feet=False)
        quats = made.local_quats.copy()
        back = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -made.heading)
        quats[:, 0] = quat.multiply(back, quats[:, 0])
        apart = quat.angle_between(quats, mean_of_rotations(frames, recipe).quats)
        assert np.degrees(apart).mean() < 0.5
        assert np.degrees(apart).max() < CHORD_DEG
        assert np.abs(np.linalg.norm(quats, axis=-1) - 1.0).max() < FLOAT64
        assert not check_rows(quats)[1]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_transition_starts_and_ends_with_its_clips_own_frames(frames, rig, n):
    for recipe in some_recipes(frames, 8, n):
        made = synthesize(frames, recipe, rig=rig)
        motion = made.motion(frames)
        first = frames.motion(recipe.rows[0], recipe.rows[0] + 1)
        assert np.abs(motion.world_positions()[0] - first.world_positions()[0]).max() < FLOAT32_M
        last = recipe.rows[-1] + LENGTH - 1
        local = quat.angle_between(
            motion.local_quats[-1, 1:], quat.normalize(frames.quats[last, 1:].astype(np.float64))
        )
        assert local.max() < 1e-3
        assert abs(motion.root_positions[-1, 1] - frames.body[last, 0, 1]) < FLOAT32_M


@pytest.mark.parametrize("n", [2, 4])
def test_balls_that_are_reported_to_stand_do(frames, rig, n):
    stood, speeds = 0, []
    for recipe in some_recipes(frames, 12, n):
        made = synthesize(frames, recipe, rig=rig)
        motion = made.motion(frames)
        positions, world = motion.world_pose()
        for side in range(2):
            ankle = rig.legs[side, 2]
            ball = positions[:, ankle] + quat.rotate(world[:, ankle], rig.soles[side, 1])
            both = made.planted[1:, 2 * side + 1] & made.planted[:-1, 2 * side + 1]
            speed = np.linalg.norm(np.diff(ball, axis=0), axis=1) * frames.fps
            stood += int(both.sum())
            speeds.extend(speed[both])
    assert np.quantile(speeds, 0.9) < HELD_M_S
    assert np.max(speeds) < 8 * HELD_M_S
    assert stood > 12 * LENGTH / 4


def test_without_feet_the_blend_comes_out_as_it_is(frames, rig):
    recipe = some_recipes(frames, 1, 3)[0]
    made = synthesize(frames, recipe, rig=rig, feet=False)
    track = track_of(frames, recipe)
    assert np.abs(made.root_positions[:, ::2] - track.ground).max() < FLOAT64
    assert not made.planted.any()


def test_the_blend_of_one_window_is_that_window(frames, rig):
    made = synthesize(frames, Recipe((30,), LENGTH), rig=rig, feet=False)
    captured = frames.motion(30, 30 + LENGTH - 1)
    apart = made.motion(frames).world_positions() - captured.world_positions()
    assert np.abs(apart).max() < FLOAT32_M


def test_time_tuples_make_longer_transitions(frames, rig):
    times = np.repeat(np.arange(LENGTH), 2)[:, None] * np.array([1, 1])
    made = synthesize(frames, Recipe((10, 300), LENGTH, times=times), rig=rig)
    assert len(made.root_positions) == 2 * LENGTH
    assert np.isfinite(made.local_quats).all()


def test_a_standing_body_between_two_stands_of_one_place_does_not_step(frames, rig):
    stand = frames.row_of("stand", 0)
    made = synthesize(frames, Recipe((stand, stand + 20), LENGTH, "eased"), rig=rig)
    assert made.planted[:, [1, 3]].all()
    assert made.foot_error < 0.02


def test_neither_heel_nor_ball_is_in_the_ground(frames, rig):
    lowest = []
    for recipe in some_recipes(frames, 20, 3):
        made = synthesize(frames, recipe, rig=rig)
        positions, world = made.motion(frames).world_pose()
        floor = min(frames.points[row : row + LENGTH, :, 1].min() for row in recipe.rows)
        for side in range(2):
            ankle = rig.legs[side, 2]
            for point in range(2):
                sole = positions[:, ankle] + quat.rotate(world[:, ankle], rig.soles[side, point])
                lowest.append(sole[:, 1].min() - floor)
    assert min(lowest) > -SINK_M


def test_knees_bend_forwards_and_not_too_far(frames, rig):
    for recipe in some_recipes(frames, 20, 3):
        made = synthesize(frames, recipe, rig=rig)
        positions, world = made.motion(frames).world_pose()
        for side, (hip, knee, ankle) in enumerate(rig.legs):
            axis = quat.rotate(world[:, hip], rig.axes[side])
            thigh = positions[:, knee] - positions[:, hip]
            shank = positions[:, ankle] - positions[:, knee]
            across = np.sum(np.cross(thigh, shank) * axis, axis=-1)
            flexion = np.degrees(np.arctan2(across, np.sum(thigh * shank, axis=-1)))
            assert flexion.min() > -1.0 and flexion.max() < 161.0


def test_labelled_points_stand(frames, rig):
    for recipe in some_recipes(frames, 12, 3):
        made = synthesize(frames, recipe, rig=rig)
        positions, world = made.motion(frames).world_pose()
        for column in range(4):
            ankle = rig.legs[column // 2, 2]
            local = rig.soles[column // 2, column % 2]
            point = positions[:, ankle] + quat.rotate(world[:, ankle], local)
            for first, last in runs_of(made.planted[:, column]):
                stands = point[first : last + 1]
                assert np.linalg.norm(stands[:, None] - stands, axis=-1).max() < 0.04
                if last > first:
                    step = np.linalg.norm(np.diff(stands, axis=0), axis=-1).max()
                    assert step * frames.fps < 0.301


def test_a_foot_that_is_let_go_does_not_run_away_from_the_blend():
    n, release = 60, 10
    held = np.full(n, NOT_HELD, dtype=np.int64)
    held[:release] = 0
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    foot[:, 2] = np.maximum(np.arange(n) - 5, 0) * 0.05  # 3 m/s at 60 fps from frame 5 on
    offsets = run_offsets(held, places, foot)
    size = np.linalg.norm(offsets, axis=-1)
    assert size[release - 1] > 0.15
    assert size.max() < size[release - 1] + 0.06
    assert size[-1] == 0.0
    assert np.abs(np.diff(foot + offsets, n=2, axis=0)).max() * 60.0**2 < 150.0
