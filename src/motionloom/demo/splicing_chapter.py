"""The demo's chapter on room 2: two actions on other legs, from embedded clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import motionloom as ml
from motionloom.demo.blending_chapter import draw
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.splice_pictures import draw_postures, draw_splice
from motionloom.drawing.splice_times import draw_splice_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from motionloom.demo.chapters import Tour

__all__ = ["room2"]

TURN = 1.2
"""How far the walk under the carried box turns, radians."""


def room2(tour: Tour) -> list[Callable[[], None]]:
    """Splices at work."""
    made: dict[str, Any] = {}

    def carry() -> None:
        action, legs = ml.synthetic.clip("carry"), ml.synthetic.clip("walk", turn=TURN)
        upper, lower = action.motion.replace(name="carry"), legs.motion.replace(name="turn")
        spliced = ml.splice(upper, lower, footplants=legs.footplants)
        made["carry"], made["plants"] = (upper, lower, spliced), legs.footplants
        pace = np.diff(spliced.timewarp.frames)
        ml.save(lower, tour.wrote("walk-turning.bvh"))
        ml.save(spliced.motion, tour.wrote("carry-on-turn.bvh"))
        tour.report.section(
            "Room 2: carrying round a turn",
            "The upper body of a clip that carries a box straight on, and the legs of one that "
            "turns with empty hands. The action is brought into step with the legs (at "
            f"{pace.min():.2f} to {pace.max():.2f} times its own pace), the torso sways and twists "
            "as that of the turning walk does, and the posture is the carrier's. Amber comes from "
            "the action, blue from the locomotion; root and legs are the lower clip's to the bit.",
        )
        tour.report.code(
            "motionloom splice --upper carry.bvh --lower walk-turning.bvh -o carry-on-turn.bvh"
        )
        naive = ml.splice(upper, lower, method="naive").motion
        draw(
            tour, "carry-on-turn.png",
            draw_splice(upper, lower, spliced, moments=9, others={"joints copied": naive}),
            "Each column is one moment, seen from the same side of the hips.",
        )  # fmt: skip

    def timing() -> None:
        upper, lower, spliced = made["carry"]
        draw(
            tour, "carry-times.png", draw_splice_times(spliced, names=("carry", "turn")),
            "Which moment of the action goes with which moment of the legs; dark is alike.",
        )  # fmt: skip
        without = ml.splice(upper, lower, method="time+space")
        draw(
            tour, "carry-posture.png", draw_postures(spliced, without),
            "The carrier's posture given back (dark), and the walker's in its place (blue).",
        )  # fmt: skip
        tour.report.player(
            [
                pack_clip(upper, name="carry", colour="amber"),
                pack_clip(lower, footplants=made["plants"], name="turn", colour="blue"),
                pack_clip(spliced.motion, footplants=spliced.footplants, name="carry on turn"),
            ],
            together=True,
        )

    def wave() -> None:
        action, legs = ml.synthetic.clip("wave"), ml.synthetic.clip("jog")
        upper, lower = action.motion.replace(name="wave"), legs.motion.replace(name="jog")
        spliced = ml.splice(upper, lower, where="right_arm", footplants=legs.footplants)
        ml.save(spliced.motion, tour.wrote("wave-on-jog.bvh"))
        said = "; ".join(spliced.notes)
        tour.report.section(
            "Room 2: waving on a jog",
            "Somebody who stands and waves has no step to keep, so the arm keeps its own time. "
            f"What the splice says: {said}.",
        )
        tour.report.code(
            "motionloom splice --upper wave.bvh --lower jog.bvh --where right_arm "
            "-o wave-on-jog.bvh"
        )
        draw(
            tour, "wave-on-jog.png", draw_splice(upper, lower, spliced, where="right_arm"),
            "One arm of the wave; everything else is the jog.",
        )  # fmt: skip
        tour.report.player(
            [pack_clip(spliced.motion, footplants=spliced.footplants, name="wave on jog")]
        )

    return [carry, timing, wave]
