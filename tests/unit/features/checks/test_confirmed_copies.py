"""A provenance excuses only frames that are their clip's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml

WALK, RUN = (ml.synthetic.clip(kind).motion for kind in ("walk", "run"))
JOINED = ml.transition(WALK, RUN)
ROOT = JOINED.motion.root_positions
LAST = JOINED.provenance.n_frames - 1


def verdict(motion, provenance=JOINED.provenance):
    return ml.verify(
        motion,
        sources=JOINED.matched.motions,
        footplants=JOINED.footplants,
        body=JOINED.body,
        provenance=provenance,
    )


def jumps(root):
    root[20:, 0] += 1.0


def sinks(root):
    root[-20:, 1] -= 0.3


def slides(root):
    root[10:40, 0] += np.linspace(0.0, 0.3, 30)
    root[40:, 0] += 0.3


def test_the_result_passes_with_its_own_map():
    assert verdict(JOINED.motion).passed


@pytest.mark.parametrize("damage", [jumps, sinks, slides])
def test_damage_in_frames_that_are_said_to_be_copies_fails(damage):
    root = np.array(ROOT)
    damage(root)
    assert not verdict(JOINED.motion.replace(root_positions=root)).passed


def test_a_pose_of_another_frame_is_no_copy():
    quats = np.array(JOINED.motion.local_quats)
    quats[LAST - 10] = quats[0]
    assert not verdict(JOINED.motion.replace(local_quats=quats)).passed


def test_a_copy_may_be_moved_over_the_ground():
    turn = ml.PlanarTransform(0.7, 3.0, -2.0)
    quats = np.array(JOINED.motion.local_quats)
    spin = ml.rotation.quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.7)
    quats[:, 0] = ml.rotation.quat.multiply(spin, quats[:, 0])
    moved = JOINED.motion.replace(root_positions=turn.apply(ROOT), local_quats=quats)
    assert verdict(moved).passed


@pytest.mark.parametrize("late", [-99.0, 1e6])
def test_times_outside_the_clip_are_refused(late):
    track = JOINED.provenance.body
    wrong = replace(track, time=np.where(track.clip >= 0, track.time + late, 0.0))
    with pytest.raises(ml.MotionLoomError, match="must name times inside the clips"):
        verdict(JOINED.motion, replace(JOINED.provenance, tracks=(wrong,)))
