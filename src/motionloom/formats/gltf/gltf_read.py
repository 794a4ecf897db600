"""A glTF file as a clip: joints of its skin, one animation, in metres and Y up.

Nodes above the root joint (an armature with a scale of 0.01 and a quarter turn, say) are folded
into the root, so that the result stands upright and in metres as glTF demands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.figures import SLIDE_M, NodeScale, Scales, figure_motion
from motionloom.formats.file_clip import FileClip, ReadOptions, clip_number
from motionloom.formats.gltf.gltf_document import MARK, Document, index_of, objects
from motionloom.formats.gltf.gltf_head_top import with_top_of_skin
from motionloom.formats.gltf.gltf_nodes import NodeTree, find_rig
from motionloom.formats.keys import Clock, clock_of
from motionloom.formats.text import read_bounded, unique_names
from motionloom.rotation import quat

BYTES_PER_FRAME = 400
"""Memory that sampling one track takes for each frame."""
PATHS = {"translation": 3, "rotation": 4, "scale": 3}
LATEST_S = 1e9
MOST_AT_ONCE = 2
"""Keys at one time that a track without other keys may have: still poses are written so."""


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """One animation of a ``.glb`` or ``.gltf`` on the skeleton that it moves."""
    data = read_bounded(stream, options.limits)
    document = Document(data, options)
    tree = NodeTree.of(document)
    clips = animation_names(document)
    animation = clip_number(clips, options.clip)
    tracks = [] if animation is None else tracks_of(document, animation, len(tree.nodes))
    moved = {track.node for track in tracks if track.path != "scale"}
    rig = find_rig(tree, document, moved)
    relevant = {*rig.joints, *tree.ancestors(rig.joints[0])}
    tracks = [track for track in tracks if track.node in relevant]
    if animation is None or not tracks:
        how = "No animation moves the skeleton: one frame, the rest pose."
        clock = Clock(np.zeros(1), 30.0, False, how)
    else:
        clock = find_clock(document, animation, tracks, options.limits.max_frames)
    if len(rig.joints) > options.limits.max_joints:
        raise FormatError(
            f"A skeleton may have at most {options.limits.max_joints} joints, got "
            f"{len(rig.joints)}.",
            fix="Export fewer nodes.",
        )
    placed = {track.node for track in tracks if track.path == "translation"}
    sliding = not placed.isdisjoint(rig.joints[1:])
    document.budget.check_poses(
        len(clock.times), len(rig.joints), sliding=sliding, per_frame=BYTES_PER_FRAME
    )
    empty = _empty_keys(tracks)
    scene = _Scene(tree, {(track.node, track.path): track for track in tracks}, clock)
    del tracks
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the motion is checked for it
            motion, odd = figure_motion(scene, tree, rig, clock.fps, SLIDE_M)
            taller, note = with_top_of_skin(motion.skeleton, document, tree, rig)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    findings = [Finding("note", "animation", clock.how), *empty, *odd, *scene.scales.findings()]
    if note:
        motion = motion.replace(skeleton=taller)
        findings.append(Finding("note", "skin", note))
    if rig.left_out:
        findings.append(
            Finding("warning", "skins", f"{rig.left_out} joints of other figures are left out.")
        )
    return FileClip(
        motion,
        unit_m=1.0,
        up="y",
        fps_stated=clock.stated,
        clip=clips[animation] if animation is not None and len(clips) > 1 else "",
        clips=clips,
        detail=MappingProxyType(_detail(document, clips, animation)),
        findings=tuple(findings),
    )


def clip_names(data: bytes, options: ReadOptions) -> tuple[str, ...]:
    """Names of the animations in a file."""
    return animation_names(Document(data, options))


def animation_names(document: Document) -> tuple[str, ...]:
    """A unique name for every animation: its own, or its number where it has none."""
    specs = document.listed("animations")
    names = [spec.get("name") for spec in specs]
    named = [name if isinstance(name, str) and name else str(i) for i, name in enumerate(names)]
    return tuple(unique_names(named)[0])


def tracks_of(document: Document, animation: int, n_nodes: int) -> list[Track]:
    """The tracks of one animation that move nodes."""
    spec = document.listed("animations")[animation]
    where = f"animation {animation}"
    samplers = objects(spec.get("samplers"), f"{where}, samplers")
    tracks: list[Track] = []
    keys = _Keys(document)
    seen: set[tuple[int, str]] = set()
    for c, channel in enumerate(objects(spec.get("channels"), f"{where}, channels")):
        place = f"{where}, channel {c}"
        target = channel.get("target")
        if not isinstance(target, dict):
            raise FormatError("A channel needs a target.", where=place)
        path = target.get("path")
        if "node" not in target or not isinstance(path, str) or path not in PATHS:
            continue  # morph weights, and what extensions animate
        node = index_of(target["node"], n_nodes, place)
        if (node, path) in seen:
            raise FormatError(f"Node {node} has two channels for its {path}.", where=place)
        seen.add((node, path))
        sampler = samplers[index_of(channel.get("sampler"), len(samplers), place)]
        interpolation = sampler.get("interpolation", "LINEAR")
        if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
            raise FormatError(
                "Interpolation must be LINEAR, STEP or CUBICSPLINE, got "
                f"{str(interpolation)[:40]!r}.",
                where=place,
            )
        tracks.append(Track(node, path, *keys.of(sampler, path, interpolation, place)))
    return tracks


class _Keys:
    """Times and values of samplers. Those that many samplers share are read once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.times: dict[int, tuple[FloatArray, BoolArray | None]] = {}
        self.values: dict[tuple[int, int, str, str], tuple[FloatArray, int]] = {}

    def of(
        self, sampler: dict[str, Any], path: str, interpolation: str, place: str
    ) -> tuple[FloatArray, FloatArray, str, int]:
        """The last fields of a track: times, values, interpolation and empty keys."""
        n_accessors = len(self.document.listed("accessors"))
        first = index_of(sampler.get("input"), n_accessors, place)
        second = index_of(sampler.get("output"), n_accessors, place)
        if first not in self.times:
            self.times[first] = self._read_times(first, place)
        times, fresh = self.times[first]
        key = (first, second, path, interpolation)
        if key not in self.values:
            n_keys = len(times) if fresh is None else len(fresh)
            values, n_empty = self._read_values(second, n_keys, path, interpolation, place)
            self.values[key] = (values if fresh is None else values[fresh]), n_empty
        values, n_empty = self.values[key]
        return times, values, interpolation, n_empty

    def _read_times(self, index: int, place: str) -> tuple[FloatArray, BoolArray | None]:
        """Strictly increasing times, and which of the keys they belong to; None for all."""
        times = self.document.accessor(index, place, 1)[:, 0]
        self.document.budget.take(times.nbytes, "its key times", place)
        ordered = len(times) and np.abs(times).max() < LATEST_S and (np.diff(times) >= 0).all()
        if not ordered:  # also where one is not a number
            raise FormatError("Key times must be finite and increase; these do not.", where=place)
        fresh = np.concatenate([[True], np.diff(times) > 0])
        if fresh.all():
            return times, None
        if len(times) > MOST_AT_ONCE and not fresh[1:].any():
            raise FormatError(
                f"Key times must increase, and all {len(times)} are {times[0]:g} s.",
                where=place,
                fix="The file is damaged: copy or download it again.",
            )
        return times[fresh], fresh  # of keys at one time the first counts

    def _read_values(
        self, index: int, n_keys: int, path: str, interpolation: str, place: str
    ) -> tuple[FloatArray, int]:
        """Shape (n_keys, C), or (n_keys, 3, C) for splines; and how many rotations are empty."""
        width = PATHS[path]
        values = self.document.accessor(index, place, width)
        self.document.budget.take(values.nbytes, "its keys", place)
        per_key = 3 if interpolation == "CUBICSPLINE" else 1
        if len(values) != per_key * n_keys:
            raise FormatError(
                f"{n_keys} key times need {per_key * n_keys} values, got {len(values)}.",
                where=place,
            )
        if not np.isfinite(values).all() or np.abs(values).max() > 1e15:
            raise FormatError("Keys must be finite numbers; some are not.", where=place)
        n_empty = 0
        if path == "rotation":
            values = values[:, [3, 0, 1, 2]]
            n_empty = int((values[per_key // 2 :: per_key] == 0.0).all(axis=1).sum())
            if per_key == 1:
                values = quat.make_continuous(quat.normalize(values))
        return (values.reshape(n_keys, 3, width) if per_key == 3 else values), n_empty


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The keys of one property of one node."""

    node: int
    path: str
    times: FloatArray
    """Strictly increasing, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N, 3), or (N, 4) wxyz; (N, 3, C) with in-tangent, value, out-tangent for splines."""
    interpolation: str
    n_empty: int = 0
    """Rotation keys that are (0, 0, 0, 0), which is no rotation; they are read as no turn."""

    def sample(self, at: FloatArray) -> FloatArray:
        """Values at times ``at`` (F,), held before the first key and after the last."""
        times, n = self.times, len(self.times)
        low = np.clip(np.searchsorted(times, at, side="right") - 1, 0, max(n - 2, 0))
        high = np.minimum(low + 1, n - 1)
        span = np.where(high > low, times[high] - times[low], 1.0)
        u = np.clip((at - times[low]) / span, 0.0, 1.0) * (high > low)
        spline = self.interpolation == "CUBICSPLINE"
        keys = self.values[:, 1] if spline else self.values
        if self.interpolation == "STEP":
            values = np.where((u >= 1.0)[:, None], keys[high], keys[low])
        elif spline:
            values = _hermite(self.values, low, high, span, u)
        elif self.path == "rotation":
            values = quat.slerp(keys[low], keys[high], u)
        else:
            values = keys[low] + u[:, None] * (keys[high] - keys[low])
        values = np.where((u == 0.0)[:, None], keys[low], values)
        values = np.where((u == 1.0)[:, None], keys[high], values)
        return quat.normalize(values) if self.path == "rotation" else values


def _hermite(
    values: FloatArray, low: Any, high: Any, span: FloatArray, u: FloatArray
) -> FloatArray:
    s, d = u[:, None], span[:, None]
    s2, s3 = s * s, s * s * s
    return np.asarray(
        (2 * s3 - 3 * s2 + 1) * values[low, 1]
        + (s3 - 2 * s2 + s) * d * values[low, 2]
        + (3 * s2 - 2 * s3) * values[high, 1]
        + (s3 - s2) * d * values[high, 0]
    )


def find_clock(document: Document, animation: int, tracks: list[Track], max_frames: int) -> Clock:
    """The constant rate behind the keys of a clip, and its frame times."""
    each = {id(track.times): track.times for track in tracks}  # most share one array of times
    keys = np.unique(np.concatenate(list(each.values())))
    stated = _stated_rate(document, animation)
    return clock_of(keys, stated, max_frames, f"animation {animation}")


def _stated_rate(document: Document, animation: int) -> float | None:
    fps = own_facts(document, animation).get("fps")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 1e6:
        return None
    return float(fps)


@dataclass(slots=True, eq=False)
class _Scene:
    """The nodes in time: what each one's place, turn and scale in its parent are, asked once."""

    tree: NodeTree
    tracks: dict[tuple[int, str], Track]
    """By node and path; each is let go when it is sampled, so that its keys take no memory."""
    clock: Clock
    scales: Scales = field(default_factory=Scales)

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.clock.times)

    def turns(self, node: int) -> FloatArray:
        """Turn of a node in its parent, in every frame. Shape (F, 4)."""
        track = self.tracks.pop((node, "rotation"), None)
        if track is None:
            return np.tile(self.tree.nodes[node].rotation, (self.n_frames, 1))
        return track.sample(self.clock.times)

    def places(self, node: int, _: FloatArray) -> FloatArray | None:
        """Place of a node in its parent, in every frame (F, 3); None where it is not keyed."""
        track = self.tracks.pop((node, "translation"), None)
        return None if track is None else track.sample(self.clock.times)

    def rest(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Place (3,) and turn (4,) of a node in its parent at rest."""
        return self.tree.nodes[node].translation, self.tree.nodes[node].rotation

    def scaled(self, node: int, above: NodeScale) -> NodeScale:
        """Scale below a node, of the scale above it."""
        listed = self.tree.nodes[node]
        track = self.tracks.pop((node, "scale"), None)
        keyed = None if track is None else track.sample(self.clock.times)
        factor = self.scales.factor(listed.name, listed.scale, keyed)
        return NodeScale(above.total * factor, factor)

    def rest_scale(self, node: int) -> float:
        """Scale of a node alone, at rest."""
        return float(np.abs(self.tree.nodes[node].scale).mean())


def _empty_keys(tracks: list[Track]) -> list[Finding]:
    """A warning where rotations are zero, as in a file that did not arrive whole."""
    n_empty = sum(track.n_empty for track in tracks)
    if not n_empty:
        return []
    n_keys = sum(len(track.times) for track in tracks if track.path == "rotation")
    return [
        Finding(
            "warning",
            "animation",
            f"{n_empty} of {n_keys} rotation keys are (0, 0, 0, 0); they are read as no turn.",
            "The file may be damaged: copy or download it again.",
        )
    ]


def _detail(document: Document, clips: tuple[str, ...], animation: int | None) -> dict[str, Any]:
    if animation is None:
        return {}
    detail: dict[str, Any] = {"animation": clips[animation]}
    source = own_facts(document, animation).get("source")
    if isinstance(source, dict) and all(isinstance(value, str) for value in source.values()):
        detail["source"] = source
    return detail


def own_facts(document: Document, animation: int) -> dict[str, Any]:
    """Facts that motionloom wrote next to the keys: the rate, the frames, the source."""
    extras = document.json["animations"][animation].get("extras")
    ours = extras.get(MARK) if isinstance(extras, dict) else None
    return ours if isinstance(ours, dict) else {}
