"""The demo's chapters on transitions and blends, from embedded clips."""

from __future__ import annotations

import motionloom as ml
from motionloom.demo.tour import Step, Tour
from motionloom.drawing.page import pack_clip
from motionloom.drawing.registration_pictures import draw_constraints, draw_grid, draw_root_paths
from motionloom.drawing.steering import draw_steering, tint_transition
from motionloom.drawing.strip import save_strip

TURN = 0.9
"""How far the turning walks turn, radians."""


def blends(tour: Tour) -> list[Step]:
    """A transition and a blend."""

    def transition() -> None:
        walk, jog = tour.clip("walk"), tour.clip("jog")
        joined = ml.transition(
            walk.motion, jog.motion, footplants=(walk.footplants, jog.footplants), moving=True
        )
        assert joined.cleanup is not None
        ml.save(joined.motion, tour.wrote("walk-to-jog.bvh"))
        tour.report.section(
            "A transition: from walk to jog",
            "The two clips are compared frame by frame and joined where they are most similar: "
            f"frame {joined.candidates[0].frame_a} of the walk meets frame "
            f"{joined.candidates[0].frame_b} of the jog. Planted feet: {joined.cleanup.summary}.",
        )
        tour.play(joined, "walk to jog")
        tour.report.code("motionloom transition walk.bvh jog.bvh -o walk-to-jog.bvh --moving")
        tour.picture(
            "walk-to-jog.png",
            lambda stream: save_strip(
                joined.motion, stream, footplants=joined.footplants, colour=tint_transition(joined),
                size=(1400, 420),
            ),
            "A walk that becomes a jog. Amber is the walk, blue the jog.",
        )  # fmt: skip

    def blend() -> None:
        left, right = (ml.synthetic.clip("walk", turn=turn) for turn in (TURN, -TURN))
        curve = ml.register(
            [left.motion.replace(name="left"), right.motion.replace(name="right")],
            footplants=[left.footplants, right.footplants],
        )
        middle = ml.blend(curve, [0.5, 0.5])
        tour.results.update(curve=curve, middle=middle)
        ml.save(middle.motion, tour.wrote("between-turns.bvh"))
        tour.report.section(
            "A blend: between a left and a right turn",
            "Half of a walk that turns left and half of one that turns right goes straight on.",
        )
        tour.report.player(
            [
                pack_clip(curve.motions[0], name="left", colour="amber"),
                pack_clip(middle.motion, footplants=middle.footplants, name="half and half"),
                pack_clip(curve.motions[1], name="right", colour="blue"),
            ],
            together=True,
        )
        tour.report.code("motionloom blend left.bvh right.bvh -w 0.5,0.5 -o between-turns.bvh")

    return [transition, blend]


def blending_explained(tour: Tour) -> list[Step]:
    """Registration curves at work."""

    def register() -> None:
        curve = tour.results["curve"]
        tour.report.section(
            "How blending works",
            "A registration curve holds which frames of two clips correspond, how one must be "
            "turned and placed to stand where the other stands, and which footplants match.",
        )
        tour.chart(
            "turns-grid.png", draw_grid(curve),
            "Distance between all frames (dark is similar), and the path through them.",
        )  # fmt: skip
        tour.chart(
            "turns-plants.png", draw_constraints(curve, weights=[0.5, 0.5]),
            "Footplants that match, and those of the blend.",
        )  # fmt: skip
        tour.chart(
            "turns-paths.png", draw_root_paths(curve, tour.results["middle"], linear=[0.5, 0.5]),
            "Paths over the ground. A plain average of the frames (red) falls short.",
        )  # fmt: skip

    def steer() -> None:
        curve = tour.results["curve"]

        def weights(second: float) -> list[float]:
            of_left = min(max(1.5 - 0.5 * second, 0.0), 1.0)
            return [of_left, 1.0 - of_left]

        steered = ml.blend(curve, weights)
        ml.save(steered.motion, tour.wrote("steered.bvh"))
        tour.report.section(
            "Weights over time", "The same curve with weights that change from left to right."
        )
        tour.play(steered, "steered")
        tour.report.code("motionloom blend left.bvh right.bvh -w steer.csv -o steered.bvh")
        tour.chart("steered.png", draw_steering(curve, steered), "The path, and the weights.")

    return [register, steer]
