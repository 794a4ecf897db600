"""The floor a clip stands on: a plane through the balls of its planted feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.findings import Finding
from motionloom.intake.leg_tracks import LegTracks
from motionloom.motion.source import Floor

# How a planted ball scatters about a true floor, and how much feet and floors differ at all; all
# measured on CMU walks (plane and height per foot leave 0.0 to 5 mm; tilts of 0.1 to 0.45 degrees;
# left and right differ by up to 13 mm). As priors they hold what a clip's path cannot tell: the
# tilt across a straight path, which would otherwise trade against the difference of the feet.
SCATTER_M = 0.005
FOOT_DIFFERENCE_M = 0.004
SLOPE = 0.006
STEP_M = 0.035
"""A plant farther than this off the floor stands on something: a stair, a platform, a stool."""
KEPT_M = 0.002
"""A floor found earlier may be this much worse than a fresh fit and still be the floor."""
LOWER_SHARE = 0.15
"""Standing on a lower level for this part of the time makes it the floor."""
SUNK = 0.03
"""Share of frames that a ball may be far below its floor, by glitches and at edges."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plants:
    points: FloatArray
    """Where each planted ball stands. Shape (P, 3)."""
    side: FloatArray
    """+1 for left, -1 for right. Shape (P,)."""
    weight: FloatArray
    """Seconds, at most one. Shape (P,)."""


def fit_floor(tracks: LegTracks) -> tuple[Floor, int] | None:
    """The floor most of the plants stand on, and how many plants do not.

    None where the clip is too short to tell. Where no ball stands still (a clip that walks in
    place), the floor is level and as low as the lowest tenth of each ball's heights.
    """
    if len(tracks.balls) < 2:
        return None
    plants = _find_plants(tracks)
    inside = _largest_level(plants, tracks.balls[..., 1])
    if inside is None:
        return _lowest(tracks), 0
    for _ in range(3):
        floor, residuals = _fit_plane(plants, inside, SCATTER_M)
        closer = np.abs(residuals) < STEP_M
        if not closer.any() or np.array_equal(closer, inside):
            break
        inside = closer
    if floor.residual > SCATTER_M:
        # Plants that scatter more than usual say less about a tilt.
        floor, _ = _fit_plane(plants, inside, floor.residual)
    return floor, int(np.sum(~inside))


def still_fits(floor: Floor, fresh: Floor, tracks: LegTracks) -> bool:
    """Whether a floor that was found earlier is as good as a fresh fit, or nearly so.

    A clip that was cut still stands on the floor found under the whole of it, which tells more;
    one that was turned or moved does not.
    """
    plants = _find_plants(tracks)
    if not len(plants.points):
        gap = floor_heights(floor, tracks.balls) - floor_heights(fresh, tracks.balls)
        return bool(np.abs(gap).max() < KEPT_M)
    both = np.stack([plants.points, plants.points], axis=1)  # (P, 2, 3): as left and as right
    own = (np.arange(len(plants.side)), np.where(plants.side > 0, 0, 1))
    misses = [plants.points[:, 1] - floor_heights(plane, both)[own] for plane in (floor, fresh)]
    inside = np.abs(misses[1]) < STEP_M
    if not inside.any():
        return False
    old, new = (float(np.sqrt(np.mean(miss[inside] ** 2))) for miss in misses)
    return old <= 1.5 * new + KEPT_M


def floor_heights(floor: Floor, points: FloatArray) -> FloatArray:
    """Height of the floor under left and right points (..., 2, 3). Shape (..., 2)."""
    rise = floor.slope_x * points[..., 0] + floor.slope_z * points[..., 2]
    return np.asarray(rise + np.array([floor.left_height, floor.right_height]))


def floor_finding(floor: Floor, n_others: int, tracks: LegTracks) -> Finding:
    """What was fitted, in words, at the middle of the clip's path."""
    middle = tracks.balls.mean(axis=(0, 1))
    rise = floor.slope_x * middle[0] + floor.slope_z * middle[2]
    tilt = np.degrees(np.arctan(np.hypot(floor.slope_x, floor.slope_z)))
    text = (
        f"balls of the feet stand {100 * (floor.left_height + rise):.1f} cm (left) and "
        f"{100 * (floor.right_height + rise):.1f} cm (right) over y = 0, tilt {tilt:.2f} degrees"
    )
    if n_others:
        text += f"; {n_others} plants stand on something else"
    return Finding("note", "floor", f"{text}.", "ml.ground(motion) brings it to y = 0.")


def _find_plants(tracks: LegTracks) -> _Plants:
    """Where balls stand, and for how long."""
    points, side, weight = [], [], []
    for i, sign in enumerate((1.0, -1.0)):
        spans = tracks.standing[i]
        totals = np.concatenate([np.zeros((1, 3)), np.cumsum(tracks.balls[:, i], axis=0)])
        lengths = spans[:, 1] - spans[:, 0]
        points.append((totals[spans[:, 1]] - totals[spans[:, 0]]) / lengths[:, None])
        side.append(np.full(len(spans), sign))
        weight.append(np.minimum(lengths / tracks.fps, 1.0))
    return _Plants(np.concatenate(points), np.concatenate(side), np.concatenate(weight))


def _largest_level(plants: _Plants, balls: FloatArray) -> BoolArray | None:
    """Plants around the height at which most of the standing is done, or a lower one that counts.

    Who climbs stairs stands longest on some step, and the floor is what the stairs stand on.
    Heights that a ball often goes far below are no floor: a foot that walks in place is still for
    a moment at the top of its swing. None where no height is left.
    """
    heights, reach = plants.points[:, 1], 1.3 * STEP_M
    below = np.searchsorted(np.sort(balls, axis=None), heights - 2.0 * STEP_M)
    levels = np.flatnonzero(below < SUNK * balls.size)
    if not levels.size:
        return None
    # Sorted sums, not a table of all pairs, which a recording of hours would not fit into.
    order = np.argsort(heights)
    total = np.concatenate([[0.0], np.cumsum(plants.weight[order])])
    ends = np.searchsorted(heights[order], [heights - reach, heights + reach])
    support = np.round(total[ends[1]] - total[ends[0]], 6)
    best = levels[np.lexsort((heights[levels], -support[levels]))[0]]
    lower = heights < heights[best] - 2.0 * STEP_M
    lower &= support >= LOWER_SHARE * support[best]
    if lower.any():
        best = np.argmin(np.where(lower, heights, np.inf))
    return np.asarray(np.abs(heights - heights[best]) < reach)


def _fit_plane(plants: _Plants, inside: BoolArray, scatter: float) -> tuple[Floor, FloatArray]:
    weight = plants.weight * inside
    weight = weight / weight.sum()
    centre = weight @ plants.points
    across, height, along = (plants.points - centre).T
    columns = np.array([np.ones(len(weight)), plants.side, across, along])  # (4, P)
    # Seconds of standing, at most one a plant, count as that many sightings of the floor.
    sightings = columns * (weight * (plants.weight @ inside) / scatter**2)
    prior = np.diag([0.0, FOOT_DIFFERENCE_M**-2, SLOPE**-2, SLOPE**-2])
    solved = np.linalg.solve(sightings @ columns.T + prior, sightings @ height)
    residuals = height - solved @ columns
    level, difference, slope_x, slope_z = solved.tolist()
    origin = float(centre[1]) + level - slope_x * float(centre[0]) - slope_z * float(centre[2])
    residual = float(np.sqrt(weight @ residuals**2))
    return Floor(origin + difference, origin - difference, slope_x, slope_z, residual), residuals


def _lowest(tracks: LegTracks) -> Floor:
    heights = tracks.balls[..., 1]  # (N, 2)
    bound = np.quantile(heights, 0.1, axis=0)
    left, right = (heights[heights[:, i] <= bound[i], i] for i in range(2))
    spread = np.concatenate([left - left.mean(), right - right.mean()])
    return Floor(
        float(left.mean()), float(right.mean()), 0.0, 0.0, float(np.sqrt(np.mean(spread**2)))
    )
