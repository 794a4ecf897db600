"""Errors of readers, with the name of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from motionloom.errors import ArrayError, FormatError


@contextmanager
def read_errors(label: str) -> Iterator[None]:
    """Whatever a reader raises over a damaged file is a FormatError that names the file."""
    try:
        yield
    except FormatError as error:
        raise error if error.path else error.at(label) from None
    except ArrayError as error:
        raise FormatError(str(error), path=label) from error
    except (MemoryError, RecursionError) as error:
        raise FormatError(
            "The file asks for more memory than there is.",
            path=label,
            fix="Check that it is whole.",
        ) from error
