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


LONGEST_TEXT = 2000
"""Characters of an error's text; of a longer one the middle is left out."""


class MotionLoomError(Exception):
    """Base class of all errors that motionloom raises.

    Its text can always be printed: half surrogate pairs, which paths may hold, are escaped.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_printable(each) if isinstance(each, str) else each for each in args))


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
        self.problem = _printable(str(problem))
        self.path = None if path is None else str(path)
        self.where = None if where is None else _printable(str(where))
        self.fix = None if fix is None else _printable(str(fix))
        place = ", ".join(part for part in (self.path, self.where) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        super().__init__(f"{text} {self.fix}" if self.fix else text)

    def at(self, path: str | Path) -> FormatError:
        """The same error with the file's path, for readers that only see bytes.

        Returns
        -------
        FormatError
            An error of the same class.
        """
        return FormatError(self.problem, path=path, where=self.where, fix=self.fix)

    def __reduce__(self) -> tuple[object, ...]:
        # Default pickling loses keyword-only arguments, and worker processes pickle errors.
        return (_rebuild_format_error, (self.problem, self.path, self.where, self.fix))


def _rebuild_format_error(
    problem: str, path: str | None, where: str | None, fix: str | None
) -> FormatError:
    return FormatError(problem, path=path, where=where, fix=fix)


class SkeletonMismatchError(MotionLoomError):
    """Two skeletons do not fit one another, or one lacks a body role that the work needs."""


class RegistrationError(MotionLoomError):
    """Motions cannot be registered."""


class FlawedResultError(MotionLoomError):
    """A result fails its quality check and was not written."""


class TableError(MotionLoomError):
    """A transition table or collection cannot be built, opened or queried."""


def _printable(text: str) -> str:
    """``text`` as UTF-8 can hold it, at most LONGEST_TEXT characters of it."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= LONGEST_TEXT:
        return text
    half = (LONGEST_TEXT - 60) // 2
    return f"{text[:half]} ... [{len(text) - 2 * half} characters left out] ... {text[-half:]}"
