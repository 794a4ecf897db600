"""A clip brought to another's rate and skeleton, so that the two can be made into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom.features.footplants import detect_footplants
from motionloom.features.repair import resample_repaired
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.root_motion import travel_on_root
from motionloom.retargeting.retarget import retarget

__all__ = ["Brought", "bring_to", "same_rate"]

SAME_M = 1e-3
"""Bones that differ by less are the same: files round, and captures are fitted anew each take."""
SAME_RATE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Brought:
    """A clip at another's rate and on its skeleton."""

    motion: Motion
    footplants: Footplants
    notes: tuple[str, ...]
    """What was done to bring it there, in words."""


def bring_to(
    motion: Motion,
    first: Motion,
    *,
    body: BodyMap,
    first_body: BodyMap,
    first_name: str,
    footplants: Footplants | None = None,
    retargeted: bool = True,
) -> Brought:
    """The clip at the first one's rate and on its skeleton, travelling on its root.

    Parameters
    ----------
    motion
        The clip.
    first
        Whose rate and skeleton it takes.
    body, first_body
        Roles of the joints of both.
    first_name
        What the notes call the first.
    footplants
        Plants of the clip, in its own frames; they go along to the other rate. Detected at that
        rate by default.
    retargeted
        Off, a clip on another skeleton is left alone, and whoever joins the two refuses.
    """
    notes = []
    if not same_rate(motion, first):
        captured = motion
        motion, repairs = resample_repaired(captured, first.fps)
        notes += [*repairs, f"resampled from {captured.fps:g} to {first.fps:g} fps"]
        if footplants is not None:
            footplants = _along(footplants, captured, motion)
    if footplants is None:
        footplants = detect_footplants(motion, body=body)
    same_joints = motion.skeleton.same_joints(first.skeleton)
    if retargeted and not (same_joints and _as_long(motion, first)):
        what = "bones of other lengths" if same_joints else "another skeleton"
        notes.append(f"{what}: retargeted onto that of {first_name}")
        motion = retarget(
            motion, first, body=body, target_body=first_body, footplants=footplants
        )  # fmt: skip
        notes += [
            f"retargeted, {finding.problem}"
            for finding in motion.source.findings
            if "failed check" in finding.problem
        ]
        body = first_body
    # Blends place and turn bodies by their roots, and `verify` compares results with sources so.
    led = travel_on_root(motion, body=body)
    if led is not motion:
        notes.append(f"travel and heading moved to the root bone {motion.skeleton.names[0]}")
    return Brought(led, footplants, tuple(notes))


def same_rate(a: Motion, b: Motion) -> bool:
    """Whether two clips have as many frames a second."""
    return abs(a.fps - b.fps) <= SAME_RATE * b.fps


def _along(footplants: Footplants, before: Motion, after: Motion) -> Footplants:
    """Plants of the frames nearest to those of a resampled clip."""
    rows = np.round(np.arange(after.n_frames) * before.fps / after.fps).astype(int)
    return Footplants(footplants.planted[np.minimum(rows, before.n_frames - 1)])


def _as_long(a: Motion, b: Motion) -> bool:
    """Whether all bones of two clips with the same joints have one length; sliding ones aside."""
    slides = np.zeros(a.skeleton.n_joints, dtype=bool)
    for motion in (a, b):
        if motion.joint_translations is not None:
            slides |= np.ptp(motion.joint_translations, axis=0).max(axis=-1) > SAME_M
    apart = np.abs(a.skeleton.offsets - b.skeleton.offsets).max(axis=-1)
    return bool((apart[~slides] <= SAME_M).all())
