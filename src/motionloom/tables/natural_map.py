"""Naturalness of a table's best recipes, from each representative to each."""

from __future__ import annotations

import numpy as np

from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.runtime_table import NO_RECIPE, NO_WINDOW, RuntimeTable
from motionloom.tables.score.columns import score_recipes
from motionloom.tables.score.natural import naturalness, reference_of
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import terms_of

__all__ = ["naturalness_map"]


def naturalness_map(table: RuntimeTable) -> FloatArray32:
    """Naturalness (E, E) of the best recipe from each representative (row) to each (column).

    Not a number where there is no recipe. Recipes are measured again, which takes about 10 us each.
    """
    medoids, ends = np.asarray(table.medoids), np.asarray(table.ends)
    rows = np.concatenate([medoids, ends]).astype(np.int64)
    terms = terms_of(table.frames, rows, table.length, family=table.family)
    n_ends = len(ends)
    places = len(medoids) + np.stack(
        np.meshgrid(np.arange(n_ends), np.arange(n_ends), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    between = np.asarray(table.between)[:, :, 0].reshape(-1, 2)
    missing = between[:, 0] == NO_RECIPE
    n_between = np.where(missing[:, None], 0, between != NO_WINDOW).sum(axis=1)
    recipes = np.full((len(places), MOST_WAYS), -1, dtype=np.int32)
    recipes[:, 0] = places[:, 0]
    for k in range(2):
        recipes[n_between > k, 1 + k] = between[n_between > k, k]
    recipes[np.arange(len(places)), 1 + n_between] = places[:, 1]
    natural = naturalness(score_recipes(terms, recipes), reference_of(terms, places))
    natural[missing] = np.nan
    return natural.reshape(n_ends, n_ends).astype(np.float32)
