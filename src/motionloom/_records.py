"""Records: how every public type is pickled, copied and shown in one line.

Pickle and ``copy.deepcopy`` give numpy arrays back writeable, and ``types.MappingProxyType`` cannot
be pickled at all. A record keeps both read-only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")
V = TypeVar("V", covariant=True)

LONGEST = 120
"""Characters of a repr at most."""
LONGEST_PART = 40
"""Characters of one field in it at most."""
LONGEST_NAME = 40
ELLIPSIS = "(...)"


class FrozenMapping(Mapping[str, V]):
    """A read-only mapping that can be pickled and copied.

    Examples
    --------
    >>> FrozenMapping({"loop": True})["loop"]
    True
    """

    __slots__ = ("_items",)
    _items: dict[str, V]

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenMapping is read-only")

    def __copy__(self) -> FrozenMapping[V]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (_packed(self._items),)

    def __repr__(self) -> str:
        return one_line(f"FrozenMapping({', '.join(map(str, self._items))})")


def record(cls: type[T]) -> type[T]:
    """Decorator for a frozen dataclass, below ``@dataclass``: pickle, copy and a repr of one line.

    Read-only arrays are read-only again after pickle and ``copy.deepcopy``. A class that has its
    own ``__repr__`` or ``__reduce__`` keeps it. A named tuple only gets the repr.
    """
    if issubclass(cls, tuple):
        cls.__repr__ = _shown  # type: ignore[method-assign]
        return cls
    for name, method in (("__reduce__", reduced), ("__copy__", _copy), ("__repr__", _shown)):
        if name not in vars(cls):
            setattr(cls, name, method)
    if {"motion", "root_positions"} & {*vars(cls), *getattr(cls, "__annotations__", {})}:
        cls._repr_html_ = _drawn  # type: ignore[attr-defined]
    return cls


def draw_with(page: Callable[[Any], str | None]) -> None:
    """Set what notebooks show of motions and results: a function that returns HTML.

    The package sets it, because drawing lies above the types that are drawn.
    """
    _drawing["page"] = page


_drawing: dict[str, Callable[[Any], str | None]] = {}


def _drawn(self: Any) -> str | None:
    return _drawing["page"](self) if _drawing else None


def one_line(text: str) -> str:
    """``text`` without control characters, at most 120 characters long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 2 * LONGEST])
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...{text[-1]}"


def name_for(name: str) -> str:
    """A name as a repr shows it: at most 40 characters."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


class _ReadOnly:
    """A read-only array on its way through pickle or ``copy.deepcopy``."""

    __slots__ = ("array",)

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy as np

        return _read_only, (np.asarray(self.array),)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def _packed(value: Any) -> Any:
    """``value`` with its read-only arrays, also those in tuples, lists and dicts, wrapped."""
    import numpy as np  # here, for findings are records too, and `--help` shows them without numpy

    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else _ReadOnly(value)
    if type(value) is list:
        return [_packed(each) for each in value]
    if type(value) is dict:
        return {key: _packed(each) for key, each in value.items()}
    if isinstance(value, tuple):
        parts = [_packed(each) for each in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        make = getattr(type(value), "_make", None)  # named tuples take their fields one by one
        return type(value)(parts) if make is None else make(parts)
    return value


def _values(self: Any) -> dict[str, Any]:
    """Fields, and properties that were computed and kept."""
    values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
    return {**values, **getattr(self, "__dict__", {})}


def _rebuilt(cls: type[T], values: Mapping[str, Any]) -> T:
    rebuilt = object.__new__(cls)
    for name, value in values.items():
        # Only frozen dataclasses define `__setattr__`, and it refuses.
        object.__setattr__(rebuilt, name, value)
    return rebuilt


def reduced(self: Any) -> tuple[Any, ...]:
    """What ``__reduce__`` of a record returns."""
    return _rebuilt, (type(self), {name: _packed(value) for name, value in _values(self).items()})


def _copy(self: T) -> T:
    return _rebuilt(type(self), _values(self))


def _shown(self: Any) -> str:
    """The class and its fields, shortened; those at their defaults are left out."""
    parts = []
    if isinstance(self, tuple):
        names = getattr(self, "_fields", ())
    else:
        names = [
            each.name
            for each in dataclasses.fields(self)
            if each.repr and getattr(self, each.name) is not each.default
        ]
    for name in names:
        value = getattr(self, name)
        if not (isinstance(value, tuple | str) and not value):
            parts.append(f"{name}={_part(value)}")
    start, end = f"{type(self).__name__}(", ")"
    while parts and len(start) + len(", ".join(parts)) + len(end) > LONGEST:
        bulky = [part for part in parts if part.endswith(ELLIPSIS) or "=array " in part]
        parts.remove(bulky[-1] if bulky else parts[-1])
        end = ", ...)"
    return one_line(start + ", ".join(parts) + end)


def _part(value: Any) -> str:
    """One field in a repr."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        return repr(name_for(value))
    if isinstance(value, tuple | list | Mapping):
        text = repr(value) if len(value) <= 4 else ""
        counted = f"<{len(value)} items>"
        return text if text and len(text) <= LONGEST_PART else counted
    text = repr(value)
    return text if len(text) <= 1.6 * LONGEST_PART else f"{type(value).__name__}{ELLIPSIS}"
