"""The demo's chapters on transition tables: a live character, and transitions between frames."""

from __future__ import annotations

from typing import Any

import numpy as np

import motionloom as ml
from motionloom.demo.tour import Step, Tour
from motionloom.drawing.page import pack_clip
from motionloom.drawing.transition_pictures import Way, draw_transition, draw_ways, way_of_table
from motionloom.errors import FormatError

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
"""Orders to the live character: frames that it plays first, and the label that it then goes to."""


def live_character(tour: Tour) -> list[Step]:
    """A table, a page to steer a character of it, and a recorded run."""
    folder = tour.folder / "transitions"

    def collect() -> None:
        (folder / "clips").mkdir(parents=True, exist_ok=True)
        for name, options in CLIPS.items():
            kind = name.partition("-")[0]
            clip = ml.synthetic.clip(kind, **options) if options else tour.clip(kind)
            ml.save(clip.motion, tour.wrote(f"transitions/clips/{name}.bvh"))
        lib = ml.Collection.ingest(folder / "clips", out=folder / "clips.mlc", fps=60)
        for name in CLIPS:
            lib.annotate(name, name.partition("-")[0])
        tour.results["lib"] = lib

    def build() -> None:
        lib = tour.results["lib"]
        # One set of representatives, as in the paper, and one process: this must be quick.
        tour.results["table"] = ml.build_table(
            lib, out=tour.wrote("transitions/clips.mlt"), clusters=CLUSTERS, lookup=CLUSTERS,
            jobs=1, progress=False,
        )  # fmt: skip
        for path in sorted(path for path in lib.path.rglob("*") if path.is_file()):
            tour.wrote(f"transitions/clips.mlc/{path.relative_to(lib.path).as_posix()}")

    def live() -> None:
        table = tour.results["table"]
        motion, plants = play(table, ("walk", 0))
        ml.save(motion, tour.wrote("stream.bvh"))
        orders = ", ".join(f"{label} after {n / 60:.1f} s" for n, label in ORDERS if label)
        tour.report.section(
            "A live character",
            f"It walks and takes orders: {orders} more. It never waits for a clip to end.",
        )
        try:
            ml.save_play_page(table, tour.folder / "steer.html", title="Steer it")
            tour.report.link(tour.wrote("steer.html").name, "Steer it yourself: steer.html")
        except FormatError as error:  # built without the core for browsers
            tour.report.text(f"The page to steer it yourself was not written. {error}")
        tour.report.player([pack_clip(motion, footplants=plants, name="live")])
        tour.report.code(
            'table = ml.TransitionTable.open("transitions/clips.mlt")\n'
            'character = table.stream(("walk", 0))\n'
            "pose = character.step()     # once a frame\n"
            'character.go(label="run")   # at any time'
        )
        tour.chart(
            "stream.png", draw_ways([Way("live", motion, footplants=plants)], moments=18),
            "Walk, run, stand, sneak.",
        )  # fmt: skip

    return [collect, build, live]


def tables_explained(tour: Tour) -> list[Step]:
    """Transitions by the table, drawn and scored."""

    def join() -> None:
        table = tour.results["table"]
        facts = table.info()
        tour.report.section(
            "How tables work: from any frame to any other",
            f"{facts['clips']} clips, {facts['frames']} frames, are one collection. Their windows "
            f"are sorted into {facts['clusters']} clusters, and all blends of two, three and four "
            "representatives were tried. The table stores the best between every two clusters "
            f"({facts['bytes'] / 1e3:.0f} kB). A transition then takes a few milliseconds.",
        )
        tour.report.code(
            f"motionloom table build transitions/clips -o transitions/clips.mlt "
            f"--clusters {CLUSTERS} --lookup {CLUSTERS}\n"
            "motionloom table info transitions/clips.mlt\n"
            "motionloom table synthesize transitions/clips.mlt walk:60 run:160 "
            "-o walk-to-run-by-table.bvh"
        )
        around = {"lead_s": AROUND_S, "follow_s": AROUND_S}
        joins = tour.results["joins"] = {
            "walk to run": table.transition(("walk", 60), ("run", 160), **around),
            "punch to sneak": table.transition(("punch", 100), label="sneak", **around),
            "run to stand": table.transition(("run", 100), label="stand", **around),
        }
        rows = []
        for name, each in joins.items():
            for suffix in (".bvh", ".glb"):
                ml.save(each.motion, tour.wrote(name.replace(" ", "-") + "-by-table" + suffix))
            check = "passed" if each.verification.passed else "failed"
            cost, natural = f"{each.score.total:.1f} in", f"{each.score.naturalness:.2f}"
            rows.append([name, str(each.recipe.n_ways), cost, natural, check])
        tour.report.table(["transition", "windows", "papers' sum", "naturalness", "check"], rows)

    def show() -> None:
        joins = tour.results["joins"]
        tour.report.player(
            [
                pack_clip(each.motion, footplants=each.footplants, name=name)
                for name, each in joins.items()
            ]
        )
        tour.chart(
            "walk-to-run-by-table.png", draw_transition(joins["walk to run"]),
            "A second between two black lines: the share of every clip, and when feet stand.",
        )  # fmt: skip
        others = [way_of_table(joins[name], name) for name in ("punch to sneak", "run to stand")]
        stop = joins["run to stand"].score.naturalness
        tour.chart(
            "transitions-by-table.png", draw_ways(others, title="To a label"),
            "Amber is the first clip, blue the last; other clips have other colours. No clip of "
            "this collection is of a run that stops: the stop made here has a naturalness of "
            f"{stop:.2f}, and natural begins at 0.5.",
        )  # fmt: skip

    return [join, show]


def play(table: ml.TransitionTable, start: tuple[str, int]) -> tuple[ml.Motion, ml.Footplants]:
    """The frames of a live character that gets the orders one after another."""
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
