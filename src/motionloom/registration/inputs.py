"""Input of a registration, matched and checked: motions, contacts, pairs of frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import of_kind
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.grids import named_clip
from motionloom.retargeting.match import MatchedClips, clip_names, match_clips


def matched_motions(
    motions: Sequence[Motion],
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
    *,
    footplants: Sequence[Footplants] | None,
    body: BodyMap | None,
    match: bool,
) -> tuple[MatchedClips, list[str]]:
    """The motions on one skeleton and at one rate, and notes on what was changed."""
    if not isinstance(motions, list | tuple):
        raise ArrayError(f"`motions` must be a list of motions, got {type(motions).__name__}.")
    for k, motion in enumerate(motions):
        of_kind(motion, Motion, f"motions[{k}]")
    if len(motions) < 2:
        raise ArrayError(f"`motions` must hold two or more motions, got {len(motions)}.")
    if not isinstance(pins, list | tuple):
        raise ArrayError(f"`pins` must be a list of pairs of frames, got {type(pins).__name__}.")
    if len(motions) > 2 and (at is not None or pins):
        raise ArrayError("`at` and `pins` are for two motions; register the pairs one by one.")
    matched = match_clips(motions, footplants=footplants, body=body, match=match)
    clips = matched.motions
    for k, clip in enumerate(clips):
        if clip.n_frames < 3:
            raise RegistrationError(
                f"{named_clip(clips, k)} has {clip.n_frames} frames; three are the least for a "
                "curve."
            )
    for pair in [*([at] if at is not None else []), *pins]:
        if not _is_pair(pair):
            raise ArrayError(f"Matched frames must be pairs of whole numbers, got {pair!r}.")
        for k in range(2):
            if not 0 <= pair[k] < clips[k].n_frames:
                raise ArrayError(
                    f"Matched frames must lie in their motions; {pair[k]} is not in motion {k} "
                    f"of {clips[k].n_frames} frames."
                )
    return matched, matched.named_notes(clip_names(len(motions)))


def repaired_motions(
    clips: Sequence[Motion], body: BodyMap, notes: list[str], *, knees: bool
) -> list[Motion]:
    """The clips without single glitched frames and knees bent backwards; ``notes`` get what."""
    ready = []
    for k, clip in enumerate(clips):
        repaired = repair_capture(clip, body=body, knees=knees)
        notes += [f"{clip_names(len(clips))[k]}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
    return ready


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(isinstance(frame, int | np.integer) for frame in pair)
    )
