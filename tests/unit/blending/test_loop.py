"""loop(): travelling cycles, capture glitches, notes."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.edit import sample

WALK = ml.synthetic.clip("walk", duration_s=4.0, fps=60).motion
STAND = ml.synthetic.clip("stand", duration_s=3.0, fps=60).motion


def held_before(motion: ml.Motion, frames: int) -> ml.Motion:
    """The motion after its first pose was held for some frames."""
    at = np.concatenate([np.zeros(frames), np.arange(motion.n_frames)])
    return sample(motion, at)


def speed(cycle: ml.Loop) -> float:
    way = np.diff(cycle.motion.root_positions[[0, -1]][:, [0, 2]], axis=0)
    return float(np.linalg.norm(way)) / cycle.period_s


def test_a_clip_that_stands_and_then_walks_loops_its_walk() -> None:
    clip = held_before(WALK, 90)
    own = np.linalg.norm(np.ptp(WALK.root_positions[:, [0, 2]], axis=0)) / WALK.duration_s
    cycle = ml.loop(clip)
    assert cycle.span[0] >= 80
    assert speed(cycle) > 0.8 * own
    assert any("travelling cycles" in note for note in cycle.notes)


def test_standing_is_looped_where_it_is_asked_for() -> None:
    cycle = ml.loop(held_before(WALK, 90), moving=False)
    assert cycle.span[1] < 100
    assert speed(cycle) < 0.2


def test_a_clip_that_stands_is_looped_without_travel() -> None:
    cycle = ml.loop(STAND)
    assert speed(cycle) < 0.1
    assert not any("travel" in note for note in cycle.notes)


def test_travel_that_the_clip_does_not_have_is_refused() -> None:
    with pytest.raises(ml.RegistrationError, match="in which the body travels"):
        ml.loop(STAND, moving=True)
    with pytest.raises(ml.ArrayError, match="`moving` must be True or False"):
        ml.loop(WALK, moving="yes")  # type: ignore[arg-type]


def test_a_step_aside_does_not_make_a_clip_travel() -> None:
    root = np.array(STAND.root_positions)
    root[60:, 0] += 0.6 * np.clip((np.arange(len(root) - 60)) / 24.0, 0.0, 1.0)
    cycle = ml.loop(STAND.replace(root_positions=root))
    assert speed(cycle) < 0.1


def jumping(frames: list[int], stays: bool) -> ml.Motion:
    """The walk with jumps of the root, for one frame or for good."""
    root = np.array(WALK.root_positions)
    for frame in frames:
        root[frame : None if stays else frame + 1] += [0.6, 0.0, 0.0]
    return WALK.replace(root_positions=root)


def test_single_glitched_frames_are_repaired() -> None:
    first, last = ml.loop(WALK).span
    cycle = ml.loop(jumping([(first + last) // 2], stays=False))
    assert cycle.verification.passed
    assert any("interpolated" in note for note in cycle.notes)


def test_cycles_avoid_glitches_that_cannot_be_repaired() -> None:
    first, last = ml.loop(WALK).span
    middle = (first + last) // 2
    cycle = ml.loop(jumping([middle], stays=True))
    assert not cycle.span[0] <= middle <= cycle.span[1]
    assert any("glitch" in note for note in cycle.notes)


def test_a_glitch_in_every_cycle_is_kept_and_reported() -> None:
    cycle = ml.loop(jumping(list(range(10, WALK.n_frames - 10, 24)), stays=True))
    assert any("have capture glitches" in note for note in cycle.notes)


def test_a_clip_without_a_full_cycle_says_so() -> None:
    cycle = ml.loop(WALK[:50], moving=False)
    assert cycle.cost > 0.06
    assert any("no full cycle" in note for note in cycle.notes)
