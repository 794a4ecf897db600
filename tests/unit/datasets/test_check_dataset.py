"""check_dataset(): rows, resuming, files that are written and files that are not."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.datasets import dataset_run
from motionloom.datasets.dataset_run import LOG_NAME
from motionloom.motion.corrupt import corrupt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "clips"
    (place / "more").mkdir(parents=True)
    ml.save(ml.synthetic.clip("run", duration_s=1.5, fps=30).motion, place / "run.bvh")
    walk = ml.synthetic.clip("walk", duration_s=2.5, speed=1.1, seed=3).motion
    ml.save(corrupt(walk, travel=1.3), place / "more" / "skating.bvh")
    (place / "broken.bvh").write_text("HIERARCHY\nROOT a\n{")
    return place


def names_of(paths: tuple[str, ...]) -> list[str]:
    return [Path(path).name for path in paths]


def test_a_bad_file_is_a_row_and_the_others_are_judged(folder: Path) -> None:
    found = ml.check_dataset(folder, progress=False)
    states = {Path(clip.path).name: clip.status for clip in found.clips}
    assert states["broken.bvh"] == "unreadable"
    assert states["skating.bvh"] == "faulty"
    assert states["run.bvh"] == "good"
    assert dict(found.counts) == {"good": 1, "faulty": 1, "unreadable": 1}
    assert names_of(found.accepted) == ["run.bvh"]
    assert found.worst_first[0].status == "unreadable"
    assert found.worst_first[1].status == "faulty"


def test_the_number_of_workers_changes_no_byte(folder: Path, tmp_path: Path) -> None:
    for name, n in (("one", None), ("many", 3)):
        ml.check_dataset(folder, report=tmp_path / name, jobs=n, progress=False)
    for file in ("summary.csv", "summary.json", "index.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "many" / file).read_bytes()


def test_the_summary_has_a_row_per_clip_worst_first(folder: Path, tmp_path: Path) -> None:
    accept = tmp_path / "good.txt"
    found = ml.check_dataset(folder, report=tmp_path / "r", accept=accept, progress=False)
    with (tmp_path / "r" / "summary.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["file"] for row in rows] == [clip.path for clip in found.worst_first]
    assert float(rows[1]["slide_cm_s"]) > 8.0
    values = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert (values["good"], values["faulty"], values["unreadable"]) == (1, 1, 1)
    assert [clip["file"] for clip in values["clips"]] == [row["file"] for row in rows]
    assert accept.read_text().splitlines() == list(found.accepted)


def stop_after(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Stop the run as Ctrl-C does when ``n`` clips are done."""
    real = dataset_run.run_tasks

    def stopped(*args):
        for done, row in enumerate(real(*args)):
            if done == n:
                raise KeyboardInterrupt
            yield row

    monkeypatch.setattr(dataset_run, "run_tasks", stopped)


def test_a_run_that_was_stopped_goes_on_where_it_ended(folder, tmp_path, monkeypatch) -> None:
    whole = ml.check_dataset(folder, report=tmp_path / "whole", progress=False)
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            ml.check_dataset(folder, report=tmp_path / "r", progress=False)
    assert not (tmp_path / "r" / "summary.csv").exists()
    log = tmp_path / "r" / LOG_NAME
    with log.open("a") as stream:
        stream.write('{"path": "cut off')  # as by a power cut
    found = ml.check_dataset(folder, report=tmp_path / "r", progress=False)
    assert found.resumed == 1  # of two that were done one cannot be read
    assert found.clips == whole.clips
    for file in ("summary.csv", "summary.json", "index.html"):
        assert (tmp_path / "r" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_only_files_that_changed_are_read_again(folder: Path, tmp_path: Path) -> None:
    ml.check_dataset(folder, report=tmp_path / "r", progress=False)
    ml.save(ml.synthetic.clip("jog", duration_s=2.0).motion, folder / "run.bvh")
    found = ml.check_dataset(folder, report=tmp_path / "r", progress=False)
    assert found.resumed == 1  # what could not be read is tried again
    other = ml.check_dataset(folder, report=tmp_path / "r", limits={"slide": 99.0}, progress=False)
    assert other.resumed == 0
    assert other.counts["faulty"] == 0


def test_files_of_others_are_not_replaced(folder: Path, tmp_path: Path) -> None:
    report, accept = tmp_path / "r", tmp_path / "list.txt"
    report.mkdir()
    (report / "index.html").write_text("mine")
    accept.write_text("mine")
    with pytest.raises(ml.FormatError, match="exists already"):
        ml.check_dataset(folder, report=report, progress=False)
    with pytest.raises(ml.FormatError, match="exists already"):
        ml.check_dataset(folder, accept=accept, progress=False)
    assert (report / "index.html").read_text() == accept.read_text() == "mine"
    ml.check_dataset(folder, report=report, accept=accept, overwrite=True, progress=False)
    assert accept.read_text() != "mine"
    clip = folder / "run.bvh"
    with pytest.raises(ml.FormatError, match="replace a clip"):
        ml.check_dataset(folder, accept=clip, overwrite=True, progress=False)


def test_limits_decide_and_a_column_can_be_switched_off(folder: Path) -> None:
    strict = ml.check_dataset(folder, limits={"jitter": 0.0}, progress=False)
    assert strict.counts["good"] == 0
    lax = ml.check_dataset(folder, limits={"slide": math.inf}, progress=False)
    assert lax.counts["faulty"] == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"limits": {"speed": 1.0}}, "limits"),
        ({"limits": {"slide": -1.0}}, "limits"),
        ({"jobs": 0}, "jobs"),
        ({"source_fps": 0.0}, "source_fps"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"max_memory": "much"}, "max_memory"),
        ({"up": "w"}, "up"),
        ({"body": "none.toml"}, "body"),
    ],
)
def test_wrong_options_raise_before_a_file_is_read(folder: Path, options, text: str) -> None:
    with pytest.raises(ml.MotionLoomError, match=text):
        ml.check_dataset(folder, progress=False, **options)


def test_a_true_rate_that_is_given_is_believed(tmp_path: Path) -> None:
    run = ml.synthetic.clip("run").motion
    ml.save(run.replace(fps=120.0), tmp_path / "run.bvh")
    doubted = ml.check_dataset(tmp_path)
    assert [each.column for each in doubted.clips[0].faults] == ["frame_rate"]
    assert doubted.clips[0].likely_fps == 60.0
    assert ml.check_dataset(tmp_path, source_fps={"run": 60.0}).counts["good"] == 1


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ml.FormatError, match="must hold a clip"):
        ml.check_dataset(tmp_path)


def test_two_runs_do_not_write_one_report(folder: Path, tmp_path: Path, monkeypatch) -> None:
    real = dataset_run.run_tasks

    def inside(*args):
        with pytest.raises(ml.FormatError, match="being written already"):
            ml.check_dataset(folder, report=tmp_path / "r", progress=False)
        yield from real(*args)

    monkeypatch.setattr(dataset_run, "run_tasks", inside)
    ml.check_dataset(folder, report=tmp_path / "r", progress=False)


def test_hidden_files_are_left_out_and_links_to_nothing_are_unreadable(folder: Path) -> None:
    (folder / "._run.bvh").write_bytes(b"\x00\x05\x16\x07")  # as macOS adds them to archives
    (folder / ".trash").mkdir()
    (folder / ".trash" / "old.bvh").write_bytes((folder / "run.bvh").read_bytes())
    (folder / "gone.bvh").symlink_to(folder / "nowhere.bvh")
    found = ml.check_dataset(folder, progress=False)
    states = {Path(clip.path).name: clip.status for clip in found.clips}
    assert set(states) == {"run.bvh", "skating.bvh", "broken.bvh", "gone.bvh"}
    assert states["gone.bvh"] == "unreadable"
    assert [path.name for path in ml.find_clips(folder)] == [
        *("broken.bvh", "gone.bvh", "skating.bvh", "run.bvh")
    ]


def test_no_embedded_clip_is_accused() -> None:
    clips = [f"embedded:{kind}" for kind in ml.synthetic.kinds()]
    found = ml.check_dataset(clips, jobs=1, progress=False)
    assert [str(each) for clip in found.clips for each in clip.defects] == []
    assert found.accepted == tuple(clips)
