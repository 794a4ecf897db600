"""Packages that are not part of a plain installation, and the error that names their extra."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from motionloom.errors import MotionLoomError

MODULES: dict[str, tuple[str, ...]] = {
    "pictures": ("matplotlib", "PIL"),
    "video": ("imageio_ffmpeg", "PIL"),
    "studio": ("msgspec", "starlette", "uvicorn", "websockets"),
    "c3d": ("c3d",),
    "usd": ("pxr",),
    "gpu": ("torch",),
    "cluster": ("distributed",),
}
"""What each extra of ``pyproject.toml`` lets us import."""


def require_extra(
    extra: str, purpose: str, *, error: type[MotionLoomError] = MotionLoomError
) -> None:
    """Import the packages of an extra, or raise an ``error`` that names it.

    Call it before the statement that imports one of them.

    Parameters
    ----------
    extra
        One of :data:`MODULES`.
    purpose
        What needs it, as the subject of a sentence: ``"A picture"``.
    error
        The class to raise.
    """
    for module in MODULES[extra]:
        try:
            import_module(module)
        except ImportError as reason:
            raise error(missing_extra(extra, purpose, str(reason))) from reason


def missing_extra(extra: str, purpose: str, reason: str = "") -> str:
    """The text of an error: what is not installed, and the command that installs it."""
    why = f" ({reason.rstrip('.')})" if reason else ""
    fact = f"{purpose} needs the extra `{extra}`, which is not installed{why}."
    return f"{fact} Run {command(extra)}."


def command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    return f"pip install 'motionloom[{extra}]'"


def has_extra(extra: str) -> bool:
    """Whether the packages of an extra are installed; imports none of them."""
    return all(find_spec(module) is not None for module in MODULES[extra])
