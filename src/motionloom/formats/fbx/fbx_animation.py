"""The animation of an FBX file: its frames, and layers of curves flattened onto them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_curves import Curve, read_curves
from motionloom.formats.fbx.fbx_models import Model, angles_of, turn_of
from motionloom.formats.fbx.fbx_objects import TICKS, FbxObject, Objects, Properties
from motionloom.formats.keys import (
    ONE_FRAME_RATE,
    SNAP_FRAME,
    Clock,
    even_rate,
    grid,
    uneven_rate,
)
from motionloom.formats.text import unique_names
from motionloom.rotation import quat

PATHS = ("Lcl Translation", "Lcl Rotation", "Lcl Scaling")
TRANSLATION, ROTATION, SCALING = PATHS
WEIGHT = "Weight"
CHANNELS = ("d|X", "d|Y", "d|Z")
ADDITIVE, OVERRIDE = 0, 1
"""Blend modes; the third one, 2, mixes a layer with what is below it by its weight."""
MAX_LAYERS = 64
LAYER_COST = 15
"""Samples that a frame of a layer above the first counts for: mixing rotations takes time."""
FREE_SAMPLES = 15_000_000
"""Values that may be sampled for any file; one more for every byte of the file."""
SAME_S = 2e-5
"""Keys nearer than this are at one time."""
FASTEST_SCENE = 250.0
"""A stated rate above this counts time finely; it is not that of the frames."""
STILL = "No animation moves the skeleton: one frame, the rest pose."


@dataclass(frozen=True, slots=True, eq=False)
class Channels:
    """Keys of one layer for one property of one object."""

    item: FbxObject
    curves: dict[str, FbxObject]
    """By channel: ``"d|X"``, ..."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer of a stack."""

    item: FbxObject
    weight: float | None
    """Share of the layer; None where it hides what is below it, whatever its weight."""
    additive: bool
    by_channel: bool
    """Whether rotations are added angle by angle."""
    adds_scale: bool
    channels: dict[tuple[int, str], Channels]
    """By the key of the object and the name of its property."""


def stack_names(objects: Objects) -> tuple[str, ...]:
    """A unique name for every animation stack: its own, or its number where it has none."""
    names = [each.name for each in objects.of_kind("AnimationStack")]
    return tuple(unique_names([name or str(i) for i, name in enumerate(names)])[0])


def span_of(objects: Objects, stack: FbxObject) -> tuple[float, float] | None:
    """First and last second that a stack states, None where it states none."""
    table = objects.properties(stack)
    ends = [table.values(name) for name in ("LocalStart", "LocalStop")]
    start, stop = (value[0] if value else None for value in ends)
    if not isinstance(start, int) or not isinstance(stop, int) or start >= stop:
        return None
    return start / TICKS, stop / TICKS


def layers_of(objects: Objects, stack: FbxObject) -> list[Layer]:
    """The layers of a stack that count, the base first."""
    items = list(objects.linked(stack.key, "AnimationLayer"))
    if len(items) > MAX_LAYERS:
        raise FormatError(
            f"A stack may have at most {MAX_LAYERS} layers, got {len(items)}.",
            where=objects.document.place(stack.element),
            fix="Merge its layers before exporting.",
        )
    tables = [objects.properties(item) for item in items]
    solo = [bool(table.number("Solo", 0.0)) for table in tables]
    layers = []
    for item, table, alone in zip(items, tables, solo, strict=True):
        if (any(solo) and not alone) or table.number("Mute", 0.0):
            continue
        layers.append(_layer(objects, item, table))
    return layers


def _layer(objects: Objects, item: FbxObject, table: Properties) -> Layer:
    channels: dict[tuple[int, str], Channels] = {}
    for node in objects.linked(item.key, "AnimationCurveNode"):
        curves = {
            link.name: objects.by_key[link.child]
            for link in objects.below.get(node.key, ())
            if link.child in objects.by_key and objects.by_key[link.child].kind == "AnimationCurve"
        }
        for link in objects.above.get(node.key, ()):
            if link.name in PATHS or link.name == WEIGHT:
                channels.setdefault((link.parent, link.name), Channels(node, curves))
    mode = table.whole("BlendMode", ADDITIVE)
    return Layer(
        item,
        None if mode == OVERRIDE else table.number(WEIGHT, 100.0) / 100.0,
        mode == ADDITIVE,
        table.whole("RotationAccumulationMode", 0) == 1,
        table.whole("ScaleAccumulationMode", 0) == 1,
        channels,
    )


def animated(layers: list[Layer]) -> set[int]:
    """Keys of the models whose place or turn is keyed."""
    return {
        key
        for layer in layers
        for (key, path), channels in layer.channels.items()
        if path in (TRANSLATION, ROTATION) and channels.curves
    }


@dataclass(slots=True, eq=False)
class Animation:
    """One stack in time: what the properties of models are, asked once for each."""

    objects: Objects
    layers: list[Layer]
    times: FloatArray = field(default_factory=lambda: np.zeros(1))
    """Frames, seconds."""
    curves: dict[int, Curve] = field(default_factory=dict)
    samples: int = 0

    def load(self, keys: set[int]) -> FloatArray:
        """Read the curves of some models; returns every time at which one has a key."""
        items = {
            item.key: item.element
            for layer in self.layers
            for (key, _), channels in layer.channels.items()
            if key in keys or key == layer.item.key
            for item in channels.curves.values()
        }
        curves = read_curves(self.objects.document, list(items.values()))
        self.curves = dict(zip(items, curves, strict=True))
        times: list[FloatArray] = []
        for curve in curves:
            if not times or not np.array_equal(times[-1], curve.times):
                times.append(curve.times)
        return np.unique(np.concatenate(times)) if times else np.zeros(0)

    def is_keyed(self, model: Model, path: str) -> bool:
        """Whether a property of a model has curves."""
        return any(
            bool(layer.channels[model.key, path].curves)
            for layer in self.layers
            if (model.key, path) in layer.channels
        )

    def values(self, model: Model, path: str, static: FloatArray) -> FloatArray | None:
        """A translation or scaling in every frame (F, 3), None where no layer states it."""
        result: FloatArray | None = None
        for number, layer in enumerate(self.layers):
            channels = layer.channels.get((model.key, path))
            if channels is None:
                continue
            values = self._sampled(channels, static if number == 0 else None, path)
            if number == 0:
                result = values
                continue
            base = np.broadcast_to(static, values.shape) if result is None else result
            result = self._added(layer, base, values, path)
        return result

    def turns(self, model: Model) -> FloatArray | None:
        """The rotation of a model in every frame (F, 4), None where no layer states it.

        Angles stay angles as long as layers add them one by one, and quaternions stay quaternions.
        """
        angles: FloatArray | None = None
        turns: FloatArray | None = None
        for number, layer in enumerate(self.layers):
            channels = layer.channels.get((model.key, ROTATION))
            if channels is None:
                continue
            values = self._sampled(channels, model.rotation if number == 0 else None, ROTATION)
            if number == 0:
                angles = values
                continue
            if angles is None and turns is None:
                angles = np.broadcast_to(model.rotation, values.shape)
            if layer.by_channel:
                if turns is not None or angles is None:
                    angles = angles_of(np.asarray(turns), model.order)
                angles, turns = self._added(layer, angles, values, ROTATION), None
            else:
                below = turn_of(np.asarray(angles), model.order) if turns is None else turns
                turns = self._turned(layer, below, turn_of(values, model.order))
        if turns is None and angles is not None:
            return turn_of(angles, model.order)
        return turns

    def _sampled(self, channels: Channels, static: FloatArray | None, path: str) -> FloatArray:
        """The three channels of a property in one layer (F, 3)."""
        n = len(self.times)
        self.samples += (3 if static is not None else LAYER_COST) * n
        allowed = FREE_SAMPLES + len(self.objects.document.data)
        if self.samples > allowed:
            raise FormatError(
                f"A file of this size may ask for {allowed} samples of curves, and asks for more.",
                where=self.objects.document.place(channels.item.element),
                fix="Export fewer layers, or a shorter clip.",
            )
        neutral = np.full(3, 1.0 if path == SCALING else 0.0) if static is None else static
        values = np.zeros((n, 3))
        for axis, name in enumerate(CHANNELS):
            item = channels.curves.get(name)
            if item is None:
                table = self.objects.properties(channels.item)
                values[:, axis] = table.number(name, float(neutral[axis]))
            else:
                values[:, axis] = self.curves[item.key].sample(self.times)
        return values

    def _weight(self, layer: Layer) -> FloatArray:
        """Share of a layer in every frame (F, 1)."""
        if layer.weight is None:
            return np.ones((len(self.times), 1))
        channels = layer.channels.get((layer.item.key, WEIGHT))
        if channels is None or not channels.curves:
            return np.full((len(self.times), 1), layer.weight)
        item = next(iter(channels.curves.values()))
        return np.asarray(self.curves[item.key].sample(self.times)[:, None] / 100.0)

    def _turned(self, layer: Layer, below: FloatArray, own: FloatArray) -> FloatArray:
        """A layer of rotations on what is below it (F, 4)."""
        weight = self._weight(layer)[:, 0]
        if layer.additive:
            still = np.broadcast_to(quat.IDENTITY, own.shape)
            return quat.multiply(below, quat.slerp(still, own, weight))
        return own if (weight == 1.0).all() else quat.slerp(below, own, weight)

    def _added(self, layer: Layer, base: FloatArray, values: FloatArray, path: str) -> FloatArray:
        """A layer on what is below it, number by number (F, 3)."""
        weight = self._weight(layer)
        if not layer.additive:
            return np.asarray(base + weight * (values - base))
        if path == SCALING and not layer.adds_scale:
            powers = np.sign(values) * np.abs(values) ** weight
            return np.asarray(base * powers)
        return np.asarray(base + weight * values)


def clock_of_keys(
    keys: FloatArray, span: tuple[float, float] | None, stated: float | None, max_frames: int
) -> Clock:
    """The frames of a clip.

    Parameters
    ----------
    keys : (N,)
        Every time at which there is a key, increasing, seconds; empty where no joint moves.
    span
        First and last second that the stack states.
    stated
        Frames per second of the file's TimeMode.
    max_frames
        More are refused.
    """
    keys = _within(_merged(keys, SAME_S if stated is None else min(SAME_S, 0.2 / stated)), span)
    if len(keys) < 2:
        fps = stated or ONE_FRAME_RATE
        how = STILL if not len(keys) else f"A single frame, at {fps:.6g} fps."
        times = keys if len(keys) else np.zeros(1)
        return Clock(times, fps, stated is not None, how)
    even = even_rate(keys)
    on_frames = stated is not None and _on_frames(keys, stated)
    if stated is not None and on_frames and _is_full(keys, stated):
        fps, how = stated, f"There is a key for every frame, at the stated {stated:.6g} fps."
        times = keys
    elif stated is not None and on_frames and stated <= FASTEST_SCENE:
        fps, how = stated, f"The file states {stated:.6g} fps; frames between keys are filled in."
        times = grid(keys, fps, max_frames, "animation")
    elif even is not None:
        fps, how, times = even, f"There is a key for every frame: {even:.6g} fps.", keys
    else:
        fps, how = uneven_rate(keys)
        times = grid(keys, fps, max_frames, "animation")
    if len(times) > max_frames:
        raise FormatError(
            f"At most {max_frames} frames can be read, got {len(times)}.",
            where="animation",
            fix="Cut it into shorter clips.",
        )
    return Clock(times, fps, True, how)


def _merged(keys: FloatArray, same_s: float) -> FloatArray:
    """Keys without those that follow another at once."""
    if len(keys) < 2:
        return keys
    return np.asarray(keys[np.concatenate([[True], np.diff(keys) > same_s])])


def _within(keys: FloatArray, span: tuple[float, float] | None) -> FloatArray:
    """Keys within a span, where there are two or more."""
    if span is None:
        return keys
    inside = keys[(keys >= span[0] - SAME_S) & (keys <= span[1] + SAME_S)]
    return inside if len(inside) >= 2 else keys


def _on_frames(keys: FloatArray, fps: float) -> bool:
    frames = (keys - keys[0]) * fps
    return bool(np.abs(frames - np.round(frames)).max() < SNAP_FRAME)


def _is_full(keys: FloatArray, fps: float) -> bool:
    """Whether there is a key for every frame."""
    return abs(float(keys[-1] - keys[0]) * fps - (len(keys) - 1)) < 0.5
