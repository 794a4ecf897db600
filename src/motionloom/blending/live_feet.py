"""Feet of a live blend: what the core needs to hold them frame by frame."""

from __future__ import annotations

import numpy as np

from motionloom._core import Record, record
from motionloom.body.body_map import roles_for
from motionloom.body.feet import foot_offsets
from motionloom.body.knees import find_knees
from motionloom.cleanup.finalize import legs_missing
from motionloom.registration.curve import RegistrationCurve


def stance_of(curve: RegistrationCurve) -> Record | None:
    """Feet that are not held yet; None where the skeleton lacks a part of a leg.

    Parameters
    ----------
    curve
        Examples on one skeleton; the first shows how its feet lie and its knees bend.
    """
    motion = curve.motions[0]
    skeleton, body = motion.skeleton, roles_for(motion.skeleton, curve.body)
    if legs_missing(body):
        return None
    knees = find_knees(skeleton, body, motion=motion)
    feet = foot_offsets(skeleton, body, motion=motion)
    n = skeleton.n_joints
    return record(
        "ml_stance",
        n_joints=n,
        parents=np.array(skeleton.parents, dtype=np.int64),
        legs=np.array([(k.hip, k.knee, k.ankle) for k in knees], dtype=np.int64),
        offsets=np.array(skeleton.offsets, dtype=np.float64),
        poles=np.array([k.pole for k in knees], dtype=np.float64),
        levers=np.array([(foot.heel, foot.ball) for foot in feet], dtype=np.float64),
        fps=motion.fps,
        begun=False,
        held=np.zeros(4, dtype=np.uint8),
        loose=np.zeros(4, dtype=np.uint8),
        places=np.zeros((4, 3)),
        shifts=np.zeros((2, 6)),
        speeds=np.zeros((2, 6)),
        sink=np.zeros(2),
        slide=np.zeros(2),
        positions=np.zeros((n, 3)),
        world=np.zeros((n, 4)),
    )
