"""Laws of embedded clips, at any speed, cadence, turn, stature and seed in range."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from motionloom import synthetic
from motionloom.body.anatomy import foot_points
from motionloom.body.mirror import mirror
from motionloom.errors import ArrayError
from motionloom.motion.motion import KINDS
from motionloom.synthetic.gait import gait_at
from motionloom.synthetic.synthetic_skeleton import rig

STILL_M = 1e-9
MIRRORED_M = 1e-6
FLOOR_M = 1e-9

GAIT_SPEEDS = {"walk": (0.35, 1.95), "jog": (1.7, 3.3), "run": (2.7, 5.5), "tiptoe": (0.4, 1.2)}
few = settings(max_examples=25, deadline=None)


@st.composite
def asked(draw):
    kind = draw(st.sampled_from(sorted(GAIT_SPEEDS)))
    speed = draw(st.floats(*GAIT_SPEEDS[kind]))
    usual = gait_at(kind, speed=speed, cadence=None, height=1.75).cadence
    return {
        "kind": kind,
        "speed": speed,
        "cadence": usual * draw(st.floats(0.95, 1.25)),
        "turn": draw(st.floats(-1.5, 1.5)),
        "seed": draw(st.integers(0, 10_000)),
        "phase": draw(st.floats(-2.0, 2.0)),
    }


def make(options, **more):
    try:
        return synthetic.clip(**options, **more)
    except ArrayError:
        assume(False)


@few
@given(asked())
def test_planted_points_stand_still_at_the_right_height_and_no_point_is_lower(options):
    made = make(options)
    points = foot_points(made.motion)
    stand = rig(1.75).ball_height
    for i, kind in enumerate(KINDS):
        for first, last in made.footplants.intervals()[kind]:
            assert np.abs(points[first : last + 1, i] - points[first, i]).max() < STILL_M
            assert abs(points[first, i, 1] - stand) < STILL_M
    assert points[..., 1].min() > stand - FLOOR_M


@few
@given(asked())
def test_speed_turn_cadence_and_stance_are_as_asked(options):
    made = make(options, duration_s=6.0)
    path = made.path[:, [0, 2]]
    length = np.linalg.norm(np.diff(path, axis=0), axis=-1).sum()
    assert abs(length / made.motion.duration_s / options["speed"] - 1.0) < 0.02
    assert abs(made.heading[-1] - made.heading[0] - options["turn"]) < 1e-9
    assert np.all(np.diff(made.phase) > 0.0)
    cycles = made.phase[-1] - made.phase[0]
    assert abs(cycles / made.motion.duration_s * 120.0 / options["cadence"] - 1.0) < 0.02
    gait = gait_at(options["kind"], speed=options["speed"], cadence=options["cadence"], height=1.75)
    planted = made.footplants.planted
    down = (planted[:, 0] | planted[:, 1]) & (made.phase >= np.ceil(made.phase[0]))
    down &= made.phase < np.floor(made.phase[-1])
    whole = np.floor(made.phase[-1]) - np.ceil(made.phase[0])
    part = down.sum() / made.motion.fps * options["cadence"] / 120.0 / whole
    assert abs(part - gait.stance) < 0.05


@few
@given(asked())
def test_the_body_itself_goes_as_far_as_its_path(options):
    made = make(options, duration_s=5.0)
    hips = made.motion.root_positions[:, [0, 2]]
    assert np.linalg.norm(hips - made.path[:, [0, 2]], axis=-1).max() < 0.15


@few
@given(asked())
def test_a_turn_the_other_way_is_the_mirror_image_half_a_cycle_on(options):
    options = {**options, "seed": 0}
    one = make(options, life=0.0)
    other = make({**options, "turn": -options["turn"], "phase": options["phase"] + 0.5}, life=0.0)
    mirrored = mirror(other.motion).world_positions()
    assert np.abs(mirrored - one.motion.world_positions()).max() < MIRRORED_M
    differ = other.footplants.planted[:, [2, 3, 0, 1]] != one.footplants.planted
    # A strike on the very moment of a frame may fall to either side of it.
    assert differ.sum(axis=0).max() <= 1


@few
@given(asked(), st.floats(24.0, 120.0))
def test_the_frame_rate_does_not_change_the_performance(options, fps):
    slow, fast = make(options, fps=fps, duration_s=2.0), make(options, fps=2 * fps, duration_s=2.0)
    n = min(slow.motion.n_frames, (fast.motion.n_frames + 1) // 2)
    # The pelvis is rounded off over a few frames, and that is all that the rate may change.
    gap = slow.motion.root_positions[:n] - fast.motion.root_positions[::2][:n]
    assert np.abs(gap).max() < 0.02
    differ = slow.footplants.planted[:n] != fast.footplants.planted[::2][:n]
    # A strike on the very moment of a frame may fall to either side of it.
    assert differ.sum(axis=0).max() <= 1
