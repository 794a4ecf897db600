"""blend(): one motion between several, at fixed or changing weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from motionloom._arrays import MAX_FRAMES, FloatArray, flag, frames_in, of_kind
from motionloom._records import record
from motionloom.blending.control import control
from motionloom.blending.ends import check_of, sound_ends
from motionloom.blending.evaluate import (
    evaluate,
    mixed_translations,
    plants_along,
    wide_joints,
)
from motionloom.blending.finish import Finished, finish
from motionloom.blending.walk import walk_parameters
from motionloom.blending.weights import checked_weights
from motionloom.errors import RegistrationError
from motionloom.features.markers import SyncMarkers, sync_markers
from motionloom.features.verify import QualityCheck, Verification
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.feet import SIDES
from motionloom.motion.motion import Motion
from motionloom.motion.source import Source
from motionloom.registration.curve import RegistrationCurve

__all__ = ["Blend", "blend", "check_of"]

LONGEST = 200_000
"""Frames that a blend of a given length may have; each takes a step of live control."""
LEAST_FRAMES = 3
"""Fewer frames have no acceleration: they are poses, and no check can judge them."""


@dataclass(frozen=True, eq=False)
@record
class Blend:
    """A blended motion and where each of its frames came from."""

    motion: Motion
    footplants: Footplants
    """Plants that the examples agree on, at the blend's own times."""
    u: FloatArray
    """Parameter of the curve at every frame. (F,)"""
    frames: FloatArray
    """Frame of every example at every frame. (F, K)"""
    weights: FloatArray
    """Weights at every frame. (F, K)"""
    wide_joints: tuple[str, ...] = ()
    """Joints whose rotations lie more than a quarter turn from their mean somewhere."""
    curve: RegistrationCurve | None = field(default=None, repr=False)
    """What it was made from."""
    trimmed: tuple[int, int] = (0, 0)
    """Frames left out at the start and at the end of the curve, because they fail the check."""

    @cached_property
    def finished(self) -> Finished:
        """The motion with its feet held, what clean-up did, and its quality check."""
        check = QualityCheck() if self.curve is None else check_of(self.curve)
        body = BodyMap.guess(self.motion.skeleton)
        has_legs = all(getattr(body, f"{side}_ankle") is not None for side in SIDES)
        return finish(self.motion, self.footplants, check, body=body, clean=has_legs)

    @property
    def verification(self) -> Verification:
        """Quality check of the motion with its feet held, against the examples."""
        return self.finished.verification

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the examples, frames left out, and failed checks."""
        prepared = () if self.curve is None else self.curve.notes
        for count, end in zip(self.trimmed, ("first", "last"), strict=True):
            if count:
                prepared += (f"the {end} {count} frames are left out: too abrupt",)
        return prepared + tuple(f"failed check: {each}" for each in self.verification.failed)

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


Weights = npt.ArrayLike | Callable[[float], npt.ArrayLike]


def blend(
    curve: RegistrationCurve,
    weights: Weights,
    *,
    duration_s: float | None = None,
    backwards: bool = False,
    euler: bool = False,
) -> Blend:
    """The motion between the examples of a curve.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`, K examples.
    weights
        One value per example, summing to one, for an interpolation; an (F, K) array, one row per
        frame of the result; or a function of the time in seconds.
    duration_s
        Length of the result. Past the end of the curve it starts again, placed where it ended, so
        the examples should be cycles then. Without it the blend ends with the curve; where it
        fails the quality check at an end, up to a quarter of a second is left out there.
    backwards
        Play from the curve's end to its start.
    euler
        Advance along the curve by equation 7 of [KG03]_ instead of by exact votes.

    Examples
    --------
    >>> from motionloom import register, synthetic
    >>> curve = register([synthetic.clip("walk", turn=t).motion for t in (-0.8, 0.8)])
    >>> straight = blend(curve, [0.5, 0.5])
    >>> straight.frames.shape[1]
    2

    Raises
    ------
    RegistrationError
        With one row of weights the curve is passed in fewer than three frames.
    """
    of_kind(curve, RegistrationCurve, "curve")
    backwards, euler = flag(backwards, "backwards"), flag(euler, "euler")
    n_motions = len(curve.motions)
    if duration_s is not None or callable(weights):
        return _blend_for(curve, weights, duration_s, backwards, euler)
    rows = checked_weights(weights, n_motions)
    if rows.ndim == 1:
        longest = int(2.0 * max(m.n_frames for m in curve.motions)) + 16
        rows, fixed = np.tile(rows, (longest, 1)), True
    else:
        fixed = False
    start, stop = (curve.times.u_end, 0.0) if backwards else (0.0, curve.times.u_end)
    step = -1.0 if backwards else 1.0
    at = walk_parameters(curve.times.points, rows, start, step, stop, euler)
    if fixed:
        at = _ending_at(at, stop) if len(at) > 1 else at
        if len(at) < LEAST_FRAMES:
            raise RegistrationError(
                f"A blend has at least {LEAST_FRAMES} frames; with these weights the curve takes "
                f"{len(at)}. Register clips that share more, or choose other weights."
            )
    u = at * curve.frames_per_knot
    w = rows[: len(u)]
    made = evaluate(curve, u, w)
    between = fixed and float(rows.min()) >= 0.0  # beyond the clips ends fail as the rest does
    first, last = sound_ends(curve, u, made) if between else (0, 0)
    if first or last:
        u, w = u[first : len(u) - last], w[first : len(u) - last]
        made = evaluate(curve, u, w)
    frames = curve.frames(u)
    return Blend(made.motion, made.footplants, u, frames, w, made.wide_joints, curve, (first, last))


def _ending_at(at: FloatArray, stop: float) -> FloatArray:
    """Parameters that end exactly at ``stop``: one more where it is due, all steps scaled alike.

    A last step of another length would change the speed of every joint in one frame.
    """
    step = at[-1] - at[-2]
    if abs(stop - at[-1]) > 0.5 * abs(step):
        at = np.append(at, at[-1] + step)
    if abs(stop - at[-1]) < 1e-4 * abs(step):
        return np.append(at[:-1], stop)
    return np.asarray(at[0] + (at - at[0]) * (stop - at[0]) / (at[-1] - at[0]))


def _blend_for(
    curve: RegistrationCurve,
    weights: Weights,
    duration_s: float | None,
    backwards: bool,
    euler: bool,
) -> Blend:
    """A blend of a given length, walked frame by frame as live control does."""
    n_motions = len(curve.motions)
    fps = curve.motions[0].fps
    if duration_s is None:
        n_frames, loop = MAX_FRAMES, False
    else:
        n_frames, loop = frames_in(duration_s, fps, "duration_s", least=0, most=LONGEST) + 1, True
    live = control(curve, loop=loop, backwards=backwards, euler=euler)
    rows: list[FloatArray] = []
    us: list[float] = []
    roots: list[FloatArray] = []
    quats: list[FloatArray] = []
    for i in range(n_frames):
        if callable(weights):
            w = checked_weights(weights(i / fps), n_motions)
        else:
            table = checked_weights(weights, n_motions)
            w = table if table.ndim == 1 else table[min(i, len(table) - 1)]
        pose = live.step(w)
        if live.done and us and live.u == us[-1]:
            break
        rows.append(w)
        us.append(live.u)
        roots.append(pose.root_position)
        quats.append(pose.local_quats)
    u, w = np.array(us), np.array(rows)
    frames = curve.frames(u)
    motion = Motion(
        curve.motions[0].skeleton,
        np.array(roots),
        np.array(quats),
        fps,
        joint_translations=mixed_translations(curve, frames, w),
        name="blend",
        source=Source(),
    )
    wide = wide_joints(curve, u, w)
    return Blend(motion, plants_along(curve, u, w), u, frames, w, wide, curve)
