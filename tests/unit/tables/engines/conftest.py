"""Windows to judge, and the fused kernel compiled for this machine's processor."""

import shutil

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.terms import terms_of

LENGTH = 30


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch", reason="needs PyTorch (pip install 'motionloom[gpu]')")


@pytest.fixture(scope="session")
def terms():
    """Windows that walk, run, wave and hang in the air; two at the very ends of a clip."""
    clips = [
        ml.synthetic.clip(kind, turn=turn, duration_s=2.0, seed=seed)
        for seed, (kind, turn) in enumerate([("walk", 0.9), ("run", -0.5), ("wave", 0.0)])
    ]
    motions, plants = [c.motion for c in clips], [c.footplants for c in clips]
    hangs = ml.synthetic.clip("stand", duration_s=1.0).motion
    motions.append(hangs)
    plants.append(ml.Footplants(np.zeros((hangs.n_frames, 4), dtype=bool)))
    frames = frames_of(motions, ids=[f"clip{k}" for k in range(4)], footplants=plants)
    inner = frames.windows(LENGTH)[5::29]
    rows = np.array([0, int(frames.starts[1]) - LENGTH, *inner, int(frames.starts[3]) + 10])
    return terms_of(frames, rows, LENGTH)


@pytest.fixture(scope="session")
def recipes(terms):
    """Random blends of one to four windows, some of windows that all hang in the air."""
    rng = np.random.Generator(np.random.PCG64(3))
    ids = rng.integers(0, terms.n_windows, (160, 4))
    for n in (1, 2, 3):
        ids[30 * (n - 1) : 30 * n, n:] = -1
    last = terms.n_windows - 1
    ids[[0, 30, 60, 90]] = [[last, -1, -1, -1], [last, last, -1, -1], [last] * 3 + [-1], [last] * 4]
    ids[[31, 91], 0] = 0  # no frames before
    ids[31, 1], ids[91, 3] = 1, 1  # none after
    return ids


@pytest.fixture(scope="session")
def host(torch, tmp_path_factory):
    """Gives the fused kernel for a build, from its own source as plain C++."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++ to compile the fused kernel for this machine's processor")
    from .host_kernel import HostKernel

    folder, made = tmp_path_factory.mktemp("kernels"), {}

    def compiled(build):
        if build not in made:
            made[build] = HostKernel(build, folder)
        return made[build]

    return compiled
