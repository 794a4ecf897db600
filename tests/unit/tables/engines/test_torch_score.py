"""The measures in plain PyTorch against the CPU's kernel."""

import numpy as np
import pytest

from motionloom.tables.engines.gpu import plain_terms
from motionloom.tables.score.columns import column, score_recipes
from tests.oracles.terms_file import load_terms, save_terms
from tests.oracles.torch_score import TorchScore

from .near import assert_columns_near


@pytest.fixture(scope="module")
def measured(torch, terms, recipes):
    return TorchScore(plain_terms(terms)).score(recipes, batch=50).numpy()


def test_every_column_is_what_the_kernel_measures(terms, recipes, measured):
    assert_columns_near(measured, score_recipes(terms, recipes))


def test_bodies_without_plants_are_among_them(measured):
    assert (measured[:, column("ballistic")] > 0.0).sum() >= 4
    assert (measured[:, column("planted")] == 0.0).sum() >= 4


def test_the_size_of_a_batch_changes_nothing(terms, recipes, measured):
    again = TorchScore(plain_terms(terms)).score(recipes, batch=7).numpy()
    assert_columns_near(again, measured)


def test_terms_are_the_same_after_a_file(tmp_path, terms, recipes):
    plain = plain_terms(terms)
    save_terms(tmp_path / "terms.npz", plain, recipes=recipes)
    again, more = load_terms(tmp_path / "terms.npz")
    assert (more["recipes"] == recipes).all()
    for name, value in plain._asdict().items():
        assert np.array_equal(getattr(again, name), value), name
    assert (again.half, again.n_windows) == (plain.half, plain.n_windows)
