"""Body segments: Winter's parts of body mass, and where their centres lie."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments

WALK = ml.synthetic.clip("walk", duration_s=1.0).motion
BODY = BodyMap.guess(WALK.skeleton)


def test_masses_are_those_of_winters_table_and_sum_to_one():
    segments = mass_segments(WALK.skeleton.n_joints, BODY)
    masses = dict(zip(segments.names, segments.masses, strict=True))
    assert sum(masses.values()) == pytest.approx(1.0)
    trunk = masses["pelvis"] + masses["abdomen"] + masses["thorax"]
    assert trunk == pytest.approx(0.497)
    arm = sum(masses[f"left_{part}"] for part in ("upper_arm", "forearm", "hand"))
    leg = sum(masses[f"right_{part}"] for part in ("thigh", "shank", "foot"))
    assert (arm, leg) == pytest.approx((0.050, 0.161))
    assert segments.weights.sum(axis=1) == pytest.approx(np.ones(len(masses)))


def test_centres_lie_on_the_lines_between_joints():
    positions = WALK.world_positions()
    segments = mass_segments(WALK.skeleton.n_joints, BODY)
    centres = dict(zip(segments.names, segments.centres(positions).swapaxes(0, 1), strict=True))
    hip, knee = positions[:, BODY.left_hip], positions[:, BODY.left_knee]
    assert centres["left_thigh"] == pytest.approx(hip + 0.433 * (knee - hip))
    elbow, wrist = positions[:, BODY.right_elbow], positions[:, BODY.right_wrist]
    assert centres["right_hand"] == pytest.approx(elbow + 1.2 * (wrist - elbow))
    # Winter's centre of the whole trunk is half way from the hips to the shoulders.
    masses = dict(zip(segments.names, segments.masses, strict=True))
    parts = ("pelvis", "abdomen", "thorax")
    trunk = sum(masses[p] * centres[p] for p in parts) / sum(masses[p] for p in parts)
    hips = 0.5 * (positions[:, BODY.left_hip] + positions[:, BODY.right_hip])
    shoulders = 0.5 * (positions[:, BODY.left_shoulder] + positions[:, BODY.right_shoulder])
    assert trunk == pytest.approx(0.5 * (hips + shoulders), abs=0.005)
    whole = np.einsum("s,sfc->fc", segments.masses, np.array(list(centres.values())))
    assert segments.centre(positions) == pytest.approx(whole)
