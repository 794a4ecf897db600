"""FailedCheck: one reason why a motion is rejected, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.features.checks.check_names import (
    BACKWARDS,
    CHECKS,
    FOLDED,
    GLITCH,
    HEAD_TURN,
    PLAN,
    ROOT_BONE,
)
from motionloom.features.checks.check_rig import CheckRig
from motionloom.motion.contacts import KINDS

__all__ = ["FailedCheck", "failed_checks"]

_DEG, _CM = 180.0 / np.pi, 100.0
UNITS: dict[str, tuple[str, float]] = {
    "rotation speed": ("deg/s", _DEG),
    "speed": ("m/s", 1.0),
    "acceleration": ("m/s2", 1.0),
    "one-frame flip": ("deg/s", _DEG),
    "knee bent backwards": ("deg", _DEG),
    "knee folded": ("deg", _DEG),
    "pelvis turn": ("deg/s", _DEG),
    "heading": ("deg", _DEG),
    "root bone turn": ("deg/s", _DEG),
    "sole below the floor": ("cm", _CM),
    "sliding contact": ("cm", _CM),
    "dragged foot": ("cm", _CM),
    "hovering": ("s", 1.0),
    "braking": ("m/s2", 1.0),
    "travel speed": ("m/s", 1.0),
    "head turn": ("deg/s", _DEG),
    "capture glitch": ("", 1.0),
    "floating": ("cm", _CM),
}
"""Unit in which each check is reported, and its factor from SI."""

ABOUT: dict[str, str] = {
    "rotation speed": "turns faster than it does in the sources",
    "speed": "moves faster against its parent than it does in the sources",
    "acceleration": "changes its velocity more abruptly than it does in the sources",
    "one-frame flip": "turns in one frame far more than in the frames around it",
    "knee bent backwards": "bends backwards",
    "knee folded": "is folded further than a knee bends",
    "pelvis turn": "turns in the world faster than it does in the sources",
    "heading": "faces away from where it should",
    "root bone turn": "turns faster than the body that it carries",
    "sole below the floor": "sinks below the lowest sole of the sources",
    "sliding contact": "slides while it is labelled as planted",
    "dragged foot": "travels along the floor",
    "hovering": "touches nothing and does not fall",
    "braking": "slows down more abruptly than in the sources",
    "travel speed": "travels faster than in the sources",
    "head turn": "turns faster (95th percentile) than in both sources",
    "capture glitch": "is where it cannot be for one frame",
    "floating": "stands above or below where its source stands",
}


@dataclass(frozen=True, slots=True)
@record
class FailedCheck:
    """What failed, where, by how much."""

    check: str
    """Name of the check; see :data:`motionloom.features.checks.check_names.CHECKS`."""
    joint: str
    """Name of the joint, the foot point, or ``body``."""
    frame: int
    """Worst frame."""
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        text = f"{self.check}: {self.joint} {ABOUT[self.check]}, frame {self.frame}"
        if not self.unit:
            return text
        return f"{text}: {self.value:.4g} {self.unit}, the limit is {self.limit:.4g}"

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        return {
            "check": self.check,
            "joint": self.joint,
            "frame": self.frame,
            "value": self.value,
            "limit": self.limit,
            "unit": self.unit,
        }

    @property
    def ratio(self) -> float:
        """How bad it is, to sort by: distance from the limit as part of the limit."""
        return abs(self.value - self.limit) / max(abs(self.limit), 1e-9)


def failed_checks(rig: CheckRig, names: tuple[str, ...], rows: FloatArray) -> list[FailedCheck]:
    """Failures in words, from the rows that the kernel filled; the worst of a check first."""
    out = []
    for check, joint, frame, value, limit in rows:
        name = CHECKS[int(check)]
        unit, factor = UNITS[name]
        out.append(
            FailedCheck(
                name,
                _joint_name(rig, names, int(check), int(joint)),
                int(frame),
                float(value) * factor,
                float(limit) * factor,
                unit,
            )
        )
    return sorted(out, key=lambda each: (CHECKS.index(each.check), -each.ratio))


def _joint_name(rig: CheckRig, names: tuple[str, ...], check: int, joint: int) -> str:
    if check == HEAD_TURN:
        return names[rig.head]
    if joint < 0:
        return "body"
    if check in (BACKWARDS, FOLDED):
        return names[int(rig.legs[joint, 1])]
    if check == ROOT_BONE:
        return names[int(rig.carriers[joint])]
    if CHECKS[check] in ("sole below the floor", "sliding contact", "dragged foot"):
        return KINDS[joint].replace("_", " ")
    if check in (GLITCH, PLAN):
        return names[joint]
    return names[int(rig.judged[joint])]
