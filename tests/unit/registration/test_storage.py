"""Registration curves on disk: what is inside must be a curve, whatever the checksums say."""

import dataclasses
import io
import json
import os
import zipfile

import numpy as np
import pytest

import motionloom as ml
from motionloom.formats.archives.npz import pack_array
from motionloom.registration.curve import SAME_SPACING, Spline, _checked_times

WALKS = [ml.synthetic.clip("walk", turn=t, duration_s=2.0, fps=30).motion for t in (-0.4, 0.4)]


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("curve") / "a.mlr"
    ml.register(WALKS).save(path)
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def refused(members, path, **changed):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**members, **changed}.items():
            archive.writestr(name, data)
    with pytest.raises(ml.FormatError) as caught:
        ml.RegistrationCurve.load(path)
    assert len(str(caught.value)) < 1000
    return True


HEADERS = [
    *[("motions", n) for n in (-1, 0, 1, 3, 2.0, True, "2", None, [2], 10**9)],
    *[("reference", n) for n in (-1, 2, 0.0, True, "0", None)],
    *[("frames_per_knot", n) for n in (0, -1.0, 1e-300, 1e9, 1e300, "7", None, [7.0], True)],
    *[("costs", n) for n in (None, 3, [], [0.0], [0.0, "x"], [0.0, None], {"a": 1}, "ab")],
    *[("notes", n) for n in (None, 3, "ab", [3], [None])],
    *[("matches", n) for n in (None, [], {}, 3)],
    *[("body", n) for n in (3, [], {"tail": 1}, {"pelvis": 99}, {"pelvis": "a"}, {"spine": 1.5})],
    *[("uncut", n) for n in (None, 1, "yes", [])],
    *[("schema", n) for n in (0, -1, 1.0, True, "1", None)],
]


@pytest.mark.parametrize(("key", "value"), HEADERS)
def test_a_header_that_cannot_be_is_refused(members, tmp_path, key, value):
    header = json.loads(members["registration.json"])
    text = json.dumps({**header, key: value}).encode()
    assert refused(members, tmp_path / "a.mlr", **{"registration.json": text})


def test_roles_of_joints_come_back(tmp_path):
    roles = dataclasses.replace(ml.BodyMap.guess(WALKS[0].skeleton), head=None)
    curve = ml.register(WALKS, body=roles)
    curve.save(tmp_path / "a.mlr")
    assert ml.RegistrationCurve.load(tmp_path / "a.mlr").body == curve.body == roles


@pytest.mark.parametrize("missing", ["body", "uncut"])
def test_a_file_of_an_earlier_version_is_read(members, tmp_path, missing):
    header = json.loads(members["registration.json"])
    del header[missing]
    with zipfile.ZipFile(tmp_path / "a.mlr", "w") as archive:
        for name, data in {**members, "registration.json": json.dumps(header).encode()}.items():
            archive.writestr(name, data)
    assert getattr(ml.RegistrationCurve.load(tmp_path / "a.mlr"), missing) is None


PLANTS = ([], [[0, 1]], [[0, 1]] * 3, [[0, 1], [0]], [[0, 1], [0, "1"]], [[0, 1], [0, 1e9]], 5)


@pytest.mark.parametrize("match", [*PLANTS, [[0.0, 1.0], [-50.0, 1.0]]])
def test_plants_must_lie_on_the_curve_of_each_motion(members, tmp_path, match):
    header = json.loads(members["registration.json"])
    header["matches"]["left_heel"] = [match]
    text = json.dumps(header).encode()
    assert refused(members, tmp_path / "a.mlr", **{"registration.json": text})


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"format": NaN}', b"\xff", b" " * (3 << 20)])
def test_a_header_that_is_no_text_of_ours_is_refused(members, tmp_path, text):
    assert refused(members, tmp_path / "a.mlr", **{"registration.json": text})


TIMES = {
    "backwards": lambda t: t[::-1],
    "standing": lambda t: np.tile(t[:1], (len(t), 1)),
    "before the motions": lambda t: t - 20.0,
    "after the motions": lambda t: t + 20.0,
    "far too long": lambda t: t * 1e6,
    "one row": lambda t: t[:1],
    "one motion": lambda t: t[:, :1],
    "not a number": lambda t: np.where(t == t.max(), np.nan, t),
    "infinite": lambda t: np.where(t == t.max(), np.inf, t),
    "texts": lambda t: t.astype("U4"),
    "flags": lambda t: t > 0.0,
    "more dimensions": lambda t: t[None],
}


@pytest.mark.parametrize("change", TIMES)
def test_times_that_cannot_be_are_refused(members, tmp_path, change):
    times = np.load(io.BytesIO(members["times.npy"]))
    changed = pack_array(TIMES[change](times))
    assert refused(members, tmp_path / "a.mlr", **{"times.npy": changed})


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p[:-1],
        lambda p: p.astype(np.float64),
        lambda p: np.full(p.shape, 7, dtype=np.uint8).view(np.bool_),
    ],
)
def test_plants_must_be_flags_of_every_frame(members, tmp_path, change):
    planted = np.load(io.BytesIO(members["planted0.npy"]))
    assert refused(members, tmp_path / "a.mlr", **{"planted0.npy": pack_array(change(planted))})


def test_motions_must_share_a_rate(members, tmp_path):
    faster = tmp_path / "faster.mlm"
    ml.save(WALKS[1].replace(fps=60.0), faster)
    assert refused(members, tmp_path / "a.mlr", **{"motion1.mlm": faster.read_bytes()})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_curve(tmp_path):
    os.mkfifo(tmp_path / "a.mlr")
    with pytest.raises(ml.FormatError, match="a file is needed"):
        ml.RegistrationCurve.load(tmp_path / "a.mlr")


@pytest.mark.parametrize(
    "options", [{}, {"ends": "open"}, {"epsilon": 0.01}, {"refine": True}, {"knot_s": 0.05}]
)
def test_every_curve_that_is_saved_can_be_loaded(tmp_path, options):
    curve = ml.register([WALKS[0], WALKS[1][5:50]], **options)
    curve.save(tmp_path / "a.mlr")
    again = ml.RegistrationCurve.load(tmp_path / "a.mlr")
    assert np.array_equal(again.times.points, curve.times.points)


def test_a_curve_with_a_cost_that_is_no_number_is_not_written(tmp_path):
    curve = ml.register(WALKS)
    for cost in (np.nan, np.inf):
        odd = dataclasses.replace(curve, costs=(0.0, cost))
        with pytest.raises(ValueError):
            odd.save(tmp_path / "a.mlr")
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def of_cycles(tmp_path_factory):
    """A curve of cycles, and its file."""
    path = tmp_path_factory.mktemp("cycles") / "a.mlr"
    curve = ml.register(
        [ml.synthetic.clip("walk", turn=t).motion for t in (-0.4, 0.4)], cycles=True
    )
    curve.save(path)
    return curve, path


def test_the_clips_that_cycles_were_cut_from_come_back(of_cycles):
    curve, path = of_cycles
    again = ml.RegistrationCurve.load(path)
    assert again.uncut is not None
    assert again.uncut.first_frames == curve.uncut.first_frames != (0, 0)
    for before, after in zip(curve.uncut.motions, again.uncut.motions, strict=True):
        assert np.array_equal(before.local_quats, after.local_quats)
    for before, after in zip(curve.uncut.footplants, again.uncut.footplants, strict=True):
        assert np.array_equal(before.planted, after.planted)
    assert ml.blend(again, [0.5, 0.5], duration_s=3.0).verification.passed


def test_uncut_clips_must_hold_the_motions_cut_from_them(of_cycles, tmp_path):
    with zipfile.ZipFile(of_cycles[1]) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    short = {
        "uncut_motion0.mlm": members["motion0.mlm"][:],
        "uncut_planted0.npy": pack_array(np.zeros((5, 4), dtype=bool)),
    }
    assert refused(members, tmp_path / "a.mlr", **short)
    clip = tmp_path / "short.mlm"
    ml.save(of_cycles[0].motions[0][:-1], clip)
    planted = pack_array(np.array(of_cycles[0].footplants[0].planted[:-1]))
    short = {"uncut_motion0.mlm": clip.read_bytes(), "uncut_planted0.npy": planted}
    assert refused(members, tmp_path / "a.mlr", **short)
    header = json.loads(members["registration.json"])
    for firsts in ([0], None, [0, -1], [0, 10**6], [0, 1.5], [True, 0]):
        text = json.dumps({**header, "first_frames": firsts}).encode()
        assert refused(members, tmp_path / "a.mlr", **{"registration.json": text})


@pytest.mark.parametrize("spacing", [0.25, 8.0])
def test_the_spacing_may_differ_from_the_times_by_rounding(spacing):
    """By a millionth of itself, whether control points are close or far apart."""
    points = spacing * np.stack([np.arange(5.0)] * 2, axis=-1)  # frames 0.5 to 3.5 spacings
    motions = tuple(WALKS)
    for part in (0.5, -0.5):
        near = spacing * (1.0 + part * SAME_SPACING)
        assert _checked_times(Spline(points), motions, near) == near
    for part in (2.0, -2.0):
        with pytest.raises(ml.FormatError, match="`frames_per_knot` must be what the times say"):
            _checked_times(Spline(points), motions, spacing * (1.0 + part * SAME_SPACING))
