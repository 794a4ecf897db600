"""Plain edits of whole clips: resample, concatenate, move."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from motionloom._arrays import (
    FARTHEST,
    MAX_FRAMES,
    FloatArray,
    IntArray,
    finite,
    items,
    of_kind,
    positive,
)
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

ROUNDED = 3e-4
"""How far rounding in files puts rates apart. Film rates (30000/1001) are farther, and not 30."""
MOST_RATIO = 48.0
"""Rates of clips that are made into one may differ by this factor at most."""


def sample(motion: Motion, frames: FloatArray, *, fps: float | None = None) -> Motion:
    """The motion read at fractional frame numbers: positions lerped, rotations slerped.

    Parameters
    ----------
    motion
        F frames.
    frames : (N,)
        Frame numbers in [0, F - 1], in any order; whole numbers give those frames exactly.
    fps
        Rate of the result; the motion's own by default.
    """
    of_kind(motion, Motion, "motion")
    at = np.asarray(frames, dtype=np.float64)
    if at.ndim != 1 or not at.size:
        raise ArrayError(f"`frames` must be a list of at least one frame, got shape {at.shape}.")
    if not np.isfinite(at).all() or at.min() < 0 or at.max() > motion.n_frames - 1:
        raise ArrayError(
            f"`frames` must lie in [0, {motion.n_frames - 1}], got {at.min():g} to {at.max():g}."
        )
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, motion.n_frames - 1)
    t = at - low

    def lerp(values: FloatArray) -> FloatArray:
        weight = t.reshape(-1, *([1] * (values.ndim - 1)))
        return np.where(
            weight == 0.0, values[low], values[low] + weight * (values[high] - values[low])
        )

    quats = quat.slerp(motion.local_quats[low], motion.local_quats[high], t[:, None])
    exact = t == 0.0
    quats[exact] = motion.local_quats[low[exact]]
    moving = motion.joint_translations
    return motion.replace(
        root_positions=lerp(motion.root_positions),
        local_quats=quats,
        joint_translations=None if moving is None else lerp(moving),
        fps=motion.fps if fps is None else fps,
    )


def pick(motion: Motion, frames: slice | IntArray) -> Motion:
    """Whole frames of a motion, in any order, at its own rate."""
    moving = motion.joint_translations
    return motion.replace(
        root_positions=motion.root_positions[frames],
        local_quats=motion.local_quats[frames],
        joint_translations=None if moving is None else moving[frames],
    )


def resample(motion: Motion, *, fps: float) -> Motion:
    """The same motion at another rate, starting at the same first frame.

    Every sample lies at time ``n / fps``; the last one is the last that still lies in the clip.
    Nothing is filtered: slowing a 120 Hz clip to 30 Hz keeps every fourth frame untouched.

    Returns
    -------
    Motion
        At the new rate; rotations and positions are interpolated.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> abs(resample(clip, fps=30).duration_s - clip.duration_s) < 1 / 30
    True
    """
    fps = positive(fps, "fps")
    of_kind(motion, Motion, "motion")
    if fps == motion.fps:
        return motion
    step = motion.fps / fps
    # Rates in files are rounded (0.008333 s): where one is a whole multiple of the other but for
    # that, frames must fall on frames, and the clip must not lose its last one.
    for ratio, snapped in ((step, round(step)), (1.0 / step, round(1.0 / step))):
        if snapped and abs(ratio - snapped) < ROUNDED * snapped:
            step = float(snapped) if ratio == step else 1.0 / snapped
    n = int(np.floor((motion.n_frames - 1) / step + 1e-6)) + 1
    if n > MAX_FRAMES:
        raise ArrayError(
            f"`fps` must give at most {MAX_FRAMES} frames, got {fps:g}, which gives {n}. "
            "Choose a lower rate."
        )
    frames = np.arange(n) * step
    whole = np.round(frames)
    frames = np.where(np.abs(frames - whole) < 1e-6, whole, frames)
    try:
        return sample(motion, np.minimum(frames, motion.n_frames - 1), fps=fps)
    except MemoryError:
        raise ArrayError(
            f"`fps` must give a clip that fits into memory, got {fps:g}, which gives {n} frames of "
            f"{motion.skeleton.n_joints} joints. Choose a lower rate."
        ) from None


def check_rates(motion: Motion, fps: float) -> None:
    """Refuse to bring a clip to a rate that is absurdly far from its own."""
    if not 1.0 / MOST_RATIO <= motion.fps / fps <= MOST_RATIO:
        raise ArrayError(
            f"Clips must have rates within a factor of {MOST_RATIO:g} of each other, got "
            f"{motion.fps:g} and {fps:g} fps. Set the true rate with motion.replace(fps=...)."
        )


def concatenate(motions: Iterable[Motion]) -> Motion:
    """Clips one after the other, just as they stand; same joints and rate.

    Nothing is moved or blended: for a seamless join use ``ml.transition``. Clips whose bones have
    other lengths than the first one's keep them, as joint translations.

    Parameters
    ----------
    motions
        One clip or more.

    Returns
    -------
    Motion
        All frames, in order.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> concatenate([clip[:10], clip[10:]]).n_frames == clip.n_frames
    True
    """
    motions = items(motions, "motions", "motions")
    if not motions:
        raise ArrayError("`motions` must hold at least one motion, got none.")
    first = of_kind(motions[0], Motion, "motions[0]")
    for i, other in enumerate(motions[1:], start=1):
        of_kind(other, Motion, f"motions[{i}]")
        if not first.skeleton.same_joints(other.skeleton):
            raise SkeletonMismatchError(
                f"Clips must have the same joints to be concatenated; clip {i} ({other!r}) differs "
                f"from clip 0 ({first!r}). Use ml.retarget first."
            )
        if abs(other.fps - first.fps) > 1e-3 * first.fps:
            raise ArrayError(
                f"Clips must share one rate to be concatenated, got {first.fps:g} and "
                f"{other.fps:g} fps. Use ml.resample first."
            )
    rigid = all(
        m.joint_translations is None
        and np.allclose(m.skeleton.offsets, first.skeleton.offsets, rtol=0.0, atol=1e-6)
        for m in motions
    )
    return first.replace(
        root_positions=np.concatenate([m.root_positions for m in motions]),
        local_quats=np.concatenate([m.local_quats for m in motions]),
        joint_translations=None if rigid else np.concatenate([_translations(m) for m in motions]),
    )


def transform(motion: Motion, by: PlanarTransform) -> Motion:
    """The whole clip turned about the world's up axis and slid on the ground."""
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(by.quat(), quats[:, 0])
    return motion.replace(root_positions=by.apply(motion.root_positions), local_quats=quats)


def move(motion: Motion, *, heading: float = 0.0, x: float = 0.0, z: float = 0.0) -> Motion:
    """The clip turned by ``heading`` radians about its first root, then shifted by (x, z).

    Parameters
    ----------
    motion
        The clip.
    heading
        Turn about the up axis, radians.
    x, z
        Shift over the ground, metres.

    Returns
    -------
    Motion
        The moved clip; heights and poses stay.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> moved = move(clip, x=1.0)
    >>> round(float(moved.root_positions[0, 0] - clip.root_positions[0, 0]), 6)
    1.0
    """
    start = of_kind(motion, Motion, "motion").root_positions[0]
    place = PlanarTransform(0.0, start[0] + finite(x, "x"), start[2] + finite(z, "z"))
    turn = PlanarTransform(finite(heading, "heading"), 0.0, 0.0)
    try:
        return transform(motion, place @ turn @ _slide(-start))
    except ArrayError as error:
        raise ArrayError(
            f"`x` and `z` must leave the clip within {FARTHEST:g} metres of the origin, got {x:g} "
            f"and {z:g}. Check the unit of length."
        ) from error


def _slide(by: FloatArray) -> PlanarTransform:
    return PlanarTransform(0.0, float(by[0]), float(by[2]))


def _translations(motion: Motion) -> FloatArray:
    if motion.joint_translations is not None:
        return motion.joint_translations
    still = np.array(motion.skeleton.offsets)
    still[0] = 0.0
    return np.broadcast_to(still, (motion.n_frames, *still.shape))


# --- Intervals of a clip, given in seconds

Spans = Sequence[tuple[float, float]]
"""Intervals in seconds: (start, end) each."""
Frames = tuple[tuple[float, float], ...]
"""Intervals in frames, which need not be whole."""


def frames_of(spans: Spans, motion: Motion, where: str) -> Frames:
    """Intervals in frames of a clip, in time order, from intervals in seconds.

    ``where`` names the argument in errors.
    """
    frames: list[tuple[float, float]] = []
    pairs = isinstance(spans, list | tuple) and all(
        isinstance(span, list | tuple) and len(span) == 2 for span in spans
    )
    if not pairs:
        raise ArrayError(f"`{where}` must be a list of (start, end) in seconds, got {spans!r:.80}.")
    for start, end in spans:
        low, high = (finite(value, where) * motion.fps for value in (start, end))
        if not 0.0 <= low < high or (frames and low <= frames[-1][1]):
            raise ArrayError(
                f"`{where}` must hold intervals with a start before the end, one after the other, "
                f"got {start!r} to {end!r}."
            )
        # One frame more: durations are often counted in frames, and resampling may drop the last.
        if high > motion.n_frames + 1e-6 or low >= motion.n_frames - 1:
            raise ArrayError(
                f"`{where}` must lie in the clip of {motion.duration_s:.2f} s, got {start:g} to "
                f"{end:g} s. Give start and end in seconds from the clip's first frame."
            )
        frames.append((low, min(high, motion.n_frames - 1.0)))
    return tuple(frames)
