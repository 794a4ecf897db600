"""Defects planted into good clips, one for each column of the check of a data set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import find_knees, local_flexion
from motionloom.motion.corrupt import corrupt
from motionloom.motion.edit import sample
from motionloom.rotation import quat


def sliding(motion: ml.Motion) -> ml.Motion:
    """Travel that is a fifth too long: planted feet slide."""
    return corrupt(motion, travel=1.2)


def raised(motion: ml.Motion) -> ml.Motion:
    """The floor 12 cm higher."""
    return motion.replace(root_positions=motion.root_positions + np.array([0.0, 0.12, 0.0]))


def sunk(motion: ml.Motion) -> ml.Motion:
    """The body sinks by 12 cm for half a second in the middle."""
    root = np.array(motion.root_positions)
    middle = motion.n_frames // 2
    width = max(2.0, 0.25 * motion.fps)
    away = (np.arange(motion.n_frames) - middle) / width
    root[:, 1] -= 0.12 * np.exp(-0.5 * away**2)
    return motion.replace(root_positions=root)


def glitched(motion: ml.Motion) -> ml.Motion:
    """One frame in which an elbow is turned by 80 degrees."""
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    joint = body.require("left_elbow", task="a glitch")[0]
    quats = np.array(motion.local_quats)
    frame = motion.n_frames // 2
    turn = quat.exp(np.radians(80.0) * np.array([0.0, 0.6, 0.8]))
    quats[frame, joint] = quat.multiply(quats[frame, joint], turn)
    return motion.replace(local_quats=quats)


def noisy(motion: ml.Motion) -> ml.Motion:
    """Noise that displaces joints by 8 mm."""
    return corrupt(motion, noise_m=0.008, seed=1)


def knees_backwards(motion: ml.Motion) -> ml.Motion:
    """Both knees bent backwards by as much as they were bent forwards, at least by 15 degrees."""
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    quats = np.array(motion.local_quats)
    for knee in find_knees(motion.skeleton, body, motion=motion):
        bend = np.maximum(local_flexion(motion, knee), np.radians(15.0))
        turns = quat.exp(-(bend + local_flexion(motion, knee))[:, None] * knee.axis)
        quats[:, knee.knee] = quat.multiply(turns, quats[:, knee.knee])
    return motion.replace(local_quats=quats)


def in_place(motion: ml.Motion) -> ml.Motion:
    """A root that does not travel."""
    root = np.array(motion.root_positions)
    root[:, [0, 2]] = root[0, [0, 2]]
    return motion.replace(root_positions=root)


def double_rate(motion: ml.Motion) -> ml.Motion:
    """A header that states twice the true rate."""
    return motion.replace(fps=2.0 * motion.fps)


def held_frames(motion: ml.Motion) -> ml.Motion:
    """Every frame twice, at twice the rate."""
    frames = np.repeat(np.arange(motion.n_frames), 2).astype(np.float64)
    return sample(motion, frames, fps=2.0 * motion.fps)


def floating(motion: ml.Motion) -> ml.Motion:
    """A body that rises by 25 cm and drifts for the second half of the clip."""
    root = np.array(motion.root_positions)
    part = np.linspace(0.0, 1.0, motion.n_frames)
    rise = np.clip((part - 0.4) / 0.1, 0.0, 1.0)
    root[:, 1] += 0.25 * rise
    root[:, 0] += 0.6 * rise * np.arange(motion.n_frames) / motion.fps
    return motion.replace(root_positions=root)


def re_timed(motion: ml.Motion) -> ml.Motion:
    """The same motion turned, moved, at three quarters of the rate, slower and then faster."""
    n = max(16, round(0.75 * motion.n_frames))
    part = np.linspace(0.0, 1.0, n)
    part = part + 0.08 * np.sin(2.0 * np.pi * part)
    warped = sample(motion, part * (motion.n_frames - 1), fps=0.75 * motion.fps)
    return ml.move(warped, heading=1.9, x=3.0, z=-2.0)


PLANTED: dict[str, tuple[Callable[[ml.Motion], ml.Motion], tuple[str, ...]]] = {
    "feet slide": (sliding, ("slide",)),
    "floor raised": (raised, ("floor_offset",)),
    "body sinks": (sunk, ("penetration", "floor_offset")),
    "one-frame glitch": (glitched, ("glitches",)),
    "noise": (noisy, ("jitter",)),
    "knees backwards": (knees_backwards, ("backward_knees",)),
    "root in place": (in_place, ("still_root",)),
    "rate doubled": (double_rate, ("frame_rate",)),
    "frames held": (held_frames, ("frame_rate",)),
    "duplicate re-timed": (re_timed, ("duplicates",)),
}
"""How each defect is made, and the columns of which one must find it."""
