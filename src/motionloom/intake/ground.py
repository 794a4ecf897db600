"""ground: a clip set on the floor y = 0."""

from __future__ import annotations

import dataclasses

import numpy as np

from motionloom._arrays import FloatArray, finite, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import ball_height
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.findings import Finding
from motionloom.intake.floor import fit_floor, still_fits
from motionloom.intake.leg_tracks import LegTracks, track_legs
from motionloom.motion.motion import Motion
from motionloom.motion.source import Floor
from motionloom.rotation import quat

LEVEL_M = 0.001
"""A clip whose floor is within this of level and in place is left alone."""

STEEPEST = 1e3
"""A floor that rises by more per metre is a wall."""

_UP = np.array([0.0, 1.0, 0.0])


def ground(motion: Motion, *, floor: Floor | None = None, body: BodyMap | None = None) -> Motion:
    """The clip tilted level and raised or lowered so that its planted feet stand on y = 0.

    The balls of the feet come to stand at the height that a ball has over its sole, averaged over
    both feet: a captured left and right foot differ by up to 13 mm, and rigid bones cannot hide it.
    Steps and platforms stay as high over the floor as they were.

    Parameters
    ----------
    motion
        A clip of somebody with two feet.
    floor
        The floor to level; by default the one found when the clip was loaded, or a new fit where
        the clip was moved since.
    body
        Which joint is which; guessed by default.

    Returns
    -------
    Motion
        The clip on y = 0; the same object where it stands there already.

    Examples
    --------
    >>> from motionloom import save, synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> raised = clip.replace(root_positions=clip.root_positions + [0.0, 0.2, 0.0])
    >>> shift = ground(raised).root_positions[:, 1] - clip.root_positions[:, 1]
    >>> bool(np.abs(shift).max() < 0.03)
    True
    """
    of_kind(motion, Motion, "motion")
    if floor is not None:
        of_kind(floor, Floor, "floor")
        for each in dataclasses.fields(Floor):
            finite(getattr(floor, each.name), f"floor.{each.name}")
        if max(abs(floor.slope_x), abs(floor.slope_z)) > STEEPEST:
            raise ArrayError(
                f"`floor` must rise by at most {STEEPEST:g} per metre, got {floor!r}. "
                "Leave it out to fit one."
            )
    roles = roles_for(motion.skeleton, body)
    roles.require("pelvis", "left_ankle", "right_ankle", task="grounding")
    tracks = track_legs(motion, roles)
    assert tracks is not None
    if floor is None:
        floor = _current_floor(motion, tracks)
    sole = ball_height(motion.skeleton, roles)
    middle = tracks.balls.mean(axis=(0, 1))
    if _is_level(floor, tracks.balls, sole):
        return motion
    level = _levelled(motion, floor, middle, sole)
    note = Finding("note", "floor", "tilted and shifted to y = 0 by ml.ground.")
    source = dataclasses.replace(
        motion.source, floor=_floor_after(floor, sole), findings=(*motion.source.findings, note)
    )
    return level.replace(source=source)


def _current_floor(motion: Motion, tracks: LegTracks) -> Floor:
    """The floor found when the clip was loaded, or a new one where the clip was moved since."""
    stored, fitted = motion.source.floor, fit_floor(tracks)
    if fitted is None:
        raise MotionLoomError(
            f"A clip must have at least 2 frames to find its floor, got {motion.n_frames}. "
            "Pass floor=."
        )
    return stored if stored is not None and still_fits(stored, fitted[0], tracks) else fitted[0]


def _is_level(floor: Floor, balls: FloatArray, sole: float) -> bool:
    """Whether nowhere under the clip the floor is more than a millimetre from y = 0."""
    under = floor.height + floor.slope_x * balls[..., 0] + floor.slope_z * balls[..., 2] - sole
    return bool(np.abs(under).max() < LEVEL_M)


def _levelled(motion: Motion, floor: Floor, middle: FloatArray, sole: float) -> Motion:
    normal = np.array([-floor.slope_x, 1.0, -floor.slope_z])
    q_level_world = quat.between_vectors(normal / np.linalg.norm(normal), _UP)
    # Turned about the point of the floor under the middle of the path: the clip stays where it is.
    pivot = np.array([middle[0], 0.0, middle[2]])
    pivot[1] = floor.height + floor.slope_x * pivot[0] + floor.slope_z * pivot[2]
    root = quat.rotate(q_level_world, motion.root_positions - pivot)
    root = root + pivot + (sole - pivot[1]) * _UP
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(q_level_world, quats[:, 0])
    return motion.replace(root_positions=root, local_quats=quats)


def _floor_after(floor: Floor, sole: float) -> Floor:
    apart = 0.5 * (floor.left_height - floor.right_height)
    return Floor(sole + apart, sole - apart, 0.0, 0.0, floor.residual)
