"""The forms of the search on a GPU against the CPU's kernel on captured seconds."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.engines.gpu import FusedSearch, plain_terms
from motionloom.tables.score.columns import column, score_recipes
from motionloom.tables.score.terms import terms_of
from tests.oracles.torch_score import TorchScore

from .near import assert_columns_near

TAKES = ("143_04", "143_32")
"""Run, walk."""
LENGTH = 60


@pytest.fixture(scope="module")
def captured(mocap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motions = [ml.load(mocap / "cmu_bvh" / f"{t}.bvh", fps=60.0) for t in TAKES]
    frames = frames_of([m.replace(name=t) for m, t in zip(motions, TAKES, strict=True)])
    return terms_of(frames, frames.windows(LENGTH)[::53], LENGTH, family="eased")


@pytest.fixture(scope="module")
def blends(captured):
    rng = np.random.Generator(np.random.PCG64(2))
    ids = rng.integers(0, captured.n_windows, (240, 4))
    ids[:60, 3], ids[:20, 2] = -1, -1
    return ids


@pytest.fixture(scope="module")
def expected(captured, blends):
    columns = score_recipes(captured, blends)
    assert columns[:, column("planted")].max() > 0.0
    assert columns[:, column("zmp_max_in")].max() > 0.0
    return columns


def test_pytorch_measures_what_the_kernel_does(torch, captured, blends, expected):
    assert_columns_near(TorchScore(plain_terms(captured)).score(blends).numpy(), expected)


def test_the_fused_kernel_measures_what_the_cpu_does(host, captured, blends, expected):
    search = FusedSearch(plain_terms(captured), "cpu", host, 1)
    assert_columns_near(search.score(blends).numpy(), expected)
