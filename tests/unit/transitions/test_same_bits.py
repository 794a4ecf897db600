"""The process that compiles the kernels and those that load them must find the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = """
import hashlib
import numpy as np
from motionloom import synthetic
from motionloom.transitions.collecting.frames import frames_of
from motionloom.transitions.scoring.kernel import score_recipes
from motionloom.transitions.searching.search import SearchJob, search_chunk
from motionloom.transitions.scoring.terms import terms_of

frames = frames_of([synthetic.clip(kind).motion for kind in ("walk", "run", "kick", "punch")])
terms = terms_of(frames, frames.windows(30)[::17][:24], 30)
drawn = np.random.default_rng(0).integers(0, terms.n_windows, (5000, 4))
ends = np.arange(7)
found = search_chunk(SearchJob(terms, ends, ends, np.arange(terms.n_windows)), 0)
for array in (score_recipes(terms, drawn), found.costs, found.recipes):
    print(hashlib.sha1(array.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_kernels_give_the_same_bytes_compiled_and_loaded(tmp_path: Path) -> None:
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled, loaded = (
        subprocess.run(
            [sys.executable, "-c", SEARCH], env=place, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    )
    assert len(compiled.split()) == 3
    assert compiled == loaded
