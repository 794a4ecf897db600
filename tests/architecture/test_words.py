"""Plain English: banned words in texts, and names that say nothing about the domain."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BANNED = [
    r"anew",
    r"whoever",
    r"whereby",
    r"told",
    r"said",
    r"says back",
    r"say back",
    r"spoken for",
    r"speaks? for",
    r"shy of",
    r"rooms?",
    r"room[123]",
    r"the likeliest",
    r"in the mean",
    r"beside",
    r"elsewhere",
    r"aside",
    r"of (?:its|their) own(?! \w)",
    r"by itself",
    r"the same way round",
    r"is held against",
    r"captured wrong",
    r"kinds of motion",
    r"met windows?",
    r"rivals?",
    r"spoilt?",
]
"""Words and phrases that plain texts and names do without."""
WORDS = re.compile(rf"(?<![\w-])(?:{'|'.join(BANNED)})(?![\w-])", re.IGNORECASE)

ALLOWED = re.compile(r'beside=|"aside"|\boutside\.room\b|"room" in outside|under `room`')
"""A field of the core, an element of HTML, and the key that projects of earlier versions have."""
NAMES = frozenset({"said", "told", "there", "made", "known", "kept", "found"})
"""Words that are no names of variables, parameters or fields."""
SPOKEN = frozenset(
    {"say", "says", "said", "tell", "tells", "telling", "told", "untold", "hear", "hears", "heard"}
)
"""Words that are no part of a name in the tests: it is a message, an answer, a report."""

AREAS = (
    "src/motionloom/*.py",
    *(
        f"src/motionloom/{name}/**/*.py"
        for name in sorted(
            path.name
            for path in (ROOT / "src" / "motionloom").iterdir()
            if path.is_dir() and any(path.rglob("*.py"))
        )
    ),
    "src/motionloom/studio/client/src/**/*.ts",
    "runtimes/**/*.ts",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "docs/pictures/*.py",
    "examples/**/*.py",
    "studies/**/*.py",
    "benchmarks/**/*.py",
    "fuzz/**/*.py",
    "scripts/**/*.py",
    "scripts/**/*.sh",
    "core/**/*.py",
)
TEXTS = ("core/**/*.[ch]", "tests/**/*.py")
"""Areas in which comments, docstrings and help texts are read, and the rest of the code is not."""


def banned_in(text: str) -> list[str]:
    """Lines with a banned word."""
    return [
        f"{number}: {line.strip()}"
        for number, line in enumerate(text.split("\n"), start=1)
        if WORDS.search(ALLOWED.sub("", line))
    ]


def texts_in(path: Path) -> str:
    """Comments of a C file, docstrings of a Python file; other lines are empty."""
    text = path.read_text(encoding="utf-8")
    kept = [""] * (text.count("\n") + 1)
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                for number, line in enumerate(str(node.value.value).split("\n"), node.lineno - 1):
                    kept[number] = line
    else:
        for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL):
            first = text.count("\n", 0, comment.start())
            for number, line in enumerate(comment.group().split("\n"), first):
                kept[number] += re.sub(r"`[^`]*`", "", line)
    return "\n".join(kept)


def bad_names_in(text: str) -> list[str]:
    """Variables, parameters and fields that are called by a word of :data:`NAMES`."""
    out = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
            out.append(f"{node.lineno}: {node.id}")
        if isinstance(node, ast.arg) and node.arg in NAMES:
            out.append(f"{node.lineno}: {node.arg}")
    return out


def defined_names(text: str) -> Iterator[tuple[int, str]]:
    """Lines and names of the variables, parameters, fields, functions and classes of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def spoken_names_in(text: str) -> list[str]:
    """Names that have a word of :data:`SPOKEN` as one of their parts."""
    return [
        f"{line}: {name}"
        for line, name in sorted(defined_names(text))
        if SPOKEN & set(name.lower().split("_"))
    ]


@pytest.mark.parametrize("area", AREAS)
def test_texts_are_plain_english(area: str) -> None:
    files = {path: banned_in(path.read_text(encoding="utf-8")) for path in ROOT.glob(area)}
    assert {str(path.relative_to(ROOT)): lines for path, lines in files.items() if lines} == {}


@pytest.mark.parametrize("area", TEXTS)
def test_comments_and_docstrings_are_plain_english(area: str) -> None:
    files = {path: banned_in(texts_in(path)) for path in ROOT.glob(area)}
    assert {str(path.relative_to(ROOT)): lines for path, lines in files.items() if lines} == {}


@pytest.mark.parametrize(
    "area", [a for a in AREAS if a.startswith(("src", "studies")) and a.endswith(".py")]
)
def test_names_are_words_of_the_domain(area: str) -> None:
    files = {path: bad_names_in(path.read_text(encoding="utf-8")) for path in ROOT.glob(area)}
    assert {str(path.relative_to(ROOT)): names for path, names in files.items() if names} == {}


def test_names_in_tests_are_plain_english() -> None:
    files = {path: spoken_names_in(path.read_text("utf-8")) for path in ROOT.glob("tests/**/*.py")}
    assert {str(path.relative_to(ROOT)): names for path, names in files.items() if names} == {}


def test_banned_words_are_seen() -> None:
    assert banned_in("Nothing here.\nIt is told here.\nA name of its own foot.") == [
        "2: It is told here."
    ]
    assert bad_names_in("found = 1\ndef f(made): pass") == ["1: found", "2: made"]
    text = "TOLD = said = 1\ndef test_it_is_told(heard): self.said_so = foretold = 1"
    spoken = ["1: TOLD", "1: said", "2: heard", "2: said_so", "2: test_it_is_told"]
    assert spoken_names_in(text) == spoken
