"""Candidates of the naturalness protocol measured: error to what was captured, columns, misfits."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.transitions.columns import COLUMNS
from motionloom.transitions.frames import Frames
from motionloom.transitions.kernel import score_recipes
from motionloom.transitions.natural import measure_misfits
from motionloom.transitions.seen_windows import SeenWindows
from motionloom.transitions.terms import terms_of
from motionloom.transitions.windows import compared_joints
from natural_candidates import LENGTH, PLAN, frames_of_subject

GOOD_CM, BAD_CM = 6.0, 9.8
"""Nearer to what was captured than the first is good, farther than the second is bad."""
FADE = 20
"""Frames in which the trial's pins of both ends fade."""
WAYS = 4


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
    misfits: np.ndarray
    """How far the blend's ends are from the query's. (n, 4)"""

    def of(self, half: str) -> Candidates:
        """Those of one half."""
        return Candidates(*(part[self.half == half] for part in self))

    @property
    def labelled(self) -> np.ndarray:
        """Whether each is clearly good or clearly bad."""
        return (self.error < GOOD_CM) | (self.error > BAD_CM)

    @property
    def good(self) -> np.ndarray:
        return self.error < GOOD_CM


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
    terms = terms_of(frames, windows, LENGTH)
    out = np.zeros((len(rows), len(COLUMNS)), dtype=np.float32)
    for mine, blended in by_ways(rows):
        ids = np.full((len(mine), WAYS), -1, dtype=np.int32)
        ids[:, : blended.shape[1]] = np.searchsorted(windows, blended)
        out[mine] = score_recipes(terms, ids)
    return out


def seen_joints(windows: SeenWindows, joints: np.ndarray, to: SeenWindows | None) -> np.ndarray:
    """Joints (n, T, J, 3) in the frame of each window's start; with ``to``, ends pinned to its."""
    heading = windows.heading - windows.heading[:, :1]
    ground = _turned(windows.ground - windows.ground[:, :1], -windows.heading[:, :1])
    body = windows.body[:, :, joints].astype(np.float64)
    if to is not None:
        u = np.linspace(0.0, 1.0, heading.shape[1])
        left = np.clip(1.0 - np.arange(heading.shape[1]) / FADE, 0.0, 1.0)
        fade = left * left * (3.0 - 2.0 * left)
        target = to.body[:, :, joints].astype(np.float64)
        body = body + fade[:, None, None] * (target[:, :1] - body[:, :1])
        body = body + fade[::-1, None, None] * (target[:, -1:] - body[:, -1:])
        turn = (to.heading - to.heading[:, :1])[:, -1:] - heading[:, -1:]
        heading = heading + u * (np.mod(turn + np.pi, 2.0 * np.pi) - np.pi)
        there = _turned(to.ground - to.ground[:, :1], -to.heading[:, :1])[:, -1:]
        ground = ground + u[:, None] * (there - ground[:, -1:])
    flat = _turned(body[..., [0, 2]], heading[..., None]) + ground[:, :, None]
    return np.stack([flat[..., 0], body[..., 1], flat[..., 1]], axis=-1)


def measured_errors(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Mean joint error (n,) of pinned blends to the queries' own frames, cm."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    errors = np.zeros(len(rows))
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            truth = SeenWindows.of_rows(frames, queries[mine[some]], LENGTH)
            made = SeenWindows.of_blends(frames, blended[some], LENGTH)
            apart = seen_joints(made, joints, truth) - seen_joints(truth, joints, None)
            errors[mine[some]] = 100.0 * np.linalg.norm(apart, axis=-1).mean(axis=(1, 2))
    return errors


def measured_misfits(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    out = np.zeros((len(rows), 4))
    for mine, blended in by_ways(rows):
        out[mine] = measure_misfits(
            frames, blended, LENGTH, frames, queries[mine], queries[mine] + LENGTH - 1
        )
    return out


@lru_cache(maxsize=1)
def candidates(folder: Path) -> Candidates:
    """All candidates of the protocol, measured."""
    frames = frames_of_subject(folder, "143")
    plan = json.loads(PLAN.read_text())
    if plan["rows"] != frames.n_rows:
        raise SystemExit(f"{PLAN} is of {plan['rows']} rows, the clips here have {frames.n_rows}.")
    parts = []
    for half, queries in plan["queries"].items():
        for query in queries:
            for kind, windows in query.items():
                if kind != "query":
                    padded = windows + [-1] * (WAYS - len(windows))
                    parts.append((padded, half, query["query"], kind))
    rows = np.array([part[0] for part in parts])
    queries = np.array([part[2] for part in parts])
    return Candidates(
        rows,
        np.array([part[1] for part in parts]),
        queries,
        np.array([part[3] for part in parts]),
        np.array([frames.place_of(int(query))[0] for query in queries]),
        measured_errors(frames, rows, queries),
        measured_columns(frames, rows),
        measured_misfits(frames, rows, queries),
    )


def _turned(ground: np.ndarray, angle: np.ndarray) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
