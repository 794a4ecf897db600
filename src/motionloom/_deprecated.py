"""Old names that still work: each warns once per place, with the new name."""

from __future__ import annotations

import warnings
from typing import Any

from motionloom.errors import ArrayError


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a name is old. The warning points at the caller's caller."""
    warnings.warn(
        f"{old} is deprecated and will go in the next version: use {new}.",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def rename_option(options: dict[str, Any], old: str, new: str) -> None:
    """Move a keyword option from its old name to its new one, with a warning."""
    if old not in options:
        return
    if new in options:
        raise ArrayError(f"`{old}` is the old name of `{new}`: pass `{new}` only.")
    warn_renamed(f"{old}=", f"{new}=", stacklevel=4)
    options[new] = options.pop(old)
