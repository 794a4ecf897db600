"""Fits naturalness to blends of several groups, and prints its constants.

    python -m studies.tables.natural_fit

Logistic regression on the four columns of ``tables/score/natural.py``. Every group counts
the same, and in it good and bad blends do. Good are candidates near to what was captured,
captured windows and blends of nearly equal ones; bad are candidates far from what was captured and
blends of far windows. Weights are not negative. The threshold of 0.5 is placed by the bias: 95 % of
the good candidates, mean over the groups that are fitted to, pass it. ``transitions_natural.py``
does the same with one group left out and reports on that group.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from motionloom.tables.score.natural import RELATIVE, relative_columns
from studies.captured_clips import mocap
from studies.tables.natural_candidates import GROUPS
from studies.tables.natural_made import made_blends
from studies.tables.natural_truth import Candidates, candidates

PASSED = 0.95
"""Part of the good candidates that the threshold lets pass."""
L2 = 0.003
MADE = 0.5
"""What captured, near and far blends count, each, relative to candidates of the same label."""


class Fitted(NamedTuple):
    """Weights of the relative columns, and the bias: chance = 1 / (1 + exp(x @ weights - bias))."""

    weights: np.ndarray
    bias: float

    def logit(self, relative: np.ndarray) -> np.ndarray:
        """Above 0 for what is called natural. (n,)."""
        return np.asarray(self.bias - relative @ self.weights)


def relative_of(data: Candidates) -> np.ndarray:
    """Relative columns (n, 4) of candidates before they are bent."""
    return relative_columns(data.columns, data.reference)


def material(folder: Path, group: str) -> list[tuple[np.ndarray, bool, float]]:
    """Relative columns of a group's blends, whether they are good, and what they count."""
    data = candidates(folder, group)
    relative, clear = relative_of(data), data.labelled
    blends = {
        kind: relative_columns(each.columns, each.reference)
        for kind, each in made_blends(folder, group).items()
    }
    return [
        (relative[clear & data.good], True, 1.0),
        (blends["captured"], True, MADE),
        (blends["near"], True, MADE),
        (relative[clear & ~data.good], False, 1.0),
        (blends["far"], False, MADE),
    ]


def fit(folder: Path, groups: Sequence[str]) -> Fitted:
    """Weights and bias from some groups."""
    balanced = fit_parts([material(folder, group) for group in groups])
    return balanced._replace(bias=balanced.bias - _passing(folder, groups, balanced))


def fit_parts(groups: Sequence[list[tuple[np.ndarray, bool, float]]]) -> Fitted:
    """Weights and bias from what groups are made of, as ``material`` gives it."""
    parts, signs, shares = [], [], []
    for items in groups:
        for relative, good, counts in items:
            whole = sum(other for _, label, other in items if label == good)
            parts.append(relative)
            signs.append(np.full(len(relative), 1.0 if good else -1.0))
            shares.append(np.full(len(relative), counts / whole / max(len(relative), 1)))
    x, sign, share = (np.concatenate(each) for each in (parts, signs, shares))
    share /= share.sum()
    scale = x.std(axis=0) + 1e-9
    z = x / scale

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (w[-1] - z @ w[:-1])
        pull = -sign * share / (1.0 + np.exp(np.minimum(margin, 50.0)))
        value = np.sum(share * np.logaddexp(0.0, -margin)) + 0.5 * L2 * (w[:-1] @ w[:-1])
        return float(value), np.append(L2 * w[:-1] - z.T @ pull, pull.sum())

    free = [(0.0, None)] * len(RELATIVE) + [(None, None)]
    weights = minimize(loss, np.zeros(len(free)), jac=True, method="L-BFGS-B", bounds=free).x
    return Fitted(weights[:-1] / scale, float(weights[-1]))


def _passing(folder: Path, groups: Sequence[str], fitted: Fitted) -> float:
    """Logit that 95 % of the good candidates reach, mean over groups."""
    limits = []
    for group in groups:
        data = candidates(folder, group)
        good = relative_of(data)[data.labelled & data.good]
        limits.append(np.quantile(fitted.logit(good), 1.0 - PASSED))
    return float(np.mean(limits))


def main() -> None:
    folder = mocap()
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    fitted = fit(folder, list(GROUPS))
    print(f"WEIGHTS {dict(zip(RELATIVE, fitted.weights.round(2).tolist(), strict=True))}")
    print(f"BIAS {fitted.bias:.2f}")


if __name__ == "__main__":
    main()
