"""A clip out of USD: one Skeleton and the SkelAnimation bound to it.

Text is read by our own parser, one layer of it, without composition. The binary forms (``.usdc``,
``.usdz`` and most ``.usd``) are turned into flat text by ``usd-core`` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import Budget
from motionloom.findings import Finding
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.text import MARK, decoded, quoted, read_bounded
from motionloom.formats.usd.usd_flatten import flattened
from motionloom.formats.usd.usd_parse import Prim, Tokens, parse_layer, text_of
from motionloom.formats.usd.usd_skeleton import (
    Tracks,
    UsdSkeleton,
    flat_numbers,
    matrix_of,
    read_skeleton,
    read_tracks,
)
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

DEFAULT_RATE = 24.0
"""Time codes per second where a stage states none."""
DEFAULT_UNIT_M = 0.01
SLIDE = 2e-6
EVEN_SCALE = 1e-3


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a USD file, in its own unit and axes."""
    budget = Budget.of(stream, options.limits)
    data = read_bounded(stream, options.limits, budget)
    if not data.removeprefix(MARK).startswith(b"#usda"):
        data = flattened(data, options.limits)
        budget.add_file(len(data))
    budget.take((1 if data.isascii() else 4) * len(data), "its text")
    tokens = Tokens(decoded(data), budget)
    root = parse_layer(tokens)
    prims = root.descendants()
    parents = {child.path: prim for prim in prims for child in prim.children}
    skeletons = [prim for prim in prims if prim.type == "Skeleton" and "joints" in prim.properties]
    if not skeletons:
        raise FormatError(
            "No Skeleton with joints is in this layer.",
            fix="Flatten the stage first: usdcat --flatten IN -o OUT.usda.",
        )
    prim = skeletons[0]
    findings = []
    if len(skeletons) > 1:
        others = ", ".join(each.path for each in skeletons[1:4])
        problem = f"{len(skeletons)} skeletons; {prim.path} was read, others are {others}."
        findings.append(Finding("note", "skeletons", problem[:300]))
    above = [prim]
    while above[-1].path in parents:
        above.append(parents[above[-1].path])
    animations = [each for each in prims if each.type == "SkelAnimation"]
    animation = _picked(animations, above, options.clip)
    skeleton = read_skeleton(prim, tokens, options.limits.max_joints)
    tracks = read_tracks(animation, skeleton, tokens, options.limits)
    world, notes = _above(above, tokens)
    findings += [*tracks.findings, *notes]
    rate = _rate(root.metadata)
    try:
        motion = _motion(skeleton, tracks, world, (rate or DEFAULT_RATE) / tracks.step, findings)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(
        motion,
        unit_m=_metadata_number(root.metadata, "metersPerUnit", DEFAULT_UNIT_M),
        up=_up(root.metadata),
        fps_stated=rate is not None,
        clip="" if len(animations) < 2 or animation is None else animation.name,
        clips=tuple(each.name for each in animations) if len(animations) > 1 else (),
        detail=_detail(root.metadata),
        findings=tuple(findings),
    )


def _picked(animations: list[Prim], above: list[Prim], name: str | None) -> Prim | None:
    """The animation that was asked for, else the bound one, else the first."""
    if name is not None:
        for each in animations:
            if each.name == name:
                return each
        names = ", ".join(quoted(each.name) for each in animations[:20]) or "none"
        raise FormatError(f"No animation is called {quoted(name)}; there are: {names}.")
    for prim in above:
        bound = prim.properties.get("skel:animationSource")
        if bound is not None and isinstance(bound.value, str):
            path = text_of(bound.value)
            match = [each for each in animations if each.path == path]
            if match:
                return match[0]
    return animations[0] if animations else None


def _above(above: list[Prim], tokens: Tokens) -> tuple[FloatArray, list[Finding]]:
    """The matrix from the skeleton to the world, at the first frame."""
    world, findings = np.eye(4), []
    for prim in above:
        matrix, reset, moves = matrix_of(prim, tokens)
        world = matrix @ world
        if moves:
            problem = "Its animated transform above the skeleton is read at its first sample only."
            findings.append(Finding("warning", prim.path, problem, "Bake it into the root joint."))
        if reset:
            break
    return world, findings


def _motion(
    skeleton: UsdSkeleton,
    tracks: Tracks,
    world: FloatArray,
    fps: float,
    findings: list[Finding],
) -> Motion:
    """Scales folded into lengths, the transform above folded into the root."""
    sizes = np.linalg.norm(world[:3, :3], axis=0)
    size = float(sizes.mean())
    if not (np.isfinite(world).all() and sizes.min() > 1e-9):
        raise FormatError("The transform above the skeleton must be finite and not flat.")
    turn = quat.from_matrix(world[:3, :3] / sizes)
    uneven = float(np.ptp(sizes) / size)
    parents = np.array(skeleton.parents)
    scale = tracks.scales.mean(axis=(0, 2))
    uneven = max(uneven, float(np.abs(tracks.scales - scale[:, None]).max()))
    if uneven > EVEN_SCALE:
        problem = f"Scales differ by up to {uneven:.2g} over axes or frames; their mean is used."
        findings.append(Finding("warning", "scales", problem))
    total = np.full(len(parents), size)
    for j, parent in enumerate(parents):
        if parent >= 0:
            total[j] = total[parent] * scale[parent]
    places, rest = tracks.places * total[:, None], skeleton.places * total[:, None]
    turns, rest_turns = np.array(tracks.turns), np.array(skeleton.turns)
    if not np.array_equal(turn, quat.IDENTITY):
        for at in np.flatnonzero(parents < 0):
            places[:, at], rest[at] = quat.rotate(turn, places[:, at]), quat.rotate(turn, rest[at])
            turns[:, at] = quat.multiply(turn, turns[:, at])
            rest_turns[at] = quat.multiply(turn, rest_turns[at])
    for at in np.flatnonzero(parents < 0):
        places[:, at] += world[:3, 3]
        rest[at] += world[:3, 3]
    n_joints = len(parents) - skeleton.n_ends
    names = list(skeleton.names[:n_joints])
    ends = parents[n_joints:], rest[n_joints:]
    parents, rest, rest_turns = parents[:n_joints], rest[:n_joints], rest_turns[:n_joints]
    places, turns = places[:, :n_joints], turns[:, :n_joints]
    if np.count_nonzero(parents < 0) > 1:
        names, parents = [_free("root", names), *names], np.concatenate([[-1], parents + 1])
        ends = ends[0] + 1, ends[1]
        rest, places = _front(rest, np.zeros(3)), _front(places, np.zeros(3))
        rest_turns, turns = _front(rest_turns, quat.IDENTITY), _front(turns, quat.IDENTITY)
        findings.append(Finding("note", "skeleton", "Several roots; one joint was put above."))
    still = np.abs(places - rest).max(axis=(0, 2)) <= SLIDE * np.maximum(1.0, np.abs(rest).max())
    still[0] = True
    body = Skeleton(
        tuple(names), parents, rest, rest_turns, end_parents=ends[0], end_offsets=ends[1]
    )
    moving = None if still.all() else np.where(still[:, None], rest, places)
    return Motion(body, places[:, 0], turns, fps, moving)


def _front(rows: FloatArray, first: FloatArray) -> FloatArray:
    """``rows`` (..., N, K) with one more in front."""
    shape = (*rows.shape[:-2], 1, rows.shape[-1])
    return np.concatenate([np.broadcast_to(first, shape), rows], axis=-2)


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _metadata_number(metadata: Mapping[str, Any], key: str, default: float | None) -> float | None:
    if key not in metadata or not isinstance(metadata[key], str):
        return default
    try:
        value = float(metadata[key])
    except ValueError:
        raise FormatError(f"{key} must be a number, got {quoted(metadata[key])}.") from None
    if not 1e-9 < value < 1e9:
        raise FormatError(f"{key} must be above 0, got {value:g}.", where="layer")
    return value


def _rate(metadata: Mapping[str, Any]) -> float | None:
    rate = _metadata_number(metadata, "timeCodesPerSecond", None)
    return _metadata_number(metadata, "framesPerSecond", None) if rate is None else rate


def _up(metadata: Mapping[str, Any]) -> str:
    axis = metadata.get("upAxis")
    up = text_of(axis).lower() if isinstance(axis, str) else "y"
    if up not in ("y", "z"):
        raise FormatError(f"upAxis must be Y or Z, got {quoted(up)}.", where="layer")
    return up


def _detail(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    own = metadata.get("customLayerData")
    name = own.get("clip") if isinstance(own, dict) else None
    return MappingProxyType({"animation": text_of(name)} if isinstance(name, str) else {})


__all__ = ["flat_numbers", "read"]
