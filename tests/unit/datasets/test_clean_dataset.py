"""clean_dataset(): results in another folder, resumed, nothing of others replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.datasets import dataset_run
from motionloom.motion.corrupt import corrupt


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("raw")
    (place / "more").mkdir()
    for kind, name in (("walk", "a.bvh"), ("sneak", "more/b.bvh")):
        clip = ml.synthetic.clip(kind, duration_s=1.5, fps=30).motion
        ml.save(corrupt(clip, travel=1.3), place / name)
    return place


def test_feet_slide_no_more_and_the_summary_has_both_figures(raw: Path, tmp_path: Path) -> None:
    found = ml.clean_dataset(raw, tmp_path, progress=False)
    for clip in found.clips:
        assert clip.before["slide"] > 8.0
        assert clip.values["slide"] < 1.0
        assert ml.load(clip.output).n_frames == clip.frames
    assert (tmp_path / "more" / "b.bvh").is_file()
    values = json.loads((tmp_path / "_report" / "summary.json").read_text())
    assert values["clips"][0]["cleanup_facts"]["slide_after_cm"] < 1.0
    header = (tmp_path / "_report" / "summary.csv").read_text().splitlines()[0].split(",")
    assert "before_slide_cm_s" in header
    assert len(header) == len(set(header))


def test_a_run_that_was_stopped_goes_on(raw: Path, tmp_path: Path, monkeypatch) -> None:
    real = dataset_run.run_tasks

    def stopped(*args):
        rows = real(*args)
        yield next(rows)
        next(rows)  # its file is written, and nothing knows of it
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset_run, "run_tasks", stopped)
        with pytest.raises(KeyboardInterrupt):
            ml.clean_dataset(raw, tmp_path, progress=False)
    assert (tmp_path / "more" / "b.bvh").exists()
    before = (tmp_path / "a.bvh").stat().st_mtime_ns
    found = ml.clean_dataset(raw, tmp_path, progress=False)
    assert found.resumed == 1
    assert found.counts["unreadable"] == 0
    assert (tmp_path / "a.bvh").stat().st_mtime_ns == before


def test_files_of_others_and_inputs_are_not_replaced(raw: Path, tmp_path: Path) -> None:
    (tmp_path / "a.bvh").write_text("mine")
    found = ml.clean_dataset(raw, tmp_path, progress=False)
    assert [clip.status for clip in found.clips] == ["unreadable", "good"]
    assert "exists already" in found.clips[0].error
    assert (tmp_path / "a.bvh").read_text() == "mine"
    assert ml.clean_dataset(raw, tmp_path, overwrite=True, progress=False).counts["good"] == 2
    # A result that was edited since is not ours any more.
    (tmp_path / "a.bvh").write_text("edited")
    again = ml.clean_dataset(raw, tmp_path, progress=False)
    assert "exists already" in again.clips[0].error
    assert (tmp_path / "a.bvh").read_text() == "edited"
    same = ml.clean_dataset(raw, raw, report=tmp_path / "r", overwrite=True, progress=False)
    assert all("is the input" in clip.error for clip in same.clips)


def test_results_can_be_of_another_format_and_rate(raw: Path, tmp_path: Path) -> None:
    found = ml.clean_dataset(raw, tmp_path, to="glb", fps=20, ground=True, progress=False)
    assert [Path(clip.output).suffix for clip in found.clips] == [".glb", ".glb"]
    assert {round(ml.load(clip.output).fps) for clip in found.clips} == {20}
