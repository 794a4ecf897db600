"""Odd but constructible arguments: skeletons, motions, contacts and plain values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml

Random = np.random.Generator

FPS = (60.0, 60.0, 60.0, 30.0, 120.0, 1.0, 0.001, 1e6)
SHORT = 20
LENGTHS = (1, 2, 3, 5, 8, 20, 45, 90)
VALUES: tuple[Any, ...] = (
    None, 0, -1, 1, 2, 3, 10**9, 10**400, -(10**30), 0.0, -1.0, 1e-9, 0.1, 0.5, 1.5, 1e9, 1e300,
    float("nan"), float("inf"), float("-inf"), True, False, "", "x", "left_heel", b"x", (), [], {},
    (0, 0), (1, 2), (-1, 5), (10**9, 3), (0.5, 1.5), (1, 2, 3), [0.5, 0.5], [1.0, -1.0], [1.0],
    [float("nan"), 1.0], [[0.5, 0.5]] * 3, [None], ["a"], {"a": 1}, {"a": [1.0, 2.0]}, object(),
    slice(None), slice(5, 2), 1j, np.array([]), np.array([np.nan, 1.0]), np.zeros((2, 2)),
    np.array(["a"]), np.float32(0.5), np.int8(3),
)  # fmt: skip
"""Values that an argument may be given by mistake."""


def rigs() -> dict[str, ml.Skeleton]:
    """Every skeleton by name, real ones where the folder is present."""
    return {**_made_rigs(), **{name: clip.skeleton for name, clip in real_clips().items()}}


@cache
def _made_rigs() -> dict[str, ml.Skeleton]:
    person = ml.synthetic.skeleton()

    body = ml.BodyMap.guess(person)
    knee, ankle = body.left_knee, body.left_ankle
    assert knee is not None and ankle is not None
    hips = person.carried_by([j for j in (body.left_hip, body.right_hip) if j is not None])
    flat = np.array(person.offsets)
    flat[hips] = 0.0
    one_flat = np.array(person.offsets)
    one_flat[person.carried_by([knee])] = 0.0
    return {
        "person": person,
        "small person": ml.synthetic.skeleton(1.3),
        "huge": _scaled(person, 1e5),
        "tiny": _scaled(person, 1e-5),
        "next to nothing": _scaled(person, 1e-200),
        "zero-length legs": _with_offsets(person, flat),
        "a zero-length shank": _with_offsets(person, one_flat),
        "all zero": _with_offsets(person, np.zeros_like(person.offsets)),
        "one joint": ml.Skeleton(["root"], [-1], [[0, 0, 0]]),
        "one hip": ml.Skeleton(["Hips"], [-1], [[0, 0, 0]], end_parents=[0], end_offsets=[[0] * 3]),
        "two joints": ml.Skeleton(["Hips", "Spine"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]]),
        "no roles": _renamed(person, [f"j{j}" for j in range(person.n_joints)]),
        "no legs": _without(person, hips),
        "no left leg": _without(person, person.carried_by([int(body.left_hip or 0)])),
        "no feet": _without(person, [*person.carried_by([ankle]), *_feet(person, body)]),
        "legs only": _only(person, [0, *hips]),
        "rope": _rope(60),
        "star": _star(9),
        "turned rest": _turned(person),
    }  # fmt: skip


@cache
def real_clips() -> dict[str, ml.Motion]:
    """Short pieces of real clips, one per rig; none where the folder is absent."""
    folder = os.environ.get("MOTIONLOOM_MOCAP")
    found: dict[str, ml.Motion] = {}
    if not folder:
        return found
    suffixes = {"cmu_bvh": "*.bvh", "cmu_asfamc": "*.amc", "bandai_bvh": "*.bvh",
                "deepmimic_txt": "*.txt", "gltf": "*.glb"}  # fmt: skip
    for below, pattern in suffixes.items():
        for path in sorted((Path(folder) / below).glob(pattern))[:2]:
            try:
                clip = ml.load(path)
            except ml.MotionLoomError:
                continue
            found[f"{below}/{path.name}"] = clip[: min(clip.n_frames, 90)]
            break
    return found


def _feet(person: ml.Skeleton, body: ml.BodyMap) -> list[int]:
    return [int(j) for j in person.carried_by([int(body.right_ankle or 0)])]


def _with_offsets(skeleton: ml.Skeleton, offsets: Any) -> ml.Skeleton:
    return ml.Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.rest_quats,
                       skeleton.end_parents, skeleton.end_offsets)  # fmt: skip


def _scaled(skeleton: ml.Skeleton, by: float) -> ml.Skeleton:
    return ml.Skeleton(skeleton.names, skeleton.parents, skeleton.offsets * by, skeleton.rest_quats,
                       skeleton.end_parents, skeleton.end_offsets * by)  # fmt: skip


def _renamed(skeleton: ml.Skeleton, names: list[str]) -> ml.Skeleton:
    return ml.Skeleton(names, skeleton.parents, skeleton.offsets)


def _turned(skeleton: ml.Skeleton) -> ml.Skeleton:
    quats = np.random.default_rng(2).normal(size=(skeleton.n_joints, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    return ml.Skeleton(skeleton.names, skeleton.parents, skeleton.offsets, quats)


def _without(skeleton: ml.Skeleton, joints: Iterable[int]) -> ml.Skeleton:
    gone = set(map(int, joints))
    return _only(skeleton, [j for j in range(skeleton.n_joints) if j not in gone])


def _only(skeleton: ml.Skeleton, joints: Iterable[int]) -> ml.Skeleton:
    kept = sorted(set(map(int, joints)))
    number = {-1: -1} | {joint: i for i, joint in enumerate(kept)}
    parents = [number[int(skeleton.parents[j])] for j in kept]
    return ml.Skeleton([skeleton.names[j] for j in kept], parents, skeleton.offsets[kept])


def _star(n: int) -> ml.Skeleton:
    offsets = np.random.default_rng(1).normal(size=(n, 3))
    return ml.Skeleton([f"Hips{j}" for j in range(n)], [-1] + [0] * (n - 1), offsets)


def _rope(n: int) -> ml.Skeleton:
    return ml.Skeleton([f"b{j}" for j in range(n)], range(-1, n - 1), [[0.0, 0.05, 0.0]] * n)


def _still(rng: Random, shape: tuple[int, int]) -> tuple[Any, Any]:
    frames, joints = shape
    return np.tile([0.0, 0.9, 0.0], (frames, 1)), np.tile([1.0, 0, 0, 0], (frames, joints, 1))


def _swaying(rng: Random, shape: tuple[int, int]) -> tuple[Any, Any]:
    frames, joints = shape
    time = np.arange(frames)[:, None, None] / 20.0
    axes = rng.normal(size=(1, joints, 3)) * 0.3
    quats = np.concatenate([np.ones((frames, joints, 1)), axes * np.sin(time + axes)], axis=-1)
    walk = np.stack([np.zeros(frames), np.full(frames, 0.9), np.arange(frames) / 40.0], axis=-1)
    return walk, quats / np.linalg.norm(quats, axis=-1, keepdims=True)


def _noise(rng: Random, shape: tuple[int, int]) -> tuple[Any, Any]:
    quats = rng.normal(size=(*shape, 4)) + 1e-3
    return rng.normal(size=(shape[0], 3)), quats / np.linalg.norm(quats, axis=-1, keepdims=True)


def _far(rng: Random, shape: tuple[int, int]) -> tuple[Any, Any]:
    root, quats = _swaying(rng, shape)
    return root * 10.0 ** rng.integers(3, 9), quats


def _beyond(rng: Random, shape: tuple[int, int]) -> tuple[Any, Any]:
    root, quats = _swaying(rng, shape)
    return root * 1e250, quats


MOVEMENTS: tuple[Callable[[Random, tuple[int, int]], tuple[Any, Any]], ...] = (
    _still, _swaying, _swaying, _swaying, _noise, _far, _beyond,
)  # fmt: skip


def good_clip(rng: Random) -> ml.Motion:
    """A walk, a jog or the like of one to two seconds on the synthetic rig."""
    kind = str(rng.choice(["walk", "jog", "stand", "sneak", "wave"]))
    return _synthetic(kind, float(rng.choice([30.0, 60.0])), int(rng.integers(3)))


@cache
def _synthetic(kind: str, fps: float, seed: int) -> ml.Motion:
    return ml.synthetic.clip(kind, duration_s=1.5, fps=fps, seed=seed).motion


def odd_motion(rng: Random, rig: ml.Skeleton | None = None) -> ml.Motion:
    """A motion on any skeleton; on ``rig`` where one is given."""
    if rig is None and rng.random() < 0.3:
        real = list(real_clips().values())
        chosen = bool(real) and rng.random() < 0.6
        clip = real[int(rng.integers(len(real)))] if chosen else good_clip(rng)
        first = int(rng.integers(clip.n_frames))
        return clip if rng.random() < 0.5 else clip[first : first + int(rng.choice(LENGTHS))]
    if rig is None:
        known = list(rigs().values())
        rig = known[int(rng.integers(len(known)))]
    n_frames = int(rng.choice(LENGTHS))
    root, quats = MOVEMENTS[int(rng.integers(len(MOVEMENTS)))](rng, (n_frames, rig.n_joints))
    moving = None
    if rng.random() < 0.1:
        moving = np.tile(rig.offsets, (n_frames, 1, 1)) + rng.normal(
            size=(n_frames, rig.n_joints, 3), scale=0.01
        )
    fps = float(rng.choice(FPS))
    if fps == 1.0 and n_frames > SHORT:  # minutes of noise at the other clip's rate take minutes
        root, quats, moving = root[:SHORT], quats[:SHORT], None
        n_frames = SHORT
    try:
        return ml.Motion(rig, root, quats, fps, joint_translations=moving)
    except ml.ArrayError:  # refused when it is made, which is fine
        return ml.Motion(rig, np.zeros((n_frames, 3)), quats, fps)


def odd_footplants(rng: Random, motion: ml.Motion) -> ml.Footplants:
    """Contacts of this motion, or of one of another length."""
    n_frames = motion.n_frames if rng.random() < 0.7 else int(rng.integers(0, 100))
    return ml.Footplants(rng.random((n_frames, 4)) < rng.choice([0.0, 0.3, 0.7, 1.0]))


def odd_body(rng: Random, motion: ml.Motion) -> ml.BodyMap:
    """Roles that this skeleton, another one, or none has."""
    if rng.random() < 0.3:
        return ml.BodyMap()
    if rng.random() < 0.5:
        return ml.BodyMap.guess(motion.skeleton)
    roles = {
        role: int(rng.integers(-2, motion.skeleton.n_joints + 2))
        for role in ("pelvis", "left_hip", "left_knee", "left_ankle", "right_hip", "right_knee",
                     "right_ankle", "neck", "head", "left_wrist")
    }  # fmt: skip
    return ml.BodyMap(**roles, spine=(1,))


def odd_value(rng: Random) -> Any:
    """Any value at all."""
    return VALUES[int(rng.integers(len(VALUES)))]
