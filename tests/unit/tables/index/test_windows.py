"""Windows: seen from their centre frames, and how far they are apart."""

import dataclasses

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index import windows as module
from motionloom.tables.index.windows import (
    compared_joints,
    distances,
    stream_features,
    window_features,
    window_from,
    window_shape,
    window_to,
    windows_of,
)
from tests.oracles import windows as plain

LENGTH = 60
FLOAT32_M = 5e-6
"""Positions of a few metres in single precision."""
PRODUCT_M = 3e-3
"""Distances near zero, from products in single precision: the root of their rounding."""


@pytest.fixture(scope="module")
def motions():
    return [
        ml.synthetic.clip("walk", turn=0.8).motion.replace(name="walk"),
        ml.synthetic.clip("run").motion.replace(name="run"),
    ]


@pytest.fixture(scope="module")
def frames(motions):
    return frames_of(motions)


@pytest.fixture(scope="module")
def shape(frames):
    return window_shape(frames, LENGTH)


def test_features_are_the_joints_seen_from_the_centre_frame(frames, motions, shape):
    row = frames.row_of("walk", 20)
    world = motions[0].world_positions()[20 : 20 + LENGTH]
    psi, ground = frames.heading[row + LENGTH // 2], frames.ground[row + LENGTH // 2]
    x, z = world[..., 0] - ground[0], world[..., 2] - ground[1]
    seen = np.stack(
        [np.cos(psi) * x - np.sin(psi) * z, world[..., 1], np.sin(psi) * x + np.cos(psi) * z], -1
    )[np.ix_(shape.offsets, shape.joints)]
    expected = seen.ravel() / np.sqrt(len(shape.offsets) * len(shape.joints))
    assert np.abs(window_features(frames, np.array([row]), shape)[0] - expected).max() < FLOAT32_M


def test_the_centre_frame_is_among_the_samples_and_the_whole_window_is_covered(frames):
    for length in (2, 7, 30, 60, 61, 120):
        shape = window_shape(frames, length)
        assert shape.centre in shape.offsets
        step = np.diff(shape.offsets).max(initial=1)
        assert shape.offsets[0] < step
        assert length - 1 - shape.offsets[-1] < step


def test_a_clip_somewhere_else_has_the_same_features(motions, shape):
    rows = np.arange(0, 60, 7)
    here = window_features(frames_of(motions[:1]), rows, shape)
    there = frames_of([ml.move(motions[0], heading=2.0, x=5.0, z=-3.0)])
    assert np.abs(here - window_features(there, rows, shape)).max() < FLOAT32_M


def test_distance_is_the_root_mean_square_over_joints_and_samples(frames, shape):
    rows = frames.windows(LENGTH, stride=17)
    features = window_features(frames, rows, shape)
    found = distances(features, features[:5])
    expected = np.linalg.norm(features[:, None].astype(float) - features[None, :5], axis=-1)
    assert np.abs(found - expected).max() < PRODUCT_M
    assert np.abs(found - expected)[expected > 0.1].max() < FLOAT32_M


def test_streamed_features_are_the_same_ones(frames, shape):
    rows = frames.windows(LENGTH)
    pieces = list(stream_features(frames, rows, shape, block=37))
    assert [part.start for part, _ in pieces] == list(range(0, len(rows), 37))
    together = np.concatenate([block for _, block in pieces])
    assert np.array_equal(together, window_features(frames, rows, shape))


@pytest.mark.parametrize("step", [1, -1])
def test_frames_are_released_after_as_many_bytes_whichever_way_rows_go(
    frames, shape, step, monkeypatch
):
    released = []
    monkeypatch.setattr(module, "release_frames", released.append)
    monkeypatch.setattr(module, "RELEASED_BYTES", 18 * frames.body[0].nbytes)
    rows = np.ascontiguousarray(np.arange(101)[::step])
    at = []
    for part, _ in stream_features(frames, rows, shape, block=10):
        assert part.stop - part.start == min(10, 101 - part.start)
        at.append(len(released))
    # Ten windows reach over nine rows: 27 of them are more than 18, as 18 are not.
    assert at == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert all(each is frames for each in released)


def test_fingers_and_joints_on_their_parent_are_not_compared(frames):
    skeleton, body = frames.skeleton, frames.body_map
    joints = compared_joints(skeleton, body)
    for role in ("left_wrist", "right_toe", "left_knee", "pelvis", "head"):
        assert getattr(body, role) in joints
    below = [j for j in range(skeleton.n_joints) if skeleton.parents[j] == body.left_wrist]
    assert not set(below) & set(joints)
    offsets = np.array(skeleton.offsets)
    offsets[body.left_wrist] = 0.0
    flat = ml.Skeleton(skeleton.names, skeleton.parents, offsets)
    assert body.left_wrist not in compared_joints(flat, body)


def test_a_skeleton_without_roles_is_compared_by_all_its_joints():
    chain = ml.Skeleton(["a", "b", "c"], [-1, 0, 1], [[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert list(compared_joints(chain, ml.BodyMap())) == [0, 1]


def test_a_window_near_a_clips_end_is_its_last_one(frames):
    first, last = frames.row_of("walk", 0), frames.row_of("run", 0) - 1
    assert window_from(frames, first + 3, LENGTH) == (first + 3, 0)
    assert window_from(frames, last, LENGTH) == (last - LENGTH + 1, LENGTH - 1)
    assert window_to(frames, last, LENGTH) == (last - LENGTH + 1, 0)
    assert window_to(frames, first + 9, LENGTH) == (first, LENGTH - 10)
    assert window_to(frames, last + 1, LENGTH) == (last + 1, LENGTH - 1)


def test_a_clip_shorter_than_a_window_can_not_be_gone_from(frames):
    with pytest.raises(TableError, match=r"'run' must have at least 9999 frames"):
        window_from(frames, frames.row_of("run", 0), 9999)


def test_too_few_windows_are_refused(frames):
    with pytest.raises(TableError, match=r"the longest of the 2 clips has .* shorter `length_s`"):
        windows_of(frames, 5000)
    with pytest.raises(TableError, match=r"at least 9000 windows .* fewer clusters"):
        windows_of(frames, LENGTH, stride=5, at_least=9000)
    with pytest.raises(TableError, match="stride"):
        windows_of(frames, LENGTH, stride=0)
    with pytest.raises(TableError, match="at least 2 frames"):
        window_shape(frames, 1)


def test_memory_mapped_frames_give_the_same_features(frames, shape, tmp_path):
    mapped = {}
    for name in ("heading", "ground", "body"):
        np.save(tmp_path / f"{name}.npy", getattr(frames, name))
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    rows = frames.windows(LENGTH, stride=9)
    there = window_features(dataclasses.replace(frames, **mapped), rows, shape)
    assert np.array_equal(there, window_features(frames, rows, shape))


def test_a_clip_of_just_one_window_can_be_gone_from_and_to():
    walk = ml.synthetic.clip("walk").motion
    frames = frames_of([walk[:30].replace(name="a"), walk[:29].replace(name="b")])
    for row in (0, 15, 29):
        assert window_from(frames, row, 30) == (0, row)
        assert window_to(frames, row, 30) == (0, 29 - row)
    for go in (window_from, window_to):
        with pytest.raises(TableError, match="must have at least 30 frames"):
            go(frames, 40, 30)


@pytest.mark.parametrize("length", [2, 17, LENGTH])
def test_the_kernel_matches_its_plain_form(frames, length):
    shape, rows = window_shape(frames, length), frames.windows(length, stride=11)
    wanted = plain.features(
        frames.heading, frames.ground, frames.body, rows, shape.centre, shape.offsets, shape.joints
    )
    assert np.abs(window_features(frames, rows, shape) - wanted).max() < FLOAT32_M
    assert window_features(frames, rows[:0], shape).shape == (0, shape.width)


@pytest.mark.parametrize("row", [-1, 10**9, 2**62])
def test_windows_outside_the_collection_are_refused(frames, shape, row):
    with pytest.raises(ArrayError, match="sizes do not fit"):
        window_features(frames, np.array([0, row]), shape)
    last = frames.n_rows - int(shape.offsets[-1])
    window_features(frames, np.array([last - 1]), shape)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        window_features(frames, np.array([last]), shape)
