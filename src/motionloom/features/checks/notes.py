"""Names and numbers of the checks, and how kernels keep what fails."""

from __future__ import annotations

from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["CHECKS", "MOST_FOUND", "note"]

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
"""Names of the checks; their order is that of the kernel's numbers."""
(
    TURN, SPEED, BEND, FLIP, BACKWARDS, FOLDED, PELVIS, PLAN, ROOT_BONE,
    SOLE, CONTACT, DRAGGED, HOVERING, BRAKING, FAST, HEAD_TURN, GLITCH, FLOATING,
) = range(len(CHECKS))  # fmt: skip

MOST_FOUND = 96
"""Failures that are kept."""


@njit(cache=True, error_model="numpy")
def note(
    found: FloatArray, n: int, check: int, joint: int, frame: int, value: float, limit: float
) -> int:
    """Keep a failure, and the worse of two of the same check and joint; how many there are."""
    over = abs(value - limit)
    for k in range(n):
        if found[k, 0] == check and found[k, 1] == joint:
            if over > abs(found[k, 3] - found[k, 4]):
                found[k, 2], found[k, 3], found[k, 4] = frame, value, limit
            return n
    if n == len(found):
        return n
    found[n, 0], found[n, 1], found[n, 2], found[n, 3], found[n, 4] = (
        check, joint, frame, value, limit,
    )  # fmt: skip
    return n + 1
