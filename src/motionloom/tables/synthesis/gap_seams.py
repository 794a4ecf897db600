"""Gap seams: steps into a passage and out of it that go on as the motion outside does."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.tables.synthesis.gap_windows import OuterPose
from motionloom.tables.synthesis.passage import Passage

FADE_S = 15 / 60
"""What the steps at the ends have more or less fades within this long. In less, joints speed up
more abruptly after the start; in 20 frames, heels of feet that stand at an end slide 5 cm."""


def meet_steps(
    passage: Passage, outer: tuple[OuterPose | None, OuterPose | None], fps: float
) -> Passage:
    """The passage whose first and last steps repeat those of the motion before and after it.

    Velocities over a few frames are met by :func:`mean_window`. Single steps differ from them where
    the motion speeds up or slows down, and a joint would start or stop with a jerk.

    Parameters
    ----------
    passage
        Both its ends are captured.
    outer
        The pose before its start and the one after its end, None where nothing is known.
    fps
        Frames per second.
    """
    root, quats = np.array(passage.root_positions), np.array(passage.local_quats)
    at = np.arange(len(root), dtype=np.float64)
    time = max(min(FADE_S * fps, len(root) - 1.0), 2.0)
    share = at * np.clip(1.0 - at / time, 0.0, None) ** 2 / (1.0 - 1.0 / time) ** 2
    for pose, end, inside, shares in ((outer[0], 0, 1, share), (outer[1], -1, -2, share[::-1])):
        if pose is None:
            continue
        lack = 2.0 * root[end] - pose.root - root[inside]
        root += np.multiply.outer(shares, lack)
        spin = _turn(pose.quats, quats[end]) - _turn(quats[end], quats[inside])
        quats = quat.multiply(quats, quat.exp(np.multiply.outer(shares, spin)))
    return passage._replace(root_positions=root, local_quats=quat.make_continuous(quats))


def _turn(before: FloatArray, after: FloatArray) -> FloatArray:
    """Rotation vectors (J, 3) from one pose to another."""
    return quat.log(quat.multiply(quat.conjugate(before), after))
