"""Straight ways between moments, against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.rotation import quat
from motionloom.tables.index.contexts import Line, moments_at, turned

# From (1, 2) to the right at 0.1 m a frame, turning by a quarter turn in ten frames.
LINE = Line(
    np.array([np.pi / 2]),
    np.array([[1.0, 2.0]]),
    np.array([np.pi / 20]),
    np.array([[0.1, 0.0]]),
)


def test_a_line_goes_on_evenly():
    heading, ground = LINE.at(np.array([0.0, 10.0]))
    assert heading == pytest.approx(np.array([[np.pi / 2, np.pi]]))
    assert ground == pytest.approx(np.array([[[1.0, 2.0], [2.0, 2.0]]]))


def test_what_lies_ahead_of_a_line_is_seen_ahead():
    # At frame 0 the line faces +X: a metre further along x is a metre ahead (z).
    # At frame 10 it faces -Z, with its left at -X: there it is a metre to the right.
    heading = np.array([[np.pi / 2 + 0.2, np.pi]])
    ground = np.array([[[2.0, 2.0], [3.0, 2.0]]])
    turn, seen = LINE.seen(heading, ground, np.array([0.0, 10.0]))
    assert turn == pytest.approx(np.array([[0.2, 0.0]]))
    assert seen == pytest.approx(np.array([[[0.0, 1.0], [-1.0, 0.0]]]), abs=1e-12)


def clips(fps, *lengths):
    """Clips of random rows, as much of them as moments need."""
    rng = np.random.default_rng(6)
    n = sum(lengths)
    return SimpleNamespace(
        fps=fps,
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        heading=rng.normal(size=n),
        ground=rng.normal(size=(n, 2)),
        quats=quat.normalize(rng.normal(size=(n, 3, 4))).astype(np.float32),
        body=rng.normal(size=(n, 3, 3)),
    )


REACHES = [
    # Rate, row, side, and the row that velocities are taken from, in clips of 3, 20 and 1 rows.
    (60.0, 12, "start", 8),
    (60.0, 12, "end", 16),
    (30.0, 12, "start", 10),
    (30.0, 12, "end", 14),
    (4.0, 12, "start", 11),
    (4.0, 12, "end", 13),
    (60.0, 5, "start", 3),  # as far as the clip goes
    (60.0, 20, "end", 22),
    (60.0, 3, "start", 4),  # its very border
    (60.0, 22, "end", 21),
    (60.0, 0, "end", 2),
    (60.0, 2, "start", 0),
]


@pytest.mark.parametrize(("fps", "row", "side", "other"), REACHES)
def test_velocities_are_differences_over_frames_away_from_the_gap(fps, row, side, other):
    frames = clips(fps, 3, 20, 1)
    ahead = other - row
    facing, turning = 0.7, 0.02
    line = Line(
        np.array([facing]), np.array([[2.0, -1.0]]), np.array([turning]), np.array([[0.03, 0.01]])
    )
    found = moments_at(frames, np.array([row]), line, 5.0, side)
    assert found.height == pytest.approx(frames.body[[row], 0, 1])
    assert found.climb == pytest.approx((frames.body[[other], 0, 1] - found.height) / ahead)
    heading = (frames.heading[other] - frames.heading[row]) / ahead
    assert found.turn == pytest.approx([heading - turning])
    places = [
        turned(
            frames.ground[at] - (np.array([2.0, -1.0]) + t * np.array([0.03, 0.01])),
            np.array(-(facing + t * turning)),
        )
        for at, t in ((row, 5.0), (other, 5.0 + ahead))
    ]
    assert found.step == pytest.approx((places[1] - places[0])[None] / ahead)
    then = quat.multiply(found.quats[0], quat.exp(ahead * found.spin[0]))
    assert quat.angle_between(found.quats[0], frames.quats[row]).max() < 1e-3
    assert quat.angle_between(then, frames.quats[other]).max() < 1e-3


@pytest.mark.parametrize("side", ["start", "end"])
def test_a_clip_of_one_frame_stands_still(side):
    frames = clips(60.0, 3, 1)
    line = Line(np.array([0.5]), np.array([[1.0, 2.0]]), np.array([0.0]), np.array([[0.0, 0.0]]))
    found = moments_at(frames, np.array([3]), line, 0.0, side)
    assert found.height.tolist() == [frames.body[3, 0, 1]]
    for still in (found.turn, found.step, found.climb, found.spin):
        assert np.abs(still).max() < 1e-15


def test_a_line_of_a_window_goes_from_its_first_row_to_its_last():
    frames = clips(60.0, 9)
    line = Line.of_rows(frames, np.array([1, 3]), np.array([5, 7]))
    for rows, t in (([1, 3], 0.0), ([5, 7], 4.0)):
        heading, ground = line.at(np.array([t]))
        assert heading[:, 0] == pytest.approx(frames.heading[rows])
        assert ground[:, 0] == pytest.approx(frames.ground[rows])


def test_a_quarter_turn_carries_ahead_to_the_left():
    ways = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert turned(ways, np.array(np.pi / 2)) == pytest.approx(
        np.array([[1.0, 0.0], [0.0, -1.0]]), abs=1e-12
    )
