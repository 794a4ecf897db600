"""Times of the action: matched, looped or held until the locomotion ends."""

from __future__ import annotations

import numpy as np

from motionloom.blending.loop import loop
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Motion
from motionloom.splicing.timing import UpperTimes, find_upper_times, own_times


def action_times(
    upper: Motion, lower: Motion, body: BodyMap, method: str, when_short: str, notes: list[str]
) -> tuple[Motion, UpperTimes]:
    """The action, looped where asked for, and its frame at every frame of the locomotion."""
    times = _times(upper, lower, body, method)
    if when_short == "loop" and len(times.frames) < lower.n_frames:
        upper = _lengthened(upper, lower, notes)
        times = _times(upper, lower, body, method)
    if times.kept_own_time and method != "naive":
        notes.append("one of the clips does not walk: the action keeps its own time")
    times = _held_on(times, lower, when_short)
    if len(times.frames) < 2:
        raise RegistrationError(
            "No frames are left that both clips have. Use a longer action or locomotion."
        )
    return upper, times


def _times(upper: Motion, lower: Motion, body: BodyMap, method: str) -> UpperTimes:
    return own_times(lower, upper) if method == "naive" else find_upper_times(lower, upper, body)


def _lengthened(upper: Motion, lower: Motion, notes: list[str]) -> Motion:
    """The action repeated until it outlasts the locomotion at half its rate."""
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
    return concatenate(laps).replace(name=upper.name)


def _held_on(times: UpperTimes, lower: Motion, how: str) -> UpperTimes:
    """Times that stay on the action's last frame until the locomotion ends, if asked for."""
    missing = lower.n_frames - len(times.frames)
    if how != "hold" or missing <= 0:
        return times
    held = np.concatenate([times.frames, np.full(missing, times.frames[-1])])
    return UpperTimes(held, times.path, times.cost, times.stride, times.first, times.kept_own_time)
