"""Builds whose engine or disk breaks: a clear word, and the same bytes after going on."""

import subprocess
import sys

import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.build import build_table
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.table_file import Parts

SMALL = {"length_s": 0.5, "clusters": 12, "lookup": 12, "ways": (2, 3), "progress": False}
MOST_BYTES = 8_000
"""More than representatives take, less than a searched chunk."""
LONGEST_S = 60.0
"""A script that has not ended by then never will."""


class Breaking:
    """An engine that is lost after a few chunks."""

    def __init__(self, error):
        self.error = error

    def search(self, job, *, skip=(), progress=None):
        found = LocalEngine(1).search(job, skip=skip)
        yield next(found)
        raise self.error


class Missing:
    """An engine that is not there."""

    def check(self):
        raise TableError("There is no such machine.")

    def search(self, job, *, skip=(), progress=None):
        raise AssertionError("asked though it is not there")


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "wave"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=30).motion, folder / f"{kind}.bvh")
    return ml.Collection.ingest(folder, fps=30)


@pytest.fixture(scope="module")
def undisturbed(lib):
    out = lib.path.parent / "undisturbed" / "a.mlt"  # tables say where their collection is
    build_table(lib, out=out, jobs=1, **SMALL)
    return out.read_bytes()


@pytest.mark.parametrize(
    "error", [TableError("The GPU must have room."), MemoryError(), KeyboardInterrupt()]
)
def test_an_engine_lost_in_the_middle_leaves_what_it_found(lib, undisturbed, error):
    out = lib.path.parent / type(error).__name__ / "a.mlt"
    with pytest.raises(type(error)):
        build_table(lib, out=out, engine=Breaking(error), **SMALL)
    assert not out.exists()
    assert len(list(Parts(out).folder.glob("search-*"))) == 1
    build_table(lib, out=out, jobs=1, **SMALL)
    assert out.read_bytes() == undisturbed
    assert [file.name for file in out.parent.iterdir()] == ["a.mlt"]


def test_an_engine_that_is_not_there_leaves_nothing_behind(lib, tmp_path):
    with pytest.raises(TableError, match="no such machine"):
        build_table(lib, out=tmp_path / "out" / "a.mlt", engine=Missing(), **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_threads_are_for_this_machine_only(lib, tmp_path):
    with pytest.raises(ArrayError, match="give `jobs` or `engine`"):
        build_table(lib, out=tmp_path / "a.mlt", engine=LocalEngine(1), jobs=2, **SMALL)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limits of size there")
def test_a_disk_that_is_really_full_is_reported_and_the_build_goes_on(lib, undisturbed):
    out = lib.path.parent / "full" / "a.mlt"
    script = f"""
import resource
import motionloom as ml
lib = ml.Collection.open({str(lib.path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({MOST_BYTES},) * 2)
try:
    ml.build_table(lib, out={str(out)!r}, jobs=1, **{SMALL!r})
except ml.MotionLoomError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], text=True, capture_output=True, timeout=LONGEST_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "cannot be written: the disk is full" in done.stdout
    assert "The finished parts of a.mlt are kept: build it again to resume." in done.stdout
    assert not out.exists()
    assert [file.name for file in Parts(out).folder.iterdir()] == ["representatives.part.mlt"]
    build_table(lib, out=out, jobs=1, **SMALL)
    assert out.read_bytes() == undisturbed
