"""Baselines of naturalness: single columns, the papers' scores, HMMs, the search ranking."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.columns import COLUMNS, PAPER
from motionloom.tables.score.natural import NATURAL
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.limb_groups import body_parts
from studies.baselines.logistic import fit_logistic, peak_accelerations
from studies.measures.window_batch import WindowBatch
from studies.tables.natural_candidates import window_length
from studies.tables.natural_truth import FAMILY, Candidates, by_ways

FORMER = "search ranking (former naturalness)"
HMM, ACCELERATIONS = "HMM of the body *", "logistic, accelerations [I6] *"
ENSEMBLE = "HMM, least of 11 parts [I7] *"
"""Fitted to the other half of the same group's takes: an advantage over naturalness."""
COLUMN_OF = {
    "spread of the windows": "spread_m",
    "foot error": "foot_in",
    "ZMP mean": "zmp_mean_in",
    "disagreement": "disagreement",
    "acceleration of the CoM": "com_acc",
}
BASELINES = (FORMER, HMM, ENSEMBLE, ACCELERATIONS, *COLUMN_OF, "foot + ZMP [I7]")
HMM_WINDOWS, HMM_SEED = 300, 0


def baseline_scores(frames: Frames, data: Candidates) -> dict[str, np.ndarray]:
    """Every baseline's score of candidates before they are bent, high for natural ones."""
    scores = {
        name: -data.columns[:, COLUMNS.index(of)].astype(np.float64)
        for name, of in COLUMN_OF.items()
    }
    for name, ranking in (("foot + ZMP [I7]", PAPER), (FORMER, NATURAL)):
        scores[name] = -ranking.cost(data.columns).astype(np.float64)
    scores[HMM], scores[ENSEMBLE], scores[ACCELERATIONS] = np.zeros((3, len(data.rows)))
    accelerations = _accelerations(frames, data.rows)
    takes = list(frames.ids)
    for k in (0, 1):
        mine, others = (np.isin(data.take, takes[n::2]) for n in (k, 1 - k))
        parts = _likelihoods(frames, takes[1 - k :: 2], data.rows[mine])
        scores[HMM][mine], scores[ENSEMBLE][mine] = parts[:, 0], parts.min(axis=1)
        seen = others & data.labelled
        model = fit_logistic(accelerations[seen], data.good[seen])
        scores[ACCELERATIONS][mine] = model.probability(accelerations[mine])
    return scores


def _likelihoods(frames: Frames, takes: list[str], rows: np.ndarray) -> np.ndarray:
    """Scores (n, parts) of blends by models of the body and its parts, fitted to some takes."""
    length = window_length(frames)
    windows = frames.windows(length)
    names = np.array(frames.ids)[np.searchsorted(frames.starts, windows, side="right") - 1]
    rng = np.random.Generator(np.random.PCG64(HMM_SEED))
    allowed = windows[np.isin(names, takes)]
    some = np.sort(rng.choice(allowed, min(HMM_WINDOWS, len(allowed)), replace=False))
    parts = body_parts(frames.skeleton, frames.body_map)
    parts = {"body": parts["body"], **parts}  # the body comes first
    hmm = HmmEnsemble.fit(WindowBatch.of_rows(frames, some, length), parts, restarts=2)
    values = np.zeros((len(rows), len(parts)))
    for mine, blends in _blends(frames, rows):
        values[mine] = hmm.part_scores(blends)
    return values


def _accelerations(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Largest acceleration of every joint of blends. (n, J)."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), len(joints)))
    for mine, blends in _blends(frames, rows):
        out[mine] = peak_accelerations(blends, joints)
    return out


def _blends(frames: Frames, rows: np.ndarray) -> Iterator[tuple[np.ndarray, WindowBatch]]:
    """Blends as positions, some at a time, with their places among all."""
    length = window_length(frames)
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            yield mine[some], WindowBatch.of_blends(frames, blended[some], length, family=FAMILY)
