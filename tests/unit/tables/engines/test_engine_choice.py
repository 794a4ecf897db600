"""Which engine: what is asked for is there, or a one-line error states what to do."""

import sys

import pytest

from motionloom.errors import ArrayError, MotionLoomError
from motionloom.tables.engines import dask_client
from motionloom.tables.engines.dask import DaskEngine
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.engines.engine_choice import engine_of


def test_threads_of_this_machine_unless_something_else_is_asked_for():
    assert engine_of() == LocalEngine()
    assert engine_of(jobs=3) == LocalEngine(3)


def test_a_cluster_on_this_machine_has_so_many_workers():
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    assert engine_of(dask="local", jobs=2) == DaskEngine(workers=2)
    assert engine_of(dask="local") == DaskEngine()


def test_a_cluster_is_asked_before_anything_begins(monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    monkeypatch.setattr(dask_client, "CONNECT_S", 0.3)
    with pytest.raises(MotionLoomError, match="No dask scheduler answers"):
        engine_of(dask="tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"device": "cuda", "dask": "local"}, "give `device` or `dask`"),
        ({"dask": "tcp://host:1", "jobs": 2}, "has its own workers"),
        ({"jobs": 0}, "`jobs` must be at least 1"),
        ({"jobs": 0, "dask": "local"}, "`jobs` must be at least 1"),
        ({"dask": ""}, "`dask` must be the address of a dask scheduler"),
        ({"dask": 8786}, "`dask` must be a str, got 8786"),
        ({"dask": b"local", "jobs": 2}, "`dask` must be a str"),
        ({"device": 0}, "`device` must be a str, got 0"),
        ({"device": "cpu"}, "`device` must be cuda"),
        ({"device": "tpu"}, "`device` must be cuda"),
    ],
)
def test_incompatible_options_are_refused(asked, message):
    with pytest.raises(ArrayError, match=message):
        engine_of(**asked)


def test_what_is_not_installed_is_named(monkeypatch):
    for module, asked in (("distributed", {"dask": "local"}), ("torch", {"device": "cuda"})):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MotionLoomError, match="pip install"):
            engine_of(**asked)
