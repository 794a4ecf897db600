"""Plausible: the lengths and frame rates that a file can have."""

from __future__ import annotations

import numpy as np

from motionloom.errors import FormatError
from motionloom.motion.motion import Motion

LONGEST = 1e9
"""Longest length in any unit: a path of a thousand kilometres in millimetres."""
RATES = (0.01, 1e5)
"""Frame rates that a clip can have."""


def refuse_absurd(motion: Motion, fps: float | None = None, *, longest: float = LONGEST) -> None:
    """Refuse lengths and rates beyond all sense, whose squares would overflow.

    Parameters
    ----------
    motion
        In the unit of its file.
    fps
        The rate where the file's own is not to be used.
    longest
        Longest length, in that unit.
    """
    lengths = {
        "root positions": motion.root_positions,
        "offsets": motion.skeleton.offsets,
        "end sites": motion.skeleton.end_offsets,
        "joint positions": motion.joint_translations,
    }
    for name, values in lengths.items():
        if values is None or not values.size:
            continue
        largest = float(np.abs(values).max())
        if largest > longest:
            raise FormatError(
                f"The {name} must stay below {longest:g} units, got {largest:g}.",
                fix="Repair the numbers, or choose a larger unit.",
            )
    rate = motion.fps if fps is None else fps
    if not RATES[0] <= rate <= RATES[1]:
        raise FormatError(
            f"The frame rate must lie between {RATES[0]:g} and {RATES[1]:g} per second, "
            f"got {rate:g}.",
            fix="Say the true one with fps=.",
        )
