"""blend(): one motion between several, at fixed or changing weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from motionloom._arrays import MAX_FRAMES, BoolArray, FloatArray, flag, frames_in, items, of_kind
from motionloom._records import record
from motionloom.blending.control import control, refuse_points
from motionloom.blending.evaluate import (
    Evaluated,
    evaluate,
    holds_along,
    plants_along,
    walk_parameters,
    wide_joints,
)
from motionloom.blending.weights import checked_row, checked_weights
from motionloom.body.body_map import BodyMap, facing, roles_for
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import finalize, legs_missing
from motionloom.cleanup.hands import HandHold, hand_role, reach_notes
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import series_of
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.motion.edit import sample, transform
from motionloom.motion.motion import KINDS, Footplants, Motion, runs_of
from motionloom.motion.provenance import Provenance
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.retargeting.match import clip_names
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

MIN_FRAMES = 3
"""Fewer frames have no acceleration: they are poses, and no check can judge them."""
MAX_LIVE_FRAMES = 200_000
"""Frames of a blend with ``duration_s``, each of which takes a step of live control."""
TRIMS_S = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
"""Seconds that may be left out at an end of the curve, the first that passes the check."""
CAPTURE_EDGE_S = 0.06
"""The first and last seconds of a capture, often abrupt; the quality check ignores them."""
STEEP = 0.6
"""If the slowest example runs at less than this part of the fastest one's rate, the path is steep:
one example is played much too fast there."""
SUDDEN, SUDDEN_M_S2 = 3.0, 200.0
"""A frame near the end of a clip is sudden if its acceleration is at least this many times the
largest one away from the ends, and at least this in m/s2."""

OTHER_WAYS: tuple[dict[str, Any], ...] = (
    {"slope_limit": 1},
    {"slope_limit": 2},
    {"foot_speeds": 1.0},
    {"cover": 0.3},
    {"cover": 0.3, "slope_limit": 1},
)
"""Options of other registrations of clips whose blend fails its check: those that keep the most of
the clips come first."""
KEPT, KEPT_S = 0.3, 0.5
"""Part of the length of the usual registration's blend that another must have, and seconds."""

Weights = npt.ArrayLike | Callable[[float], npt.ArrayLike]


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
    provenance : Provenance
        Which clips, at which times and with which weights, every frame is made of: the examples
        in their order. The times of a cycle are those of the clip that it was cut from.
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
    provenance: Provenance
    wide_joints: tuple[str, ...]
    curve: RegistrationCurve = field(repr=False)
    trimmed: tuple[int, int] = (0, 0)
    hands: tuple[HandHold, ...] = ()

    @property
    def _weights(self) -> FloatArray:
        """Weights of the examples at every frame. (F, K)."""
        return self.provenance.body.weight

    @property
    def span(self) -> tuple[int, int]:
        """First and last blended frame: all of them."""
        return 0, self.motion.n_frames - 1

    @cached_property
    def verification(self) -> Verification:
        """Quality check of the result against the examples."""
        held = self.cleanup is not None
        return check_of(self.curve).verify(
            self.motion, footplants=self.footplants, provenance=self.provenance, held=held
        )

    @property
    def constraints(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """First and last frames over which each constraint of the examples holds, by name.

        Those given to :func:`motionloom.register` as ``constraints``, mixed by the weights.
        """
        names = [name for name in self.curve.matches if name not in KINDS]
        return {
            name: runs_of(holds_along(self.curve.matches[name], self.u, self._weights))
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
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def blend(
    curve: RegistrationCurve | Sequence[Motion],
    weights: Weights,
    *,
    duration_s: float | None = None,
    backwards: bool = False,
    euler: bool = False,
    clean: bool = True,
    body: BodyMap | None = None,
) -> Blend:
    """The motion between several examples, planted feet held, and hands where constraints say so.

    Parameters
    ----------
    curve
        K examples: from :func:`motionloom.register`, or a list of motions, which are registered
        with its defaults. Where their blend fails its quality check, other registrations are
        tried (slower time warps, speeds of feet, a shorter common part), and a note names the one
        that passes.
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
    body
        Roles of the joints of a list of motions; guessed where not given.

    Returns
    -------
    Blend
        With the motion, its contacts, and its provenance.

    Examples
    --------
    >>> from motionloom import register, synthetic
    >>> curve = register([synthetic.clip("walk", turn=t).motion for t in (-0.8, 0.8)])
    >>> straight = blend(curve, [0.5, 0.5])
    >>> straight.provenance.sources, straight.provenance.body.weight[0].tolist()
    (('walk', 'walk'), [0.5, 0.5])

    Raises
    ------
    RegistrationError
        With one row of weights, or a function, the curve is passed in fewer than three frames.
    SkeletonMismatchError
        The motions are points without bones, such as markers.
    """
    backwards, euler, clean = (
        flag(backwards, "backwards"),
        flag(euler, "euler"),
        flag(clean, "clean"),
    )
    if isinstance(curve, RegistrationCurve):
        if body is not None:
            raise ArrayError(
                "`body` is for a list of motions: a curve knows its roles. Leave it out."
            )
    else:
        curve = _registered(curve, body)
        if clean and duration_s is None:
            result = _first_that_passes(curve, weights, backwards, euler)
            if not _extrapolates(result):
                warn_flawed(result.verification, "blend")
            return result
    if duration_s is not None:
        refuse_points(curve)
        return _hold_contacts(_live_blend(curve, weights, duration_s, backwards, euler), clean)
    result = _blend_of(curve, weights, backwards, euler, clean)
    if clean and not _extrapolates(result):
        warn_flawed(result.verification, "blend")
    return result


def _first_that_passes(
    curve: RegistrationCurve, weights: Weights, backwards: bool, euler: bool
) -> Blend:
    """The blend of a curve; where it fails its check, the first of other registrations that passes.

    Without one that passes it is the first blend.
    """
    first = _blend_of(curve, weights, backwards, euler, clean=True)
    if first.verification.passed or _extrapolates(first):
        return first
    for options in OTHER_WAYS:
        try:
            other = register(
                curve.motions,
                footplants=curve.footplants,
                body=curve.body,
                repair_knees=None,
                match=False,
                **options,
            )
            result = _blend_of(other, weights, backwards, euler, clean=True)
        except RegistrationError:
            continue
        n_frames, fps = result.motion.n_frames, result.motion.fps
        if n_frames < max(KEPT * first.motion.n_frames, KEPT_S * fps):
            continue
        if result.verification.passed:
            how = ", ".join(f"{name}={value:g}" for name, value in options.items())
            note = f"registered with {how}: with the usual options the blend fails its check"
            kept = tuple(text for text in curve.notes if text not in other.notes)
            other = replace(other, notes=(*kept, *other.notes, note))
            changed = replace(result, curve=other)
            vars(changed)["verification"] = result.verification
            return changed
    return first


def _extrapolates(blended: Blend) -> bool:
    """Whether a weight is negative: such a blend is meant to differ from its examples."""
    return float(blended.provenance.body.weight.min()) < 0.0


def _blend_of(
    curve: RegistrationCurve, weights: Weights, backwards: bool, euler: bool, clean: bool
) -> Blend:
    """The blend along the whole curve."""
    refuse_points(curve)
    u, w, whole = _walk_curve(curve, weights, backwards, euler)
    trims = (0, 0)
    if whole and w.min() >= 0.0:
        trims = frames_to_trim(curve, u, evaluate(curve, u, w))
    result = _part_of(curve, u, w, trims, clean)
    if not (clean and whole):
        return result
    more = _ends_that_fail(result)
    if not any(more):
        return result
    shorter = _part_of(curve, u, w, (trims[0] + more[0], trims[1] + more[1]), clean)
    return shorter if shorter.verification.passed else result


def _part_of(
    curve: RegistrationCurve, u: FloatArray, w: FloatArray, trims: tuple[int, int], clean: bool
) -> Blend:
    """The blend at parameters ``u`` (F,) without some frames at both ends."""
    part = slice(trims[0], len(u) - trims[1])
    u, w = u[part], w[part]
    evaluated = evaluate(curve, u, w)
    return _hold_contacts(
        Blend(
            motion=evaluated.motion,
            footplants=evaluated.footplants,
            cleanup=None,
            blended=evaluated.motion,
            u=u,
            provenance=_provenance(curve, u, w),
            wide_joints=evaluated.wide_joints,
            curve=curve,
            trimmed=trims,
        ),
        clean,
    )


def _ends_that_fail(result: Blend) -> tuple[int, int]:
    """Frames to leave out at the start and at the end, where a blend fails its check only there.

    A foot in the air that has no contact before or after cannot be led from one to the other.
    """
    n, most = result.motion.n_frames, round(TRIMS_S[-1] * result.motion.fps)
    failed = [each.frame for each in result.verification.failed]
    first = max((frame + 1 for frame in failed if frame < n // 2), default=0)
    last = max((n - frame for frame in failed if frame >= n // 2), default=0)
    fits = first + result.trimmed[0] <= most and last + result.trimmed[1] <= most
    return (first, last) if fits and result.curve.uncut is None and n >= 4 * most else (0, 0)


def _registered(motions: Sequence[Motion], body: BodyMap | None) -> RegistrationCurve:
    """The curve of a list of motions."""
    clips = items(motions, "curve", "motions")
    for k, clip in enumerate(clips):
        of_kind(clip, Motion, f"curve[{k}]")
    if len(clips) < 2:
        raise ArrayError(f"`curve` must hold two or more motions, got {len(clips)}.")
    return register(clips, body=body)


def _provenance(curve: RegistrationCurve, u: FloatArray, weights: FloatArray) -> Provenance:
    """Which clips, at which times, blends at parameters ``u`` (F,) are made of."""
    names = clip_names(len(curve.motions))
    sources = [motion.name or names[k] for k, motion in enumerate(curve.motions)]
    frames = curve.frames(u)
    if curve.uncut is not None:
        frames = frames + np.array(curve.uncut.first_frames)
    return Provenance.of_clips(sources, curve.motions[0].fps, frames, weights)


# --- Which frames of the curve a blend has


def _walk_curve(
    curve: RegistrationCurve, weights: Weights, backwards: bool, euler: bool
) -> tuple[FloatArray, FloatArray, bool]:
    """Parameters (N,) and weights (N, K) of the frames, and whether they cover the whole curve.

    A table of weights has a row per frame and may end before the curve does. One row, or a
    function of the time, lasts to the end of the curve.
    """
    end, n_motions = curve.times.u_end, len(curve.motions)
    start, step, stop = (end, -1.0, 0.0) if backwards else (0.0, 1.0, end)
    called: list[FloatArray] = []
    if callable(weights):
        called = _called(curve, weights, start, step, stop, euler)
        rows = np.array([*called, called[-1]])
    else:
        rows = checked_weights(weights, n_motions)
        if rows.ndim == 2:
            at = walk_parameters(curve.times.points, rows, start, step, stop, euler)
            return at * curve.frames_per_knot, rows[: len(at)], False
        longest = int(2.0 * max(m.n_frames for m in curve.motions)) + 16
        rows = np.tile(rows, (longest, 1))
    at = walk_parameters(curve.times.points, rows, start, step, stop, euler)
    at = _ending_at(at, stop) if len(at) > 1 else at
    if len(at) < MIN_FRAMES:
        raise RegistrationError(
            f"A blend has at least {MIN_FRAMES} frames; with these weights the curve takes "
            f"{len(at)}. Register clips that share more, or choose other weights."
        )
    if callable(weights) and len(at) > len(called):  # _ending_at has added a frame
        rows[-1] = checked_row(weights(len(called) / curve.motions[0].fps), n_motions)
    return at * curve.frames_per_knot, rows[: len(at)], True


def _called(
    curve: RegistrationCurve,
    weights: Callable[[float], npt.ArrayLike],
    start: float,
    step: float,
    stop: float,
    euler: bool,
) -> list[FloatArray]:
    """Weights (K,) from a function of the time, for every frame up to the end of the curve."""
    at, fps, rows = start, curve.motions[0].fps, list[FloatArray]()
    while len(rows) < MAX_FRAMES:
        row = checked_row(weights(len(rows) / fps), len(curve.motions))
        rows.append(row)
        ahead = walk_parameters(curve.times.points, np.stack([row, row]), at, step, stop, euler)
        if len(ahead) < 2:
            break
        at = float(ahead[1])
    return rows


def _ending_at(at: FloatArray, stop: float) -> FloatArray:
    """Parameters that end exactly at ``stop``: one more if it is due, all steps scaled alike.

    Changing only the last step would change the speed of every joint within one frame.
    """
    step = at[-1] - at[-2]
    if abs(stop - at[-1]) > 0.5 * abs(step):
        at = np.append(at, at[-1] + step)
    if abs(stop - at[-1]) < 1e-4 * abs(step):
        return np.append(at[:-1], stop)
    return np.asarray(at[0] + (at - at[0]) * (stop - at[0]) / (at[-1] - at[0]))


def _live_blend(
    curve: RegistrationCurve,
    weights: Weights,
    duration_s: float,
    backwards: bool,
    euler: bool,
) -> Blend:
    """A blend of a given length, stepped frame by frame as live control does."""
    first, n_motions = curve.motions[0], len(curve.motions)
    n_frames = frames_in(duration_s, first.fps, "duration_s", least=0, most=MAX_LIVE_FRAMES) + 1
    live = control(curve, backwards=backwards, euler=euler, hold_feet=False, ease_s=0.0)
    w = np.zeros((n_frames, n_motions))
    u = np.zeros(n_frames)
    roots = np.zeros((n_frames, 3))
    quats = np.zeros((n_frames, first.skeleton.n_joints, 4))
    moved: list[FloatArray] = []
    for i in range(n_frames):
        if callable(weights):
            w[i] = checked_row(weights(i / first.fps), n_motions)
        else:
            table = checked_weights(weights, n_motions)
            w[i] = table if table.ndim == 1 else table[min(i, len(table) - 1)]
        pose = live.step(w[i])
        u[i], roots[i], quats[i] = live.u, pose.root_position, pose.local_quats
        if pose.joint_translations is not None:
            moved.append(pose.joint_translations)
    motion = Motion(
        first.skeleton,
        roots,
        quats,
        first.fps,
        joint_translations=np.array(moved) if moved else None,
        name="blend",
        source=first.source.for_result(),
    )
    wide, made_of = wide_joints(curve, u, w), _provenance(curve, u, w)
    return Blend(motion, plants_along(curve, u, w), None, motion, u, made_of, wide, curve)


# --- Holding feet and hands


def _hold_contacts(blended: Blend, clean: bool) -> Blend:
    """Hold the feet, and the hands that constraints name, where there are any."""
    curve, skeleton = blended.curve, blended.motion.skeleton
    body = roles_for(skeleton, curve.body)
    hands: dict[str, list[tuple[int, int]]] = {}
    for name, spans in blended.constraints.items():
        role = hand_role(name, skeleton, body)
        if role is not None:
            hands[role] = _merged([*hands.get(role, ()), *spans])
    if not clean or (legs_missing(body) and not hands):
        return blended
    done = finalize(
        blended.motion,
        blended.footplants,
        check_of(curve),
        body=body,
        provenance=blended.provenance,
        hands=hands,
    )
    held = replace(
        blended,
        motion=done.motion,
        footplants=done.footplants,
        cleanup=done.cleanup,
        hands=done.hands,
    )
    vars(held)["verification"] = done.verification  # the cached property would compute it again
    return held


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intervals in time order, overlapping ones joined: two constraints may name one hand."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


# --- The quality check, and the ends that fail it

_CHECKS: WeakKeyDictionary[RegistrationCurve, QualityCheck] = WeakKeyDictionary()


def check_of(curve: RegistrationCurve) -> QualityCheck:
    """The quality check of blends from a curve; its examples are measured once.

    Cycles are compared with the clips they were cut from: captures are slow at their ends, and a
    cycle has no ends.
    """
    check = _CHECKS.get(curve)
    if check is None:
        clips = curve if curve.uncut is None else curve.uncut
        check = _CHECKS[curve] = QualityCheck(
            clips.motions, footplants=clips.footplants, body=curve.body
        )
    return check


def frames_to_trim(
    curve: RegistrationCurve, u: FloatArray, evaluated: Evaluated
) -> tuple[int, int]:
    """How many frames to leave out at the start and at the end so that the blend passes the check.

    Two things go wrong at the ends of a curve. Captures are often abrupt in their first and last
    frames; and where one example pauses, another runs at up to three times its rate to stay with
    it. A blend of cycles is never trimmed, because it will be repeated.
    """
    if curve.uncut is not None:
        return 0, 0
    n, fps = len(u), evaluated.motion.fps
    window = round(TRIMS_S[-1] * fps)
    if n < 4 * window:
        return 0, 0
    frames = curve.frames(u)
    lasts = np.array([motion.n_frames - 1.0 for motion in curve.motions])
    rates = np.abs(np.diff(frames, axis=0))
    steep = rates.min(axis=1) < STEEP * rates.max(axis=1)
    edge = CAPTURE_EDGE_S * fps
    check, trims = check_of(curve), [0, 0]
    for end, inside in enumerate((slice(0, window), slice(n - window, n))):
        row = frames[0 if end == 0 else -1]
        if not steep[inside].any() and np.all((row > edge) & (row < lasts - edge)):
            continue
        sudden = _near_sudden_frames(curve, frames[inside], check, window)
        sudden = sudden if end == 0 else sudden[::-1]
        for trim in (round(seconds * fps) for seconds in TRIMS_S):
            part = slice(trim, 2 * window) if end == 0 else slice(n - 2 * window, n - trim)
            verification = check.verify(
                evaluated.motion[part], footplants=evaluated.footplants[part], held=False
            )
            longest = 2 * window - trim - 1
            near = [f.frame if end == 0 else longest - f.frame for f in verification.failed]
            if all(frame >= window - trim for frame in near) and not sudden[trim:].any():
                trims[end] = trim
                break
    return trims[0], trims[1]


def _near_sudden_frames(
    curve: RegistrationCurve, frames: FloatArray, check: QualityCheck, window: int
) -> BoolArray:
    """Rows of ``frames`` (N, K) less than two frames from a sudden frame of an example. (N,)."""
    covered = np.zeros(len(frames), dtype=bool)
    for k, motion in enumerate(curve.motions):
        sudden = np.flatnonzero(_sudden(motion, check, window))
        if len(sudden):
            covered |= np.abs(frames[:, k, None] - sudden).min(axis=1) < 2.0
    return covered


def _sudden(motion: Motion, check: QualityCheck, window: int) -> BoolArray:
    """Frames near an end of a clip that are far more abrupt than the rest of it. (F,)."""
    sudden = np.zeros(motion.n_frames, dtype=bool)
    bend = series_of(check.rig_for(motion), motion).bend  # (F, N)
    if len(bend) <= 3 * window:
        return sudden
    usual = bend[window : len(bend) - window].max(axis=0)
    abrupt = (bend > np.maximum(SUDDEN * usual, SUDDEN_M_S2)).any(axis=1)
    sudden[:window], sudden[-window:] = abrupt[:window], abrupt[-window:]
    return sudden


# --- The baseline without a registration curve


def blend_linearly(motions: Sequence[Motion], weights: npt.ArrayLike) -> Motion:
    """The frame-by-frame average of motions stretched to one length: a baseline for comparison.

    All start where the first one does and face the same direction. Without registration the
    average fails as soon as steps are out of phase or paths diverge.

    Parameters
    ----------
    motions
        Two or more on one skeleton at one rate.
    weights
        One per motion, summing to one.
    """
    w = checked_weights(weights, len(motions))
    n_frames = round(float(w @ [m.n_frames - 1 for m in motions])) + 1
    start = _standing(motions[0])
    roots, quats = [], []
    for motion in motions:
        placed = transform(motion, start @ _standing(motion).inverse())
        played = sample(placed, np.linspace(0.0, motion.n_frames - 1.0, n_frames))
        roots.append(played.root_positions)
        quats.append(played.local_quats)
    first = motions[0]
    return Motion(
        first.skeleton,
        np.einsum("k,knc->nc", w, np.array(roots)),
        quat.mean(np.stack(quats, axis=-2), w),
        first.fps,
        name="linear blend",
        source=first.source.for_result(),
    )


def _standing(motion: Motion) -> PlanarTransform:
    """Where the first frame stands and faces."""
    x, _, z = motion.root_positions[0]
    return PlanarTransform(float(facing(motion[:1])[0]), float(x), float(z))
