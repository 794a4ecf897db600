"""Signatures of public functions show every option with its type and default."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import motionloom as ml

SWITCHES = {
    "transition": {"timewarp": True, "match": True, "clean": True, "repair": "made"},
    "blend": {"clean": True},
    "splice": {"soft": False, "match": True, "hand_contacts": None},
    "add_clips": {"source_fps": None, "skeleton": None, "keep_glitches": None},
    "loop": {"clean": True, "repair": "made"},
}


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in ml.__all__:
        value = getattr(ml, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for member in vars(value):
                method = getattr(value, member)
                if inspect.isfunction(method) or inspect.ismethod(method):
                    yield f"{name}.{member}", method
    yield "synthetic.clip", ml.synthetic.clip


def test_no_public_function_hides_typed_options() -> None:
    hidden = set()
    for name, function in public_callables():
        parameters = inspect.signature(function).parameters.values()
        if any(str(each.annotation).startswith("Unpack[") for each in parameters):
            hidden.add(name)
    assert not hidden


@pytest.mark.parametrize("name", SWITCHES)
def test_help_shows_the_options_with_their_defaults(name: str) -> None:
    function = getattr(ml, name)
    parameters = inspect.signature(function).parameters
    heading = pydoc.plain(pydoc.render_doc(function)).partition("\n    ")[0]
    for option, default in SWITCHES[name].items():
        assert parameters[option].default is default
        assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"{option}: " in heading
    assert "**" not in heading


def test_a_class_method_keeps_its_first_parameter() -> None:
    parameters = inspect.signature(ml.Collection.ingest).parameters
    assert next(iter(parameters)) == "folder"
    assert parameters["keep_glitches"].annotation == "bool"


def test_defaults_in_signatures_are_those_of_the_function() -> None:
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog"))
    for function, clips in ((ml.transition, (walk, jog)), (ml.loop, (walk,))):
        shown = {
            name: each.default
            for name, each in inspect.signature(function).parameters.items()
            if each.default is not inspect.Parameter.empty
        }
        plain, given = function(*clips), function(*clips, **shown)
        assert (plain.motion.local_quats == given.motion.local_quats).all()
        assert (plain.motion.root_positions == given.motion.root_positions).all()


def test_an_unknown_option_is_refused() -> None:
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    with pytest.raises(TypeError, match=r"loop\(\).*unexpected.*'cleen'"):
        ml.loop(walk, cleen=True)  # type: ignore[call-arg]
