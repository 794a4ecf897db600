"""One call of every public function and method, with arguments that fit, are odd, or are wrong."""

from __future__ import annotations

import dataclasses
import io
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.features.verify import Verification
from motionloom.rotation.planar import PlanarTransform
from odd import (
    Random,
    good_clip,
    odd_body,
    odd_footplants,
    odd_motion,
    odd_value,
    rigs,
)

Maker = Callable[[Random], Any]
SECONDS: tuple[Any, ...] = (0.2, 0.6, 1.5, 0.0, -1.0, 1e-9, 1e9, float("nan"), float("inf"), "1", 1)


@dataclass(frozen=True)
class Call:
    """A function with the arguments it is called with."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.options)

    def __str__(self) -> str:
        parts = [_short(each) for each in self.arguments]
        parts += [f"{name}={_short(value)}" for name, value in self.options.items()]
        return f"{self.name}({', '.join(parts)})"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 100 else f"{text[:97]}..."


class Arguments:
    """The arguments of one call: some fit, some are odd, some are wrong."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.wrong = float(rng.choice([0.0, 0.0, 0.05, 0.3]))
        self.odd = float(rng.choice([0.0, 0.5, 1.0]))
        self.rig: ml.Skeleton | None = None
        if rng.random() < 0.7:
            known = list(rigs().values())
            self.rig = known[int(rng.integers(len(known)))]

    def pick(self, *makers: Maker) -> Any:
        """The first maker's value, one of the others' where odd, anything where wrong."""
        if self.rng.random() < self.wrong:
            return odd_value(self.rng)
        if len(makers) > 1 and self.rng.random() < self.odd:
            return makers[int(self.rng.integers(1, len(makers)))](self.rng)
        return makers[0](self.rng)

    def motion(self) -> Any:
        return self.pick(good_clip, lambda rng: odd_motion(rng, self.rig), odd_motion)

    def one_of(self, *values: Any) -> Any:
        """The first value as a rule; another where odd."""
        return self.pick(lambda _: values[0], lambda rng: values[int(rng.integers(len(values)))])

    def seconds(self) -> Any:
        return self.one_of(*SECONDS)

    def number(self, usual: float) -> Any:
        return self.one_of(usual, 0.0, -1.0, 1e-9, 1e9, 1e300, float("nan"), 10**400, -5, 0.3, 2)

    def frame(self, usual: int) -> Any:
        return self.one_of(usual, 0, 1, -1, 2, 7, 10**6, 10**30, 0.5)

    def body(self, motion: Any) -> Any:
        if not isinstance(motion, ml.Motion):
            return None
        return self.pick(lambda _: None, lambda rng: odd_body(rng, motion))

    def footplants(self, motion: Any) -> Any:
        if not isinstance(motion, ml.Motion):
            return None
        return self.pick(lambda _: None, lambda rng: odd_footplants(rng, motion))

    def some(self, options: dict[str, Callable[[], Any]]) -> dict[str, Any]:
        """Some of the options, each with a value."""
        share = float(self.rng.choice([0.0, 0.2, 0.5]))
        return {name: make() for name, make in options.items() if self.rng.random() < share}


@cache
def curve_of(kind: int) -> ml.RegistrationCurve:
    """A few registration curves: two turns, three speeds, a clip with itself."""
    clip = ml.synthetic.clip
    if kind == 0:
        return ml.register([clip("walk", turn=t, duration_s=2.0).motion for t in (-0.8, 0.8)])
    if kind == 1:
        return ml.register([clip(k, duration_s=1.5).motion for k in ("walk", "jog", "sneak")])
    stand = clip("stand", duration_s=0.5).motion
    return ml.register([stand, stand])


@cache
def table_of() -> tuple[ml.Collection, ml.TransitionTable]:
    """A small table on a small collection, in a temporary folder."""
    keep = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    folder = Path(keep.name) / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, fps=20)
    lib.annotate("stand", "rest", frames=(0, 9))
    table = ml.build_table(lib, length_s=0.5, clusters=4, jobs=1, progress=False)
    _KEEP.append(keep)
    return lib, table


_KEEP: list[Any] = []


@cache
def graph_of() -> ml.MotionGraph:
    """A motion graph over the frames of the small collection."""
    return ml.MotionGraph.build(table_of()[0], threshold_cm=30.0)


def _pair(a: Arguments) -> tuple[Any, Any]:
    """Two motions, on one skeleton more often than not."""
    first = a.motion()
    if isinstance(first, ml.Motion) and a.rng.random() < 0.4:
        return first, odd_motion(a.rng, first.skeleton)
    return first, a.motion()


def _transition(a: Arguments) -> Call:
    first, second = _pair(a)
    options = a.some({
        "at": lambda: (a.frame(10), a.frame(10)), "length_s": a.seconds,
        "moving": lambda: a.one_of(True, False, "no"), "timewarp": lambda: a.one_of(False, True, 3),
        "footplants": lambda: (a.footplants(first), a.footplants(second)),
        "body": lambda: a.body(first), "repair_knees": lambda: a.one_of(False, True, None),
    })  # fmt: skip
    return Call("transition", ml.transition, (first, second), options)


def _lead(name: str) -> Callable[[Arguments], Call]:
    def make(a: Arguments) -> Call:
        first, second = _pair(a)
        options = a.some(
            {"length_s": a.seconds, "hold_s": a.seconds, "body": lambda: a.body(first)}
        )
        return Call(name, getattr(ml, name), (first, second), options)

    return make


def _register(a: Arguments) -> Call:
    first, second = _pair(a)
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
        even, [1.0] + [0.0] * (n - 1), [0.0] * n, [-1.0] + [2.0 / max(1, n - 1)] * (n - 1), even[1:],
        [2.0] * n, [float("nan")] * n, [even] * 7, [even, even[1:]], lambda t: even, lambda t: None,
        lambda t: [t] * n, [1e300, *even[1:]], [1e308] * n, np.zeros((0, n)), [5.0, *[-4.0] * (n - 1)],
    )  # fmt: skip


def _blend(a: Arguments) -> Call:
    curve = _curve(a)
    n = len(curve.motions)
    options = a.some({
        "duration_s": a.seconds, "backwards": lambda: a.one_of(True, False, "x"),
        "euler": lambda: a.one_of(True, False, "x"),
    })  # fmt: skip
    return Call("blend", ml.blend, (a.pick(lambda _: curve), _weights(a, n)), options)


def _control(a: Arguments) -> Call:
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


def _curve_methods(a: Arguments) -> Call:
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


def _parametrize(a: Arguments) -> Call:
    curve = _curve(a)
    n = len(curve.motions)
    good = [float(k) for k in range(n)]
    values = a.one_of(
        {"turn": good}, {"turn": good, "speed": good}, {}, {"turn": good[1:]}, {"turn": [1.0] * n},
        {"turn": [float("nan")] * n}, {3: good}, {"turn": None}, {"turn": "ab"}, {"turn": [1e300] * n},
    )  # fmt: skip
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


def _loop(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some({
        "shortest_s": a.seconds, "longest_s": a.seconds, "seam_s": a.seconds,
        "moving": lambda: a.one_of(None, True, False, "x"), "footplants": lambda: a.footplants(motion),
        "body": lambda: a.body(motion), "repair_knees": lambda: a.one_of(False, True, "x"),
    })  # fmt: skip
    return Call("loop", ml.loop, (motion,), options)


def _splice(a: Arguments) -> Call:
    upper, lower = _pair(a)
    options = a.some({
        "method": lambda: a.one_of("full", "naive", "x"), "where": lambda: a.one_of("torso", "x", "arms"),
        "when_short": lambda: a.one_of("crop", "hold", "loop", "x"), "soft": lambda: a.one_of(True, 3),
        "keep_bend": lambda: a.one_of(True, "x"), "footplants": lambda: a.footplants(lower),
        "hand_contacts": lambda: a.one_of({"left": [(0, 3)]}, {}, {"left": [(5, 1)]}, {"x": []},
                                          {"left": None}, {"right": [(-5, 10**9)]}),
        "body": lambda: a.body(upper), "repair_knees": lambda: a.one_of(False, True, "x"),
    })  # fmt: skip
    return Call("splice", ml.splice, (upper, lower), options)


def _clean(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some({
        "body": lambda: a.body(motion), "stretch": lambda: a.one_of(True, False, "x"),
        "blend_s": a.seconds, "farthest_m": lambda: a.number(0.25),
        "repair_knees": lambda: a.one_of(False, True, "x"),
    })  # fmt: skip
    return Call("clean_footskate", ml.clean_footskate, (motion, a.footplants(motion)), options)


def _retarget(a: Arguments) -> Call:
    motion, other = _pair(a)
    skeletons = list(rigs().values())
    target = a.pick(
        lambda _: other, lambda rng: skeletons[int(rng.integers(len(skeletons)))],
        lambda _: getattr(other, "skeleton", None),
    )  # fmt: skip
    options = a.some({
        "body": lambda: a.body(motion), "target_body": lambda: a.body(other),
        "footplants": lambda: a.footplants(motion), "repair_knees": lambda: a.one_of(False, True, 2),
    })  # fmt: skip
    return Call("retarget", ml.retarget, (motion, target), options)


def _verify(a: Arguments) -> Call:
    motion, source = _pair(a)
    options = a.some({
        "sources": lambda: a.one_of([source], [motion], (), None, [None], source, [source, motion]),
        "footplants": lambda: a.footplants(motion), "body": lambda: a.body(motion),
        "held": lambda: a.one_of(False, True, "x"),
    })  # fmt: skip

    def ask(motion: Any, **options: Any) -> list[Any]:
        found: Verification = ml.verify(motion, **options)
        return [found, found.json(), found.describe(), found.findings]

    return Call("verify", ask, (motion,), options)


def _about(name: str, *options: str) -> Callable[[Arguments], Call]:
    """A function of one motion with a few common options."""

    def make(a: Arguments) -> Call:
        motion = a.motion()
        makers: dict[str, Callable[[], Any]] = {
            "body": lambda: a.body(motion), "footplants": lambda: a.footplants(motion),
            "fps": lambda: a.number(30.0), "speed": lambda: a.number(0.25),
            "shortest_s": a.seconds, "heading": lambda: a.number(1.0),
            "x": lambda: a.number(1.0), "z": lambda: a.number(1.0),
            "floor": lambda: a.one_of(None, ml.Floor(0.0, 0.0, 0.0, 0.0, 0.0), 3,
                                      ml.Floor(1e300, 0.0, 1e300, float("nan"), 0.0)),
        }  # fmt: skip
        found = a.some({key: makers[key] for key in options})
        if name == "resample":
            found.setdefault("fps", a.number(30.0))
        return Call(name, getattr(ml, name), (motion,), found)

    return make


def _concatenate(a: Arguments) -> Call:
    first, second = _pair(a)
    motions = a.one_of([first, second], [], [first], first, None, [first, None], (first, first))
    return Call("concatenate", ml.concatenate, (motions,), {})


def _kinematics(a: Arguments) -> Call:
    motion = a.motion()
    if not isinstance(motion, ml.Motion):
        motion = good_clip(a.rng)
    root, quats = motion.root_positions, motion.local_quats
    arguments = (
        a.pick(lambda _: motion.skeleton, lambda rng: rigs()["one joint"]),
        a.pick(lambda _: root, lambda _: root[:1], lambda _: root * np.nan, lambda _: root[:0]),
        a.pick(
            lambda _: quats, lambda _: quats[:, :1], lambda _: 0 * quats, lambda _: quats[..., :3]
        ),
    )
    moving = a.one_of(None, motion.joint_translations, np.zeros((1, 2, 3)), "x")
    return Call(
        "forward_kinematics", ml.forward_kinematics, arguments, {"joint_translations": moving}
    )


def _motion_methods(a: Arguments) -> Call:
    motion = a.motion()
    if not isinstance(motion, ml.Motion):
        motion = good_clip(a.rng)
    name = str(a.rng.choice(["pose", "replace", "cut", "end"]))
    if name == "replace":
        changes = a.some({
            "skeleton": lambda: a.one_of(motion.skeleton, rigs()["one joint"]),
            "root_positions": lambda: a.one_of(motion.root_positions, motion.root_positions[:1]),
            "local_quats": lambda: a.one_of(motion.local_quats, 2.0 * motion.local_quats),
            "fps": lambda: a.number(60.0), "name": lambda: a.one_of("b", "x" * 500),
            "source": lambda: a.one_of(ml.Source(), None, 3), "speed": lambda: 3,
        })  # fmt: skip
        return Call("motion.replace", motion.replace, (), changes)
    if name == "cut":
        frames = a.one_of(slice(1, 4), slice(None), slice(5, 2), slice(-3, None), slice(0, 9, 2), 3,
                          slice("a", None), slice(10**30, None), slice(0.5, 3))  # fmt: skip
        return Call("motion[]", motion.__getitem__, (frames,), {})
    function = motion.world_pose if name == "pose" else motion.end_positions
    return Call(f"motion.{name}", function, (), {})


def _skeleton_methods(a: Arguments) -> Call:
    rig = a.rig or ml.synthetic.skeleton()
    name = str(a.rng.choice(["index", "children", "chain", "carried_by", "same_joints", "new"]))
    if name == "new":
        n = int(a.rng.integers(0, 4))
        names = a.one_of([f"j{i}" for i in range(n)], ["a"] * n, None, "abc", [3] * n)
        parents = a.one_of(list(range(-1, n - 1)), [-1] * n, [0] * n, None, [5] * n, [-1.5] * n)
        offsets = a.one_of(np.ones((n, 3)), np.zeros((n, 2)), None, np.full((n, 3), np.nan),
                           np.full((n, 3), 1e300), np.full((n, 3), 1e-320))  # fmt: skip
        return Call("Skeleton", ml.Skeleton, (names, parents, offsets), {})
    argument = {
        "index": lambda: a.one_of(rig.names[0], "none", 3), "children": lambda: a.frame(0),
        "chain": lambda: a.frame(0),
        "carried_by": lambda: a.one_of([0], [], [99], None, 3, ["a"], [-1]),
        "same_joints": lambda: a.one_of(rig, rigs()["one joint"], None),
    }[name]()  # fmt: skip
    return Call(f"skeleton.{name}", getattr(rig, name), (argument,), {})


def _body_methods(a: Arguments) -> Call:
    rig = a.rig or ml.synthetic.skeleton()
    body = odd_body(a.rng, good_clip(a.rng)) if a.rng.random() < 0.5 else ml.BodyMap.guess(rig)
    name = str(
        a.rng.choice(["guess", "from_names", "to_toml", "missing", "checked_for", "require"])
    )
    skeleton = a.pick(lambda _: rig, lambda _: rigs()["one joint"])
    if name == "guess":
        return Call(
            "BodyMap.guess",
            ml.BodyMap.guess,
            (skeleton,),
            {"motion": a.pick(lambda _: None, odd_motion)},
        )
    if name == "from_names":
        names = a.one_of({"pelvis": rig.names[0]}, {"pelvis": "none"}, {"x": "y"}, {"spine": [3]}, None,
                         {"spine": None}, {"pelvis": 3}, {3: "a"}, [])  # fmt: skip
        return Call("BodyMap.from_names", ml.BodyMap.from_names, (skeleton, names), {})
    if name == "require":
        role = a.one_of("left_hip", "spine", "none", 3)
        return Call("body.require", body.require, (role,), {"task": "a test", "skeleton": skeleton})
    return Call(f"body.{name}", getattr(body, name), () if name == "missing" else (skeleton,), {})


def _footplants(a: Arguments) -> Call:
    intervals = a.one_of({"left_heel": ((0, 3),)}, {"left_heel": ((5, 1),)}, {"x": ()}, None, [],
                         {"left_heel": None}, {"left_heel": ((1,),)}, {"left_toe": (("a", "b"),)},
                         {"left_toe": ((-5, 10**9),)}, {"left_toe": ((0.5, 2.5),)})  # fmt: skip
    name = str(a.rng.choice(["from", "new", "cut", "markers"]))
    if name == "from":
        return Call(
            "Footplants.from_intervals", ml.Footplants.from_intervals, (intervals, a.frame(9)), {}
        )
    if name == "new":
        planted = a.one_of(np.ones((3, 4), bool), np.ones((3, 3)), None, [[1, 0, 1, 0]], [], "x")
        return Call("Footplants", ml.Footplants, (planted,), {})
    plants = odd_footplants(a.rng, good_clip(a.rng))
    if name == "markers":
        return Call("sync_markers", ml.sync_markers, (a.pick(lambda _: plants),), {})
    frames = a.one_of(
        slice(1, 4), slice(9, 2), 3, "x", slice("a", None), None, slice(0, 9, 2), slice(0.5, 2)
    )
    return Call("footplants[]", plants.__getitem__, (frames,), {})


def _synthetic(a: Arguments) -> Call:
    options = a.some({
        "action": lambda: a.one_of("wave", "x", None), "turn": lambda: a.number(0.5),
        "speed": lambda: a.number(1.3), "cadence": lambda: a.number(1.8),
        "fps": lambda: a.number(30.0), "height": lambda: a.number(1.7),
        "phase": lambda: a.number(0.3), "seed": lambda: a.frame(1), "life": lambda: a.number(0.5),
    })  # fmt: skip
    options["duration_s"] = a.one_of(0.4, *SECONDS)
    kind = a.pick(lambda rng: str(rng.choice(ml.synthetic.kinds())))
    if a.rng.random() < 0.1:
        return Call("synthetic.skeleton", ml.synthetic.skeleton, (a.number(1.7),), {})
    return Call("synthetic.clip", ml.synthetic.clip, (kind,), options)


def _save_load(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some({"unit": lambda: a.one_of("cm", "m", 0.01, "x", -1.0, 0, 1e300),
                      "up": lambda: a.one_of("y", "z", "-x", "q", 3)})  # fmt: skip
    suffix = a.one_of("bvh", "mlm", "glb", "npz", "x", "")

    def both(motion: Any, **options: Any) -> ml.Motion:
        stream = io.BytesIO()
        ml.save(motion, stream, format=suffix, **options)
        stream.seek(0)
        return ml.load(stream)

    return Call("save", both, (motion,), options)


def _score(a: Arguments) -> Call:
    lib, table = table_of()
    result = a.one_of("table", "transition", None, 3, good_clip(a.rng))
    options = a.some({"threshold": lambda: a.number(3.0),
                      "masses": lambda: a.one_of(None, [1.0], np.ones(40), "x")})  # fmt: skip
    made = result
    if isinstance(result, str) and result == "table":
        made = table.transition(("walk", 3), ("run", 20))
    if isinstance(result, str) and result == "transition":
        made = ml.transition(good_clip(a.rng), good_clip(a.rng))
    return Call("score", ml.score, (made,), options)


def _columns(a: Arguments) -> Call:
    columns = a.one_of([1.0] * 8, [], None, "x", [float("nan")] * 8, [1e300] * 8, np.ones((2, 8)))
    options = a.some({"form": lambda: a.one_of("natural", "paper", "x"),
                      "threshold": lambda: a.number(6.0), "failed": lambda: a.one_of((), [1], 3)})  # fmt: skip
    return Call("Score.of_columns", ml.Score.of_columns, (columns,), options)


def _place(a: Arguments) -> Any:
    clip = a.one_of("walk", "run", "stand", "x", None, 3)
    return a.pick(lambda rng: (clip, a.frame(5)), lambda rng: clip, lambda rng: (clip,))


def _table(a: Arguments) -> Call:
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
        options = a.some({"count": lambda: a.frame(1), "feet": lambda: a.one_of(False, True, 3),
                          "exclude": lambda: a.one_of((), ["walk"], "walk", None, [3])})  # fmt: skip
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


def _graph(a: Arguments) -> Call:
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


def _engine(a: Arguments) -> Call:
    options = a.some({"jobs": lambda: a.frame(1), "device": lambda: a.one_of("gpu9", "", 3)})
    return Call("engine_of", ml.engine_of, (), options)


def _view(a: Arguments) -> Call:
    motion = a.motion()
    options = a.some({"footplants": lambda: a.footplants(motion), "body": lambda: a.body(motion)})

    def show(motion: Any, **options: Any) -> int:
        return len(ml.view(motion, **options)._repr_html_())

    return Call("view", show, (motion,), options)


CALLS: dict[str, tuple[float, Callable[[Arguments], Call]]] = {
    "transition": (3, _transition), "lead_in": (1, _lead("lead_in")),
    "lead_out": (1, _lead("lead_out")), "register": (6, _register), "blend": (5, _blend),
    "control": (4, _control), "curve": (3, _curve_methods), "parametrize": (3, _parametrize),
    "loop": (4, _loop), "splice": (3, _splice), "clean_footskate": (3, _clean),
    "retarget": (4, _retarget), "verify": (4, _verify),
    "measure_quality": (3, _about("measure_quality", "footplants", "body")),
    "detect_footplants": (3, _about("detect_footplants", "body", "speed", "shortest_s")),
    "mirror": (2, _about("mirror", "body")), "move": (2, _about("move", "heading", "x", "z")),
    "resample": (2, _about("resample", "fps")), "ground": (2, _about("ground", "floor", "body")),
    "concatenate": (2, _concatenate), "forward_kinematics": (1, _kinematics),
    "motion": (4, _motion_methods), "skeleton": (3, _skeleton_methods), "body": (3, _body_methods),
    "footplants": (4, _footplants), "synthetic": (3, _synthetic), "save": (2, _save_load),
    "score": (1, _score), "columns": (1, _columns), "table": (4, _table), "graph": (2, _graph),
    "engine": (0.3, _engine), "view": (1, _view),
}  # fmt: skip
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
        and (isinstance(getattr(type(value), name), property) or name == "finished")
    ]
    return {name: getattr(value, name) for name in names}
