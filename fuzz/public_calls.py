"""One call of every public function and method."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from call_arguments import Arguments, Call
from clip_calls import (
    blend_call,
    clean_call,
    control_call,
    curve_methods_call,
    lead_call,
    loop_call,
    parametrize_call,
    register_call,
    retarget_call,
    splice_call,
    transition_call,
    verify_call,
)
from odd import Random
from table_calls import columns_call, engine_call, graph_call, score_call, table_call, view_call
from type_calls import (
    about_call,
    body_methods_call,
    concatenate_call,
    footplants_call,
    kinematics_call,
    motion_methods_call,
    save_load_call,
    skeleton_methods_call,
    synthetic_call,
)

CALLS: dict[str, tuple[float, Callable[[Arguments], Call]]] = {
    "transition": (3, transition_call),
    "lead_in": (1, lead_call("lead_in")),
    "lead_out": (1, lead_call("lead_out")),
    "register": (6, register_call),
    "blend": (5, blend_call),
    "control": (4, control_call),
    "curve": (3, curve_methods_call),
    "parametrize": (3, parametrize_call),
    "loop": (4, loop_call),
    "splice": (3, splice_call),
    "clean_footskate": (3, clean_call),
    "retarget": (4, retarget_call),
    "verify": (4, verify_call),
    "measure_quality": (3, about_call("measure_quality", "footplants", "body")),
    "detect_footplants": (3, about_call("detect_footplants", "body", "speed", "shortest_s")),
    "mirror": (2, about_call("mirror", "body")),
    "move": (2, about_call("move", "heading", "x", "z")),
    "resample": (2, about_call("resample", "fps")),
    "ground": (2, about_call("ground", "floor", "body")),
    "concatenate": (2, concatenate_call),
    "forward_kinematics": (1, kinematics_call),
    "motion": (4, motion_methods_call),
    "skeleton": (3, skeleton_methods_call),
    "body": (3, body_methods_call),
    "footplants": (4, footplants_call),
    "synthetic": (3, synthetic_call),
    "save": (2, save_load_call),
    "score": (1, score_call),
    "columns": (1, columns_call),
    "table": (4, table_call),
    "graph": (2, graph_call),
    "engine": (0.3, engine_call),
    "view": (1, view_call),
}
"""How often each is called, and how its arguments are made."""


def call(rng: Random, only: str | None = None) -> Call:
    """One call, always the same for the same state of ``rng``."""
    names = [only] if only else list(CALLS)
    shares = np.array([CALLS[name][0] for name in names])
    name = names[int(rng.choice(len(names), p=shares / shares.sum()))]
    return CALLS[name][1](Arguments(rng))


def fields_of(value: Any) -> dict[str, Any]:
    """Fields and properties of a result."""
    names = [each.name for each in dataclasses.fields(value)]
    names += [
        name
        for name in dir(type(value))
        if not name.startswith("_")
        and isinstance(getattr(type(value), name), property | cached_property)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return {name: getattr(value, name) for name in names}
