"""The demo's chapters on splices: two actions on other legs, from embedded clips."""

from __future__ import annotations

import numpy as np

import motionloom as ml
from motionloom.demo.tour import Step, Tour
from motionloom.drawing.page import pack_clip
from motionloom.drawing.splice_pictures import draw_postures, draw_splice, draw_splice_times

TURN = 1.2
"""How far the walk under the carried box turns, radians."""


def splices(tour: Tour) -> list[Step]:
    """A carried box on a turning walk."""

    def carry() -> None:
        legs = ml.synthetic.clip("walk", turn=TURN)
        upper = tour.clip("carry").motion.replace(name="carry")
        lower = legs.motion.replace(name="turn")
        spliced = ml.splice(upper, lower, footplants=legs.footplants)
        tour.results["carry"] = upper, lower, spliced
        ml.save(lower, tour.wrote("walk-turning.bvh"))
        ml.save(spliced.motion, tour.wrote("carry-on-turn.bvh"))
        tour.report.section(
            "A splice: carrying round a turn",
            "The upper body of a clip that carries a box straight on, on the legs of one that "
            "turns with empty hands. Amber is the action, blue the locomotion; root and legs are "
            "exactly those of the locomotion.",
        )
        tour.report.player(
            [
                pack_clip(upper, name="carry", colour="amber"),
                pack_clip(lower, footplants=legs.footplants, name="turn", colour="blue"),
                pack_clip(spliced.motion, footplants=spliced.footplants, name="carry on turn"),
            ],
            together=True,
        )
        tour.report.code(
            "motionloom splice --upper carry.bvh --lower walk-turning.bvh -o carry-on-turn.bvh"
        )

    return [carry]


def splicing_explained(tour: Tour) -> list[Step]:
    """Timing and posture of a splice, and one arm alone."""

    def explain() -> None:
        upper, lower, spliced = tour.results["carry"]
        rates = np.diff(spliced.timewarp.frames)
        tour.report.section(
            "How splicing works",
            "The action is matched to the steps of the legs (played at "
            f"{rates.min():.2f} to {rates.max():.2f} times its rate), the torso sways and twists "
            "with the turning walk, and the posture is the carrier's.",
        )
        naive = ml.splice(upper, lower, method="naive").motion
        tour.chart(
            "carry-on-turn.png",
            draw_splice(upper, lower, spliced, moments=9, others={"joints copied": naive}),
            "Each column is one moment, seen from the same side of the hips.",
        )
        tour.chart(
            "carry-times.png", draw_splice_times(spliced, names=("carry", "turn")),
            "Which moment of the action goes with which moment of the legs; dark is similar.",
        )  # fmt: skip
        without = ml.splice(upper, lower, method="time+space")
        tour.chart(
            "carry-posture.png", draw_postures(spliced, without),
            "The carrier's posture (dark), and the walker's, which the splice replaces (blue).",
        )  # fmt: skip

    def wave() -> None:
        upper = tour.clip("wave").motion.replace(name="wave")
        lower = tour.clip("jog").motion.replace(name="jog")
        plants = tour.clip("jog").footplants
        spliced = ml.splice(upper, lower, where="right_arm", footplants=plants)
        ml.save(spliced.motion, tour.wrote("wave-on-jog.bvh"))
        tour.report.section(
            "One arm alone: waving on a jog",
            "A standing person who waves has no steps to match, so the arm keeps its timing. "
            f"Notes of the result: {'; '.join(spliced.notes)}.",
        )
        tour.play(spliced, "wave on jog")
        tour.report.code(
            "motionloom splice --upper wave.bvh --lower jog.bvh --where right_arm "
            "-o wave-on-jog.bvh"
        )
        tour.chart(
            "wave-on-jog.png", draw_splice(upper, lower, spliced, where="right_arm"),
            "One arm of the wave; everything else is the jog.",
        )  # fmt: skip

    return [explain, wave]
