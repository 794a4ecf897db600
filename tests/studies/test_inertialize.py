"""Inertialized switches: where they start, how they fade, what they end in."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import frames_of
from studies.baselines.inertialize import (
    decayed,
    inertialized_transition,
    played_window,
)

FLOAT64 = 1e-9
FLOAT32 = 1e-6
LENGTH = 30


@pytest.fixture(scope="module")
def frames():
    names = ("walk", "run", "stand")
    return frames_of([ml.synthetic.clip(n, turn=0.0).motion.replace(name=n) for n in names])


@pytest.mark.parametrize("method", ["quintic", "spring"])
def test_a_difference_starts_whole_with_its_velocity_and_ends_in_nothing(method):
    t = np.linspace(0.0, 1.0, 10001)
    x = decayed(np.array([0.3]), np.array([-0.5]), t, blend_s=0.4, method=method)[:, 0]
    assert abs(x[0] - 0.3) < FLOAT64
    assert abs((x[1] - x[0]) / t[1] + 0.5) < 0.01
    assert np.abs(x[-1]) < 1e-4
    assert (x > -FLOAT64).all()


def test_a_spring_is_half_gone_after_a_quarter_of_its_time():
    x = decayed(np.array([1.0]), np.array([0.0]), np.array([0.1, 0.4]), method="spring")[:, 0]
    assert abs(x[0] - 0.5) < 1e-6
    assert abs(x[1] - 0.01) < 0.001


def test_a_quintic_is_over_in_time_and_sooner_where_it_would_overshoot():
    t = np.linspace(0.0, 0.6, 601)
    calm = decayed(np.array([1.0]), np.array([0.0]), t, blend_s=0.4)[:, 0]
    assert np.abs(calm[t >= 0.4]).max() < FLOAT64
    assert (np.diff(calm) < FLOAT64).all()
    quick = decayed(np.array([1.0]), np.array([-50.0]), t, blend_s=0.4)[:, 0]
    assert np.abs(quick[t >= 0.1]).max() < FLOAT64
    assert quick.min() > -FLOAT64


def test_a_quintic_is_smooth_at_its_end():
    t = np.linspace(0.35, 0.45, 1001)
    x = decayed(np.array([1.0]), np.array([-1.0]), t, blend_s=0.4)[:, 0]
    acceleration = np.diff(x, 2) / (t[1] - t[0]) ** 2
    assert np.abs(np.diff(acceleration)).max() < 0.5  # a jump would be tens
    assert np.abs(x).max() < 0.02


def test_a_vector_fades_along_itself():
    x = decayed(np.array([3.0, 4.0, 0.0]), np.zeros(3), np.linspace(0, 0.4, 9), blend_s=0.4)
    assert np.allclose(x[:, 0] * 4.0, x[:, 1] * 3.0)
    assert (decayed(np.zeros(3), np.ones(3), np.linspace(0, 0.4, 9)) == 0.0).all()


@pytest.mark.parametrize("method", ["quintic", "spring"])
def test_the_first_frame_is_the_source_where_it_stood_and_the_last_the_target(frames, method):
    source, target = frames.row_of("walk", 12), frames.row_of("run", 33)
    made = inertialized_transition(frames, source, target, LENGTH, method=method)
    motion = made.motion(frames)
    assert motion.n_frames == LENGTH == made.footplants().n_frames
    here = frames.motion(source, source)
    assert np.allclose(motion.world_positions()[0], here.world_positions()[0], atol=FLOAT32)
    close = FLOAT32 if method == "quintic" else 0.02
    assert np.allclose(made.local_quats[-1, 1:], frames.quats[target, 1:], atol=close)


def test_a_switch_to_what_would_have_come_anyway_changes_nothing(frames):
    source = frames.row_of("walk", 12)
    made = inertialized_transition(frames, source, source + LENGTH - 1, LENGTH)
    captured = frames.motion(source, source + LENGTH - 1)
    assert np.allclose(
        made.motion(frames).world_positions(), captured.world_positions(), atol=FLOAT32
    )


def test_no_joint_jumps_at_the_switch(frames):
    source, target = frames.row_of("run", 12), frames.row_of("walk", 33)
    steps = np.linalg.norm(
        np.diff(
            inertialized_transition(frames, source, target, LENGTH)
            .motion(frames)
            .world_positions(),
            axis=0,
        ),
        axis=-1,
    ).max()
    captured = np.linalg.norm(
        np.diff(frames.motion(frames.starts[1], frames.starts[2] - 1).world_positions(), axis=0),
        axis=-1,
    ).max()
    assert steps < 1.6 * captured


def test_a_window_led_into_another_pose_ends_there_and_plays_itself_between(frames):
    rows = np.arange(frames.row_of("walk", 5), frames.row_of("walk", 5) + 50)
    closing = frames.row_of("run", 20)
    made = played_window(frames, rows, closing=closing, blend_s=0.3)
    assert np.allclose(made.local_quats[-1, 1:], frames.quats[closing, 1:], atol=FLOAT32)
    assert np.allclose(made.local_quats[:10, 1:], frames.quats[rows[:10], 1:], atol=FLOAT32)
    assert abs(made.root_positions[-1, 1] - frames.body[closing, 0, 1]) < FLOAT32


def test_clips_of_one_frame_and_rows_at_ends_are_switched_from_too(frames):
    for source in (0, int(frames.starts[1]) - 1):
        made = inertialized_transition(frames, source, frames.row_of("run", 33), LENGTH)
        assert np.isfinite(made.root_positions).all()
    single = frames_of([frames.motion(3, 3, name="one"), frames.motion(0, 59, name="walk")])
    made = inertialized_transition(single, 0, 40, LENGTH)
    assert np.isfinite(made.local_quats).all()


def test_wrong_arguments_are_refused(frames):
    with pytest.raises(TableError, match="target"):
        inertialized_transition(frames, 0, int(frames.starts[1]) + 5, LENGTH)
    with pytest.raises(TableError, match="source"):
        inertialized_transition(frames, -1, 40, LENGTH)
    with pytest.raises(ArrayError, match="length"):
        inertialized_transition(frames, 0, 40, 1)
    with pytest.raises(ArrayError, match="blend_s"):
        inertialized_transition(frames, 0, 40, LENGTH, blend_s=0.0)
    with pytest.raises(ArrayError, match="quintic"):
        inertialized_transition(frames, 0, 40, LENGTH, method="cubic")
