"""One skeleton for a collection: rigid bones, and clips on other skeletons carried over."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.feet import foot_offsets
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.retargeting.retarget import retarget
from motionloom.transitions.collecting.catalogue import Common
from motionloom.transitions.collecting.learned_plants import plants_by

__all__ = ["Fitted", "common_of", "make_rigid", "onto_common", "skeleton_key"]

SAME_M = 1e-3
"""Bones that differ by less are the same: files round, and captures are fitted anew each take."""
KEY_M = 1e-4
"""Skeletons are told apart by offsets rounded to this."""


class Fitted(NamedTuple):
    """A clip on the common skeleton."""

    motion: Motion
    footplants: Footplants
    """Found on the skeleton that it was captured on."""
    notes: tuple[str, ...]


def make_rigid(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion with bones of constant length, and what was done to it, in words.

    Rigs that hang the pelvis under a root bone and let it slide there (Bandai's) lose nothing: the
    root is put into the pelvis and carries the travel. Other joints that slide keep their median
    place in their parent.
    """
    moving = motion.joint_translations
    if moving is None:
        return motion, ()
    skeleton = motion.skeleton
    offsets = np.median(moving, axis=0)
    offsets[0] = skeleton.offsets[0]
    strays = np.linalg.norm(moving - offsets, axis=-1).max(axis=0)  # (J,)
    strays[0] = 0.0
    body = BodyMap.guess(skeleton, motion=motion)
    above = _chain_to_pelvis(skeleton, body)
    loose = [j for j in above if strays[j] > SAME_M]
    for j in loose:
        offsets[j] = 0.0
        strays[j] = 0.0
    rigid = dataclasses.replace(skeleton, offsets=offsets)
    notes = []
    local = motion.local_quats
    root = motion.root_positions
    if loose:
        pelvis = above[-1]
        was = motion.world_positions()[:, pelvis]
        own = Motion(rigid, np.zeros_like(root), local, motion.fps).world_positions()[:, pelvis]
        root = was - own
        notes.append(f"travel of {skeleton.names[pelvis]} put into {skeleton.names[0]}")
    made = motion.replace(
        skeleton=rigid, root_positions=root, local_quats=local, joint_translations=None
    )
    worst = int(np.argmax(strays))
    if strays[worst] > SAME_M:
        notes.append(
            f"joints that slid by up to {100.0 * strays[worst]:.1f} cm ({skeleton.names[worst]}) "
            "made rigid"
        )
    return made, tuple(notes)


def _chain_to_pelvis(skeleton: Skeleton, body: BodyMap) -> tuple[int, ...]:
    """Joints below the root down to the pelvis; none where the pelvis is the root."""
    return () if not body.pelvis else skeleton.chain(body.pelvis)[1:]


def skeleton_key(skeleton: Skeleton) -> str:
    """The same text for skeletons with the same joints and bones."""
    found = hashlib.blake2b("\n".join(skeleton.names).encode("utf-8"), digest_size=8)
    found.update(skeleton.parents.astype("<i8").tobytes())
    found.update(np.round(skeleton.offsets[1:] / KEY_M).astype("<i8").tobytes())
    return found.hexdigest()


def common_of(motion: Motion, body: BodyMap | None = None) -> Common:
    """What a collection on this clip's skeleton shares."""
    body = BodyMap.guess(motion.skeleton, motion=motion) if body is None else body
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
        apart = _bones_apart(own, target)
        if not apart.any():
            same = motion if own is target else motion.replace(skeleton=target)
            return Fitted(same, plants_by(plants_by_name, same, common.body), ())
        what = f"bones of other lengths ({own.names[int(np.flatnonzero(apart)[0])]} and more)"
        body = common.body
    else:
        what = f"another skeleton ({own.n_joints} joints, {target.n_joints} in the common one)"
        body = BodyMap.guess(own, motion=motion)
    plants = plants_by(plants_by_name, motion, body)
    carried = retarget(motion, example, body=body, target_body=common.body, footplants=plants)
    if carried.joint_translations is not None:
        raise SkeletonMismatchError(f"{motion!r} slides in its joints after retargeting.")
    return Fitted(carried, plants, (f"retargeted: {what}",))


def _bones_apart(a: Skeleton, b: Skeleton) -> BoolArray:
    """Which joints of two skeletons with the same joints have other offsets. Shape (J,)."""
    apart = np.abs(a.offsets - b.offsets).max(axis=-1) > SAME_M
    apart[0] = False  # where the root rests is no bone
    return np.asarray(apart)
