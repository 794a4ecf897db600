"""Rules for footplants that others use, to hold ours against."""

from __future__ import annotations

import numpy as np

from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Footplants, Motion, runs_of


def height_and_speed(
    motion: Motion,
    *,
    height_m: float,
    speed_on: float,
    speed_off: float,
    ankle: bool = False,
    shortest_s: float = 0.1,
    gap_s: float = 0.07,
) -> Footplants:
    """Low over the 5th percentile and slow over the ground, with hysteresis."""
    body = BodyMap.guess(motion.skeleton)
    points = foot_points(motion, body=body)
    if ankle:
        ankles = body.require("left_ankle", "right_ankle", task="plants")
        both = motion.world_positions()[:, ankles]
        points = np.repeat(both, 2, axis=1)
    ground = points[..., [0, 2]]
    speeds = np.linalg.norm(np.gradient(ground, axis=0), axis=-1) * motion.fps
    half = max(1, round(0.04 * motion.fps)) // 2
    speeds = np.stack(
        [np.median(speeds[max(f - half, 0) : f + half + 1], axis=0) for f in range(len(speeds))]
    )
    low = points[..., 1] - np.percentile(points[..., 1], 5, axis=0) < height_m
    planted = np.zeros(speeds.shape, dtype=bool)
    for k in range(4):
        slow = low[:, k] & (speeds[:, k] < speed_off)
        for a, b in runs_of(slow):
            slow[a : b + 1] = bool((speeds[a : b + 1, k] < speed_on).any())
        for a, b in runs_of(~slow):
            if b - a + 1 <= gap_s * motion.fps and a > 0 and b < len(slow) - 1:
                slow[a : b + 1] = True
        for a, b in runs_of(slow):
            planted[a : b + 1, k] = b - a + 1 >= shortest_s * motion.fps
    return Footplants(planted)


def fixed_threshold(motion: Motion) -> Footplants:
    """5 cm, 0.25 and 0.4 m/s: usual in papers on footskate."""
    return height_and_speed(motion, height_m=0.05, speed_on=0.25, speed_off=0.4)


def ankle_threshold(motion: Motion) -> Footplants:
    """The same on the ankle, for rigs without toes."""
    return height_and_speed(motion, height_m=0.08, speed_on=0.25, speed_off=0.4, ankle=True)


def strict_threshold(motion: Motion) -> Footplants:
    """2.5 cm and 0.15 m/s: values found in code for learned controllers."""
    return height_and_speed(motion, height_m=0.025, speed_on=0.15, speed_off=0.15)


def pybvh_contacts(path: str, fps: float, target_fps: float) -> np.ndarray | None:
    """pybvh's contacts of the left and right ball on a CMU file, (F, 2); None without pybvh."""
    try:
        import pybvh
        from pybvh.analysis import foot_contacts
    except ImportError:
        return None
    clip = pybvh.read_bvh_file(path)
    contacts = np.asarray(foot_contacts(clip, ["LeftToeBase", "RightToeBase"])) > 0.5
    step = round(fps / target_fps)
    return contacts[1::step]  # the leading T-pose is none of the motion


RULES = {
    "5 cm, 0.25/0.4 m/s": fixed_threshold,
    "ankle, 0.25/0.4 m/s": ankle_threshold,
    "2.5 cm, 0.15 m/s": strict_threshold,
}
