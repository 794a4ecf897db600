"""Columns: what is measured of a blend, the kernel that measures it, and costs."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from motionloom._arrays import one_of
from motionloom._core import Record, constant, kernel
from motionloom._core import record as core_record
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.features.balance import ROLL_S
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import N_ROWS, N_SEGMENTS, IntArray32, Terms

INCH = constant("ML_INCH")
"""Metres. The papers' scores are in inches."""

COLUMNS = (
    # Known from root and feet alone.
    "foot_in",
    "foot_worst_in",
    "planted",
    "slide_m_s",
    "low_slide_m_s",
    "disagreement",
    "disagreement_weighted",
    "root_spread",
    # Known once the whole body is blended.
    "zmp_max_in",
    "zmp_p95_in",
    "zmp_mean_in",
    "scored",
    "unsupported",
    "bare",
    "spread_m",
    "speed_ratio",
    "peak_acc",
    "com_acc",
    "ballistic",
)
"""What is measured of every blend before its feet are cleaned.

foot_in: mean distance of planted balls from their plants, inches ([I7]_ section 4).
foot_worst_in: the same of the worst plant.
planted: frames of accepted plants, both feet together.
slide_m_s: mean speed of a ball over the ground while its plant lasts.
low_slide_m_s: mean speed of balls that are low, planted or not.
disagreement: frames, of both feet, in which some windows stand and others do not ([I6]_).
disagreement_weighted: the same, 4 p (1 - p) a frame with p the weight of the windows that stand.
root_spread: how much roots of the windows differ in velocity, m/s.
zmp_max_in, zmp_p95_in, zmp_mean_in: distance of the zero moment point from the support, inches.
scored: frames in which it is measured.
unsupported: frames neither in flight nor within 0.1 s of an accepted plant.
bare: frames neither in flight nor in an accepted plant.
spread_m: how much postures of the windows differ, mass-weighted, metres.
speed_ratio: energy of the posture's motion against that of the windows; 1 loses nothing.
peak_acc: largest acceleration of a segment about the centre of mass, seen from the body, m/s2.
com_acc: largest acceleration of the centre of mass, m/s2.
ballistic: how far the worst flight is from free fall, 0 without one; a blend that never stands is
one flight.
"""

N_FEET_COLUMNS = 8
"""Columns before this one need neither posture nor centre of mass."""


BALLISTIC_IN = 12.0
"""Inches that a flight pays for not falling: a body that hangs still in the air pays this much, one
in free fall nothing."""


def column(name: str) -> int:
    """Place of a column by its name."""
    return COLUMNS.index(one_of(name, COLUMNS, "name"))


@dataclass(frozen=True, slots=True, eq=False)
@record
class Ranking:
    """A cost of blends, lower is better: weighted columns, and weighted logarithms of them.

    ``cost = sum_c linear[c] x[c] + log[c] log(1 + x[c])``. A search leaves out what cannot be
    among the best only where the cost of columns not yet measured cannot be negative.

    Attributes
    ----------
    linear : array
        (C,)
    log : array
        (C,)

    Examples
    --------
    >>> [float(PAPER.linear[column(name)]) for name in ("foot_in", "zmp_max_in")]
    [1.0, 1.0]
    """

    linear: FloatArray32
    log: FloatArray32

    @classmethod
    def of(cls, linear: dict[str, float], log: dict[str, float] | None = None) -> Ranking:
        """A ranking from weights by column name.

        Returns
        -------
        Ranking
            One weight for each column; those not named are 0.
        """
        both = []
        for weights in (linear, log or {}):
            values = np.zeros(len(COLUMNS), dtype=np.float32)
            for name, weight in weights.items():
                values[column(name)] = weight
            values.flags.writeable = False
            both.append(values)
        return cls(*both)

    def weights(self) -> dict[str, dict[str, float]]:
        """Linear and logarithmic weights by column, those that are not 0.

        Returns
        -------
        dict
            By kind of weight, weights by column.
        """
        return {
            name: {
                column: float(weight)
                for column, weight in zip(COLUMNS, getattr(self, name), strict=True)
                if weight != 0.0
            }
            for name in ("linear", "log")
        }

    def cost(self, columns: FloatArray32) -> FloatArray32:
        """Costs (n,) of measured columns (n, C).

        Returns
        -------
        (n,) array
            Less is better.
        """
        x = np.asarray(columns, dtype=np.float64)
        with np.errstate(invalid="ignore"):  # of blends that no body can do: infinite columns
            total = x @ self.linear.astype(np.float64)
            total += np.log1p(np.maximum(x, 0.0)) @ self.log.astype(np.float64)
        return np.asarray(np.where(np.isnan(total), np.inf, total))

    @property
    def prunes(self) -> bool:
        """Whether feet alone bound the cost from below."""
        late = slice(N_FEET_COLUMNS, None)
        return bool((self.linear[late] >= 0.0).all() and (self.log[late] >= 0.0).all())

    @property
    def bounded_by_spread(self) -> bool:
        """Whether the spread counts and nothing can make up for it."""
        weights = np.stack([self.linear, self.log])
        return bool((weights >= 0.0).all() and weights[:, column("spread_m")].any())


PAPER = Ranking.of({"foot_in": 1.0, "zmp_max_in": 1.0, "ballistic": BALLISTIC_IN})
"""The sum of the second paper, inches ([I7]_ section 4)."""


N_PATHS = 35
"""Series over the padded frames that scoring a blend leaves behind."""

_score = kernel("ml_recipe_score")
_judges: WeakKeyDictionary[Terms, Record] = WeakKeyDictionary()


def terms_record(terms: Terms) -> Record:
    """Terms and all else that scoring needs, as the core reads them; built once."""
    cached = _judges.get(terms)
    if cached is not None:
        return cached
    arrays = terms.arrays
    built = core_record(
        "ml_terms",
        n_windows=terms.n_windows,
        n_padded=arrays.rows.shape[2],
        n_plants=arrays.spans.shape[2],
        n_taps=terms.taps.shape[1],
        length=terms.length,
        pad=terms.pad,
        roll=round(ROLL_S * terms.fps),
        fps=terms.fps,
        low=terms.low,
        **arrays._asdict(),
        taps=terms.taps,
        weights=terms.weights,
        sole=terms.sole,
        masses=terms.masses,
    )
    _judges[terms] = built
    return built


def scratch_of(terms: Terms) -> Record:
    """Memory for scoring one blend at a time; each thread needs its own."""
    padded, plants = terms.arrays.rows.shape[2], terms.arrays.spans.shape[2]
    most = MOST_WAYS * plants
    return core_record(
        "ml_scratch",
        n_padded=padded,
        n_plants=plants,
        length=terms.length,
        rows=np.zeros((N_ROWS, padded), dtype=np.float32),
        posture=np.zeros((padded, 3 * N_SEGMENTS), dtype=np.float32),
        path=np.zeros((N_PATHS, padded), dtype=np.float32),
        plants=np.zeros((most, 5), dtype=np.float32),
        spans=np.zeros((most, 3), dtype=np.int32),
        order=np.zeros(most, dtype=np.int32),
        chosen=np.zeros((2, most, 4), dtype=np.float32),
        labels=np.zeros((2, terms.length), dtype=np.int16),
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
    given = np.asarray(ids, dtype=np.int32)
    if given.ndim != 2 or given.shape[1] > MOST_WAYS:
        raise ArrayError(
            f"`ids` must have one row of at most {MOST_WAYS} windows for each blend, got an array "
            f"of shape {given.shape}."
        )
    recipes = np.full((len(given), MOST_WAYS), -1, dtype=np.int32)
    recipes[:, : given.shape[1]] = given
    out = np.zeros((len(recipes), len(COLUMNS)), dtype=np.float32)
    score_into(terms_record(terms), scratch_of(terms), recipes, out)
    return out


def score_into(terms: Record, scratch: Record, recipes: IntArray32, out: FloatArray32) -> None:
    """Measure every recipe (n, 4) of a batch into a row of ``out`` (n, C)."""
    _score(terms, scratch, len(recipes), recipes, out)
