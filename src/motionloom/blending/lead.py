"""lead_in() and lead_out(): from a standing pose into a clip, and from a clip into one."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import frames_in, not_negative, of_kind
from motionloom.blending.transition import Transition, transition
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError, SkeletonMismatchError
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion

LONGEST = 100_000
"""Frames for which a pose can be held."""


def lead_in(
    motion: Motion,
    pose: Motion,
    *,
    length_s: float = 0.6,
    hold_s: float = 0.3,
    body: BodyMap | None = None,
    clean: bool = False,
) -> Transition:
    """A clip that begins in a standing pose and is the motion after ``length_s`` of blending.

    The pose is held, then blended into the motion's first frames as they play, so that position
    and speed are the motion's own where the blend ends.

    Parameters
    ----------
    motion
        The clip to lead into.
    pose
        A motion on the same skeleton; its last frame is the standing pose.
    length_s
        Seconds of blending.
    hold_s
        Seconds for which the pose is held before.
    body
        Which joint is which; guessed where not given.
    clean
        If True, planted feet are held; the first or last pose then is not exactly the given one.

    Returns
    -------
    Transition
        From the held pose into the motion.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk, stand = synthetic.clip("walk").motion, synthetic.clip("stand").motion
    >>> made = lead_in(walk, stand)
    >>> bool(np.allclose(made.motion.local_quats[0, 1:], stand.local_quats[-1, 1:]))
    True
    """
    half, hold = _frames(motion, pose, length_s, hold_s)
    held = _held(pose, pose.n_frames - 1, motion.fps, 2 * half + hold + 5)
    return transition(
        held,
        motion,
        at=(half + hold + 2, half + 2),
        length_s=length_s,
        timewarp=False,
        body=body,
        clean=clean,
    )


def lead_out(
    motion: Motion,
    pose: Motion,
    *,
    length_s: float = 0.6,
    hold_s: float = 0.3,
    body: BodyMap | None = None,
    clean: bool = False,
) -> Transition:
    """A clip that is the motion first and ends in a standing pose.

    Parameters
    ----------
    motion
        The clip to lead out of.
    pose
        A motion on the same skeleton; its first frame is the standing pose.
    length_s
        Seconds of blending, the last of the motion.
    hold_s
        Seconds for which the pose is held after.
    body
        Which joint is which; guessed where not given.
    clean
        If True, planted feet are held; the first or last pose then is not exactly the given one.

    Returns
    -------
    Transition
        From the motion into the held pose.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk, stand = synthetic.clip("walk").motion, synthetic.clip("stand").motion
    >>> made = lead_out(walk, stand)
    >>> bool(np.allclose(made.motion.local_quats[-1, 1:], stand.local_quats[0, 1:]))
    True
    """
    half, hold = _frames(motion, pose, length_s, hold_s)
    held = _held(pose, 0, motion.fps, 2 * half + hold + 5)
    return transition(
        motion,
        held,
        at=(motion.n_frames - 3 - half, half + 2),
        length_s=length_s,
        timewarp=False,
        body=body,
        clean=clean,
    )


def _frames(motion: Motion, pose: Motion, length_s: float, hold_s: float) -> tuple[int, int]:
    of_kind(motion, Motion, "motion")
    of_kind(pose, Motion, "pose")
    hold_s = not_negative(hold_s, "hold_s")
    half = frames_in(length_s, motion.fps, "length_s", part=0.5)
    if motion.n_frames < 2 * half + 5:
        raise RegistrationError(
            f"A lead of {length_s:g} s needs a clip of {(2 * half + 5) / motion.fps:.2f} s, "
            f"got {motion.duration_s:.2f} s. Use a shorter `length_s`."
        )
    if not motion.skeleton.same_joints(pose.skeleton):
        raise SkeletonMismatchError(
            f"`pose` must have the motion's joints; {pose!r} and {motion!r} differ. "
            "Use ml.retarget(pose, motion.skeleton) first."
        )
    if hold_s == 0.0:
        return half, 0
    return half, frames_in(hold_s, motion.fps, "hold_s", least=0, most=LONGEST)


def _held(pose: Motion, frame: int, fps: float, n_frames: int) -> Motion:
    """One frame of a motion, held; its feet stand."""
    return pick(pose, np.full(n_frames, frame)).replace(fps=fps)
