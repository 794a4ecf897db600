"""Calls of what takes one clip, and of the methods of public types."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

import motionloom as ml
from call_arguments import SECONDS, Arguments, Call, pair_of
from odd import good_clip, odd_body, odd_footplants, odd_motion, rigs


def about_call(name: str, *options: str) -> Callable[[Arguments], Call]:
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


def concatenate_call(a: Arguments) -> Call:
    first, second = pair_of(a)
    motions = a.one_of([first, second], [], [first], first, None, [first, None], (first, first))
    return Call("concatenate", ml.concatenate, (motions,), {})


def kinematics_call(a: Arguments) -> Call:
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


def motion_methods_call(a: Arguments) -> Call:
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


def skeleton_methods_call(a: Arguments) -> Call:
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


def body_methods_call(a: Arguments) -> Call:
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
        names = a.one_of(
            {"pelvis": rig.names[0]},
            {"pelvis": "none"},
            {"x": "y"},
            {"spine": [3]},
            None,
            {"spine": None},
            {"pelvis": 3},
            {3: "a"},
            [],
        )
        return Call("BodyMap.from_names", ml.BodyMap.from_names, (skeleton, names), {})
    if name == "require":
        role = a.one_of("left_hip", "spine", "none", 3)
        return Call("body.require", body.require, (role,), {"task": "a test", "skeleton": skeleton})
    return Call(f"body.{name}", getattr(body, name), () if name == "missing" else (skeleton,), {})


def footplants_call(a: Arguments) -> Call:
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


def synthetic_call(a: Arguments) -> Call:
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


def save_load_call(a: Arguments) -> Call:
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
