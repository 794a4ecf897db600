"""Small deliberate mistakes that could be made in a Python file.

A mutant is one changed expression. Text, type hints, decorators, imports and errors are left alone,
and so are numbers below 1e-6, which only keep a division from failing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Protocol

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
EXTREMES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "nanmin": "nanmax",
    "fmin": "fmax",
    "floor": "ceil",
}
EXTREMES |= {b: a for a, b in EXTREMES.items()}
SYMMETRIC = {
    *("min", "max", "minimum", "maximum", "fmin", "fmax", "clip", "hypot", "isclose"),
    *(
        "allclose",
        "array_equal",
        "logical_and",
        "logical_or",
        "add",
        "multiply",
        "gcd",
        "cast",
        "isinstance",
    ),
    *("dot", "vdot", "getattr", "setattr", "hasattr", "TypeVar", "NewType", "Finding"),
}
"""Calls whose first two arguments may change places, or are no numbers."""
SMALLEST = 1e-6
TEXT_CALLS = {"Finding", "TypeVar", "NewType", "cast", "warn", "MotionLoomError"}


@dataclass(frozen=True, eq=False)
class Mutant:
    """One changed expression of a file."""

    file: str
    """Relative to the project."""
    line: int
    column: int
    kind: str
    source: str
    """The line of the file without its indent."""
    before: str
    after: str
    scope: tuple[int, ...]
    """First lines of the functions around it, decorators included, from outside to inside."""
    names: tuple[str, ...]
    """Names that the outermost statement binds."""
    number: int
    """Place among the mutants of its file."""

    @property
    def key(self) -> str:
        """What identifies it as long as its line stays as it is."""
        return f"{self.file} | {self.source} | {self.before} -> {self.after}"

    @property
    def spot(self) -> tuple[str, int, int]:
        return self.file, self.line, self.column

    @property
    def name(self) -> str:
        """What identifies it among the mutants of the same code."""
        return f"{self.key} | {self.line}:{self.column}"


Change = tuple[str, ast.AST, ast.AST]
"""Kind, the node as it is, and the node to stand in its place."""


def changed(node: ast.AST, **fields: object) -> ast.AST:
    copied = copy.copy(node)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied


def called_name(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def is_text(node: ast.AST) -> bool:
    """Whether an operand is text, a list or a path, of which a sum means something else."""
    if isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp):
        return True
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def of_compare(node: ast.Compare) -> Iterator[Change]:
    for k, op in enumerate(node.ops):
        if type(op) in COMPARISONS:
            ops = [*node.ops]
            ops[k] = COMPARISONS[type(op)]()
            yield "comparison", node, changed(node, ops=ops)


def of_arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Change]:
    sides = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    if type(node.op) in ARITHMETIC and not any(map(is_text, sides)):
        yield "arithmetic", node, changed(node, op=ARITHMETIC[type(node.op)]())


def of_unary(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.USub):
        yield "sign", node, node.operand
    if isinstance(node.op, ast.Not):
        yield "not", node, node.operand


def of_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "truth", node, changed(node, value=not value)
    elif isinstance(value, int):
        yield "off by one", node, changed(node, value=value + 1)
        if value > 0:
            yield "off by one", node, changed(node, value=value - 1)
    elif isinstance(value, float) and (value == 0.0 or abs(value) >= SMALLEST):
        yield "constant", node, changed(node, value=2.0 * value if value else 1.0)


def of_call(node: ast.Call) -> Iterator[Change]:
    name = called_name(node)
    if name in EXTREMES:
        field = "attr" if isinstance(node.func, ast.Attribute) else "id"
        yield "extreme", node, changed(node, func=changed(node.func, **{field: EXTREMES[name]}))
    if name in ("abs", "fabs") and len(node.args) == 1:
        yield "abs", node, node.args[0]
    swappable = len(node.args) >= 2 and name not in SYMMETRIC
    if swappable and not any(isinstance(a, ast.Starred) for a in node.args[:2]):
        first, second, *rest = node.args
        if ast.dump(first) != ast.dump(second) and not (is_text(first) or is_text(second)):
            yield "arguments", node, changed(node, args=[second, first, *rest])


def of_axis(node: ast.keyword) -> Iterator[Change]:
    try:
        value = ast.literal_eval(node.value)
    except ValueError:
        return
    if isinstance(value, int) and not isinstance(value, bool):
        other = ast.Constant({0: 1, 1: 0, -1: 0}.get(value, value - 1))
        yield "axis", node, changed(node, value=ast.copy_location(other, node.value))


def of_slice(node: ast.Slice) -> Iterator[Change]:
    for side in ("lower", "upper"):
        bound = getattr(node, side)
        if bound is not None and not isinstance(bound, ast.Constant):
            one = ast.copy_location(ast.Constant(1), bound)
            more = ast.copy_location(ast.BinOp(bound, ast.Add(), one), bound)
            yield "slice", node, changed(node, **{side: more})


def of_logic(node: ast.BoolOp) -> Iterator[Change]:
    yield (
        "logic",
        node,
        changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And()),
    )


CHANGES: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
    ast.Compare: of_compare,
    ast.BinOp: of_arithmetic,
    ast.AugAssign: of_arithmetic,
    ast.UnaryOp: of_unary,
    ast.Constant: of_constant,
    ast.Call: of_call,
    ast.Slice: of_slice,
    ast.BoolOp: of_logic,
}


def parts(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The children that may be changed, with the field each is in."""
    skipped: set[str] = {"annotation", "returns", "decorator_list", "type_comment"}
    if isinstance(node, ast.Assert):
        skipped.add("msg")
    if isinstance(node, ast.BinOp):
        skipped |= {"left", "right"} if any(map(is_text, (node.left, node.right))) else set()
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Global):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    if isinstance(node, ast.keyword):
        return node.arg in ("strict", "dtype", "slots", "frozen", "eq", "kw_only")
    if isinstance(node, ast.Call):
        return called_name(node) in TEXT_CALLS or called_name(node).endswith("Error")
    return False


def bound_names(statement: ast.AST) -> tuple[str, ...]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return (statement.name,)
    stored = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
    return tuple(n.id for n in stored if isinstance(n.ctx, ast.Store))


def first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


class SourceFile:
    """A file and every mutant of it."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()

    @cached_property
    def mutants(self) -> list[Mutant]:
        mutants: list[Mutant] = []
        for statement in ast.parse(self.text).body:
            names = bound_names(statement)
            for kind, node, replacement, scope in self._changes(statement, ()):
                line, column = place(node)
                mutant = Mutant(
                    file=self.name,
                    line=line,
                    column=column,
                    kind=kind,
                    source=self.lines[line - 1].strip(),
                    before=ast.unparse(node),
                    after=ast.unparse(replacement),
                    scope=scope,
                    names=names,
                    number=len(mutants),
                )
                mutants.append(mutant)
        return mutants

    def tree_of(self, mutant: Mutant) -> ast.Module:
        """The file with that one change."""
        tree = ast.parse(self.text)
        seen = 0
        for statement in tree.body:
            for _, node, replacement, _ in self._changes(statement, ()):
                if seen == mutant.number:
                    ast.copy_location(replacement, node)
                    Exchange(node, replacement).visit(tree)
                    return ast.fix_missing_locations(tree)
                seen += 1
        raise ValueError(f"{mutant.file} has {seen} mutants, not {mutant.number}.")

    def _changes(
        self, node: ast.AST, scope: tuple[int, ...]
    ) -> Iterator[tuple[str, ast.AST, ast.AST, tuple[int, ...]]]:
        if is_left_alone(node):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = (*scope, first_line(node))
        if isinstance(node, ast.keyword) and node.arg == "axis":
            for change in of_axis(node):
                yield *change, scope
            return
        for change in CHANGES.get(type(node), lambda _: ())(node):
            yield *change, scope
        for _, child in parts(node):
            yield from self._changes(child, scope)


class Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def place(node: ast.AST) -> tuple[int, int]:
    """Line and column, of the first bound for a slice without one."""
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


class HasMutants(Protocol):
    """A file of Python or C."""

    name: str

    @property
    def mutants(self) -> list[Mutant]:
        """All that could be made of it."""


def sample(files: Sequence[HasMutants], count: int, seed: int) -> list[Mutant]:
    """Some mutants, spread evenly over code and kinds and never two of one expression.

    A file has its share by the lines that can be changed. Each draws separately: a change of one
    leaves the mutants of the others as they were, but for a few at the end.
    """
    places: list[tuple[float, str, Mutant]] = []
    for file in files:
        chance = Random(f"{seed}/{file.name}")
        start, size = chance.random(), len({m.line for m in file.mutants})
        taken: set[tuple[str, int, int]] = set()
        for mutant in in_mixed_order(file.mutants, chance):
            if mutant.spot not in taken:
                places.append(((len(taken) + start) / size, file.name, mutant))
                taken.add(mutant.spot)
    places.sort(key=lambda place: place[:2])
    return [mutant for _, _, mutant in places[:count]]


def in_mixed_order(mutants: list[Mutant], chance: Random) -> list[Mutant]:
    """Mutants of a file at random, as many early ones of a rare kind as of a frequent one."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in chance.sample(mutants, len(mutants)):
        kinds.setdefault(mutant.kind, []).append(mutant)
    mixed: list[Mutant] = []
    while kinds:
        kind = chance.choice(sorted(kinds))
        mixed.append(kinds[kind].pop())
        if not kinds[kind]:
            del kinds[kind]
    return mixed
