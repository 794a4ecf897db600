"""USD text cut into tokens; arrays of numbers stay text until somebody asks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.text import LARGEST, quoted
from motionloom.reading.size_limits import Budget

_BLANK = re.compile(r"(?:\s++|#[^\n\r]*+|//[^\n\r]*+|/\*(?s:.*?)(?:\*/|\Z)|;)*+")
_TOKEN = re.compile(
    r'"""(?s:(?:\\.|[^\\])*?)"""'
    r"|'''(?s:(?:\\.|[^\\])*?)'''"
    r'|"(?:\\.|[^"\\\n])*+"'
    r"|'(?:\\.|[^'\\\n])*+'"
    r"|@@@(?s:.*?)@@@|@[^@\n]*+@"
    r"|<[^>\n]*+>"
    r"|[^\s\"'@<>()\[\]{}=,;#]++"
    r"|[()\[\]{}=,]"
)
_NUMBERS = re.compile(r"\[[-+0-9eE.,()\s]*+\]")
_TO_BLANKS = str.maketrans("(),[]", "     ")
_BYTES_PER_CHARACTER = 32
"""Memory that cutting an array's text into numbers takes at most."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array of numbers, still text: ``[(0, 1), (2, 3)]``."""

    start: int
    stop: int


class Tokens:
    """The tokens of a text, one after the other."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.at = 0
        self.budget = budget

    def fault(self, problem: str) -> FormatError:
        """An error at this line."""
        line = self.text.count("\n", 0, self.at) + 1
        return FormatError(problem, where=f"line {line}")

    def skip_blank(self) -> None:
        """Move to the next token."""
        match = _BLANK.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def peek(self) -> str:
        """The next token, empty at the end of the text."""
        self.skip_blank()
        if self.at >= len(self.text):
            return ""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise self.fault(f"{quoted(self.text[self.at : self.at + 20])} is no USD text.")
        return match[0]

    def take(self) -> str:
        """The next token, which must be there."""
        token = self.peek()
        if not token:
            raise self.fault("The text ends too early.")
        self.at += len(token)
        return token

    def expect(self, wanted: str) -> None:
        """Take a token that must be this one."""
        token = self.take()
        if token != wanted:
            raise self.fault(f"{quoted(wanted)} must come here, got {quoted(token)}.")

    def take_numbers(self) -> Numbers | None:
        """An array of numbers, if one comes next."""
        self.skip_blank()
        match = _NUMBERS.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return Numbers(match.start(), match.end())

    def numbers(self, span: Numbers, what: str) -> FloatArray:
        """The numbers of an array, flat."""
        self.budget.check(_BYTES_PER_CHARACTER * (span.stop - span.start), what)
        words = self.text[span.start : span.stop].translate(_TO_BLANKS).split()
        try:
            values = np.array(words, dtype=np.float64)
        except ValueError as error:
            self.at = span.start
            raise self.fault(f"{what}: numbers are needed ({error}).") from error
        if values.size and not np.abs(values).max() < LARGEST:
            self.at = span.start
            raise self.fault(f"{what}: numbers must be below {LARGEST:g}.")
        return values


def text_of(token: str) -> str:
    """What a string token says."""
    if token[:3] in ('"""', "'''") and len(token) >= 6:
        inner = token[3:-3]
    elif token[:1] in "\"'<@":
        inner = token[1:-1]
    else:
        return token
    if "\\" not in inner:
        return inner
    escapes = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(?s:(.))", lambda match: escapes.get(match[1], match[1]), inner)
