"""What a game calls: names, places, poses, transitions and live characters."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom import _core
from motionloom._core import CoreError, blank, kernel
from motionloom.rotation import quat
from motionloom.tables.runtime_file import runtime_bytes
from tests.runtimes.opened import LABELS, LENGTH, NAMES, OpenedTable, memory_at, small_table

BAD_SIZE, DAMAGED, NOWHERE, OTHER_VERSION, UNALIGNED, TOO_SHORT = 1, 3, 4, 5, 6, 8
PLAYING, GOING, IN, ARRIVED = range(4)
KEPT_M = 1e-4
"""Of poses whose rotations are kept in 7 bytes."""
GUARD = 4096
"""Bytes behind a block that must stay as they are."""
STEP = 1.25
"""No joint steps farther, from frame to frame, than this times the fastest of all clips."""


@pytest.fixture(scope="module")
def table():
    return small_table()


@pytest.fixture(scope="module")
def data(table):
    return runtime_bytes(table)


@pytest.fixture(scope="module")
def opened(data):
    return OpenedTable(data)


@pytest.fixture(scope="module")
def fastest(table):
    frames = table.frames
    spans = pairwise(frames.starts)
    return max(largest_step(frames.motion(int(a), int(b) - 1)) for a, b in spans)


def largest_step(motion):
    return np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max()


def refused(status, name, *arguments):
    with pytest.raises(CoreError) as found:
        kernel(name)(*arguments)
    assert found.value.status == status, found.value


def test_the_version_is_that_of_the_package():
    version = kernel("ml_version")().decode()
    first, second, third = (int(part) for part in version.split("."))
    assert version == ml.__version__
    assert kernel("ml_version_number")() == 10000 * first + 100 * second + third


def test_every_status_has_words_of_its_own():
    words = [kernel("ml_status_text")(status) for status in range(-1, 10)]
    assert words[0] == words[-1] == b"no status of this library"
    assert len(set(words)) == 10
    assert all(len(each) < 80 for each in words)


def test_blocks_for_structs_are_as_large_as_the_binding_has_them():
    for kind in ("table", "stream", "frames"):
        assert kernel(f"ml_{kind}_size")() == ctypes.sizeof(_core._struct_type(f"ml_{kind}"))


def test_counts_are_those_of_the_table(table, opened):
    frames = table.frames
    found = [opened.call(f"n_{each}") for each in ("joints", "clips", "labels")]
    assert found == [frames.skeleton.n_joints, len(NAMES), len(LABELS)]
    assert (opened.call("fps"), opened.call("length")) == (frames.fps, LENGTH)


def test_names_are_found_and_given(table, opened):
    labels = sorted(label.label for label in LABELS)
    for kind, names in (
        ("joint", table.frames.skeleton.names),
        ("clip", table.frames.ids),
        ("label", labels),
    ):
        assert [opened.find(kind, name) for name in names] == list(range(len(names)))
        given = [opened.call(f"{kind}_name", k).decode() for k in range(len(names))]
        assert given == list(names)
        for outside in (-1, len(names), 2**40):
            assert opened.call(f"{kind}_name", outside) == b""
        for other in ("nobody", "", names[0] + "x", names[0][:-1]):
            assert opened.find(kind, other) == -1
    assert opened.find("joint", NAMES[0]) == -1, "clips are not joints"


def test_rows_clips_and_frames_go_both_ways(table, opened):
    starts = table.frames.starts
    for clip, (first, stop) in enumerate(pairwise(starts)):
        assert opened.call("clip_frames", clip) == stop - first
        for frame in (0, 7, stop - first - 1):
            row = opened.call("row", clip, frame)
            assert row == first + frame
            assert (opened.call("row_clip", row), opened.call("row_frame", row)) == (clip, frame)
        assert opened.call("row", clip, stop - first) == opened.call("row", clip, -1) == -1
    for clip in (-1, len(NAMES), 2**62):
        assert opened.call("clip_frames", clip) == 0
        assert opened.call("row", clip, 0) == -1
    for row in (-1, int(starts[-1]), -(2**63), 2**63 - 1):
        assert opened.call("row_clip", row) == opened.call("row_frame", row) == -1


def test_joints_have_their_parents_and_offsets(table, opened):
    skeleton, offset = table.frames.skeleton, np.zeros(3)
    for joint, parent in enumerate(skeleton.parents):
        assert opened.call("joint_parent", joint) == parent
        opened.call("joint_offset", joint, offset)
        np.testing.assert_array_equal(offset, skeleton.offsets[joint])
    for joint in (-1, skeleton.n_joints):
        assert opened.call("joint_parent", joint) == -1
        opened.call("joint_offset", joint, offset)
        assert not offset.any()


def test_a_captured_pose_stands_where_its_clip_has_it(table, opened):
    frames = table.frames
    for row in (0, 100, int(frames.starts[-1]) - 1):
        root, quats, planted = opened.pose("ml_table_pose", opened.record, row)
        captured = frames.motion(row, row)
        assert np.abs(root - captured.root_positions[0]).max() < KEPT_M
        assert quat.angle_between(quats, captured.local_quats[0]).max() < KEPT_M
        np.testing.assert_array_equal(planted.astype(bool), frames.planted[row])
    for row in (-1, int(frames.starts[-1])):
        refused(NOWHERE, "ml_table_pose", opened.record, row, root, quats, planted)


def test_joints_of_a_pose_stand_in_the_world_as_a_motion_has_them(table, opened):
    root, quats, planted = opened.pose("ml_table_pose", opened.record, 100)
    positions, rotations = np.zeros((opened.n_joints, 3)), np.zeros((opened.n_joints, 4))
    opened.call("world", root, quats, positions, rotations)
    motion = opened.motion(table.frames.skeleton, [(root, quats, planted)])
    wanted, turned = motion.world_pose()
    np.testing.assert_allclose(positions, wanted[0], atol=1e-12)
    assert quat.angle_between(rotations, turned[0]).max() < 1e-7


def test_a_transition_leaves_and_arrives_as_its_clips_do(table, opened):
    frames = table.frames
    walk, run = int(frames.starts[0]) + 40, int(frames.starts[1]) + 90
    made = opened.transition(frames.skeleton, "transition", walk, run)
    assert made.n_frames == LENGTH
    first, last = frames.motion(walk, walk), frames.motion(run, run)
    assert np.abs(made.world_positions()[0] - first.world_positions()[0]).max() < 0.01
    ends = quat.angle_between(made.local_quats[-1, 1:], last.local_quats[0, 1:])
    assert ends.max() < 0.1


def test_a_transition_to_a_label_arrives_in_a_frame_with_it(table, opened):
    frames, label = table.frames, opened.find("label", "running")
    made = opened.transition(frames.skeleton, "transition_to_label", 40, label)
    rows = [table.frames.row_of("run", frame) for frame in range(40, 201)]
    ends = [
        quat.angle_between(made.local_quats[-1, 1:], frames.motion(r, r).local_quats[0, 1:]).max()
        for r in rows
    ]
    assert min(ends) < 0.1
    refused(
        NOWHERE, "ml_table_transition_to_label", opened.record, 40, len(LABELS), opened.frames()
    )
    refused(NOWHERE, "ml_table_transition_to_label", opened.record, 40, -1, opened.frames())


def test_places_that_are_none_are_refused(opened, table):
    last = int(table.frames.starts[-1])
    for src, dst in ((-1, 5), (5, -1), (last, 5), (5, last), (2**62, 5)):
        refused(NOWHERE, "ml_table_transition", opened.record, src, dst, opened.frames())
    memory = memory_at(kernel("ml_stream_memory")(opened.record))
    for row in (-1, last):
        refused(
            NOWHERE, "ml_stream_open", opened.record, row, len(memory), memory, blank("ml_stream")
        )
    live = opened.live(0)
    for row in (-1, last):
        refused(NOWHERE, "ml_stream_go_to_row", live.record, row)
    for label in (-1, len(LABELS)):
        refused(NOWHERE, "ml_stream_go_to_label", live.record, label)


def test_frames_that_are_not_made_are_refused(opened):
    made, pose = opened.frames(), (np.zeros(3), np.zeros((opened.n_joints, 4)), np.zeros(4, "u1"))
    refused(NOWHERE, "ml_frames_pose", made, 0, *pose)
    opened.call("transition", 40, 300, made)
    for frame in (-1, LENGTH):
        refused(NOWHERE, "ml_frames_pose", made, frame, *pose)


def test_memory_that_is_too_small_or_not_aligned_is_refused(opened, data):
    file = opened.file
    size = kernel("ml_table_memory")(len(data), file)
    for n, odd, status in ((size - 1, 0, BAD_SIZE), (0, 0, BAD_SIZE), (size, 8, UNALIGNED)):
        memory = memory_at(n, odd=odd)
        refused(status, "ml_table_open", len(data), file, n, memory, blank("ml_table"))
    size = kernel("ml_stream_memory")(opened.record)
    for n, odd, status in ((size - 1, 0, BAD_SIZE), (size, 8, UNALIGNED), (size, 1, UNALIGNED)):
        memory = memory_at(n, odd=odd)
        refused(status, "ml_stream_open", opened.record, 0, n, memory, blank("ml_stream"))
    size = kernel("ml_frames_memory")(opened.record)
    for n, odd, status in ((size - 1, 0, BAD_SIZE), (size, 4, UNALIGNED)):
        memory = memory_at(n, odd=odd)
        refused(status, "ml_frames_open", opened.record, n, memory, blank("ml_frames"))


def test_a_table_writes_nothing_outside_its_memory(data, opened):
    size = kernel("ml_table_memory")(len(data), opened.file)
    block, record = memory_at(size + GUARD), blank("ml_table")
    block[:] = 0xA5
    kernel("ml_table_open")(len(data), opened.file, size, block[:size], record)
    for row in range(5, 1000, 90):
        kernel("ml_table_transition")(record, row, 1000 - row, opened.frames())
    assert (block[size:] == 0xA5).all()


def test_a_character_writes_nothing_outside_its_memory(opened):
    size = kernel("ml_stream_memory")(opened.record)
    block, record = memory_at(size + GUARD), blank("ml_stream")
    block[:] = 0xA5
    kernel("ml_stream_open")(opened.record, 0, size, block[:size], record)
    record.table = opened.record
    for frame in range(400):
        if frame % 17 == 5:
            kernel("ml_stream_go_to_row")(record, 37 * frame % 1000)
        opened.pose("ml_stream_step", record)
    assert (block[size:] == 0xA5).all()


def test_a_character_shows_its_clip_from_its_row_on(table, opened):
    live = opened.live(50)
    assert (live.call("now"), live.call("in_transition"), live.call("doing")) == (50, 0, PLAYING)
    for frame in range(20):
        root, quats, _ = live.step()
        wanted, turned, _ = opened.pose("ml_table_pose", opened.record, 50 + frame)
        np.testing.assert_allclose(root, wanted, atol=1e-12)
        assert quat.angle_between(quats, turned).max() < 1e-7
        assert live.call("now") == 50 + frame


def test_a_character_goes_to_a_label_and_to_a_frame_without_a_jump(table, opened, fastest):
    frames, poses = table.frames, []
    live = opened.live(20)
    poses += live.steps(10)
    live.call("go_to_label", opened.find("label", "running"))
    assert live.call("doing") == GOING
    poses += live.steps_until_it_leaves()
    clip, frame = frames.place_of(live.call("now"))
    assert (clip, 40 <= frame <= 200) == ("run", True)
    poses += live.steps(LENGTH + 5)
    assert live.call("doing") == ARRIVED
    assert frames.place_of(live.call("now"))[0] == "run"
    goal = opened.call("row", opened.find("clip", "stand"), 100)
    live.call("go_to_row", goal)
    poses += live.steps_until_it_leaves()
    assert live.call("frames_left") == LENGTH - 2
    poses += live.steps(LENGTH - 2)
    assert (live.call("now"), live.call("doing"), live.call("in_transition")) == (goal, ARRIVED, 0)
    poses += live.steps(200)
    motion = opened.motion(frames.skeleton, poses)
    assert largest_step(motion) < STEP * fastest


def test_a_label_that_is_too_short_is_not_held_and_the_order_before_stays(opened):
    running, twitch = opened.find("label", "running"), opened.find("label", "twitch")
    assert opened.call("hold_frames") == LENGTH // 2 + 1
    longest = [opened.call("label_longest", label) for label in (running, twitch, -1, 99)]
    assert longest == [161, 5, 0, 0]
    live = opened.live(20)
    live.call("hold_label", running)
    refused(TOO_SHORT, "ml_stream_hold_label", live.record, twitch)
    live.steps(3 * LENGTH)
    assert live.call("doing") == IN
    assert opened.call("row_clip", live.call("now")) == NAMES.index("run")


def test_patience_is_a_time_and_thinking_has_a_budget(opened):
    live = opened.live(28)
    for wrong in (-0.1, np.nan, np.inf):
        refused(BAD_SIZE, "ml_stream_set_patience", live.record, wrong)
    live.steps(5)
    live.call("hold_label", opened.find("label", "running"))
    live.call("think", 0)
    assert not live.call("in_transition")
    live.call("think", 100)  # it ends where the transition is ready
    live.step()
    assert live.call("in_transition") == 1
    live.steps(LENGTH)
    assert live.call("doing") == IN


def test_a_frame_is_made_of_rows_whose_shares_add_up_to_one(opened):
    live = opened.live(20)
    rows, weights, changed = np.zeros(16, dtype=np.int64), np.zeros(16), np.zeros(1, dtype=np.uint8)
    assert live.call("made_of", rows, weights, changed) == 0
    live.step()
    assert live.call("made_of", rows, weights, changed) == 1
    assert (rows[0], weights[0], changed[0]) == (20, 1.0, 0)
    seen = 0
    for frame in range(200):
        if frame % 11 == 3:
            live.call("go_to_row", 61 * frame % 1100)
        live.step()
        n = live.call("made_of", rows, weights, changed)
        assert abs(weights[:n].sum() - 1.0) < 1e-12
        assert len(set(rows[:n].tolist())) == n
        seen = max(seen, n)
    assert seen > 4


def test_the_last_order_counts(table, opened):
    live = opened.live(20)
    live.steps(3)
    live.call("go_to_label", opened.find("label", "running"))
    live.call("go_to_label", opened.find("label", "idle"))
    live.steps_until_it_leaves()
    assert table.frames.place_of(live.call("now"))[0] == "stand"


def test_the_same_orders_give_the_same_bits_in_other_memory(data):
    def play():
        opened = OpenedTable(data)
        live, shown = opened.live(20), []
        for frame in range(150):
            if frame % 25 == 10:
                live.call("go_to_row", 61 * frame % 1100)
            shown.append(np.concatenate([part.ravel() for part in live.step()]))
        return np.array(shown)

    np.testing.assert_array_equal(play(), play())


def test_a_table_is_shared_with_another_thread(opened):
    def played(table):
        live, shown = table.live(20), []
        for frame in range(120):
            if frame % 15 == 0:
                live.call("go_to_row", 61 * frame % 1100)
            shown += [part.tobytes() for part in live.step()]
        return b"".join(shown)

    size = kernel("ml_table_share_memory")(opened.record)
    for n, odd, status in ((size - 1, 0, BAD_SIZE), (size, 8, UNALIGNED)):
        again = memory_at(n, odd=odd)
        refused(status, "ml_table_share", opened.record, n, again, blank("ml_table"))
    others = [opened.shared() for _ in range(2)]
    assert played(others[0]) == played(opened) == played(others[1])


@pytest.mark.parametrize("after", [0, 1, 15, 45, 80])
def test_a_character_that_is_put_elsewhere_goes_on_from_there(table, opened, after):
    """Before its first frame, in a clip, and inside a transition: the same motion, moved."""
    skeleton, here, there = table.frames.skeleton, opened.live(20), opened.live(20)
    for live in (here, there):
        for frame in range(after):
            if frame == 10:
                live.call("go_to_label", opened.find("label", "running"))
            live.step()
    there.call("place", 0.7, 3.0, -2.0)
    here_poses, there_poses = here.steps(1), there.steps(1)
    for live, poses in ((here, here_poses), (there, there_poses)):
        live.call("go_to_label", opened.find("label", "idle"))
        poses += live.steps(60)
    a, b = opened.motion(skeleton, here_poses), opened.motion(skeleton, there_poses)
    about = quat.multiply(b.local_quats[0, 0], quat.conjugate(a.local_quats[0, 0]))
    moved = ml.move(a, heading=float(2.0 * np.arctan2(about[2], about[0])))
    start = b.root_positions[0] - moved.root_positions[0]
    assert abs(start[1]) < 1e-9
    moved = ml.move(moved, x=float(start[0]), z=float(start[2]))
    np.testing.assert_allclose(moved.world_positions(), b.world_positions(), atol=1e-6)
    if after == 0:
        np.testing.assert_allclose(b.root_positions[0, ::2], [3.0, -2.0], atol=1e-9)


def test_a_character_is_put_nowhere_that_is_no_place(opened):
    live = opened.live(20)
    for place in ((np.nan, 0.0, 0.0), (0.0, np.inf, 0.0), (0.0, 0.0, -1e9)):
        refused(NOWHERE, "ml_stream_place", live.record, *place)


def test_a_character_plays_on_after_an_order_that_cannot_be_followed(opened):
    live = opened.live(20)
    live.steps(3)
    live.call("go_to_row", 300)
    live.record.goal_row = -5  # go_to_row refuses it
    with pytest.raises(CoreError) as found:
        live.step()
    assert found.value.status == NOWHERE
    live.step()
    assert (live.call("now"), live.call("in_transition"), live.call("doing")) == (23, 0, PLAYING)


def test_the_header_is_c_plus_plus_as_well(tmp_path: Path):
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    program = tmp_path / "include.cpp"
    program.write_text('#include "motionloom.h"\nint main() { return ML_OK; }\n')
    command = [compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [*command, f"-I{_core.FOLDER}", str(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
