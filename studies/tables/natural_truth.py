"""Candidates of the naturalness protocol measured: error to what was captured, columns, bends.

A candidate is good or bad by its distance from the captured second, relative to a tolerance: a
posture that is 5 cm off, or a timing that is 0.07 s off at the pace of the query's joints. At
walking pace that is 6 cm; a run may be farther off than somebody who stands. Only candidates that
are hardly bent count: a table's transition begins and ends with its own captured windows, and what
is wrong with a blend that must be bent is mostly that.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.columns import COLUMNS, score_recipes
from motionloom.tables.score.natural import Reference, reference_of
from motionloom.tables.score.terms import terms_of
from studies.captured_clips import protocol
from studies.measures.bends import BENDS, measure_bends
from studies.measures.window_batch import WindowBatch
from studies.tables.natural_candidates import GROUPS, frames_of_subject, window_length

POSTURE_CM, TIMING_S, BAD = 5.0, 0.07, 1.63
"""Tolerance of an adult's posture and timing; candidates beyond the third times it are bad."""
ADULT_M = 1.65
BENT_M = 0.04
"""Candidates whose posture is bent by more, for an adult, are left out."""
FAST_M_S = 0.6
"""Mean speed of joints about the root from which a query is fast; walks have about 0.45."""
ALONE = ("source", "nearest", "two far")
"""Kinds that are no transitions between their query's windows: left out."""
FADE_S = 1.0 / 3.0
"""Seconds in which the corrections of both ends fade."""
WAYS = 4
FAMILY = "eased"
"""Weights of the blends: those of tables at run time."""


class Candidates(NamedTuple):
    """Blends with what is known of them; one row each."""

    rows: np.ndarray
    """First rows of the windows, -1 where there are fewer than four. (n, 4)"""
    half: np.ndarray
    """``"tuning"`` or ``"report"``. (n,)"""
    query: np.ndarray
    kind: np.ndarray
    take: np.ndarray
    error: np.ndarray
    """Mean distance of joints from the captured ones, ends pinned, cm. (n,)"""
    columns: np.ndarray
    """What the kernel measures. (n, C)"""
    own: np.ndarray
    """Stature, and movement, speed and acceleration of source and target, as in ``Reference``.
    (n, 4)"""
    pace: np.ndarray
    """Mean speed of the query's joints about the root, m/s. (n,)"""
    bends: np.ndarray
    """How far the blend is bent to fit the query's two sides, as ``BENDS``. (n, 2)"""

    def of(self, half: str) -> Candidates:
        """Those of one half."""
        return Candidates(*(part[self.half == half] for part in self))

    @property
    def reference(self) -> Reference:
        return Reference(float(self.own[0, 0]), *self.own[:, 1:].T)

    @property
    def off(self) -> np.ndarray:
        """Error in tolerances. (n,)"""
        tolerance = np.hypot(POSTURE_CM, 100.0 * TIMING_S * self.pace)
        return np.asarray(self.error / (tolerance * self.own[:, 0] / ADULT_M))

    @property
    def labelled(self) -> np.ndarray:
        """Whether each is a hardly bent blend and clearly good or clearly bad."""
        clear = (self.off < 1.0) | (self.off > BAD)
        return self.hardly_bent & clear & ~np.isin(self.kind, ALONE)

    @property
    def hardly_bent(self) -> np.ndarray:
        """Whether each fits the query's ends nearly as it is."""
        return self.bends[:, 0] < BENT_M * self.own[:, 0] / ADULT_M

    @property
    def good(self) -> np.ndarray:
        return self.off < 1.0


def by_ways(rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Which candidates blend how many windows, and those windows; one alone is blended with
    itself."""
    counts = (rows >= 0).sum(axis=1)
    groups = []
    for n in range(1, WAYS + 1):
        mine = np.flatnonzero(counts == n)
        if len(mine):
            windows = rows[mine, :n]
            groups.append((mine, np.repeat(windows, 2, axis=1) if n == 1 else windows))
    return groups


def measured_columns(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Columns (n, C) of blends given by first rows (n, 4)."""
    windows = np.unique(rows[rows >= 0])
    terms = terms_of(frames, windows, window_length(frames), family=FAMILY)
    out = np.zeros((len(rows), len(COLUMNS)), dtype=np.float32)
    for mine, blended in by_ways(rows):
        ids = np.full((len(mine), WAYS), -1, dtype=np.int32)
        ids[:, : blended.shape[1]] = np.searchsorted(windows, blended)
        out[mine] = score_recipes(terms, ids)
    return out


def measured_reference(frames: Frames, rows: np.ndarray) -> Reference:
    """How the first and the last window of blends (n, 4) move."""
    last = (rows >= 0).sum(axis=1) - 1
    ends = np.stack([rows[:, 0], rows[np.arange(len(rows)), last]], axis=1)
    windows, at = np.unique(ends, return_inverse=True)
    terms = terms_of(frames, windows, window_length(frames), family=FAMILY)
    return reference_of(terms, at.reshape(ends.shape))


def measured_pace(frames: Frames, queries: np.ndarray) -> np.ndarray:
    """Mean speed (n,) of joints about the root, m/s."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    windows, at = np.unique(queries, return_inverse=True)
    body = WindowBatch.of_rows(frames, windows, window_length(frames)).body[:, :, joints]
    speeds = frames.fps * np.linalg.norm(np.diff(body.astype(np.float64), axis=1), axis=-1)
    return np.asarray(speeds.mean(axis=(1, 2))[at])


def pinned(windows: WindowBatch, to: WindowBatch) -> WindowBatch:
    """Windows (n, T) moved to begin where others begin, their ends bent to meet those of others."""
    length = windows.heading.shape[1]
    u = np.linspace(0.0, 1.0, length)
    left = np.clip(1.0 - np.arange(length) / (FADE_S * windows.fps), 0.0, 1.0)
    fade = left * left * (3.0 - 2.0 * left)
    body = windows.body.astype(np.float64)
    body = body + fade[:, None, None] * (to.body[:, :1] - body[:, :1])
    body = body + fade[::-1, None, None] * (to.body[:, -1:] - body[:, -1:])
    heading, ground = from_start(windows)
    to_heading, to_ground = from_start(to)
    turn = to_heading[:, -1:] - heading[:, -1:]
    heading = heading + u * (np.mod(turn + np.pi, 2.0 * np.pi) - np.pi)
    ground = ground + u[:, None] * (to_ground[:, -1:] - ground[:, -1:])
    return WindowBatch(heading, ground, body.astype(np.float32), windows.fps)


def from_start(windows: WindowBatch) -> tuple[np.ndarray, np.ndarray]:
    """Headings (n, T) and ground (n, T, 2) as seen from each window's start."""
    ground = _turned(windows.ground - windows.ground[:, :1], -windows.heading[:, :1])
    return windows.heading - windows.heading[:, :1], ground


def seen_joints(windows: WindowBatch, joints: np.ndarray, to: WindowBatch | None) -> np.ndarray:
    """Joints (n, T, J, 3) in the frame of each window's start; with ``to``, ends pinned to its."""
    if to is not None:
        windows = pinned(windows, to)
    heading, ground = from_start(windows)
    body = windows.body[:, :, joints].astype(np.float64)
    flat = _turned(body[..., [0, 2]], heading[..., None]) + ground[:, :, None]
    return np.stack([flat[..., 0], body[..., 1], flat[..., 1]], axis=-1)


def measured_errors(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Mean joint error (n,) of pinned blends to the queries' own frames, cm."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    length = window_length(frames)
    errors = np.zeros(len(rows))
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            truth = WindowBatch.of_rows(frames, queries[mine[some]], length)
            blends = WindowBatch.of_blends(frames, blended[some], length, family=FAMILY)
            apart = seen_joints(blends, joints, truth) - seen_joints(truth, joints, None)
            errors[mine[some]] = 100.0 * np.linalg.norm(apart, axis=-1).mean(axis=(1, 2))
    return errors


def measured_bends(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    out = np.zeros((len(rows), len(BENDS)))
    length = window_length(frames)
    for mine, blended in by_ways(rows):
        first = queries[mine]
        out[mine] = measure_bends(
            frames, blended, length, frames, first, first + length - 1, family=FAMILY
        )
    return out


@lru_cache(maxsize=5)
def candidates(folder: Path, subject: str = "143") -> Candidates:
    """All candidates of a subject's protocol, measured."""
    frames = frames_of_subject(folder, subject)
    plan = protocol(GROUPS[subject].plan)
    if plan["rows"] != frames.n_rows:
        raise SystemExit(
            f"{GROUPS[subject].plan} is of {plan['rows']} rows, the clips here have "
            f"{frames.n_rows}."
        )
    parts = []
    for half, queries in plan["queries"].items():
        for query in queries:
            for kind, windows in query.items():
                if kind != "query":
                    padded = windows + [-1] * (WAYS - len(windows))
                    parts.append((padded, half, query["query"], kind))
    rows = np.array([part[0] for part in parts])
    queries = np.array([part[2] for part in parts])
    own = measured_reference(frames, rows)
    return Candidates(
        rows,
        np.array([part[1] for part in parts]),
        queries,
        np.array([part[3] for part in parts]),
        np.array([frames.place_of(int(query))[0] for query in queries]),
        measured_errors(frames, rows, queries),
        measured_columns(frames, rows),
        np.stack([np.full(len(rows), own.stature), *own[1:]], axis=1),
        measured_pace(frames, queries),
        measured_bends(frames, rows, queries),
    )


def _turned(ground: np.ndarray, angle: np.ndarray) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
