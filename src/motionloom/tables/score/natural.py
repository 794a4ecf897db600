"""Naturalness: how similar a blend is to captured motion, from 0 to 1.

The papers' sum finds what is feasible: of 200 seconds cut out of captured clips and remade, the
blends with the least sum were farther from what was captured than plain 2-way blends. Two scores
take its place. :data:`NATURAL` orders the blends between one source and one target; searches
minimise it. :func:`naturalness` rates a blend by its own source and target: 3 cm matter more in a
person who stands than in one who runs, and more in a child than in an adult. It divides what the
kernel measures by what the two captured windows do, so that it means the same for all of them, at
any frame rate. It is fitted to several subjects (``studies/tables/natural_fit.py``) and evaluated
on the subject that is left out.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, one_of
from motionloom._core import constant
from motionloom.errors import ArrayError
from motionloom.features.balance import GRAVITY
from motionloom.tables.score.columns import INCH, PAPER, Ranking, column, score_recipes
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import TRAVEL, Terms

RELATIVE = ("posture", "velocity", "feet", "acceleration")
"""What naturalness weighs; each is 0 for a captured window and has no unit.

posture: how much postures of the windows differ, relative to how much they move.
velocity: how much velocities of their roots differ, relative to their speed.
feet: how far planted feet are from their plants, relative to the way in a quarter of a second
(less for a child, whose steps are quicker).
acceleration: logarithm of the largest acceleration of the centre of mass over that of the source
and the target; 0 where it is smaller.
"""

STILL = constant("ML_NATURAL_STILL")
"""Part of the stature that is added to the movement: people who stand still differ as well."""
SLOW = constant("ML_NATURAL_SLOW")
"""Speed that is added to the speed of the root, as a part of ``sqrt(gravity * stature)``: 1 m/s for
an adult."""
STEP = constant("ML_NATURAL_STEP")
"""Duration of the way that foot errors are compared with, as a part of ``sqrt(stature / gravity)``:
0.25 s for an adult."""


class Reference(NamedTuple):
    """How the source and the target of n blends move.

    Attributes
    ----------
    stature : float
        Metres.
    movement : array
        Distance of the posture from its mean, root mean square over frames, by mass; metres. (n,)
    speed : array
        Speed of the root, root mean square, a turn as in ``root_spread``; m/s. (n,)
    com_acc : array
        Largest acceleration of the centre of mass, mean of both; m/s2. (n,)
    """

    stature: float
    movement: FloatArray
    speed: FloatArray
    com_acc: FloatArray


def reference_of(terms: Terms, ends: npt.ArrayLike) -> Reference:
    """How source and target of blends move.

    Parameters
    ----------
    terms
        Of all windows that occur.
    ends : (n, 2)
        Source and target of each blend as places in ``terms``.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> from motionloom.tables.score.terms import terms_of
    >>> motions = [synthetic.clip(name).motion for name in ("stand", "run")]
    >>> terms = terms_of(frames_of(motions), [0, motions[0].n_frames], 30)
    >>> stand, run = reference_of(terms, [[0, 0], [1, 1]]).speed
    >>> bool(run > stand)
    True
    """
    pairs = np.atleast_2d(np.asarray(ends, dtype=np.int32))
    windows, at = np.unique(pairs, return_inverse=True)
    at = at.reshape(pairs.shape)
    recipes = np.full((len(windows), MOST_WAYS), -1, dtype=np.int32)
    recipes[:, 0] = windows
    inside = slice(terms.pad, terms.pad + terms.length)
    posture = terms.arrays.posture[windows, inside].astype(np.float64)
    from_mean = np.square(posture - posture.mean(axis=1, keepdims=True)).sum(axis=2).mean(axis=1)
    steps = slice(terms.pad + 1, terms.pad + terms.length)
    travel = terms.arrays.rows[windows, TRAVEL, steps].astype(np.float64).mean(axis=1)
    com_acc = score_recipes(terms, recipes)[:, column("com_acc")].astype(np.float64)
    return Reference(
        float(terms.sole[3]),
        np.sqrt(from_mean[at].mean(axis=1)),
        np.sqrt(travel[at].mean(axis=1)),
        com_acc[at].mean(axis=1),
    )


def relative_columns(columns: npt.ArrayLike, reference: Reference) -> FloatArray:
    """What naturalness weighs, (n, 4) as :data:`RELATIVE`, from the kernel's columns (n, C).

    Parameters
    ----------
    columns : (n, C)
        From :func:`motionloom.tables.score.columns.score_recipes`.
    reference
        Of the same blends, or of one for all.
    """
    x = np.atleast_2d(np.asarray(columns, dtype=np.float64))
    if len(reference.speed) not in (1, len(x)):
        raise ArrayError(
            f"`reference` must be of one blend or of all {len(x)}, got {len(reference.speed)}. "
            "Take it from reference_of with one row for each row of `columns`."
        )
    stature = max(reference.stature, 1e-6)
    speed = reference.speed + SLOW * np.sqrt(GRAVITY * stature)
    way = STEP * np.sqrt(stature / GRAVITY) * speed
    faster = (1.0 + x[:, column("com_acc")]) / (1.0 + reference.com_acc)
    return np.stack(
        [
            x[:, column("spread_m")] / (reference.movement + STILL * stature),
            x[:, column("root_spread")] / speed,
            INCH * x[:, column("foot_in")] / way,
            np.log(np.maximum(faster, 1.0)),
        ],
        axis=1,
    )


THRESHOLD = 0.5
"""From this naturalness on a transition is called natural. The bias is chosen so that 95 % of the
good blends that the weights were fitted to pass it."""
FAILED_MOST = 0.25
"""Largest naturalness of a motion that fails a quality check."""

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
"""What searches minimise: a logistic regression on blends of CMU 143, ranked for each source and
target. No weight is negative."""

RANKINGS = {"natural": NATURAL, "paper": PAPER}
"""What can be searched for, by name."""

WEIGHTS = {name: constant(f"ML_NATURAL_{name.upper()}") for name in RELATIVE}
"""How naturalness falls with each relative column. No weight is negative."""
BIAS = constant("ML_NATURAL_BIAS")


def naturalness(
    columns: npt.ArrayLike,
    reference: Reference,
    *,
    failed: Sized = (),
) -> FloatArray:
    """How natural each blend is (n,), by the measurements (n, C) of the kernel.

    Parameters
    ----------
    columns : (n, C)
        From :func:`motionloom.tables.score.columns.score_recipes`.
    reference
        How source and target of each blend move, from
        :func:`motionloom.tables.score.natural.reference_of`.
    failed
        Quality checks that the finished motion fails. If there are any, naturalness is at most
        :data:`FAILED_MOST`: the measurements are of the blend before feet are held, and cannot
        know what a joint does afterwards.

    Examples
    --------
    >>> from motionloom.tables.score.columns import COLUMNS
    >>> walk = Reference(1.7, np.array([0.06]), np.array([1.3]), np.array([3.0]))
    >>> captured = np.zeros((1, len(COLUMNS)))
    >>> bool(naturalness(captured, walk)[0] > THRESHOLD)
    True
    >>> float(naturalness(captured, walk, failed=["knee bent backwards"])[0])
    0.25
    """
    shown = np.atleast_2d(np.asarray(columns, dtype=np.float32))
    weights = np.array([WEIGHTS[name] for name in RELATIVE])
    logit = BIAS - relative_columns(shown, reference) @ weights
    chance = np.asarray(0.5 * (1.0 + np.tanh(0.5 * logit)))
    return np.minimum(chance, FAILED_MOST) if len(failed) else chance


def is_natural(
    columns: npt.ArrayLike,
    reference: Reference,
    *,
    failed: Sized = (),
) -> BoolArray:
    """Whether each blend passes the threshold, (n,)."""
    return np.asarray(naturalness(columns, reference, failed=failed) >= THRESHOLD)


def ranking_of(score: str) -> Ranking:
    """The ranking of a score's name."""
    return RANKINGS[one_of(score, RANKINGS, "score")]
