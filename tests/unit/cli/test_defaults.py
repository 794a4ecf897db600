"""Options of commands have the defaults of the functions that they are passed to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import motionloom as ml

RENAMED = {
    "duration": "duration_s",
    "follow": "follow_s",
    "knot": "knot_s",
    "lead": "lead_s",
    "length": "length_s",
    "limit": "limit_in",
    "longest": "longest_s",
    "threshold": "graph_cm",
    "tolerance": "tolerance_s",
}
"""Parameters of functions by those of commands that set them."""
CALLS = {
    "blend": [ml.blend, ml.register],
    "clean": [ml.clean_footskate, ml.clean_dataset],
    "render": [ml.render],
    "splice": [ml.splice],
    "table build": [ml.build_table, ml.Collection.ingest],
    "table evaluate": [ml.compare_with_graph],
    "table fit_masses": [ml.fit_masses],
    "table query": [ml.TransitionTable.transition],
    "table synthesize": [ml.TransitionTable.transition],
    "table verify": [ml.verify_table],
    "transition": [ml.transition],
}
TEXTS: dict[str, Callable[[str], Any]] = {
    "keep": float,
    "ways": lambda text: tuple(int(part) for part in text.split(",")),
}
"""Options that are typed as a text, and how it is read."""
OF_COMMANDS = {"report", "body", "output", "progress", "jobs"}
"""Parameters of the same name that commands set by other rules."""


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    return {
        name: each.default
        for name, each in inspect.signature(function).parameters.items()
        if each.default is not inspect.Parameter.empty
    }


@pytest.mark.parametrize("command", CALLS)
def test_an_option_has_the_default_of_its_function(command: str) -> None:
    module = import_module(f"motionloom.cli.{command.split()[0]}_command")
    options = defaults_of(getattr(module, command.split()[-1]))
    compared = 0
    for function in CALLS[command]:
        wanted = defaults_of(function)
        for name, default in options.items():
            parameter = RENAMED.get(name, name)
            if default is None or name in OF_COMMANDS or parameter not in wanted:
                continue  # None: nothing is passed, so that the function's own default holds
            found = TEXTS[name](default) if isinstance(default, str) and name in TEXTS else default
            assert found == wanted[parameter], (name, function.__name__)
            compared += 1
    assert compared
