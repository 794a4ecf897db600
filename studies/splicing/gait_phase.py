"""Phase of a gait, and upper bodies compared at equal phase.

Phases come from the ankles alone: one is farthest ahead, then the other. Nothing here uses the time
alignment of motionloom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

Method = Literal["naive", "time", "time+space", "full"]
METHODS: tuple[Method, ...] = ("naive", "time", "time+space", "full")
"""Of ``ml.splice``, copied joints first."""
FPS = 60.0
BINS = 60
WIDTH = 0.03
"""Standard deviation of the kernel over phase, in cycles."""
AHEAD_M = 0.08
"""An ankle that is not so far ahead is in no step."""
STEP_S = 0.25
"""An ankle is farthest ahead for so long to either side."""
UP = np.array([0.0, 1.0, 0.0])


def seen_along_the_way(motion: Motion, body: BodyMap) -> np.ndarray:
    """Joints from the pelvis, turned by the heading of the hips over a second. (F, J, 3)."""
    positions = motion.world_positions()
    across = positions[:, body.left_hip] - positions[:, body.right_hip]
    heading = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    half = round(0.5 * motion.fps)
    window = np.hanning(2 * half + 3)[1:-1]
    heading = np.convolve(np.pad(heading, half, mode="edge"), window / window.sum(), mode="valid")
    turn = quat.from_axis_angle(UP, -heading)
    (pelvis,) = body.require("pelvis", task="a gait")
    return quat.rotate(turn[:, None], positions - positions[:, [pelvis]])


def phases(motion: Motion, body: BodyMap) -> np.ndarray:
    """Phase in [0, 1): 0 where the left ankle is farthest ahead; NaN without steps. (F,)"""
    seen = seen_along_the_way(motion, body)
    ahead = seen[:, body.left_ankle, 2] - seen[:, body.right_ankle, 2]
    window = np.hanning(9)[1:-1]
    ahead = np.convolve(np.pad(ahead, 3, mode="edge"), window / window.sum(), mode="valid")
    near = round(STEP_S * motion.fps)
    turns: list[tuple[int, float]] = []
    for k in range(3, len(ahead) - 3):
        around = ahead[max(0, k - near) : k + near + 1]
        for phase, sign in ((0.0, 1.0), (0.5, -1.0)):
            is_far = sign * ahead[k] >= (sign * around).max() and sign * ahead[k] > AHEAD_M
            if is_far and (not turns or turns[-1][1] != phase):
                turns.append((k, phase))
    along = np.full(len(ahead), np.nan)
    if len(turns) < 2:
        return along
    at = np.array([k for k, _ in turns], dtype=float)
    cycles = turns[0][1] + 0.5 * np.arange(len(turns))
    frames = np.arange(len(ahead), dtype=float)
    along = np.interp(frames, at, cycles)
    first, last = 0.5 / (at[1] - at[0]), 0.5 / (at[-1] - at[-2])
    along = np.where(frames < at[0], cycles[0] + first * (frames - at[0]), along)
    along = np.where(frames > at[-1], cycles[-1] + last * (frames - at[-1]), along)
    return np.asarray(np.mod(along, 1.0))


def mean_cycle(motions: Sequence[Motion], body: BodyMap) -> np.ndarray:
    """Joints at every phase, averaged over takes. (BINS, J, 3)."""
    seen = np.concatenate([seen_along_the_way(each, body) for each in motions])
    phase = np.concatenate([phases(each, body) for each in motions])
    seen, phase = seen[~np.isnan(phase)], phase[~np.isnan(phase)]
    off = np.abs(np.arange(BINS)[:, None] / BINS - phase)
    weights = np.exp(-0.5 * (np.minimum(off, 1.0 - off) / WIDTH) ** 2)
    return np.asarray(np.einsum("bf,fjc->bjc", weights / weights.sum(axis=1, keepdims=True), seen))


def at_phases(cycle: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """Joints of a cycle at phases (N,). (N, J, 3)."""
    at = phase * BINS
    low = np.floor(at).astype(int)
    part = (at - low)[:, None, None]
    return np.asarray((1.0 - part) * cycle[low % BINS] + part * cycle[(low + 1) % BINS])


def distances(
    motion: Motion, phase: np.ndarray, cycle: np.ndarray, body: BodyMap, joints: Sequence[int]
) -> float:
    """Mean distance of joints from those of the cycle at equal phase, cm; NaN without a gait."""
    phase = phase[: motion.n_frames]
    if np.isnan(phase).any():
        return float("nan")
    off = (seen_along_the_way(motion, body) - at_phases(cycle, phase))[:, joints]
    return 100.0 * float(np.linalg.norm(off, axis=-1).mean())


def torso_and_arms(body: BodyMap) -> tuple[list[int], list[int]]:
    """Joints that an action brings: spine, neck and shoulders, and elbows and wrists."""
    roles = ("neck", "left_shoulder", "right_shoulder")
    arms = ("left_elbow", "left_wrist", "right_elbow", "right_wrist")
    return (
        [*body.spine[1:], *body.require(*roles, task="a splice")],
        list(body.require(*arms, task="a splice")),
    )
