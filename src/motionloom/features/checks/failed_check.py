"""FailedCheck: one reason why a motion is rejected, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.features.checks.check_names import (
    ABOUT,
    BACKWARDS,
    CHECKS,
    FOLDED,
    GLITCH,
    HEAD_TURN,
    PLAN,
    ROOT_BONE,
    SLIP,
    UNITS,
)
from motionloom.features.checks.check_rig import CheckRig
from motionloom.motion.contacts import KINDS


@dataclass(frozen=True, slots=True)
@record
class FailedCheck:
    """What failed, where, by how much.

    Attributes
    ----------
    check : str
        Name of the check; see :data:`motionloom.features.checks.check_names.CHECKS`.
    joint : str
        Name of the joint, the foot point, or ``body``.
    frame : int
        Worst frame.
    value, limit : float
        What was measured, and the most that passes.
    unit : str
        Of both.
    """

    check: str
    joint: str
    frame: int
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        text = f"{self.check}: {self.joint} {ABOUT[self.check]}, frame {self.frame}"
        if not self.unit:
            return text
        return f"{text}: {self.value:.4g} {self.unit}, the limit is {self.limit:.4g}"

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold.

        Returns
        -------
        dict
            The fields by their names.
        """
        return asdict(self)

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
    if check == SLIP:
        return ("left foot", "right foot", "both feet")[joint]
    if check in (BACKWARDS, FOLDED):
        return names[int(rig.legs[joint, 1])]
    if check == ROOT_BONE:
        return names[int(rig.carriers[joint])]
    if CHECKS[check] in ("sole below the floor", "sliding contact", "dragged foot"):
        return KINDS[joint].replace("_", " ")
    if check in (GLITCH, PLAN):
        return names[joint]
    return names[int(rig.checked[joint])]
