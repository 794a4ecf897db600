"""Small deliberate mistakes that could be made in a C file: one changed token, or one statement
left out. Types, sizes of arrays and preprocessor lines are left alone, and so are numbers below
1e-6, which only keep a division from failing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from studies.mutants.mutant_c_syntax import CText, Definition, Range, tokens_of, typedefs_of
from studies.mutants.mutant_sites import SMALLEST, Mutant

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "/=": "*=",
}
LOGIC = {"&&": "||", "||": "&&"}
EXTREMES = {
    "ml_min": "ml_max",
    "ml_lanes_min": "ml_lanes_max",
    "fmin": "fmax",
    "fminf": "fmaxf",
    "floor": "ceil",
}
EXTREMES |= {b: a for a, b in EXTREMES.items()}
ABSOLUTE = {"fabs", "fabsf", "llabs"}
_WHOLE = re.compile(r"(\d+)([uUlL]*)")
_SUFFIX = re.compile(r"(0[xX].*?p[+-]?\d+|.*?)([fFlL]?)", re.DOTALL)


class Change(NamedTuple):
    """A piece of text to stand in the place of another."""

    kind: str
    start: int
    end: int
    text: str
    shown: Range
    """Tokens that a report shows, before and after."""


class CFile(CText):
    """A C file and every mutant of it."""

    @cached_property
    def mutants(self) -> list[Mutant]:
        mutants: list[Mutant] = []
        lines = self.text.splitlines()
        for definition, change in self._changes():
            line = self.text.count("\n", 0, change.start) + 1
            mutant = Mutant(
                file=self.name,
                line=line,
                column=change.start - self.text.rfind("\n", 0, change.start) - 1,
                kind=change.kind,
                source=lines[line - 1].strip(),
                before=self.slice(change.shown),
                after=self._shown(change),
                scope=(self.text.count("\n", 0, self.tokens[definition.whole[0]].start) + 1,),
                names=(definition.name,),
                number=len(mutants),
            )
            mutants.append(mutant)
        return mutants

    def text_of(self, mutant: Mutant) -> str:
        """The file with that one change."""
        for number, (_, change) in enumerate(self._changes()):
            if number == mutant.number:
                return self.text[: change.start] + change.text + self.text[change.end :]
        raise ValueError(f"{mutant.file} has no mutant {mutant.number}.")

    def _shown(self, change: Change) -> str:
        first, behind = change.shown
        start, end = self.tokens[first].start, self.tokens[behind - 1].end
        text = self.text[start : change.start] + change.text + self.text[change.end : end]
        return " ".join(text.split())

    def _changes(self) -> Iterator[tuple[Definition, Change]]:
        for definition in self.definitions:
            parts = self.parts_of(definition)
            for each in parts.expressions:
                for change in self._of_expression(*each):
                    yield definition, change
            for first, behind in parts.conditions:
                start, end = self.tokens[first].start, self.tokens[behind - 1].end
                text = f"!({self.text[start:end]})"
                yield definition, Change("negation", start, end, text, (first, behind))
            for first, behind in parts.statements:
                start, end = self.tokens[first].start, self.tokens[behind - 1].end
                yield definition, Change("dropped", start, end, ";", (first, behind))

    def _of_expression(self, first: int, behind: int) -> Iterator[Change]:
        k = first
        follows_value = False
        while k < behind:
            token = self.tokens[k]
            if self.is_type_in_brackets(k):
                follows_value = self.word_at(k - 1) == "sizeof"
                k = self.partner[k] + 1
                continue
            if token.kind == "number":
                yield from self._of_number(k)
            elif token.kind == "name":
                yield from self._of_name(k)
            elif token.kind == "sign":
                yield from self._of_sign(k, follows_value)
            is_word = token.kind != "sign" and token.text not in ("return", "sizeof")
            follows_value = is_word or token.text in (")", "]")
            k += 1

    def _of_sign(self, k: int, follows_value: bool) -> Iterator[Change]:
        token, around = self.tokens[k], (k - 1, k + 2)
        start, end = token.start, token.end
        if token.text in COMPARISONS:
            yield Change("comparison", start, end, COMPARISONS[token.text], around)
        elif token.text in LOGIC:
            yield Change("logic", start, end, LOGIC[token.text], around)
        elif token.text in ARITHMETIC and follows_value:
            yield Change("arithmetic", start, end, ARITHMETIC[token.text], around)
        elif token.text == "-":
            yield Change("sign", start, end, "", (k, k + 2))
        elif token.text == "!":
            yield Change("not", start, end, "", (k, k + 2))
        elif token.text == "[" and follows_value:
            last = self.partner[k]
            if last > k + 2 or self.tokens[k + 1].kind != "number":
                inside = self.text[end : self.tokens[last].start]
                is_sum = all(
                    self.tokens[i].kind != "sign" or self.word_at(i) in ("+", "-", "*", ".", "->")
                    for i in range(k + 1, last)
                )
                text = f"[{inside} + 1]" if is_sum else f"[({inside}) + 1]"
                yield Change("index", start, self.tokens[last].end, text, (k, last + 1))

    def _of_name(self, k: int) -> Iterator[Change]:
        token = self.tokens[k]
        if self.word_at(k + 1) != "(":
            return
        if token.text in EXTREMES:
            yield Change("extreme", token.start, token.end, EXTREMES[token.text], (k, k + 1))
        if token.text in ABSOLUTE:
            yield Change("abs", token.start, token.end, "", (k, self.partner[k + 1] + 1))

    def _of_number(self, k: int) -> Iterator[Change]:
        token, shown = self.tokens[k], (k, k + 1)
        if whole := _WHOLE.fullmatch(token.text):
            value, suffix = int(whole.group(1)), whole.group(2)
            yield Change("off by one", token.start, token.end, f"{value + 1}{suffix}", shown)
            if value > 0:
                yield Change("off by one", token.start, token.end, f"{value - 1}{suffix}", shown)
            return
        is_hex = token.text[:2] in ("0x", "0X")
        if is_hex and "p" not in token.text.lower():
            return  # bits, not a quantity
        match = _SUFFIX.fullmatch(token.text)
        digits, suffix = match.groups() if match else (token.text, "")
        number = float.fromhex(digits) if is_hex else float(digits)
        if number == 0.0 or abs(number) >= SMALLEST:
            other = 2.0 * number if number else 1.0
            text = f"{other.hex() if is_hex else other}{suffix}"
            yield Change("constant", token.start, token.end, text, shown)


def c_files(root: Path) -> list[CFile]:
    """Every file of the C core."""
    paths = sorted((root / "core" / "src").rglob("*.[ch]"))
    header = tokens_of((root / "core" / "include" / "motionloom.h").read_text(encoding="utf-8"))[0]
    types = frozenset(typedefs_of(header)).union(
        *(typedefs_of(tokens_of(p.read_text(encoding="utf-8"))[0]) for p in paths)
    )
    return [CFile(path, str(path.relative_to(root)), types) for path in paths]
