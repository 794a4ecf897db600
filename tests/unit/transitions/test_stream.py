"""A live character on a small table in memory: nothing jumps, whatever it is told."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.transitions.frames import frames_of
from motionloom.transitions.labels import Label
from motionloom.transitions.memory_table import table_in_memory
from motionloom.transitions.stream import stream

LENGTH = 30
NAMES = ("walk", "run", "stand", "sneak", "kick")
JUMP = 1.25
"""No joint steps farther, from frame to frame, than this times the fastest of all clips."""


@pytest.fixture(scope="module")
def table():
    clips = [ml.synthetic.clip(name) for name in NAMES]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, NAMES, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    labels = [Label("run", "running", 40, 200), Label("stand", "idle", 0, 240)]
    return table_in_memory(frames, length=LENGTH, clusters=5, keep=12, labels=labels)


@pytest.fixture(scope="module")
def fastest(table):
    frames = table.frames
    spans = zip(frames.starts[:-1], frames.starts[1:], strict=True)
    clips = [frames.motion(int(a), int(b) - 1).world_positions() for a, b in spans]
    return max(np.linalg.norm(np.diff(clip, axis=0), axis=-1).max() for clip in clips)


def play(live, table, count, orders=None):
    poses = []
    for n in range(count):
        if orders and n in orders:
            live.go(**orders[n])
        poses.append(live.step())
    root = np.stack([pose.root_position for pose in poses])
    quats = np.stack([pose.local_quats for pose in poses])
    return ml.Motion(table.frames.skeleton, root, quats, table.frames.fps), poses


def largest_step(motion):
    return np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max()


def test_without_orders_a_clip_is_played_as_it_is(table):
    motion, poses = play(stream(table, ("walk", 20)), table, 60)
    row = table.frames.row_of("walk", 20)
    captured = table.frames.motion(row, row + 59)
    assert np.abs(motion.world_positions() - captured.world_positions()).max() < 1e-6
    assert np.array_equal(poses[7].planted, table.frames.planted[row + 7])


def test_it_goes_to_a_label_and_plays_on_there(table, fastest):
    live = stream(table, ("walk", 20))
    motion, _ = play(live, table, 10 + LENGTH + 5, {10: {"label": "running"}})
    assert live.place[0] == "run"
    assert not live.in_transition
    assert largest_step(motion) < JUMP * fastest


def test_it_goes_to_a_frame(table):
    live = stream(table, ("walk", 20))
    play(live, table, 11 + LENGTH, {10: {"frame": ("kick", 80)}})
    clip, frame = live.place
    assert clip == "kick"
    assert 80 <= frame <= 84


def test_an_order_interrupts_a_transition_without_a_jump(table, fastest):
    for late in (2, 8, 15, 27):
        live = stream(table, ("walk", 20))
        orders = {10: {"label": "running"}, 10 + late: {"frame": ("sneak", 120)}}
        motion, _ = play(live, table, 10 + late + LENGTH + 3, orders)
        assert live.place[0] == "sneak"
        assert largest_step(motion) < JUMP * fastest


def test_at_a_clips_end_it_goes_on_somewhere(table, fastest):
    live = stream(table, ("run", 150))
    motion, _ = play(live, table, 400)
    assert not live.done
    assert largest_step(motion) < JUMP * fastest
    travelled = np.linalg.norm(np.diff(motion.root_positions[-60:, ::2], axis=0), axis=1).sum()
    assert travelled > 0.3  # a runner does not end up standing still


def test_an_order_at_the_very_end_of_a_clip_is_followed(table, fastest):
    last = int(table.frames.starts[1]) - 1
    live = stream(table, ("walk", last - 3))
    motion, _ = play(live, table, 60, {2: {"label": "idle"}})
    assert largest_step(motion) < JUMP * fastest
    assert live.place[0] == "stand"


def test_rotations_never_flip_sign(table):
    orders = {5: {"label": "running"}, 20: {"label": "idle"}, 70: {"frame": ("kick", 60)}}
    motion, poses = play(stream(table, ("sneak", 30)), table, 120, orders)
    raw = np.stack([pose.local_quats for pose in poses])
    assert (np.sum(raw[1:] * raw[:-1], axis=-1) > 0.0).all()
    assert np.abs(np.linalg.norm(motion.local_quats, axis=-1) - 1.0).max() < 1e-9


def test_orders_that_cannot_be_followed_are_refused_at_once(table):
    live = stream(table, ("walk", 0))
    with pytest.raises(ArrayError, match="by `label` or by `frame`"):
        live.go()
    with pytest.raises(TableError, match="idle, running"):
        live.go(label="flying")
    with pytest.raises(TableError, match="clip of the collection"):
        live.go(frame=("nobody", 3))
    assert not live.in_transition
