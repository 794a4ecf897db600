"""Time warping: distances of frames, and the cheapest path through the grid of them.

The distance of [KG03]_ section 4.1: both frames become point clouds over a short window of time,
and the second is turned about the up axis and slid on the ground to fit the first as well as it
can. The remaining distance is theirs; the fit is the alignment.

A path steps by (1, 1), (1, 0) or (0, 1), and takes at most ``slope_limit`` steps in a row in one
of the last two directions. The dynamic programme over (cell, length of the current run) is exact:
it sweeps a grid once, and paths are traced back on demand. A step of one kind directly after one of
the other is left out: a diagonal does the same with one cell less, so with costs that are not
negative the optimum is the same.

Ten minutes against ten minutes would be a grid of gigabytes. The path of long clips is found
coarsely first: the least of every few cells is enough to find where it goes. Between places on that
path, a few seconds apart, small grids find it exactly. A second pass does the same between places
in the middle of the first pass's pieces, so that no place chosen coarsely remains. One difference
is possible: clips that repeat one cycle may be matched a whole cycle away, where that costs about
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from motionloom._arrays import FloatArray, IntArray, finite, one_of
from motionloom._core import kernel
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.body_map import BodyMap, facing, roles_for
from motionloom.errors import ArrayError, RegistrationError, SkeletonMismatchError
from motionloom.motion.motion import Motion, Skeleton, end_positions
from motionloom.retargeting.match import clip_names

FEWEST = 40
"""Below this number of points the middles of the bones are added, as [KG03]_ use 40 points."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class PointCloud:
    """World points of every frame and how much each counts."""

    points: FloatArray
    """Metres. (F, P, 3)"""
    weights: FloatArray
    """Sum to one. (P,)"""


def point_cloud(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    among: Sequence[Skeleton] = (),
    joint_weights: Mapping[str, float] | None = None,
) -> PointCloud:
    """Joints, tips and, where they are few, middles of bones; fingers left out.

    Captured fingers are seldom real, and joints that lie on their parent say nothing twice.

    Parameters
    ----------
    motion
        F frames.
    body
        Which joint is which; guessed where not given.
    among
        Skeletons with the same joints whose clips are compared, this one's included: the first
        decides which joints count, and tips count only where all have the same.
    joint_weights
        How much points of a joint count, by its name; those not named count 1. A tip counts as its
        joint, the middle of a bone as the joint at its end.
    """
    skeleton = motion.skeleton
    body = roles_for(skeleton, body)
    joints = _telling_joints(among[0] if among else skeleton, body)
    wrists = [wrist for wrist in (body.left_wrist, body.right_wrist) if wrist is not None]
    hands = set(skeleton.carried_by(wrists).tolist())  # end sites on fingers tell nothing
    tipped = all(np.array_equal(skeleton.end_parents, each.end_parents) for each in among)
    ends = [
        e for e, j in enumerate(skeleton.end_parents) if tipped and (j in joints or j not in hands)
    ]
    positions, quats = motion.world_pose()
    tips = end_positions(skeleton, positions, quats)[:, ends]
    parents = [-1 if j == joints[0] else int(skeleton.parents[j]) for j in joints]
    clouds = [positions[:, joints], tips]
    owners = [*joints, *(int(skeleton.end_parents[e]) for e in ends)]
    if len(joints) + len(ends) < FEWEST:
        bones = [(j, p) for j, p in zip(joints, parents, strict=True) if p >= 0]
        if bones:
            j, p = np.array(bones).T
            clouds.append(0.5 * (positions[:, j] + positions[:, p]))
            owners += j.tolist()
    points = np.concatenate(clouds, axis=1)
    weights = np.ones(points.shape[1])
    if joint_weights is not None:
        weights = weights * _weights_of(joint_weights, skeleton)[owners]
        if weights.sum() <= 0.0:
            raise ArrayError(
                "`joint_weights` must leave some joint a weight above 0; all that are compared "
                "have 0. Raise one of them."
            )
    return PointCloud(points, weights / weights.sum())


def _weights_of(weights: Mapping[str, float], skeleton: Skeleton) -> FloatArray:
    """Weight of every joint, (J,): as given by name, 1 for the others."""
    if not isinstance(weights, Mapping):
        raise ArrayError(
            "`joint_weights` must give weights by the names of joints, such as {'LeftFoot': 3.0}, "
            f"got {type(weights).__name__}."
        )
    values = np.ones(skeleton.n_joints)
    for name, value in weights.items():
        joint = skeleton.names.index(one_of(name, skeleton.names, "joint_weights"))
        values[joint] = finite(value, f"joint_weights[{name!r}]")
        if values[joint] < 0.0:
            raise ArrayError(f"`joint_weights[{name!r}]` must not be negative, got {value!r}.")
    return values


def _telling_joints(skeleton: Skeleton, body: BodyMap) -> list[int]:
    """The pelvis, and joints with a bone of some length that are not part of a hand.

    Bones above the pelvis carry travel in some clips and lie still in others: they are left out.
    """
    hands = {
        j for wrist in (body.left_wrist, body.right_wrist) if wrist is not None for j in [wrist]
    }
    below_hand = np.zeros(skeleton.n_joints, dtype=bool)
    keep = [body.pelvis or 0]
    above = skeleton.chain(keep[0])
    others = [j for j in range(skeleton.n_joints) if j not in above]
    scale = float(np.linalg.norm(skeleton.offsets[others], axis=-1).max(initial=0.0))
    for j in others:
        parent = int(skeleton.parents[j])
        below_hand[j] = below_hand[parent] or parent in hands
        has_bone = np.linalg.norm(skeleton.offsets[j]) > 1e-3 * scale
        if has_bone and not below_hand[j]:
            keep.append(j)
    return keep


# --- The distance of two frames, whatever their place and heading

_lay_out = kernel("ml_grid_lay_out")
_quarter_turn = kernel("ml_grid_turn")
_sum_windows = kernel("ml_grid_sum_windows")
_turns = kernel("ml_grid_turns")
BLOCK = 64
"""Rows of the grid that are made together."""


def fit_planar_alignment(
    points_a: FloatArray, points_b: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Find the ground-plane transform that best carries cloud B onto cloud A, and their distance.

    Minimises ``sum_p w_p |a_p - T_a_b b_p|^2`` over a turn about the up axis and a slide on the
    ground; heights are left alone. Equations 2 to 4 of [KG03]_, with the arc tangent of two
    arguments: the single-argument one picks the wrong branch half of the time.

    Parameters
    ----------
    points_a, points_b : (..., P, 3)
        Matched world points, metres. Leading axes broadcast.
    weights : (P,)
        Non-negative, not all zero; need not sum to one.

    Returns
    -------
    theta : (...)
        Turn about +Y, radians in (-pi, pi]; positive carries +Z towards +X.
    offset : (..., 2)
        Slide ``(x0, z0)`` applied after the turn, metres.
    distance : (...)
        Remaining weighted mean square distance, square metres.
    """
    w = weights / weights.sum()
    a, b = points_a[..., [0, 2]], points_b[..., [0, 2]]  # (..., P, 2) ground plane
    a_mean, b_mean = w @ a, w @ b  # (..., 2)
    a, b = a - a_mean[..., None, :], b - b_mean[..., None, :]
    # Both sums vanish when a cloud has no extent; arctan2(0, 0) = 0 is then the right answer.
    cross = np.sum(w * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), axis=-1)
    dot = np.sum(w * (a * b).sum(axis=-1), axis=-1)
    theta = np.arctan2(cross, dot)
    cos, sin = np.cos(theta), np.sin(theta)
    bx, bz = b_mean[..., 0], b_mean[..., 1]
    offset = a_mean - np.stack([cos * bx + sin * bz, cos * bz - sin * bx], axis=-1)
    spread = np.sum(w * (a**2 + b**2).sum(axis=-1), axis=-1)
    lift = np.sum(w * (points_a[..., 1] - points_b[..., 1]) ** 2, axis=-1)
    return theta, offset, np.maximum(spread + lift - 2.0 * np.hypot(cross, dot), 0.0)


class Aligned(Protocol):
    """Grids that know how two clips are best aligned at matched frames."""

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        ...


@record
class Clouds(NamedTuple):
    """A clip's points laid out for products of frames, about its own ground centre.

    Far from the origin the sums would cancel; about the clip's centre they do not.
    """

    ground: FloatArray
    """x and z of all points, scaled by the root of their weights; end frames repeated.
    (n + 2 half_window, 2 P)"""
    heights: FloatArray
    """Their y. (n + 2 half_window, P)"""
    windows: FloatArray
    """Of every window the mean x and z, and the mean square distance from the upright line through
    them. (3, n)"""
    centre: FloatArray
    """Those means in the world, metres (n, 2)."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class DistanceGrid:
    """Distances between all frames of A and all frames of B; alignments on demand.

    Alignments are asked for along a path only: they are made from the clouds of its cells.
    """

    cost: FloatArray
    """Mean square distance of the clouds at their best alignment, square metres. (n, m)"""
    clouds_a: Clouds
    clouds_b: Clouds

    @property
    def centre_a(self) -> FloatArray:
        """Ground centroid (x, z) of every cloud of A, metres (n, 2)."""
        return self.clouds_a.centre

    @property
    def centre_b(self) -> FloatArray:
        """Ground centroid (x, z) of every cloud of B, metres (m, 2)."""
        return self.clouds_b.centre

    def turns(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator (...) of the turn that carries B's cloud j onto A's cloud i."""
        rows, columns = (
            np.ascontiguousarray(part, dtype=np.int64) for part in np.broadcast_arrays(i, j)
        )
        (n, m), (a, b) = self.cost.shape, (self.clouds_a, self.clouds_b)
        cross, dot = np.zeros((2, *rows.shape))
        _turns(
            rows.size, rows, columns, n, m, b.heights.shape[1], (len(b.heights) - m) // 2,
            a.ground, b.ground, a.windows, b.windows, cross, dot,
        )  # fmt: skip
        return cross, dot

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        theta = np.arctan2(*self.turns(i, j))
        cos, sin = np.cos(theta), np.sin(theta)
        bx, bz = self.centre_b[j, 0], self.centre_b[j, 1]
        turned = np.stack([cos * bx + sin * bz, cos * bz - sin * bx], axis=-1)
        return theta, self.centre_a[i] - turned


def distance_grid(
    points_a: FloatArray,
    points_b: FloatArray,
    weights: FloatArray,
    *,
    half_window: int = 2,
    product: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
) -> DistanceGrid:
    """Every frame of A against every frame of B, over windows of ``2 half_window + 1`` frames.

    Three matrix products give the sums of single frames; a window's sums are then sums along
    diagonals, done in one pass. At the ends of a clip its end frame is repeated.

    Parameters
    ----------
    points_a : (n, P, 3)
        World points of A, metres.
    points_b : (m, P, 3)
        World points of B.
    weights : (P,)
        Non-negative weights of the points.
    half_window
        Frames before and after that count too.
    product
        Of matrices; that of the library by default, whose last bits depend on the machine.
    """
    n, m, ends = len(points_a), len(points_b), 2 * half_window
    # Two products in one: of B as it is, and of B a quarter turn on.
    both = np.zeros((2, m + ends, 2 * len(weights)))
    a = _laid_out(points_a, weights, half_window, np.zeros((n + ends, 2 * len(weights))))
    b = _laid_out(points_b, weights, half_window, both[0])
    _quarter_turn(m + ends, len(weights), *both)
    ground_b, heights_b = both.reshape(-1, 2 * len(weights)).T, b.heights.T
    cost = np.zeros((n, m))
    # Few rows at a time: their products stay in the cache until their windows are summed.
    ground = np.zeros((min(BLOCK, n) + ends, 2 * (m + ends)))
    heights = np.zeros((min(BLOCK, n) + ends, m + ends))
    shared = 0  # rows that windows share with those of the block before
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        rows, n_rows = slice(first + shared, last + ends), last - first + ends
        if product is None:
            np.matmul(a.ground[rows], ground_b, out=ground[shared:n_rows])
            np.matmul(a.heights[rows], heights_b, out=heights[shared:n_rows])
        else:
            ground[shared:n_rows] = product(a.ground[rows], ground_b)
            heights[shared:n_rows] = product(a.heights[rows], heights_b)
        _sum_windows(
            last - first, m, half_window, ground[:n_rows], heights[:n_rows],
            *a.windows[:, first:last], b.windows, np.zeros((3, last - first + m)), cost[first:last],
        )  # fmt: skip
        shared = ends
        for sums in (ground, heights):
            sums[:shared] = sums[n_rows - shared : n_rows]
    return DistanceGrid(cost, a, b)


def _laid_out(
    points: FloatArray, weights: FloatArray, half_window: int, ground: FloatArray
) -> Clouds:
    """The clouds of a clip; their points on the ground are put into ``ground``."""
    n, n_points = points.shape[:2]
    w = np.ascontiguousarray(weights / weights.sum(), dtype=np.float64)
    heights = np.zeros((n + 2 * half_window, n_points))
    windows, centre = np.zeros((3, n)), np.zeros((n, 2))
    points = np.ascontiguousarray(points, dtype=np.float64)
    _lay_out(
        n, n_points, half_window, points, w, np.sqrt(w),
        ground, heights, np.zeros((n, 3)), windows, centre,
    )  # fmt: skip
    return Clouds(ground, heights, windows, centre)


# --- The cheapest path through a grid of distances

_sweep = kernel("ml_sweep_grid")
_trace = kernel("ml_sweep_trace")
FIRST_LEVEL, NEXT_LEVEL = 0.5, 1.35
"""Between clips that are not alike, cells below this part of the median cost are gains in the first
try. Every further try multiplies the limit by the second number."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class TimePath:
    """Matched frames of two clips, in time order."""

    cells: IntArray
    """Frame of A and frame of B at every step of the path. (N, 2)"""
    cost: float
    """Sum of the cells' costs."""

    @property
    def mean_cost(self) -> float:
        """Cost per cell, square metres for a distance grid."""
        return self.cost / len(self.cells)


def find_corner_path(cost: FloatArray, *, slope_limit: int = 3, seed_state: int = 0) -> TimePath:
    """The cheapest path from the first cell to the last.

    A path that goes on from another may arrive at the first cell in a run, ``seed_state`` (see
    :func:`run_state`). If no path can continue that run, the run is ignored.

    Raises
    ------
    RegistrationError
        If one clip is more than ``slope_limit + 1`` times as long as the other.
    """
    n, m = cost.shape
    if not reachable(n - 1, m - 1, slope_limit):
        raise RegistrationError(
            f"Clips of {n} and {m} frames cannot be matched end to end with at most "
            f"{slope_limit} steps in a row in one clip: one may be at most {slope_limit + 1} times "
            "as long as the other. Cut the longer one, raise `slope_limit`, or use ends='open'."
        )
    swept = Swept(cost, slope_limit, seed_state=seed_state, to_corner=True)
    if not np.isfinite(swept.total[m - 1]):
        swept = Swept(cost, slope_limit, to_corner=True)
    return swept.path(m - 1)


def reachable(steps_a: int, steps_b: int, slope_limit: int) -> bool:
    """Whether a path can go that many frames in A while going that many in B."""
    return abs(steps_a - steps_b) <= slope_limit * (min(steps_a, steps_b) + 1)


def find_end_path(
    cost: FloatArray,
    *,
    slope_limit: int = 3,
    at_least: int = 1,
    seed_state: int = 0,
    per_frame: bool = False,
) -> TimePath:
    """The path from the first cell to a far border with the smallest mean cost.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames.
    slope_limit
        Most steps in a row in one direction.
    at_least
        Frames that the path must cover in both clips, where they have that many: the smallest
        mean alone likes to stop at once where both clips stand still.
    seed_state
        Run in which the path arrives at the first cell, for a path continued through it.
    per_frame
        Take the mean over frames passed in both clips, not over cells: then a path that hurries
        through one clip, and so has fewer frames to pay for its cells, does not come cheap.
    """
    swept = Swept(cost, slope_limit, seed_state=seed_state)
    n, m = cost.shape
    covered = np.concatenate([np.arange(m), np.arange(n - 1)]) + 1
    wanted = min(at_least, n, m)
    passed = covered + np.concatenate([np.full(m, n), np.full(n - 1, m)])
    means = swept.total / (passed if per_frame else swept.count)
    mean = np.where(covered >= wanted, means, np.inf)  # a diagonal always covers that much
    # Ties go to the longer path: it says more.
    best = np.lexsort((-swept.count, mean))[0]
    return swept.path(int(best))


def find_path_through(
    cost: FloatArray, i: int, j: int, *, slope_limit: int = 3, at_least: int = 1
) -> TimePath:
    """The path through cell (i, j), grown from it backwards and forwards to the borders.

    The run limit holds across the cell: the forward half starts in the run in which the backward
    half leaves it.
    """
    back = find_end_path(
        cost[: i + 1, : j + 1][::-1, ::-1], slope_limit=slope_limit, at_least=at_least
    )
    backward = np.array([i, j]) - back.cells[::-1]
    on = find_end_path(
        cost[i:, j:],
        slope_limit=slope_limit,
        at_least=at_least,
        seed_state=run_state(back.cells, slope_limit),
    )
    cells = np.concatenate([backward, on.cells[1:] + np.array([i, j])])
    return TimePath(cells, back.cost + on.cost - float(cost[i, j]))


def run_state(cells: IntArray, limit: int) -> int:
    """State in which a path (reversed in time) leaves its first cell."""
    steps = np.diff(cells[: limit + 1], axis=0)
    for direction, base in (((1, 0), 0), ((0, 1), limit)):
        run = 0
        for step in steps:
            if tuple(step) != direction:
                break
            run += 1
        if run:
            return base + run
    return 0


def find_open_path(
    cost: FloatArray,
    *,
    slope_limit: int = 3,
    cover: float = 0.6,
    reach: float = 2.0,
    rounds: int = 4,
) -> TimePath:
    """The part that two clips share: from a near border to a far one, cheap all along.

    First the path of the smallest mean cost among those that cover enough: minimising
    ``sum(c - level)`` and raising ``level`` to the mean found (Dinkelbach) ends there. The smallest
    mean likes to be short, so the path is then grown: taken is the one that gains most where every
    cell below ``reach`` times that mean is a gain.

    The sweep keeps one path per end cell, the cheapest, and between clips that are not alike all of
    these can be too short. Then ``level`` is raised until the path that gains most covers enough.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames.
    slope_limit
        Most steps in a row in one direction.
    cover
        Least part of the shorter clip that the path must cover, in both clips.
    reach
        How much worse than the mean a stretch may be and still be taken along.
    rounds
        Most steps of the search for the smallest mean.
    """
    n, m = cost.shape
    wanted = int(np.ceil(cover * min(n, m)))
    level, best = 0.0, None
    for _ in range(rounds):
        path = _best_covering(cost, level, slope_limit, wanted, by_mean=True)
        if path is None or (best is not None and path.mean_cost >= best.mean_cost - 1e-12):
            break
        best, level = path, path.mean_cost
    if best is None:
        return _covering_at_any_cost(cost, slope_limit, wanted)
    grown = _best_covering(cost, reach * level, slope_limit, wanted, by_mean=False)
    return best if grown is None else grown


def _best_covering(
    cost: FloatArray, level: float, slope_limit: int, wanted: int, *, by_mean: bool
) -> TimePath | None:
    """The path with free ends that is best above ``level`` and covers enough, if there is one."""
    swept = Swept(cost, slope_limit, level=level, free_start=True)
    value = swept.total / swept.count if by_mean else swept.total
    for at in np.argsort(value, kind="stable"):
        if not np.isfinite(value[at]) or not _may_cover(swept, int(at), wanted):
            continue
        cells = swept.path(int(at)).cells
        if np.min(cells[-1] - cells[0]) + 1 >= wanted:
            return TimePath(cells, float(cost[tuple(cells.T)].sum()))
    return None


def _may_cover(swept: Swept, at: int, wanted: int) -> bool:
    i, j = swept.cell(at)
    return min(i, j) + 1 >= wanted and int(swept.count[at]) >= wanted


def _covering_at_any_cost(cost: FloatArray, slope_limit: int, wanted: int) -> TimePath:
    """The path that gains most at the least of the tried levels at which it covers enough."""
    level = FIRST_LEVEL * float(np.median(cost)) or float(cost.max()) or 1.0
    while True:
        path = _best_covering(cost, level, slope_limit, wanted, by_mean=False)
        # Above the largest cost every cell is a gain, and a whole diagonal always covers enough.
        if path is not None:
            return path
        if level > float(cost.max()):
            n, m = cost.shape
            return find_end_path(cost, slope_limit=0, at_least=min(n, m))
        level *= NEXT_LEVEL


class Swept:
    """A grid after the sweep: totals on the far borders, paths on demand."""

    def __init__(
        self,
        cost: FloatArray,
        limit: int,
        *,
        level: float = 0.0,
        seed_state: int = 0,
        free_start: bool = False,
        to_corner: bool = False,
    ) -> None:
        if not np.isfinite(cost.sum()):
            raise RegistrationError("Distances between frames must be finite; check both clips.")
        n, m = cost.shape
        self.shape, self.limit = (n, m), limit
        self.states = np.zeros((n, m), np.uint8)
        self.total = np.full(n + m - 1, np.inf)
        self.count = np.ones(n + m - 1, np.int64)
        _sweep(
            n, m, np.ascontiguousarray(cost, dtype=np.float64), level, limit, seed_state,
            free_start, to_corner, np.zeros((2 * limit + 5, m)),
            np.zeros((limit + 3, m), np.int64), self.states, self.total, self.count,
        )  # fmt: skip

    def cell(self, at: int) -> tuple[int, int]:
        """The cell of a place on the far borders: the last row's, then the last column's."""
        n, m = self.shape
        return (n - 1, at) if at < m else (at - m, m - 1)

    def path(self, at: int) -> TimePath:
        """The cheapest path that ends there."""
        i, j = self.cell(at)
        cells = np.zeros((int(self.count[at]), 2), np.int64)
        _trace(*self.shape, self.states, self.limit, i, j, len(cells), cells)
        return TimePath(cells, float(self.total[at]))


# --- Grids of long clips

GRID_RATE = 30.0
"""Frames per second at which clips are compared, as in [KG03]_; more add nothing about a body."""
MOST_CELLS = 16_000_000
"""Cells of the largest grid that is made at once: two clips of more than two minutes at 30 Hz."""
STRIP_CELLS = 2_000_000
"""Cells that are made at once to find the coarse grid."""
PIECE = 400
"""Frames of the grid in one piece of a long path."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A motion at the grid's rate."""

    points: FloatArray
    roots: FloatArray
    headings: FloatArray
    """Where the body faces, radians. (n,)"""


class Grids:
    """Distance grids between clips, each built when it is first asked for.

    Parameters
    ----------
    clips, clouds
        Clips at one rate, and their point clouds.
    window_s
        Seconds over which frames are compared.
    body
        Roles of their joints.
    """

    def __init__(
        self,
        clips: Sequence[Motion],
        clouds: Sequence[PointCloud],
        window_s: float,
        body: BodyMap,
    ) -> None:
        self.stride = max(1, round(clips[0].fps / GRID_RATE))
        """Frames of a clip from one row of a grid to the next."""
        self.rate = clips[0].fps / self.stride
        """Rows per second."""
        longest = 2.0 * max(clip.n_frames for clip in clips)  # a longer window adds no frames
        self._half = max(0, round(0.5 * (min(window_s * self.rate, longest) - 1.0)))
        self.weights = clouds[0].weights
        self.clips = [
            Sampled(
                cloud.points[:: self.stride],
                clip.root_positions[:: self.stride],
                _headings(clip, body)[:: self.stride],
            )
            for cloud, clip in zip(clouds, clips, strict=True)
        ]
        self.names = [named_clip(clips, k) for k in range(len(clips))]
        """What errors call the clips."""
        self._grids: dict[tuple[int, int], DistanceGrid] = {}

    def __call__(self, a: int, b: int) -> DistanceGrid:
        """The grid between clips ``a`` and ``b``."""
        if (a, b) not in self._grids:
            report_step("comparing clips", len(self._grids), len(self.clips) ** 2)
            self._grids[a, b] = distance_grid(
                self.clips[a].points, self.clips[b].points, self.weights, half_window=self._half
            )
        return self._grids[a, b]

    def long(self, a: int, b: int) -> LongGrid:
        """The same for clips whose whole grid would be too large."""
        return LongGrid(self.clips[a].points, self.clips[b].points, self.weights, self._half)


def named_clip(clips: Sequence[Motion], k: int) -> str:
    """What errors call a clip: its letter and, where it has one, its name."""
    letter, name = clip_names(len(clips))[k], clips[k].name
    return f"clip {letter} ({name})" if name else f"clip {letter}"


def _headings(clip: Motion, body: BodyMap) -> FloatArray:
    """Where the body faces, radians (F,); nan where the skeleton has neither hips nor shoulders."""
    try:
        return facing(clip, body=body)
    except SkeletonMismatchError:
        return np.full(clip.n_frames, np.nan)


class LongGrid:
    """Distances and alignments of two clips whose whole grid is too large to make."""

    def __init__(
        self, points_a: FloatArray, points_b: FloatArray, weights: FloatArray, half_window: int
    ) -> None:
        self._points, self._weights, self._half = (points_a, points_b), weights, half_window
        self.shape = len(points_a), len(points_b)

    def part(self, first: tuple[int, int], last: tuple[int, int]) -> FloatArray:
        """Costs of the cells from ``first`` to ``last``, both included."""
        grid, low = self._made(first, last)
        rows, columns = (slice(f - x, y - x + 1) for f, y, x in zip(first, last, low, strict=True))
        return grid.cost[rows, columns]

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (N,) and slide (N, 2) that carry B's cloud j onto A's cloud i, along a path."""
        theta, slide = np.zeros(len(i)), np.zeros((len(i), 2))
        for start in range(0, len(i), PIECE):
            some = slice(start, start + PIECE)
            first = int(i[some].min()), int(j[some].min())
            grid, low = self._made(first, (int(i[some].max()), int(j[some].max())))
            theta[some], slide[some] = grid.alignment(i[some] - low[0], j[some] - low[1])
        return theta, slide

    def coarse(self, stride: int) -> FloatArray:
        """The least cost of every ``stride`` x ``stride`` cells.

        Every frame counts: between frames that are merely sampled, clips that repeat themselves
        lose their best path to one that stays a whole cycle behind.
        """
        n, m = self.shape
        least = np.full((-(-n // stride), -(-m // stride)), np.inf)
        rows = stride * max(1, STRIP_CELLS // (stride * m))
        columns = np.arange(0, m, stride)
        for first in range(0, n, rows):
            last = min(first + rows, n) - 1
            strip = np.minimum.reduceat(self.part((first, 0), (last, m - 1)), columns, axis=1)
            down = np.arange(0, len(strip), stride)
            at = first // stride
            least[at : at + len(down)] = np.minimum.reduceat(strip, down, axis=0)
        return least

    def _made(
        self, first: tuple[int, int], last: tuple[int, int]
    ) -> tuple[DistanceGrid, list[int]]:
        """The grid around some cells, as wide as their windows need, and its first cell."""
        low = [max(0, f - self._half) for f in first]
        a, b = (p[x : y + self._half + 1] for p, x, y in zip(self._points, low, last, strict=True))
        return distance_grid(a, b, self._weights, half_window=self._half), low


def find_long_path(
    grid: LongGrid,
    find: Callable[[FloatArray], TimePath],
    *,
    slope_limit: int,
    to_corner: bool,
    most_cells: int = MOST_CELLS,
) -> TimePath:
    """The path that ``find`` would give on the whole grid, without making it.

    Free ends are chosen on the coarse grid, to within a few frames.

    Parameters
    ----------
    grid
        The two clips.
    find
        From a grid of costs to a path; used on the coarse grid.
    slope_limit
        Most steps in a row in one direction.
    to_corner
        Whether the path must end with both clips.
    most_cells
        Size of the coarse grid.
    """
    n, m = grid.shape
    stride = max(1, int(np.ceil(np.sqrt(n * m / most_cells))))
    cells = stride * find(grid.coarse(stride)).cells
    # Frames after the last coarse one belong to the path that reached it.
    rest = np.array([n - 1, m - 1]) - cells[-1]
    more = rest if to_corner else np.repeat(rest.min(), 2) if rest.min() < stride else 0 * rest
    cells = np.concatenate([cells, cells[-1:] + more])
    path = _joined(grid, _places(cells, slope_limit, 0), slope_limit)
    return _joined(grid, _places(path.cells, slope_limit, PIECE // 2), slope_limit)


def _places(cells: IntArray, slope_limit: int, shift: int) -> list[tuple[int, int]]:
    """Places along a path that pieces can go between; both ends are always among them."""
    along = cells.mean(axis=1) - cells[0].mean()
    marks = np.arange(PIECE - shift, along[-1] - PIECE // 4, PIECE)
    # In the middle of diagonal steps a piece's end disturbs no run of steps to one side.
    diagonal = np.concatenate([[False], np.diff(cells[:, 0]) == np.diff(cells[:, 1]), [False]])
    calm = np.flatnonzero(diagonal[:-1] & diagonal[1:])
    if calm.size:
        nearest = calm[np.minimum(np.searchsorted(along[calm], marks), calm.size - 1)]
    else:
        nearest = np.searchsorted(along, marks)
    at = [*np.unique(nearest).tolist(), len(cells) - 1]
    places = [(int(cells[0, 0]), int(cells[0, 1]))]
    for k in at:
        i, j = int(cells[k, 0]), int(cells[k, 1])
        while len(places) > 1 and not _passable(places[-1], (i, j), slope_limit):
            places.pop()
        places.append((i, j))
    return places


def _passable(first: tuple[int, int], last: tuple[int, int], slope_limit: int) -> bool:
    steps = last[0] - first[0], last[1] - first[1]
    return min(steps) > 0 and reachable(*steps, slope_limit)


def _joined(grid: LongGrid, places: list[tuple[int, int]], slope_limit: int) -> TimePath:
    """The cheapest paths between places, one after the other; runs go on across a place."""
    parts: list[IntArray] = []
    total, state = 0.0, 0
    for first, last in pairwise(places):
        cost = grid.part(first, last)
        piece = find_corner_path(cost, slope_limit=slope_limit, seed_state=state)
        skip = 1 if parts else 0
        parts.append(piece.cells[skip:] + np.array(first))
        total += piece.cost - (float(cost[0, 0]) if skip else 0.0)
        state = run_state(piece.cells[-1] - piece.cells[::-1], slope_limit)
    return TimePath(np.concatenate(parts), total)
