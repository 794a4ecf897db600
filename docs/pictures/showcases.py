"""Draw the strips of studies/reports/showcases.md, and its pages with players.

    python docs/pictures/showcases.py [--pages FOLDER] [CASE...]

Needs the captured clips that MOTIONLOOM_MOCAP names (see CONTRIBUTING). Collections and tables are
stored in docs/film and built once: delete them to draw what other code makes. With ``--pages`` only
pages are written: one for each case, and showcases.html with all of them; ``./docs-site`` asks for
that where it finds the clips. Each page is one file and plays without a network.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from places import ROOT, STORED, picture

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.page import Report, pack_clip, page_of, player_slot
from motionloom.drawing.transition_pictures import Way, draw_ways, way_of_table
from motionloom.tables.collection.labels import Label

MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))
LEAD_S, FOLLOW_S = 0.5, 0.8
"""Seconds of the clips shown before a transition, and usually after it."""
MOMENTS = 14
SIZE = (1300, 150)
"""Pixels of a row."""


class Clips(NamedTuple):
    """The captured clips of one performer."""

    folder: str
    clusters: int
    rate: int | None = None
    """True rate where headers are wrong."""


CLIPS = {
    "143": Clips("cmu_bvh", 50, 60),
    "127": Clips("audit", 12),
    "113": Clips("audit", 20),
    "69": Clips("cmu_bvh", 50),
}
LABELS = {
    "143": [
        Label("143_04", "run", 230, 900),
        Label("143_42", "run", 165, 220),
        Label("143_42", "run", 350, 380),
        Label("143_02", "stand", 165, 207),
        Label("143_04", "stand", 1010, 1030),
        Label("143_11", "stand", 590, 656),
        Label("143_31", "hop", 150, 250),
        Label("143_41", "sneak", 120, 1100),
        Label("143_11", "carry", 355, 400),
        Label("143_13", "carry", 250, 320),
        Label("143_05", "jump", 150, 190),
    ],
    "127": [
        Label("127_25", "jump", 40, 90),
        Label("127_21", "jump", 36, 76),
        Label("127_05", "stand", 155, 193),
        Label("127_21", "stand", 108, 138),
        Label("127_11", "left", 35, 75),
        Label("127_15", "left", 25, 65),
    ],
    "113": [
        Label("113_26", "carry", 60, 657),
        Label("113_13", "punch", 100, 125),
        Label("113_13", "punch", 300, 320),
        Label("113_27", "wave", 45, 100),
        Label("113_19", "stairs", 60, 140),
    ],
    "69": [
        Label("69_16", "turn", 90, 300),
        Label("69_17", "turn", 90, 300),
        Label("69_51", "backward", 60, 150),
        Label("69_55", "backward", 15, 80),
        Label("69_70", "squat", 165, 205),
        Label("69_56", "sidestep", 45, 145),
    ],
}


class Case(NamedTuple):
    """One transition that people ask for, to a frame and to a label."""

    clips: str
    source: tuple[str, int]
    target: tuple[str, int]
    label: str
    paper: bool = False
    """Whether the papers' table is shown too."""
    longest_s: float | None = None
    """Seconds allowed in one more row, where the usual two do not suffice."""
    turns: bool = False
    """Whether the camera stands still, so that a turn is seen."""
    follow_s: float = FOLLOW_S


CASES = {
    "walk_to_run": Case("143", ("143_32", 80), ("143_42", 205), "run", paper=True),
    "run_to_stand": Case("143", ("143_42", 170), ("143_02", 190), "stand", paper=True),
    "walk_to_skip": Case("143", ("143_32", 80), ("143_31", 200), "hop"),
    "sit_to_run": Case("143", ("143_18", 280), ("143_42", 205), "run", paper=True, longest_s=3.0),
    "punch_to_sneak": Case("143", ("143_23", 300), ("143_41", 420), "sneak", paper=True),
    "run_to_jump": Case("127", ("127_03", 104), ("127_25", 66), "jump"),
    "run_to_standing_jump": Case("143", ("143_42", 170), ("143_05", 170), "jump"),
    "turn_on_the_spot": Case(
        "69", ("69_01", 120), ("69_16", 250), "turn", turns=True, follow_s=2.0
    ),
    "walk_to_carry": Case("143", ("143_32", 560), ("143_11", 400), "carry", paper=True),
    "walk_to_carry_113": Case("113", ("113_25", 150), ("113_26", 300), "carry"),
    "run_to_stand_127": Case("127", ("127_09", 30), ("127_05", 175), "stand", longest_s=3.0),
    "run_right_to_left_127": Case("127", ("127_09", 30), ("127_15", 59), "left", turns=True),
    "walk_to_walking_backward_69": Case("69", ("69_01", 150), ("69_51", 90), "backward"),
    "walk_to_squat_69": Case("69", ("69_01", 150), ("69_70", 180), "squat"),
    "walk_to_sidestep_69": Case("69", ("69_01", 150), ("69_56", 105), "sidestep"),
    "walk_to_punch_113": Case("113", ("113_25", 150), ("113_13", 118), "punch"),
    "carry_to_wave_113": Case("113", ("113_26", 300), ("113_27", 70), "wave"),
    "walk_to_stairs_113": Case("113", ("113_25", 150), ("113_19", 120), "stairs"),
}


def real() -> bool:
    """Whether the captured clips are found."""
    return all(any((MOCAP / some.folder).glob(f"{name}_*.bvh")) for name, some in CLIPS.items())


@cache
def table_of(name: str, method: str = "default") -> ml.TransitionTable:
    """A table of one performer's clips, built once."""
    out = STORED / f"showcase_{name}_{method}.mlt"
    lib = collection_of(name)
    if out.is_file():
        try:
            return ml.TransitionTable.open(out, collection=lib)
        except ml.TableError as why:
            print(f"built again: {why}", flush=True)
    options: Any = {"method": method}
    return ml.build_table(lib, out=out, clusters=CLIPS[name].clusters, progress=False, **options)


@cache
def collection_of(name: str) -> ml.Collection:
    """One performer's clips at 60 Hz, with labels."""
    some = CLIPS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "clips"
        folder.mkdir()
        for path in sorted((MOCAP / some.folder).glob(f"{name}_*.bvh")):
            (folder / path.name).symlink_to(path.resolve())
        rates = {} if some.rate is None else {f"{name}_*": some.rate}
        lib = ml.Collection.ingest(
            folder, out=STORED / f"showcase_{name}.mlc", fps=60, source_fps=rates
        )
    lib.add_labels([label for label in LABELS[name] if label not in lib.labels])
    return lib


def joined(case: Case) -> dict[str, ml.TableTransition]:
    """The transitions of a case by their names."""
    around: Any = {"lead_s": LEAD_S, "follow_s": case.follow_s}
    table = table_of(case.clips)
    made = {
        f"to {case.target[0]}:{case.target[1]}": table.transition(
            case.source, case.target, **around
        ),
        f"to the label {case.label}": table.transition(case.source, label=case.label, **around),
    }
    if case.longest_s is not None:
        made[f"to the same frame, longest_s={case.longest_s:g}"] = table.transition(
            case.source, case.target, **around, longest_s=case.longest_s
        )
    if case.paper:
        paper = table_of(case.clips, "paper")
        made["the papers' table, to the same frame"] = paper.transition(
            case.source, case.target, **around
        )
    return made


def sliding(made: ml.TableTransition) -> float:
    """Fastest planted foot point of the blended frames over 0.1 s, metres per second."""
    points = foot_points(made.motion, body=made.frames.body_map)
    planted, fps = made.footplants.planted, made.motion.fps
    steps = max(1, round(0.1 * fps))
    moved = np.linalg.norm((points[steps:] - points[:-steps])[..., [0, 2]], axis=-1)
    stands = np.array([planted[k : k + steps + 1].all(axis=0) for k in range(len(moved))])
    inside = slice(made.span[0], max(made.span[0] + 1, made.span[1] - steps))
    return float(np.max(np.where(stands, moved, 0.0)[inside])) * fps / steps


def seconds_of(made: ml.TableTransition) -> tuple[float, float]:
    """Seconds that the transition takes, and those of them in which clips play on."""
    blend, played = made.span[1] - made.span[0], sum(made.plays)
    return (blend + played) / made.motion.fps, played / made.motion.fps


def cell(made: ml.TableTransition) -> str:
    """Duration and naturalness, as in the table of the page."""
    score = made.score.naturalness
    return f"{seconds_of(made)[0]:.2f} s" + ("" if score is None else f", {score:.2f}")


def remark(made: ml.TableTransition) -> str:
    """Duration, score and quality check in one line."""
    total, played = seconds_of(made)
    takes = f"{total:.2f} s" + (f", {played:.2f} of it captured" if played else "")
    score = made.score
    likely = (
        f"{score.total:.1f} in"
        if score.naturalness is None
        else f"naturalness {score.naturalness:.2f}"
    )
    check = (
        "passed" if made.verification.passed else f"fails: {', '.join(sorted(set(made.failed)))}"
    )
    return f"{takes} · {likely} · check {check}"


def draw(name: str) -> str:
    """The strip of a case, and its figures in print; its row of the table of the page."""
    case = CASES[name]
    rows: list[Way] = []
    title = f"{name.replace('_', ' ')}, from {case.source[0]}:{case.source[1]}"
    print(f"## {title}", flush=True)
    results = joined(case)
    for row, made in results.items():
        rows.append(way_of_table(made, row, remark=remark(made)))
        print(f"- {row}: {remark(made)}; planted feet at most {100 * sliding(made):.0f} cm/s\n"
              f"  why: {made.why}\n  notes: {made.notes}", flush=True)  # fmt: skip
    canvas = draw_ways(rows, moments=MOMENTS, size=SIZE, title=title, still=case.turns)
    stream = io.BytesIO()
    save_canvas(canvas, stream, "png")
    image = Image.open(stream).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    image.save(picture(f"showcase_{name}.png"), optimize=True)
    to_frame, to_label = list(results.values())[:2]
    return f"| {name} | {cell(to_frame)} | {cell(to_label)} |"


def write_pages(names: list[str], folder: Path) -> None:
    """A page for each case that plays its transitions side by side, and one with all of them."""
    report = Report("Showcases of transition tables", "Each plays when you press play.")
    for name in names:
        title, case, made = name.replace("_", " "), CASES[name], joined(CASES[name])
        clips = [
            pack_clip(each.motion.replace(name=row), footplants=each.footplants)
            for row, each in made.items()
        ]
        slot = player_slot(clips, number=1, together=True, alone=True)
        (folder / f"showcase_{name}.html").write_text(page_of(title, slot), encoding="utf-8")
        report.section(title, f"From {case.source[0]}:{case.source[1]}.")
        report.table(["transition", "result"], [[row, remark(each)] for row, each in made.items()])
        report.player(clips, together=True)
    (folder / "showcases.html").write_text(report.html(), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Draw the cases named, or all; or write their pages."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="pages with players go here")
    options = parser.parse_args(arguments)
    unknown = [each for each in options.cases if each not in CASES]
    if unknown:
        parser.error(f"CASE must be one of {', '.join(CASES)}, got {', '.join(unknown)}")
    warnings.simplefilter("ignore", UserWarning)
    if not real():
        sys.exit("Set MOTIONLOOM_MOCAP to the folder of captured clips (see CONTRIBUTING).")
    names = options.cases or list(CASES)
    STORED.mkdir(exist_ok=True)
    if options.pages is not None:
        write_pages(names, options.pages)
        return
    rows = [draw(name) for name in names]
    print("| showcase | to a frame: duration, naturalness | to a label |", *rows, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
