"""Kernels compiled beside the demo's first chapters."""

import subprocess
import sys

from motionloom.cli import warming

COUNT = """
import sys
from pathlib import Path
from motionloom import synthetic
from motionloom.cli.warming import LENGTH, compile_kernels
from motionloom.transitions.collecting.frames import frames_of
from motionloom.transitions.likeness import captured
from motionloom.transitions.scoring import kernel
from motionloom.transitions.searching import pair_search
from motionloom.transitions.tables import met_windows
from motionloom.transitions.scoring.natural import NATURAL
from motionloom.transitions.tables.memory_table import table_in_memory
from motionloom.transitions.tables.runtime import transition
from motionloom.transitions.tables.stream import stream
compile_kernels(Path(sys.argv[1]))
frames = frames_of([synthetic.clip(kind).motion for kind in ("walk", "run")])
table = table_in_memory(frames, length=LENGTH, clusters=4, ranking=NATURAL)
assert transition(table, ("walk", 20), ("run", 100)).score is not None
live = stream(table, ("walk", 0))
live.go(frame=("run", 100))
live.step()
for each in (
    pair_search.search_into, kernel.score_into, met_windows._best_of_table, captured._search,
):
    print(each.py_func.__name__, len(each.signatures))
"""


def test_what_transitions_call_is_compiled_for_one_kind_of_arguments(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COUNT, tmp_path], capture_output=True, text=True, check=True
    )
    counts = dict(line.split() for line in done.stdout.splitlines())
    assert len(counts) == 4
    assert set(counts.values()) == {"1"}


def test_a_job_is_done_by_whoever_claims_it_first(tmp_path, monkeypatch):
    done = []

    def one(frames):
        done.append("one")

    def other(frames):
        done.append("other")
        warming.compile_kernels(tmp_path, (other, one))  # as another process would

    monkeypatch.setattr(warming, "JOBS", (other, one))
    warming.compile_kernels(tmp_path)
    assert done == ["other", "one"]


def test_nothing_is_started_where_one_processor_has_to_do_all(monkeypatch):
    monkeypatch.setattr("motionloom.transitions.engines.local.processors", lambda: 1)
    started = []
    monkeypatch.setattr(warming.subprocess, "Popen", lambda *given, **_: started.append(given))
    warming.Warming().finish()
    assert started == []


def test_a_job_that_fails_does_not_end_the_demo(monkeypatch):
    def fail(frames):
        raise FloatingPointError

    monkeypatch.setattr(warming, "_is_needed", lambda: True)
    monkeypatch.setattr(warming, "__name__", "motionloom.cli.not_there")
    monkeypatch.setattr(warming, "JOBS", (fail,))
    warming.Warming().finish()


def test_a_process_that_fails_is_waited_for_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(warming, "_is_needed", lambda: True)
    monkeypatch.setattr(warming, "__name__", "motionloom.cli.not_there")
    started = warming.Warming()
    started.finish()
    assert started._process.returncode != 0
