"""The floor that a clip stands on: fitted through the balls of its planted feet, and levelled."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, finite, of_kind
from motionloom.body.anatomy import ball_height, foot_offsets, stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, MotionLoomError, SkeletonMismatchError
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
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
