"""The demo's chapter on room 1: a transition, a blend, a steered blend, from embedded clips."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.constraint_lanes import draw_constraints
from motionloom.drawing.grid_picture import draw_grid
from motionloom.drawing.origins import tint_transition
from motionloom.drawing.root_paths import draw_root_paths
from motionloom.drawing.steering import draw_steering
from motionloom.drawing.strip import save_strip

if TYPE_CHECKING:
    from collections.abc import Callable

    from motionloom.demo.chapters import Tour
    from motionloom.synthetic import SyntheticClip

__all__ = ["room1"]

TURN = 0.9
"""How far the turning walks turn, radians."""


def room1(tour: Tour) -> list[Callable[[], None]]:
    """Registration curves at work."""
    made: dict[str, Any] = {}

    def join() -> None:
        walk, jog = ml.synthetic.clip("walk"), ml.synthetic.clip("jog")
        joined = ml.transition(
            walk.motion, jog.motion, footplants=(walk.footplants, jog.footplants), moving=True
        )
        assert joined.cleanup is not None
        ml.save(joined.motion, tour.wrote("walk-to-jog.bvh"))
        tour.report.section(
            "Room 1: from walk to jog",
            "The two clips are compared frame by frame, and joined where they are most alike: "
            f"frame {joined.candidates[0].frame_a} of the walk meets frame "
            f"{joined.candidates[0].frame_b} of the jog. Amber is the walk, blue the jog. "
            f"Planted feet: {joined.cleanup.summary}.",
        )
        tour.report.code("motionloom transition walk.bvh jog.bvh -o walk-to-jog.bvh --moving")
        tour.picture(
            "walk-to-jog.png",
            lambda stream: save_strip(
                joined.motion, stream, footplants=joined.footplants, colour=tint_transition(joined),
                size=(1400, 420),
            ),
            "A walk that becomes a jog.",
        )  # fmt: skip
        tour.report.player(
            [pack_clip(joined.motion, footplants=joined.footplants, name="walk to jog")]
        )

    def register() -> None:
        left, right = turning(TURN), turning(-TURN)
        curve = ml.register(
            [left.motion.replace(name="left"), right.motion.replace(name="right")],
            footplants=[left.footplants, right.footplants],
        )
        made["curve"] = curve
        tour.report.section(
            "Room 1: between a left and a right turn",
            "A registration curve knows which frames of two clips belong together, how one must be "
            "turned and placed to stand with the other, and which of their plants are the same.",
        )
        draw(
            tour, "turns-grid.png", draw_grid(curve),
            "How far apart all frames are (dark is alike), and the way through them.",
        )  # fmt: skip
        draw(
            tour, "turns-plants.png", draw_constraints(curve, weights=[0.5, 0.5]),
            "Plants that belong together, and those of the blend.",
        )  # fmt: skip

    def between() -> None:
        curve = made["curve"]
        middle = ml.blend(curve, [0.5, 0.5])
        ml.save(middle.motion, tour.wrote("between-turns.bvh"))
        tour.report.code("motionloom blend left.bvh right.bvh -w 0.5,0.5 -o between-turns.bvh")
        draw(
            tour, "turns-paths.png", draw_root_paths(curve, middle, linear=[0.5, 0.5]),
            "Half left, half right goes straight on. A plain average (red) loses its way and "
            "falls short.",
        )  # fmt: skip
        tour.report.player(
            [
                pack_clip(curve.motions[0], name="left", colour="amber"),
                pack_clip(middle.motion, footplants=middle.footplants, name="half and half"),
                pack_clip(curve.motions[1], name="right", colour="blue"),
            ]
        )

    def steer() -> None:
        curve = made["curve"]

        def weights(second: float) -> list[float]:
            of_left = min(max(1.5 - 0.5 * second, 0.0), 1.0)
            return [of_left, 1.0 - of_left]

        steered = ml.blend(curve, weights)
        ml.save(steered.motion, tour.wrote("steered.bvh"))
        tour.report.section(
            "Room 1: steered", "The same curve with weights that change from left to right."
        )
        tour.report.code("motionloom blend left.bvh right.bvh -w steer.csv -o steered.bvh")
        draw(tour, "steered.png", draw_steering(curve, steered), "The way, and what led it.")
        shown = pack_clip(steered.motion, footplants=steered.footplants, name="steered")
        tour.report.player([shown])

    return [join, register, between, steer]


def turning(turn: float) -> SyntheticClip:
    """An embedded walk that turns."""
    return ml.synthetic.clip("walk", turn=turn)


def draw(tour: Tour, name: str, canvas: Any, caption: str) -> None:
    """A chart beside the report and in it."""

    def save(stream: io.BytesIO) -> None:
        save_canvas(canvas, stream, "png")

    tour.picture(name, save, caption)
