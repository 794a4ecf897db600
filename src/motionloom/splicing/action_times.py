"""Times of the action: matched, looped or held until the locomotion ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from motionloom.blending.loop import loop
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Motion
from motionloom.splicing.beats import has_strokes
from motionloom.splicing.timing import (
    UpperTimes,
    find_beat_times,
    find_upper_times,
    goes,
    own_times,
)

OWN_TIME = "one of the clips does not walk: the action keeps its own time"
NOT_IN_STEP = "the steps of the clips do not fit: the action keeps its own time"
ALIGN = "; align=True puts its strokes on steps"
NO_BEATS = "no stroke of the hands fits a step of the legs: the action keeps its own time"
FEWEST_LOOPED = 4
"""Frames of the shortest action that can be repeated."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How an action is timed."""

    is_matched: bool
    """False for copied joints: frame by frame."""
    when_short: str
    footplants: Callable[[], Footplants]
    """Contacts of the locomotion, which are detected only where they are needed."""
    align: bool = False
    """Whether strokes of an action without a gait are put on steps."""
    has_hands: bool = True
    """Whether what is spliced has hands, which may strike."""


def action_times(
    upper: Motion, lower: Motion, body: BodyMap, timing: Timing, notes: list[str]
) -> tuple[Motion, UpperTimes]:
    """The action, looped where asked for, and its frame at every frame of the locomotion."""
    when_short = timing.when_short
    if when_short == "loop" and upper.n_frames < FEWEST_LOOPED:
        raise RegistrationError(
            f"An action must have at least {FEWEST_LOOPED} frames to loop, got {upper.n_frames}. "
            "Use a longer action, or when_short='hold'."
        )
    times = _times(upper, lower, body, timing)
    if when_short == "loop" and len(times.frames) < lower.n_frames:
        upper, lap = _lengthened(upper, lower, notes)
        times = replace(_times(upper, lower, body, timing), lap=lap)
    if times.kept_own_time and timing.is_matched:
        notes.append(
            NO_BEATS if timing.align else _own_time_note(times, upper, lower, body, timing)
        )
    times = _held_on(times, lower, when_short)
    if len(times.frames) < 2:
        raise RegistrationError(
            "No frames are left that both clips have. Use a longer action or locomotion."
        )
    return upper, times


def _own_time_note(
    times: UpperTimes, upper: Motion, lower: Motion, body: BodyMap, timing: Timing
) -> str:
    """Why the action keeps its own time, and the remedy where there is one."""
    reason = OWN_TIME if times.in_step is None else NOT_IN_STEP
    may_help = timing.has_hands and goes(lower, body) and has_strokes(upper, body)
    if may_help and find_beat_times(lower, upper, timing.footplants(), body) is not None:
        return reason + ALIGN
    return reason


def _times(upper: Motion, lower: Motion, body: BodyMap, timing: Timing) -> UpperTimes:
    if not timing.is_matched:
        return own_times(lower, upper)
    times = find_upper_times(lower, upper, body)
    if times.kept_own_time and timing.align:
        return find_beat_times(lower, upper, timing.footplants(), body) or times
    return times


def _lengthened(upper: Motion, lower: Motion, notes: list[str]) -> tuple[Motion, tuple[int, int]]:
    """The action repeated until it outlasts the locomotion at half its rate, and which part is."""
    longest = upper.duration_s
    cycle = loop(upper, shortest_s=0.5 * longest, longest_s=longest, clean=False)
    wanted = 2 * lower.n_frames + cycle.motion.n_frames
    times = int(np.ceil(wanted / max(cycle.motion.n_frames - 1, 1)))
    lap, laps, place = cycle.motion[:-1], [], None
    for _ in range(times):
        laps.append(lap if place is None else transform(lap, place))
        place = cycle.closure if place is None else cycle.closure @ place
    first, last = cycle.span
    notes.append(f"the action loops over its frames {first} to {last}")
    return concatenate(laps).replace(name=upper.name), cycle.span


def _held_on(times: UpperTimes, lower: Motion, how: str) -> UpperTimes:
    """Times that stay on the action's last frame until the locomotion ends, if asked for."""
    missing = lower.n_frames - len(times.frames)
    if how != "hold" or missing <= 0:
        return times
    held = np.concatenate([times.frames, np.full(missing, times.frames[-1])])
    return replace(times, frames=held)
