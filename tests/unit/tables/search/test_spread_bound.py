"""Spreads of pairs of windows against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import terms_record
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import spreads_of

LENGTH = 20


def test_spreads_are_means_of_weighted_squared_distances_in_every_place():
    frames = frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "run")])
    rows = [frames.row_of(name, frame) for name in ("walk", "run") for frame in (2, 12, 22)]
    terms = terms_of(frames, rows, LENGTH)
    judge, posture = terms_record(terms), terms.arrays.posture
    w = np.asarray(judge.weights)
    inside = slice(judge.pad, judge.pad + LENGTH)

    def plain(some, others, n, i, j):
        part = w[n, i, inside] * w[n, j, inside]
        apart = posture[some][:, None, inside] - posture[others][None, :, inside]
        return (part * np.square(apart).sum(axis=-1)).mean(axis=-1)

    sources, targets, between = np.array([0, 1]), np.array([3, 4, 5]), np.array([1, 2, 4])
    found = spreads_of(judge, sources, targets, between)
    for k, (n, i) in enumerate(((2, 1), (3, 1), (3, 2))):
        assert found.sources[k] == pytest.approx(plain(sources, between, n, 0, i), rel=1e-4)
        assert found.targets[k] == pytest.approx(plain(targets, between, n, n, i), rel=1e-4)
    for k, n in enumerate((2, 3)):
        assert found.ends[k] == pytest.approx(plain(sources, targets, n, 0, n), rel=1e-4)
    assert found.middle == pytest.approx(plain(between, between, 3, 1, 2), rel=1e-4)
