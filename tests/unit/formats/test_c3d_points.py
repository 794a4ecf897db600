"""C3D markers: units, axes, gaps, and registration without a skeleton."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

WALK_FRAMES = 90


def marker_file(path: Path, places: np.ndarray, *, unit: str = "mm", screen: str = "") -> Path:
    """A C3D file of positions (F, P, 3) in metres, Y up, written with Z up."""
    c3d = pytest.importorskip("c3d", reason="the package c3d is not installed")
    scale = {"mm": 1000.0, "cm": 100.0, "m": 1.0}[unit]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = c3d.Writer(point_rate=60.0, point_units=unit)
        for frame in places:
            rows = np.zeros((len(frame), 5), np.float32)
            rows[:, :3] = scale * frame[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
            hidden = np.isnan(frame[:, 0])
            rows[hidden, :3], rows[hidden, 3:] = 0.0, -1.0
            writer.add_frames([(rows, np.array([[]]))])
        labels = [f"M{k}" for k in range(places.shape[1])]
        writer.set_point_labels(labels)
        if screen:
            writer.set_screen_axis(X="+X", Y=screen)
        stream = io.BytesIO()
        writer.write(stream)
    path.write_bytes(stream.getvalue())
    return path


@pytest.fixture(scope="module")
def walk() -> np.ndarray:
    return ml.synthetic.clip("walk").motion.world_positions()[:WALK_FRAMES]


@pytest.mark.parametrize("unit", ["mm", "cm", "m"])
def test_markers_come_in_metres_and_y_up(unit: str, walk, tmp_path) -> None:
    clip = ml.load_points(marker_file(tmp_path / "a.c3d", walk, unit=unit))
    assert (clip.n_frames, clip.fps, clip.up) == (WALK_FRAMES, 60.0, "z")
    assert clip.names[0] == "M0"
    assert np.abs(clip.positions - walk).max() < 1e-5
    assert any("guess" in finding.problem for finding in clip.findings)


def test_the_up_axis_of_the_file_or_the_caller_counts(walk, tmp_path) -> None:
    clip = ml.load_points(marker_file(tmp_path / "a.c3d", walk, screen="+Z"))
    assert any("Y_SCREEN" in finding.problem for finding in clip.findings)
    assert np.abs(clip.positions - walk).max() < 1e-5
    assert ml.load_points(tmp_path / "a.c3d", up="y").up == "y"
    turned = ml.load_points(marker_file(tmp_path / "b.c3d", walk, screen="-Z"))
    assert turned.up == "z"
    assert any("below 0" in finding.problem for finding in turned.findings)
    assert np.abs(turned.positions - walk).max() < 1e-5


def test_markers_are_saved_as_rows_and_arrays(walk, tmp_path) -> None:
    places = np.array(walk[:5, :3])
    places[2, 1] = np.nan
    clip = ml.load_points(marker_file(tmp_path / "a.c3d", places, screen="+Z"))
    clip.save(tmp_path / "a.csv")
    head, *rows = (tmp_path / "a.csv").read_text().splitlines()
    assert head == "time,M0_x,M0_y,M0_z,M1_x,M1_y,M1_z,M2_x,M2_y,M2_z"
    cells = [row.split(",") for row in rows]
    assert cells[2][4:7] == ["", "", ""]
    assert [float(cell) for cell in cells[3][1:]] == clip.positions[3].ravel().tolist()
    assert float(cells[4][0]) == 4.0 / 60.0
    clip.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.array_equal(arrays["positions"], clip.positions)
        assert np.array_equal(arrays["seen"], clip.seen)
        assert arrays["names"].tolist() == list(clip.names)
        assert (float(arrays["fps"]), str(arrays["up"])) == (60.0, "y")
    with pytest.raises(ml.FormatError, match=r"\.csv or \.npz"):
        clip.save(tmp_path / "a.bvh")


def test_hidden_markers_are_bridged_in_the_motion(walk, tmp_path) -> None:
    gaps = np.array(walk)
    gaps[20:25, 3] = np.nan
    clip = ml.load_points(marker_file(tmp_path / "a.c3d", gaps))
    assert not clip.seen[20:25, 3].any()
    assert clip.seen[:, 4].all()
    places = clip.motion().world_positions()[:, 1:]
    assert np.abs(places[:, 4:] - walk[:, 4:]).max() < 1e-5
    assert np.abs(places[22, 3] - walk[22, 3]).max() < 0.02


def test_markers_are_registered_without_a_skeleton(tmp_path) -> None:
    clips = []
    for name, speed in (("slow", 1.1), ("fast", 1.5)):
        motion = ml.synthetic.clip("walk", speed=speed).motion
        file = marker_file(tmp_path / f"{name}.c3d", motion.world_positions())
        clips.append(ml.load_points(file).motion())
    curve = ml.register(clips)
    # Matched frames are at the same place of a stride: one foot as far before the other.
    strides = []
    for k, speed in enumerate((1.1, 1.5)):
        motion = ml.synthetic.clip("walk", speed=speed).motion
        left, right = (motion.skeleton.index(f"{side}Foot") for side in ("Left", "Right"))
        places = motion.world_positions()
        gap = places[:, left, 2] - places[:, right, 2]
        times = [curve.frames(u)[k] for u in np.linspace(*curve.u_range, 60)]
        strides.append(np.interp(times, np.arange(len(gap)), gap))
    assert np.corrcoef(*strides)[0, 1] > 0.95


def test_bad_files_are_refused(walk, tmp_path) -> None:
    file = marker_file(tmp_path / "a.c3d", walk[:10])
    data = file.read_bytes()
    rng = np.random.Generator(np.random.PCG64(3))
    for case in range(200):
        spoiled = bytearray(data[: int(rng.integers(1, len(data)))] if case % 2 else data)
        for at in rng.integers(0, min(len(spoiled), 1500), 4):
            spoiled[at] = int(rng.integers(256))
        (tmp_path / "b.c3d").write_bytes(bytes(spoiled))
        try:
            clip = ml.load_points(tmp_path / "b.c3d")
        except ml.MotionLoomError:
            continue
        assert np.isfinite(clip.positions).all()


def test_what_is_no_c3d_is_refused(tmp_path) -> None:
    (tmp_path / "a.c3d").write_bytes(bytes(600))
    with pytest.raises(ml.FormatError, match="second byte"):
        ml.load_points(tmp_path / "a.c3d")


def test_without_the_package_the_error_states_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "c3d", None)
    (tmp_path / "a.c3d").write_bytes(b"\x02\x50" + bytes(600))
    with pytest.raises(ml.FormatError, match=r"motionloom\[c3d\]"):
        ml.load_points(tmp_path / "a.c3d")


def test_points_at_exactly_zero_count_as_not_seen(walk, tmp_path) -> None:
    """Files that did not arrive whole, and tools that mark gaps so."""
    places = np.array(walk)
    places[40:50, 3] = 0.0
    clip = ml.load_points(marker_file(tmp_path / "a.c3d", places))
    assert not clip.seen[40:50, 3].any() and clip.seen.sum() == clip.seen.size - 10
    assert any("10 points at exactly (0, 0, 0)" in finding.problem for finding in clip.findings)
