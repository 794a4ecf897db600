"""Old names that still work: each warns once per place, with the new name."""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str) -> None:
    """Warn that a name is old. The warning points at the caller's caller."""
    warnings.warn(
        f"{old} is deprecated and will go in the next version: use {new}.",
        DeprecationWarning,
        stacklevel=3,
    )
