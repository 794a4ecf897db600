"""A mutant put into a process that has imported everything.

The changed file runs again in a namespace of its own; code, default values and data that came out
differently go into the objects that the rest of the process uses. Kernels that changed, and kernels
that call them or read changed data, are compiled afresh and never written to a cache.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import numpy as np
from numba.core import caching
from numba.core.dispatcher import Dispatcher

from mutant_sites import Mutant, SourceFile

DATA = (bool, int, float, complex, str, bytes, tuple, frozenset, set, list, dict, np.ndarray)
DATA = (*DATA, np.generic, type(None))


class MutantFailsError(Exception):
    """The mutated file cannot be imported."""


def module_of(path: Path) -> ModuleType:
    """The imported module of a file."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    raise LookupError(f"{path} is not imported.")


def plain(value: object) -> FunctionType | None:
    """The Python function in a function, kernel, method, property or cached function."""
    seen = 0
    while not isinstance(value, FunctionType) and seen < 8:
        seen += 1
        for name in ("py_func", "__func__", "fget", "func", "__wrapped__"):
            inner = getattr(value, name, None)
            if inner is not None:
                value = inner
                break
        else:
            return None
    while isinstance(value, FunctionType) and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return value if isinstance(value, FunctionType) else None


def is_same(a: object, b: object) -> bool:
    """Whether two pieces of data are equal, arrays and floats to the last bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return repr(a) == repr(b)


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
            elif isinstance(value, DATA):
                if not is_same(value, new[name]):
                    self.data.append((name, value, new[name]))
            elif getattr(plain(value), "__module__", None) == old.__name__:
                self._functions(value, new[name])
        for name, before, after in self.data:
            replace_everywhere(name, before, after)

    def _functions(self, old: object, new: object) -> None:
        a, b = plain(old), plain(new)
        if a is None or b is None or id(a) in self._seen:
            return
        self._seen.add(id(a))
        here = (a.__code__, repr(a.__defaults__), repr(a.__kwdefaults__))
        if here == (b.__code__, repr(b.__defaults__), repr(b.__kwdefaults__)):
            return
        a.__code__ = b.__code__
        a.__defaults__, a.__kwdefaults__ = b.__defaults__, b.__kwdefaults__
        self.functions.append(a)

    def _classes(self, old: type, new: object) -> None:
        for name, value in list(vars(old).items()):
            other = vars(new).get(name)
            if plain(value) is not None:
                self._functions(value, other)
            elif isinstance(value, DATA) and not (name.startswith("__") or is_same(value, other)):
                setattr(old, name, other)


def replace_everywhere(name: str, before: object, after: object) -> None:
    """Rebind imported data in every module that has it."""
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if space is not None and space.get(name) is before:
            space[name] = after


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes_in(inner)


def kernels() -> list[Dispatcher]:
    """Every kernel of this process; the types are asked, for a dead weak reference cannot be."""
    return [o for o in gc.get_objects() if issubclass(type(o), Dispatcher)]


def referenced(code: CodeType, space: dict[str, object]) -> Iterator[object]:
    """Global objects that some code names, straight or as an attribute of a module."""
    names = {name for inner in codes_in(code) for name in inner.co_names}
    for name in names:
        value = space.get(name)
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value).get(other) for other in names)


def called_kernels(function: FunctionType) -> set[int]:
    """Ids of the kernels that a function names."""
    objects = list(referenced(function.__code__, function.__globals__))
    objects += [cell.cell_contents for cell in function.__closure__ or ()]
    return {id(o) for o in objects if isinstance(o, Dispatcher)}


def compile_afresh(functions: Iterable[FunctionType], names: set[str]) -> int:
    """Forget the compiled form of kernels that depend on changed functions or data names."""
    codes = {id(f) for f in functions}
    every = kernels()
    calls = {id(k): called_kernels(k.py_func) for k in every}
    affected: set[int] = set()
    for kernel in every:
        used = {n for c in codes_in(kernel.py_func.__code__) for n in c.co_names}
        if id(kernel.py_func) in codes or used & names:
            affected.add(id(kernel))
    size = -1
    while size != len(affected):
        size = len(affected)
        affected |= {k for k, called in calls.items() if called & affected}
    for kernel in every:
        if id(kernel) in affected:
            kernel._cache = caching.NullCache()
            if kernel.overloads:
                kernel._make_finalizer()()
                kernel._reset_overloads()
                kernel.overloads.clear()
    return len(affected)


def keep_caches_clean() -> None:
    """Nothing that this process compiles is written to a cache."""
    caching._Cache.save_overload = lambda *_: None
    caching.Cache.save_overload = lambda *_: None


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
    keep_caches_clean()
    compile_afresh(change.functions, {name for name, _, _ in change.data})
    return len(change.functions) + len(change.data)
