"""Verification: what the quality check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from motionloom._records import record
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.findings import Finding


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
