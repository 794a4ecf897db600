"""Modules form no cycle, and no file name occurs twice in the package."""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "motionloom"


def modules() -> dict[str, Path]:
    """Path of every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path, names: set[str]) -> set[str]:
    """Modules that a file imports at any place: at its top, in functions, for types only.

    ``from motionloom import name`` counts where the name is a module; the package loads its public
    names when they are first used.
    """
    out: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            out |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                whole = f"{node.module}.{each.name}"
                out.add(whole if whole in names else node.module)
    return (out & names) - {"motionloom"}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach one another (strongly connected components, after Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            first = stack.index(node)
            out.append(sorted(stack[first:]))
            del stack[first:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return [group for group in out if len(group) > 1]


def test_modules_import_one_another_without_cycles():
    paths = modules()
    graph = {name: imports_of(path, set(paths)) for name, path in paths.items()}
    assert cycles(graph) == []


def test_a_cycle_is_seen():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.parametrize("pattern", ["*.py", "studio/client/src/**/*.*"])
def test_no_file_name_occurs_twice(pattern):
    names = Counter(path.name for path in PACKAGE.rglob(pattern) if path.name != "__init__.py")
    assert names
    assert [name for name, count in names.items() if count > 1] == []
