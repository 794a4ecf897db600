"""A mutant put into a process that has imported everything.

The changed file runs again in a separate namespace; code, default values and data that came out
differently go into the objects that the rest of the process uses.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np

from studies.mutants.mutant_sites import Mutant, SourceFile

PLAIN = (bool, int, float, complex, str, bytes, np.generic, type(None))


class MutantFailsError(Exception):
    """The mutated file cannot be imported."""


def module_of(path: Path) -> ModuleType:
    """The imported module of a file."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    raise LookupError(f"{path} is not imported.")


def plain(value: object) -> FunctionType | None:
    """The Python function in a function, method, property or cached function."""
    seen = 0
    while not isinstance(value, FunctionType) and seen < 8:
        seen += 1
        for name in ("__func__", "fget", "func", "__wrapped__"):
            inner = getattr(value, name, None)
            if inner is not None:
                value = inner
                break
        else:
            return None
    while isinstance(value, FunctionType) and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return value if isinstance(value, FunctionType) else None


def is_plain(value: object) -> bool:
    """Whether something is data and nothing else: no function, no object that is one of a kind."""
    if isinstance(value, dict):
        return all(is_plain(k) and is_plain(v) for k, v in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(is_plain, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if is_dataclass(value) and not isinstance(value, type):
        return all(is_plain(each) for each in field_values(value))
    return isinstance(value, PLAIN)


def field_values(value: object) -> list[object]:
    """Values of the fields of a dataclass's object."""
    return [getattr(value, field.name) for field in fields(value)]  # type: ignore[arg-type]


def is_same(a: object, b: object) -> bool:
    """Whether two pieces of data are equal to the last bit; what is no plain data counts so."""
    if not (is_plain(a) and is_plain(b)):
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if is_dataclass(a):
        if type(a) is not type(b):  # a class of the mutated file itself, run again
            return True
        return all(map(is_same, field_values(a), field_values(b)))
    return type(a) is type(b) and repr(a) == repr(b)


def changed_defaults(old: FunctionType, new: FunctionType) -> bool:
    """Give a function the default values of another that differ; whether any does."""
    before, after = old.__defaults__ or (), new.__defaults__ or ()
    mixed = tuple(a if is_same(a, b) else b for a, b in zip(before, after, strict=True))
    named, others = old.__kwdefaults__ or {}, new.__kwdefaults__ or {}
    differ = {k: others[k] for k, v in named.items() if not is_same(v, others[k])}
    if all(a is b for a, b in zip(mixed, before, strict=True)) and not differ:
        return False
    old.__defaults__, old.__kwdefaults__ = mixed, {**named, **differ}
    return True


class Transplant:
    """The differences between two namespaces, put into the first."""

    def __init__(self, old: ModuleType, new: dict[str, object]) -> None:
        self.functions: list[FunctionType] = []
        """Those that changed."""
        self.data: list[tuple[str, object, object]] = []
        """Name, old value and new value of changed data of the module."""
        self.module = old
        self._seen: set[int] = set()
        for name, value in list(vars(old).items()):
            if name not in new or name.startswith("__"):
                continue
            if isinstance(value, type) and value.__module__ == old.__name__:
                self._classes(value, new[name])
            elif not is_same(value, new[name]):
                self.data.append((name, value, new[name]))
            elif getattr(plain(value), "__module__", None) == old.__name__:
                self._functions(value, new[name])
        for name, before, after in self.data:
            if vars(old).get(name) is before:
                replace_everywhere(old, name, before, after)

    def _functions(self, old: object, new: object) -> None:
        a, b = plain(old), plain(new)
        if a is None or b is None or id(a) in self._seen:
            return
        self._seen.add(id(a))
        is_other = a.__code__ != b.__code__
        if is_other:
            a.__code__ = b.__code__
        if changed_defaults(a, b) or is_other:
            self.functions.append(a)

    def _classes(self, old: type, new: object) -> None:
        for name, value in list(vars(old).items()):
            other = vars(new).get(name)
            if plain(value) is not None:
                self._functions(value, other)
            elif not (name.startswith("__") or is_same(value, other)):
                setattr(old, name, other)
                self.data.append((name, value, other))


def replace_everywhere(owner: ModuleType, name: str, before: object, after: object) -> None:
    """Rebind data in its module and in every module that imports it by name from there.

    Equal small numbers are one object wherever they come from, so the import decides.
    """
    vars(owner)[name] = after
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None) or {}
        if any(value is before for value in list(space.values())):
            for user, here in imports_of(module, owner.__name__):
                if user == name and space.get(here) is before:
                    space[here] = after


def imports_of(module: ModuleType, owner: str) -> set[tuple[str, str]]:
    """Names that a module imports from another one: as they are there, and here."""
    path = Path(getattr(module, "__file__", None) or "none")
    if path.suffix != ".py" or "site-packages" in path.parts or not path.exists():
        return set()
    text = path.read_text(encoding="utf-8", errors="replace")
    if owner not in text:
        return set()
    imports = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom)]
    return {(a.name, a.asname or a.name) for n in imports if n.module == owner for a in n.names}


def apply(file: SourceFile, mutant: Mutant) -> int:
    """Put a mutant into this process; the number of functions and data that changed."""
    module = module_of(file.path)
    code = compile(file.tree_of(mutant), str(file.path), "exec", dont_inherit=True)
    space: dict[str, object] = {k: v for k, v in vars(module).items() if k.startswith("__")}
    try:
        exec(code, space)
    except Exception as error:
        raise MutantFailsError(f"{type(error).__name__}: {error}") from error
    change = Transplant(module, space)
    return len(change.functions) + len(change.data)
