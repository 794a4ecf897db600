"""The process that compiles the kernels and those that load them must find the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.transitions.collecting.frames import frames_of
from motionloom.transitions.engines.dask_tasks import pack_job
from motionloom.transitions.scoring.terms import terms_of
from motionloom.transitions.searching.search import SearchJob

COMPILES_S = 200.0
"""Kernels of a search take 20 s of a processor, which others may need, too."""
SEARCH = """
import hashlib
import pickle
import sys
import numpy as np
from motionloom.transitions.scoring.kernel import score_recipes
from motionloom.transitions.searching.search import search_chunk

job = pickle.load(open(sys.argv[1], "rb"))
drawn = np.random.default_rng(0).integers(0, job.terms.n_windows, (5000, 4))
found = search_chunk(job, 0)
for array in (score_recipes(job.terms, drawn), found.costs, found.recipes):
    print(hashlib.sha1(array.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_kernels_give_the_same_bytes_compiled_and_loaded(tmp_path: Path) -> None:
    # The job is made here: only what searches and scores is compiled again.
    frames = frames_of([synthetic.clip(kind).motion for kind in ("walk", "run", "kick", "punch")])
    terms = terms_of(frames, frames.windows(30)[::17][:24], 30)
    ends = np.arange(7)
    job = tmp_path / "job"
    job.write_bytes(pack_job(SearchJob(terms, ends, ends, np.arange(terms.n_windows))).job)
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    compiled, loaded = (
        subprocess.run(
            [sys.executable, "-c", SEARCH, job],
            env=place,
            check=True,
            capture_output=True,
            text=True,
            timeout=COMPILES_S,
        ).stdout
        for _ in range(2)
    )
    assert len(compiled.split()) == 3
    assert compiled == loaded
    assert list((tmp_path / "cache").rglob("*.nbc"))
