"""Functions fit a screen and take few parameters."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "motionloom"
LONGEST = 60
"""Lines of a function, its signature and docstring not counted."""
MOST_PARAMETERS = 8
"""Parameters of a function, ``self`` not counted."""


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the package with the place where it is."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{place}:{node.name}", node


def is_command(place: str) -> bool:
    """Whether a function is a command.

    Typer takes one parameter for each option, so that its parameters do not count.
    """
    file, _, name = place.partition(":")
    return file.startswith("cli/") and file.endswith("_command.py") and not name.startswith("_")


def n_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters of a function; the first of a method is not counted.

    Keyword-only parameters with a default are options: a call need not mention them.
    """
    given = node.args
    needed = [
        each
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    ]
    names = [each.arg for each in (*given.posonlyargs, *given.args, *needed)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    return len(names) + bool(given.vararg) + bool(given.kwarg)


def n_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function after its signature and docstring."""
    has_docstring = ast.get_docstring(node, clean=False) is not None
    before = node.body[0].end_lineno if has_docstring else node.body[0].lineno - 1
    return (node.end_lineno or node.lineno) - (before or node.lineno)


def offenders() -> set[str]:
    """Functions that are too long or take too many parameters."""
    return {
        place
        for place, node in functions()
        if n_lines(node) > LONGEST
        or (n_parameters(node) > MOST_PARAMETERS and not is_command(place))
    }


def test_functions_fit_a_screen_and_take_few_parameters():
    assert sorted(offenders()) == []
