"""The chapters of the demo. A new room adds its own to ``CHAPTERS``."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.demo.blending_chapter import room1
from motionloom.demo.splicing_chapter import room2
from motionloom.demo.table_chapter import room3
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.film import save_film
from motionloom.drawing.report_page import Report
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks
from motionloom.saving.whole_file import write_bytes
from motionloom.synthetic import SyntheticClip

__all__ = ["CHAPTERS", "Chapter", "Tour"]

Step = Callable[[], None]
"""One piece of work of a few seconds at most: the progress bar counts these."""


class Tour:
    """What the chapters share: the folder, the report, and the clips made so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[str] = []
        self.clips: dict[str, SyntheticClip] = {}
        self.report = Report(
            "motionloom demo",
            "New human motion out of captured motion. Everything below was made by this run, from "
            "clips that motionloom carries with it; the files lie beside this page.",
        )

    def wrote(self, name: str) -> Path:
        """The path of a file of the demo, which is counted."""
        self.files.append(name)
        return self.folder / name

    def picture(self, name: str, draw: Callable[[io.BytesIO], None], caption: str) -> None:
        """A PNG drawn once, put beside the report and into it."""
        buffer = io.BytesIO()
        draw(buffer)
        data = buffer.getvalue()
        write_bytes(self.wrote(name), data)
        self.report.picture(data, caption)


Chapter = Callable[[Tour], list[Step]]


def embedded_clips(tour: Tour) -> list[Step]:
    """Every embedded clip: made, shown, written as BVH and GLB."""
    kinds = ml.synthetic.kinds()

    def make(kind: str) -> None:
        made = ml.synthetic.clip(kind)
        tour.clips[kind] = made
        for suffix in (".bvh", ".glb"):
            ml.save(made.motion, tour.wrote(kind + suffix))

    def show() -> None:
        tour.report.section(
            "Embedded clips",
            "Planned footstep by footstep, with exact plants. Choose a clip or show them all; drag "
            "to orbit, wheel to zoom, shift and drag to pan; space plays, arrows step, J K L set "
            "the pace. Green marks are planted heels and toes.",
        )
        tour.report.player(
            [
                pack_clip(made.motion, footplants=made.footplants, name=kind)
                for kind, made in tour.clips.items()
            ]
        )

    def tell() -> None:
        rows = []
        for kind, made in tour.clips.items():
            quality = ml.measure_quality(made.motion, made.footplants)
            plants = sum(len(spans) for spans in made.footplants.intervals().values())
            rows.append(
                [
                    kind,
                    f"{made.motion.duration_s:.2f} s",
                    str(plants),
                    f"{100 * (quality.contact_speed_mean or 0.0):.2f} cm/s",
                    f"{kind}.bvh, {kind}.glb",
                ]
            )
        tour.report.table(["clip", "length", "plants", "speed while planted", "files"], rows)

    return [*(partial(make, kind) for kind in kinds), show, tell]


def strips(tour: Tour) -> list[Step]:
    """A strip of every clip."""

    def open_section() -> None:
        tour.report.section("Strips", "Each clip as one picture: time runs to the right.")

    def draw(kind: str) -> None:
        made = tour.clips[kind]
        tour.picture(
            f"{kind}.png",
            lambda stream: save_strip(
                made.motion, stream, footplants=made.footplants, size=(1400, 420)
            ),
            f"{kind}: motionloom render {kind}.bvh -o {kind}.png",
        )

    return [open_section, *(partial(draw, kind) for kind in ml.synthetic.kinds())]


def feet(tour: Tour) -> list[Step]:
    """Plants found by the detector beside the exact ones."""

    def draw() -> None:
        made = tour.clips["walk"]
        found = ml.detect_footplants(made.motion)
        same = float((found.planted == made.footplants.planted).mean())
        tour.report.section(
            "Feet",
            "When does each heel and toe stand still? Here the detector has looked at the walk; it "
            f"agrees with the exact plants in {100 * same:.1f} % of frames and points.",
        )
        tour.picture(
            "walk-feet.png",
            lambda stream: save_tracks(made.motion, stream, footplants=found, size=(1400, 620)),
            "Speed (line) and height (dots) of heels and toes; planted stretches in green.",
        )

    def film() -> None:
        made = tour.clips["walk"]
        path = tour.wrote("walk.gif")
        save_film(made.motion, path, footplants=made.footplants)
        tour.report.code("motionloom render walk.bvh -o walk.gif --view three-quarter")

    return [draw, film]


def there_and_back(tour: Tour) -> list[Step]:
    """The written files read again, and how far any joint is from where it was."""

    def compare() -> None:
        rows = []
        for kind, made in tour.clips.items():
            before = made.motion.world_positions()
            cells = [kind]
            for suffix in (".bvh", ".glb"):
                again = ml.load(tour.folder / (kind + suffix))
                # A file may keep the joints in another order, so they are met by name.
                order = [again.skeleton.index(name) for name in made.motion.skeleton.names]
                after = again.world_positions()[:, order]
                apart = float(np.linalg.norm(after - before, axis=-1).max())
                cells.append(f"{1e6 * apart:.2f} µm")
            rows.append(cells)
        tour.report.section(
            "Out and in again",
            "The files above, loaded with nothing said about them: unit, axes and rate are "
            "detected. The farthest that any joint came to lie from where it was:",
        )
        tour.report.table(["clip", "BVH", "GLB"], rows)

    return [compare]


def next_steps(tour: Tour) -> list[Step]:
    """What to type next."""

    def tell() -> None:
        tour.report.section("Your own clips")
        tour.report.code(
            "motionloom info walk.bvh\n"
            "motionloom check my-clips/\n"
            "motionloom convert my-clips/ out/ --to glb\n"
            "motionloom render walk.bvh -o walk.html\n"
            "motionloom transition walk.bvh jog.bvh -o walk-to-jog.bvh\n"
            "motionloom splice --upper carry.bvh --lower walk.bvh -o carry-on-walk.bvh\n"
            "motionloom clean walk.bvh -o walk-clean.bvh\n"
            "motionloom table build my-clips/ -o my-clips.mlt"
        )
        tour.report.code(
            "import motionloom as ml\n"
            'walk = ml.load("walk.bvh")\n'
            "plants = ml.detect_footplants(walk)\n"
            "ml.view(walk, footplants=plants)"
        )

    return [tell]


CHAPTERS: tuple[Chapter, ...] = (
    embedded_clips,
    strips,
    feet,
    room1,
    room2,
    room3,
    there_and_back,
    next_steps,
)
