"""The parts of an action put on the legs of a locomotion, at given times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part, carrying_spine, chain_between
from motionloom.splicing.lean import bend_turns, kept_twist, posture_turn
from motionloom.splicing.level_head import absorbers, steadied
from motionloom.splicing.posture import Posed, aligned_to, turned_about_hips
from motionloom.splicing.smoothing import sample_smoothly

SPATIAL = ("time+space", "full")
"""Methods that turn the torso to sway as the locomotion's."""
UP = np.array([0.0, 1.0, 0.0])


class Assembled(NamedTuple):
    """A splice and the action that it was made from, at the same times."""

    motion: Motion
    action: Posed


@dataclass(frozen=True, eq=False)
class Assembly:
    """Everything that a splice is made from, except the times of the action."""

    source: Motion
    """The action, repeated where it loops."""
    lower: Motion
    parts: Sequence[Part]
    body: BodyMap
    fastest: FloatArray
    """Rotation speed that each joint may reach, rad/s. (J,)"""
    method: str
    walks: bool = True
    """Whether the action was captured walking."""
    keep_bend: bool = False
    soft: bool = False
    keep_twist: bool = True

    def at(self, frames: FloatArray, *, steady_s: float | None = 0.0) -> Assembled:
        """The splice with these frames (N,) of the action.

        The head follows slow turns of the torso only: over a stride, and at least ``steady_s``
        seconds to either side. None leaves it on the torso as the action has it.
        """
        action = Posed.of(sample_smoothly(self.source, frames))
        legs = Posed.of(self.lower[: len(frames)])
        spliced = _put_on(legs.motion, action.motion, self.parts)
        if self.method in SPATIAL:
            for part in self.parts:
                spliced = self._turned(spliced, legs, action, part, steady_s)
        if self.soft:
            spliced = _softened(spliced, legs.motion, self.parts[0], self.body)
        return Assembled(spliced, action)

    def _turned(
        self, spliced: Motion, legs: Posed, action: Posed, part: Part, steady_s: float | None
    ) -> Motion:
        """The splice with one part's joint turned as the method says."""
        quats = np.array(spliced.local_quats)
        quats[:, part.joint] = aligned_to(legs, action, part)
        spliced = spliced.replace(local_quats=quats)
        if self.method == "full":
            quats = np.array(spliced.local_quats)
            quats[:, part.joint] = self._held(Posed.of(spliced), legs, action, part)
            spliced = spliced.replace(local_quats=quats)
        return steadied(
            spliced, legs.motion, action, part, self.body, fastest=self.fastest, steady_s=steady_s
        )

    def _held(self, spliced: Posed, legs: Posed, action: Posed, part: Part) -> FloatArray:
        """The part's joint with the action's posture, bends and twist given back. (N, 4)."""
        reference = spliced if part.is_trunk else legs
        turn = posture_turn(action, reference, part, self.body, walks=self.walks)
        if self.keep_bend:
            bends = bend_turns(action, reference, part, self.body, turn)
            turn = quat.multiply(bends, turn)
        if part.is_trunk and self.keep_twist:
            twist = kept_twist(action, spliced, self.body, walks=self.walks)
            turn = quat.multiply(quat.from_axis_angle(UP, twist), turn)
        return turned_about_hips(spliced, part, self.body, turn)


def on_captured_legs(spliced: Motion, legs: Motion, parts: Sequence[Part], body: BodyMap) -> Motion:
    """The splice on root and legs as captured, where it was made on a repaired trunk.

    Where captured hips twitch, the spine below the chest absorbs the twitch, as it does in
    captures: the chest keeps its rotation, and its place as far as the spine reaches. On a chest
    that twitches, shoulders and neck absorb it joint by joint.

    Parameters
    ----------
    spliced
        The splice on a locomotion whose frames may be repaired. N frames.
    legs
        The locomotion as captured, at least as long.
    parts
        What was taken from the action.
    body
        Which joint is which.
    """
    captured = _put_on(legs[: spliced.n_frames], spliced, parts)
    moved = (captured.root_positions != spliced.root_positions).any(axis=1)
    off = np.flatnonzero(moved | (captured.local_quats != spliced.local_quats).any(axis=(1, 2)))
    if not len(off):
        return captured
    skeleton, quats = spliced.skeleton, np.array(captured.local_quats)
    made, world = spliced.world_quats()[off], captured.world_quats()[off]
    for part in parts:
        column = absorbers(spliced, part, body)
        swing = _swings(spliced, captured, column[0], column[-1])[off]
        for joint in chain_between(skeleton, part.joint, column[-1]):
            parent = world[:, int(skeleton.parents[joint])]
            world[:, joint] = quat.multiply(parent, quats[off, joint])
            if joint not in column:
                continue
            if not part.is_trunk:
                share = np.full(len(off), 1.0 / (len(column) - column.index(joint)))
                world[:, joint] = quat.slerp(world[:, joint], made[:, joint], share)
            elif joint == column[-1]:
                world[:, joint] = made[:, joint]
            else:
                world[:, joint] = quat.multiply(swing, made[:, joint])
            quats[off, joint] = quat.multiply(quat.conjugate(parent), world[:, joint])
        quats[:, part.joints] = quat.make_continuous(quats[:, part.joints])
    return captured.replace(local_quats=quats)


def _swings(spliced: Motion, captured: Motion, foot: int, end: int) -> FloatArray:
    """Rotations of a spine that begins where ``captured`` has it, to where ``spliced`` ends it.

    Shape (F, 4). The spine keeps its length: hips that twitch along the spine take the chest with
    them.
    """
    target = spliced.world_positions()[:, end]
    made = target - spliced.world_positions()[:, foot]
    return quat.between_vectors(made, target - captured.world_positions()[:, foot])


def _put_on(legs: Motion, action: Motion, parts: Sequence[Part]) -> Motion:
    """The action's parts copied onto the locomotion, joint by joint."""
    quats = np.array(legs.local_quats)
    slides = legs.joint_translations is not None or action.joint_translations is not None
    moving = np.array(_offsets(legs)) if slides else None
    for part in parts:
        quats[:, part.joints] = action.local_quats[:, part.joints]
        if moving is not None:
            moving[:, part.joints] = _offsets(action)[:, part.joints]
    return legs.replace(local_quats=quats, joint_translations=moving)


def _softened(spliced: Motion, legs: Motion, part: Part, body: BodyMap) -> Motion:
    """Fade the spine from the locomotion's to the splice's; arms and head keep their place."""
    spine = [j for j in carrying_spine(legs.skeleton, body) if j in part.joints]
    column = chain_between(legs.skeleton, spine[0], spine[-1])
    world = spliced.world_quats()
    quats = np.array(spliced.local_quats)
    for k, joint in enumerate(spine):
        share = (k + 1.0) / (len(spine) + 1.0)
        quats[:, joint] = quat.slerp(
            legs.local_quats[:, joint], spliced.local_quats[:, joint], share
        )
    soft = spliced.replace(local_quats=quats)
    carried = soft.world_quats()
    quats = np.array(quats)
    for j in part.joints:
        parent = int(spliced.skeleton.parents[j])
        if j not in column and parent in column:
            quats[:, j] = quat.multiply(quat.conjugate(carried[:, parent]), world[:, j])
    return spliced.replace(local_quats=quats)


def _offsets(motion: Motion) -> FloatArray:
    if motion.joint_translations is not None:
        return motion.joint_translations
    still = np.array(motion.skeleton.offsets)
    still[0] = 0.0
    return np.broadcast_to(still, (motion.n_frames, *still.shape))
