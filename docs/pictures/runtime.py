"""Draw docs/img/runtime.png: what runtimes/c/play.c wrote of a table of embedded clips.

    python docs/pictures/runtime.py

It takes a C compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.runtime_file import save_runtime
from studies.memory_table import table_in_memory
from studies.pictures.contact_sheet import SheetEntry, save_sheet

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "img" / "runtime.png"
KINDS = ("walk", "run", "sneak", "stand", "kick")
LABELS = ("run", "sneak", "kick", "walk", "stand")
LENGTH = 45
SECONDS = 2
"""Of each row: an order comes in its middle."""


def played(folder: Path) -> ml.Motion:
    """The character of the example, which follows five orders in ten seconds."""
    clips = [ml.synthetic.clip(kind) for kind in KINDS]
    motions = [clip.motion.replace(name=kind) for clip, kind in zip(clips, KINDS, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    labels = [Label(each.name, each.name, LENGTH, each.n_frames - 1) for each in motions]
    table = table_in_memory(frames, length=LENGTH, clusters=8, labels=labels)
    save_runtime(table, folder / "lib.mlr")
    subprocess.run([sys.executable, ROOT / "scripts" / "amalgamate.py", folder], check=True)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or "cc"
    sources = [folder / "motionloom.c", ROOT / "runtimes" / "c" / "play.c"]
    flags = ["-std=c11", "-O2", "-ffp-contract=off", f"-I{folder}"]
    subprocess.run([compiler, *flags, *sources, "-lm", "-o", folder / "play"], check=True)
    out = folder / "out.bvh"
    subprocess.run([folder / "play", folder / "lib.mlr", out, *LABELS], check=True)
    return ml.load(out)


def main() -> None:
    """Draw every two seconds as a row."""
    with tempfile.TemporaryDirectory() as folder:
        motion = played(Path(folder))
    feet = ml.detect_footplants(motion)
    each, before = round(SECONDS * motion.fps), "walk"
    entries = []
    for k, label in enumerate(LABELS):
        part = slice(k * each, (k + 1) * each)
        title = f"{before} to {label}"
        note = f"seconds {SECONDS * k} to {SECONDS * (k + 1)}"
        entries.append(SheetEntry(motion[part], title, note, feet[part]))
        before = label
    save_sheet(entries, PICTURE, columns=1, cell=(1000, 220))


if __name__ == "__main__":
    main()
