"""Foot placement: when and where the feet of an average of windows stand, and legs that follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.motion import runs_of
from motionloom.rotation.quat import smoothstep
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.stance import BALLS
from motionloom.tables.synthesis.passage import Passage
from motionloom.tables.synthesis.synthesis import (
    NOT_HELD,
    Foot,
    Rig,
    chain_pose,
    clear_ground,
    follow_feet,
    keep_true_labels,
    lower_root,
    rows_of,
    run_offsets,
    sole_points,
)

HALF = 0.5
"""A foot stands where windows of this weight stand."""
SHORTEST_S, GAP_S = 4 / 60, 6 / 60
"""Holds are at least the first long, and at least the second apart."""
CREEP = 0.06
"""A foot that stands all through the gap may creep this far, metres; beyond, it steps."""
STEP_S, STEP_SPEED = 0.2, 1.6
"""A step takes this long, and longer by its way at this speed, m/s."""
MOST_ACCELERATION = 25.0
"""Feet are moved to and from where they are held no more abruptly, m/s2; captured feet do 15 to
30 where people walk."""
HEEL_UP = 0.06
"""A heel this much higher than its ball is not planted, metres: of heels that are labelled as
planted in captured clips 99.9 % are lower."""
NEAR = 0.015
"""A foot that stands at an end stands on while windows leave it this close, metres."""


class Holds(NamedTuple):
    """When and where the balls of both feet are held."""

    held: IntArray
    """Number of the hold, or ``NOT_HELD``. (2, L)"""
    places: FloatArray
    """Where the ball is to be in frames held, metres. (2, L, 3)"""


def choose_holds(
    votes: FloatArray,
    balls: FloatArray,
    ends: BoolArray,
    fps: float,
    *,
    heights: FloatArray | None = None,
) -> Holds:
    """Holds of both feet by the votes of windows, true to who stands at the ends.

    Parameters
    ----------
    votes : (2, L)
        Weight of the windows in which the foot stands.
    balls : (2, L, 3)
        Where the average has the balls.
    ends : (2, 2)
        Whether each foot stands at the gap's start and at its end.
    fps
        Frames per second.
    heights : (2, L)
        How high windows stand in each frame, metres, nan where none does: an average of windows
        in different phases has its foot higher. By default the average's own.
    """
    length = votes.shape[1]
    held = np.full((2, length), NOT_HELD, dtype=np.int64)
    places = np.zeros((2, length, 3))
    for side in range(2):
        ball = balls[side]
        stands = _smoothed(votes[side] > HALF, ball, ends[side], fps)
        runs = []
        for first, last in runs_of(stands):
            at_start = first == 0 and bool(ends[side, 0])
            at_end = last == length - 1 and bool(ends[side, 1])
            frames = slice(first, last + 1)
            if at_start and at_end:
                u = np.linspace(0.0, 1.0, length)[:, None]
                eased = smoothstep(u)
                places[side, frames] = (1.0 - eased) * ball[0] + eased * ball[-1]
            elif at_start or at_end:
                places[side, frames] = ball[0] if at_start else ball[-1]
            else:
                places[side, frames] = ball[frames].mean(axis=0)
                if heights is not None and np.isfinite(heights[side, frames]).any():
                    places[side, frames, 1] = np.nanmean(heights[side, frames])
            runs.append([first, last])
        for number, (first, last) in enumerate(_with_room(runs, places[side] - ball, fps)):
            held[side, first : last + 1] = number
    return Holds(held, places)


def _with_room(runs: list[list[int]], offsets: FloatArray, fps: float) -> list[list[int]]:
    """Holds shortened until feet have time to go from one to the next, and to free ends.

    A foot that is moved by ``d`` within a time has the acceleration ``6 d / time^2`` at least.
    """
    length, shortest = len(offsets), round(SHORTEST_S * fps)
    runs = [list(run) for run in runs]
    for _ in range(length):
        edges = [[-1, 0], *runs, [length - 1, -1]]
        tight = False
        for k in range(len(edges) - 1):
            left, right = edges[k], edges[k + 1]
            begin, end = max(left[1], 0), right[0]
            if (k == 0 and right[0] == 0) or (k == len(edges) - 2 and left[1] == length - 1):
                continue
            before = offsets[begin] if k > 0 else np.zeros(3)
            after = offsets[end] if k < len(edges) - 2 else np.zeros(3)
            need = fps * np.sqrt(6.0 * _far(before, after) / MOST_ACCELERATION)
            if end - begin < need:
                tight = True
                if k > 0:
                    left[1] -= 1
                if k < len(edges) - 2:
                    right[0] += 1
        runs = [run for run in runs if run[1] - run[0] + 1 >= shortest or _at_seam(run, length)]
        if not tight:
            break
    return [run for run in runs if run[1] >= run[0]]


def _at_seam(run: list[int], length: int) -> bool:
    """Whether a hold is at the gap's first or last frame, where feet do stand."""
    return (run[0] == 0 or run[1] == length - 1) and run[1] >= run[0]


def _smoothed(stands: BoolArray, ball: FloatArray, ends: BoolArray, fps: float) -> BoolArray:
    """Votes without short runs, gaps and runs without a start, with time for a step."""
    stands, length = np.array(stands), len(stands)
    gap, shortest = round(GAP_S * fps), round(SHORTEST_S * fps)
    for end, way, stands_at_end in ((0, 1, ends[0]), (length - 1, -1, ends[1])):
        border = slice(None, gap) if way == 1 else slice(length - gap, None)
        if not stands_at_end:
            stands[border] = False
            continue
        at = end
        while 0 <= at < length and (stands[at] or _far(ball[at], ball[end]) < NEAR):
            stands[at] = True
            at += way
    for first, last in runs_of(~stands):
        if first > 0 and last < length - 1 and last - first + 1 < gap:
            stands[first : last + 1] = True
    apart = _far(ball[0], ball[-1])
    if stands.all() and apart > CREEP:
        wide = min(round(fps * (STEP_S + apart / STEP_SPEED)), length - 2 * shortest)
        passed = np.linalg.norm(ball - ball[0], axis=-1) > np.linalg.norm(ball - ball[-1], axis=-1)
        lift = int(np.argmax(passed)) - wide // 2
        lift = min(max(lift, shortest), length - wide - shortest)
        stands[lift : lift + wide] = False
    for first, last in runs_of(stands):
        if last - first + 1 < shortest and first > 0 and last < length - 1:
            stands[first : last + 1] = False
    return stands


def _far(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(a - b))


def hold_feet(
    frames: Frames,
    rig: Rig,
    at: IntArray,
    weights: FloatArray,
    passage: Passage,
    ends: BoolArray,
    *,
    held: bool = True,
) -> tuple[Passage, BoolArray]:
    """The passage with feet that stand where windows stand, and which points do, (L, 4).

    Parameters
    ----------
    frames, rig
        The collection and its skeleton.
    at, weights
        Rows of the windows (K, L) and their weights (K,).
    passage
        Their average.
    ends : (2, 2)
        Whether each foot stands at the gap's start and at its end.
    held
        Whether feet are held; without it they are only kept above the floor.
    """
    length = len(passage.heading)
    root = np.array(passage.root_positions, order="C")
    quats = np.array(passage.local_quats, order="C")
    pose = chain_pose(rig, root, quats)
    soles = sole_points(rig, *pose)
    heels, balls = (np.ascontiguousarray(soles[:, k::2].swapaxes(0, 1)) for k in range(2))
    planted = frames.planted[at]  # (K, L, 4)
    votes = np.einsum("k,klp->pl", weights, planted)
    holds = Holds(np.full((2, length), NOT_HELD, dtype=np.int64), np.zeros((2, length, 3)))
    if held:
        standing = weights[:, None, None] * planted[..., list(BALLS)]  # (K, L, 2)
        shares_of_all = standing.sum(axis=0)
        levels = np.einsum("klp,klp->lp", standing, frames.points[at][..., list(BALLS), 1])
        heights = np.where(shares_of_all > 0.0, levels / np.maximum(shares_of_all, 1e-12), np.nan)
        holds = choose_holds(votes[list(BALLS)], balls, ends, frames.fps, heights=heights.T)
    feet = [Foot(side, holds.held[side], heels[side], balls[side]) for side in range(2)]
    shifts, tilts = np.zeros((2, length, 3)), np.zeros((2, length))
    shares = np.ascontiguousarray(np.broadcast_to(weights[:, None], at.shape))
    rows, at_frames = rows_of(frames), np.ascontiguousarray(at.T)
    for foot in feet:
        side, ball = foot.side, foot.ball
        lowest = frames.points[at, 2 * side + 1, 1].min()
        lowest = min(float(lowest), float(ball[0, 1]), float(ball[-1, 1]))
        np.maximum(holds.places[side, :, 1], lowest, out=holds.places[side, :, 1])
        shifts[side] = run_offsets(foot.held, holds.places[side], ball)
        tilts[side] = clear_ground(rows, at_frames, shares, foot, frames.fps, shifts[side])
    drops = lower_root(rig, pose[0], holds.held, shifts)
    for foot in feet:
        follow_feet(rig, foot, shifts[foot.side], tilts[foot.side], drops, pose, quats)
    root[:, 1] -= drops
    points = (votes > HALF).T
    if held:
        points[:, BALLS] = (holds.held != NOT_HELD).T
    moved = Passage(passage.heading, root, quats)
    return moved, true_labels(rig, moved, frames.fps, points)


def true_labels(rig: Rig, passage: Passage, fps: float, planted: BoolArray) -> BoolArray:
    """Labels (L, 4) of foot points without those that move in a passage, and heels that are up.

    Windows stand flat; ends of a gap that they are bent to meet may be on tiptoe.
    """
    points = sole_points(rig, *chain_pose(rig, passage.root_positions, passage.local_quats))
    labels = np.array(planted, order="C")
    heels, balls = points[:, ::2, 1], points[:, 1::2, 1]
    labels[:, ::2] &= heels - balls < HEEL_UP
    keep_true_labels(points, fps, labels)
    return labels
