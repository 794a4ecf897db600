"""motionloom table build --jobs, --device, --dask: where the search runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from motionloom.tables.engines import dask_client

FPS = 30
BUILD = ("--length", "0.5", "--clusters", "4", "--lookup", "4", "--fps", str(FPS))


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for kind in ("walk", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=FPS).motion, folder / f"{kind}.bvh")
    return folder


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("--dask", "tcp://127.0.0.1:9"), "No dask scheduler answers at tcp://127.0.0.1:9"),
        (("--dask", "local", "--device", "cuda"), "give --device or --dask"),
        (("--device", "tpu"), "--device must be cuda"),
        (("--jobs", "0"), "--jobs must be at least 1"),
    ],
)
def test_what_is_missing_is_reported_in_a_line_and_nothing_is_built(
    run, clips, asked, text, monkeypatch
) -> None:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    monkeypatch.setattr(dask_client, "CONNECT_S", 0.3)
    done = run("table", "build", clips, "-o", clips.parent / "lib.mlt", *BUILD, *asked)
    assert done.code == 2
    assert text in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert [file.name for file in clips.parent.iterdir()] == ["clips"]


def test_a_cluster_started_here_builds_the_same_table(run, clips) -> None:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    tables = []
    for name, asked in (("here", ("--jobs", "1")), ("dask", ("--dask", "local", "--jobs", "1"))):
        out = clips.parent / name / "lib.mlt"
        out.parent.mkdir()
        done = run("table", "build", clips, "-o", out, *BUILD, *asked)
        assert done.code == 0, done.err
        tables.append(out.read_bytes())
    assert tables[0] == tables[1]
