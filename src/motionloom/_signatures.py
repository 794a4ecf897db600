"""Signatures of public functions that show every option.

Rarer options are one parameter in the source, ``**options: Unpack[XOptions]``. Type checkers and
editors expand it; ``help``, notebooks and the documentation read ``__signature__``, which is set
here with the names and types of the options and the defaults of the function's settings.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter
from types import FunctionType
from typing import Any, ForwardRef

__all__ = ["show_options"]


def show_options(value: object) -> None:
    """Expand the options of a function, or of every method of a class, in its signature."""
    for each in vars(value).values() if isinstance(value, type) else (value,):
        function = getattr(each, "__func__", each)
        if isinstance(function, FunctionType) and (
            function.__code__.co_flags & inspect.CO_VARKEYWORDS
        ):
            _expand(function)


def _expand(function: FunctionType) -> None:
    signature = inspect.signature(function)
    *named, last = signature.parameters.values()
    kind = str(last.annotation)
    if last.kind is not Parameter.VAR_KEYWORD or not kind.startswith("Unpack["):
        return  # expanded before, or any keyword
    options = function.__globals__[kind.removeprefix("Unpack[").removesuffix("]")].__annotations__
    defaults = _defaults(function, set(options))
    if defaults is None:
        return
    shown = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=_text(each))
        for name, each in options.items()
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*named, *shown])


def _defaults(function: FunctionType, names: set[str]) -> dict[str, Any] | None:
    """Default of every option, from the settings class of the function's module that has them."""
    for each in function.__globals__.values():
        if isinstance(each, type) and is_dataclass(each):
            defaults = {
                field.name: field.default for field in fields(each) if field.default is not MISSING
            }
            if names <= defaults.keys():
                return defaults
    return None


def _text(kind: object) -> object:
    """A type of an option as the source writes it."""
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
