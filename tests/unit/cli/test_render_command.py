from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

import motionloom as ml


def test_a_strip_is_a_picture_of_the_size_asked_for(run, tmp_path, walk_bvh) -> None:
    out = tmp_path / "walk.png"
    assert run("render", walk_bvh, "-o", out, "--size", "800x300").code == 0
    with Image.open(out) as picture:
        assert picture.size == (800, 300)


@pytest.mark.parametrize("view", ["side", "front", "top", "three-quarter"])
def test_every_view_gives_another_picture(run, tmp_path, walk_bvh, view: str) -> None:
    out, side = tmp_path / "out.png", tmp_path / "side.png"
    assert run("render", walk_bvh, "-o", out, "--view", view, "--size", "400x160").code == 0
    assert run("render", walk_bvh, "-o", side, "--view", "side", "--size", "400x160").code == 0
    assert (out.read_bytes() == side.read_bytes()) == (view == "side")


def test_the_same_clip_gives_the_same_picture_byte_for_byte(run, tmp_path, walk_bvh) -> None:
    for kind in ("png", "svg", "gif"):
        a, b = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
        for out in (a, b):
            assert (
                run("render", walk_bvh, "-o", out, "--frames", "0:20", "--size", "300x200").code
                == 0
            )
        assert a.read_bytes() == b.read_bytes()


def test_a_gif_plays_in_real_time(run, tmp_path: Path, walk_bvh: Path) -> None:
    out = tmp_path / "walk.gif"
    assert run("render", walk_bvh, "-o", out, "--frames", "0:61", "--size", "160x120").code == 0
    with Image.open(out) as film:
        assert film.n_frames == 26  # one second at 25 pictures a second, both ends shown
        assert film.info["duration"] == 40
        assert film.size == (160, 120)


def test_an_mp4_comes_out_or_the_extra_is_named(run, tmp_path, walk_bvh, monkeypatch) -> None:
    pytest.importorskip("imageio_ffmpeg")
    out = tmp_path / "walk.mp4"
    assert run("render", walk_bvh, "-o", out, "--frames", "0:10", "--size", "161x121").code == 0
    assert out.read_bytes()[4:8] == b"ftyp"
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    done = run("render", walk_bvh, "-o", tmp_path / "again.mp4", "--frames", "0:10")
    assert done.code == 2
    assert "motionloom[video]" in done.err
    assert not list(tmp_path.glob("*again*"))


def test_a_page_comes_out(run, tmp_path: Path, walk_bvh: Path) -> None:
    out = tmp_path / "walk.html"
    assert run("render", walk_bvh, "-o", out).code == 0
    assert out.read_text().startswith("<!doctype html>")


def test_tracks_of_the_feet_come_out(run, tmp_path: Path, walk_bvh: Path) -> None:
    out = tmp_path / "feet.png"
    assert run("render", walk_bvh, "-o", out, "--what", "tracks", "--size", "600x400").code == 0
    with Image.open(out) as picture:
        assert picture.size == (600, 400)


@pytest.mark.parametrize(
    "option", [["--frames", "10"], ["--frames", "80:10"], ["--size", "10x10"], ["--size", "big"]]
)
def test_options_that_make_no_sense_are_refused(run, tmp_path, walk_bvh, option) -> None:
    out = tmp_path / "out.png"
    done = run("render", walk_bvh, "-o", out, *option)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert not out.exists()


def test_an_unknown_kind_of_picture_is_refused(run, tmp_path: Path, walk_bvh: Path) -> None:
    done = run("render", walk_bvh, "-o", tmp_path / "out.bmp")
    assert done.code == 2
    assert ".png" in done.err


def test_a_folder_is_drawn_clip_by_clip(run, tmp_path: Path, walk: ml.Motion) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.bvh", "b.bvh"):
        ml.save(walk, source / name)
    done = run("render", source, "-o", tmp_path / "out", "--to", "png", "--size", "300x120")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.png", "b.png"]
