"""Limits of good and fair: the numbers behind every verdict, each with its reason.

A limit is either a property of the result's sources, or was measured on captured clips. A verdict
rates how far a result is from its sources, not its style.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.features.quality import Quality
from motionloom.motion.motion import Motion
from motionloom.registration.timewarp import distance_grid, point_cloud
from motionloom.studio.messages.answers import Verdict

Limits = tuple[float, float]

MOMENT_S = (0.1, 0.2)
"""A match is good if the clips differ by less than a body differs from itself this much later:
0.1 s is a few frames, 0.2 s is a fifth of a stride."""
SPEED: Limits = (1.0, 1.0)
"""Part of its limit that the fastest joint uses: the quality check fails above 1."""
SLIDE_CM: Limits = (1.0, 3.0)
"""Cleaned transitions and blends of captured clips do not slide, so a centimetre is a lot; captured
clips slide by 4 to 6 cm. Fair is 3 cm, or the slide of the sources where that is more: a result
with the feet of a captured clip is no worse than the clip."""
BALANCE_CM: Limits = (2.5, 10.0)
"""Added to the value of the sources: a quarter of a sole's width, and a whole one."""
CLEANUP_CM: Limits = (6.5, 15.0)
"""Farthest that any joint moved: the median and the largest of transitions between captured walks,
jogs and runs."""

MOST_ROWS = 48


def grade(value: float | None, limits: Limits) -> Verdict:
    """The verdict on a figure of which less is better."""
    if value is None or not np.isfinite(value):
        return "plain"
    return "good" if value <= limits[0] else "fair" if value <= limits[1] else "bad"


def moment_m(motions: Sequence[Motion], body: BodyMap) -> Limits:
    """How far the bodies move in :data:`MOMENT_S`, metres, for the slowest clip.

    Medians over each clip, with the bodies aligned as for a match of two clips.
    """
    medians = []
    for motion in motions:
        cloud = point_cloud(motion, body=body)
        half = max(1, round(0.085 * motion.fps))
        row = []
        for seconds in MOMENT_S:
            later = min(max(1, round(seconds * motion.fps)), motion.n_frames - 1)
            every = max(1, (motion.n_frames - later) // MOST_ROWS)
            first, then = cloud.points[:-later:every], cloud.points[later::every]
            n = min(len(first), len(then))
            cost = distance_grid(
                first[:n], then[:n], cloud.weights, half_window=max(1, half // every)
            ).cost
            row.append(float(np.median(np.sqrt(np.diagonal(cost)))))
        medians.append(row)
    near, far = np.min(medians, axis=0)
    return float(near), float(far)


def slide_limits_cm(sources: Sequence[Quality]) -> Limits:
    """Limits of the slide of planted points."""
    own = max([100.0 * q.slide_max_m for q in sources if q.slide_max_m is not None] or [0.0])
    return SLIDE_CM[0], max(SLIDE_CM[1], own)


def balance_limits_cm(sources: Sequence[Quality]) -> Limits:
    """Limits of the zero moment point outside the support: the sources' value and a margin."""
    own = max([100.0 * q.zmp_outside for q in sources if q.zmp_outside is not None] or [0.0])
    return own + BALANCE_CM[0], own + BALANCE_CM[1]
