"""The engine of a GPU, with the fused kernel run on the CPU: the table is the CPU's."""

import sys
import threading

import numpy as np
import pytest

from motionloom.errors import ArrayError, TableError
from motionloom.tables.engines import gpu, gpu_module
from motionloom.tables.engines import gpu as gpu_rescore
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.engines.gpu import FusedSearch, GpuEngine, plain_terms, search_with
from motionloom.tables.score.columns import PAPER
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import SearchJob, Shortlist

KEEP = 3


@pytest.fixture(scope="module")
def search(terms, host):
    return FusedSearch(plain_terms(terms), "cpu", host, 1)


def job_of(terms, ranking=PAPER, **more):
    every = np.arange(terms.n_windows)
    return SearchJob(terms, every, every, every[1:8], keep=KEEP, ranking=ranking, **more)


@pytest.fixture
def engine(search, monkeypatch):
    """The engine as a machine with a GPU has it."""
    monkeypatch.setattr(gpu, "find_device", lambda device: 0)
    monkeypatch.setattr(gpu, "FusedSearch", lambda *_: search)
    return GpuEngine(jobs=2)


def assert_equal(got, expected):
    got, expected = (sorted(found, key=lambda f: f.chunk) for found in (got, expected))
    assert [found.chunk for found in got] == [found.chunk for found in expected]
    for a, b in zip(got, expected, strict=True):
        assert a.recipes.tobytes() == b.recipes.tobytes()
        assert a.costs.tobytes() == b.costs.tobytes()


@pytest.mark.parametrize("ranking", [PAPER, NATURAL], ids=["paper", "natural"])
def test_the_bytes_are_those_of_the_local_engine(engine, terms, ranking):
    job = job_of(terms, ranking)
    assert job.n_chunks > 1
    reported = []
    assert_equal(engine.search(job, progress=reported.append), LocalEngine(1).search(job))
    assert sum(reported) == job.n_pairs


def test_a_shortlist_gives_the_bytes_of_the_local_engine(engine, terms):
    rng = np.random.Generator(np.random.PCG64(1))
    between = np.sort(rng.integers(1, 8, (2, 2, 40, 2)), axis=2).astype(np.uint16)
    between = np.unique(between.reshape(4, 40, 2), axis=1)[:, :20]
    between = np.ascontiguousarray(between.reshape(2, 2, -1, 2))
    between[0, 1, 5:] = NONE
    parents = np.arange(terms.n_windows) % 2
    job = job_of(terms, shortlist=Shortlist(between, parents, 1 - parents), ways=(2, 4))
    assert_equal(engine.search(job), LocalEngine(1).search(job))


def test_fewer_blends_than_are_kept_leave_the_rest_empty(engine, terms):
    job = job_of(terms, ways=(2,))
    found = list(engine.search(job))
    assert all(np.isinf(f.costs[:, 1:]).all() and (f.recipes[:, 1:] == NONE).all() for f in found)
    assert_equal(found, LocalEngine(1).search(job))


def test_chunks_found_before_are_not_found_again(engine, terms):
    job = job_of(terms)
    skip = {0}
    expected = [f for f in LocalEngine(1).search(job) if f.chunk not in skip]
    assert_equal(engine.search(job, skip=skip), expected)


def test_runs_of_chunks_change_nothing(engine, terms, monkeypatch):
    job = job_of(terms)
    monkeypatch.setattr(gpu, "AT_A_TIME", 1)
    assert_equal(engine.search(job), LocalEngine(1).search(job))


def test_where_candidates_cost_nearly_the_same_the_pair_is_searched(search, terms, monkeypatch):
    job = job_of(terms)
    searched = []
    whole = gpu_rescore._searched
    monkeypatch.setattr(
        gpu_rescore, "_searched", lambda job, pair: searched.append(pair) or whole(job, pair)
    )
    monkeypatch.setattr(gpu_rescore, "SLACK", 1e3)
    found = list(search_with(search, job, [1], 1))
    assert searched == list(job.pairs(1))
    assert_equal(found, [f for f in LocalEngine(1).search(job) if f.chunk == 1])


def test_a_search_left_in_the_middle_leaves_no_threads(engine, terms):
    found = engine.search(job_of(terms))
    next(found)
    found.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]


def test_closing_a_search_closes_what_holds_its_threads(engine, search, terms, monkeypatch):
    """Not only by dropping it: Python 3.12.3 keeps what a closed generator refers to."""
    inner = search_with(search, job_of(terms), [0, 1], 2)
    monkeypatch.setattr(gpu, "search_with", lambda *_: inner)
    found = engine.search(job_of(terms))
    next(found)
    found.close()
    assert inner.gi_frame is None
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]


def test_a_gpu_that_is_lost_is_reported_in_one_line(terms):
    class Lost:
        def best(self, *_):
            raise RuntimeError("CUDA error: unspecified launch failure\nCompile with more")

    with pytest.raises(TableError, match=r"\(CUDA error: unspecified launch failure\).* is kept"):
        list(search_with(Lost(), job_of(terms), [0], 1))


def test_what_fails_in_a_thread_is_raised(engine, terms, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(gpu, "rescore_chunk", fail)
    with pytest.raises(MemoryError, match="no room"):
        list(engine.search(job_of(terms)))


def test_without_pytorch_the_install_is_named(terms, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TableError, match=r"needs the extra `gpu`.*motionloom\[gpu\]"):
        list(GpuEngine().search(job_of(terms)))


def test_pytorch_without_cuda_is_named(torch, monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(TableError, match=r"PyTorch built for CUDA; .* is not\. Install"):
        GpuEngine().check()


@pytest.mark.parametrize("error", [RuntimeError, AssertionError])
def test_a_driver_that_does_not_fit_is_reported_in_one_line(torch, monkeypatch, error):
    def fail():
        raise error("The NVIDIA driver on your system is too old.\nMore words.")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "init", fail)
    with pytest.raises(TableError, match=r"driver fits CUDA 13\.0; .* too old\. Search") as caught:
        GpuEngine().check()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("there", "have"), [(1, "cuda:0 alone"), (4, "cuda:0 to cuda:3")])
def test_an_unknown_gpu_is_refused_with_a_list_of_those_available(torch, monkeypatch, there, have):
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "init", lambda: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    with pytest.raises(TableError, match=f"which has {have}; got cuda:5"):
        GpuEngine("cuda:5").check()


@pytest.mark.parametrize("device", ["cpu", "cuda:x", "mps", ""])
def test_a_device_must_be_a_gpu(device):
    with pytest.raises(ArrayError, match="`device` must be cuda"):
        GpuEngine(device).check()


def test_there_must_be_a_thread():
    with pytest.raises(ArrayError, match="`jobs` must be at least 1"):
        GpuEngine(jobs=0)


def test_a_compiler_that_knows_no_such_gpu_makes_what_its_driver_can_read():
    class Nvrtc:
        known = (75, 80, 90)

        def nvrtcGetNumSupportedArchs(self, count):
            count._obj.value = len(self.known)
            return 0

        def nvrtcGetSupportedArchs(self, out):
            out[:] = self.known
            return 0

    assert gpu_module._target(Nvrtc(), 90) == (90, True)
    assert gpu_module._target(Nvrtc(), 121) == (90, False)
    with pytest.raises(TableError, match=r"compute capability 7\.5 or more"):
        gpu_module._target(Nvrtc(), 70)
