"""Verification: the checks by name, the failed ones in words, and the verdict on a motion."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from motionloom._arrays import FloatArray
from motionloom._core import integer
from motionloom._records import record
from motionloom.features.checks.source_limits import CheckRig
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.motion.motion import KINDS

TURN = integer("ML_CHECK_TURN")
SPEED = integer("ML_CHECK_SPEED")
BEND = integer("ML_CHECK_BEND")
FLIP = integer("ML_CHECK_FLIP")
JUMP = integer("ML_CHECK_JUMP")
BACKWARDS = integer("ML_CHECK_BACKWARDS")
FOLDED = integer("ML_CHECK_FOLDED_KNEE")
PELVIS = integer("ML_CHECK_PELVIS")
PLAN = integer("ML_CHECK_PLAN")
ROOT_BONE = integer("ML_CHECK_ROOT_BONE")
SOLE = integer("ML_CHECK_SOLE")
CONTACT = integer("ML_CHECK_CONTACT")
DRAGGED = integer("ML_CHECK_DRAGGED")
HOVERING = integer("ML_CHECK_HOVERING")
BRAKING = integer("ML_CHECK_BRAKING")
FAST = integer("ML_CHECK_FAST")
SLIP = integer("ML_CHECK_SLIP")
STALL = integer("ML_CHECK_STALL")
LAUNCH = integer("ML_CHECK_LAUNCH")
ASTRAY = integer("ML_CHECK_ASTRAY")
GLIDE = integer("ML_CHECK_GLIDE")
HEAD_TURN, GLITCH, FLOATING = 16, 17, 18
"""Checks that are made in Python, in numbers that the core leaves free."""
_TABLE = {
    TURN: ("rotation speed", "turns faster than it does in the sources", "deg/s"),
    SPEED: ("speed", "moves faster against its parent than it does in the sources", "m/s"),
    BEND: (
        "acceleration",
        "changes its velocity more abruptly than it does in the sources",
        "m/s2",
    ),
    FLIP: ("one-frame flip", "turns in one frame far more than in the frames around it", "deg/s"),
    JUMP: ("one-frame jump", "moves in one frame far more than in the frames around it", "m/s"),
    BACKWARDS: ("knee bent backwards", "bends backwards", "deg"),
    FOLDED: ("knee folded", "is folded further than a knee bends", "deg"),
    PELVIS: ("pelvis turn", "turns in the world faster than it does in the sources", "deg/s"),
    PLAN: ("heading", "faces away from where it should", "deg"),
    ROOT_BONE: ("root bone turn", "turns faster than the body that it carries", "deg/s"),
    SOLE: ("sole below the floor", "sinks below the lowest sole of the sources", "cm"),
    CONTACT: ("sliding contact", "slides while it is labelled as planted", "cm"),
    DRAGGED: ("dragged foot", "travels along the floor", "cm"),
    HOVERING: ("hovering", "touches nothing and leaves the path of free fall", "cm"),
    BRAKING: ("braking", "slows down more abruptly than in the sources", "m/s2"),
    FAST: ("travel speed", "travels faster than in the sources", "m/s"),
    HEAD_TURN: ("head turn", "turns faster (95th percentile) than in both sources", "deg/s"),
    GLITCH: ("capture glitch", "leaves its path for one frame", ""),
    FLOATING: ("floating", "stands above or below where its source stands", "cm"),
    SLIP: ("foot slip", "slides while it carries the body, farther than in the clips", "cm"),
    STALL: ("stall", "travels slower than every clip does there", "m/s"),
    LAUNCH: ("launch", "travels faster than every clip does there", "m/s"),
    ASTRAY: ("direction", "travels, seen from where it faces, as no clip does there", "m/s"),
    GLIDE: (
        "no foot stands",
        "glides on feet that do not stand, and leaves the path of free fall",
        "cm",
    ),
}
CHECKS = tuple(_TABLE[number][0] for number in range(len(_TABLE)))
"""Names of the checks, by their numbers."""
ABOUT = {name: text for name, text, _ in _TABLE.values()}
"""What a joint that fails does, in words."""
_FACTORS = {"deg/s": 180.0 / math.pi, "deg": 180.0 / math.pi, "cm": 100.0}
UNITS = {name: (unit, _FACTORS.get(unit, 1.0)) for name, _, unit in _TABLE.values()}
"""Unit in which each check is reported, and its factor from SI."""
MOST_FOUND = integer("ML_CHECK_FOUND")
"""Failures that are kept."""


# --- A failed check


@dataclass(frozen=True, slots=True)
@record
class FailedCheck:
    """What failed, where, by how much.

    Attributes
    ----------
    check : str
        Name of the check; see :data:`motionloom.features.checks.verification.CHECKS`.
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


# --- The verdict


@dataclass(frozen=True, slots=True)
@record
class Verification:
    """What the quality check found.

    Attributes
    ----------
    passed : bool
        Whether nothing failed.
    failed : tuple of FailedCheck
        Every failed check with joint, worst frame, value and limit.
    unsound : tuple of Finding
        Faults of the data itself: rotations that are not unit, positions that are not finite.
    glitches : tuple of Glitch
        Capture glitches in the motion, those passed on from the sources included.
    compared : bool
        Whether the motion was compared with sources. Without them the
        check covers only the data itself and motion that no body makes.

    Examples
    --------
    >>> import motionloom as ml
    >>> walk, run = (ml.synthetic.clip(kind).motion for kind in ("walk", "run"))
    >>> ml.transition(walk, run).verification.describe()
    'passed'
    """

    passed: bool
    failed: tuple[FailedCheck, ...] = ()
    unsound: tuple[Finding, ...] = ()
    glitches: tuple[Glitch, ...] = ()
    compared: bool = True

    def __bool__(self) -> bool:
        return self.passed

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The faults and failed checks as findings."""
        return self.unsound + tuple(
            Finding("error", f"frame {each.frame}", f"{each}.") for each in self.failed
        )

    def describe(self, most: int = 3) -> str:
        """One line: passed, or the first failed checks.

        Returns
        -------
        str
            A line for people.
        """
        if self.passed:
            return "passed" if self.compared else "passed, compared with no source"
        texts = [str(each) for each in (*self.unsound, *self.failed)]
        more = f"; and {len(texts) - most} more" if len(texts) > most else ""
        return "; ".join(texts[:most]) + more

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold.

        Returns
        -------
        dict
            Whether it passed, and the failed checks.
        """
        return {
            "passed": self.passed,
            "compared": self.compared,
            "failed": [each.json() for each in self.failed],
            "unsound": [str(each) for each in self.unsound],
            "glitches": [each._asdict() for each in self.glitches],
        }


def with_failed(found: Verification, failed: Iterable[FailedCheck]) -> Verification:
    """What the quality check found, with these failed checks only."""
    failed = tuple(failed)
    return replace(found, failed=failed, passed=not failed and not found.unsound)


def warn_flawed(verification: Verification, result: str) -> None:
    """Warn the caller of the function that calls this one, if its result fails its check.

    Parts of the package that call such functions show the check themselves, and get no warning.

    Parameters
    ----------
    verification
        Of the result.
    result
        What it is, in a word.
    """
    if verification.passed:
        return
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    if frame is not None and str(frame.f_globals.get("__name__")).startswith("motionloom."):
        return
    worst = (
        str(max(verification.failed, key=lambda each: each.ratio))
        if verification.failed
        else verification.describe(most=1)
    )
    several = len(verification.failed) + len(verification.unsound)
    more = f" (and {several - 1} more)" if several > 1 else ""
    warnings.warn(
        f"The {result} fails its quality check: {worst}{more}. Its .verification has every failed "
        "check.",
        MotionLoomWarning,
        stacklevel=3,
    )
