"""Every failure a caller can cause: what must hold, what came, what to do."""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "ArrayError",
    "FlawedResultError",
    "FormatError",
    "MotionLoomError",
    "RegistrationError",
    "SkeletonMismatchError",
    "TableError",
]


class MotionLoomError(Exception):
    """Root of every error that motionloom raises on purpose."""


class ArrayError(MotionLoomError, ValueError):
    """An argument has the wrong shape, type or value."""


class FormatError(MotionLoomError):
    """A file cannot be read or written.

    Parameters
    ----------
    problem : str
        What must hold and what came.
    path : str or Path, optional
        The file.
    where : str, optional
        The place in it: ``"line 12"``, ``"byte 40"``, ``"channel Xrotation of Hips"``.
    fix : str, optional
        What the user can do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        where: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.where = where
        self.fix = fix
        super().__init__(str(self))

    def at(self, path: str | Path) -> FormatError:
        """The same error with the file's path, for readers that only see bytes."""
        return FormatError(self.problem, path=path, where=self.where, fix=self.fix)

    def __reduce__(self) -> tuple[object, ...]:
        # Default pickling loses keyword-only arguments, and worker processes pickle errors.
        return (_rebuild_format_error, (self.problem, self.path, self.where, self.fix))

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.path, self.where) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text} {self.fix}" if self.fix else text


def _rebuild_format_error(
    problem: str, path: str | None, where: str | None, fix: str | None
) -> FormatError:
    return FormatError(problem, path=path, where=where, fix=fix)


class SkeletonMismatchError(MotionLoomError):
    """Two skeletons do not fit one another, or one lacks a body role that the work needs."""


class RegistrationError(MotionLoomError):
    """Motions cannot be brought into correspondence."""


class FlawedResultError(MotionLoomError):
    """A result fails its quality check and was not written."""


class TableError(MotionLoomError):
    """A transition table or collection cannot be built, opened or asked."""
