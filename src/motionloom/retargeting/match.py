"""match_clips(): clips on one skeleton and at one rate, so that one motion can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from motionloom._arrays import flag, items, of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.root_motion import travel_on_root
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.repair import resample_repaired
from motionloom.motion.motion import Footplants, Motion, contacts_for
from motionloom.retargeting.retarget import retarget

T = TypeVar("T")
Contacts = Footplants | Callable[[], Footplants]

SAME_M = 1e-3
"""Bones that differ by less have the same length: files round, and every take is fitted again."""
SAME_RATE = 1e-3


@dataclass(frozen=True, eq=False)
@record
class MatchedClips:
    """Clips on the first one's skeleton and at its rate, travelling on their roots.

    Attributes
    ----------
    motions : tuple of Motion
        The clips, in the order given.
    contacts : tuple of Contacts
        Contacts of every clip, or how they are detected; :attr:`footplants` has them detected.
    body : BodyMap
        Roles of the common skeleton's joints.
    notes : tuple
        What was changed in every clip.
    """

    motions: tuple[Motion, ...]
    contacts: tuple[Contacts, ...] = field(repr=False)
    body: BodyMap
    notes: tuple[tuple[str, ...], ...]

    @cached_property
    def first_footplants(self) -> Footplants:
        """Contacts of the first clip, at the common rate; detected when they are first read."""
        return _found(self.contacts[0])

    @cached_property
    def footplants(self) -> tuple[Footplants, ...]:
        """Contacts of every clip, at the common rate; detected when they are first read."""
        return (self.first_footplants, *map(_found, self.contacts[1:]))

    def named_notes(self, names: Sequence[str]) -> list[str]:
        """All notes, each with the name of its clip.

        Returns
        -------
        list of str
            One note each; empty if nothing was changed.
        """
        return [
            f"{name}: {note}"
            for name, notes in zip(names, self.notes, strict=True)
            for note in notes
        ]


def match_clips(
    motions: Sequence[Motion],
    *,
    footplants: Sequence[Footplants | None] | None = None,
    body: BodyMap | None = None,
    bodies: Sequence[BodyMap | None] | None = None,
    names: Sequence[str] | None = None,
    match: bool = True,
) -> MatchedClips:
    """Clips on the first one's skeleton and at its rate.

    Other rates are resampled and other skeletons retargeted. Where the hips carry a clip's travel
    under a root bone that stands, the travel moves to the root bone.

    Parameters
    ----------
    motions
        One or more clips; the first decides skeleton and rate.
    footplants
        Contacts of every clip in its own frames; detected where not given.
    body
        Roles of the first clip's joints, and of others with the same joints; guessed where not
        given.
    bodies
        Roles of every clip's joints, in place of ``body``.
    names
        Names of the clips in notes and errors; A, B, C by default.
    match
        If False, clips with other joints raise an error and bones of other lengths stay.

    Returns
    -------
    MatchedClips
        The clips, their contacts, and notes on what was changed.

    Raises
    ------
    SkeletonMismatchError
        With ``match=False``, a clip has other joints than the first.

    Examples
    --------
    >>> from motionloom import resample, synthetic
    >>> walk, jog = synthetic.clip("walk").motion, synthetic.clip("jog").motion
    >>> matched = match_clips([walk, resample(jog, fps=60.0)])
    >>> matched.motions[1].fps == walk.fps
    True
    """
    clips = items(motions, "motions", "motions")
    if not clips:
        raise ArrayError("`motions` must have one clip or more, got none.")
    for k, clip in enumerate(clips):
        of_kind(clip, Motion, f"motions[{k}]")
    match = flag(match, "match")
    first, n = clips[0], len(clips)
    contacts = _one_each(footplants, n, "footplants")
    named = clip_names(n)
    if names is not None:
        named = [of_kind(name, str, "names") for name in _one_each(names, n, "names")]
    if bodies is None:
        roles = roles_for(first.skeleton, body, motion=first)
        own = [roles if clip.skeleton.same_joints(first.skeleton) else None for clip in clips]
    else:
        own = _one_each(bodies, n, "bodies")
        for each in own:
            if each is not None:
                of_kind(each, BodyMap, "bodies")
        roles = roles_for(first.skeleton, own[0], motion=first)
    matched = [
        _Matching(clip, first, roles, named, k, match).matched(contacts[k], own[k])
        for k, clip in enumerate(clips)
    ]
    return MatchedClips(
        tuple(each[0] for each in matched),
        tuple(each[1] for each in matched),
        roles,
        tuple(each[2] for each in matched),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Matching:
    """One clip and what it is matched to."""

    clip: Motion
    first: Motion
    roles: BodyMap
    """Of the first clip's joints."""
    names: Sequence[str]
    number: int
    match: bool

    def matched(
        self, footplants: Footplants | None, body: BodyMap | None
    ) -> tuple[Motion, Contacts, tuple[str, ...]]:
        """The clip at the first one's rate and on its skeleton, its contacts, and notes."""
        motion, first, notes = self.clip, self.first, list[str]()
        if footplants is not None:
            contacts_for(footplants, motion.n_frames, f"footplants[{self.number}]")
        if body is None:
            body = BodyMap.guess(motion.skeleton, motion=motion)
        same_joints = motion.skeleton.same_joints(first.skeleton)
        if not (same_joints or self.match):
            ours, theirs = set(first.skeleton.names), set(motion.skeleton.names)
            differ = ", ".join(sorted(ours ^ theirs)[:6]) or "the order of joints"
            raise SkeletonMismatchError(
                f"{self.names[self.number]} has other joints than {self.names[0]} ({differ}), and "
                "match=False refuses clips that must be retargeted. Leave out match=False."
            )
        if abs(motion.fps - first.fps) > SAME_RATE * first.fps:
            motion, repairs = resample_repaired(motion, first.fps)
            notes += [*repairs, f"resampled from {self.clip.fps:g} to {first.fps:g} fps"]
            if footplants is not None:
                footplants = _resampled(footplants, self.clip, motion)
        if motion.fps != first.fps:
            motion = motion.replace(fps=first.fps)
        contacts = partial(_detected, motion, body) if footplants is None else footplants
        if self.match and not (same_joints and _same_lengths(motion, first)):
            what = "bones of other lengths" if same_joints else "another skeleton"
            notes.append(f"{what}: retargeted onto that of {self.names[0]}")
            contacts = _found(contacts)
            motion = retarget(motion, first, body=body, target_body=self.roles, footplants=contacts)
            notes += [
                f"retargeted, {finding.problem}"
                for finding in motion.source.findings
                if "failed check" in finding.problem
            ]
        # Blends place and turn bodies by their roots, and so does `verify`.
        travelling = motion
        if self.roles.pelvis:  # it hangs under a root bone
            travelling = travel_on_root(motion, body=self.roles)
        if travelling is not motion:
            notes.append(f"travel and heading moved to the root bone {motion.skeleton.names[0]}")
        return travelling, contacts, tuple(notes)


def _one_each(values: Sequence[T | None] | None, n: int, name: str) -> list[T | None]:
    """A value for each clip, None where none is given."""
    if values is None:
        return [None] * n
    listed = items(values, name, "one entry per clip")
    if len(listed) != n:
        raise ArrayError(f"`{name}` must have one entry per clip ({n}), got {len(listed)}.")
    return list(listed)


def _found(contacts: Contacts) -> Footplants:
    return contacts if isinstance(contacts, Footplants) else contacts()


def _detected(motion: Motion, body: BodyMap) -> Footplants:
    if body.left_ankle is None or body.right_ankle is None:
        return Footplants(np.zeros((motion.n_frames, 4), dtype=bool))
    return detect_footplants(motion, body=body)


def _resampled(footplants: Footplants, before: Motion, after: Motion) -> Footplants:
    """Contacts of the frames nearest to those of a resampled clip."""
    rows = np.round(np.arange(after.n_frames) * before.fps / after.fps).astype(int)
    return Footplants(footplants.planted[np.minimum(rows, before.n_frames - 1)])


def _same_lengths(a: Motion, b: Motion) -> bool:
    """Whether all bones of two clips with the same joints have one length, except sliding ones."""
    slides, offsets = np.zeros(a.skeleton.n_joints, dtype=bool), []
    for motion in (a, b):
        moving = motion.joint_translations
        if moving is None:
            offsets.append(motion.skeleton.offsets)
        else:
            slides |= np.ptp(moving, axis=0).max(axis=-1) > SAME_M
            offsets.append(moving[0])
    apart = np.abs(offsets[0] - offsets[1]).max(axis=-1)
    apart[0] = 0.0  # the root has no bone
    return bool((apart[~slides] <= SAME_M).all())


def clip_names(count: int) -> list[str]:
    """Names of n clips in notes: A, B, C; numbers after Z."""
    return [chr(ord("A") + k) if k < 26 else str(k + 1) for k in range(count)]
