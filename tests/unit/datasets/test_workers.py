"""Workers: one that crashes, hangs or takes too much memory costs its own clip only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.datasets import workers
from motionloom.datasets.clip_jobs import Settings
from motionloom.datasets.workers import run_tasks, worker_environment

HARMFUL = """
import json, os, sys, time
sys.stdin.readline()
for line in sys.stdin:
    path = json.loads(line)["path"]
    if path == "crash":
        os.kill(os.getpid(), 11)
    if path == "leave":
        sys.exit(3)
    if path == "hang":
        time.sleep(600)
    if path == "half":
        sys.stdout.write('{"path"')
        sys.stdout.flush()
        os._exit(0)
    print(json.dumps({"path": path, "error": None}), flush=True)
"""


@pytest.fixture
def harmful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that do what the name of a clip says."""
    monkeypatch.setattr(
        workers,
        "_start",
        lambda: subprocess.Popen(
            [sys.executable, "-c", HARMFUL], stdin=-1, stdout=-1, text=True, encoding="utf-8"
        ),
    )


@pytest.mark.parametrize("jobs", [1, 3])
def test_clips_that_end_their_worker_become_rows(harmful, jobs: int) -> None:
    names = ["a", "crash", "b", "leave", "c", "half", "hang", "d"]
    rows = list(run_tasks([{"path": n} for n in names], Settings(timeout_s=1.5), jobs))
    errors = {row["path"]: row["error"] for row in rows}
    assert sorted(errors) == sorted(names)
    assert [name for name in names if errors[name] is None] == ["a", "b", "c", "d"]
    assert "signal 11" in errors["crash"]
    assert "code 3" in errors["leave"]
    assert "longer than 1.5 s" in errors["hang"]
    assert errors["half"]


def test_no_worker_is_left_when_the_reader_stops(harmful, monkeypatch) -> None:
    started = []
    start = workers._start
    monkeypatch.setattr(workers, "_start", lambda: started.append(start()) or started[-1])
    rows = run_tasks([{"path": n} for n in ("a", "hang", "hang", "hang")], Settings(), 2)
    next(rows)
    rows.close()
    assert started and all(process.poll() is not None for process in started)


def test_a_worker_answers_a_line_for_a_line(tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    lines = [Settings().json(), {"path": str(tmp_path / "walk.bvh")}, {"path": "none.bvh"}]
    done = subprocess.run(
        [sys.executable, "-m", "motionloom.datasets.workers"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
        env=worker_environment(os.environ),
    )
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["error"] is None
    assert first["frames"] == 61
    assert "none.bvh" in second["error"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_a_clip_that_needs_more_memory_than_a_worker_may_use_is_a_row(tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=120.0, fps=240).motion, tmp_path / "long.bvh")
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "short.bvh")
    found = ml.check_dataset(tmp_path, jobs=1, max_memory="40MB", progress=False)
    assert [clip.status for clip in found.clips] == ["unreadable", "good"]
    assert "memory" in found.clips[0].error
