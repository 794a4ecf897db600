"""The quality check of a retarget finds what an animator would reject."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.body_map import BodyMap
from motionloom.body.neutral import neutral_stance
from motionloom.features.checks.verification import Verification
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.retargeting.retarget import retarget
from motionloom.retargeting.retarget_check import verify_retarget
from motionloom.rotation import quat

from .bodies import longer

X = np.array([1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def walk() -> synthetic.SyntheticClip:
    return synthetic.clip("walk")


@pytest.fixture(scope="module")
def target(walk: synthetic.SyntheticClip) -> Skeleton:
    return longer(walk.motion.skeleton, Foot=1.1, UpLeg=1.1, Spine=0.8)


@pytest.fixture(scope="module")
def made(walk: synthetic.SyntheticClip, target: Skeleton) -> Motion:
    return retarget(walk.motion, target, footplants=walk.footplants)


def verified(made: Motion, walk: synthetic.SyntheticClip) -> Verification:
    stances = [neutral_stance(m.skeleton, BodyMap.guess(m.skeleton)) for m in (walk.motion, made)]
    return verify_retarget(made, walk.motion, walk.footplants, stances[0], stances[1])


def checks(found: Verification) -> set[str]:
    return {failed.check for failed in found.failed}


def test_a_sound_result_passes(walk: synthetic.SyntheticClip, made: Motion) -> None:
    assert verified(made, walk).passed
    assert not made.source.findings


def test_a_heel_that_digs_into_the_floor_in_every_stance_fails(
    walk: synthetic.SyntheticClip, made: Motion
) -> None:
    quats = np.array(made.local_quats)
    foot = made.skeleton.index("LeftFoot")
    quats[:, foot] = quat.multiply(quats[:, foot], quat.from_axis_angle(X, -np.radians(20.0)))
    found = verified(made.replace(local_quats=quats), walk)
    assert "sole below the floor" in checks(found)


def test_a_contact_that_slides_fails(walk: synthetic.SyntheticClip, made: Motion) -> None:
    root = np.array(made.root_positions)
    root[:, 0] += 0.3 * np.arange(made.n_frames) / made.fps
    assert "sliding contact" in checks(verified(made.replace(root_positions=root), walk))


def test_a_new_glitch_fails(walk: synthetic.SyntheticClip, made: Motion) -> None:
    quats = np.array(made.local_quats)
    arm = made.skeleton.index("LeftArm")
    quats[40, arm] = quat.multiply(quats[40, arm], quat.from_axis_angle(X, np.radians(40.0)))
    assert "capture glitch" in checks(verified(made.replace(local_quats=quats), walk))


@pytest.mark.parametrize("rise", [0.1, -0.3])
def test_a_body_that_floats_or_sinks_as_a_whole_fails(
    walk: synthetic.SyntheticClip, made: Motion, rise: float
) -> None:
    root = np.array(made.root_positions)
    root[:, 1] += rise
    assert "floating" in checks(verified(made.replace(root_positions=root), walk))


@pytest.mark.parametrize(("faster", "is_dragged"), [(1.0, False), (1.8, True)])
def test_feet_may_be_dragged_as_far_as_in_the_source(faster: float, is_dragged: bool) -> None:
    """Somebody is pushed along standing: 60 cm at 0.6 m/s, no contact among them."""
    stand = synthetic.clip("stand", duration_s=1.0)
    root = np.array(stand.motion.root_positions)
    root[:, 2] += 0.6 * np.arange(len(root)) / stand.motion.fps
    pushed = stand.motion.replace(root_positions=root)
    root = np.array(root)
    root[:, 2] += (faster - 1.0) * 0.6 * np.arange(len(root)) / stand.motion.fps
    stance = neutral_stance(pushed.skeleton, BodyMap.guess(pushed.skeleton))
    plants = Footplants(np.zeros((pushed.n_frames, 4), dtype=bool))
    made = pushed.replace(root_positions=root)
    found = verify_retarget(made, pushed, plants, stance, stance)
    assert ("dragged foot" in checks(found)) is is_dragged
