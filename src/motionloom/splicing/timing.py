"""Timing: the frame of the action that belongs to every frame of the locomotion.

Root and knees of both clips are matched as in registration, from the locomotion's first frame to an
open end, and the path is smoothed into strictly increasing times. An action without a gait keeps
its own time, or its strokes are put on steps where the caller asks for it. An action whose steps do
not fit, so that it would play far from its own rate, keeps its own time too.

Keeping step can ask for twice the action's rate. Where both clips walk alike that is their gait's
rate. In other frames it is a guess: nobody sees it while the arms hang or carry, but arms that
throw or lift would be rushed. There the rate is held back, and catches up as soon as the arms are
calm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from motionloom._arrays import FloatArray, IntArray, running_minimum
from motionloom._records import record
from motionloom.blending.loop import loop
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.errors import RegistrationError
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.registration.curve import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import (
    TimePath,
    distance_grid,
    find_end_path,
    fit_planar_alignment,
)
from motionloom.retargeting.match import MatchedClips
from motionloom.rotation import quat
from motionloom.splicing.beats import (
    find_steps,
    find_strokes,
    has_strokes,
    match_beats,
    times_on_beats,
)
from motionloom.splicing.gait_points import (
    comparable,
    gait_points,
    in_step,
    knees_ahead,
    marches,
    sureness,
    travels,
)

GRID_RATE = 30.0
"""Frames per second at which the clips are compared, as in a registration."""
KNOT_S = 0.27
"""Seconds between control points of the times, as in a registration."""
HALF_WINDOW = 2
"""Frames before and after that count in a comparison."""
STEADY_RATES = (0.65, 1.5)
"""An action that plays slower or faster than this in half of the frames looks slowed or hurried."""
SURE = 0.6
"""Clips whose knees swing less alike than this, by :func:`in_step`, are not in step. Most captured
walks matched to walks have 0.7 to 1, punches, kicks and cleaning matched to walks -0.3 to 0.5."""
LINGER_M = 0.02
"""Added to every distance, so that where the clips have no step in common, or stand, the action
keeps its own rate."""
START_S, AHEAD_S = 1.5, 2.0
"""Seconds by which the action may start late to be in phase, and seconds after it that decide."""
LEFT, LEFT_S = 0.6, 0.8
"""Share and seconds of the action that must remain after a late start."""
NEARLY = 1.25
"""An earlier start is taken if the clips are in step that nearly as well as from the best."""
MOST = 1.25
"""Fastest arm in the splice, against the action's own fastest."""
FASTEST, SLOWEST = 1.95, 0.52
"""Bounds of the rate, a little inside twice and half the action's own."""
CALM = 1e-3
"""Radians per frame below which an arm is still."""
EASE_S = 0.1
"""Seconds over which one rate goes over into another."""
UNSEEN = np.radians(230.0)
"""Radians per second: a joint that is slower may be hurried, for it stays below 300 degrees."""
SHORTEST_M = 0.01
"""Shorter bones have no usable direction, metres."""
IN_THE_WORLD = 1.1
"""Bones of the arms in the world may be hurried less than joints by this factor, because the torso
that carries them sways with the locomotion and adds to their speed."""
CAP, SLOWED = 0.95, 0.75
"""An arm that is too fast in the splice is slowed to the first times its limit, but the action
never runs slower than the second times its own rate for it."""
_WRISTS = ("left_wrist", "right_wrist")
_ARMS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("shoulder", "elbow"))
FEWEST_LOOPED = 4
"""Frames of the shortest action that can be repeated."""
OWN_TIME = "one of the clips does not walk: the action keeps its own time"
NOT_IN_STEP = "the steps of the clips do not fit: the action keeps its own time"
ALIGN = "; align=True puts its strokes on steps"
NO_BEATS = "no stroke of the hands fits a step of the legs: the action keeps its own time"


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


def action_times(
    upper: Motion,
    lower: Motion,
    matched: MatchedClips,
    notes: list[str],
    *,
    is_matched: bool,
    when_short: str,
    align: bool,
    has_hands: bool,
) -> tuple[Motion, UpperTimes]:
    """Time the action: the action, looped if asked for, and its frame at each of the locomotion's.

    Parameters
    ----------
    upper, lower
        The action and the locomotion, repaired.
    matched
        Both clips as they were matched; the locomotion's contacts are detected only if needed.
    notes
        Gets the frames that are looped, and why an action keeps its own time.
    is_matched
        False for copied joints: frame by frame.
    when_short
        What to do if the action ends before the locomotion: crop, loop or hold.
    align
        Whether strokes of an action without a gait are put on steps.
    has_hands
        Whether the spliced part has hands, which may strike.
    """
    if when_short == "loop" and upper.n_frames < FEWEST_LOOPED:
        raise RegistrationError(
            f"An action must have at least {FEWEST_LOOPED} frames to loop, got {upper.n_frames}. "
            "Use a longer action, or when_short='hold'."
        )
    body = matched.body

    def times_of(action: Motion) -> UpperTimes:
        if not is_matched:
            return own_times(lower, action)
        times = find_upper_times(lower, action, body)
        if times.kept_own_time and align:
            return find_beat_times(lower, action, matched.first_footplants, body) or times
        return times

    times = times_of(upper)
    if when_short == "loop" and len(times.frames) < lower.n_frames:
        upper, lap = _lengthened(upper, lower, notes)
        times = replace(times_of(upper), lap=lap)
    if times.kept_own_time and is_matched:
        reason = OWN_TIME if times.in_step is None else NOT_IN_STEP
        if align:
            reason = NO_BEATS
        elif has_hands and goes(lower, body) and has_strokes(upper, body):
            may_align = find_beat_times(lower, upper, matched.first_footplants, body) is not None
            reason += ALIGN if may_align else ""
        notes.append(reason)
    times = _held_on(times, lower, when_short)
    if len(times.frames) < 2:
        raise RegistrationError(
            "No frames are left that both clips have. Use a longer action or locomotion."
        )
    return upper, times


def own_times(lower: Motion, upper: Motion) -> UpperTimes:
    """The action at its own rate from its first frame, as long as both last."""
    n = min(lower.n_frames, upper.n_frames)
    frames = np.arange(n, dtype=np.float64)
    path = np.stack([frames, frames], axis=-1).astype(np.int64)
    return UpperTimes(frames, path, np.zeros((0, 0)), 1, 0, True, False)


def find_upper_times(lower: Motion, upper: Motion, body: BodyMap) -> UpperTimes:
    """Find times of the action that keep step with the locomotion.

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


def first_in_phase(cost: FloatArray, distance: FloatArray, fps: float) -> int:
    """Find the frame of the action that meets the locomotion's first frame.

    The first frame that is nearer than its neighbours can be half a stride off, because legs that
    pass each other look alike. So the next ones are tried too, and the first of them is taken
    from which both clips go on nearly as well in step as from the best.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames of locomotion and action.
    distance : (m,)
        Distances of the locomotion's first frame alone.
    fps
        Their rate.
    """
    m, ahead = len(distance), round(AHEAD_S * fps)
    latest = min(START_S * fps, m - max(LEFT * m, LEFT_S * fps))
    starts = [k for k in _nearest(distance) if k <= latest]
    if len(starts) < 2:
        return _nearest(distance)[0]
    means = []
    for start in starts:
        path = open_path(cost[:ahead, start : start + ahead])
        means.append(path.cost / (path.cells[-1].sum() + 2))
    return next(k for k, mean in zip(starts, means, strict=True) if mean <= NEARLY * min(means))


def _nearest(distance: FloatArray) -> list[int]:
    """Frames that are nearer than their neighbours; the nearest of all where there is none."""
    inner = range(len(distance) - 1)
    near = [
        k
        for k in inner
        if distance[k] < distance[k + 1] and (k == 0 or distance[k] <= distance[k - 1])
    ]
    return near or [int(np.argmin(distance))]


def open_path(cost: FloatArray) -> TimePath:
    """The path from the first frames of both clips to an open end."""
    least = min(cost.shape) // 2
    return find_end_path(cost + LINGER_M**2, slope_limit=1, at_least=max(least, 2), per_frame=True)


def _smooth_times(cells: IntArray, lower: Motion, first: int, stride: int) -> FloatArray:
    """Fit a spline through the path: the action's frame at each frame of the locomotion. (N,)."""
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


def _go_on(spline: Spline, t: FloatArray) -> FloatArray:
    """Times of the second clip at times ``t`` of the first; past the curve's end at its last rate.

    Clips seldom end on a compared frame, and the frames after it belong to them too.
    """
    last, (rate, rate_upper) = spline(spline.u_end), spline.slope(spline.u_end)
    inside = spline(spline.inverse(0, np.minimum(t, last[0])))[:, 1]
    return np.asarray(inside + np.maximum(t - last[0], 0.0) * rate_upper / rate)


def unrushed(
    frames: FloatArray,
    upper: Motion,
    lower: Motion,
    body: BodyMap,
    *,
    sure: FloatArray,
    caps: FloatArray | None = None,
) -> FloatArray:
    """Times near ``frames`` at which no arm is rushed; ``frames`` itself where none is. (M,).

    M is N, or less where the action ends before.

    Parameters
    ----------
    frames : (N,)
        Frame of the action at every frame of the splice, increasing.
    upper
        The action.
    lower
        The locomotion, whose arms and head may be faster than the action's.
    body
        Which joint is which.
    sure : (N,)
        Where the rate is the gait's own, 1: there a joint may turn as fast as in either clip.
        Where the rate is a guess, 0: there no arm may turn faster than the action's fastest.
    caps : (F - 1,)
        Highest rate at every frame of the action, from :func:`rate_caps`; none by default.
    """
    ease = min(max(1, round(EASE_S * upper.fps)), len(frames) - 1)
    if ease < 1:
        return frames
    used = slice(int(frames[0]), max(int(np.ceil(frames[-1])), int(frames[0]) + 1))
    joints = _joints(body, (*_ARMS, *_WRISTS, "neck", "head"))
    turns, others = (_all_turns(motion, joints, body) for motion in (upper, lower))
    own = np.maximum(turns[used].max(axis=0), others.max(axis=0))
    own = np.maximum(own, UNSEEN / upper.fps)
    own[len(joints) :] /= IN_THE_WORLD
    trusted = _fastest_rate(turns, own, ease)
    if caps is not None:
        trusted = np.minimum(trusted, caps)
    arms = arm_speeds(upper, body)[:, None]
    guessed = np.minimum(trusted, _fastest_rate(arms, np.maximum(arms[used].max(), CALM), ease))
    whole = np.minimum(frames[:-1].astype(np.int64), len(guessed) - 1)
    if np.all(np.diff(frames) <= guessed[whole] + sure[:-1] * (trusted - guessed)[whole]):
        return frames
    held = [float(frames[0])]
    for wanted, trust in zip(frames[1:].tolist(), sure.tolist(), strict=False):
        now = min(int(held[-1]), len(guessed) - 1)
        fastest = float(guessed[now] + trust * (trusted[now] - guessed[now]))
        held.append(held[-1] + min(max(wanted - held[-1], SLOWEST), fastest))
    times = eased(np.array(held), ease)
    times = times[times <= upper.n_frames - 1 + 1e-6]
    times[0] = frames[0]
    return np.minimum(times, upper.n_frames - 1.0)


def goes(motion: Motion, body: BodyMap) -> bool:
    """Whether the motion has a gait: it travels, or steps on the spot."""
    points = gait_points(motion, body)
    return travels(points, motion.fps) or marches(points, motion.fps)


def find_beat_times(
    lower: Motion, upper: Motion, footplants: Footplants, body: BodyMap
) -> UpperTimes | None:
    """Find times at which strokes of the action fall on steps; None if no stroke can be matched.

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


def _lengthened(upper: Motion, lower: Motion, notes: list[str]) -> tuple[Motion, tuple[int, int]]:
    """Repeat the action until it outlasts the locomotion at half its rate; return its lap too."""
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
    """Times that stay on the action's last frame until the locomotion ends, if ``how`` is hold."""
    missing = lower.n_frames - len(times.frames)
    if how != "hold" or missing <= 0:
        return times
    held = np.concatenate([times.frames, np.full(missing, times.frames[-1])])
    return replace(times, frames=held)


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


def rate_caps(
    spliced: Motion, frames: FloatArray, upper: Motion, lower: Motion, body: BodyMap
) -> FloatArray | None:
    """Rates at which arms of a splice would be no faster in the world than in the clips. (F - 1,).

    The torso under the arms is not the action's: its recoil from a punch is missing, and the hand
    is faster although the action runs at its own rate. None where no arm is too fast.

    Parameters
    ----------
    spliced
        The splice, N frames.
    frames : (N,)
        Frame of the action at every frame of the splice.
    upper, lower
        The action and the locomotion.
    body
        Which joint is which.
    """
    joints = _joints(body, (*_ARMS, *_WRISTS))
    if len(frames) < 3 or not joints:
        return None
    used = slice(int(frames[0]), max(int(np.ceil(frames[-1])), int(frames[0]) + 1))
    theirs, others = (_swings(motion, joints, body) for motion in (upper, lower))
    own = np.maximum(theirs[used].max(axis=0), others.max(axis=0))
    limit = np.maximum(own, UNSEEN / upper.fps)
    over = (_swings(spliced, joints, body) / limit).max(axis=-1)
    if over.max() <= 1.0:
        return None
    caps, rate = np.full(upper.n_frames - 1, np.inf), np.diff(frames)
    fast = np.flatnonzero(over > 1.0)
    at = np.minimum(frames[fast].astype(np.int64), len(caps) - 1)
    np.minimum.at(caps, at, np.maximum(CAP * rate[fast] / over[fast], SLOWED))
    ease = max(1, round(EASE_S * upper.fps))
    return running_minimum(caps, ease)


def arm_speeds(motion: Motion, body: BodyMap) -> FloatArray:
    """Turn of the arm joint that turns most, from every frame to the next, radians. (F - 1,)."""
    return np.asarray(_turns(motion, _joints(body, (*_ARMS, *_WRISTS))).max(axis=-1))


def _joints(body: BodyMap, roles: tuple[str, ...]) -> list[int]:
    return [j for j in (getattr(body, role) for role in roles) if j is not None]


def _turns(motion: Motion, joints: list[int]) -> FloatArray:
    """Angles by which joints turn from every frame to the next, radians. (F - 1, J)."""
    quats = motion.local_quats[:, joints]
    return quat.angle_between(quats[:-1], quats[1:])


def _all_turns(motion: Motion, joints: list[int], body: BodyMap) -> FloatArray:
    """Turns of the joints in their parents, then of the bones to them in the world. (F - 1, 2 J).

    Joints that turn slowly one on another add up to a fast hand.
    """
    return np.concatenate([_turns(motion, joints), _swings(motion, joints, body)], axis=-1)


def _swings(motion: Motion, joints: list[int], body: BodyMap) -> FloatArray:
    """Angles by which the bones to joints swing in the world, frame to frame. (F - 1, J)."""
    positions = motion.world_positions()
    named = {*body.spine, *(getattr(body, role) for role in ROLES if role != "spine")}
    starts = [_start_of_bone(motion.skeleton, joint, named) for joint in joints]
    bones = positions[:, joints] - positions[:, starts]
    bones = bones / np.maximum(np.linalg.norm(bones, axis=-1, keepdims=True), SHORTEST_M)
    apart = np.linalg.norm(np.diff(bones, axis=0), axis=-1)
    return np.asarray(2.0 * np.arcsin(np.minimum(0.5 * apart, 1.0)))


def _start_of_bone(skeleton: Skeleton, joint: int, named: set[int | None]) -> int:
    """The joint above; twist joints and others at the same place count only if ``named``."""
    start, bone = int(skeleton.parents[joint]), skeleton.offsets[joint]
    while start > 0 and np.linalg.norm(bone) < SHORTEST_M and start not in named:
        start, bone = int(skeleton.parents[start]), skeleton.offsets[start]
    return start


def _fastest_rate(turns: FloatArray, own: FloatArray | float, ease: int) -> FloatArray:
    """Playback rate at which no joint exceeds its limit within the frames around. (F - 1,).

    Parameters
    ----------
    turns : (F - 1, J)
        Angles from every frame to the next.
    own : (J,)
        Largest turn allowed to each joint at the action's own rate.
    ease
        Frames to either side that count.
    """
    padded = np.pad(turns, ((ease, ease), (0, 0)), mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * ease + 1, axis=0).max(axis=-1)
    rates = MOST * own / np.maximum(around, 1e-3 * CALM)
    return np.asarray(np.clip(rates.min(axis=-1), SLOWEST, FASTEST))


def eased(times: FloatArray, width: int) -> FloatArray:
    """Times averaged over a few neighbours; both ends stay."""
    before = 2.0 * times[0] - times[width:0:-1]
    after = 2.0 * times[-1] - times[-2 : -width - 2 : -1]
    window = np.hanning(2 * width + 3)[1:-1]
    return np.convolve(np.concatenate([before, times, after]), window / window.sum(), mode="valid")
