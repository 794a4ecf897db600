"""Fits our naturalness to candidates whose truth is known, and prints its constants.

    python benchmarks/natural_fit.py

Logistic regression on columns and their logarithms, on the tuning takes only. Weights are not
negative: a search over millions of blends would find whatever a negative weight rewards. A share of
the loss is of pairs of candidates of one query, so that easy queries alone do not make the score.
Captured windows count as good: without them running as such is called unnatural, because seconds of
running are the hardest to make again. The constants stand in ``transitions/scoring/natural.py``.

Weights are fitted to the tuning takes alone, but how to fit them (which pairs, their share, signs,
captured windows) was chosen among some seventy variants with the figures of the report takes in
view: expect a little less on clips that nobody has looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from motionloom.transitions.scoring.columns import COLUMNS
from natural_candidates import GAPS, LENGTH, frames_of_subject
from natural_truth import MISFITS, WAYS, Candidates, candidates, measured_columns
from registration_clips import mocap

USED = (
    "foot_in",
    "foot_worst_in",
    "slide_m_s",
    "low_slide_m_s",
    "disagreement",
    "disagreement_weighted",
    "root_spread",
    "zmp_max_in",
    "zmp_p95_in",
    "zmp_mean_in",
    "unsupported",
    "spread_m",
    "peak_acc",
    "com_acc",
)
ALONE = ("source", "nearest", "two far")
"""Kinds that are no transitions of their query's windows: left out of the pairs."""
PAIRS = 0.3
"""Share of the loss that is of pairs."""
CAPTURED = 1.0
"""What captured windows count beside all candidates."""
L2 = 3.0
CLEAR_CM, MOST_CM = 0.5, 5.0
"""Pairs count by the difference of their errors, from the first up to the second."""


def captured(
    folder: Path, half: str, *, subject: str = "143", stride: int = 25
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of captured windows of one half of the takes, and their takes."""
    frames = frames_of_subject(folder, subject)
    takes = json.loads(GAPS.read_text())[subject].get(f"{half}_takes", frames.ids)
    windows = frames.windows(LENGTH, stride=stride)
    names = np.array(frames.ids)[np.searchsorted(frames.starts, windows, side="right") - 1]
    mine = np.isin(names, takes)
    rows = np.full((int(mine.sum()), WAYS), -1)
    rows[:, 0] = windows[mine]
    return measured_columns(frames, rows), names[mine]


def design(data: Candidates, *, misfits: bool) -> tuple[np.ndarray, list[str]]:
    """Features (n, D) and their names; those of logarithms begin with ``log ``."""
    parts, names = [used_columns(data.columns)], [*USED, *(f"log {name}" for name in USED)]
    if misfits:
        parts += [data.misfits, np.log1p(100.0 * data.misfits)]
        names += [*MISFITS, *(f"log {name}" for name in MISFITS)]
    return np.concatenate(parts, axis=1), names


def used_columns(columns: np.ndarray) -> np.ndarray:
    """The columns used, and their logarithms."""
    used = columns[:, [COLUMNS.index(name) for name in USED]].astype(np.float64)
    return np.concatenate([used, np.log1p(np.maximum(used, 0.0))], axis=1)


def pairs_of(data: Candidates) -> np.ndarray:
    """Pairs (m, 2) of candidates of one query, the better one first."""
    pairs = []
    multi = ~np.isin(data.kind, ALONE)
    for query in np.unique(data.query):
        mine = np.flatnonzero((data.query == query) & multi)
        mine = mine[np.argsort(data.error[mine])]
        a, b = np.triu_indices(len(mine), 1)
        pairs.append(np.stack([mine[a], mine[b]], axis=1))
    joined = np.concatenate(pairs)
    return joined[data.error[joined[:, 1]] - data.error[joined[:, 0]] > CLEAR_CM]


def fit(
    data: Candidates, *, misfits: bool = False, natural: np.ndarray | None = None
) -> tuple[dict[str, float], float]:
    """Weights by feature and the bias: chance = 1 / (1 + exp(cost - bias)).

    ``natural`` are columns of captured windows, which together count as much as all candidates.
    """
    features, names = design(data, misfits=misfits)
    scale = features.std(axis=0) + 1e-9
    z = features / scale
    seen, sign = z[data.labelled], np.where(data.good[data.labelled], 1.0, -1.0)
    shares = np.full(len(sign), 1.0 / len(sign))
    if natural is not None:
        seen = np.concatenate([seen, used_columns(natural) / scale])
        shares = np.append(shares, np.full(len(natural), CAPTURED / len(natural)))
        sign = np.append(sign, np.ones(len(natural)))
    shares /= shares.sum()
    pairs = pairs_of(data)
    step = z[pairs[:, 1]] - z[pairs[:, 0]]
    counts = np.minimum(data.error[pairs[:, 1]] - data.error[pairs[:, 0]], MOST_CM)
    counts /= counts.sum()
    stiff = L2 / data.labelled.sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        v, bias = w[:-1], w[-1]
        margin = sign * (bias - seen @ v)
        pull = -sign * shares / (1.0 + np.exp(margin))
        apart = step @ v
        push = -(counts / (1.0 + np.exp(apart))) @ step
        value = (
            (1.0 - PAIRS) * (shares * np.logaddexp(0.0, -margin)).sum()
            + PAIRS * (counts * np.logaddexp(0.0, -apart)).sum()
            + 0.5 * stiff * (v @ v)
        )
        slope = -(1.0 - PAIRS) * (seen.T @ pull) + PAIRS * push + stiff * v
        return float(value), np.append(slope, (1.0 - PAIRS) * pull.sum())

    free = [(0.0, None)] * len(names) + [(None, None)]
    found = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", bounds=free).x
    weights = found[:-1] / scale
    kept = {n: float(f"{w:.4g}") for n, w in zip(names, weights, strict=True) if w > 1e-6}
    return kept, float(f"{found[-1]:.4g}")


def predicted(data: Candidates, weights: dict[str, float], bias: float) -> np.ndarray:
    """What :func:`fit` found says of candidates, (n,), high for good ones."""
    features, names = design(data, misfits=any(name in weights for name in MISFITS))
    return np.asarray(bias - features @ np.array([weights.get(name, 0.0) for name in names]))


def main() -> None:
    folder = mocap()
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    data = candidates(folder).of("tuning")
    natural, _ = captured(folder, "tuning")
    for name, (weights, bias) in {
        "NATURAL": fit(data, natural=natural),
        "with misfits, for comparison": fit(data, misfits=True),
    }.items():
        print(f"{name}: bias {bias:.4g}")
        for feature, weight in weights.items():
            print(f'    "{feature}": {weight},')


if __name__ == "__main__":
    main()
