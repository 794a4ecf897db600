"""C as far as mutants need it: tokens, definitions, statements and expressions.

Enough for the C core and no more: no types are worked out and nothing is expanded. Comments and
preprocessor lines are no tokens; neither is what stands between ``#if`` and ``#endif``, for only
some of it is compiled on a machine. Lines of ``#define`` are kept apart, for the call graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<line>^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?[a-zA-Z]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|[^\s\w])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(\w*)")
TYPE_WORDS = {
    *("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "size_t"),
    *("struct", "enum", "union", "const", "static", "inline", "volatile", "register"),
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
Range = tuple[int, int]
"""The first token and the one behind the last."""


class Token(NamedTuple):
    """A word, number, text or sign."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass
class Definition:
    """A function, a piece of data or a macro, at the level of the file."""

    name: str
    whole: Range
    body: Range | None = None
    """Of a function: its statements, without the braces."""
    value: Range | None = None
    """Of data: what it is made of."""
    is_static: bool = False
    mentions: set[str] = field(default_factory=set)
    """Names that it uses, its own excepted."""


@dataclass
class Parts:
    """What of a function may be changed."""

    expressions: list[Range] = field(default_factory=list)
    conditions: list[Range] = field(default_factory=list)
    """Of ``if`` and ``while``; expressions as well."""
    statements: list[Range] = field(default_factory=list)
    """Those that could be left out, with their semicolons."""


def tokens_of(text: str) -> tuple[list[Token], list[str]]:
    """Tokens of a file, and its preprocessor lines."""
    tokens, lines = [], []
    open_ifs: list[bool] = []  # whether what is inside is left out
    guard = ""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "line":
            lines.append(match.group())
            directive = _DIRECTIVE.match(match.group())
            word, first = directive.groups() if directive else ("", "")
            if word == "ifndef" and not lines[:-1]:
                guard = first
                open_ifs.append(False)
            elif word in ("if", "ifdef", "ifndef"):
                open_ifs.append(True)
            elif word == "endif" and open_ifs:
                open_ifs.pop()
        elif kind != "comment" and not any(open_ifs):
            tokens.append(Token(kind, match.group(), match.start()))
    return tokens, [line for line in lines if not guard or guard not in line]


class CText:
    """A C file, taken apart."""

    def __init__(self, path: Path, name: str, types: frozenset[str] = frozenset()) -> None:
        self.path, self.name = path, name
        self.text = path.read_text(encoding="utf-8")
        self.tokens, self.directives = tokens_of(self.text)
        self.types = types | typedefs_of(self.tokens)
        self.partner: dict[int, int] = {}
        waiting: list[int] = []
        for k, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in CLOSING:
                waiting.append(k)
            elif token.kind == "sign" and token.text in CLOSING.values():
                start = waiting.pop()
                self.partner[start] = k
                self.partner[k] = start

    @property
    def is_header(self) -> bool:
        return self.path.suffix == ".h"

    def word_at(self, k: int) -> str:
        return self.tokens[k].text if 0 <= k < len(self.tokens) else ""

    def slice(self, part: Range) -> str:
        """The text of some tokens, on one line."""
        first, behind = part
        if first >= behind:
            return ""
        return " ".join(self.text[self.tokens[first].start : self.tokens[behind - 1].end].split())

    def is_type(self, k: int) -> bool:
        word = self.word_at(k)
        return word in TYPE_WORDS or word in self.types or word.endswith("_t")

    def is_type_in_brackets(self, k: int) -> bool:
        """Whether brackets hold a type, as those of a cast do."""
        if self.word_at(k) != "(" or not self.is_type(k + 1):
            return False
        inside = range(k + 1, self.partner[k])
        return all(self.is_type(i) or self.word_at(i) == "*" for i in inside)

    @cached_property
    def definitions(self) -> list[Definition]:
        definitions = []
        k = 0
        while k < len(self.tokens):
            behind = self._outer_end(k)
            definition = self._definition(k, behind)
            if definition:
                definitions.append(definition)
            k = behind
        for line in self.directives:
            match = _DIRECTIVE.match(line)
            if match and match.group(1) == "define":
                name, words = match.group(2), set(re.findall(r"[A-Za-z_]\w*", line))
                definitions.append(Definition(name, (0, 0), mentions=words - {"define", name}))
        return definitions

    def _outer_end(self, k: int) -> int:
        """The token behind a declaration, a definition or the use of a macro at file level."""
        if self.tokens[k].kind == "name" and self.word_at(k + 1) == "(":
            return self.partner[k + 1] + 1
        while k < len(self.tokens):
            if self.word_at(k) == ";":
                return k + 1
            if self.word_at(k) == "{" and self.word_at(k - 1) == ")":
                return self.partner[k] + 1
            k = self.partner[k] + 1 if self.word_at(k) in CLOSING else k + 1
        return k

    def _definition(self, first: int, behind: int) -> Definition | None:
        is_static = False
        if self.word_at(first + 1) == "(":  # a macro that defines what it names first
            return Definition(
                self.word_at(first + 2), (first, behind), mentions=self._names(first, behind)
            )
        for k in range(first, behind):
            word = self.word_at(k)
            if word in ("typedef", "enum", "struct", "union") and self.word_at(k + 2) != "*":
                return None
            is_static = is_static or word == "static"
            if word == "(" and self.word_at(behind - 1) == "}":
                name, inside = self.word_at(k - 1), (self.partner[k] + 2, behind - 1)
                words = self._names(first, behind) - {name}
                return Definition(name, (first, behind), inside, None, is_static, words)
            if word == "(":
                return None  # only declared
            if word == "=":
                name = next(
                    self.word_at(i - 1)
                    for i in range(first, k + 1)
                    if self.word_at(i) in ("[", "=") and self.tokens[i - 1].kind == "name"
                )
                words = self._names(k, behind) - {name}
                return Definition(
                    name, (first, behind), None, (k + 1, behind - 1), is_static, words
                )
        return None

    def _names(self, first: int, behind: int) -> set[str]:
        return {t.text for t in self.tokens[first:behind] if t.kind == "name"}

    def parts_of(self, definition: Definition) -> Parts:
        """Expressions and statements of a function; of data, the expression that it is made of."""
        parts = Parts()
        if definition.value:
            parts.expressions.append(definition.value)
        if definition.body:
            k, behind = definition.body
            while k < behind:
                k = self._statement(k, parts)
        return parts

    def _statement(self, k: int, parts: Parts) -> int:
        """Add the parts of a statement; the token behind it."""
        word = self.word_at(k)
        if word == "{":
            behind, last = k + 1, self.partner[k]
            while behind < last:
                behind = self._statement(behind, parts)
            return last + 1
        if word in ("if", "while", "switch"):
            inside = (k + 2, self.partner[k + 1])
            parts.expressions.append(inside)
            if word != "switch":
                parts.conditions.append(inside)
            k = self._statement(inside[1] + 1, parts)
            return self._statement(k + 1, parts) if self.word_at(k) == "else" else k
        if word == "for":
            last = self.partner[k + 1]
            start, test = self._end(k + 2), self._end(self._end(k + 2) + 1)
            self._plain(k + 2, start, parts)
            parts.expressions += [(start + 1, test), (test + 1, last)]
            return self._statement(last + 1, parts)
        if word == "do":
            k = self._statement(k + 1, parts)
            inside = (k + 2, self.partner[k + 1])
            parts.expressions.append(inside)
            parts.conditions.append(inside)
            return inside[1] + 2
        if word in ("case", "default") or self.word_at(k + 1) == ":":
            while self.word_at(k) != ":":
                k += 1
            return k + 1
        end = self._end(k)
        if word == "return":
            parts.expressions.append((k + 1, end))
        elif word in ("break", "continue") or (end > k and not self._plain(k, end, parts)):
            parts.statements.append((k, end + 1))
        return end + 1

    def _plain(self, k: int, end: int, parts: Parts) -> bool:
        """Add the expressions of a statement without a keyword; whether it declares something."""
        if not (
            self.is_type(k) and (self.tokens[k + 1].kind == "name" or self.word_at(k + 1) == "*")
        ):
            parts.expressions.append((k, end))
            return False
        while k < end:
            if self.word_at(k) == "=":
                behind = self._end(k + 1, ",")
                parts.expressions.append((k + 1, min(behind, end)))
                k = behind
            else:
                k = self.partner[k] + 1 if self.word_at(k) in CLOSING else k + 1
        return True

    def _end(self, k: int, also: str = ";") -> int:
        """The next semicolon, or other sign, that is not inside brackets."""
        while k < len(self.tokens) and self.word_at(k) not in (";", also):
            if self.word_at(k) in CLOSING.values():
                return k
            k = self.partner[k] + 1 if self.word_at(k) in CLOSING else k + 1
        return k


def typedefs_of(tokens: list[Token]) -> set[str]:
    """Names of types that a file makes."""
    return set(_typedefs(tokens))


def _typedefs(tokens: list[Token]) -> Iterator[str]:
    inside, depth = False, 0
    for k, token in enumerate(tokens):
        if token.text == "typedef" and not depth:
            inside = True
        depth += (token.text == "{") - (token.text == "}")
        if inside and not depth and token.text in (";", "__attribute__"):
            yield tokens[k - 1].text
            inside = False


class CallGraph:
    """Which definitions of some files use which, by their names."""

    def __init__(self, files: list[CText]) -> None:
        self.files = {file.name: file for file in files}
        self._by_name: dict[str, list[tuple[str, Definition]]] = {}
        for file in files:
            for definition in file.definitions:
                self._by_name.setdefault(definition.name, []).append((file.name, definition))
        self._users: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for file in files:
            for definition in file.definitions:
                for name in definition.mentions:
                    for home in self._meant(name, file.name):
                        self._users.setdefault((home, name), set()).add(
                            (file.name, definition.name)
                        )

    def _meant(self, name: str, file: str) -> list[str]:
        """Files with the definition that a name means in a file."""
        some = self._by_name.get(name, [])
        if any(home == file for home, _ in some):
            return [file]
        return [
            home
            for home, definition in some
            if self.files[home].is_header or not self._hidden(definition)
        ]

    @staticmethod
    def _hidden(definition: Definition) -> bool:
        return definition.is_static or not (definition.body or definition.value)

    def steps_to(self, file: str, name: str) -> dict[tuple[str, str], int]:
        """Every definition that uses one, straight or through others, by the steps between."""
        steps = {(file, name): 0}
        waiting = [(file, name)]
        for here in waiting:
            for user in self._users.get(here, ()):
                if user not in steps:
                    steps[user] = steps[here] + 1
                    waiting.append(user)
        return steps

    def kernels_of(self, file: str, name: str) -> dict[str, int]:
        """Public functions that reach a definition, by the steps between."""
        steps = self.steps_to(file, name)
        return {
            user: n
            for (home, user), n in steps.items()
            if not self.files[home].is_header and user.startswith("ml_")
        }

    def compiled_with(self, file: str, name: str) -> list[str]:
        """C files whose machine code a definition is part of."""
        if not self.files[file].is_header:
            return [file]
        met, waiting = {(file, name)}, [(file, name)]
        for here in waiting:
            for user in self._users.get(here, set()) - met:
                met.add(user)
                if self.files[user[0]].is_header:
                    waiting.append(user)
        return sorted({home for home, _ in met if not self.files[home].is_header})
