"""Registration of three clips or more: pair by pair along a tree, then all on one curve.

Clips that are alike are matched well, and clips that are not (a sneak and a jog) are matched badly.
A tree of the cheapest pairs connects any two clips by steps between clips that are alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import RegistrationError
from motionloom.registration.curve import Spline, adjust_increasing, fit_spline
from motionloom.registration.pair_curve import (
    CurveRules,
    PairCurve,
    find_path,
    fit_alignment,
    fit_clips,
)
from motionloom.registration.timewarp import Grids, TimePath, find_corner_path
from motionloom.rotation.quat import PlanarTransform

PER_FRAME = 4
"""Samples per frame of the reference at which clips are followed through the tree."""


class ManyClips(NamedTuple):
    """Times and alignments of clips on one curve."""

    reference: int
    times: Spline
    """Frame of every clip. (n, K)"""
    alignments: list[Spline | None]
    costs: tuple[float, ...]
    """Distance of every clip from the reference along the curve, metres."""


def register_many(grids: Grids, rules: CurveRules, reference: int | None) -> ManyClips:
    """Every clip through the tree of the cheapest pairs, on the frames of the reference.

    Pairs of that tree can share parts of the reference that do not meet. Then, unless the caller
    names the reference, all clips are matched with the shortest one, each over so much of it that
    at least half of it belongs to all.
    """
    n_clips = len(grids.clips)
    paths = {
        (a, b): _path(grids, a, b, rules) for a in range(n_clips) for b in range(a + 1, n_clips)
    }
    cost = np.zeros((n_clips, n_clips))
    for (a, b), path in paths.items():
        cost[a, b] = cost[b, a] = np.sqrt(path.mean_cost)
    root = centre_of(cost) if reference is None else reference
    edges = cheapest_tree(cost, root)
    chosen = {
        edge: paths[edge] if edge in paths else _turned(paths[edge.child, edge.parent])
        for edge in edges
    }
    try:
        return _on_tree(grids, rules, chosen, root)
    except RegistrationError:
        if reference is not None or rules.closed:
            raise
    root = int(np.argmin([len(clip.points) for clip in grids.clips]))
    wide = dataclasses.replace(rules, cover=max(rules.cover, 1.0 - 0.5 / (n_clips - 1)))
    star = [Edge(root, child) for child in range(n_clips) if child != root]
    return _on_tree(grids, rules, {edge: _path(grids, *edge, wide) for edge in star}, root)


def _path(grids: Grids, a: int, b: int, rules: CurveRules) -> TimePath:
    """The path of two of the clips, which errors name."""
    try:
        return find_path(grids(a, b).cost, rules, [])
    except RegistrationError as error:
        raise RegistrationError(f"{grids.names[a]} and {grids.names[b]}: {error}") from error


def centre_of(cost: FloatArray) -> int:
    """Find the clip from which all others are cheapest to reach through the tree.

    Examples
    --------
    >>> centre_of(np.array([[0, 1, 9], [1, 0, 2], [9, 2, 0]]))
    1
    """
    totals = []
    for root in range(len(cost)):
        far = {root: 0.0}
        for parent, child in cheapest_tree(cost, root):
            far[child] = far[parent] + float(cost[parent, child])
        totals.append(sum(far.values()))
    return int(np.argmin(totals))


class Edge(NamedTuple):
    """A clip and the one through which it is reached."""

    parent: int
    child: int


def cheapest_tree(cost: FloatArray, root: int) -> list[Edge]:
    """Find the minimum spanning tree of the pairs, parents before their children.

    By the rule of Prim (1957): from the root on, the clip nearest to any reached one comes next. Of
    several that are equally near, the first.

    Parameters
    ----------
    cost : (K, K)
        Cost of matching two clips; symmetric.
    root
        Where the tree begins.

    Examples
    --------
    >>> cost = np.array([[0, 1, 9], [1, 0, 2], [9, 2, 0]])
    >>> [tuple(edge) for edge in cheapest_tree(cost, 0)]
    [(0, 1), (1, 2)]
    """
    left = [k for k in range(len(cost)) if k != root]
    reached, edges = [root], []
    while left:
        parent, child = min(((p, c) for p in reached for c in left), key=lambda edge: cost[edge])
        edges.append(Edge(parent, child))
        reached.append(child)
        left.remove(child)
    return edges


def _turned(path: TimePath) -> TimePath:
    """The path with its clips exchanged."""
    return TimePath(np.ascontiguousarray(path.cells[:, ::-1]), path.cost)


def _on_tree(
    grids: Grids, rules: CurveRules, paths: Mapping[Edge, TimePath], reference: int
) -> ManyClips:
    """All clips on the frames of the reference, through the paths of a tree."""
    if not rules.closed:
        paths = _cropped(grids, paths, reference, rules)
    pairs = {
        edge: fit_clips(grids, grids(*edge), path, edge, rules) for edge, path in paths.items()
    }
    frames, carried = _followed(grids, pairs, reference)
    times, alignments = _fitted(grids, rules, frames, carried)
    return ManyClips(reference, times, alignments, _distances(grids, frames, reference))


def _cropped(
    grids: Grids,
    paths: Mapping[Edge, TimePath],
    reference: int,
    rules: CurveRules,
) -> dict[Edge, TimePath]:
    """Paths over the part of the reference that all clips share, their ends forced together."""
    n = len(grids.clips[reference].points)
    along = np.linspace(0.0, n - 1.0, PER_FRAME * (n - 1) + 1)
    frames = {reference: along}
    inside = np.ones(len(along), dtype=bool)
    for (parent, child), path in paths.items():
        cells = path.cells.astype(np.float64)
        at = frames[parent]
        inside &= (at >= cells[0, 0]) & (at <= cells[-1, 0])
        first, where = np.unique(cells[:, 0], return_index=True)
        where[-1] = len(cells) - 1
        frames[child] = np.interp(at, first, cells[where, 1])
        if not inside.any():
            raise RegistrationError(
                f"The clips have no part in common: {grids.names[child]} shares with "
                f"{grids.names[parent]} what others do not. Leave it out, name another "
                "`reference`, or use ends='match'."
            )
    cropped = {}
    for edge, path in paths.items():
        at = frames[edge.parent][inside]
        rows = path.cells[:, 0]
        shared = path.cells[(rows >= np.floor(at[0])) & (rows <= np.ceil(at[-1]))]
        (i, j), (n, m) = shared[0], shared[-1]
        if at[-1] - at[0] < 2.0 or len(shared) < 2:
            raise RegistrationError(
                f"The clips have no part in common: only {(at[-1] - at[0]) / grids.rate:.2f} s "
                f"of {grids.names[edge.parent]} belong to all. Leave {grids.names[edge.child]} "
                "out, name another `reference`, or use ends='match'."
            )
        part = find_corner_path(
            grids(*edge).cost[i : n + 1, j : m + 1], slope_limit=rules.slope_limit
        )
        cropped[edge] = TimePath(part.cells + np.array([i, j]), part.cost)
    return cropped


def _followed(
    grids: Grids, pairs: Mapping[Edge, PairCurve], reference: int
) -> tuple[FloatArray, list[FloatArray | None]]:
    """Frames (N, K) of all clips, and turn and offset (N, 3) of each from the reference.

    The transform of a clip to its parent is applied first, then that of the parent to the
    reference.
    """
    n_clips = len(grids.clips)
    n = len(grids.clips[reference].points)
    along = np.linspace(0.0, n - 1.0, PER_FRAME * (n - 1) + 1)
    frames: dict[int, FloatArray] = {reference: along}
    carried: dict[int, FloatArray] = {reference: np.zeros((len(along), 3))}
    inside = np.ones(len(along), dtype=bool)
    for (parent, child), pair in pairs.items():
        ends = pair.times(np.array([0.0, pair.times.u_end]))[:, 0]
        inside &= (frames[parent] >= ends[0] - 1e-9) & (frames[parent] <= ends[1] + 1e-9)
        u = np.clip(pair.times.inverse(0, frames[parent]), 0.0, pair.times.u_end)
        frames[child] = pair.times(u)[:, 1]
        step, above = pair.alignment(u), carried[parent]
        flat = np.stack([step[:, 1], np.zeros(len(u)), step[:, 2]], axis=-1)
        turned = PlanarTransform(above[:, 0], 0.0, 0.0).apply(flat)
        carried[child] = above + np.stack([step[:, 0], turned[:, 0], turned[:, 2]], axis=-1)
    if int(inside.sum()) < 3 * PER_FRAME:
        raise RegistrationError(
            f"The clips share only {inside.sum() / PER_FRAME / grids.rate:.2f} s of the "
            f"reference, {grids.names[reference]}. Choose clips of the same action, or name "
            "another `reference`."
        )
    values = np.stack([frames[k][inside] for k in range(n_clips)], axis=-1)
    moved = [None if k == reference else carried[k][inside] for k in range(n_clips)]
    return values, moved


def _fitted(
    grids: Grids,
    rules: CurveRules,
    frames: FloatArray,
    carried: list[FloatArray | None],
) -> tuple[Spline, list[Spline | None]]:
    """Times, in frames of the clips, and alignments as splines over one parameter."""
    along = frames.mean(axis=1)
    length = float(along[-1] - along[0])
    n_points = 2 + max(1, int(np.ceil(length / max(rules.knot_s * grids.rate, 1.0))))
    u = (along - along[0]) * ((n_points - 2.0) / length)
    ends = frames[[0, -1]]
    times = fit_spline(u, frames, n_points, ends=ends)
    times = adjust_increasing(times, epsilon=rules.epsilon, ends=ends)
    alignments = [None if c is None else fit_alignment(u, c, n_points) for c in carried]
    return Spline(times.points * grids.stride), alignments


def _distances(grids: Grids, frames: FloatArray, reference: int) -> tuple[float, ...]:
    """Root mean square distance of every clip from the reference, metres."""
    cells = np.round(frames).astype(np.int64)
    costs = []
    for k in range(frames.shape[1]):
        cost = 0.0
        if k != reference:
            a, b = sorted((k, reference))  # as the grids were made
            cost = float(grids(a, b).cost[cells[:, a], cells[:, b]].mean())
        costs.append(float(np.sqrt(cost)))
    return tuple(costs)
