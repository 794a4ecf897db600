from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from motionloom.drawing import film


@pytest.fixture
def few_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo on two clips and with a short film: every chapter runs, a few seconds in all."""
    monkeypatch.setattr(ml.synthetic, "kinds", lambda: ("walk", "stand"))
    monkeypatch.setattr(film, "GIF_FPS", 5.0)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the collection's, which says when its sources were written."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.suffix != ".mlc"
    }


@pytest.mark.slow
@pytest.mark.usefixtures("few_kinds")
def test_the_demo_writes_clips_pictures_and_a_report_and_again(
    run, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("made") / "here"
    done = run("demo", "-o", out)
    assert done.code == 0, done.err
    assert str(out / "report.html") in done.out
    for name in (
        "walk.bvh",
        "walk.glb",
        "walk.png",
        "walk.gif",
        "stand.bvh",
        "walk-feet.png",
        "carry-on-turn.bvh",
        "wave-on-jog.png",
        "walk-to-run-by-table.glb",
        "transitions-by-table.png",
        "stream.bvh",
        "steer.html",
        "transitions/clips.mlt",
    ):
        assert (out / name).stat().st_size > 1000
    report = (out / "report.html").read_text()
    assert report.count("data-clips=") == 8
    assert "data:image/png;base64," in report
    order = [report.index(f"<h2>{title}") for title in ("A transition", "A blend", "A splice",
             "A live character", "How blending works", "The clips", "Your clips")]  # fmt: skip
    assert order == sorted(order)
    assert 'href="steer.html"' in report
    assert f"wrote {sum(path.is_file() for path in out.rglob('*'))} files" in done.out
    table = ml.TransitionTable.open(out / "transitions" / "clips.mlt")
    made = table.transition(("sidestep", 50), label="carry")
    found = ml.verify(made.motion, sources=made.sources(), footplants=made.footplants)
    assert found.passed

    mine = out / "mine.txt"
    mine.write_text("keep")
    first = contents(out)
    assert run("demo", "-o", out).code == 0
    assert contents(out) == first
    assert mine.read_text() == "keep"


def test_the_demo_does_not_write_among_files_of_others(run, tmp_path) -> None:
    mine = tmp_path / "walk.bvh"
    mine.write_text("keep")
    done = run("demo", "-o", tmp_path)
    assert done.code == 2
    assert "empty folder" in done.err
    assert mine.read_text() == "keep"
