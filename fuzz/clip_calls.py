"""Calls of what makes new clips: blends, transitions, splices, retargeting."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from call_arguments import Arguments, Call, curve_of, pair_of
from motionloom.features.checks.verification import Verification
from motionloom.rotation.quat import PlanarTransform
from odd import odd_motion, rigs


def transition_call(a: Arguments) -> Call:
    first, second = pair_of(a)
    options = a.some({
        "at": lambda: (a.frame(10), a.frame(10)), "length_s": a.seconds,
        "moving": lambda: a.one_of(True, False, "no"), "timewarp": lambda: a.one_of(False, True, 3),
        "footplants": lambda: (a.footplants(first), a.footplants(second)),
        "body": lambda: a.body(first), "repair_knees": lambda: a.one_of(False, True, None),
    })  # fmt: skip
    return Call("transition", ml.transition, (first, second), options)


def lead_call(name: str) -> Callable[[Arguments], Call]:
    def make(a: Arguments) -> Call:
        first, second = pair_of(a)
        options = a.some(
            {"length_s": a.seconds, "hold_s": a.seconds, "body": lambda: a.body(first)}
        )
        return Call(name, getattr(ml, name), (first, second), options)

    return make


def register_call(a: Arguments) -> Call:
    first, second = pair_of(a)
    motions: Any = [first, second]
    if a.rng.random() < 0.2:
        motions = a.one_of(
            [first], [first, first, second], [], None, (first, second), [None, first]
        )
    options = a.some({
        "ends": lambda: a.one_of("open", "match", "shut"), "at": lambda: (a.frame(5), a.frame(5)),
        "pins": lambda: [(a.frame(4), a.frame(4))],
        "footplants": lambda: [a.footplants(first), a.footplants(second)],
        "reference": lambda: a.frame(0), "refine": lambda: a.one_of(True, False, "x"),
        "slope_limit": lambda: a.frame(3), "epsilon": lambda: a.number(0.33),
        "knot_s": a.seconds, "window_s": a.seconds, "cover": lambda: a.number(0.6),
        "least_s": a.seconds, "body": lambda: a.body(first),
        "repair_knees": lambda: a.one_of(None, True, "x"),
    })  # fmt: skip
    return Call("register", ml.register, (motions,), options)


def _curve(a: Arguments) -> Any:
    if a.rng.random() < 0.5:
        return curve_of(int(a.rng.integers(3)))
    rig = a.rig or ml.synthetic.skeleton()
    pair = [odd_motion(a.rng, rig), odd_motion(a.rng, rig)]
    try:
        return ml.register(pair)
    except ml.MotionLoomError:
        return curve_of(0)


def _weights(a: Arguments, n: int) -> Any:
    even = [1.0 / n] * n
    return a.one_of(
        even,
        [1.0] + [0.0] * (n - 1),
        [0.0] * n,
        [-1.0] + [2.0 / max(1, n - 1)] * (n - 1),
        even[1:],
        [2.0] * n,
        [float("nan")] * n,
        [even] * 7,
        [even, even[1:]],
        lambda t: even,
        lambda t: None,
        lambda t: [t] * n,
        [1e300, *even[1:]],
        [1e308] * n,
        np.zeros((0, n)),
        [5.0, *[-4.0] * (n - 1)],
    )


def blend_call(a: Arguments) -> Call:
    curve = _curve(a)
    n = len(curve.motions)
    options = a.some(
        {
            "duration_s": a.seconds,
            "backwards": lambda: a.one_of(True, False, "x"),
            "euler": lambda: a.one_of(True, False, "x"),
        }
    )
    return Call("blend", ml.blend, (a.pick(lambda _: curve), _weights(a, n)), options)


def control_call(a: Arguments) -> Call:
    curve = _curve(a)
    weights = [_weights(a, len(curve.motions)) for _ in range(3)]
    options = a.some({
        "loop": lambda: a.one_of(False, True, "x"), "backwards": lambda: a.one_of(True, False, 1),
        "euler": lambda: a.one_of(True, False, None),
        "start": lambda: a.one_of(None, PlanarTransform.identity(), 3, (1, 2, 3)),
    })  # fmt: skip

    def steer(curve: Any, **options: Any) -> list[ml.Pose]:
        live = ml.control(curve, **options)
        return [live.step(row) for row in weights for _ in range(5)]

    return Call("control", steer, (a.pick(lambda _: curve),), options)


def curve_methods_call(a: Arguments) -> Call:
    curve = _curve(a)
    name = str(a.rng.choice(["frames", "rates", "alignments", "u_of", "save", "load", "shifted"]))
    u = a.one_of(1.0, [0.0, 2.5], -5.0, 1e9, float("nan"), [], "x", None, [[1.0, 2.0]], 1e300)
    if name == "u_of":
        return Call("curve.u_of", curve.u_of, (a.frame(0), u), {})
    if name in ("save", "load"):
        path = a.one_of(Path(tempfile.gettempdir()) / f"none{a.rng.integers(10**9)}" / "x.mlr", "",
                        "a\0b", None, 3, tempfile.gettempdir())  # fmt: skip
        return Call(f"curve.{name}", getattr(curve, name), (path,), {})
    if name == "shifted":
        first = a.one_of((0,) * len(curve.motions), (5, 5), (), ("a", "b"), None)
        motions = a.one_of(curve.motions, (), None, curve.motions[:1])
        plants = a.one_of(curve.footplants, (), None)
        return Call("curve.shifted", curve.shifted, (first, motions, plants), {})
    return Call(f"curve.{name}", getattr(curve, name), (u,), {})


def parametrize_call(a: Arguments) -> Call:
    curve = _curve(a)
    n = len(curve.motions)
    good = [float(k) for k in range(n)]
    values = a.one_of(
        {"turn": good},
        {"turn": good, "speed": good},
        {},
        {"turn": good[1:]},
        {"turn": [1.0] * n},
        {"turn": [float("nan")] * n},
        {3: good},
        {"turn": None},
        {"turn": "ab"},
        {"turn": [1e300] * n},
    )
    measure = a.one_of(None, lambda blend: {"turn": 1.0}, lambda blend: {}, lambda blend: None, 3,
                       lambda blend: {"turn": float("nan")})  # fmt: skip
    wanted = a.one_of({"turn": 0.5}, {}, {"turn": 99.0}, {"turn": float("nan")}, {"turn": None},
                      {"speed": 0.1, "turn": 0.2}, {"turn": 1e300}, {"turn": "x"})  # fmt: skip
    clamp = a.one_of(True, False, "x", None)
    wanted = wanted if isinstance(wanted, dict) and all(isinstance(k, str) for k in wanted) else {}

    def ask(curve: Any, values: Any, measure: Any) -> list[Any]:
        space = ml.parametrize(curve, values, measure=measure)
        return [space.range("turn"), space.contains(**wanted), space.weights(clamp=clamp, **wanted)]

    return Call("parametrize", ask, (a.pick(lambda _: curve), values, measure), {})


def loop_call(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some(
        {
            "shortest_s": a.seconds,
            "longest_s": a.seconds,
            "seam_s": a.seconds,
            "moving": lambda: a.one_of(None, True, False, "x"),
            "footplants": lambda: a.footplants(motion),
            "body": lambda: a.body(motion),
            "repair_knees": lambda: a.one_of(False, True, "x"),
        }
    )
    return Call("loop", ml.loop, (motion,), options)


def splice_call(a: Arguments) -> Call:
    upper, lower = pair_of(a)
    options = a.some(
        {
            "method": lambda: a.one_of("full", "naive", "x"),
            "where": lambda: a.one_of("torso", "x", "arms"),
            "when_short": lambda: a.one_of("crop", "hold", "loop", "x"),
            "align": lambda: a.one_of(True, 3),
            "soft": lambda: a.one_of(True, 3),
            "keep_bend": lambda: a.one_of(True, "x"),
            "footplants": lambda: a.footplants(lower),
            "hand_contacts": lambda: a.one_of(
                {"left": [(0, 3)]},
                {},
                {"left": [(5, 1)]},
                {"x": []},
                {"left": None},
                {"right": [(-5, 10**9)]},
            ),
            "body": lambda: a.body(upper),
            "repair_knees": lambda: a.one_of(False, True, "x"),
        }
    )
    return Call("splice", ml.splice, (upper, lower), options)


def clean_call(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some(
        {
            "body": lambda: a.body(motion),
            "stretch": lambda: a.one_of(True, False, "x"),
            "blend_s": a.seconds,
            "farthest_m": lambda: a.number(0.25),
            "repair_knees": lambda: a.one_of(False, True, "x"),
        }
    )
    return Call("clean_footskate", ml.clean_footskate, (motion, a.footplants(motion)), options)


def retarget_call(a: Arguments) -> Call:
    motion, other = pair_of(a)
    skeletons = list(rigs().values())
    target = a.pick(
        lambda _: other, lambda rng: skeletons[int(rng.integers(len(skeletons)))],
        lambda _: getattr(other, "skeleton", None),
    )  # fmt: skip
    options = a.some(
        {
            "body": lambda: a.body(motion),
            "target_body": lambda: a.body(other),
            "footplants": lambda: a.footplants(motion),
            "repair_knees": lambda: a.one_of(False, True, 2),
        }
    )
    return Call("retarget", ml.retarget, (motion, target), options)


def verify_call(a: Arguments) -> Call:
    motion, source = pair_of(a)
    options = a.some({
        "sources": lambda: a.one_of([source], [motion], (), None, [None], source, [source, motion]),
        "footplants": lambda: a.footplants(motion), "body": lambda: a.body(motion),
        "held": lambda: a.one_of(False, True, "x"),
    })  # fmt: skip

    def ask(motion: Any, **options: Any) -> list[Any]:
        found: Verification = ml.verify(motion, **options)
        return [found, found.json(), found.describe(), found.findings]

    return Call("verify", ask, (motion,), options)
