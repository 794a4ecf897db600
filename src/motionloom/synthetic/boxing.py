"""A boxer's stance: left foot ahead, the rear heel rising with each right straight."""

from __future__ import annotations

import dataclasses

import numpy as np

from motionloom.synthetic.actions import OUT_S, punch_times
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.stepping import FootPlacement, Move, step_about
from motionloom.synthetic.take import Setting, Take


def box(setting: Setting, gait: Gait, *, duration_s: float) -> Take:
    """Somebody ready to punch; the arms are put on by the action."""
    size = setting.rig.height / 1.75
    feet = (
        FootPlacement(0.10 * size, 0.22 * size, np.deg2rad(10.0)),
        FootPlacement(-0.13 * size, -0.22 * size, np.deg2rad(-40.0)),
    )
    moves = [
        Move(
            1,
            start + OUT_S - 0.02,
            start + OUT_S - 0.02,
            feet[1],
            None,
            peel_s=0.2,
            roll_s=0.26,
            off_pitch=np.deg2rad(26.0),
            strike_pitch=np.deg2rad(26.0),
        )
        for start in punch_times(duration_s)[1::2]
    ]
    posture = dataclasses.replace(gait, knee=np.deg2rad(24.0), lean=np.deg2rad(4.0))
    return step_about(setting, posture, feet, moves, duration_s=duration_s)
