"""Verdicts and builds: none is lost, none counts for another table, none harms another."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import motionloom as ml
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.table_messages import LabelNext, LabelSave, TableBuild
from motionloom.studio.panels import labelling
from motionloom.studio.panels.labelling import Labelling
from motionloom.studio.panels.library_tables import BuildJob, Tables
from motionloom.studio.panels.table_panel import TablePanel
from motionloom.studio.server.server import Studio
from motionloom.tables.evaluation.evaluation import read_verdicts
from motionloom.tables.table import TransitionTable

pytestmark = pytest.mark.slow  # up to three builds in a test, each of which has a minute

BUILD_S = 60.0
"""A build takes seconds; on a busy machine much longer."""
SMALL: dict[str, Any] = {"clusters": 8, "lookup": 8, "length_s": 0.5, "fps": 30.0}
OTHER: dict[str, Any] = {**SMALL, "clusters": 6, "lookup": 6}


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for kind in ("walk", "jog", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.5).motion, folder / f"{kind}.bvh")
    return folder


@pytest.fixture
def tables(table_studio: Studio, table_clips: Path, tmp_path: Path) -> Tables:
    """A copy of the studio's clips and of the table (:data:`SMALL`) that was built of them."""
    clips = shutil.copytree(table_clips, tmp_path / "clips")
    ours = shutil.ignore_patterns("*.verdicts.csv")
    state = shutil.copytree(table_studio.tables.place, tmp_path / "state", ignore=ours)
    return Tables(Library(clips), state)


def built(tables: Tables, **wish: Any) -> str:
    """Build, and return how that ended."""
    tables.build(TableBuild(id=0, **wish))
    end = time.monotonic() + BUILD_S
    while (job := tables.state().body.job).state == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    return str(job.state)


def test_verdicts_that_many_save_at_once_are_all_stored(table_studio: Studio) -> None:
    tables = table_studio.tables
    tables.current().verdicts.unlink(missing_ok=True)

    def rate(rater: str) -> None:
        own = Labelling(TablePanel(tables))  # each page has its own
        for frame in range(15):
            own.save(LabelSave(id=0, transition=f"walk:{frame}>run:40", natural=True, rater=rater))

    threads = [threading.Thread(target=rate, args=(name,)) for name in ("ada", "bob", "cy", "dee")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdicts = read_verdicts(tables.current().verdicts).verdicts
    tables.current().verdicts.unlink()
    assert len(verdicts) == 60


def test_a_table_rebuilt_with_other_settings_begins_without_verdicts(tables: Tables) -> None:
    labels = Labelling(TablePanel(tables))
    first = tables.current()
    labels.save(LabelSave(id=0, transition="walk:3>run:40", natural=True, rater="ada"))
    assert built(tables, **OTHER) == "built"
    assert tables.current().verdicts != first.verdicts
    assert labels.text().splitlines() == ["transition,natural,rater"]
    with pytest.raises(ml.MotionLoomError, match="Another table"):
        labels.save(
            LabelSave(
                id=0, transition="walk:3>run:40", natural=True, rater="ada", table=first.digest
            )
        )
    assert built(tables, **SMALL) == "built"  # the same table: its verdicts hold again
    assert tables.current().digest == first.digest
    assert len(labels.text().splitlines()) == 2


def test_a_build_that_is_stopped_or_fails_leaves_the_older_table(
    tables: Tables, tmp_path: Path
) -> None:
    before = tables.current()
    made = before.table.transition(("walk", 20), ("run", 40)).motion.root_positions
    # Read at another rate, and only then found to be too small for so many clusters.
    assert built(tables, clusters=200, lookup=200, length_s=0.5, fps=20.0) == "failed"
    ml.save(ml.synthetic.clip("sneak", duration_s=2.5).motion, tmp_path / "clips" / "sneak.bvh")
    assert built(tables, clusters=200, lookup=200, length_s=0.5, fps=30.0) == "failed"
    tables.build(TableBuild(id=0, **OTHER))
    assert tables.cancel().body.job.state == "stopped"
    facts = tables.state().body.table
    assert facts.clusters == 8
    assert tables.current() is before
    again = TransitionTable.open(before.table.file).transition(("walk", 20), ("run", 40))
    np.testing.assert_array_equal(again.motion.root_positions, made)
    # What neither the table nor the last build uses is deleted.
    assert len(list(tables.place.glob("table*.mlc"))) <= 2


def test_a_table_opened_during_a_build_gives_way_to_the_new_one(tables: Tables) -> None:
    tables.build(TableBuild(id=0, **OTHER))
    assert tables.open("built here").body.table.clusters == 8
    job = tables._job
    assert job is not None
    job.wait(BUILD_S)
    assert tables.state().body.table.clusters == 6


def test_a_table_that_was_deleted_does_not_break_the_state(clips: Path, tmp_path: Path) -> None:
    tables = Tables(Library(clips), tmp_path / "state")
    tables.build(TableBuild(id=0, **SMALL))
    job = tables._job
    assert job is not None
    job.wait(BUILD_S)
    (tables.place / "table.mlt").unlink()
    assert tables.state().body.table is None
    assert tables.state().body.job.state == "built"


def test_the_shown_build_command_builds_the_same_table_and_changes_nothing_else(
    table_studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from motionloom.cli.main import typer_app

    opened = table_studio.tables.current()
    words = shlex.split(opened.facts().build)
    assert "--force" not in words
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(typer_app(), words[1:])
    assert done.exit_code == 0, done.output
    made = TransitionTable.open(tmp_path / "table.mlt")
    assert made.settings == opened.table.settings
    assert made.length == opened.table.length
    assert made.collection.labels == opened.table.collection.labels
    for name, array in opened.table.arrays.items():
        np.testing.assert_array_equal(made.arrays[name], array, err_msg=name)
    TransitionTable.open(opened.table.file)


def test_an_extended_table_shows_no_command_that_would_not_build_it(
    clips: Path, tmp_path: Path
) -> None:
    beside = clips.with_suffix(".mlt")
    lib = ml.Collection.ingest(clips, out=clips.with_suffix(".mlc"), fps=30.0)
    ml.build_table(lib, out=beside, length_s=0.5, clusters=8, lookup=8)
    tables = Tables(Library(clips), tmp_path / "state")
    assert tables.open(beside.name).body.table.build
    ml.save(ml.synthetic.clip("sneak", duration_s=2.5).motion, clips / "xslow.bvh")
    lib = ml.Collection.ingest(clips, out=clips.with_suffix(".mlc"), fps=30.0)
    ml.extend_table(beside, lib)
    assert tables.open(beside.name).body.table.build == ""


def test_a_rater_who_rated_everything_gets_an_error(
    table_studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = table_studio.tables
    labels = Labelling(TablePanel(tables))
    monkeypatch.setattr(labelling, "MOST_DRAWN", 2)
    for _ in range(2):
        rating = labels.next(LabelNext(id=0, rater="zoe")).detail.rating
        labels.save(LabelSave(id=0, transition=rating.transition, natural=True, rater="zoe"))
    with pytest.raises(ml.MotionLoomError, match="rated every transition"):
        labels.next(LabelNext(id=0, rater="zoe"))
    tables.current().verdicts.unlink()


def test_clips_whose_names_cannot_be_written_down_are_not_shown_to_raters(
    clips: Path, tmp_path: Path
) -> None:
    (clips / "jog.bvh").rename(clips / "a>b.bvh")
    (clips / "run.bvh").rename(clips / "=1+1.bvh")
    tables = Tables(Library(clips), tmp_path / "state")
    assert built(tables, **SMALL) == "built"
    labels = Labelling(TablePanel(tables))
    for _ in range(3):
        transition = labels.next(LabelNext(id=0, rater="ada")).detail.rating.transition
        assert [part.partition(":")[0] for part in transition.split(">")] == ["walk", "walk"]
        labels.save(LabelSave(id=0, transition=transition, natural=True, rater="ada"))


def test_a_build_ignores_output_of_other_libraries(
    monkeypatch: pytest.MonkeyPatch, clips: Path, tmp_path: Path
) -> None:
    program = "print('a library says hello'); print('[1]'); print('{\"built\": true}')"
    start = subprocess.Popen

    def talkative(words: list[str], **options: Any) -> Any:
        return start([words[0], "-c", program], **options)

    tables = Tables(Library(clips), tmp_path / "state")
    plan = tables._plan(TableBuild(id=0, **SMALL))
    monkeypatch.setattr(subprocess, "Popen", talkative)
    job = BuildJob(plan)
    job.wait(BUILD_S)
    assert job.state().state == "built"
