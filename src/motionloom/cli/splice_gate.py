"""The gate of a splice: seen from its root, nothing may move much faster than in its sources."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motionloom.blending.finish import Finished
    from motionloom.motion.motion import Motion
    from motionloom.splicing.splice import Splice

__all__ = ["hold_to_gate"]

QUICKER = 1.3
"""How much faster than its sources a splice may move, seen from its root: an action that keeps step
with quicker legs is quicker itself."""


def hold_to_gate(motion: Motion, spliced: Splice, sources: list[Motion]) -> Finished:
    """The splice with what the gate says, all seen from the root.

    A hand that waves on a runner is faster over the ground than either clip's hands, and rightly.
    """
    import motionloom as ml
    from motionloom.blending.finish import Finished

    gate = ml.verify(_in_place(motion), sources=[_in_place(each) for each in sources])
    ratios = {"joint step": gate.step_ratio, "joint turn": gate.turn_ratio}
    kept = [f for f in gate.findings if ratios.get(f.where, QUICKER + 1.0) > QUICKER]
    if kept and kept[0].where in ratios:
        kept[0] = dataclasses.replace(
            kept[0],
            problem=kept[0].problem.rstrip(".") + f", {QUICKER:g} is allowed.",
            fix=_remedy(motion, spliced),
        )
    gate = dataclasses.replace(gate, passed=not kept, findings=tuple(kept))
    return Finished(motion, spliced.footplants, None, gate, gate)


def _remedy(motion: Motion, spliced: Splice) -> str:
    """Where the splice is too quick, why, and what helps."""
    import numpy as np

    steps = np.linalg.norm(np.diff(_in_place(motion).world_positions(), axis=0), axis=-1)
    frame, joint = np.unravel_index(int(steps.argmax()), steps.shape)
    pace = float(np.diff(spliced.timewarp.frames)[frame])
    place = f"{motion.skeleton.names[joint]} at frame {frame} ({frame / motion.fps:.2f} s)"
    if pace > 1.1:
        return (
            f"Look at {place}, where the action goes at {pace:.2f} times its own pace to keep step "
            "with the legs: use legs of a slower gait, or a slower action."
        )
    return (
        f"Look at {place}: a jump of either clip's torso there comes through. Leave it out with "
        "--lower-span or --upper-span."
    )


def _in_place(motion: Motion) -> Motion:
    import numpy as np

    return motion.replace(root_positions=np.zeros_like(motion.root_positions))
