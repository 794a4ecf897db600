"""blend(): one motion between several, at fixed or changing weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from motionloom._arrays import MAX_FRAMES, FloatArray, flag, frames_in, items, of_kind
from motionloom._deprecated import warn_renamed
from motionloom._records import record
from motionloom.blending.blend_ends import check_of, sound_ends
from motionloom.blending.blend_weights import checked_row, checked_weights
from motionloom.blending.control import control
from motionloom.blending.evaluate import (
    evaluate,
    holds_along,
    mixed_translations,
    plants_along,
    wide_joints,
)
from motionloom.blending.walk import walk_parameters
from motionloom.body.body_map import roles_for
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import Finalized, finalize, legs_missing
from motionloom.cleanup.hands import HandHold, hand_role, reach_notes
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.flawed_warning import warn_flawed
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.motion.contacts import KINDS, Footplants, runs_of
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register

__all__ = ["Blend", "blend", "check_of"]

LONGEST = 200_000
"""Frames that a blend of a given length may have; each takes a step of live control."""
LEAST_FRAMES = 3
"""Fewer frames have no acceleration: they are poses, and no check can judge them."""


@dataclass(frozen=True, eq=False)
@record
class Blend:
    """A blended motion and where each of its frames came from.

    Attributes
    ----------
    motion : Motion
        The result, with its feet held where they are planted.
    footplants : Footplants
        Contacts that are held; with ``clean=False`` those that the examples agree on.
    cleanup : CleanupReport or None
        What holding the feet changed; None with ``clean=False``.
    blended : Motion
        The motion before its feet were held.
    u : array
        Parameter of the curve at every frame. (F,)
    frames : array
        Frame of every example at every frame. (F, K)
    weights : array
        Weights at every frame. (F, K)
    wide_joints : tuple of str
        Joints whose rotations lie more than a quarter turn from their mean somewhere.
    curve : RegistrationCurve
        What it was made from.
    trimmed : tuple of two int
        Frames left out at the start and at the end of the curve, because they fail the check.
    hands : tuple of HandHold
        Hands that are held because constraints name a wrist, and how far they were moved.
    """

    motion: Motion
    footplants: Footplants
    cleanup: CleanupReport | None
    blended: Motion = field(repr=False)
    u: FloatArray
    frames: FloatArray
    weights: FloatArray
    wide_joints: tuple[str, ...]
    curve: RegistrationCurve = field(repr=False)
    trimmed: tuple[int, int] = (0, 0)
    hands: tuple[HandHold, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """First and last blended frame: all of them."""
        return 0, self.motion.n_frames - 1

    @cached_property
    def verification(self) -> Verification:
        """Quality check of the result against the examples."""
        held = self.cleanup is not None
        return check_of(self.curve).verify(
            self.motion, footplants=self.footplants, weights=self.weights, held=held
        )

    @property
    def constraints(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """First and last frames over which each constraint of the examples holds, by name.

        Those given to :func:`motionloom.register` as ``constraints``, mixed by the weights.
        """
        names = [name for name in self.curve.matches if name not in KINDS]
        return {
            name: runs_of(holds_along(self.curve.matches[name], self.u, self.weights))
            for name in names
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed in the examples, frames left out, and failed checks."""
        notes = self.curve.notes
        for count, end in zip(self.trimmed, ("first", "last"), strict=True):
            if count:
                notes += (f"the {end} {count} frames are left out: too abrupt",)
        notes += reach_notes(self.hands)
        missing = legs_missing(roles_for(self.motion.skeleton, self.curve.body))
        if missing:
            notes += (f"feet are not held: the skeleton has no {', '.join(missing)}",)
        return notes + tuple(f"failed check: {each}" for each in self.verification.failed)

    @property
    def finished(self) -> Finalized:
        """Old place of the result; use the fields of the blend itself."""
        warn_renamed("Blend.finished", "Blend.motion, footplants and cleanup")
        return Finalized(self.motion, self.footplants, self.cleanup, self.verification)

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


Weights = npt.ArrayLike | Callable[[float], npt.ArrayLike]


def blend(
    curve: RegistrationCurve | Sequence[Motion],
    weights: Weights,
    *,
    duration_s: float | None = None,
    backwards: bool = False,
    euler: bool = False,
    clean: bool = True,
) -> Blend:
    """The motion between several examples, planted feet held, and hands where constraints say so.

    Parameters
    ----------
    curve
        K examples: from :func:`motionloom.register`, or a list of motions, which are registered
        with its defaults.
    weights
        One value per example, summing to one, for an interpolation; an (F, K) array, one row per
        frame of the result; or a function of the time in seconds, 0 at the first frame.
    duration_s
        Length of the result. Past the end of the curve it starts again, placed where it ended, so
        the examples should be cycles then. Without it the blend ends with the curve; where it
        fails the quality check at an end, up to a quarter of a second is left out there, unless
        the examples were cut to cycles.
    backwards
        Play from the curve's end to its start.
    euler
        Advance along the curve by equation 7 of [KG03]_ instead of by exact votes.
    clean
        If False, feet and hands are left as the blend has them.

    Returns
    -------
    Blend
        With the motion, its contacts, and the frames and weights it was made of.

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
        With one row of weights, or a function, the curve is passed in fewer than three frames.
    """
    backwards, euler = flag(backwards, "backwards"), flag(euler, "euler")
    clean = flag(clean, "clean")
    if not isinstance(curve, RegistrationCurve):
        clips = items(curve, "curve", "motions")
        for k, clip in enumerate(clips):
            of_kind(clip, Motion, f"curve[{k}]")
        if len(clips) < 2:
            raise ArrayError(f"`curve` must hold two or more motions, got {len(clips)}.")
        curve = register(clips)
    if duration_s is not None:
        return _finalized(_blend_for(curve, weights, duration_s, backwards, euler), clean)
    at, w, is_whole = _walked(curve, weights, backwards, euler)
    u = at * curve.frames_per_knot
    evaluated = evaluate(curve, u, w)
    between = is_whole and float(w.min()) >= 0.0  # beyond the clips ends fail as the rest does
    first, last = sound_ends(curve, u, evaluated) if between else (0, 0)
    if first or last:
        u, w = u[first : len(u) - last], w[first : len(u) - last]
        evaluated = evaluate(curve, u, w)
    frames = curve.frames(u)
    blended = Blend(
        evaluated.motion, evaluated.footplants, None, evaluated.motion, u, frames, w,
        evaluated.wide_joints, curve, (first, last),
    )  # fmt: skip
    finished = _finalized(blended, clean)
    if clean and float(w.min()) >= 0.0:  # beyond its clips a blend is meant to differ from them
        warn_flawed(finished.verification, "blend")
    return finished


def _finalized(blended: Blend, clean: bool) -> Blend:
    """The blend with its feet and hands held, where it has them and that is wanted."""
    curve, skeleton = blended.curve, blended.motion.skeleton
    body = roles_for(skeleton, curve.body)
    hands: dict[str, list[tuple[int, int]]] = {}
    for name, spans in blended.constraints.items():
        role = hand_role(name, skeleton, body)
        if role is not None:
            hands[role] = _joined_spans([*hands.get(role, ()), *spans])
    if not clean or (legs_missing(body) and not hands):
        return blended
    done = finalize(
        blended.motion, blended.footplants, check_of(curve), body=body, weights=blended.weights,
        hands=hands,
    )  # fmt: skip
    finished = replace(
        blended, motion=done.motion, footplants=done.footplants, cleanup=done.cleanup,
        hands=done.hands,
    )  # fmt: skip
    vars(finished)["verification"] = done.verification  # which it would find again
    return finished


def _joined_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intervals in time order; those that overlap, under two names of one hand, are joined."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _walked(
    curve: RegistrationCurve, weights: Weights, backwards: bool, euler: bool
) -> tuple[FloatArray, FloatArray, bool]:
    """Parameters (N,) and weights (N, K) of frames, and whether they pass the whole curve.

    A table of weights has a row per frame, and may end before the curve does.
    """
    points, end = curve.times.points, curve.times.u_end
    start, step, stop = (end, -1.0, 0.0) if backwards else (0.0, 1.0, end)
    if callable(weights):
        called, is_whole = _called(curve, weights, (start, step, stop), euler), True
        rows = np.array([*called, called[-1]])
    else:
        rows = checked_weights(weights, len(curve.motions))
        is_whole = rows.ndim == 1
        if is_whole:
            longest = int(2.0 * max(m.n_frames for m in curve.motions)) + 16
            rows = np.tile(rows, (longest, 1))
    at = walk_parameters(points, rows, start, step, stop, euler)
    if is_whole:
        at = _ending_at(at, stop) if len(at) > 1 else at
        if len(at) < LEAST_FRAMES:
            raise RegistrationError(
                f"A blend has at least {LEAST_FRAMES} frames; with these weights the curve takes "
                f"{len(at)}. Register clips that share more, or choose other weights."
            )
    if callable(weights) and len(at) > len(called):  # one frame more ends with the curve
        rows[-1] = checked_row(weights(len(called) / curve.motions[0].fps), len(curve.motions))
    return at, rows[: len(at)], is_whole


def _called(
    curve: RegistrationCurve,
    weights: Callable[[float], npt.ArrayLike],
    way: tuple[float, float, float],
    euler: bool,
) -> list[FloatArray]:
    """Weights (K,) from a function of the time, for every frame up to the end of the curve.

    ``way`` is the parameter of the first frame, the step and the parameter of the last frame.
    """
    (at, step, stop), fps = way, curve.motions[0].fps
    rows: list[FloatArray] = []
    while len(rows) < MAX_FRAMES:
        rows.append(checked_row(weights(len(rows) / fps), len(curve.motions)))
        following = walk_parameters(
            curve.times.points, np.stack([rows[-1]] * 2), at, step, stop, euler
        )
        if len(following) < 2:
            break
        at = float(following[1])
    return rows


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
    duration_s: float,
    backwards: bool,
    euler: bool,
) -> Blend:
    """A blend of a given length, walked frame by frame as live control does."""
    n_motions = len(curve.motions)
    fps = curve.motions[0].fps
    n_frames = frames_in(duration_s, fps, "duration_s", least=0, most=LONGEST) + 1
    live = control(curve, backwards=backwards, euler=euler, hold_feet=False)
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
        source=curve.motions[0].source.for_result(),
    )
    wide = wide_joints(curve, u, w)
    return Blend(motion, plants_along(curve, u, w), None, motion, u, frames, w, wide, curve)
