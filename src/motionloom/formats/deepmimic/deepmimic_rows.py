"""The rows of a DeepMimic motion, parsed one at a time out of its JSON.

Parsed as a whole, a list of numbers takes eight times the memory of its text; a row at a time, it
takes the array that it becomes.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.deepmimic.deepmimic_skeleton import Character
from motionloom.formats.text import LARGEST, decoded, quoted
from motionloom.reading.size_limits import Budget, Limits

_LONGEST_ROW = 1 << 20
"""Characters of one row."""
_MOST_OTHERS = 1 << 16
"""Characters of everything in the file that is no row."""
_ROWS_AT_ONCE = 256

_BLANKS = re.compile(r"[ \t\n\r]*+")


def read_rows(
    data: bytes, limits: Limits, budget: Budget, character_of: Callable[[int], Character]
) -> tuple[dict[str, Any], FloatArray, Character]:
    """What the file says besides its frames, its frames as an array, and whose they are.

    Parameters
    ----------
    data
        The file.
    limits, budget
        Bounds on frames, and on memory.
    character_of
        The character whose rows have so many numbers.
    """
    largest = int(np.frombuffer(data, np.uint8).max(initial=0))
    budget.take(len(data) * (4 if largest >= 0xF0 else 2 if largest >= 0xC4 else 1), "its text")
    return _Parser(decoded(data), limits, budget, character_of).parse()


class _Parser:
    """Reads the object in the file key by key, and the list under ``Frames`` row by row."""

    def __init__(
        self, text: str, limits: Limits, budget: Budget, character_of: Callable[[int], Character]
    ) -> None:
        self.character_of = character_of
        self.character: Character | None = None
        self.text = text
        self.at = 0
        self.limits = limits
        self.budget = budget
        self.others_left = _MOST_OTHERS
        self.numbers = array("d")
        self.width = self.n_rows = 0
        self.decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode

    def parse(self) -> tuple[dict[str, Any], FloatArray, Character]:
        if self.next() != "{":
            raise FormatError("The file must be a JSON object with `Frames`.", where="line 1")
        facts: dict[str, Any] = {}
        self.at += 1
        mark = self.next()
        while mark != "}":
            key = self.value() if mark == '"' else self.fail("a name in quotes must follow")
            if self.next() != ":":
                self.fail("a colon must follow")
            self.at += 1
            if self.next() == "[" and key == "Frames":
                self.width = self.n_rows = 0
                del self.numbers[:]
                self.rows()
            else:
                facts[key] = self.value()
            mark = self.next()
            if mark == ",":
                self.at += 1
                mark = self.next()
            elif mark != "}":
                self.fail("a comma or a brace must follow")
        self.at += 1
        if self.next():
            self.fail("nothing must follow")
        if not self.n_rows or self.character is None:
            raise FormatError("`Frames` must be a list with at least one frame.", where="Frames")
        return facts, self.finished(), self.character

    def rows(self) -> None:
        """The list under ``Frames``; its first row says how many numbers are in each."""
        self.at += 1
        if self.next() == "]":
            self.at += 1
            return
        while True:
            self.row()
            mark = self.next()
            self.at += 1
            if mark == "]":
                return
            if mark != ",":
                self.at -= 1
                self.fail("a comma or a bracket must follow")

    def row(self) -> None:
        if self.next() != "[":
            self.refuse_row(quoted(str(self.value())))
        stop = self.text.find("]", self.at, self.at + _LONGEST_ROW)
        if stop < 0:
            self.fail(f"a frame must end within {_LONGEST_ROW} characters")
        if self.text.find("[", self.at + 1, stop) > 0:
            self.refuse_value("a list")
        row = self.parsed(stop + 1)
        if len(row) != self.width or not row:
            if self.n_rows or not row:
                self.refuse_row(f"{len(row)} values")
            self.width = len(row)
            self.character = self.character_of(self.width)
        if not {float, int}.issuperset(map(type, row)):
            odd = next(value for value in row if type(value) not in (float, int))
            self.refuse_value(quoted(str(odd)))
        try:
            self.numbers.extend(row)
        except OverflowError:
            raise FormatError("A value is too large for a number.", where="Frames") from None
        self.n_rows += 1
        if self.n_rows > self.limits.max_frames:
            raise FormatError(
                f"A clip may have at most {self.limits.max_frames} frames; this one has more."
            )
        if self.n_rows % _ROWS_AT_ONCE == 0:
            self.check_memory()

    def check_memory(self) -> None:
        """Raise where the rows, or the clip that they become, take too much."""
        assert self.character is not None
        self.budget.check(16 * len(self.numbers), "its numbers", f"frame {self.n_rows}")
        self.budget.check_poses(self.n_rows, self.character.skeleton.n_joints)

    def refuse_row(self, got: str) -> NoReturn:
        raise FormatError(
            f"Every frame must be a list of {self.width or 44} numbers, got {got}.",
            where=f"frame {self.n_rows}",
        )

    def refuse_value(self, got: str) -> NoReturn:
        raise FormatError(f"Every value must be a number, got {got}.", where=f"frame {self.n_rows}")

    def finished(self) -> FloatArray:
        self.check_memory()
        rows = np.frombuffer(self.numbers, dtype=np.float64).reshape(self.n_rows, self.width)
        if not (sane := np.abs(rows) <= LARGEST).all():
            frame = int(np.argwhere(~sane)[0, 0])
            raise FormatError(
                f"A value must be finite and at most {LARGEST:g}.", where=f"frame {frame}"
            )
        return rows

    def next(self) -> str:
        """The next character that is no blank, empty at the end; it is not passed over."""
        match = _BLANKS.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """Any value that is no row: all of them together must be short."""
        start, most = self.at, self.at + self.others_left
        try:
            value = self.parsed(most)
        except FormatError:
            if most >= len(self.text):
                raise
            self.at = most
        self.others_left -= self.at - start
        if self.others_left <= 0:
            raise FormatError(
                f"What is not in `Frames` must have at most {_MOST_OTHERS} characters.",
                where=self.line(),
                fix="This may not be a DeepMimic motion.",
            )
        return value

    def parsed(self, stop: int) -> Any:
        """The value that begins here and ends before ``stop``."""
        try:
            value, length = self.decode(self.text[self.at : stop])
        except json.JSONDecodeError as error:
            self.at += error.pos
            self.fail(error.msg)
        except (RecursionError, ValueError) as error:
            raise FormatError(f"The file must be plain JSON ({quoted(str(error))}).") from None
        self.at += length
        return value

    def line(self) -> str:
        return f"line {1 + self.text.count(chr(10), 0, self.at)}"

    def fail(self, problem: str) -> NoReturn:
        raise FormatError(
            f"The file must be JSON ({problem}).",
            where=self.line(),
            fix="It may have been cut short.",
        )


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError(
        f"A value must be finite, got {name}.", where="Frames", fix="Repair or cut this frame."
    )
