"""Contexts in plain steps: into the world, back into the body, differences over frames."""

from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.index import index_build as growth_module
from motionloom.tables.index.contexts import (
    TURN_M,
    VELOCITY_S,
    WAY,
    context_offsets,
    contexts,
    displacements,
    spans_of,
)
from motionloom.tables.index.index_build import extend_index, growth_of
from motionloom.tables.index.windows import compared_joints
from tests.oracles import windows as plain

STARTS = np.array([0, 3, 20, 21])
RNG = np.random.default_rng(9)
HEADING, GROUND = RNG.normal(size=21), RNG.normal(size=(21, 2))
BODY = RNG.normal(size=(21, 4, 3)).astype(np.float32)
FLOAT32 = 1e-5


def filled(rows, offsets, joints, reach):
    """Contexts of the collection above, (N, D)."""
    rows, offsets, joints = (np.array(each, dtype=np.int64) for each in (rows, offsets, joints))
    out = np.zeros((len(rows), 3 * len(offsets) * len(joints)), dtype=np.float32)
    kernel("ml_window_contexts")(
        3, 21, 4, STARTS, HEADING, GROUND, BODY, len(joints), joints, reach,
        len(rows), rows, len(offsets), offsets, out,
    )  # fmt: skip
    return out


def turned(points, angle):
    """About +Y: positive angles carry +Z towards +X."""
    x, y, z = points.T
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * x + sin * z, y, cos * z - sin * x], axis=-1)


def seen(row, at, joints):
    """Joints at a row as the body at another row sees them, (J, 3)."""
    ground = np.array([GROUND[row, 0], 0.0, GROUND[row, 1]])
    origin = np.array([GROUND[at, 0], 0.0, GROUND[at, 1]])
    world = turned(BODY[row, joints].astype(float), HEADING[row]) + ground
    return turned(world - origin, -HEADING[at])


@pytest.mark.parametrize(
    ("side", "at", "rows"),
    [
        ("start", 12, (4, 8, 12)),
        ("end", 12, (12, 16, 19)),  # a clip ends at row 19
        ("end", 5, (5, 9, 13)),
        ("start", 8, (3, 4, 8)),
        ("start", 3, (3, 3, 3)),
        ("end", 19, (19, 19, 19)),
        ("end", 1, (1, 2, 2)),
        ("start", 20, (20, 20, 20)),  # a clip of one frame
    ],
)
def test_a_context_is_a_pose_and_two_mean_velocities(side, at, rows):
    joints, reach = np.array([0, 1, 3]), 12.0  # a velocity counts as the way of 12 frames
    offsets = context_offsets(60.0, side)
    out = filled([at], offsets, joints, reach)
    expected = []
    for row, offset in zip(rows, offsets, strict=True):
        if offset == 0:
            expected.append(seen(at, at, joints))
        elif row == at:
            expected.append(np.zeros((3, 3)))
        else:
            expected.append(reach * (seen(row, at, joints) - seen(at, at, joints)) / (row - at))
    scale = 1.0 / np.sqrt(3 * len(joints))
    assert out.reshape(3, 3, 3) == pytest.approx(scale * np.array(expected), abs=FLOAT32)


@pytest.mark.parametrize("offsets", [[-8, -4, 0], [0, 4, 8], [0], [-99, 10**9], []])
@pytest.mark.parametrize("joints", [[0, 1, 2, 3], [2], []])
def test_the_kernel_matches_its_plain_form(offsets, joints):
    rows = [*range(21), 5, 5]
    if not offsets or not joints:
        assert filled(rows, offsets, joints, 12.0).shape == (23, 0)
        return
    wanted = plain.contexts(
        STARTS, HEADING, GROUND, BODY, np.array(rows), np.array(offsets), np.array(joints), 12.0
    )
    assert filled(rows, offsets, joints, 12.0) == pytest.approx(wanted, abs=FLOAT32)
    assert filled([], offsets, joints, 12.0).shape == (0, wanted.shape[1])


@pytest.mark.parametrize("side", ["start", "end"])
def test_contexts_of_a_collection_match_the_plain_form(kinds_frames, side):
    f, rows = kinds_frames, np.arange(0, kinds_frames.n_rows, 7)
    joints, reach = compared_joints(f.skeleton, f.body_map), VELOCITY_S * f.fps
    wanted = plain.contexts(
        f.starts, f.heading, f.ground, f.body, rows, context_offsets(f.fps, side), joints, reach
    )
    assert contexts(f, rows, side=side) == pytest.approx(wanted, abs=FLOAT32)


def test_rows_joints_and_offsets_outside_are_refused(kinds_frames):
    for rows, offsets, joints in (
        ([21], [0], [0]),
        ([-1], [0], [0]),
        ([2**62], [0], [0]),
        ([0], [2**41], [0]),
        ([0], [-(2**62)], [0]),
        ([0], [0], [4]),
        ([0], [0], [-1]),
    ):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            filled(rows, offsets, joints, 12.0)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        contexts(kinds_frames, np.array([kinds_frames.n_rows]), side="start")


@pytest.mark.parametrize("starts", [[5, 3, 20, 21], [0, 3, 20, 22], [-9, 3, 20, 21]])
def test_clips_that_do_not_follow_one_another_are_never_read_outside(starts):
    out, joints, offsets = np.zeros((21, 3), np.float32), np.array([0]), np.array([4])
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_window_contexts")(
            3, 21, 4, np.array(starts), HEADING, GROUND, BODY, 1, joints, 12.0, 21, np.arange(21),
            1, offsets, out,
        )  # fmt: skip


@pytest.mark.parametrize(("fps", "reach"), [(60.0, 8), (120.0, 16), (30.0, 4), (10.0, 2)])
def test_a_context_reaches_eight_sixtieths_and_half_of_it(fps, reach):
    assert context_offsets(fps, "start").tolist() == [-reach, -reach // 2, 0]
    assert context_offsets(fps, "end").tolist() == [0, reach // 2, reach]


def test_a_displacement_is_seen_from_the_first_frame():
    frames = SimpleNamespace(
        heading=np.array([0.0, 0.5, np.pi / 2, -1.0]),
        ground=np.array([[1.0, 1.0], [4.0, 3.0], [0.0, 0.0], [5.0, 2.0]]),
    )
    found = displacements(frames, np.array([0, 2]), np.array([1, 3]))
    # Facing +Z, +X is to the left; facing +X, -Z is.
    expected = [
        [3.0 * WAY, 2.0 * WAY, 0.5 * TURN_M],
        [-2.0 * WAY, 5.0 * WAY, (-1.0 - np.pi / 2) * TURN_M],
    ]
    assert found == pytest.approx(np.array(expected))


def test_spans_are_the_first_and_last_rows_of_clips(kinds_frames):
    names = [kinds_frames.ids[3], kinds_frames.ids[0], kinds_frames.ids[-1]]
    starts = kinds_frames.starts
    expected = [[starts[3], starts[4] - 1], [0, starts[1] - 1], [starts[-2], starts[-1] - 1]]
    assert spans_of(kinds_frames, names).tolist() == expected
    assert spans_of(kinds_frames, []).shape == (0, 2)


def test_clips_to_leave_out_may_be_a_set(kinds_frames):
    assert (
        spans_of(kinds_frames, {"walk_0"}).tolist() == spans_of(kinds_frames, ["walk_0"]).tolist()
    )


@pytest.mark.parametrize("odd", ["walk_0", b"walk_0", 3, None, 0.5])
def test_clips_to_leave_out_are_a_list(kinds_frames, odd):
    with pytest.raises(ml.MotionLoomError, match="`exclude` must be a list of clips' ids"):
        spans_of(kinds_frames, odd)


def test_growth_knows_where_every_row_was_and_is():
    frames = SimpleNamespace(
        ids=("a", "b", "c"), starts=np.array([0, 2, 5, 6]), n_clips=3, n_rows=6
    )
    grown = growth_of(frames, ["c", "a"])
    assert grown.clips.tolist() == [1, -1, 0]
    assert grown.is_new.tolist() == [False, True, False]
    assert grown.rows.tolist() == [1, 2, -1, -1, -1, 0]
    assert grown.now.tolist() == [5, 0, 1]
    nothing = growth_of(frames, [])
    assert nothing.now.tolist() == []
    assert nothing.rows.tolist() == [-1] * 6


class GoesOnError(Exception):
    """The index is extended."""


@pytest.mark.parametrize(
    ("starts", "ends", "is_enough"),
    [([], [], True), ([3], [3], True), ([3], [4], False), ([3, 4], [], False), ([], [0, 9], False)],
)
def test_an_index_is_not_extended_where_its_books_lose_too_much(
    starts, ends, is_enough, monkeypatch
):
    """One of twenty rows may lose more than a centimetre, at its start or at its end."""

    def grown(known, side, book, frames, growth):
        lost = np.full(20, 0.01)
        lost[starts if side == "start" else ends] += 1e-3
        return known, lost

    def go_on(*arguments):
        raise GoesOnError

    monkeypatch.setattr(growth_module, "_grown_codes", grown)
    monkeypatch.setattr(growth_module, "windows_of", go_on)
    index = SimpleNamespace(starts=None, ends=None, books=(None,) * 7, length=4)
    growth = SimpleNamespace(rows=np.full(20, -1))
    if is_enough:
        with pytest.raises(GoesOnError):
            extend_index(index, SimpleNamespace(sound=None), growth)
    else:
        assert extend_index(index, None, growth) is None
