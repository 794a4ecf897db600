"""Calls of tables, collections, graphs and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

import motionloom as ml
from call_arguments import Arguments, Call, graph_of, table_of
from odd import good_clip, odd_motion


def score_call(a: Arguments) -> Call:
    _, table = table_of()
    result = a.one_of("table", "transition", None, 3, good_clip(a.rng))
    options = a.some({"threshold": lambda: a.number(3.0),
                      "masses": lambda: a.one_of(None, [1.0], np.ones(40), "x")})  # fmt: skip
    made = result
    if isinstance(result, str) and result == "table":
        made = table.transition(("walk", 3), ("run", 20))
    if isinstance(result, str) and result == "transition":
        made = ml.transition(good_clip(a.rng), good_clip(a.rng))
    return Call("score", ml.score, (made,), options)


def columns_call(a: Arguments) -> Call:
    columns = a.one_of([1.0] * 8, [], None, "x", [float("nan")] * 8, [1e300] * 8, np.ones((2, 8)))
    options = a.some(
        {
            "form": lambda: a.one_of("natural", "paper", "x"),
            "threshold": lambda: a.number(6.0),
            "failed": lambda: a.one_of((), [1], 3),
        }
    )
    return Call("Score.of_columns", ml.Score.of_columns, (columns,), options)


def _place(a: Arguments) -> Any:
    clip = a.one_of("walk", "run", "stand", "x", None, 3)
    return a.pick(lambda rng: (clip, a.frame(5)), lambda rng: clip, lambda rng: (clip,))


def table_call(a: Arguments) -> Call:
    lib, table = table_of()
    name = str(a.rng.choice(["transition", "recipes", "entry", "fill", "stream", "path", "motion",
                             "label_rows", "annotate"]))  # fmt: skip
    if name == "transition":
        options = a.some({
            "label": lambda: a.one_of("rest", "x", None, 3), "lead_s": a.seconds,
            "follow_s": a.seconds, "rescore": lambda: a.frame(4), "variation": lambda: a.frame(1),
            "search": lambda: a.one_of(False, "refine", "x"),
        })  # fmt: skip
        target = a.pick(lambda _: _place(a), lambda _: None)
        return Call("table.transition", table.transition, (_place(a), target), options)
    if name == "fill":
        motion = a.pick(lambda _: lib.motion("walk"), odd_motion)
        options = a.some(
            {
                "count": lambda: a.frame(1),
                "feet": lambda: a.one_of(False, True, 3),
                "exclude": lambda: a.one_of((), ["walk"], "walk", None, [3]),
            }
        )
        return Call("table.fill", table.fill, (motion, a.frame(5), a.frame(12)), options)
    if name == "stream":

        def play(place: Any) -> list[Any]:
            live = table.stream(place)
            return [live.step() for _ in range(30)]

        return Call("table.stream", play, (_place(a),), {})
    if name == "path":
        options = a.some({"graph": lambda: a.one_of(graph_of(), None, 3),
                          "limit_in": lambda: a.number(1.0), "limit_s": a.seconds})  # fmt: skip
        return Call("table.path", table.path, (_place(a), _place(a)), options)
    if name == "recipes":
        return Call("table.recipes", table.recipes, (a.frame(0), a.frame(1)), {})
    if name == "entry":
        return Call("table.entry", table.entry, (_place(a), _place(a)), {})
    clip = a.one_of("walk", "x", None, 3)
    frames = a.one_of(None, (0, 5), (5, 0), (0, 10**9), "x", (0,), 3, (0.5, 2))
    if name == "motion":
        return Call("collection.motion", lib.motion, (clip,), {"frames": frames})
    label = a.one_of("rest", "x", "", None, "a,b", "a\nb", "\ud800", 3)
    if name == "annotate":
        return Call("collection.annotate", lib.annotate, (clip, label), {"frames": frames})
    return Call("collection.label_rows", lib.label_rows, (label,), {})


def graph_call(a: Arguments) -> Call:
    graph = graph_of()
    name = str(a.rng.choice(["path", "paths", "reach", "synthesize", "build"]))
    place = _place(a) if a.rng.random() < 0.5 else a.frame(3)
    if name == "path":
        return Call("graph.path", graph.path, (place, a.frame(20)), {})
    if name == "paths":
        rows = a.one_of([1, 2], [], [10**9], None, "x", [0.5], [-1])
        return Call("graph.paths", graph.paths, (rows, rows), {})
    if name == "reach":
        return Call("graph.reach", graph.reach, (place,), {})
    if name == "synthesize":

        def walk(place: Any, target: Any) -> Any:
            return graph.synthesize(graph.path(place, target))

        return Call("graph.synthesize", walk, (place, a.frame(20)), {})
    options = a.some({"threshold_cm": lambda: a.number(10.0), "rate": lambda: a.number(15.0),
                      "window_s": a.seconds})  # fmt: skip
    return Call(
        "MotionGraph.build", ml.MotionGraph.build, (a.pick(lambda _: table_of()[0]),), options
    )


def engine_call(a: Arguments) -> Call:
    options = a.some({"jobs": lambda: a.frame(1), "device": lambda: a.one_of("gpu9", "", 3)})
    return Call("engine_of", ml.engine_of, (), options)


def view_call(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some({"footplants": lambda: a.footplants(motion), "body": lambda: a.body(motion)})

    def show(motion: Any, **options: Any) -> int:
        return len(ml.view(motion, **options)._repr_html_())

    return Call("view", show, (motion,), options)
