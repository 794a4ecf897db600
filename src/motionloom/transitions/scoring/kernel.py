"""The kernel: what a blend of windows is worth, from sums of their terms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom.features.support import ROLL_S
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.scoring.blend_feet import judge_plants, judge_steps
from motionloom.transitions.scoring.columns import COLUMNS
from motionloom.transitions.scoring.terms import MOST_WAYS, Terms
from motionloom.transitions.scoring.window_terms import IntArray32, TermArrays

__all__ = [
    "Judge",
    "Scratch",
    "blend_posture",
    "blend_rows",
    "judge_of",
    "score_into",
    "score_recipes",
    "scratch_of",
]


class Judge(NamedTuple):
    """What judging needs besides terms."""

    taps: FloatArray32
    weights: FloatArray32
    sole: FloatArray32
    masses: FloatArray32
    length: int
    pad: int
    half: int
    """Frames on either side of one that its acceleration looks at."""
    fps: np.float32
    roll: int
    """Frames that a foot carries before and after its plant, where support is counted."""
    low: np.float32
    """Height under which a ball is low, metres."""
    posture: bool
    """Whether to measure the posture's own columns."""


class Scratch(NamedTuple):
    """Room to work in, made once for many blends."""

    rows: FloatArray32
    """The blend. (17, P)"""
    posture: FloatArray32
    """(P, 48)"""
    path: FloatArray32
    """Series over the padded frames, and a few more. (26, P + 4)"""
    plants: FloatArray32
    """Candidates of one foot: error, place, direction. (4 M, 5)"""
    spans: IntArray32
    """First and last frame of them, and 1 where taken, 2 where not, 0 where undecided. (4 M, 3)"""
    chosen: FloatArray32
    """Accepted plants: foot, plant, (place, direction). (2, 4 M, 4)"""
    label: npt.NDArray[np.int16]
    """Accepted plant of each foot in every frame, -1 for none. (2, T)"""
    corners: FloatArray32
    """Corners of soles, and their hull. (2, 10, 2)"""


def judge_of(terms: Terms, *, posture: bool = True) -> Judge:
    """What the kernel needs to know besides the windows' own terms.

    Without ``posture`` its columns (spread, speed, acceleration) are left as they are.
    """
    return Judge(
        terms.taps,
        terms.weights,
        terms.sole,
        terms.masses,
        terms.length,
        terms.pad,
        terms.pad - 1,
        np.float32(terms.fps),
        round(ROLL_S * terms.fps),
        np.float32(terms.low),
        posture,
    )


def scratch_of(terms: Terms) -> Scratch:
    """Room for judging one blend at a time."""
    padded = terms.arrays.rows.shape[2]
    most = MOST_WAYS * terms.arrays.spans.shape[2]
    return Scratch(
        np.zeros(terms.arrays.rows.shape[1:], dtype=np.float32),
        np.zeros(terms.arrays.posture.shape[1:], dtype=np.float32),
        np.zeros((26, padded + 4), dtype=np.float32),
        np.zeros((most, 5), dtype=np.float32),
        np.zeros((most, 3), dtype=np.int32),
        np.zeros((2, most, 4), dtype=np.float32),
        np.zeros((2, terms.length), dtype=np.int16),
        np.zeros((2, 10, 2), dtype=np.float32),
    )


def score_recipes(terms: Terms, ids: npt.ArrayLike) -> FloatArray32:
    """What is measured of blends of windows. Shape (n, C), columns as in :data:`COLUMNS`.

    Parameters
    ----------
    terms
        Of all windows that occur.
    ids : (n, N)
        Windows of each blend as places in ``terms``: source first, target last, then -1 where a
        blend has fewer than N ways. N is at most 4; one way is a captured window as it is.
    """
    recipes = np.ascontiguousarray(ids, dtype=np.int32)
    out = np.zeros((len(recipes), len(COLUMNS)), dtype=np.float32)
    score_into(terms.arrays, judge_of(terms), scratch_of(terms), recipes, out)
    return out


@njit(cache=True, error_model="numpy", boundscheck=False)
def score_into(
    arrays: TermArrays, judge: Judge, scratch: Scratch, recipes: IntArray32, out: FloatArray32
) -> None:
    """Measure every recipe of a batch into a row of ``out``."""
    for k in range(len(recipes)):
        ids = recipes[k]
        n = 0
        while n < len(ids) and ids[n] >= 0:
            n += 1
        blend_rows(arrays.rows, ids, n, judge.weights, scratch.rows)
        judge_steps(arrays, judge, scratch, ids, n, out[k])
        judge_plants(arrays, judge, scratch, ids, n, out[k])
        judge_travel(arrays, judge, scratch, ids, n, out[k])
        blend_posture(arrays.posture, ids, n, judge.weights, scratch.posture)
        if judge.posture:
            judge_posture(judge, scratch, out[k])
        judge_balance(arrays, judge, scratch, ids, n, out[k])


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def blend_rows(
    rows: FloatArray32, ids: IntArray32, n: int, weights: FloatArray32, out: FloatArray32
) -> None:
    """Weighted sum of the rows (17, P) of ``n`` windows.

    Source, target, then those between: the order in which a search shares its sums.
    """
    for i in range(n):
        k = slot_of(i, n)
        c, w = rows[ids[k]], weights[n - 1, k]
        for q in range(out.shape[0]):
            if i == 0:
                for t in range(out.shape[1]):
                    out[q, t] = w[t] * c[q, t]
            else:
                for t in range(out.shape[1]):
                    out[q, t] += w[t] * c[q, t]


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def blend_posture(
    posture: FloatArray32, ids: IntArray32, n: int, weights: FloatArray32, out: FloatArray32
) -> None:
    """Weighted sum of the postures (P, 48) of ``n`` windows, in the same order."""
    if n == 1:
        for t in range(len(out)):
            for g in range(out.shape[1]):
                out[t, g] = posture[ids[0], t, g]
        return
    a, b = posture[ids[0]], posture[ids[n - 1]]
    w = weights[n - 1]
    c, d = posture[ids[min(1, n - 2)]], posture[ids[min(2, n - 2)]]
    for t in range(len(out)):
        # Fewer ways leave the last of these weights, and what they would add, at nought.
        first, last = w[0, t], w[n - 1, t]
        second = w[1, t] if n > 2 else np.float32(0.0)
        third = w[2, t] if n > 3 else np.float32(0.0)
        # Two steps, so that it rounds as the shared sums of a search do.
        for g in range(out.shape[1]):
            out[t, g] = first * a[t, g]
        for g in range(out.shape[1]):
            out[t, g] = out[t, g] + last * b[t, g] + second * c[t, g] + third * d[t, g]


@inner(error_model="numpy", boundscheck=False)
def slot_of(i: int, n: int) -> int:
    """Which window of ``n`` is added as number ``i``: first, last, second, third."""
    if i == 1:
        return n - 1
    return 0 if i == 0 else i - 1
