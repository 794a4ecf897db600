"""The demo's chapter on room 3: a small table, transitions by it, and a live character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import motionloom as ml
from motionloom.demo.blending_chapter import draw
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.transition_pictures import Way, draw_transition, draw_ways, way_of_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from motionloom.demo.chapters import Tour

__all__ = ["room3"]

CLIPS: dict[str, dict[str, Any]] = {
    "walk": {},
    "walk-left": {"turn": 1.6},
    "jog": {},
    "run": {},
    "sneak": {},
    "stand": {},
    "sidestep": {},
    "carry": {},
    "punch": {},
    "turn": {},
}
"""Clips of the collection; up to a hyphen the name is the kind, and the label."""
CLUSTERS = 8
AROUND_S = 0.7
"""Seconds shown before and after each transition."""
ORDERS = ((60, "run"), (100, "stand"), (110, "sneak"), (110, None))
"""What the live character is told: frames that it plays first, and the label that it then goes
to."""


def room3(tour: Tour) -> list[Callable[[], None]]:
    """Transitions by a table at work."""
    made: dict[str, Any] = {}
    folder = tour.folder / "transitions"

    def collect() -> None:
        (folder / "clips").mkdir(parents=True, exist_ok=True)
        for name, options in CLIPS.items():
            kind = name.partition("-")[0]
            known = None if options else tour.clips.get(kind)
            clip = ml.synthetic.clip(kind, **options) if known is None else known
            ml.save(clip.motion, tour.wrote(f"transitions/clips/{name}.bvh"))
        lib = ml.Collection.ingest(folder / "clips", out=folder / "clips.mlc", fps=60)
        for name in CLIPS:
            lib.annotate(name, name.partition("-")[0])
        made["lib"] = lib

    def build() -> None:
        lib = made["lib"]
        # One set of representatives, as in the paper, and one process: this must be quick.
        table = made["table"] = ml.build_table(
            lib, out=tour.wrote("transitions/clips.mlt"), clusters=CLUSTERS, lookup=CLUSTERS,
            jobs=1, progress=False,
        )  # fmt: skip
        for path in sorted(path for path in lib.path.rglob("*") if path.is_file()):
            tour.wrote(f"transitions/clips.mlc/{path.relative_to(lib.path).as_posix()}")
        told = table.info()
        tour.report.section(
            "Room 3: from any frame to any other",
            f"{told['clips']} clips, {told['frames']} frames, are made into a collection; their "
            f"seconds are sorted into {told['clusters']} kinds, and all blends of two, three and "
            "four of them were tried. The table keeps the best between every two kinds "
            f"({told['bytes'] / 1e3:.0f} kB). A transition then takes about a millisecond.",
        )
        tour.report.code(
            f"motionloom table build transitions/clips -o transitions/clips.mlt "
            f"--clusters {CLUSTERS} --lookup {CLUSTERS}\n"
            "motionloom table info transitions/clips.mlt"
        )

    def join() -> None:
        table = made["table"]
        around = {"lead_s": AROUND_S, "follow_s": AROUND_S}
        ways = {
            "walk to run": table.transition(("walk", 60), ("run", 160), **around),
            "punch to sneak": table.transition(("punch", 100), label="sneak", **around),
            "run to stand": table.transition(("run", 100), label="stand", **around),
        }
        made["ways"] = ways
        for name, way in ways.items():
            for suffix in (".bvh", ".glb"):
                ml.save(way.motion, tour.wrote(name.replace(" ", "-") + "-by-table" + suffix))
        rows = []
        for name, way in ways.items():
            score = way.score
            rows.append(
                [
                    name,
                    str(way.recipe.n_ways),
                    f"{score.total:.1f} in",
                    f"{score.naturalness:.2f}",
                    "passed" if way.verification.passed else "failed",
                ]
            )
        tour.report.code(
            "motionloom table synthesize transitions/clips.mlt walk:60 run:160 "
            "-o walk-to-run-by-table.bvh\n"
            "motionloom table synthesize transitions/clips.mlt run:100 --label stand "
            "-o run-to-stand-by-table.bvh"
        )
        tour.report.table(["transition", "windows", "papers' sum", "naturalness", "check"], rows)

    def show() -> None:
        ways = made["ways"]
        draw(
            tour, "walk-to-run-by-table.png", draw_transition(ways["walk to run"]),
            "A second between two black lines: how much of which clip is in it, and when feet "
            "stand.",
        )  # fmt: skip
        others = [way_of_table(ways[name], name) for name in ("punch to sneak", "run to stand")]
        draw(
            tour, "transitions-by-table.png", draw_ways(others, title="To a label"),
            "Amber is left, blue is arrived at; what is between has another colour. A run that "
            "stops within a second is what this collection has nothing for: naturalness says so.",
        )  # fmt: skip
        tour.report.player(
            [
                pack_clip(way.motion, footplants=way.footplants, name=name)
                for name, way in ways.items()
            ]
        )

    def live() -> None:
        motion, plants = play(made["table"], ("walk", 0))
        ml.save(motion, tour.wrote("stream.bvh"))
        told = ", ".join(f"{label} after {n / 60:.1f} s" for n, label in ORDERS if label)
        tour.report.section(
            "Room 3: live",
            f"A character that walks and is told where to go: {told} more. It never waits for a "
            "clip to end.",
        )
        tour.report.code(
            'table = ml.TransitionTable.open("transitions/clips.mlt")\n'
            's = table.stream(("walk", 0))\n'
            "pose = s.step()          # once a frame\n"
            's.go(label="run")        # at any time'
        )
        draw(
            tour, "stream.png", draw_ways([Way("live", motion, footplants=plants)], moments=18),
            "Walk, run, stand, sneak.",
        )  # fmt: skip
        tour.report.player([pack_clip(motion, footplants=plants, name="stream")])

    return [collect, build, join, show, live]


def play(table: ml.TransitionTable, start: tuple[str, int]) -> tuple[ml.Motion, ml.Footplants]:
    """What a live character does that is given the orders one after another."""
    stream = table.stream(start)
    poses = []
    for frames, label in ORDERS:
        poses += [stream.step() for _ in range(frames)]
        if label is not None:
            stream.go(label=label)
    motion = ml.Motion(
        table.frames.skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        table.frames.fps,
        name="stream",
    )
    return motion, ml.Footplants(np.array([pose.planted for pose in poses]))
