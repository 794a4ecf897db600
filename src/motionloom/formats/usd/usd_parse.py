"""USD text as a tree of prims: its tokens, and what one layer says, without composition.

Values are kept as they come: a string for a token, a list for a list or tuple, a dictionary for a
dictionary or time samples, and :class:`Numbers` for an array of numbers, which stays text until
its numbers are needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.formats.text import LARGEST, quoted

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
DEEPEST = 100
MOST_PRIMS = 100_000
_BYTES_PER_ITEM = 400
_SPECIFIERS = ("def", "over", "class")
_LIST_EDITS = ("prepend", "append", "add", "delete", "reorder")
_QUALIFIERS = ("custom", "uniform", "varying", "config", *_LIST_EDITS)


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
    """The text in a string token."""
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


@dataclass(slots=True)
class Property:
    """An attribute or relationship."""

    type: str
    value: Any = None
    samples: dict[float, Any] | None = None


@dataclass(slots=True)
class Prim:
    """One prim and its children."""

    type: str
    name: str
    path: str
    metadata: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    children: list[Prim] = field(default_factory=list)

    def descendants(self) -> list[Prim]:
        """The prim and all below it, parents first."""
        listed, waiting = [], [self]
        while waiting:
            prim = waiting.pop()
            listed.append(prim)
            waiting.extend(reversed(prim.children))
        return listed


class _Parser:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.n_prims = 0

    def layer(self) -> Prim:
        root = Prim("", "", "")
        if self.tokens.peek() == "(":
            root.metadata = self.metadata()
        while self.tokens.peek():
            self.prim(root, 1)
        return root

    def prim(self, parent: Prim, depth: int) -> None:
        tokens = self.tokens
        self.n_prims += 1
        if depth > DEEPEST or self.n_prims > MOST_PRIMS:
            raise tokens.fault(f"At most {MOST_PRIMS} prims, {DEEPEST} deep, can be read.")
        tokens.budget.take(_BYTES_PER_ITEM, "its prims")
        word = tokens.take()
        if word == "reorder":
            tokens.take()
            tokens.expect("=")
            self.value(0)
            return
        if word not in _SPECIFIERS:
            raise tokens.fault(f"A prim must begin with def, over or class, got {quoted(word)}.")
        kind = "" if tokens.peek()[:1] in ('"', "'") else tokens.take()
        name = text_of(tokens.take())
        prim = Prim(kind, name, f"{parent.path}/{name}")
        if tokens.peek() == "(":
            prim.metadata = self.metadata()
        parent.children.append(prim)
        self.body(prim, depth)

    def body(self, prim: Prim, depth: int) -> None:
        tokens = self.tokens
        tokens.expect("{")
        while (token := tokens.peek()) != "}":
            if token in _SPECIFIERS:
                self.prim(prim, depth + 1)
            elif token == "variantSet":
                self.variants(depth)
            else:
                self.property(prim)
        tokens.take()

    def variants(self, depth: int) -> None:
        """Skip a set of variants: which of them holds is composition."""
        tokens = self.tokens
        tokens.take()
        tokens.take()
        tokens.expect("=")
        tokens.expect("{")
        while tokens.peek() != "}":
            tokens.take()
            if tokens.peek() == "(":
                self.metadata()
            if depth > DEEPEST:
                raise tokens.fault(f"Prims may be {DEEPEST} deep.")
            self.body(Prim("", "", ""), depth + 1)
        tokens.take()

    def property(self, prim: Prim) -> None:
        tokens = self.tokens
        tokens.budget.take(_BYTES_PER_ITEM, "its properties")
        kind = tokens.take()
        while kind in _QUALIFIERS:
            kind = tokens.take()
        if tokens.peek() == "[":
            tokens.take()
            tokens.expect("]")
            kind += "[]"
        if kind in ("nameChildren", "properties") and tokens.peek() == "=":
            name = kind
        else:
            name = tokens.take()
        base, _, part = name.partition(".")
        entry = prim.properties.setdefault(base, Property(kind))
        if tokens.peek() == "=":
            tokens.take()
            if part == "timeSamples":
                entry.type, entry.samples = kind, self.samples()
            else:
                value = self.value(0)
                if not part:
                    entry.type, entry.value = kind, value
        if tokens.peek() == "(":
            self.metadata()

    def samples(self) -> dict[float, Any]:
        tokens = self.tokens
        tokens.expect("{")
        samples: dict[float, Any] = {}
        while (token := tokens.take()) != "}":
            if token == ",":
                continue
            tokens.budget.take(_BYTES_PER_ITEM, "its time samples")
            number = token.removesuffix(":")
            try:
                time = float(number)
            except ValueError:
                raise tokens.fault(f"A time must be a number, got {quoted(token)}.") from None
            if number == token:
                tokens.expect(":")
            if not abs(time) < 1e12:
                raise tokens.fault(f"A time must be below 1e12, got {quoted(token)}.")
            samples[time] = self.value(0)
        return samples

    def value(self, depth: int) -> Any:
        tokens = self.tokens
        if depth > DEEPEST:
            raise tokens.fault(f"Values may be nested {DEEPEST} deep.")
        numbers = tokens.take_numbers()
        if numbers is not None:
            return numbers
        token = tokens.take()
        if token in ("[", "("):
            return self.items("]" if token == "[" else ")", depth)
        if token == "{":
            return self.dictionary(depth)
        if token in (")", "]", "}", "=", ","):
            raise tokens.fault(f"A value must come here, got {quoted(token)}.")
        if token[0] in "@<":  # a reference: the prim in the file, and by how much it is moved
            while tokens.peek()[:1] == "<":
                tokens.take()
            if tokens.peek() == "(":
                self.metadata()
        return token

    def items(self, end: str, depth: int) -> list[Any]:
        tokens, values = self.tokens, []
        while tokens.peek() != end:
            if tokens.peek() == ",":
                tokens.take()
                continue
            tokens.budget.take(_BYTES_PER_ITEM, "its values")
            values.append(self.value(depth + 1))
        tokens.take()
        return values

    def dictionary(self, depth: int) -> dict[str, Any]:
        tokens, entries = self.tokens, {}
        while (token := tokens.take()) != "}":
            if token == ",":
                continue
            tokens.budget.take(_BYTES_PER_ITEM, "its values")
            words = [token]
            while tokens.peek() not in ("=", ""):
                words.append(tokens.take())
                if len(words) > 4:
                    raise tokens.fault("An entry must be a type, a name and a value.")
            tokens.expect("=")
            entries[text_of(words[-1])] = self.value(depth + 1)
        return entries

    def metadata(self) -> dict[str, Any]:
        """The metadata between parentheses after the head of a layer, a prim or a property."""
        tokens = self.tokens
        tokens.expect("(")
        entries: dict[str, Any] = {}
        while (token := tokens.take()) != ")":
            if token[:1] in "\"'":
                continue  # a comment
            words = [token]
            while tokens.peek() not in ("=", ")", ""):
                words.append(tokens.take())
                if len(words) > 4:
                    raise tokens.fault(f"{quoted(token)} must be followed by '='.")
            if tokens.peek() == "=":
                tokens.take()
                entries[text_of(words[-1])] = self.value(0)
                tokens.budget.take(_BYTES_PER_ITEM, "its metadata")
        return entries


def parse_layer(tokens: Tokens) -> Prim:
    """The pseudo-root of a layer: its metadata, and the prims at the top as children."""
    return _Parser(tokens).layer()
