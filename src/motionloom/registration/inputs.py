"""What is registered, brought to one rate and checked: motions, plants, pairs of frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import finite, items, of_kind, positive
from motionloom.errors import ArrayError, RegistrationError, SkeletonMismatchError
from motionloom.features.footplants import detect_footplants
from motionloom.features.repair import repair_capture, resample_repaired
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.root_motion import travel_on_root

__all__ = ["check_settings", "fitting_motions", "plants_of", "repaired_motions"]

STEEPEST = 16
"""More steps in a row in one clip than this is no match any more."""


def check_settings(
    *,
    ends: str,
    slope_limit: int,
    epsilon: float,
    knot_s: float,
    window_s: float,
    cover: float,
    least_s: float,
) -> None:
    """Refuse what makes no curve, by name."""
    if not isinstance(ends, str) or ends not in ("open", "match"):
        raise ArrayError(f"`ends` must be 'open' or 'match', got {ends!r}.")
    whole = isinstance(slope_limit, int) and not isinstance(slope_limit, bool)
    if not whole or not 0 <= slope_limit <= STEEPEST:
        raise ArrayError(
            f"`slope_limit` must be a whole number from 0 to {STEEPEST}, got {slope_limit!r}."
        )
    positive(knot_s, "knot_s")
    positive(window_s, "window_s")
    for value, name in ((epsilon, "epsilon"), (cover, "cover")):
        if not 0.0 < positive(value, name) <= 1.0:
            raise ArrayError(f"`{name}` must lie above 0 and at most at 1, got {value!r}.")
    if finite(least_s, "least_s") < 0.0:
        raise ArrayError(f"`least_s` must not be negative, got {least_s!r}.")


def fitting_motions(
    motions: Sequence[Motion],
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
) -> tuple[list[Motion], list[str]]:
    """The motions on one rate, or a clear word about what does not fit."""
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
    first = travel_on_root(motions[0])
    clips, notes = [first], []
    if first is not motions[0]:
        notes.append("travel and heading moved to the root bone")
    for k, motion in enumerate(motions[1:], start=1):
        if not first.skeleton.same_joints(motion.skeleton):
            ours, theirs = set(first.skeleton.names), set(motion.skeleton.names)
            differ = ", ".join(sorted(ours ^ theirs)[:6]) or "the order of joints"
            raise SkeletonMismatchError(
                f"Motions must share one skeleton; motion {k} differs from motion 0 in {differ}. "
                "Use ml.retarget(motion, skeleton) first."
            )
        if abs(motion.fps - first.fps) > 1e-3 * first.fps:
            notes.append(f"motion {k} resampled from {motion.fps:g} to {first.fps:g} fps")
            motion, repairs = resample_repaired(motion, first.fps)
            notes += [f"motion {k}: {note}" for note in repairs]
        clips.append(travel_on_root(motion))
    for k, clip in enumerate(clips):
        if clip.n_frames < 3:
            raise RegistrationError(
                f"Motion {k} has {clip.n_frames} frames; three are the least for a curve."
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
    return clips, notes


def repaired_motions(
    clips: Sequence[Motion], body: BodyMap, notes: list[str], *, knees: bool
) -> list[Motion]:
    """The clips without single glitched frames and knees bent backwards; ``notes`` get what."""
    ready = []
    for k, clip in enumerate(clips):
        repaired = repair_capture(clip, body=body, knees=knees)
        notes += [f"motion {k}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
    return ready


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(isinstance(frame, int | np.integer) for frame in pair)
    )


def plants_of(
    clips: Sequence[Motion],
    given: Sequence[Motion],
    footplants: Sequence[Footplants] | None,
    body: BodyMap,
) -> list[Footplants]:
    """Plants of every motion at its rate now: detected, or those given, resampled with it."""
    if footplants is None:
        if body.left_ankle is None or body.right_ankle is None:
            return [Footplants(np.zeros((clip.n_frames, 4), dtype=bool)) for clip in clips]
        return [detect_footplants(clip, body=body) for clip in clips]
    footplants = items(footplants, "footplants", "Footplants, one per motion")
    if len(footplants) != len(clips):
        raise ArrayError(
            f"`footplants` must have one entry per motion ({len(clips)}), got {len(footplants)}."
        )
    for k, plants in enumerate(footplants):
        of_kind(plants, Footplants, f"footplants[{k}]")
    return [
        plants if plants.n_frames == clip.n_frames else _resampled(plants, was, clip)
        for plants, was, clip in zip(footplants, given, clips, strict=True)
    ]


def _resampled(plants: Footplants, was: Motion, now: Motion) -> Footplants:
    if plants.n_frames != was.n_frames:
        raise ArrayError(
            f"`footplants` must cover their motion ({was.n_frames} frames), got {plants.n_frames}."
        )
    at = np.round(np.arange(now.n_frames) * was.fps / now.fps).astype(np.int64)
    return Footplants(plants.planted[np.minimum(at, was.n_frames - 1)])
