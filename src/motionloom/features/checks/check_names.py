"""Names and numbers of the checks."""

from __future__ import annotations

__all__ = ["CHECKS", "MOST_FOUND"]

CHECKS = (
    "rotation speed",
    "speed",
    "acceleration",
    "one-frame flip",
    "knee bent backwards",
    "knee folded",
    "pelvis turn",
    "heading",
    "root bone turn",
    "sole below the floor",
    "sliding contact",
    "dragged foot",
    "hovering",
    "braking",
    "travel speed",
    "head turn",
    "capture glitch",
    "floating",
)
"""Names of the checks; their order is that of the numbers in core/src/check_judge.c."""
(
    TURN, SPEED, BEND, FLIP, BACKWARDS, FOLDED, PELVIS, PLAN, ROOT_BONE,
    SOLE, CONTACT, DRAGGED, HOVERING, BRAKING, FAST, HEAD_TURN, GLITCH, FLOATING,
) = range(len(CHECKS))  # fmt: skip

MOST_FOUND = 96
"""Failures that are kept."""
