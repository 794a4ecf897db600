"""Blends leave out sudden frames at the ends of their examples, and blends of cycles nothing."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.blend import check_of

WALKS = [ml.synthetic.clip("walk", turn=turn, duration_s=3.0).motion for turn in (-0.5, 0.5)]


def jolted(motion: ml.Motion, frame: int) -> ml.Motion:
    """The motion with a pelvis that jumps away for a frame."""
    root = np.array(motion.root_positions)
    root[frame, 0] += 0.15
    return motion.replace(root_positions=root)


def test_a_blend_of_sound_clips_is_whole():
    made = ml.blend(ml.register(WALKS), [0.5, 0.5])
    assert made.trimmed == (0, 0)


@pytest.mark.parametrize(("frame", "end"), [(5, 0), (-6, 1)])
def test_a_jolt_near_an_end_is_left_out_and_noted(frame, end):
    clips = [jolted(WALKS[0], frame), WALKS[1]]
    whole = ml.blend(ml.register(WALKS, repair_knees=None, ends="match"), [0.5, 0.5])
    made = ml.blend(ml.register(clips, repair_knees=None, ends="match"), [0.5, 0.5])
    assert 4 <= made.trimmed[end] <= 15
    assert made.trimmed[1 - end] == 0
    assert made.motion.n_frames == pytest.approx(whole.motion.n_frames - made.trimmed[end], abs=2)
    assert len(made.u) == made.provenance.n_frames == made.motion.n_frames
    assert any("left out" in note for note in made.notes)


TURNS = [ml.synthetic.clip("walk", turn=turn).motion for turn in (0.6, 0.0, -0.6)]
"""Their cycles are cut where the right leg is fastest."""


@pytest.fixture(scope="module")
def cycles():
    return ml.register(TURNS, cycles=True)


@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (0.2, 0.3, 0.5)])
def test_repeated_cycles_are_compared_with_the_clips_they_were_cut_from(cycles, weights):
    made = ml.blend(cycles, weights, duration_s=5.0)
    assert made.verification.passed, made.verification.describe()
    assert ml.verify(made.motion, sources=TURNS, footplants=made.footplants).passed


def test_a_blend_of_cycles_is_a_whole_cycle(cycles):
    made = ml.blend(cycles, [0.5, 0.0, 0.5])
    assert made.trimmed == (0, 0)
    assert made.motion.n_frames == cycles.motions[1].n_frames
    joints = made.motion.local_quats[:, 1:]  # the root turns with the way
    steps = np.abs(np.diff(joints, axis=0)).max()
    assert np.abs(joints[0] - joints[-1]).max() < steps
    assert made.verification.passed, made.verification.describe()


def test_a_jolt_where_a_cycle_is_repeated_fails_the_check(cycles):
    made = ml.blend(cycles, [0.0, 1.0, 0.0], duration_s=3.0)
    seam = cycles.motions[1].n_frames
    jumping = jolted(made.motion, seam)
    assert check_of(cycles).verify(made.motion, footplants=made.footplants).passed
    assert not check_of(cycles).verify(jumping, footplants=made.footplants).passed


PACES = [ml.synthetic.clip("walk", speed=speed, duration_s=3.0).motion for speed in (1.0, 1.5)]
"""Clips whose blends come to the end of their curve between two frames."""
CALLED = {
    "a curve": (lambda: ml.register(PACES), [0.6, 0.4]),
    "matched ends": (lambda: ml.register(PACES, ends="match"), [0.35, 0.65]),
    "cycles": (lambda: ml.register(TURNS, cycles=True), [0.5, 0.2, 0.3]),
    "beyond the clips": (lambda: ml.register(PACES, ends="match"), [-0.2, 1.2]),
    "a jolt at the end": (
        lambda: ml.register([jolted(WALKS[0], -6), WALKS[1]], repair_knees=None, ends="match"),
        [0.5, 0.5],
    ),
}


@pytest.mark.filterwarnings("ignore::motionloom.MotionLoomWarning")
@pytest.mark.parametrize("options", [{}, {"backwards": True, "clean": False}, {"euler": True}])
@pytest.mark.parametrize("name", CALLED)
def test_a_function_that_returns_the_same_weights_is_those_weights(name, options):
    register, weights = CALLED[name]
    curve, asked = register(), []

    def called(second):
        asked.append(second)
        return weights

    made, wanted = ml.blend(curve, called, **options), ml.blend(curve, weights, **options)
    assert made.trimmed == wanted.trimmed
    assert np.array_equal(made.u, wanted.u)
    assert made.provenance.json() == wanted.provenance.json()
    assert np.array_equal(made.motion.local_quats, wanted.motion.local_quats)
    assert np.array_equal(made.motion.root_positions, wanted.motion.root_positions)
    assert made.verification.failed == wanted.verification.failed
    fps = curve.motions[0].fps
    assert asked == pytest.approx(np.arange(len(asked)) / fps)
    assert len(asked) == sum(made.trimmed) + made.motion.n_frames


def test_a_function_of_the_time_passes_its_check_up_to_the_end_of_the_curve():
    curve = ml.register(PACES)
    made = ml.blend(curve, lambda second: [0.4 * second, 1.0 - 0.4 * second])
    weights = made.provenance.body.weight
    table = ml.blend(curve, [*weights, *weights[-1:]], clean=False)
    assert np.abs(made.u[: len(table.u)] - table.u[: len(made.u)]).max() < 0.6
    steps = np.diff(made.u)
    assert made.u[-1] == curve.u_range[1]
    assert abs(steps[-1] - steps[-2]) < 0.05
    assert np.allclose(weights[:, 0], 0.4 / 60.0 * np.arange(len(made.u)))
    assert made.verification.passed, made.verification.describe()


@pytest.mark.parametrize("duration_s", [None, 1.0])
def test_a_function_must_return_one_row(duration_s):
    with pytest.raises(ml.ArrayError, match="one row for one frame, got 2 rows"):
        ml.blend(ml.register(WALKS), lambda second: [[0.5, 0.5]] * 2, duration_s=duration_s)
