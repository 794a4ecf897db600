"""Means of captured windows, bent to start and end as asked."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.index.contexts import Line, moments_at, turned
from motionloom.tables.synthesis.passage import Ends, _Ease, mean_window

LENGTH = 50
FLOAT32_M = 2e-4
"""What joints are off by where frames are kept in 32 bits."""
STEP_M = 3e-3
"""How much steps at an end may differ from those before it, metres, on average over joints:
velocities are those of the last 4/60 s."""


def passage_to(frames, row, rows, weights):
    first = np.array([row])
    line = Line.of_rows(frames, first, first + LENGTH - 1)
    start = moments_at(frames, first, line, 0.0, "start")
    end = moments_at(frames, first + LENGTH - 1, line, LENGTH - 1.0, "end")
    return mean_window(frames, rows, weights, Ends(LENGTH, line, start, end))


def joints_of(frames, passage):
    return forward_kinematics(frames.skeleton, passage.root_positions, passage.local_quats)[0]


@pytest.mark.parametrize("clip", ["walk_0", "run_1", "kick_0"])
def test_a_window_that_fits_comes_out_as_it_was_captured(kinds_frames, clip):
    row = kinds_frames.row_of(clip, 20)
    made = passage_to(kinds_frames, row, np.array([row]), np.ones(1))
    real = kinds_frames.motion(row, row + LENGTH - 1).world_positions()
    assert np.abs(joints_of(kinds_frames, made) - real).max() < FLOAT32_M


def test_both_ends_are_met_exactly_and_in_their_velocities(kinds_frames):
    row = kinds_frames.row_of("walk_0", 20)
    others = np.array([kinds_frames.row_of("sneak_0", 15), kinds_frames.row_of("stand_1", 30)])
    made = joints_of(kinds_frames, passage_to(kinds_frames, row, others, np.array([0.7, 0.3])))
    real = kinds_frames.motion(row - 1, row + LENGTH).world_positions()
    assert np.abs(made[[0, -1]] - real[[1, -2]]).max() < FLOAT32_M
    for step, before in (
        (made[1] - made[0], real[1] - real[0]),
        (made[-1] - made[-2], real[-1] - real[-2]),
    ):
        # Steps of 2 cm in the mean and 8 at most; the windows themselves hardly go.
        assert np.linalg.norm(step - before, axis=-1).mean() < STEP_M


def test_a_bend_has_the_values_and_velocities_asked_for():
    ease = _Ease(LENGTH, 60.0)
    a, b, at_a, at_b = 1.0, -2.0, 0.05, 0.03
    curve = ease.bend(*(np.asarray(v) for v in (a, b, at_a, at_b)))
    assert curve[0] == pytest.approx(a) and curve[-1] == pytest.approx(b)
    fine = _Ease(100 * LENGTH, 6000.0)
    smooth = fine.bend(*(np.asarray(v) for v in (a, b, at_a / 100, at_b / 100)))
    assert smooth[1] - smooth[0] == pytest.approx(at_a / 100, rel=1e-2)
    assert smooth[-1] - smooth[-2] == pytest.approx(at_b / 100, rel=1e-2)


def test_where_windows_were_captured_does_not_matter(kinds_motions, frames_in_any_order):
    moved = [ml.move(m, heading=1.0 + k, x=3.0 * k, z=-2.0) for k, m in enumerate(kinds_motions)]
    here, there = frames_in_any_order(kinds_motions), frames_in_any_order(moved)
    row = here.row_of("walk_0", 20)
    others = np.array([here.row_of("run_0", 15), here.row_of("walk_1", 40)])
    weights = np.array([0.5, 0.5])
    first = np.array([row])
    line = Line.of_rows(here, first, first + LENGTH - 1)
    ends = Ends(
        LENGTH,
        line,
        moments_at(here, first, line, 0.0, "start"),
        moments_at(here, first + LENGTH - 1, line, LENGTH - 1.0, "end"),
    )
    one = mean_window(here, others, weights, ends)
    two = mean_window(there, others, weights, ends)
    assert np.abs(joints_of(here, one) - joints_of(here, two)).max() < 5 * FLOAT32_M


def test_a_line_is_taken_off_and_put_back():
    rng = np.random.Generator(np.random.PCG64(3))
    line = Line(
        rng.normal(size=4), rng.normal(size=(4, 2)), rng.normal(size=4), rng.normal(size=(4, 2))
    )
    t = np.arange(5.0)
    heading, ground = rng.normal(size=(4, 5)), rng.normal(size=(4, 5, 2))
    turn, seen = line.seen(heading, ground, t)
    line_heading, line_ground = line.at(t)
    assert np.allclose(turn + line_heading, heading)
    assert np.allclose(line_ground + turned(seen, line_heading), ground)


def test_moments_at_a_clips_border_look_the_other_way(kinds_frames):
    row = np.array([kinds_frames.row_of("run_1", 0)])
    line = Line.of_rows(kinds_frames, row, row + LENGTH - 1)
    at = moments_at(kinds_frames, row, line, 0.0, "start")
    climb = kinds_frames.body[row[0] + 1, 0, 1] - kinds_frames.body[row[0], 0, 1]
    assert at.climb[0] == pytest.approx(climb, abs=1e-6)
    assert np.isfinite(at.spin).all()


def test_a_passage_turns_at_its_start_as_fast_as_is_asked_for(kinds_frames):
    row = kinds_frames.row_of("walk_0", 20)
    first, rows = np.array([row]), np.array([kinds_frames.row_of("sneak_0", 15)])
    line = Line.of_rows(kinds_frames, first, first + LENGTH - 1)
    start = moments_at(kinds_frames, first, line, 0.0, "start")
    end = moments_at(kinds_frames, first + LENGTH - 1, line, LENGTH - 1.0, "end")

    def facing(moments):
        made = mean_window(kinds_frames, rows, np.ones(1), Ends(LENGTH, line, moments, end))
        ahead = quat.rotate(made.local_quats[:, 0], np.array([0.0, 0.0, 1.0]))
        return np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))

    more = facing(start._replace(turn=start.turn + 0.02)) - facing(start)
    assert more[0] == pytest.approx(0.0, abs=1e-6)
    assert 0.012 < more[1] < 0.02
    assert more[-1] == pytest.approx(0.0, abs=1e-6)
