"""The public names: every type that a caller meets is one, and every function is documented."""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import importlib
import importlib.resources
import inspect
import pkgutil
import re
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import motionloom as ml

PUBLIC = {name: getattr(ml, name) for name in ml.__all__}
FUNCTIONS = sorted(name for name, value in PUBLIC.items() if inspect.isfunction(value))
CLASSES = sorted(name for name, value in PUBLIC.items() if inspect.isclass(value))
OPAQUE = {"Engine", "Frames", "QualityCheck", "QueryEngine", "Studio", "TableCheck", "WindowIndex"}
"""Types that callers pass on without looking inside: what their members use is not followed."""
NO_RESULT = {"save"}
"""Functions that return nothing."""
SHOWN = {
    "BodyMap": ("guess", "load"),
    "Collection": ("annotate", "ingest"),
    "Controller": ("step",),
    "Footplants": ("intervals",),
    "Motion": ("replace",),
    "MotionGraph": ("path",),
    "ParameterSpace": ("range", "weights"),
    "RegistrationCurve": ("load", "save"),
    "RobotClip": ("save",),
    "TransitionTable": ("fill", "path", "stream", "transition"),
    "Verification": ("describe",),
    "Viewer": ("save",),
}
"""Methods that the README and the tutorials use, by their class."""


def known_names() -> dict[str, Any]:
    """Names that annotations use, also those that are imported for type checkers only."""
    names: dict[str, Any] = {"npt": npt, "np": np, **vars(typing)}
    names |= {name: getattr(collections.abc, name) for name in collections.abc.__all__}
    for module in pkgutil.walk_packages(ml.__path__, "motionloom."):
        if not module.name.endswith("__main__"):
            loaded = vars(importlib.import_module(module.name))
            names |= {name: value for name, value in loaded.items() if name not in names}
    return names


NAMES = known_names()


def imports_for_types(function: Callable[..., object] | type) -> dict[str, Any]:
    """What the module of a function imports under ``TYPE_CHECKING``."""
    names = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[function.__module__]))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("motionloom"):
            module = importlib.import_module(str(node.module))
            for each in node.names:
                names[each.asname or each.name] = getattr(module, each.name, None)
    return names


def classes_in(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and typing.get_origin(hint) is None:
        yield hint
    for inside in typing.get_args(hint):
        for each in inside if isinstance(inside, list) else [inside]:
            yield from classes_in(each)


def annotated(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A public function, or the fields, properties and methods of a public type."""
    if inspect.isfunction(value):
        yield name, value
    if not inspect.isclass(value) or name in OPAQUE:
        return
    yield name, value
    for member, thing in vars(value).items():
        function = getattr(thing, "__func__", getattr(thing, "fget", getattr(thing, "func", thing)))
        if not member.startswith("_") and inspect.isfunction(function):
            yield f"{name}.{member}", function


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"__version__", "synthetic"}))
def test_every_type_that_a_public_name_uses_is_public(name: str) -> None:
    exported = list(PUBLIC.values())
    for place, thing in annotated(name, PUBLIC[name]):
        scope = {**NAMES, **imports_for_types(thing), **vars(sys.modules[thing.__module__])}
        for parameter, hint in typing.get_type_hints(thing, globalns=scope).items():
            for each in classes_in(hint):
                ours = each.__module__.startswith("motionloom")
                described = getattr(each, "_is_protocol", False) or typing.is_typeddict(each)
                if parameter.startswith("_") or not ours or described:
                    continue  # any object with those attributes or keys fits
                assert any(each is other for other in exported), f"{place}: {parameter}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example_and_documents_what_it_returns(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert ">>> " in text
    assert "\nReturns\n-------\n" in text
    hint = inspect.signature(PUBLIC[name]).return_annotation
    assert (hint == "None") == (name in NO_RESULT)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_public_function_is_described(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    parameters = inspect.signature(PUBLIC[name]).parameters
    missing = [each for each in parameters if each not in text.partition("\nReturns\n")[0]]
    assert [
        each for each in missing if parameters[each].kind is not inspect.Parameter.VAR_KEYWORD
    ] == []


def methods_of(name: str) -> Iterator[tuple[str, Callable[..., object]]]:
    """Public methods that a public class defines, without properties."""
    for member, thing in vars(PUBLIC[name]).items():
        function = getattr(thing, "__func__", thing)
        if not member.startswith("_") and inspect.isfunction(function):
            yield member, function


@pytest.mark.parametrize("name", sorted(set(CLASSES) - OPAQUE))
def test_every_method_documents_what_it_returns(name: str) -> None:
    silent = [
        member
        for member, function in methods_of(name)
        if inspect.signature(function).return_annotation not in ("None", "Never")
        and not re.search(r"\n(Returns|Yields)\n-------?\n", inspect.getdoc(function) or "")
    ]
    assert silent == []


@pytest.mark.parametrize("name", sorted(set(CLASSES) - OPAQUE))
def test_help_of_a_class_describes_its_fields(name: str) -> None:
    cls = PUBLIC[name]
    given = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    fields = [each.name for each in given] or list(getattr(cls, "_fields", ()))
    _, _, described = (inspect.getdoc(cls) or "").partition("\nAttributes\n----------\n")
    names = re.findall(r"^([\w, ]+) :", described, re.M)
    listed = {each for line in names for each in line.split(", ")}
    assert [each for each in fields if not each.startswith("_") and each not in listed] == []


@pytest.mark.parametrize("name", SHOWN)
def test_methods_that_tutorials_use_have_an_example(name: str) -> None:
    docs = [PUBLIC[name].__doc__, *(function.__doc__ for _, function in methods_of(name))]
    lines = [line.strip() for doc in docs for line in (doc or "").splitlines()]
    shown = "\n".join(line for line in lines if line.startswith((">>>", "...")))
    assert [member for member in SHOWN[name] if f".{member}(" not in shown] == []


def test_the_stub_lists_each_name_once() -> None:
    stub = (importlib.resources.files("motionloom") / "__init__.pyi").read_text(encoding="utf-8")
    names = [
        each.asname or each.name
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    ]
    assert sorted(names) == sorted(set(ml.__all__) - {"__version__"})
