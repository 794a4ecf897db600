"""The page: self-contained, closed to whatever a name holds, and true to the clip."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import webbrowser

import numpy as np
import pytest

import motionloom as ml
from motionloom.drawing import view as view_module
from motionloom.drawing.figure import build_figure
from motionloom.drawing.page import MAX_FRAMES, Report, pack_clip, player_page
from motionloom.features.balance import centre_of_mass

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"
ROUNDED_M = 1e-4
WHOLE_MM = 0.6e-3
NOTHING = -32768
XHTML = "http://www.w3.org/1999/xhtml"


def data_of(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="clips-1">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_packed_points_are_those_of_the_figure(walk) -> None:
    packed = pack_clip(walk.motion, footplants=walk.footplants)
    values = np.frombuffer(base64.b64decode(packed["positions"]), "<f4")
    points = values.reshape(packed["frames"], packed["points"], 3)
    figure = build_figure(walk.motion)
    for mine, theirs in zip(packed["parts"], figure.parts, strict=True):
        apart = points[:, mine["points"]] - figure.points[:, list(theirs.points)]
        assert np.abs(apart).max() < ROUNDED_M
    assert np.abs(points[:, packed["root"]] - walk.motion.root_positions).max() < ROUNDED_M


def test_the_packed_plants_are_those_given(walk) -> None:
    packed = pack_clip(walk.motion, footplants=walk.footplants)
    intervals: dict[str, list[tuple[int, int]]] = {}
    for mark in packed["prints"]:
        intervals.setdefault(mark["kind"], []).append((mark["first"], mark["last"]))
    expected = {k: list(v) for k, v in walk.footplants.intervals().items() if v}
    assert intervals == expected


def test_the_packed_balance_is_that_of_the_body(walk) -> None:
    packed = pack_clip(walk.motion, footplants=walk.footplants)
    com = np.frombuffer(base64.b64decode(packed["com"]), "<i2").reshape(-1, 3) / 1000.0
    assert np.abs(com - centre_of_mass(walk.motion)).max() < WHOLE_MM
    support = np.frombuffer(base64.b64decode(packed["support"]), "<i2").reshape(-1, 16, 2)
    carried = (support[..., 0] != NOTHING).any(axis=-1)
    assert (carried == walk.footplants.planted.any(axis=-1)).all()


def test_a_clip_that_follows_another_has_its_frames_at_the_thinned_rate(walk) -> None:
    frames = np.array([0.0, 1.5, np.nan])
    packed = pack_clip(walk.motion, footplants=walk.footplants, follows=frames)
    unpacked = np.frombuffer(base64.b64decode(packed["follows"]), "<f4")
    np.testing.assert_allclose(unpacked, frames, atol=0.01)


def test_a_very_long_clip_is_thinned_out(walk) -> None:
    n = MAX_FRAMES + 500
    rows = np.arange(n) % walk.motion.n_frames
    long = walk.motion.replace(
        root_positions=walk.motion.root_positions[rows], local_quats=walk.motion.local_quats[rows]
    )
    packed = pack_clip(long, footplants=ml.Footplants(np.zeros((n, 4), bool)))
    assert packed["frames"] <= MAX_FRAMES
    assert packed["frames"] / packed["fps"] == pytest.approx(long.duration_s, rel=0.01)


def test_the_page_asks_nothing_of_the_network(walk) -> None:
    page = player_page(walk.motion)
    outside = page.replace(
        re.findall(r'<script type="application/json".*?</script>', page, re.S)[0], ""
    )
    outside = outside.replace(XHTML, "")  # the name of a language, which nothing fetches
    assert not re.findall(r"https?://|@import|src=[\"'](?!data:)|<link", outside)


def test_only_our_own_script_and_style_may_run(walk) -> None:
    page = player_page(walk.motion)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy


def test_names_are_text_and_never_markup(walk) -> None:
    page = player_page(walk.motion.replace(name=HOSTILE), title=HOSTILE)
    assert "<img" not in page
    assert "alert(1)</script>" not in page
    assert data_of(page)["clips"][0]["name"] == HOSTILE


def test_everything_in_a_report_is_escaped() -> None:
    report = Report(HOSTILE, HOSTILE)
    report.section(HOSTILE, HOSTILE)
    report.table([HOSTILE], [[HOSTILE]])
    report.code(HOSTILE)
    report.picture(b"png", HOSTILE)
    page = report.html()
    assert "<img src=x" not in page
    assert "<script>alert" not in page


def test_the_players_of_a_report_have_their_own_data(walk) -> None:
    report = Report("two")
    for _ in range(2):
        report.player([pack_clip(walk.motion[:5])])
    page = report.html()
    assert 'id="clips-1"' in page
    assert 'id="clips-2"' in page


def test_view_opens_the_browser_and_never_blocks(walk, monkeypatch, tmp_path) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address))
    monkeypatch.setattr(view_module.tempfile, "tempdir", str(tmp_path))
    shown = ml.view(walk.motion, footplants=walk.footplants)
    assert shown.path is not None
    assert opened == [shown.path.as_uri()]
    assert shown.path.read_text(encoding="utf-8") == shown.page


def test_view_shows_results_and_files(walk, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(view_module, "_in_notebook", lambda: True)
    other = ml.synthetic.clip("jog", duration_s=2.0).motion
    made = ml.transition(walk.motion, other, clean=False)
    assert ml.view(made).page == ml.view(made.motion, footplants=made.footplants).page
    ml.save(walk.motion, tmp_path / "walk.bvh")
    of_file = ml.view(tmp_path / "walk.bvh").page
    assert of_file == ml.view(str(tmp_path / "walk.bvh")).page
    with pytest.raises(ml.FormatError, match=r"none\.bvh"):
        ml.view(tmp_path / "none.bvh")


def test_view_shows_itself_in_a_notebook(walk, monkeypatch) -> None:
    monkeypatch.setattr(view_module, "_in_notebook", lambda: True)
    shown = ml.view([walk.motion, walk.motion])
    assert shown.path is None
    frame = shown._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in frame
    assert "<script" not in frame  # all of it is inside the escaped attribute
    assert len(data_of(shown.page)["clips"]) == 2
