"""Beats: strokes of an action that stands, put on steps of the legs.

Somebody who boxes or waves on the spot has no gait to match. The strokes of the hands can be in
step instead: each is put on a step, most on one of the opposite foot, as arms swing. The action
keeps its rate while it strikes, and the pauses in between are as long as the steps need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Footplants, Motion
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames

APART_S = 0.4
"""Least time between two strokes, and half of it between two steps of a foot."""
REACH_M = 0.12
"""How much farther than before and after it a hand reaches in a stroke."""
RATES = (0.6, 1.6)
"""Bounds of the mean rate between two strokes."""
STRIKE_S = (0.3, 0.15)
"""Seconds before and after a stroke that keep their rate."""
RATE_COST, SKIPPED, SAME_SIDE, CROPPED = 2.0, 0.5, 0.1, 0.5
"""Costs of a rate (times its logarithm squared, per second), of a stroke without a step, of a
stroke on a step of the same side, and of each second lost before the first stroke."""
MOST_CROPPED_S = 1.5
"""Seconds that may be lost before the first stroke."""
_Link = tuple[float, tuple[int, int] | None]
"""Cost of a stroke on a step, and the stroke and step before it."""


class Beat(NamedTuple):
    """A stroke of a hand or a step of a foot."""

    time_s: float
    side: str


def find_strokes(motion: Motion, body: BodyMap) -> list[Beat]:
    """Moments at which a hand reaches farthest from where it mostly is."""
    roles = ("left_wrist", "right_wrist", "pelvis")
    left, right, pelvis = body.require(*roles, task="aligning an action")
    positions = motion.world_positions()
    hips = hip_frames(positions, body)
    near = max(1, round(APART_S * motion.fps))
    reaches = []
    for side, wrist in (("left", left), ("right", right)):
        seen = quat.rotate(hips, positions[:, wrist] - positions[:, pelvis])
        reach = np.linalg.norm(seen - np.median(seen, axis=0), axis=-1)
        reaches += [(float(reach[k]), Beat(k / motion.fps, side)) for k in _peaks(reach, near)]
    # The other hand recoils at the same time: of strokes that are near in time the farthest counts.
    strokes: list[Beat] = []
    for _, beat in sorted(reaches, reverse=True):
        if all(abs(beat.time_s - other.time_s) >= APART_S for other in strokes):
            strokes.append(beat)
    return sorted(strokes)


def _peaks(values: FloatArray, near: int) -> list[int]:
    """Frames that are the highest around and stand out on both sides."""
    peaks = []
    for k in range(1, len(values) - 1):
        around = values[max(0, k - near) : k + near + 1]
        before, after = values[max(0, k - 2 * near) : k], values[k + 1 : k + 2 * near + 1]
        highest = values[k] >= around.max() and values[k] > values[k - 1]
        if highest and values[k] - max(before.min(), after.min()) > REACH_M:
            peaks.append(k)
    return peaks


def has_strokes(motion: Motion, body: BodyMap) -> bool:
    """Whether hands strike; False for a body without wrists."""
    wrists = body.left_wrist is not None and body.right_wrist is not None
    return wrists and bool(find_strokes(motion, body))


def find_steps(footplants: Footplants, fps: float) -> list[Beat]:
    """Moments at which a foot comes down."""
    beats = []
    for side, columns in (("left", [0, 1]), ("right", [2, 3])):
        planted = np.asarray(footplants.planted[:, columns].any(axis=1))
        down = np.flatnonzero(planted[1:] & ~planted[:-1]) + 1
        last = -np.inf
        for frame in down.tolist():
            if frame / fps - last >= 0.5 * APART_S:
                beats.append(Beat(frame / fps, side))
            last = frame / fps
    return sorted(beats)


def match_beats(
    strokes: Sequence[Beat], steps: Sequence[Beat], duration_s: float
) -> list[tuple[float, float]]:
    """Times of steps and of the strokes on them, of the cheapest assignment in order of time.

    Parameters
    ----------
    strokes
        Of the action.
    steps
        Of the locomotion.
    duration_s
        How long the locomotion lasts.
    """
    best: dict[tuple[int, int], _Link] = {}
    for k, stroke in enumerate(strokes):
        for j, step in enumerate(steps):
            opposite = SAME_SIDE * (stroke.side == step.side)
            cheapest: _Link = (_lead_in(strokes, k, step.time_s), None)
            for (k0, j0), (cost, _) in best.items():
                if k0 < k and j0 < j:
                    gap = _rate_cost(
                        stroke.time_s - strokes[k0].time_s, step.time_s - steps[j0].time_s
                    )
                    cheapest = min(
                        cheapest,
                        (cost + gap + SKIPPED * (k - k0 - 1), (k0, j0)),
                        key=lambda link: link[0],
                    )
            if np.isfinite(cheapest[0]):
                best[k, j] = (cheapest[0] + opposite, cheapest[1])
    ends = [
        (cost + SKIPPED * _left_over(strokes, k, duration_s - steps[j].time_s), (k, j))
        for (k, j), (cost, _) in best.items()
    ]
    at: tuple[int, int] | None = min(ends)[1] if ends else None
    pairs = []
    while at is not None:
        pairs.append((steps[at[1]].time_s, strokes[at[0]].time_s))
        at = best[at][1]
    return pairs[::-1]


def _lead_in(strokes: Sequence[Beat], k: int, at_s: float) -> float:
    """Cost of beginning with stroke ``k`` on a step at that time."""
    crop = strokes[k].time_s - at_s
    if crop > MOST_CROPPED_S:
        return float("inf")
    lost = sum(stroke.time_s > max(crop, 0.0) for stroke in strokes[:k])
    if crop >= 0.0:
        return CROPPED * crop + SKIPPED * lost
    return _rate_cost(strokes[k].time_s, at_s) + SKIPPED * lost


def _rate_cost(own_s: float, result_s: float) -> float:
    """Cost of playing some seconds of the action in those of the result."""
    rate = own_s / max(result_s, 1e-9)
    if not RATES[0] <= rate <= RATES[1]:
        return float("inf")
    return float(RATE_COST * np.log(rate) ** 2 * result_s)


def _left_over(strokes: Sequence[Beat], k: int, rest_s: float) -> int:
    """Strokes after ``k`` without a step before the legs end."""
    return sum(stroke.time_s - strokes[k].time_s < rest_s for stroke in strokes[k + 1 :])


def times_on_beats(pairs: Sequence[tuple[float, float]], duration_s: float) -> FloatArray:
    """Knots (K, 2) of the times of result and action, which keeps its own rate around strokes."""
    step, stroke = pairs[0]
    begin = max(stroke - step, 0.0)
    knots = [(0.0, begin)]
    for k, (at, own) in enumerate(pairs):
        before = _room(knots[-1], (at, own), STRIKE_S[0])
        knots += [(at - before, own - before)] if before > 0.0 else []
        after = STRIKE_S[1]
        if k + 1 < len(pairs):
            after = min(after, 0.25 * (pairs[k + 1][0] - at), 0.25 * (pairs[k + 1][1] - own))
        knots.append((at + after, own + after))
    rest = max(duration_s - knots[-1][0], 0.0) + 1.0
    knots.append((knots[-1][0] + rest, knots[-1][1] + rest))
    return np.array(knots)


def _room(last: tuple[float, float], beat: tuple[float, float], wanted: float) -> float:
    """Seconds before a beat at its own rate, so that the rest is neither too fast nor too slow."""
    gap, own = beat[0] - last[0], beat[1] - last[1]
    for share in (1.0, 0.75, 0.5, 0.25):
        left, own_left = gap - share * wanted, own - share * wanted
        if left > 0.0 and RATES[0] * left <= own_left <= RATES[1] * left:
            return share * wanted
    return 0.0
