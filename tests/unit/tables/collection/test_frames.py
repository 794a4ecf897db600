"""Frames: flat arrays of a collection."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.tables.collection.frames import clip_frames, frames_of

FLOAT32_M = 2e-6
"""Positions are kept in single precision."""


@pytest.fixture(scope="module")
def motions():
    return [
        ml.synthetic.clip("walk", turn=0.8).motion.replace(name="walk"),
        ml.synthetic.clip("run").motion.replace(name="run"),
    ]


@pytest.fixture(scope="module")
def frames(motions):
    return frames_of(motions)


def test_a_clip_comes_back_where_it_was(frames, motions):
    first = frames.row_of("run", 5)
    again = frames.motion(first, first + 40)
    expected = motions[1].world_positions()[5:46]
    assert np.abs(again.world_positions() - expected).max() < FLOAT32_M


def test_the_body_is_seen_from_the_root_at_heading_zero(frames, motions):
    row = frames.row_of("walk", 30)
    world = motions[0].world_positions()[30]
    psi, (x, z) = frames.heading[row], frames.ground[row]
    body = frames.body[row].astype(float)
    back_x = np.cos(psi) * body[:, 0] + np.sin(psi) * body[:, 2] + x
    back_z = -np.sin(psi) * body[:, 0] + np.cos(psi) * body[:, 2] + z
    assert np.abs(back_x - world[:, 0]).max() < FLOAT32_M
    assert np.abs(back_z - world[:, 2]).max() < FLOAT32_M


def test_moving_a_clip_on_the_floor_changes_nothing_seen_from_the_body(motions):
    here = clip_frames(motions[0])
    there = clip_frames(ml.move(motions[0], heading=2.0, x=5.0, z=-3.0))
    assert np.abs(here.body - there.body).max() < FLOAT32_M
    assert np.abs(here.points - there.points).max() < FLOAT32_M
    assert (here.planted == there.planted).all()


def test_windows_stay_inside_one_clip(frames, motions):
    length = 60
    rows = frames.windows(length)
    assert len(rows) == sum(m.n_frames - length + 1 for m in motions)
    assert all(frames.clip_at(r) == frames.clip_at(r + length - 1) for r in rows)
    assert set(frames.windows(length, stride=7)) <= set(rows)


def test_clips_shorter_than_a_window_have_none(motions):
    assert len(frames_of([motions[0][:10]]).windows(11)) == 0


def test_rows_and_places_are_inverse(frames):
    row = frames.row_of("run", 17)
    assert frames.place_of(row) == ("run", 17)


def test_an_unknown_clip_or_frame_is_named(frames):
    with pytest.raises(TableError, match="A clip must be one of the collection"):
        frames.row_of("jump", 0)
    with pytest.raises(TableError, match="has frames 0 to"):
        frames.row_of("walk", 10_000)


def test_clips_of_another_rate_or_with_sliding_joints_are_refused(motions):
    with pytest.raises(SkeletonMismatchError, match="one skeleton and one rate"):
        frames_of([motions[0], ml.resample(motions[1], fps=30)])
    sliding = motions[0].replace(
        joint_translations=np.tile(motions[0].skeleton.offsets, (motions[0].n_frames, 1, 1))
    )
    with pytest.raises(SkeletonMismatchError, match="rigid bones"):
        clip_frames(sliding)
    with pytest.raises(ArrayError, match="at least one motion"):
        frames_of([])
