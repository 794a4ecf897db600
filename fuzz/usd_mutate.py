"""Ways to damage USD text by its structure: prims, properties and values are changed and written.

Prims are dropped, doubled, moved and nested, properties get other values, arrays other lengths and
numbers, time samples odd times, joints odd paths, transforms odd operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Random = np.random.Generator

NUMBERS = (
    *("0", "-0", "1e9", "1e12", "1e13", "1e308", "1e309", "1e-308", "nan", "inf", "-inf", "1e"),
    *(".", "-", "1.5.2", "0x1", "9" * 40, "None", '"x"', "()", "[]", "@a@", "<a>", "1 2", "--1"),
)
VALUES: tuple[Any, ...] = (
    *(
        "None",
        "",
        "1",
        "-1",
        '"x"',
        "'y'",
        "@file.usd@",
        "</a>",
        "@b.usd@</c> (offset = 1)",
        "true",
    ),
    *([], [[]], ["1"], [["1", "2"], ["3"]], {"0": []}, {"a": ["1"]}, ["None"], '""', '"Hips"'),
    *(["1"] * 50, [["1"] * 4] * 9, '"""a\nb"""', "[", "]", ")", "{", "}", "=", "(", "#", "/* x"),
)
NAMES = (
    *("joints", "jointNames", "restTransforms", "bindTransforms", "rotations", "translations"),
    *("scales", "rotations.timeSamples", "translations.timeSamples", "xformOpOrder", "x.connect"),
    *("skel:animationSource", "skel:skeleton", "motionloom:endSites", "motionloom:restRotations"),
    *("xformOp:translate", "xformOp:rotateXYZ", "xformOp:transform", "xformOp:scale", "purpose"),
)
TYPES = ("Skeleton", "SkelAnimation", "SkelRoot", "Xform", "Scope", "", "Mesh", "x" * 40)
OPS = (
    *(
        "xformOp:translate",
        "xformOp:scale",
        "xformOp:orient",
        "xformOp:transform",
        "xformOp:nothing",
    ),
    *(
        "xformOp:rotateXYZ",
        "xformOp:rotateZ",
        "!invert!xformOp:translate",
        "!resetXformStack!",
        ":",
    ),
    *(
        "xformOp:rotateXX",
        "xformOp",
        "!invert!xformOp:scale",
        "xformOp:translate:pivot",
        "!invert!",
    ),
)
PATHS = ("", "/", "a", "a/b", "Hips", "Hips/Hips", "../a", "Hips//x", "a/" * 200 + "b", "é", "x y")
TIMES = ("nan", "inf", "-1", "1e13", "0", "1e-9", "1", "1.5", "x", "1e9", "3", "0.0001", "-1e11")


class Prim:
    """A prim that can be changed. A value is a text, a list, or a dictionary of time samples."""

    __slots__ = ("children", "head", "metadata", "name", "properties", "type")

    def __init__(self, kind: str, name: str, properties: Any = (), children: Any = ()) -> None:
        self.head, self.type, self.name = "def", kind, name
        self.metadata: list[list[Any]] = []
        self.properties: list[list[Any]] = [[word, key, plain(v)] for word, key, v in properties]
        self.children: list[Prim] = list(children)


def plain(value: Any) -> Any:
    """A copy of a value, numbers as text."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    return value if isinstance(value, str) else f"{float(value):.9g}"


def copied(prim: Prim) -> Prim:
    other = Prim(prim.type, prim.name, prim.properties, map(copied, prim.children))
    other.head, other.metadata = prim.head, [list(each) for each in prim.metadata]
    return other


@cache
def small_stages() -> tuple[Prim, ...]:
    """A few good layers: up to three joints, a few frames, transforms above the skeleton."""
    rng = np.random.default_rng(17)
    return tuple(_stage(rng, n) for n in range(8))


def _stage(rng: Random, n: int) -> Prim:
    paths = ['"Hips"', '"Hips/Spine"', '"Hips/Leg"'][: 1 + n % 3]
    n_joints, frames = len(paths), range(1 + n % 4)
    matrices = np.tile(np.eye(4), (n_joints, 1, 1))
    matrices[:, 3, :3] = rng.uniform(-1.0, 1.0, (n_joints, 3)).round(3)
    turns = rng.normal(size=(len(frames), n_joints, 4)).round(3)
    skeleton = Prim(
        "Skeleton",
        "skeleton",
        [
            ("uniform token[]", "joints", paths),
            ("uniform matrix4d[]", "restTransforms" if n % 4 else "bindTransforms", matrices),
        ],
    )
    if n % 3 == 2:
        skeleton.properties.append(["custom uniform int", "motionloom:endSites", "1"])
    animation = Prim(
        "SkelAnimation",
        "motion",
        [
            ("uniform token[]", "joints", paths),
            ("quatf[]", "rotations.timeSamples", {str(f): turns[f] for f in frames}),
            ("float3[]", "translations", matrices[:, 3, :3]),
            ("half3[]", "scales", np.ones((n_joints, 3))),
        ],
    )
    above = Prim("Xform" if n % 2 else "SkelRoot", "figure", children=[skeleton, animation])
    above.properties.append(["rel", "skel:animationSource", "</figure/motion>"])
    if n % 2:
        above.properties += [
            ["double3", "xformOp:translate", ["1", "2", "3"]],
            ["float3", "xformOp:rotateXYZ", ["10", "20", "30"]],
            ["uniform token[]", "xformOpOrder", ['"xformOp:translate"', '"xformOp:rotateXYZ"']],
        ]
    layer = Prim("", "", children=[above])
    layer.metadata = [["upAxis", '"Y"'], ["metersPerUnit", "0.01"], ["timeCodesPerSecond", "30"]]
    return layer


def written(layer: Prim) -> bytes:
    """The text of a layer."""
    lines = ["#usda 1.0"]
    if layer.metadata:
        lines += ["(", *(f"    {key} = {_text(value)}" for key, value in layer.metadata), ")"]
    todo: list[Prim | str] = [*reversed(layer.children)]
    while todo:
        prim = todo.pop()
        if isinstance(prim, str):
            lines.append(prim)
            continue
        lines.append(f'{prim.head} {prim.type} "{prim.name}"')
        if prim.metadata:
            lines += ["(", *(f"    {key} = {_text(value)}" for key, value in prim.metadata), ")"]
        lines.append("{")
        lines += [f"    {kind} {name} = {_text(v, name)}" for kind, name, v in prim.properties]
        todo += ["}", *reversed(prim.children)]
    return "\n".join([*lines, ""]).encode("utf-8", "replace")


def _text(value: Any, name: str = "", depth: int = 0) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{time}: {_text(v, name, 0)}" for time, v in value.items()) + "}"
    if isinstance(value, list):
        inner = ", ".join(_text(each, name, depth + 1) for each in value)
        return f"[{inner}]" if depth == 0 and not name.startswith("xformOp:") else f"({inner})"
    return str(value)


def changed_stage(rng: Random) -> bytes:
    """A small good layer with one to four changes."""
    stages = small_stages()
    layer = copied(stages[int(rng.integers(len(stages)))])
    for _ in range(1 + int(rng.integers(4)) * int(rng.random() < 0.5)):
        CHANGES[int(rng.integers(len(CHANGES)))](rng, layer)
    return written(layer)


def _prims(layer: Prim) -> list[Prim]:
    listed = [layer]
    for prim in listed:
        listed += prim.children
    return listed[1:]


def _any(rng: Random, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def change_children(rng: Random, layer: Prim) -> None:
    """Drop, double, move or nest a prim."""
    holders = [prim for prim in [layer, *_prims(layer)] if prim.children]
    if not holders:
        return
    holder = _any(rng, holders)
    at, kind = int(rng.integers(len(holder.children))), int(rng.integers(5))
    prim = holder.children[at]
    if kind == 0:
        del holder.children[at]
    elif kind == 1:
        holder.children += [copied(prim) for _ in range(1 + int(rng.random() < 0.1) * 40)]
    elif kind == 2:
        del holder.children[at]
        _any(rng, [layer, *_prims(layer)]).children.append(prim)
    elif kind == 3:
        for n in range(int(2 ** rng.uniform(0.0, 7.2))):
            prim = Prim("Xform", f"x{n}", children=[prim])
        holder.children[at] = prim
    else:
        prim.type, prim.name = _any(rng, TYPES), _any(rng, (prim.name, "motion", "a b", "", "é"))


def change_head(rng: Random, layer: Prim) -> None:
    """Another specifier, odd metadata, or a set of variants."""
    prims = _prims(layer)
    if not prims:
        return
    prim, kind = _any(rng, prims), int(rng.integers(4))
    if kind == 0:
        prim.head = _any(rng, ("over", "class", "reorder", "DEF", "", "def def"))
    elif kind == 1:
        prim.metadata.append([_any(rng, ("kind", "prepend references", "x", "")), _value(rng)])
    elif kind == 2:
        prim.properties.append(["variantSet", '"v"', '{ "a" { def Scope "s" {} } "b" (k = 1) {} }'])
    else:
        keys = (
            "upAxis",
            "metersPerUnit",
            "timeCodesPerSecond",
            "framesPerSecond",
            "customLayerData",
        )
        layer.metadata.append([_any(rng, keys), _any(rng, (*NUMBERS, '"Z"', '"X"', "{}"))])


def change_properties(rng: Random, layer: Prim) -> None:
    """Drop, double, move or rename a property, or give it another type."""
    holders = [prim for prim in _prims(layer) if prim.properties]
    if not holders:
        return
    holder = _any(rng, holders)
    at, kind = int(rng.integers(len(holder.properties))), int(rng.integers(6))
    entry = holder.properties[at]
    if kind == 0:
        del holder.properties[at]
    elif kind == 1:
        holder.properties.append(entry)
    elif kind == 2:
        del holder.properties[at]
        _any(rng, _prims(layer)).properties.append(entry)
    elif kind == 3:
        entry[1] = _any(rng, NAMES)
    elif kind == 4:
        entry[0] = _any(
            rng, ("float", "token[]", "rel", "custom", "uniform uniform", "", "quatf [ ]")
        )
    else:
        entry[2] = _value(rng)


def change_numbers(rng: Random, layer: Prim) -> None:
    """An odd number, or another length, somewhere in a value."""
    lists = [
        each
        for prim in _prims(layer)
        for entry in prim.properties
        for each in (entry[2].values() if isinstance(entry[2], dict) else [entry[2]])
        if isinstance(each, list) and each
    ]
    if not lists:
        return
    target = _any(rng, lists)
    while isinstance(target[0], list) and target[0] and rng.random() < 0.8:
        target = target[int(rng.integers(len(target)))]
        if not isinstance(target, list) or not target:
            return
    at, kind = int(rng.integers(len(target))), int(rng.integers(5))
    if kind == 0:
        del target[at]
    elif kind == 1:
        target.insert(at, target[at])
    elif kind == 2:
        target[at] = [target[at]]
    else:
        target[at] = _any(rng, NUMBERS)


def change_samples(rng: Random, layer: Prim) -> None:
    """Odd times, samples that are missing, or are no arrays."""
    entries = [e for prim in _prims(layer) for e in prim.properties if isinstance(e[2], dict)]
    if not entries:
        return
    entry = _any(rng, entries)
    samples = list(entry[2].items())
    kind = int(rng.integers(4))
    if kind == 0 and samples:
        del samples[int(rng.integers(len(samples)))]
    elif kind == 1 and samples:
        at = int(rng.integers(len(samples)))
        samples[at] = (_any(rng, TIMES), samples[at][1])
    elif kind == 2 and samples:
        samples[int(rng.integers(len(samples)))] = (samples[0][0], _value(rng))
    elif samples:
        samples += [(f"{time:.3f}", samples[0][1]) for time in rng.uniform(0.0, 50.0, 5)]
    entry[2] = dict(samples)


def change_joints(rng: Random, layer: Prim) -> None:
    """Paths of joints that repeat, are empty, or have no parent."""
    lists = [
        e[2]
        for prim in _prims(layer)
        for e in prim.properties
        if e[1] == "joints" and isinstance(e[2], list) and e[2]
    ]
    if lists:
        target = _any(rng, lists)
        target[int(rng.integers(len(target)))] = f'"{_any(rng, PATHS)}"'
        if rng.random() < 0.2:
            target.append(f'"{_any(rng, PATHS)}"')


def change_transforms(rng: Random, layer: Prim) -> None:
    """Operations that are unknown, flat, inverted, or many."""
    prims = _prims(layer)
    if not prims:
        return
    prim = _any(rng, prims)
    ops = [_any(rng, OPS) for _ in range(1 + int(rng.integers(4)) + 70 * int(rng.random() < 0.03))]
    for op in ops:
        count = _any(rng, (1, 3, 4, 16, 0))
        numbers = [_any(rng, ("0", "1", "2", "1e9", "1e-9", "-1", *NUMBERS)) for _ in range(count)]
        prim.properties.append(["double3", op.removeprefix("!invert!"), numbers])
    prim.properties.append(["uniform token[]", "xformOpOrder", [f'"{op}"' for op in ops]])


def _value(rng: Random) -> Any:
    if rng.random() < 0.1:
        depth = int(2 ** rng.uniform(1.0, 9.0))
        return _any(rng, ("[", "(", "{ a = ")) * depth
    return _any(rng, VALUES)


CHANGES: tuple[Callable[[Random, Prim], None], ...] = (
    *(change_children, change_children, change_head, change_properties, change_properties),
    *(change_numbers, change_numbers, change_numbers, change_samples, change_samples),
    *(change_joints, change_transforms),
)
