"""The chapters of the demo in order: results, how they are made, and the clips."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import motionloom as ml
from motionloom.demo.blending_chapter import blending_explained, blends
from motionloom.demo.splicing_chapter import splices, splicing_explained
from motionloom.demo.table_chapter import live_character, tables_explained
from motionloom.demo.tour import Step, Tour
from motionloom.drawing.film import save_film
from motionloom.drawing.page import pack_clip
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks

Chapter = Callable[[Tour], list[Step]]


def embedded_clips(tour: Tour) -> list[Step]:
    """Every embedded clip: shown, drawn, written as BVH and GLB."""
    kinds = ml.synthetic.kinds()

    def write(kind: str) -> None:
        for suffix in (".bvh", ".glb"):
            ml.save(tour.clip(kind).motion, tour.wrote(kind + suffix))

    def show() -> None:
        tour.report.section(
            "The clips",
            "Planned footstep by footstep, with exact footplants. Choose a clip or show them all; "
            "drag to orbit, wheel to zoom, shift and drag to pan; space plays, arrows step, J K L "
            "set the playback rate. Green marks are planted heels and toes.",
        )
        clips = {kind: tour.clip(kind) for kind in kinds}
        tour.report.player(
            [
                pack_clip(clip.motion, footplants=clip.footplants, name=kind)
                for kind, clip in clips.items()
            ]
        )
        rows = []
        for kind, clip in clips.items():
            quality = ml.measure_quality(clip.motion, clip.footplants)
            plants = sum(len(spans) for spans in clip.footplants.intervals().values())
            speed = f"{100 * (quality.contact_speed_mean or 0.0):.2f} cm/s"
            length = f"{clip.motion.duration_s:.2f} s"
            rows.append([kind, length, str(plants), speed, f"{kind}.bvh, {kind}.glb"])
        tour.report.table(["clip", "length", "plants", "speed while planted", "files"], rows)

    def draw(kind: str) -> None:
        clip = tour.clip(kind)
        tour.picture(
            f"{kind}.png",
            lambda stream: save_strip(
                clip.motion, stream, footplants=clip.footplants, size=(1400, 420)
            ),
            f"{kind}: motionloom render {kind}.bvh -o {kind}.png",
        )

    return [*(partial(write, kind) for kind in kinds), show, *(partial(draw, k) for k in kinds)]


def feet(tour: Tour) -> list[Step]:
    """Detected footplants compared with the exact ones, and a film."""

    def draw() -> None:
        walk = tour.clip("walk")
        plants = ml.detect_footplants(walk.motion)
        same = float((plants.planted == walk.footplants.planted).mean())
        tour.report.section(
            "Feet",
            "When does each heel and toe stand still? These are detected in the walk and agree "
            f"with the exact footplants in {100 * same:.1f} % of frames and points.",
        )
        tour.picture(
            "walk-feet.png",
            lambda stream: save_tracks(walk.motion, stream, footplants=plants, size=(1400, 620)),
            "Speed (line) and height (dots) of heels and toes; planted stretches in green.",
        )

    def film() -> None:
        walk = tour.clip("walk")
        save_film(walk.motion, tour.wrote("walk.gif"), footplants=walk.footplants)
        tour.report.code("motionloom render walk.bvh -o walk.gif --view three-quarter")

    return [draw, film]


def there_and_back(tour: Tour) -> list[Step]:
    """The written files read again, and how far any joint is from where it was."""

    def compare() -> None:
        rows = []
        for kind in ml.synthetic.kinds():
            motion = tour.clip(kind).motion
            before, cells = motion.world_positions(), [kind]
            for suffix in (".bvh", ".glb"):
                again = ml.load(tour.folder / (kind + suffix))
                # A file may store the joints in another order, so they are compared by name.
                order = [again.skeleton.index(name) for name in motion.skeleton.names]
                after = again.world_positions()[:, order]
                apart = float(np.linalg.norm(after - before, axis=-1).max())
                cells.append(f"{1e6 * apart:.2f} µm")
            rows.append(cells)
        tour.report.section(
            "Written and read again",
            "The files of the clips, loaded without options: unit, axes and rate are detected. "
            "The largest distance of any joint from where it was:",
        )
        tour.report.table(["clip", "BVH", "GLB"], rows)

    return [compare]


def next_steps(tour: Tour) -> list[Step]:
    """What to type next."""

    def show() -> None:
        tour.report.section("Your clips")
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

    return [show]


CHAPTERS: tuple[Chapter, ...] = (
    blends,
    splices,
    live_character,
    blending_explained,
    splicing_explained,
    tables_explained,
    embedded_clips,
    feet,
    there_and_back,
    next_steps,
)
