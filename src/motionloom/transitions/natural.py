"""Naturalness: how likely a blend is near to how a person would move, from 0 to 1.

The papers' sum finds what is feasible: of 200 seconds cut out of captured clips and made again, the
blends with the least sum were farther from what was captured than plain 2-way blends. Ours is a
logistic regression on the same measurements, fitted to candidates whose truth is known
(``benchmarks/natural_fit.py``; takes that it was fitted on are not reported on).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.transitions.columns import Ranking
from motionloom.transitions.ends import turned
from motionloom.transitions.frames import Frames
from motionloom.transitions.seen_windows import SeenWindows
from motionloom.transitions.windows import compared_joints

__all__ = [
    "MISFITS",
    "NATURAL",
    "THRESHOLD",
    "is_natural",
    "measure_misfits",
    "naturalness",
    "naturalness_between",
]

THRESHOLD = 0.5
"""From this naturalness on a transition is called natural."""

NATURAL = Ranking.of(
    {
        "foot_in": 0.03064,
        "disagreement": 0.001575,
        "disagreement_weighted": 0.01036,
        "root_spread": 0.6293,
        "zmp_mean_in": 0.07471,
        "spread_m": 38.32,
        "peak_acc": 0.006558,
    },
    log={
        "low_slide_m_s": 1.359,
        "spread_m": 34.73,
        "peak_acc": 0.2308,
        "com_acc": 1.809,
    },
)
"""What searches minimise: the cost that naturalness falls with. No weight is negative."""
BIAS = 6.682

MISFITS = ("start_m", "end_m", "miss_m", "turn")
"""How far a blend is from the gap that it is to fill, before it is bent to fit: mean distance of
joints at its start and at its end, of where it ends over the ground, metres, and of where it faces
there, radians."""

BETWEEN = Ranking.of(
    {
        "foot_in": 0.01778,
        "low_slide_m_s": 0.1326,
        "spread_m": 39.78,
        "peak_acc": 0.01104,
        "com_acc": 0.1813,
    },
    log={
        "low_slide_m_s": 1.806,
        "spread_m": 34.76,
        "peak_acc": 0.01933,
        "com_acc": 1.857,
    },
)
BETWEEN_BIAS = 17.5
BETWEEN_LINEAR = np.array([26.54, 12.18, 5.855, 0.674])
BETWEEN_LOG = np.array([1.742, 1.727, 0.0, 0.2964])
"""Of misfits, and of log(1 + 100 misfit)."""


def naturalness(columns: npt.ArrayLike) -> FloatArray:
    """Chance (n,) that each blend is a natural one, by the measurements (n, C) of the kernel.

    ``NATURAL.cost`` ranks alike and is what searches minimise.

    Examples
    --------
    >>> from motionloom.transitions.columns import COLUMNS
    >>> bool(naturalness(np.zeros((1, len(COLUMNS))))[0] > THRESHOLD)
    True
    """
    return _chance(BIAS - NATURAL.cost(np.atleast_2d(np.asarray(columns, dtype=np.float32))))


def naturalness_between(columns: npt.ArrayLike, misfits: npt.ArrayLike) -> FloatArray:
    """The same (n,) of blends that are bent to fill a gap, by their misfits (n, 4) too."""
    x = np.atleast_2d(np.asarray(misfits, dtype=np.float64))
    cost = BETWEEN.cost(np.atleast_2d(np.asarray(columns, dtype=np.float32)))
    return _chance(BETWEEN_BIAS - cost - x @ BETWEEN_LINEAR - np.log1p(100.0 * x) @ BETWEEN_LOG)


def is_natural(columns: npt.ArrayLike) -> BoolArray:
    """Whether each blend passes the threshold, (n,)."""
    return np.asarray(naturalness(columns) >= THRESHOLD)


def measure_misfits(
    frames: Frames,
    rows: npt.ArrayLike,
    length: int,
    around: Frames,
    starts: IntArray,
    ends: IntArray,
) -> FloatArray:
    """How far blends are from gaps that they are to fill, (n, 4) as :data:`MISFITS`.

    Parameters
    ----------
    frames, rows, length
        The collection, first rows (n, N) of the windows that are blended, and their frames.
    around, starts, ends
        Where the gaps are, and the rows (n,) at their two sides.
    """
    made = SeenWindows.of_blends(frames, rows, length)
    joints = compared_joints(frames.skeleton, frames.body_map)

    def apart(k: int, at: IntArray) -> FloatArray:
        way = made.body[:, k, joints].astype(np.float64) - around.body[at][:, joints]
        return np.asarray(np.linalg.norm(way, axis=-1).mean(axis=-1))

    goes = turned(made.ground[:, -1] - made.ground[:, 0], -made.heading[:, 0])
    asked = turned(around.ground[ends] - around.ground[starts], -around.heading[starts])
    turn = made.heading[:, -1] - made.heading[:, 0]
    turn -= around.heading[ends] - around.heading[starts]
    return np.stack(
        [
            apart(0, starts),
            apart(-1, ends),
            np.linalg.norm(goes - asked, axis=-1),
            np.abs(np.mod(turn + np.pi, 2.0 * np.pi) - np.pi),
        ],
        axis=-1,
    )


def _chance(logit: npt.ArrayLike) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(logit, dtype=np.float64))))
