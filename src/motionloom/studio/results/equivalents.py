"""The same run outside the studio: as a command line and as Python, with the same result."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

EMBEDDED = "embedded:"


def command_line(command: str, *words: str) -> str:
    """A command with its words quoted for a shell."""
    return " ".join(["motionloom", command, *(shlex.quote(word) for word in words)])


def load_lines(names: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Lines that load the clips, one for each name."""
    return ["import motionloom as ml", ""] + [
        f"{name} = {_loading(source)}" for name, source in zip(names, sources, strict=True)
    ]


def python_call(function: str, first: Sequence[str], **options: object) -> str:
    """A call with its data and those options that are not None."""
    given = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*first, *given])})"


def _loading(source: str) -> str:
    if source.startswith(EMBEDDED):
        return f"ml.synthetic.clip({source.removeprefix(EMBEDDED)!r}).motion"
    return f"ml.load({source!r})"
