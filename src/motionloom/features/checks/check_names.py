"""Names and numbers of the checks."""

from __future__ import annotations

import math

_TABLE = (
    ("rotation speed", "turns faster than it does in the sources", "deg/s"),
    ("speed", "moves faster against its parent than it does in the sources", "m/s"),
    ("acceleration", "changes its velocity more abruptly than it does in the sources", "m/s2"),
    ("one-frame flip", "turns in one frame far more than in the frames around it", "deg/s"),
    ("one-frame jump", "moves in one frame far more than in the frames around it", "m/s"),
    ("knee bent backwards", "bends backwards", "deg"),
    ("knee folded", "is folded further than a knee bends", "deg"),
    ("pelvis turn", "turns in the world faster than it does in the sources", "deg/s"),
    ("heading", "faces away from where it should", "deg"),
    ("root bone turn", "turns faster than the body that it carries", "deg/s"),
    ("sole below the floor", "sinks below the lowest sole of the sources", "cm"),
    ("sliding contact", "slides while it is labelled as planted", "cm"),
    ("dragged foot", "travels along the floor", "cm"),
    ("hovering", "touches nothing and leaves the path of free fall", "cm"),
    ("braking", "slows down more abruptly than in the sources", "m/s2"),
    ("travel speed", "travels faster than in the sources", "m/s"),
    ("head turn", "turns faster (95th percentile) than in both sources", "deg/s"),
    ("capture glitch", "leaves its path for one frame", ""),
    ("floating", "stands above or below where its source stands", "cm"),
    ("foot slip", "slides while it carries the body, farther than in the clips", "cm"),
    ("stall", "travels slower than every clip does there", "m/s"),
    ("launch", "travels faster than every clip does there", "m/s"),
    ("direction", "travels, seen from where it faces, as no clip does there", "m/s"),
    ("no foot stands", "glides on feet that do not stand, and leaves the path of free fall", "cm"),
)
CHECKS = tuple(name for name, _, _ in _TABLE)
"""Names of the checks; their order is that of the numbers in core/src/checks/check_judge.c, and of
``ML_CHECK_SLIP`` and those after it in core/src/kernels.h."""
ABOUT = {name: text for name, text, _ in _TABLE}
"""What a joint that fails does, in words."""
_FACTORS = {"deg/s": 180.0 / math.pi, "deg": 180.0 / math.pi, "cm": 100.0}
UNITS = {name: (unit, _FACTORS.get(unit, 1.0)) for name, _, unit in _TABLE}
"""Unit in which each check is reported, and its factor from SI."""
(
    TURN, SPEED, BEND, FLIP, JUMP, BACKWARDS, FOLDED, PELVIS, PLAN, ROOT_BONE,
    SOLE, CONTACT, DRAGGED, HOVERING, BRAKING, FAST, HEAD_TURN, GLITCH, FLOATING, SLIP, STALL,
    LAUNCH, ASTRAY, GLIDE,
) = range(len(CHECKS))  # fmt: skip

MOST_FOUND = 96
"""Failures that are kept."""
