"""When: the frame of the action that belongs to every frame of the locomotion.

Root and knees of both clips are matched as in registration, from the locomotion's first frame to an
open end, and the path is smoothed into strictly increasing times. An action without a gait keeps
its own time, or its strokes are put on steps where that is asked for. So does an action whose steps
do not fit, where it would play far from its own rate for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.distance import distance_grid, fit_planar_alignment
from motionloom.registration.splines import Spline, adjust_increasing, fit_spline
from motionloom.splicing.action_rate import EASE_S, MOST, SLOWEST, eased, rate_caps, unrushed
from motionloom.splicing.beats import find_steps, find_strokes, match_beats, times_on_beats
from motionloom.splicing.gait_points import (
    comparable,
    gait_points,
    in_step,
    knees_ahead,
    marches,
    sureness,
    travels,
)
from motionloom.splicing.in_phase import first_in_phase, open_path

GRID_RATE = 30.0
KNOT_S = 0.27
HALF_WINDOW = 2
"""Frames before and after that count in a comparison."""
STEADY_RATES = (0.65, 1.5)
"""An action that plays slower or faster than this in half of the frames looks slowed or hurried."""
SURE = 0.6
"""Clips whose knees swing less alike than this, by :func:`in_step`, are not in step. Most captured
walks matched to walks have 0.7 to 1, punches, kicks and cleaning matched to walks -0.3 to 0.5."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class UpperTimes:
    """The timing of a splice.

    Attributes
    ----------
    frames : array
        Frame of the upper clip, repeated where it loops, at every frame of the result. (N,)
    path : array of int
        Matched frames of lower and upper clip, at the rate they were compared. (P, 2)
    cost : array
        Distances of root and knees between all frames compared, square metres of a body with thighs
        of 0.45 m. (n, m)
    stride : int
        Frames of the clips per frame compared.
    first : int
        Frame of the upper clip that meets the lower clip's first.
    kept_own_time : bool
        True if the action has no gait to match and plays at its own rate.
    walks : bool
        True where both clips walk; False for an action that stands, also where it was aligned.
    in_step : float or None
        How alike the knees of both clips swing at the matched times, as a correlation; None where
        nothing was matched.
    lap : tuple of two int or None
        First and last frame of the part of the action that is repeated; None without a loop.
    """

    frames: FloatArray
    path: IntArray
    cost: FloatArray
    stride: int
    first: int
    kept_own_time: bool
    walks: bool = True
    in_step: float | None = None
    lap: tuple[int, int] | None = None

    @property
    def action_frames(self) -> FloatArray:
        """Frame of the action as it was given at every frame of the result. (N,)."""
        if self.lap is None:
            return self.frames
        first, last = self.lap
        return first + np.mod(self.frames, last - first)

    @property
    def rates(self) -> FloatArray:
        """Playback rates of the action, without those of a last frame that is held. (M,)."""
        rates = np.diff(self.frames)
        return rates[: np.flatnonzero(rates).max(initial=-1) + 1]

    @property
    def is_steady(self) -> bool:
        """Whether the action plays near its own rate in most frames."""
        (slowest, fastest), rates = STEADY_RATES, self.rates
        far = np.count_nonzero((rates < slowest) | (rates > fastest))
        return bool(2 * far < max(len(rates), 1))


def own_times(lower: Motion, upper: Motion) -> UpperTimes:
    """The action at its own rate from its first frame, as long as both last."""
    n = min(lower.n_frames, upper.n_frames)
    frames = np.arange(n, dtype=np.float64)
    path = np.stack([frames, frames], axis=-1).astype(np.int64)
    return UpperTimes(frames, path, np.zeros((0, 0)), 1, 0, True, False)


def goes(motion: Motion, body: BodyMap) -> bool:
    """Whether the motion has a gait: it travels, or steps on the spot."""
    points = gait_points(motion, body)
    return travels(points, motion.fps) or marches(points, motion.fps)


def find_upper_times(lower: Motion, upper: Motion, body: BodyMap) -> UpperTimes:
    """Times of the action that keep step with the locomotion.

    Parameters
    ----------
    lower, upper
        Clips on one skeleton at one rate.
    body
        Which joint is which.
    """
    below, above = gait_points(lower, body), gait_points(upper, body)
    going = [travels(points, lower.fps) for points in (below, above)]
    if not all(g or marches(p, lower.fps) for g, p in zip(going, (below, above), strict=True)):
        return own_times(lower, upper)
    stride = max(1, round(lower.fps / GRID_RATE))
    below, above = (
        comparable(points[::stride], lower.fps / stride, travel=all(going))
        for points in (below, above)
    )
    weights = np.ones(below.shape[1])
    grid = distance_grid(below, above, weights, half_window=HALF_WINDOW)
    to_first = fit_planar_alignment(below[0], above, weights)[2]
    first = first_in_phase(grid.cost, to_first, lower.fps / stride)
    cost = grid.cost[:, first:]
    cells = open_path(cost).cells
    frames = _smooth_times(cells, lower, first, stride)
    frames = np.minimum(frames[frames <= upper.n_frames - 1 + 1e-6], upper.n_frames - 1.0)
    if len(frames) > 1 and np.diff(frames).max() > MOST:
        sure = sureness(below, above, frames[::stride] / stride, lower.fps / stride)
        frames = unrushed(frames, upper, lower, body, sure=np.repeat(sure, stride)[: len(frames)])
    path = cells + np.array([0, first])
    alike = in_step(knees_ahead(lower, body), knees_ahead(upper, body), frames)
    times = UpperTimes(frames, path, cost, stride, first * stride, False, in_step=alike)
    if alike < SURE and not times.is_steady:
        return replace(own_times(lower, upper), walks=True, in_step=alike)
    return times


def find_beat_times(
    lower: Motion, upper: Motion, footplants: Footplants, body: BodyMap
) -> UpperTimes | None:
    """Times at which strokes of the action fall on steps; None where there are none to match.

    Parameters
    ----------
    lower, upper
        Clips on one skeleton at one rate.
    footplants
        Of the locomotion.
    body
        Which joint is which.
    """
    fps = lower.fps
    steps, strokes = find_steps(footplants, fps), find_strokes(upper, body)
    pairs = match_beats(strokes, steps, lower.duration_s)
    if not pairs:
        return None
    knots = times_on_beats(pairs, lower.duration_s)
    frames = fps * np.interp(np.arange(lower.n_frames) / fps, knots[:, 0], knots[:, 1])
    frames = frames[frames <= upper.n_frames - 1 + 1e-6]
    frames = eased(frames, max(1, min(round(EASE_S * fps), len(frames) - 1)))
    frames = np.clip(frames, 0.0, upper.n_frames - 1.0)
    path = np.round(fps * np.array(pairs)).astype(np.int64)
    return UpperTimes(frames, path, np.zeros((0, 0)), 1, round(float(frames[0])), False, False)


def _smooth_times(cells: IntArray, lower: Motion, first: int, stride: int) -> FloatArray:
    """Frame of the action at every frame of the locomotion, by a spline through the path. (N,)."""
    if len(cells) < 3:
        raise RegistrationError(
            "Nothing of the action is left after its start was matched to the locomotion's. "
            "Use a longer action, or method='naive'."
        )
    path = cells.astype(np.float64)
    along = path.mean(axis=1) - path[0].mean()
    n_points = 2 + max(1, int(np.ceil(along[-1] / max(KNOT_S * lower.fps / stride, 1.0))))
    u = along / along[-1] * (n_points - 2)
    ends = path[[0, -1]]
    spline = fit_spline(u, path, n_points, ends=ends)
    spline = adjust_increasing(spline, epsilon=SLOWEST, ends=ends)
    t = np.arange(min(lower.n_frames, int(ends[1, 0] + 1) * stride)) / stride
    return np.asarray(stride * (_go_on(spline, t) + first))


def slowed_times(
    times: UpperTimes, spliced: Motion, upper: Motion, lower: Motion, body: BodyMap
) -> UpperTimes | None:
    """Times at which the arms of the splice ``spliced`` are slower; None where none is too fast."""
    if times.kept_own_time:
        return None
    caps = rate_caps(spliced, times.frames, upper, lower, body)
    if caps is None:
        return None
    sure = np.full(len(times.frames), float(times.walks))
    frames = unrushed(times.frames, upper, lower, body, sure=sure, caps=caps)
    return replace(times, frames=frames)


def _go_on(spline: Spline, t: FloatArray) -> FloatArray:
    """Times of the second clip at times ``t`` of the first; past the curve's end at its last rate.

    Clips seldom end on a frame that was compared, and the frames after it are theirs too.
    """
    last, (rate, rate_upper) = spline(spline.u_end), spline.slope(spline.u_end)
    inside = spline(spline.inverse(0, np.minimum(t, last[0])))[:, 1]
    return np.asarray(inside + np.maximum(t - last[0], 0.0) * rate_upper / rate)
