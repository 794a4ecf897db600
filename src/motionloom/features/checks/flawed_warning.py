"""A warning for callers in Python whose result fails its quality check."""

from __future__ import annotations

import inspect
import warnings

from motionloom.features.checks.verification import Verification
from motionloom.findings import MotionLoomWarning


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
