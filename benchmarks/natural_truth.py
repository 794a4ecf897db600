"""Candidates of the naturalness protocol measured: error to what was captured, columns, bends."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.likeness.windows import compared_joints
from motionloom.transitions.scoring.bends import BENDS, measure_bends
from motionloom.transitions.scoring.columns import COLUMNS
from motionloom.transitions.scoring.kernel import score_recipes
from motionloom.transitions.scoring.seen_windows import SeenWindows
from motionloom.transitions.scoring.terms import terms_of
from natural_candidates import LENGTH, PLANS, frames_of_subject

GOOD_CM, BAD_CM = 6.0, 9.8
"""Nearer to what was captured than the first is good, farther than the second is bad."""
FADE = 20
"""Frames in which the trial's pins of both ends fade."""
WAYS = 4
MISFITS = ("start_m", "end_m", "miss_m", "turn")
"""Mean distance of joints at the start and at the end, of where it ends over the ground, metres,
and of where it faces there, radians: a baseline without any score."""


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
    bends: np.ndarray
    """How far the blend is bent to fit the query's two sides, as ``BENDS``. (n, 2)"""
    misfits: np.ndarray
    """How far its ends are from the query's before it is bent, as ``MISFITS``. (n, 4)"""

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


def pinned(windows: SeenWindows, to: SeenWindows) -> SeenWindows:
    """Windows (n, T) moved to begin where others begin, their ends bent to meet those of others."""
    length = windows.heading.shape[1]
    u = np.linspace(0.0, 1.0, length)
    left = np.clip(1.0 - np.arange(length) / FADE, 0.0, 1.0)
    fade = left * left * (3.0 - 2.0 * left)
    body = windows.body.astype(np.float64)
    body = body + fade[:, None, None] * (to.body[:, :1] - body[:, :1])
    body = body + fade[::-1, None, None] * (to.body[:, -1:] - body[:, -1:])
    heading, ground = from_start(windows)
    to_heading, to_ground = from_start(to)
    turn = to_heading[:, -1:] - heading[:, -1:]
    heading = heading + u * (np.mod(turn + np.pi, 2.0 * np.pi) - np.pi)
    ground = ground + u[:, None] * (to_ground[:, -1:] - ground[:, -1:])
    return SeenWindows(heading, ground, body.astype(np.float32), windows.fps)


def from_start(windows: SeenWindows) -> tuple[np.ndarray, np.ndarray]:
    """Headings (n, T) and ground (n, T, 2) as seen from each window's start."""
    ground = _turned(windows.ground - windows.ground[:, :1], -windows.heading[:, :1])
    return windows.heading - windows.heading[:, :1], ground


def seen_joints(windows: SeenWindows, joints: np.ndarray, to: SeenWindows | None) -> np.ndarray:
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
    errors = np.zeros(len(rows))
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            truth = SeenWindows.of_rows(frames, queries[mine[some]], LENGTH)
            made = SeenWindows.of_blends(frames, blended[some], LENGTH)
            apart = seen_joints(made, joints, truth) - seen_joints(truth, joints, None)
            errors[mine[some]] = 100.0 * np.linalg.norm(apart, axis=-1).mean(axis=(1, 2))
    return errors


def measured_bends(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    out = np.zeros((len(rows), len(BENDS)))
    for mine, blended in by_ways(rows):
        first = queries[mine]
        out[mine] = measure_bends(frames, blended, LENGTH, frames, first, first + LENGTH - 1)
    return out


def measured_misfits(frames: Frames, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), len(MISFITS)))
    for mine, blended in by_ways(rows):
        made = SeenWindows.of_blends(frames, blended, LENGTH)
        asked = SeenWindows.of_rows(frames, queries[mine], LENGTH)
        (heading, ground), (to_heading, to_ground) = from_start(made), from_start(asked)
        for k, at in enumerate((0, -1)):
            way = made.body[:, at, joints].astype(np.float64) - asked.body[:, at, joints]
            out[mine, k] = np.linalg.norm(way, axis=-1).mean(axis=-1)
        out[mine, 2] = np.linalg.norm(ground[:, -1] - to_ground[:, -1], axis=-1)
        turn = heading[:, -1] - to_heading[:, -1]
        out[mine, 3] = np.abs(np.mod(turn + np.pi, 2.0 * np.pi) - np.pi)
    return out


@lru_cache(maxsize=2)
def candidates(folder: Path, subject: str = "143") -> Candidates:
    """All candidates of a subject's protocol, measured."""
    frames = frames_of_subject(folder, subject)
    plan = json.loads(PLANS[subject].read_text())
    if plan["rows"] != frames.n_rows:
        raise SystemExit(
            f"{PLANS[subject]} is of {plan['rows']} rows, the clips here have {frames.n_rows}."
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
    return Candidates(
        rows,
        np.array([part[1] for part in parts]),
        queries,
        np.array([part[3] for part in parts]),
        np.array([frames.place_of(int(query))[0] for query in queries]),
        measured_errors(frames, rows, queries),
        measured_columns(frames, rows),
        measured_bends(frames, rows, queries),
        measured_misfits(frames, rows, queries),
    )


def _turned(ground: np.ndarray, angle: np.ndarray) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
