"""Collections and tables on disk: speed of ingest, size, opening; CMU subject 143 at 60 Hz.

    python benchmarks/transitions_collection.py [--table]

With ``--table`` (and in ``./bench transitions``) the table of 50 clusters is built too, which takes
minutes.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
import time
import warnings
from pathlib import Path

import motionloom as ml
from motionloom.tables.collection.common_skeleton import common_of
from motionloom.tables.collection.frames import clip_frames
from motionloom.tables.collection.store import RowWriter, digest_rows
from registration_speed import best_of
from report import Figure, write_report
from studies.captured_clips import mocap

ROUNDS = 5


def linked(home: Path, folder: Path) -> Path:
    clips = home / "clips"
    clips.mkdir()
    for file in sorted((folder / "cmu_bvh").glob("143_*.bvh")):
        (clips / file.name).symlink_to(file)
    return clips


def packing(home: Path, clips: Path) -> Figure:
    """Plants, kinematics, packing and writing of clips that are parsed already."""
    motions = [ml.load(file, fps=60.0) for file in sorted(clips.iterdir())]
    common = common_of(motions[0])
    frames = sum(motion.n_frames for motion in motions)

    def pack() -> None:
        with RowWriter(home, 1, common.skeleton.n_joints, 0) as writer:
            for motion in motions:
                rows = clip_frames(motion, body=common.body, feet=common.feet)
                writer.append(rows)
                digest_rows(rows)
            writer.flush()

    (seconds,) = best_of(pack, rounds=ROUNDS)
    return Figure(
        "collection: frames a second after parsing, one process",
        frames / seconds,
        "frames/s",
        value_goal=20_000.0,
    )


def run(*, table: bool = True) -> list[Figure]:
    folder = mocap()
    if folder is None:
        return []
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        home = Path(temporary)
        clips = linked(home, folder)
        figures = [packing(home, clips)]
        began = time.perf_counter()
        lib = ml.Collection.ingest(clips, source_fps={"143_*": 60.0})
        whole = time.perf_counter() - began
        began = time.perf_counter()
        ml.Collection.ingest(clips, source_fps={"143_*": 60.0})
        again = time.perf_counter() - began
        (opened,) = best_of(lambda: ml.Collection.open(lib.path), rounds=20)
        rows = lib.frames.n_rows
        size = sum(file.stat().st_size for file in lib.path.glob("*.rows"))
        figures += [
            Figure("collection: frames a second, files to disk", rows / whole, "frames/s"),
            Figure("collection: an unchanged folder ingested again", again, "s", "first", whole,
                   lower_is_better=True),
            Figure("collection: bytes a frame", size / rows, "B", lower_is_better=True),
            Figure("collection: opening", 1000.0 * opened, "ms", lower_is_better=True),
        ]  # fmt: skip
        if table:
            figures += table_figures(lib)
    return figures


def table_figures(lib: ml.Collection) -> list[Figure]:
    began = time.perf_counter()
    table = ml.build_table(lib, progress=False)
    seconds = time.perf_counter() - began
    (opened,) = best_of(lambda: ml.TransitionTable.open(table.file), rounds=20)
    size = table.file.stat().st_size
    return [
        Figure("table of 50 clusters: whole build", seconds, "s", lower_is_better=True),
        Figure("table of 50 clusters: size", size / 1e6, "MB", lower_is_better=True,
               value_goal=5.0),
        Figure("table of 50 clusters: opening, its collection too", 1000.0 * opened, "ms",
               lower_is_better=True, value_goal=10.0),
    ]  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="build the table of 50 clusters too")
    options = parser.parse_args()
    write_report("transitions_collection", run(table=options.table), about={})
