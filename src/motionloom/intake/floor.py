"""The ground: the floor that a clip stands on, and bodies that are in the air.

The floor is fitted through the balls of planted feet, and levelled. Bodies may float over it;
flights tell the frame rate, because bodies fall with gravity.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, finite, of_kind
from motionloom._core import constant
from motionloom.body.anatomy import ball_height, foot_offsets, stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.masses import mass_segments
from motionloom.errors import ArrayError, MotionLoomError, SkeletonMismatchError
from motionloom.findings import Finding
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics, runs_of
from motionloom.motion.provenance import Floor
from motionloom.rotation import quat

LEVEL_M = 0.001
"""A clip whose floor is within this of level and in place is left alone."""
STEEPEST = 1e3
"""A floor that rises by more per metre is a wall."""
_UP = np.array([0.0, 1.0, 0.0])
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
TRACK_RATE = 120.0
"""Frames per second that are enough to see a foot stand or fly: short flights take a tenth."""
LEAST_TRACK_RATE = 30.0
ENOUGH_FRAMES = 1200
"""Frames that are enough to tell a floor and a rate: longer clips are looked at more thinly."""
LEAST_PLANT_S = 0.1


def ground(motion: Motion, *, floor: Floor | None = None, body: BodyMap | None = None) -> Motion:
    """The clip tilted level and raised or lowered so that its planted feet stand on y = 0.

    The balls of the feet come to stand at the height that a ball has over its sole, averaged over
    both feet: a captured left and right foot differ by up to 13 mm, and rigid bones cannot hide it.
    Steps and platforms stay as high over the floor as they were.

    Parameters
    ----------
    motion
        A clip of a body with two feet.
    floor
        The floor to level; by default the one found when the clip was loaded, or a new fit where
        the clip was moved since.
    body
        Which joint is which; guessed by default.

    Returns
    -------
    Motion
        The clip on y = 0; the same object where it stands there already.

    Examples
    --------
    >>> from motionloom import save, synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> raised = clip.replace(root_positions=clip.root_positions + [0.0, 0.2, 0.0])
    >>> shift = ground(raised).root_positions[:, 1] - clip.root_positions[:, 1]
    >>> bool(np.abs(shift).max() < 0.03)
    True
    """
    of_kind(motion, Motion, "motion")
    if floor is not None:
        of_kind(floor, Floor, "floor")
        for each in dataclasses.fields(Floor):
            finite(getattr(floor, each.name), f"floor.{each.name}")
        if max(abs(floor.slope_x), abs(floor.slope_z)) > STEEPEST:
            raise ArrayError(
                f"`floor` must rise by at most {STEEPEST:g} per metre, got {floor!r}. "
                "Leave it out to fit one."
            )
    roles = roles_for(motion.skeleton, body)
    roles.require("pelvis", "left_ankle", "right_ankle", task="grounding")
    tracks = track_legs(motion, roles)
    assert tracks is not None
    if floor is None:
        floor = _current_floor(motion, tracks)
    sole = ball_height(motion.skeleton, roles)
    middle = tracks.balls.mean(axis=(0, 1))
    if _is_level(floor, tracks.balls, sole):
        return motion
    level = _levelled(motion, floor, middle, sole)
    note = Finding("note", "floor", "tilted and shifted to y = 0 by ml.ground.")
    source = dataclasses.replace(
        motion.source, floor=_floor_after(floor, sole), findings=(*motion.source.findings, note)
    )
    return level.replace(source=source)


def _current_floor(motion: Motion, tracks: LegTracks) -> Floor:
    """The floor found when the clip was loaded, or a new one where the clip was moved since."""
    stored, fitted = motion.source.floor, fit_floor(tracks)
    if fitted is None:
        raise MotionLoomError(
            f"A clip must have at least 2 frames to find its floor, got {motion.n_frames}. "
            "Pass floor=."
        )
    return stored if stored is not None and still_fits(stored, fitted[0], tracks) else fitted[0]


def _is_level(floor: Floor, balls: FloatArray, sole: float) -> bool:
    """Whether nowhere under the clip the floor is more than a millimetre from y = 0."""
    under = floor.height + floor.slope_x * balls[..., 0] + floor.slope_z * balls[..., 2] - sole
    return bool(np.abs(under).max() < LEVEL_M)


def _levelled(motion: Motion, floor: Floor, middle: FloatArray, sole: float) -> Motion:
    normal = np.array([-floor.slope_x, 1.0, -floor.slope_z])
    q_level_world = quat.between_vectors(normal / np.linalg.norm(normal), _UP)
    # Turned about the point of the floor under the middle of the path: the clip stays where it is.
    pivot = np.array([middle[0], 0.0, middle[2]])
    pivot[1] = floor.height + floor.slope_x * pivot[0] + floor.slope_z * pivot[2]
    root = quat.rotate(q_level_world, motion.root_positions - pivot)
    root = root + pivot + (sole - pivot[1]) * _UP
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(q_level_world, quats[:, 0])
    return motion.replace(root_positions=root, local_quats=quats)


def _floor_after(floor: Floor, sole: float) -> Floor:
    apart = 0.5 * (floor.left_height - floor.right_height)
    return Floor(sole + apart, sole - apart, 0.0, 0.0, floor.residual)


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
    """Describe the fitted floor, at the middle of the clip's path."""
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

    A body that climbs stairs stands longest on some step, and the floor is lower than that.
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


@dataclass(frozen=True, eq=False)
class LegTracks:
    """Pelvis, ankles and balls of the feet in the world, every ``step``-th frame."""

    fps: float
    step: int
    pelvis: FloatArray
    """Shape (N, 3)."""
    ankles: FloatArray
    """Left and right. Shape (N, 2, 3)."""
    balls: FloatArray
    """Left and right. Shape (N, 2, 3)."""

    @cached_property
    def standing(self) -> tuple[IntArray, IntArray]:
        """Stretches in which the left and the right ball stand still for a body of that speed.

        First track frame and the one past the last. Shapes (P, 2).
        """
        span = max(1, round(0.03 * self.fps))
        body_speed = np.linalg.norm(_rate(self.pelvis[:, ::2], span, self.fps), axis=-1)
        limit = np.clip(0.2 * body_speed, 0.25, 1.5) ** 2
        left, right = (self._stretches(side, span, limit) for side in (0, 1))
        return left, right

    def _stretches(self, side: int, span: int, limit: FloatArray) -> IntArray:
        velocity = _rate(self.balls[:, side], span, self.fps)
        still = np.zeros(len(velocity) + 2, dtype=bool)
        still[1:-1] = np.einsum("fc,fc->f", velocity, velocity) < limit
        edges = np.flatnonzero(still[1:] != still[:-1]).reshape(-1, 2)
        return np.asarray(edges[edges[:, 1] - edges[:, 0] >= LEAST_PLANT_S * self.fps])


def track_legs(motion: Motion, body: BodyMap) -> LegTracks | None:
    """Tracks at 120 frames per second or less; None where no leg was made out."""
    pelvis, ankles = body.pelvis, (body.left_ankle, body.right_ankle)
    if pelvis is None or ankles[0] is None or ankles[1] is None:
        return None
    left, right = ankles[0], ankles[1]
    toes = (body.left_toe, body.right_toe)
    step = max(1, round(motion.fps / TRACK_RATE))
    step = max(step, min(-(-motion.n_frames // ENOUGH_FRAMES), int(motion.fps / LEAST_TRACK_RATE)))
    wanted = [pelvis, left, right, *(toe for toe in toes if toe is not None)]
    joints, part = _part(motion.skeleton, wanted)
    moving = motion.joint_translations
    positions, quats = forward_kinematics(
        part,
        motion.root_positions[::step],
        motion.local_quats[::step, joints],
        joint_translations=None if moving is None else moving[::step, joints],
    )
    at = {int(joint): i for i, joint in enumerate(joints)}
    balls = []
    for side, (ankle, toe) in enumerate(zip((left, right), toes, strict=True)):
        if toe is not None:
            balls.append(positions[:, at[toe]])
        else:
            ball = _ball(motion, body, side)
            balls.append(positions[:, at[ankle]] + quat.rotate(quats[:, at[ankle]], ball))
    return LegTracks(
        motion.fps / step,
        step,
        positions[:, at[pelvis]],
        positions[:, [at[left], at[right]]],
        np.stack(balls, axis=1),
    )


def _rate(values: FloatArray, span: int, fps: float) -> FloatArray:
    """Velocity over ``span`` frames before and after; one-sided at the ends."""
    n = len(values)
    padded = np.concatenate([values[:1]] * span + [values] + [values[-1:]] * span)
    at = np.arange(n)
    frames = np.minimum(at + span, n - 1) - np.maximum(at - span, 0)
    return (padded[2 * span :] - padded[:n]) * (fps / frames)[:, None]


def _ball(motion: Motion, body: BodyMap, side: int) -> FloatArray:
    """The ball of a foot without a toe joint, in the ankle's frame. Shape (3,)."""
    try:
        if stature(motion.skeleton, body) > 0.0:
            return foot_offsets(motion.skeleton, body, motion=motion)[side].ball
    except SkeletonMismatchError:
        pass
    return np.zeros(3)  # a stump of a leg: its ankle is all that can stand


def _part(skeleton: Skeleton, wanted: list[int]) -> tuple[IntArray, Skeleton]:
    """The joints between the root and the wanted ones, and the skeleton that they make up."""
    joints = sorted({joint for end in wanted for joint in skeleton.chain(end)})
    place = {joint: i for i, joint in enumerate(joints)}
    parents = [place.get(int(skeleton.parents[joint]), -1) for joint in joints]
    part = Skeleton(
        tuple(skeleton.names[joint] for joint in joints),
        np.array(parents),
        skeleton.offsets[joints],
    )
    return np.array(joints), part


# --- Bodies in the air: those that float, and flights whose fall tells the frame rate

CLEAR_M = 0.03
"""A ball this far over the floor does not touch it."""
LONGEST_FLIGHT_S = 1.0
"""A flight of this length takes a jump of 1.2 m, which is beyond any body."""
UPRIGHT = 0.6
"""A pelvis lower over the feet than this part of the leg's length sits, kneels or lies."""
GRAVITY = constant("ML_GRAVITY")
KNOWN_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0, 240.0)
CREDIBLE = (8.0, 11.5)
"""Measured falls that a right rate gives, m/s2; masses by table and noise take their share."""
FALLS = (5.0, 500.0)
"""Slower falls are no falls: someone on a stair, a stool or a ladder. Faster ones are glitches."""
BALL_CLEARANCE_M = 0.03
ANKLE_CLEARANCE_M = 0.01
"""A heel can stand while its ball is up, and the ankle shows it; at landing it is hardly raised."""
LEAST_FRAMES = 5
LEAST_S = 0.04
NOISE_M = 0.0015
"""Of a captured centre of mass about a parabola; 0.2 to 2 mm were met in flights."""
USABLE = 0.35
"""A flight whose fall is less certain than this part of itself is too short to count."""
# A folder of clips mostly has one skeleton.
_segments = lru_cache(maxsize=4)(mass_segments)


@dataclass(frozen=True, slots=True)
class Floating:
    """A stretch of a clip in which the body stands on no foot and touches no floor."""

    first: int
    last: int
    """Frames of the motion."""
    seconds: float
    low_m: float
    high_m: float
    """Lowest height of the feet over the floor in every second: the least and the most."""


def find_floating(tracks: LegTracks, floor: Floor) -> list[Floating]:
    """Stretches in which an upright body touches no floor, stands on nothing, and cannot fly.

    A foot that stands still stands on something, a stair or a platform, however high it is.
    """
    clearance = (tracks.balls[..., 1] - floor_heights(floor, tracks.balls)).min(axis=1)
    flight = max(1, round(LONGEST_FLIGHT_S * tracks.fps))
    upright = _upright(tracks)
    stretches = []
    for first, last in runs_of((clearance > CLEAR_M) & ~_stands(tracks)):
        if last - first + 1 <= flight or upright[first : last + 1].mean() < 0.5:
            continue
        seconds = np.lib.stride_tricks.sliding_window_view(clearance[first : last + 1], flight)
        lowest = seconds.min(axis=1)
        stretches.append(
            Floating(
                first * tracks.step,
                last * tracks.step,
                (last - first + 1) / tracks.fps,
                float(lowest.min()),
                float(lowest.max()),
            )
        )
    return stretches


def floating_findings(stretches: list[Floating]) -> list[Finding]:
    """One warning per stretch."""
    return [
        Finding(
            "warning",
            f"frames {one.first} to {one.last}",
            f"the body floats {100 * one.low_m:.0f} to {100 * one.high_m:.0f} cm above the floor "
            f"for {one.seconds:.1f} s: no foot touches it and none stands still.",
            "The height of the root drifts, or the body hangs on something that is not in the "
            "file. Foot contacts there are guessed from the body's acceleration.",
        )
        for one in stretches
    ]


def _stands(tracks: LegTracks) -> BoolArray:
    """Frames in which a ball stands still for a while. Shape (N,)."""
    stands = np.zeros(len(tracks.balls), dtype=bool)
    for spans in tracks.standing:
        for first, stop in spans:
            stands[first:stop] = True
    return stands


def _upright(tracks: LegTracks) -> BoolArray:
    """Frames in which the pelvis is about a leg's length above the lower foot. Shape (N,)."""
    reach = np.linalg.norm(tracks.pelvis[:, None] - tracks.ankles, axis=-1)
    leg: FloatArray = np.quantile(reach, 0.95)
    above = tracks.pelvis[:, 1] - tracks.ankles[..., 1].min(axis=1)
    return np.asarray(above > UPRIGHT * leg)


@dataclass(frozen=True, slots=True)
class RateCheck:
    """How fast the body falls in its flights, if the rate is what the file says."""

    fall: float
    """Weighted median over the flights, m/s2."""
    uncertainty: float
    """Standard error of ``fall`` as a part of it."""
    flights: int
    stated: float
    """Rate that is checked."""
    fps: float
    """Rate at which it would fall at 9.81 m/s2, snapped to a known rate where one is near."""

    @property
    def is_credible(self) -> bool:
        """Whether the stated rate is credible.

        Headers state half or twice the true rate. Any other difference can as well be feet
        that still touch, or an edited clip, so it takes more flights and a known rate to doubt it.
        """
        doubt = 1.0 + 1.5 * self.uncertainty
        if CREDIBLE[0] / doubt <= self.fall <= CREDIBLE[1] * doubt:
            return True
        if _is_octave(self.fps, self.stated):
            return False
        return self.flights < 3 or self.fps not in KNOWN_RATES


def check_rate(motion: Motion, body: BodyMap, tracks: LegTracks, floor: Floor) -> RateCheck | None:
    """The check over all flights of a clip; None where it never leaves the ground.

    The centre of mass of each flight is fitted with a parabola. How sure its fall is depends on
    the number of frames alone, not on seconds, which are what is in question.
    """
    falls, doubts = [], []
    for heights in _flight_heights(motion, body, tracks, floor):
        fall, error = _fit_fall(heights, motion.fps)
        if FALLS[0] <= fall <= FALLS[1] and error < USABLE * fall:
            falls.append(fall)
            # A tenth for the masses, which are a table's, and for a foot that is not quite off.
            doubts.append(np.hypot(error / fall, 0.1))
    if not falls:
        return None
    weights = np.array(doubts) ** -2.0
    fall = _weighted_median(np.array(falls), weights)
    doubt = float(weights.sum() ** -0.5)
    rate = _snapped(motion.fps * np.sqrt(GRAVITY / fall), 0.5 * doubt, motion.fps)
    return RateCheck(fall, doubt, len(falls), motion.fps, rate)


def rate_finding(check: RateCheck, *, stated: bool) -> Finding:
    """The result of the check; a warning where a rate that only the file states is not credible."""
    flights = "one flight" if check.flights == 1 else f"{check.flights} flights"
    text = f"at {check.stated:.6g} frames per second the body falls at {check.fall:.1f} m/s2"
    text = f"{text} in {flights}"
    if CREDIBLE[0] <= check.fall <= CREDIBLE[1]:
        return Finding("note", "frame rate", f"{text}: the rate agrees with gravity.")
    if check.is_credible:
        note = f"{text}, too few or too short to speak against the rate."
        return Finding("note", "frame rate", note)
    return Finding(
        "note" if stated else "warning",
        "frame rate",
        f"{text}, where gravity gives 9.8.",
        f"Pass fps={check.fps:g} if that is the true rate.",
    )


def _flight_heights(
    motion: Motion, body: BodyMap, tracks: LegTracks, floor: Floor
) -> list[FloatArray]:
    """Height of the centre of mass in every frame of each flight, metres."""
    step = tracks.step
    spans = [np.arange(a * step, b * step + 1) for a, b in _find_flights(tracks, floor)]
    if not spans:
        return []
    frames = np.concatenate(spans)  # all flights at once: many are short
    positions = pick(motion, frames).world_positions()
    heights = _segments(motion.skeleton.n_joints, body).centre(positions)[:, 1]
    return np.split(heights, np.cumsum([len(span) for span in spans])[:-1])


def _find_flights(tracks: LegTracks, floor: Floor) -> list[tuple[int, int]]:
    """First and last track frame of every stretch in which neither foot touches the floor."""
    rise = floor.slope_x * tracks.balls[..., 0] + floor.slope_z * tracks.balls[..., 2]
    balls = tracks.balls[..., 1] - rise - np.array([floor.left_height, floor.right_height])
    ankles = tracks.ankles[..., 1] - rise
    low = len(ankles) // 10
    ankles = ankles - np.partition(ankles, low, axis=0)[low]
    up = (balls > BALL_CLEARANCE_M) & (ankles > ANKLE_CLEARANCE_M)
    least = max(LEAST_FRAMES / tracks.step, LEAST_S * tracks.fps)
    return [(a, b) for a, b in runs_of(up.all(axis=1)) if b - a + 1 >= least]


def _fit_fall(heights: FloatArray, fps: float) -> tuple[float, float]:
    """Downward acceleration of the best parabola through the heights, and its error, m/s2."""
    n = len(heights)
    t = (np.arange(n) - 0.5 * (n - 1)) / fps
    bend = 0.5 * t * t
    bend = bend - bend.mean()  # square to the constant, and to t by symmetry
    power = float(bend @ bend)
    return -float(bend @ heights) / power, NOISE_M / power**0.5


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value in the middle of the weights, between two where the middle falls between them."""
    order = np.argsort(values)
    weights = weights[order]
    middles = (np.cumsum(weights) - 0.5 * weights) / weights.sum()
    return float(np.exp(np.interp(0.5, middles, np.log(values[order]))))


def _snapped(fps: float, doubt: float, stated: float) -> float:
    """The known rate that ``fps`` most likely is; ``fps`` rounded where none is near.

    Halves and doubles of the stated rate are taken to be twenty times as likely as others.
    """
    # Runs with short flights were off by up to 15 % in one direction: more of them do not help.
    doubt = max(doubt, 0.06)

    def unlikeliness(rate: float) -> float:
        surprise = (np.log(rate / fps) / doubt) ** 2
        return float(surprise - (2.0 * np.log(20.0) if _is_octave(rate, stated) else 0.0))

    near = min(KNOWN_RATES, key=unlikeliness)
    return near if abs(np.log(near / fps)) < 2.5 * doubt else float(f"{fps:.3g}")


def _is_octave(rate: float, stated: float) -> bool:
    """Whether a rate is the stated one halved or doubled, once or more."""
    octaves = float(np.log2(rate / stated))
    return round(octaves) != 0 and abs(octaves - round(octaves)) < 0.02
