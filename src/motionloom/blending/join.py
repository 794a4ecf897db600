"""Where two clips can be joined, and the join itself: A, a blend around one place, then B."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, whole
from motionloom._records import record
from motionloom.blending.evaluate import Evaluated, evaluate, walk_parameters
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap, facing_of_positions, roles_for
from motionloom.cleanup.finalize import Window, ease_to, legs_missing, put_into
from motionloom.errors import ArrayError, RegistrationError, SkeletonMismatchError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification, with_failed
from motionloom.features.glitches.glitch_frames import Glitch, find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Footplants, Motion, joined_name, velocities
from motionloom.motion.provenance import Provenance
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.registration.timewarp import GRID_RATE, distance_grid, point_cloud
from motionloom.retargeting.match import MatchedClips
from motionloom.rotation.quat import PlanarTransform, ease

MAX_PLACES = 12
"""How many places are ranked; they are tried in order until one passes the quality check."""
COMPARED_S = 0.17
"""Length of the window over which the frames of A and B are compared, seconds."""
FEET_WEIGHT_M = 0.05
"""Cost of a window in which all plants disagree, as metres of pose distance."""
TRAVEL_S = 0.05
"""Cost of a difference in travel, metres for every metre per second."""
DROPPED_M = 0.10
"""Cost of a place that leaves out all of a clip, as metres of pose distance."""
ROOM = 1.4
"""A place has this many times half the blend on both sides."""
UNBLENDED = 0.5
"""Least part, outside the blend, of the frames of a clip that a place must keep."""
LATE_S = 1.0
"""Late places are in the last second of A and in the first of B that a blend leaves room for."""
TRAVEL_NEAR_S = 0.15
"""Seconds before and after a frame over which travel is measured."""
MOVING_M_S = 0.3
"""A body whose root is faster than this, in metres per second, is moving."""
MENDED = ("foot slip", "sole below the floor")
"""What holding the feet mends."""
FADE_S = 0.3
"""Seconds on each side of a blend in which feet that are held, and repairs, ease off."""
MOST_SHIFT_M = 0.12
"""B is shifted by at most so much, for feet that stand all through the blend, metres."""
SAME_PLACE_M = 0.01
"""Feet that are so near to where they stood stand in the same place, metres."""
STEP_M = 0.03
"""Heights farther apart than this are those of two steps: a foot does not stand on both, metres."""
LOWEST = 10.0
"""Percentile of the heights at which a foot stands: that of the floor, where there are steps."""
FLOOR_M = 0.02
"""Floors that are nearer are one: rigs and captures differ by this much, metres."""
LONGEST_S = 3.0
"""A foot that would swing only after so long is not held until then, seconds."""
CONTEXT = 12
"""Unblended frames on each side of a blend that are checked together with it."""


# --- The two clips


def on_one_floor(matched: MatchedClips) -> MatchedClips:
    """Two clips, B moved up or down onto A's floor.

    The heights at which its feet usually stand are compared, else the lowest ones, as in clips with
    steps, else the usual ones once more if all of them are off the same way. Where all three fail,
    B stays, and a note says so.
    """
    if legs_missing(matched.body):
        return matched
    apart = _floors_apart(matched, 50.0)
    if not len(apart):
        return matched
    by = float(apart.mean())
    if np.ptp(apart) > STEP_M:
        lowest, by = _floors_apart(matched, LOWEST), float(np.median(apart))
        if np.ptp(lowest) <= STEP_M:
            by = float(lowest.mean())
        elif abs(by) >= FLOOR_M and (apart > 0.0).any() and (apart < 0.0).any():
            low, high = -100.0 * apart.max(), -100.0 * apart.min()
            return _noted(
                matched,
                f"left at its height: its feet stand {low:+.0f} to {high:+.0f} cm over those of A",
            )
    if abs(by) < FLOOR_M:
        return matched
    (a, b), up = matched.motions, np.array([0.0, by, 0.0])
    way = "up" if by > 0.0 else "down"
    return dataclasses.replace(
        _noted(matched, f"moved {100.0 * abs(by):.0f} cm {way}, onto the floor of A"),
        motions=(a, b.replace(root_positions=b.root_positions + up)),
    )


def _noted(matched: MatchedClips, note: str) -> MatchedClips:
    """The clips with another note on B."""
    notes = (matched.notes[0], (*matched.notes[1], note))
    return dataclasses.replace(matched, contacts=matched.footplants, notes=notes)


def _floors_apart(matched: MatchedClips, percentile: float) -> FloatArray:
    """How much higher heels and balls that stand in both clips stand in A, metres. (N,)."""
    floors = []
    for clip, plants in zip(matched.motions, matched.footplants, strict=True):
        heights, planted = foot_points(clip, body=matched.body)[..., 1], plants.planted
        stands = [heights[planted[:, k], k] for k in range(heights.shape[1])]
        floors.append([np.percentile(h, percentile) if len(h) else np.nan for h in stands])
    apart = np.array(floors[0]) - np.array(floors[1])
    return np.asarray(apart[np.isfinite(apart)])


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two clips on one skeleton and at one rate, ready to be joined."""

    matched: MatchedClips
    """The clips, repaired where all of them is to be."""
    glitches: tuple[tuple[Glitch, ...], tuple[Glitch, ...]]
    """Capture glitches that they have."""
    check: QualityCheck
    """Compares any result with the two clips."""
    repairs: bool
    """Whether the frames around a place are repaired before motion is made of them."""
    notes: tuple[str, ...]
    """What matching and repair changed, and how many glitches there are."""

    @classmethod
    def of(cls, matched: MatchedClips, *, repair: str | None = "made") -> Pair:
        """Two matched clips; ``repair`` is that of :func:`transition`."""
        notes = matched.named_notes("AB")
        if repair == "all":
            done = [repair_capture(clip, body=matched.body) for clip in matched.motions]
            notes += [
                f"{name}: {note}"
                for name, each in zip("AB", done, strict=True)
                for note in each.notes
            ]
            matched = dataclasses.replace(
                matched, motions=tuple(each.motion for each in done), contacts=matched.footplants
            )
        a, b = (find_glitches(clip, body=matched.body) for clip in matched.motions)
        for name, found in (("A", a), ("B", b)):
            if found:
                plural = "es" if len(found) > 1 else ""
                notes.append(
                    f"{name} has {len(found)} capture glitch{plural}; `motionloom clean` repairs "
                    "what can be repaired"
                )
        return cls(
            matched,
            (a, b),
            QualityCheck(matched.motions, footplants=matched.footplants, body=matched.body),
            repair == "made",
            tuple(notes),
        )

    @property
    def a(self) -> Motion:
        """The clip to begin with."""
        return self.matched.motions[0]

    @property
    def b(self) -> Motion:
        """The clip to end with."""
        return self.matched.motions[1]

    @property
    def footplants(self) -> tuple[Footplants, Footplants]:
        """Contacts of both."""
        return self.matched.footplants[0], self.matched.footplants[1]

    @property
    def body(self) -> BodyMap:
        """Roles of the joints."""
        return self.matched.body

    @property
    def details(self) -> tuple[str, ...]:
        """Every glitch of the clips, one line each."""
        return tuple(
            f"{name}: frame {each.frame}, {each.joint}"
            for name, glitches in zip("AB", self.glitches, strict=True)
            for each in glitches
        )

    def near(self, place: Candidate, reach: int) -> _Near:
        """The frames around a place that a blend there can need, repaired."""
        at = (place.frame_a, place.frame_b)
        firsts = tuple(max(0, frame - reach) for frame in at)
        cuts = [slice(low, frame + reach + 1) for low, frame in zip(firsts, at, strict=True)]
        parts = [clip[cut] for clip, cut in zip((self.a, self.b), cuts, strict=True)]
        clips = [
            repair_capture(part, body=self.body).motion if self.repairs else part for part in parts
        ]
        plants = (self.footplants[0][cuts[0]], self.footplants[1][cuts[1]])
        changed = self.repairs and (clips[0] is not parts[0] or clips[1] is not parts[1])
        return _Near((clips[0], clips[1]), plants, (firsts[0], firsts[1]), changed)


class _Near(NamedTuple):
    """The frames of both clips around a place."""

    clips: tuple[Motion, Motion]
    footplants: tuple[Footplants, Footplants]
    firsts: tuple[int, int]
    """Frame of each clip with which its part begins."""
    repaired: bool
    """Whether anything in them was."""


# --- Places


@dataclass(frozen=True, slots=True)
@record
class Candidate:
    """A place to go from one clip to the other, and what it costs.

    Attributes
    ----------
    frame_a, frame_b : int
        Frames of the two clips at which they are joined.
    cost : float
        Sum of the parts, metres; lower is better.
    pose : float
        Root mean square distance of the bodies over the window, metres.
    feet : float
        Part of the window in which planted feet disagree, in metres of pose distance.
    both_moving : bool
        Whether both bodies travel there; standing poses match easily.
    travel : float
        How differently the bodies travel, in metres of pose distance: direction, seen from the
        body, and speed.
    """

    frame_a: int
    frame_b: int
    cost: float
    pose: float
    feet: float
    both_moving: bool
    travel: float = 0.0


Shares = tuple[float, float]
"""Of A and of B."""
Keep = Shares | Literal["late"]
"""Least shares of A and of B that a result keeps, or ``"late"``."""


def find_places(
    pair: Pair,
    half: int,
    *,
    moving: bool,
    keep: Keep | None = None,
    count: int = MAX_PLACES,
    blocks: int = 0,
) -> tuple[Candidate, ...]:
    """The best places for a blend of ``2 * half + 1`` frames, best first.

    Short clips get places with fewer frames around them than the blend asks for.
    """
    a, b = pair.a, pair.b
    shorter = min(a.n_frames, b.n_frames)
    most = (shorter - 1) // 2 - 1
    if most < 2:
        raise RegistrationError(
            f"Clips must have at least 7 frames for a transition, got {a.n_frames} and "
            f"{b.n_frames}. Use longer clips."
        )
    # The search samples clips at the grid's rate; the margins must leave it at least one sample.
    stride = max(1, round(a.fps / GRID_RATE))
    margin = min(int(np.ceil(ROOM * half)), most, max(0, (shorter - stride) // 2))
    return find_candidates(
        (a, b),
        pair.footplants,
        margin=margin,
        count=count,
        moving=moving,
        keep=keep,
        blocks=blocks,
        avoid=(_frames_of(pair.glitches[0]), _frames_of(pair.glitches[1])),
        body=pair.body,
    )


def _frames_of(glitches: Sequence[Glitch]) -> IntArray:
    return np.array([glitch.frame for glitch in glitches], dtype=np.int64)


def named_place(pair: Pair, at: tuple[int, int]) -> Candidate:
    """The place that the caller named; its cost is that of the best place within 8 frames."""
    clips = (pair.a, pair.b)
    at = (whole(at[0], "at[0]"), whole(at[1], "at[1]"))
    for name, frame, clip in zip("AB", at, clips, strict=True):
        if not 2 <= frame <= clip.n_frames - 3:
            raise ArrayError(
                f"`at` must leave two frames on both sides; {frame} does not, in clip "
                f"{name} of {clip.n_frames} frames."
            )
    near_a, near_b = (slice(max(0, frame - 8), frame + 9) for frame in at)
    best = find_candidates(
        (pair.a[near_a], pair.b[near_b]),
        (pair.footplants[0][near_a], pair.footplants[1][near_b]),
        margin=0,
        count=1,
        body=pair.body,
    )[0]
    return dataclasses.replace(best, frame_a=at[0], frame_b=at[1])


def find_candidates(
    clips: tuple[Motion, Motion],
    plants: tuple[Footplants, Footplants],
    *,
    margin: int,
    count: int = 8,
    moving: bool = False,
    keep: Keep | None = None,
    blocks: int = 0,
    avoid: tuple[IntArray, IntArray] | None = None,
    body: BodyMap | None = None,
) -> tuple[Candidate, ...]:
    """The best places to leave A and enter B, best first: local minima of their cost.

    Parameters
    ----------
    clips, plants
        A and B, on one skeleton at one rate, and their plants.
    margin
        Frames that each clip must still have on both sides of the place.
    count
        How many to give at most.
    moving
        Only places where both bodies travel, where there are any.
    keep
        Only places that keep so much of both clips, where there are any; of those the ones that
        keep more rank higher. None: anywhere, by cost alone.
    blocks
        Also the best place of every block, where the grid is parted so often along both clips.
    avoid
        Glitched frames of A and of B: no place within ``margin`` frames of one, where others are.
    body
        Which joint is which; guessed where not given.
    """
    a, b = clips
    stride = max(1, round(a.fps / GRID_RATE))
    half = max(1, round(0.5 * (COMPARED_S * a.fps / stride - 1.0)))
    among = (a.skeleton, b.skeleton)
    cloud_a, cloud_b = (point_cloud(clip, body=body, among=among) for clip in clips)
    grid = distance_grid(
        cloud_a.points[::stride], cloud_b.points[::stride], cloud_a.weights, half_window=half
    )
    pose = np.sqrt(grid.cost)
    planted_a, planted_b = (each.planted[::stride] for each in plants)
    feet = FEET_WEIGHT_M * _disagreement(planted_a, planted_b, half=half)
    ways = [travel_of(clip, body)[::stride] for clip in clips]
    travel = TRAVEL_S * np.linalg.norm(ways[0][:, None] - ways[1][None], axis=-1)
    total = pose + feet + travel

    rows, columns = (np.arange(size) * stride for size in total.shape)
    inside_a = (rows >= margin) & (rows <= a.n_frames - 1 - margin)
    inside_b = (columns >= margin) & (columns <= b.n_frames - 1 - margin)
    allowed = _cells(inside_a, inside_b)
    if not allowed.any():
        raise RegistrationError(
            f"Clips must have {margin} frames on both sides of a transition; they have "
            f"{a.n_frames} and {b.n_frames} in all. Use a shorter `length_s` or longer clips."
        )
    both_move = _cells(_moving(a)[::stride], _moving(b)[::stride])
    kept, rank = np.ones_like(allowed), total
    if keep is not None:
        shares = rows / (a.n_frames - 1), 1.0 - columns / (b.n_frames - 1)
        least = tuple(
            np.minimum(share, (share - margin / ROOM / (clip.n_frames - 1)) / UNBLENDED)
            for share, clip in zip(shares, clips, strict=True)
        )
        kept = _kept(keep, least, (inside_a, inside_b), LATE_S * a.fps / stride)
        rank = total + DROPPED_M * (2.0 - shares[0][:, None] - shares[1][None])
    clear = np.ones_like(allowed)
    if avoid is not None:
        clear = _cells(_clear(rows, avoid[0], margin), _clear(columns, avoid[1], margin))
    for wished in (*([both_move] if moving else []), kept, clear):
        if (allowed & wished).any():
            allowed &= wished
    return tuple(
        Candidate(
            int(rows[i]),
            int(columns[j]),
            float(total[i, j]),
            float(pose[i, j]),
            float(feet[i, j]),
            bool(both_move[i, j]),
            float(travel[i, j]),
        )
        for i, j in _local_minima(rank, allowed, blocks)[:count]
    )


def _kept(
    keep: Keep, shares: Sequence[FloatArray], inside: tuple[BoolArray, BoolArray], n: float
) -> BoolArray:
    """Cells that keep enough of both clips, or, for late ones, the last and first ``n`` inside."""
    if keep != "late":
        return _cells(shares[0] >= keep[0], shares[1] >= keep[1])
    rows, columns = (np.flatnonzero(each) for each in inside)
    late, early = inside[0].copy(), inside[1].copy()
    if len(rows) and len(columns):
        late[: max(0, int(rows[-1] - n))] = False
        early[int(columns[0] + n) + 1 :] = False
    return _cells(late, early)


def travel_of(motion: Motion, body: BodyMap | None) -> FloatArray:
    """Velocity of the pelvis over the ground, seen from the body, m/s. (F, 2).

    Where a skeleton tells no heading, its speed and 0.
    """
    body = roles_for(motion.skeleton, body)
    positions = motion.world_positions()
    path = positions[:, 0 if body.pelvis is None else body.pelvis][:, [0, 2]]
    near = max(1, round(TRAVEL_NEAR_S * motion.fps))
    frames = np.arange(len(path))
    before, after = np.maximum(frames - near, 0), np.minimum(frames + near, len(path) - 1)
    way = (path[after] - path[before]) * (motion.fps / np.maximum(after - before, 1))[:, None]
    try:
        heading = facing_of_positions(positions, body)
    except SkeletonMismatchError:
        return np.stack([np.linalg.norm(way, axis=-1), np.zeros(len(way))], axis=-1)
    cos, sin = np.cos(heading), np.sin(heading)
    across, ahead = cos * way[:, 0] - sin * way[:, 1], sin * way[:, 0] + cos * way[:, 1]
    return np.stack([across, ahead], axis=-1)


def _cells(rows: BoolArray, columns: BoolArray) -> BoolArray:
    """Cells of the grid whose row and column both qualify. (n, m)."""
    return np.asarray(rows[:, None] & columns[None, :])


def _clear(frames: IntArray, glitches: IntArray, margin: int) -> BoolArray:
    """Which frames have no glitch within ``margin`` frames. (N,)."""
    if not len(glitches):
        return np.ones(len(frames), dtype=bool)
    return np.asarray(np.abs(frames[:, None] - glitches[None, :]).min(axis=1) > margin)


def _moving(motion: Motion) -> BoolArray:
    """Frames in which the root travels, its ground speed averaged over 0.3 s. (F,)."""
    speed = np.linalg.norm(velocities(motion.root_positions, motion.fps)[:, [0, 2]], axis=-1)
    width = max(1, round(min(0.3 * motion.fps, motion.n_frames)))
    return np.asarray(np.convolve(speed, np.ones(width) / width, mode="same") > MOVING_M_S)


def _disagreement(a: BoolArray, b: BoolArray, *, half: int) -> FloatArray:
    """Share of plant flags that differ, averaged over diagonal windows. (n, m)."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    differ = (x @ (1.0 - y).T + (1.0 - x) @ y.T) / x.shape[1]
    padded = np.pad(differ, half, mode="edge")
    n, m = differ.shape
    total = np.zeros_like(differ)
    for d in range(2 * half + 1):
        total += padded[d : d + n, d : d + m]
    return np.asarray(total / (2 * half + 1))


def _local_minima(total: FloatArray, allowed: BoolArray, blocks: int = 0) -> IntArray:
    """Allowed cells (N, 2) that no neighbour or no cell of a block undercuts, lowest cost first."""
    cost = np.where(allowed, total, np.inf)
    padded = np.pad(cost, 1, constant_values=np.inf)
    n, m = cost.shape
    lowest = np.isfinite(cost)
    for di in (0, 1, 2):
        for dj in (0, 1, 2):
            if (di, dj) != (1, 1):
                lowest &= cost <= padded[di : di + n, dj : dj + m]
    if blocks:
        parts = [np.array_split(np.flatnonzero(allowed.any(axis=k)), blocks) for k in (1, 0)]
        for rows in filter(len, parts[0]):
            for columns in filter(len, parts[1]):
                block = cost[np.ix_(rows, columns)]
                i, j = np.unravel_index(block.argmin(), block.shape)
                lowest[rows[i], columns[j]] = np.isfinite(block[i, j])
    cells = np.argwhere(lowest)
    return np.asarray(cells[np.argsort(cost[tuple(cells.T)], kind="stable")])


# --- The join at a place


class Join(NamedTuple):
    """A, the blend and B as one clip; feet are not held yet."""

    motion: Motion
    """With the frames next to the blend repaired, where they are to be."""
    footplants: Footplants
    span: tuple[int, int]
    """First and last blended frame."""
    provenance: Provenance
    placement: PlanarTransform
    """Transforms B's coordinates into those of the result."""
    window: Window
    """The blend and the fades on both sides, the only frames that may differ from the clips."""
    kept: tuple[int, int]
    """Frames before and after the blend in which a foot is held until it swings."""

    def verify(self, check: QualityCheck) -> Verification:
        """Check the blended frames, with a little of A and B around them.

        What holding the feet mends is left out.
        """
        first, last = self.span
        low, high = max(0, first - CONTEXT), min(self.motion.n_frames, last + CONTEXT + 1)
        found = check.verify(
            self.motion[low:high],
            footplants=self.footplants[low:high],
            span=(first - low, last - low),
            provenance=self.provenance[low:high],
            held=False,
        )
        return with_failed(found, (each for each in found.failed if each.check not in MENDED))


def join_at(pair: Pair, place: Candidate, half: int, *, timewarp: bool) -> Join:
    """Join A and B at a place by a blend of up to ``2 * half + 1`` frames.

    With ``timewarp`` the clips follow each other's time inside the blend; otherwise both play
    frame by frame.
    """
    a, b, (plants_a, plants_b) = pair.a, pair.b, pair.footplants
    fade = round(FADE_S * a.fps)
    near = pair.near(place, max(3 * half + 12, 2 * half + fade + CONTEXT))
    curve = _curve(pair, near, place, half, timewarp)
    u = _parameters(curve, place, near.firsts, half)
    n = len(u)
    weight_of_a = ease(np.arange(n) / (n - 1))
    weights = np.stack([weight_of_a, 1.0 - weight_of_a], axis=-1)
    frames = curve.frames(u) + np.array(near.firsts)
    ends = round(float(frames[0, 0])), round(float(frames[-1, 1]))
    blend = _standing_on_a(evaluate(curve, u, weights, name=joined_name(a, "to", b)))
    placement = _at(blend.placement, -1) @ _at(blend.alignments, (-1, 1))
    planted = np.concatenate(
        [
            plants_a.planted[: ends[0] + 1],
            blend.footplants.planted[1:-1],
            plants_b.planted[ends[1] :],
        ]
    )
    span = ends[0], ends[0] + n - 1
    stance = _Stance.of(pair, near, ends, placement, planted[span[0] : span[1] + 1])
    placement = stance.shift @ placement
    planted[span[0] + 1 : span[1], stance.steps] = False
    made = blend.motion.root_positions + weights[:, 1:] * [stance.shift.x0, 0.0, stance.shift.z0]
    inner = [blend.motion.replace(root_positions=made)[1:-1]] if n > 2 else []
    captured = concatenate([a[: ends[0] + 1], *inner, transform(b, placement)[ends[1] :]])
    captured = captured.replace(name=blend.motion.name, source=a.source.for_result())
    usual = _fading(captured.n_frames, span, fade)
    held = span[0] - stance.kept[0], span[1] + stance.kept[1]
    blended = _inside(captured.n_frames, span)
    return Join(
        _with_repairs(captured, near, placement, ends, span, usual),
        Footplants(planted),
        span,
        _provenance(pair, captured.n_frames, span, frames, weights),
        placement,
        Window(
            captured,
            _fading(captured.n_frames, held, fade),
            blended | _inside(captured.n_frames, held),
        ),
        stance.kept,
    )


class _Stance(NamedTuple):
    """What feet that stand all through the blend ask for."""

    shift: PlanarTransform
    """Of B, by which these feet stand where they stand in A."""
    kept: tuple[int, int]
    """Frames before and after the blend in which they are held where the other clip has them: up
    to the swing of the foot, where B cannot be shifted so that they stand in the same place."""
    steps: IntArray
    """Columns of contacts that end in the blend, because they stand higher in one clip."""

    @classmethod
    def of(
        cls,
        pair: Pair,
        near: _Near,
        ends: tuple[int, int],
        placement: PlanarTransform,
        planted: BoolArray,
    ) -> _Stance:
        """``planted`` (N, 4) are the contacts of the blend."""
        columns = np.flatnonzero(planted.all(axis=0))
        shift, kept = PlanarTransform.identity(), (0, 0)
        if not len(columns) or legs_missing(pair.body):
            return cls(shift, kept, columns[:0])
        ours, theirs = (
            foot_points(clip, body=pair.body)[end - first, columns]
            for clip, end, first in zip(near.clips, ends, near.firsts, strict=True)
        )
        apart = ours - placement.apply(theirs)
        stays = np.abs(apart[:, 1]) <= STEP_M
        columns, steps, apart = columns[stays], columns[~stays], apart[stays]
        if not len(columns):
            return cls(shift, kept, steps)
        by = apart.mean(axis=0)
        if np.hypot(by[0], by[2]) <= MOST_SHIFT_M:
            shift = PlanarTransform(0.0, float(by[0]), float(by[2]))
            apart -= by * [1.0, 0.0, 1.0]
        far = columns[np.linalg.norm(apart, axis=-1) > SAME_PLACE_M]
        if len(far):
            kept = _until_they_swing(pair, ends, far)
        return cls(shift, kept, steps)


def _until_they_swing(pair: Pair, ends: tuple[int, int], columns: IntArray) -> tuple[int, int]:
    """Frames in which contacts last on before the blend, or after it: where that is sooner over."""
    before, after = 0, 0
    for column in columns:
        a = pair.footplants[0].planted[: ends[0] + 1, column][::-1]
        b = pair.footplants[1].planted[ends[1] :, column]
        before, after = (
            max(most, int(np.argmin(here)) if not here.all() else pair.a.n_frames + pair.b.n_frames)
            for most, here in ((before, a), (after, b))
        )
    if min(before, after) > LONGEST_S * pair.a.fps:
        return 0, 0
    return (before, 0) if before <= after else (0, after)


def _inside(n_frames: int, span: tuple[int, int]) -> BoolArray:
    """Frames that are neither A's nor B's. (F,)."""
    inside = np.zeros(n_frames, dtype=bool)
    inside[span[0] + 1 : span[1]] = True
    return inside


def _fading(n_frames: int, span: tuple[int, int], fade: int) -> FloatArray:
    """1 from the first to the last frame of ``span``, and less and less around it. (F,)."""
    at = np.arange(n_frames)
    return ease(np.maximum(span[0] - at, at - span[1]) / (fade + 1))


def _with_repairs(
    captured: Motion,
    near: _Near,
    placement: PlanarTransform,
    ends: tuple[int, int],
    span: tuple[int, int],
    share: FloatArray,
) -> Motion:
    """The join with repaired frames next to the blend, as far as ``share`` (F,) lets them in."""
    if not near.repaired:
        return captured
    leaves_a, enters_b = (end - first for end, first in zip(ends, near.firsts, strict=True))
    a, b = near.clips[0][: leaves_a + 1], transform(near.clips[1], placement)[enters_b:]
    low = span[0] + 1 - a.n_frames
    repaired = put_into(put_into(captured, a, low), b, span[1])
    return ease_to(captured, repaired, share)


def _provenance(
    pair: Pair,
    n_frames: int,
    span: tuple[int, int],
    frames: FloatArray,
    weights: FloatArray,
) -> Provenance:
    """Where every frame comes from; ``frames`` and ``weights`` (N, 2) are those of the blend."""
    first, last = span
    at = np.arange(n_frames, dtype=np.float64)
    times = np.stack([at, at - last + np.round(frames[-1, 1])], axis=-1)
    shares = np.stack([at <= first, at >= last], axis=-1).astype(np.float64)
    times[first + 1 : last], shares[first + 1 : last] = frames[1:-1], weights[1:-1]
    names = [clip.name or letter for clip, letter in zip((pair.a, pair.b), "AB", strict=True)]
    return Provenance.of_clips(names, pair.a.fps, times, shares, _inside(n_frames, span))


def _curve(
    pair: Pair, near: _Near, place: Candidate, half: int, timewarp: bool
) -> RegistrationCurve:
    """The registration of the parts of A and B that a blend at this place can need."""
    return register(
        near.clips,
        at=(place.frame_a - near.firsts[0], place.frame_b - near.firsts[1]),
        footplants=near.footplants,
        slope_limit=2 if timewarp else 0,
        epsilon=0.5,
        window_s=COMPARED_S,
        least_s=2.0 * half / pair.a.fps,
        body=pair.body,
        repair_knees=None,
        match=False,
    )


def _parameters(
    curve: RegistrationCurve, place: Candidate, firsts: tuple[int, int], half: int
) -> FloatArray:
    """Parameters of the blended frames, so that the blend starts and ends on whole frames.

    From the place the curve is walked back towards A and on towards B with the weights that each
    frame will have. Both ends are then shifted by less than a frame: the first onto a frame of A,
    the last onto a frame of B. Where the clips are too short, the blend takes fewer frames.
    """
    times, end = curve.times, curve.times.u_end
    at = (place.frame_a - firsts[0], place.frame_b - firsts[1])
    middle = 0.5 * (float(times.inverse(0, at[0])) + float(times.inverse(1, at[1])))
    middle = min(max(middle, 0.0), end)
    half = min(half, max(motion.n_frames for motion in curve.motions))  # a step plays one frame
    for h in range(half, 0, -1):
        w = ease(np.arange(2 * h + 1) / (2 * h))
        weights = np.stack([w, 1.0 - w], axis=-1)
        back = walk_parameters(times.points, weights[h::-1].copy(), middle, -1.0, 0.0, False)
        on = walk_parameters(times.points, weights[h:].copy(), middle, 1.0, end, False)
        if len(back) == h + 1 and len(on) == h + 1:
            snapped = _snapped(curve, np.concatenate([back[::-1], on[1:]]), h)
            if snapped is not None:
                return snapped * curve.frames_per_knot
    raise RegistrationError(
        f"A blend needs more frames around frame {place.frame_a} of A and {place.frame_b} of B. "
        "Choose another place with `at`, or leave `at` out."
    )


def _snapped(curve: RegistrationCurve, u: FloatArray, h: int) -> FloatArray | None:
    """``u`` moved onto whole frames at its ends; None if it would then run backwards."""
    times, end = curve.times, curve.times.u_end
    first = np.round(float(times(u[0])[0]))
    last = np.round(float(times(u[-1])[1]))
    shift_first = float(times.inverse(0, first)) - u[0]
    shift_last = float(times.inverse(1, last)) - u[-1]
    i = np.arange(-h, h + 1)
    moved = u + np.where(i <= 0, shift_first * ease((i + h) / h), shift_last * ease((h - i) / h))
    if np.diff(moved).min() <= 0.0 or moved[0] < -1e-9 or moved[-1] > end + 1e-9:
        return None
    return np.asarray(np.clip(moved, 0.0, end))


def _standing_on_a(blend: Evaluated) -> Evaluated:
    """The blend, moved so that its first frame stands where A stands."""
    back = (_at(blend.placement, 0) @ _at(blend.alignments, (0, 0))).inverse()
    return Evaluated(
        transform(blend.motion, back),
        blend.footplants,
        back @ blend.placement,
        blend.alignments,
        blend.wide_joints,
    )


def _at(transforms: PlanarTransform, index: int | tuple[int, int]) -> PlanarTransform:
    """One transform of an array of them."""
    return PlanarTransform(
        *(float(np.asarray(x)[index]) for x in (transforms.theta, transforms.x0, transforms.z0))
    )
