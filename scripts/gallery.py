"""Motions of the gallery and the showcases: each becomes one page with a player."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import motionloom as ml
from scripts.run_page import run_command

__all__ = ["write_gallery", "write_showcases"]

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "studies" / "reports"

PAGES = ("transition", "blend", "splice", "live")
WAITING = "<!doctype html><title>motionloom</title><p>This site was built without its gallery."
NO_CLIPS = (
    "<!doctype html><title>motionloom</title>"
    "<p>This site was built without the captured clips that play here; the strip shows them."
)
LABELS = ("walk", "run", "sneak", "stand")


def write_gallery(folder: Path, *, motions: bool = True) -> None:
    """Write a page for each of ``PAGES``: a player, or a line of text without ``motions``."""
    folder.mkdir(parents=True, exist_ok=True)
    if not motions:
        for name in PAGES:
            (folder / f"{name}.html").write_text(WAITING, encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as scratch:
        _write_results(folder, Path(scratch))
        _write_live(folder / "live.html", Path(scratch))


def write_showcases(folder: Path, *, motions: bool = True) -> None:
    """Write a page for each strip of the showcases, and one with all: players if clips are found.

    Tables of these clips are built on the first run, which takes minutes; they stay in docs/film.
    """
    folder.mkdir(parents=True, exist_ok=True)
    strips = sorted(strip.stem for strip in REPORTS.glob("img/showcase_*.png"))
    for name in ("showcases", *strips):
        (folder / f"{name}.html").write_text(NO_CLIPS, encoding="utf-8")
    if motions and os.environ.get("MOTIONLOOM_MOCAP"):
        script = ROOT / "docs" / "pictures" / "showcases.py"
        subprocess.run([sys.executable, str(script), "--pages", str(folder)], check=True)


def _write_results(folder: Path, scratch: Path) -> None:
    clip = ml.synthetic.clip
    walk, turn = clip("walk").motion, clip("walk", turn=0.7).motion
    curve = ml.register([walk, turn])
    results = {
        "transition": ml.transition(walk, clip("run").motion, length_s=0.8).motion,
        "blend": ml.blend(curve, [0.5, 0.5]).motion,
        "splice": ml.splice(upper=clip("wave").motion, lower=turn).motion,
    }
    for name, motion in results.items():
        ml.save(motion, scratch / f"{name}.mlm")
        _run("render", scratch / f"{name}.mlm", "-o", folder / f"{name}.html", "--force")


def _write_live(page: Path, scratch: Path) -> None:
    clips = scratch / "clips"
    clips.mkdir()
    for kind in LABELS:
        ml.save(ml.synthetic.clip(kind).motion, clips / f"{kind}.mlm")
    lib = ml.Collection.ingest(clips, out=scratch / "lib.mlc", fps=60)
    for kind in LABELS:
        lib.annotate(kind, kind)
    ml.build_table(lib, out=scratch / "lib.mlt", clusters=8, lookup=8, progress=False)
    _run("table", "page", scratch / "lib.mlt", "-o", page, "--force")


def _run(*arguments: str | Path) -> None:
    code, printed = run_command([str(each) for each in arguments])
    if code:
        raise RuntimeError(printed)
