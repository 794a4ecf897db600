"""The process that builds a table: a plan in one argument, progress as lines of output.

Every line on standard output is a JSON object: ``stage``, ``done``, ``total``; ``warning``;
``error``; or ``built``. It ends with the process that started it.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import msgspec

from motionloom.errors import MotionLoomError


class Plan(msgspec.Struct, frozen=True):
    """What to build."""

    folder: str
    """Folder of clips; embedded ones are written there first."""
    embedded: bool
    collection: str
    table: str
    clusters: int | None
    length_s: float
    fps: float
    lookup: int | None
    labels: str | None
    """A CSV file of labels."""


def main(text: str) -> int:
    """Build by the plan; the exit status."""
    threading.Thread(target=_end_with_starter, daemon=True).start()
    plan = msgspec.json.decode(text, type=Plan)
    try:
        _build(plan)
    except MotionLoomError as error:
        _print(error=str(error))
        return 1
    _print(built=True)
    return 0


def _build(plan: Plan) -> None:
    from motionloom._progress import progress_to
    from motionloom.tables.build import build_table
    from motionloom.tables.collection.collection import Collection

    def report(stage: str, part: float | None) -> None:
        _print(stage=stage, done=part or 0.0, total=1.0)

    with progress_to(report):
        if plan.embedded:
            _write_embedded(Path(plan.folder))
        lib = Collection.ingest(
            plan.folder, out=plan.collection, fps=plan.fps, labels=plan.labels, progress=True
        )
        if plan.embedded:
            for clip in lib.ids:
                lib.annotate(clip, clip)
        for file, why in lib.report.left_out:
            _print(warning=f"{file} was left out: {why}")
        build_table(
            lib, out=plan.table, length_s=plan.length_s, clusters=plan.clusters, lookup=plan.lookup
        )


def _write_embedded(folder: Path) -> None:
    from motionloom import synthetic
    from motionloom.intake.save import save

    folder.mkdir(parents=True, exist_ok=True)
    for kind in synthetic.kinds():
        path = folder / f"{kind}.bvh"
        if not path.exists():
            save(synthetic.clip(kind).motion, path)


def _print(**line: object) -> None:
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()


def _end_with_starter() -> None:
    """Standard input ends with the process that holds its other end."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
