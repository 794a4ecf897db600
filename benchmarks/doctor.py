"""Speed of the check of a data set: clips a second, and how long 2,500 CMU clips would take.

    ./bench doctor                      300 copies of captured clips, extrapolated to 2,500
    ./bench doctor --clips 2500         the whole run
    ./bench doctor --clips 60 --jobs 1

Copies differ in blank lines at their ends, so that no two files are equal. Without captured clips,
embedded ones of the same length are used. The baseline is one process that loads and measures clip
by clip.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path

import motionloom as ml
from motionloom.datasets.clip_jobs import Settings, run_job
from report import Figure, write_report
from studies.captured_clips import mocap

WANTED = 2500
GOAL_S = 600.0
FEW = 40
"""Clips that the baseline does."""


def write_copies(place: Path, n: int) -> int:
    """Put ``n`` different files into a folder; the frames of all."""
    folder = mocap()
    if folder is None:
        for number in range(n):
            clip = ml.synthetic.clip("walk", duration_s=8.0, fps=120, seed=number).motion
            ml.save(clip, place / f"{number:05d}.bvh")
        return 961 * n
    clips = sorted(
        path for part in ("cmu_bvh", "audit") for path in (folder / part).glob("[0-9]*_[0-9]*.bvh")
    )
    frames = 0
    for number in range(n):
        source = clips[number % len(clips)]
        target = place / f"{number:05d}_{source.name}"
        shutil.copyfile(source, target)
        with target.open("ab") as stream:
            stream.write(b"\r\n" * (1 + number // len(clips)))
        frames += sum(1 for _ in source.open("rb"))
    return frames


def _children_s() -> float:
    """Processor time of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clips", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "clips"
        data.mkdir()
        frames = write_copies(data, options.clips)
        few = sorted(data.iterdir())[:: max(1, options.clips // FEW)][:FEW]
        begin, processor = time.perf_counter(), time.process_time()
        for path in few:
            run_job({"path": str(path)}, Settings())
        alone = (time.perf_counter() - begin) / len(few)
        busy = (time.process_time() - processor) / len(few)
        children = _children_s()
        begin = time.perf_counter()
        found = ml.check_dataset(data, report=Path(place) / "report", jobs=options.jobs)
        seconds = time.perf_counter() - begin
        children = _children_s() - children
        begin = time.perf_counter()
        again = ml.check_dataset(data, report=Path(place) / "report", jobs=options.jobs)
        resumed = time.perf_counter() - begin
        page = (Path(place) / "report" / "index.html").stat().st_size
    assert again.resumed == len(found.clips)
    whole = seconds * WANTED / options.clips
    n = options.jobs
    figures = [
        Figure(
            f"{WANTED} clips, {n} workers" + ("" if options.clips == WANTED else ", extrapolated"),
            whole,
            "s",
            "one process",
            alone * WANTED,
            lower_is_better=True,
            value_goal=GOAL_S,
        ),
        Figure(
            f"{WANTED} clips on {n} free cores, by processor time",
            children * WANTED / options.clips / n,
            "s",
            "one process",
            busy * WANTED,
            lower_is_better=True,
            value_goal=GOAL_S,
        ),
        Figure("processor time of a clip", busy, "s", lower_is_better=True),
        Figure("going on with a finished run", resumed, "s", lower_is_better=True),
        Figure("page", page / 1e6, "MB", lower_is_better=True),
    ]
    about = {
        "clips": options.clips,
        "frames of a clip on average": round(frames / options.clips),
        "wall seconds": round(seconds, 1),
        "load of the machine": [round(each, 1) for each in os.getloadavg()],
        "good, faulty, unreadable": list(found.counts.values()),
    }
    write_report("doctor", figures, about=about)


if __name__ == "__main__":
    main()
