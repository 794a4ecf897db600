"""Scores that naturalness is held against: the papers' parts, HMMs, accelerations, misfits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.likeness.windows import compared_joints
from motionloom.transitions.rivals.body_parts import body_parts
from motionloom.transitions.rivals.hmm import HmmEnsemble
from motionloom.transitions.rivals.hmm_recipes import hmm_terms
from motionloom.transitions.rivals.hmm_recipes import score_recipes as score_hmm
from motionloom.transitions.rivals.logistic import Logistic, fit_logistic, peak_accelerations
from motionloom.transitions.scoring.columns import COLUMNS, PAPER
from motionloom.transitions.scoring.natural import naturalness
from motionloom.transitions.scoring.seen_windows import SeenWindows
from natural_candidates import GAPS, LENGTH, frames_of_subject
from natural_fit import fit, predicted
from natural_truth import Candidates, by_ways, candidates, pinned

OURS, BARE = "naturalness", "naturalness, bends left out"
KNOWN, ALONE_FITTED = "fitted to P3, misfits known", "fitted to P3 alone"
HMM_BENT, ENDS = "HMM body, bent", "misfits of the ends alone"
BASELINES = (
    "foot", "ZMP max", "ZMP p95", "ZMP mean", "foot + ZMP", "HMM body", "HMM min", HMM_BENT,
    "logistic acc", "disagreement", "unsupported", "spread", "acceleration of the CoM", ENDS,
)  # fmt: skip
COLUMN_OF = {
    "foot": "foot_in",
    "ZMP max": "zmp_max_in",
    "ZMP p95": "zmp_p95_in",
    "ZMP mean": "zmp_mean_in",
    "disagreement": "disagreement",
    "unsupported": "unsupported",
    "spread": "spread_m",
    "acceleration of the CoM": "com_acc",
}
HMM_WINDOWS, HMM_SEED = 600, 0


class Judges(NamedTuple):
    """Scores that need fitting, fitted on the tuning takes of CMU 143."""

    hmm: HmmEnsemble
    acc: Logistic
    ends: Logistic
    alone: tuple[dict[str, float], float]
    known: tuple[dict[str, float], float]


def fitted_judges(folder: Path) -> Judges:
    """All of them."""
    frames, tuning = frames_of_subject(folder, "143"), candidates(folder).of("tuning")
    takes = json.loads(GAPS.read_text())["143"]["tuning_takes"]
    mine = tuning.labelled
    return Judges(
        fit_hmm(frames, takes),
        fit_logistic(accelerations(frames, tuning.rows[mine]), tuning.good[mine]),
        fit_logistic(misfit_features(tuning)[mine], tuning.good[mine]),
        fit(tuning),
        fit(tuning, misfits=True),
    )


def fit_hmm(frames: Frames, takes: list[str]) -> HmmEnsemble:
    """Models of windows of some takes only."""
    windows = frames.windows(LENGTH)
    names = np.array(frames.ids)[np.searchsorted(frames.starts, windows, side="right") - 1]
    rng = np.random.Generator(np.random.PCG64(HMM_SEED))
    some = np.sort(rng.choice(windows[np.isin(names, takes)], HMM_WINDOWS, replace=False))
    parts = body_parts(frames.skeleton, frames.body_map)
    return HmmEnsemble.fit(SeenWindows.of_rows(frames, some, LENGTH), parts, restarts=2)


def scores_of(
    judges: Judges, frames: Frames, rows: np.ndarray, columns: np.ndarray
) -> dict[str, np.ndarray]:
    """Every score of blends that are not bent, by name; high for natural ones."""
    scores = {
        name: -columns[:, COLUMNS.index(c)].astype(np.float64) for name, c in COLUMN_OF.items()
    }
    scores["foot + ZMP"] = -np.asarray(PAPER.cost(columns))
    scores["HMM body"], scores["HMM min"] = likelihoods(judges.hmm, frames, rows).T
    scores["logistic acc"] = judges.acc.probability(accelerations(frames, rows))
    scores[OURS] = naturalness(columns)
    return scores


def scores_of_candidates(judges: Judges, frames: Frames, data: Candidates) -> dict[str, np.ndarray]:
    """The same of candidates that are bent to fill their gap, and those that know its sides."""
    scores = scores_of(judges, frames, data.rows, data.columns)
    scores[BARE], scores[OURS] = scores[OURS], naturalness(data.columns, data.bends)
    scores[HMM_BENT] = bent_likelihoods(judges.hmm, frames, data)
    scores[ENDS] = judges.ends.probability(misfit_features(data))
    scores[ALONE_FITTED] = predicted(data, *judges.alone)
    scores[KNOWN] = predicted(data, *judges.known)
    return scores


def likelihoods(hmm: HmmEnsemble, frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Body's and the least part's score of blends. (n, 2)."""
    windows = np.unique(rows[rows >= 0])
    columns = []
    for model in hmm.models:
        terms = hmm_terms(hmm, frames, windows, LENGTH, part=model.name)
        values = np.zeros(len(rows))
        for mine, blended in by_ways(rows):
            values[mine] = score_hmm(terms, np.searchsorted(windows, blended))
        columns.append(values)
    names = [model.name for model in hmm.models]
    return np.stack([columns[names.index("body")], np.min(columns, axis=0)], axis=1)


def bent_likelihoods(hmm: HmmEnsemble, frames: Frames, data: Candidates) -> np.ndarray:
    """Body's score of what is shown: blends with their ends pinned to their gap's sides. (n,)."""
    out = np.zeros(len(data.rows))
    for mine, blended in by_ways(data.rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            sides = SeenWindows.of_rows(frames, data.query[mine[some]], LENGTH)
            shown = pinned(SeenWindows.of_blends(frames, blended[some], LENGTH), sides)
            out[mine[some]] = hmm.part_scores(shown, ["body"])[:, 0]
    return out


def accelerations(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Largest acceleration of every joint of blends. (n, J)."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), len(joints)))
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            made = SeenWindows.of_blends(frames, blended[some], LENGTH)
            out[mine[some]] = peak_accelerations(made, joints)
    return out


def misfit_features(data: Candidates) -> np.ndarray:
    return np.concatenate([data.misfits, np.log1p(100.0 * data.misfits)], axis=1)
