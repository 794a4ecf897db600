"""Clips ready to be registered: repaired, cut to cycles where asked, with what they must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, RegistrationError
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.edit import Frames, Spans, frames_of
from motionloom.motion.motion import Motion
from motionloom.registration.gait_cycles import GaitCycle, find_cycles
from motionloom.registration.grids import named_clip
from motionloom.retargeting.match import clip_names


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Clips, their contacts, and other constraints in frames."""

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    constraints: Mapping[str, tuple[Frames, ...]]
    """For every name the intervals of each clip, in its frames."""
    first_frames: tuple[int, ...]
    """Frame of each whole clip at which the clip begins: 0 unless it was cut to a cycle."""


def prepared(
    motions: Sequence[Motion],
    footplants: Sequence[Footplants],
    constraints: Sequence[Mapping[str, Spans]] | None,
) -> Prepared:
    """Clips with their constraints checked."""
    n = len(motions)
    if constraints is None:
        return Prepared(tuple(motions), tuple(footplants), {}, (0,) * n)
    if not isinstance(constraints, list | tuple) or len(constraints) != n:
        raise ArrayError(
            f"`constraints` must have one entry per motion ({n}), each a dictionary of intervals "
            f"by name, such as {{'hand': [(0.4, 1.2)]}}, got {constraints!r:.80}."
        )
    names: list[str] = []
    for k, each in enumerate(constraints):
        if not isinstance(each, Mapping):
            raise ArrayError(f"`constraints[{k}]` must be a dictionary, got {each!r:.80}.")
        for name in each:
            if not isinstance(name, str) or name in KINDS:
                raise ArrayError(
                    f"Names in `constraints[{k}]` must be texts other than {', '.join(KINDS)}, got "
                    f"{name!r}. Pass contacts of the feet as `footplants`."
                )
            if name not in names:
                names.append(name)
    spans = {
        name: tuple(
            frames_of(each.get(name, ()), motion, f"constraints[{k}][{name!r}]")
            for k, (each, motion) in enumerate(zip(constraints, motions, strict=True))
        )
        for name in names
    }
    return Prepared(tuple(motions), tuple(footplants), spans, (0,) * n)


def cut_to_cycles(
    clips: Prepared, body: BodyMap, notes: list[str], chosen: bool | Sequence[GaitCycle]
) -> Prepared:
    """Every clip cut to a cycle: the one given, else the one that closes best.

    ``notes`` get which frames are left, and which constraints lie outside them.
    """
    names = clip_names(len(clips.motions))
    cycles = []
    for k, (motion, plants) in enumerate(zip(clips.motions, clips.footplants, strict=True)):
        if isinstance(chosen, bool):
            try:
                cycle = find_cycles(motion, footplants=plants, body=body)[0]
            except RegistrationError as error:
                raise RegistrationError(f"{named_clip(clips.motions, k)}: {error}") from error
        else:
            cycle = chosen[k]
            if not 0 <= cycle.first < cycle.last < motion.n_frames:
                raise ArrayError(
                    f"`cycles[{k}]` must lie in its motion of {motion.n_frames} frames, got "
                    f"{cycle.first} to {cycle.last}. Find cycles at the rate of the first motion."
                )
        cycles.append(cycle)
        notes.append(f"{names[k]}: cut to its cycle of frames {cycle.first} to {cycle.last}")
    for name, per_clip in clips.constraints.items():
        for k, (each, cycle) in enumerate(zip(per_clip, cycles, strict=True)):
            notes += [
                f"{names[k]}: `{name}` at {low / clips.motions[k].fps:.2f} to "
                f"{high / clips.motions[k].fps:.2f} s is not held: it lies outside the cycle. "
                "Move it there, or choose another cycle."
                for low, high in each
                if low >= cycle.last or high <= cycle.first
            ]
    spans = {
        name: tuple(
            tuple(
                (max(low - cycle.first, 0.0), float(min(high, cycle.last) - cycle.first))
                for low, high in each
                if low < cycle.last and high > cycle.first
            )
            for each, cycle in zip(per_clip, cycles, strict=True)
        )
        for name, per_clip in clips.constraints.items()
    }
    return Prepared(
        tuple(m[c.frames] for m, c in zip(clips.motions, cycles, strict=True)),
        tuple(
            Footplants(np.array(p.planted[c.frames]))
            for p, c in zip(clips.footplants, cycles, strict=True)
        ),
        spans,
        tuple(cycle.first for cycle in cycles),
    )
