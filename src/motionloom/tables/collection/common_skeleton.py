"""One skeleton for a collection: rigid bones, and clips on other skeletons carried over."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.body.anatomy import foot_offsets
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.root_motion import bones_above_pelvis, travel_on_root
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.files.reading import path_of
from motionloom.intake.load import load
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.retargeting.retarget import retarget
from motionloom.tables.collection.catalogue import Common
from motionloom.tables.collection.learned_plants import plants_by

SAME_M = 1e-3
"""Bones that differ by less are the same: files round, and every take is fitted again."""
KEY_M = 1e-4
"""Skeletons are compared by offsets rounded to this."""


def given_skeleton(value: object) -> Skeleton | Motion | None:
    """A skeleton as callers give it: itself, a clip on it, or a file of one."""
    if isinstance(value, str | Path):
        return load(path_of(value, "skeleton"))
    if value is not None and not isinstance(value, Skeleton | Motion):
        raise ArrayError(
            f"`skeleton` must be a skeleton, a motion on it, or a file, got {value!r:.80}."
        )
    return value


class Fitted(NamedTuple):
    """A clip on the common skeleton."""

    motion: Motion
    footplants: Footplants
    """Found on the skeleton that it was captured on."""
    notes: tuple[str, ...]


def make_rigid(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion with bones of constant length, and what was done to it, in words.

    In rigs that hang the pelvis under a root bone, the root bone is put into the pelvis and
    carries travel and heading, whichever bone carried them in the file; nothing below the pelvis
    moves. Other joints that slide keep their median place in their parent.
    """
    skeleton = motion.skeleton
    body = BodyMap.guess(skeleton, motion=motion)
    bones = bones_above_pelvis(skeleton, body)
    if motion.joint_translations is None and not bones:
        return motion, ()
    pelvis = body.pelvis if bones else None
    led = travel_on_root(motion, body=body) if bones else motion
    moving = led.joint_translations
    offsets = np.array(skeleton.offsets) if moving is None else np.median(moving, axis=0)
    offsets[0] = skeleton.offsets[0]
    if pelvis is not None:
        offsets[[*bones[1:], pelvis]] = 0.0
    rigid = motion.replace(
        skeleton=dataclasses.replace(skeleton, offsets=offsets),
        root_positions=led.root_positions if pelvis is None else led.world_positions()[:, pelvis],
        local_quats=led.local_quats,
        joint_translations=None,
    )
    notes = []
    if pelvis is not None:
        notes.append(f"travel and heading of {skeleton.names[pelvis]} put into {skeleton.names[0]}")
    if moving is not None:
        strays = np.linalg.norm(moving - offsets, axis=-1).max(axis=0)  # (J,)
        strays[[0, *([] if pelvis is None else [*bones[1:], pelvis])]] = 0.0
        worst = int(np.argmax(strays))
        if strays[worst] > SAME_M:
            notes.append(
                f"joints that slid by up to {100.0 * strays[worst]:.1f} cm "
                f"({skeleton.names[worst]}) made rigid"
            )
    return rigid, tuple(notes)


def root_in_pelvis(skeleton: Skeleton) -> Skeleton:
    """The skeleton with the bones above its pelvis of length zero, as :func:`make_rigid` makes."""
    body = BodyMap.guess(skeleton)
    if not body.pelvis:
        return skeleton
    offsets = np.array(skeleton.offsets)
    offsets[list(skeleton.chain(body.pelvis or 0)[1:])] = 0.0
    return dataclasses.replace(skeleton, offsets=offsets)


def skeleton_key(skeleton: Skeleton) -> str:
    """The same text for skeletons with the same joints and bones: ``joints-bones``."""
    joints = hashlib.blake2b("\n".join(skeleton.names).encode("utf-8"), digest_size=8)
    joints.update(skeleton.parents.astype("<i8").tobytes())
    bones = np.round(skeleton.offsets[1:] / KEY_M).astype("<i8").tobytes()
    return f"{joints.hexdigest()}-{hashlib.blake2b(bones, digest_size=8).hexdigest()}"


def by_frames(skeletons: Iterable[tuple[str, int]]) -> list[str]:
    """Keys of skeletons, the one that a collection should have first.

    Parameters
    ----------
    skeletons
        Of every clip its :func:`skeleton_key` and its number of frames.

    The joints (names and parents) that most frames have come first, and of those the bone lengths
    that most frames have: subjects of one rig differ in bone lengths, so a rig with many subjects
    is not outvoted by two clips of one subject on another rig.
    """
    frames: Counter[str] = Counter()
    clips: Counter[str] = Counter()
    for key, n in skeletons:
        for part in {key, key.partition("-")[0]}:
            frames[part] += n
            clips[part] += 1

    def rank(key: str) -> tuple[int, int, str]:
        return -frames[key], -clips[key], key

    keys = [key for key in frames if "-" in key]
    return sorted(keys, key=lambda key: (*rank(key.partition("-")[0]), *rank(key)))


def common_of(motion: Motion, body: BodyMap | None = None) -> Common:
    """What a collection on this clip's skeleton shares."""
    body = roles_for(motion.skeleton, body, motion=motion)
    body.require(
        "left_hip",
        "right_hip",
        "left_knee",
        "right_knee",
        "left_ankle",
        "right_ankle",
        task="a collection",
        skeleton=motion.skeleton,
    )
    return Common(motion.skeleton, body, foot_offsets(motion.skeleton, body=body, motion=motion))


def onto_common(
    motion: Motion, common: Common, example: Motion | Skeleton, *, plants_by_name: str
) -> Fitted:
    """A rigid motion on the common skeleton, retargeted where its own is another.

    ``example`` is the clip whose skeleton is the common one, which shows how its joints are
    twisted, or that skeleton alone. ``plants_by_name`` says how foot plants are found.
    """
    own, target = motion.skeleton, common.skeleton
    if own.same_joints(target):
        apart = bones_apart(own, target)
        if not apart.any():
            same = motion if own is target else motion.replace(skeleton=target)
            return Fitted(same, plants_by(plants_by_name, same, common.body), ())
        what = f"bones of other lengths ({own.names[int(np.flatnonzero(apart)[0])]} and more)"
        body = common.body
    else:
        what = f"another skeleton ({own.n_joints} joints, {target.n_joints} in the common one)"
        body = BodyMap.guess(own, motion=motion)
    plants = plants_by(plants_by_name, motion, body)
    moved = retarget(motion, example, body=body, target_body=common.body, footplants=plants)
    if moved.joint_translations is not None:
        raise SkeletonMismatchError(f"{motion!r} slides in its joints after retargeting.")
    return Fitted(moved, plants, (f"retargeted: {what}",))


def bones_apart(a: Skeleton, b: Skeleton) -> BoolArray:
    """Which joints of two skeletons with the same joints have other offsets. Shape (J,)."""
    apart = np.abs(a.offsets - b.offsets).max(axis=-1) > SAME_M
    apart[0] = False  # where the root rests is no bone
    return np.asarray(apart)
