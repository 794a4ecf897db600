"""What commands print, where it was misleading before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for kind, fps in (("walk", 30.0), ("jog", 60.0)):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=fps).motion, tmp_path / f"{kind}.bvh")
    return tmp_path / "walk.bvh", tmp_path / "jog.bvh"


def test_a_transition_of_two_rates_prints_how_frames_are_counted(run, tmp_path, pair) -> None:
    done = run("transition", *pair, "-o", tmp_path / "out.bvh")
    assert done.code == 0, done.err
    assert "frames of both clips are counted at 30 fps, the rate of A" in done.out
    done = run("transition", *pair, "-o", tmp_path / "out2.bvh", "--fps", "30")
    assert "frames of both clips" not in done.out


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("transition {0} {1} -o {2}", "another --at or another --length, or write it with"),
        ("blend {0} {1} -o {2}", "other clips or other --weights, or write it with"),
        ("splice -u {0} -l {1} -o {2}", "other clips or another --where, or write it with"),
        ("clean {0} -o {2}", "Write it with --allow-flawed."),
    ],
)
def test_advice_on_a_flawed_result_is_of_its_command(
    run, tmp_path: Path, pair, flawed: None, command: str, advice: str, monkeypatch
) -> None:
    from motionloom.features.checks.quality_check import QualityCheck
    from motionloom.splicing.splice import SpliceCheck

    monkeypatch.setattr(SpliceCheck, "verify", QualityCheck.verify)
    done = run(*command.format(*pair, tmp_path / "out.bvh").split())
    assert done.code == 3, done.err
    assert advice in done.err


def test_pictures_of_a_folder_need_a_format_of_pictures(run, tmp_path: Path, pair) -> None:
    done = run("render", tmp_path, "-o", tmp_path / "out")
    assert done.code == 2
    assert "Add --to png" in done.err


def test_a_page_must_be_called_one(run, tmp_path: Path) -> None:
    done = run("table", "page", tmp_path / "lib.mlt", "-o", tmp_path / "page.txt")
    assert done.code == 2
    assert "A page must end in .html" in done.err
    assert not (tmp_path / "page.txt").exists()


def test_a_pair_that_cannot_be_made_names_its_files(run, tmp_path: Path, pair) -> None:
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (60, 2, 1))
    ml.save(ml.Motion(rod, np.zeros((60, 3)), still, fps=30), tmp_path / "rod.bvh")
    done = run("splice", "-u", tmp_path / "rod.bvh", "-l", pair[0], "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert "rod.bvh" in done.err
    assert "walk.bvh" in done.err


@pytest.mark.parametrize(("stated", "meant"), [("33.3333", "30"), ("60", "60"), ("8.333", "120")])
def test_a_frame_time_that_is_no_time_in_seconds_is_warned_about(
    run, pair, stated: str, meant: str
) -> None:
    clip = pair[0]
    lines = clip.read_text().splitlines()
    lines = [f"Frame Time: {stated}" if each.startswith("Frame Time") else each for each in lines]
    clip.write_text("\n".join(lines) + "\n")
    done = run("info", clip)
    assert "frames per second. It looks like" in done.out
    assert f"--source-fps{meant}" in done.out.replace(" ", "")
    assert "It looks like" not in run("info", clip, "--source-fps", meant).out


def test_skeletons_of_clips_are_not_called_skipped(run, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("02.asf", "02_01.amc", "readme.doc"):
        (folder / name).write_text("x")
    done = run("convert", folder, tmp_path / "out", "--to", "bvh", "--dry-run")
    assert "not clips: readme.doc" in done.err
    assert "asf" not in done.err


def test_results_of_motions_without_names_have_none() -> None:
    walk, jog = (
        ml.synthetic.clip(kind, duration_s=1.5).motion.replace(name="") for kind in ("walk", "jog")
    )
    assert ml.transition(walk, jog).motion.name == ""
    assert ml.transition(walk.replace(name="walk"), jog).motion.name == "walk"
    assert ml.splice(jog, walk).motion.name == ""
