"""Paper build: the papers' table searched row by row, each kept for a build that resumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._progress import progress_bar
from motionloom.tables.build_parts import Parts
from motionloom.tables.engines.engine import processors
from motionloom.tables.paper.paper_search import PaperJob, search_rows, times_of
from motionloom.tables.paper.warped_terms import FAMILY_NUMBERS
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.search.search import NONE
from motionloom.tables.table_file import TableFile

Searched = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32], dict[str, npt.NDArray[Any]]]
"""Best recipes (K, K, 1, 4), their costs (K, K, 1), and arrays of the file by name."""


def search_paper(job: PaperJob, parts: Parts, *, jobs: int | None, progress: bool) -> Searched:
    """The best recipe of every pair of representatives, and its time alignment.

    Parameters
    ----------
    job
        What to search.
    parts
        Rows that were found before, and where to keep those that are found.
    jobs
        Threads; by default one for each processor.
    progress
        Whether to draw a bar, if standard error is a terminal.
    """
    size = job.size
    recipes = np.full((size, size, 1, MOST_WAYS), NONE, dtype=np.uint16)
    costs = np.full((size, size, 1), np.inf, dtype=np.float32)
    families = np.zeros((size, size), dtype=np.uint8)
    inputs, left = job.digest(), []

    def check(file: TableFile) -> None:
        _check_row(file, size)

    for source in range(size):
        stored = parts.load(f"paper-{source:05d}", inputs, check)
        if stored is None:
            left.append(source)
            continue
        recipes[source, :, 0], costs[source, :, 0] = stored["recipes"], stored["costs"]
        families[source] = stored["families"]
    n_blends = size * size * len(job.middles) * len(job.families)
    with progress_bar(f"searching {n_blends:,} blends", len(left), shown=progress) as advance:
        for row in search_rows(job, left, processors() if jobs is None else jobs):
            recipes[row.source, :, 0], costs[row.source, :, 0] = row.recipes, row.costs
            families[row.source] = row.families
            arrays: dict[str, npt.NDArray[Any]] = {
                "recipes": row.recipes,
                "costs": row.costs,
                "families": row.families,
            }
            parts.save(f"paper-{row.source:05d}", inputs, arrays)
            advance(1.0)
    return recipes, costs, times_of(job, recipes[:, :, 0], families).arrays()


def _check_row(file: TableFile, size: int) -> None:
    """Check what a part holds of a search: places among the representatives, costs, families."""
    recipes = file.array("recipes", "<u2", (size, MOST_WAYS))
    if ((recipes >= size) & (recipes != NONE)).any():
        raise file.damaged("a recipe names a window that is not there")
    if np.isnan(file.array("costs", "<f4", (size,))).any():
        raise file.damaged("a recipe must have a cost")
    if (file.array("families", "|u1", (size,)) >= len(FAMILY_NUMBERS)).any():
        raise file.damaged("a recipe has weights of an unknown family")
