"""USD text as a tree of prims: what one layer says, without composition.

Values are kept as they come: a string for a token, a list for a list or tuple, a dictionary for a
dictionary or time samples, and :class:`Numbers` for an array of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from motionloom.formats.text import quoted
from motionloom.formats.usd.usd_tokens import Tokens, text_of

DEEPEST = 100
MOST_PRIMS = 100_000
_BYTES_PER_ITEM = 400
_SPECIFIERS = ("def", "over", "class")
_LIST_EDITS = ("prepend", "append", "add", "delete", "reorder")
_QUALIFIERS = ("custom", "uniform", "varying", "config", *_LIST_EDITS)


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
        """What stands between parentheses after a layer's, a prim's or a property's head."""
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
