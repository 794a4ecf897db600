"""A real browser opens the page: it runs, draws a figure, says no error, obeys no hostile name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.page import player_page
from motionloom.drawing.report import Report

pytestmark = pytest.mark.judge

TIME_LIMIT_S = 120
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-prefers-reduced-motion",
    "--virtual-time-budget=3000",
    "--window-size=1000,800",
    "--enable-logging=stderr",
)
HOSTILE = "</script><img src=x onerror=\"document.documentElement.dataset.player='owned'\">"


def browse(chromium: Path, page: str, folder: Path) -> tuple[str, str, np.ndarray]:
    """The page's document after it ran, what the console said, and its picture (H, W, 3)."""
    file, shot = folder / "page.html", folder / "shot.png"
    file.write_text(page, encoding="utf-8")
    results = []
    for action in ("--dump-dom", f"--screenshot={shot}"):
        done = subprocess.run(
            [
                str(chromium),
                *OPTIONS,
                f"--user-data-dir={folder / 'profile'}",
                action,
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=True,
        )
        results.append(done)
    console = "\n".join(line for line in results[0].stderr.splitlines() if "CONSOLE" in line)
    with Image.open(shot) as picture:
        return results[0].stdout, console, np.asarray(picture.convert("RGB")).astype(int)


def is_green(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (green > red + 60) & (green > blue + 20)


def test_the_player_starts_and_draws_a_person_with_planted_feet(chromium, tmp_path) -> None:
    walk = ml.synthetic.clip("walk")
    page = player_page(walk.motion, footplants=walk.footplants)
    document, console, picture = browse(chromium, page, tmp_path)
    assert 'data-player="ready"' in document
    assert console == ""
    stage, lanes = picture[45:560], picture[640:]
    dark = stage.sum(axis=-1) < 3 * 110
    assert dark.sum() > 5000  # a figure of some size,
    rows, columns = np.argwhere(dark).T
    assert np.ptp(rows) > 250  # upright and tall,
    assert abs(columns.mean() - 500) < 120  # in the middle
    assert is_green(lanes).sum() > 2000


def test_hostile_names_stay_text(chromium, tmp_path: Path) -> None:
    motion = ml.synthetic.clip("stand", duration_s=1.0).motion.replace(name=HOSTILE)
    document, _, _ = browse(chromium, player_page([motion, motion]), tmp_path)
    assert 'data-player="ready"' in document
    assert "<img" not in document


def test_a_report_with_two_players_starts_both(chromium, tmp_path: Path) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    report = Report("two players")
    for _ in range(2):
        report.player([pack_clip(stand.motion, footplants=stand.footplants)])
    document, console, _ = browse(chromium, report.html(), tmp_path)
    assert document.count('class="ml-player"') == 2
    assert console == ""


def test_a_broken_clip_is_told_on_the_page(chromium, tmp_path: Path) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    page = player_page(stand.motion).replace('"clips":[', '"clip":[', 1)
    document, _, _ = browse(chromium, page, tmp_path)
    assert 'data-player="error"' in document
    assert "The player could not start" in document
