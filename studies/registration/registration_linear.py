"""Baselines of registration: linear blending, straight timing, one rigid fit, other DTWs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from motionloom.motion.edit import transform
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve, Spline, roots_at
from motionloom.registration.pair_curve import fit_alignment
from motionloom.registration.timewarp import fit_planar_alignment
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform
from studies.captured_clips import cloud, sampled

DtwPath = Callable[[np.ndarray], np.ndarray]
WINDOW = np.arange(-2.0, 3.0)


def linear_blend(motions: Sequence[Motion], weights: Sequence[float]) -> Motion:
    """Frame by frame from the first on, rigidly fitted at the first frame, Park's mean."""
    n = min(m.n_frames for m in motions)
    first = cloud(motions[0][:1])[0]
    placed = [motions[0][:n]]
    for motion in motions[1:]:
        theta, offset, _ = fit_planar_alignment(first, cloud(motion[:1])[0], np.ones(len(first)))
        placed.append(transform(motion, PlanarTransform(theta, *offset))[:n])
    w = np.asarray(weights, dtype=np.float64)
    quats = np.stack([m.local_quats for m in placed], axis=-2)
    return placed[0].replace(
        root_positions=np.einsum("k,kfc->fc", w, [m.root_positions for m in placed]),
        local_quats=quat.make_continuous(quat.mean(quats, np.broadcast_to(w, quats.shape[:-1]))),
    )


def straight_times(curve: RegistrationCurve) -> RegistrationCurve:
    """The curve with even timing between its ends, and realigned at these times."""
    ends = curve.times(np.array([0.0, curve.times.u_end]))
    n = len(curve.times.points)
    along = ((np.arange(n) - 0.5) / (n - 2))[:, None]
    times = Spline(ends[0] + along * (ends[1] - ends[0]))
    return _aligned_anew(dataclasses.replace(curve, times=times))


def _aligned_anew(curve: RegistrationCurve) -> RegistrationCurve:
    u = np.linspace(*curve.u_range, 4 * len(curve.times.points))
    frames = curve.frames(u)[:, None, :] + WINDOW[:, None]  # (N, 5, K)
    clouds = []
    for k, motion in enumerate(curve.motions):
        at = frames[..., k]
        clouds.append(cloud(sampled(motion, at.ravel())).reshape(len(u), -1, 3))
    reference = clouds[curve.reference]
    splines: list[Spline | None] = []
    for k, points in enumerate(clouds):
        if k == curve.reference:
            splines.append(None)
            continue
        theta, offset, _ = fit_planar_alignment(reference, points, np.ones(points.shape[1]))
        moves = PlanarTransform(np.unwrap(theta), offset[:, 0], offset[:, 1])
        splines.append(_alignment(curve, k, u, moves))
    return dataclasses.replace(curve, alignment=tuple(splines))


def _alignment(curve: RegistrationCurve, k: int, u: np.ndarray, moves: PlanarTransform) -> Spline:
    """Turn and root offset of motion ``k`` under ``moves``, as the curve keeps them."""
    frames = curve.frames(u)
    reference_roots = roots_at(curve.motions[curve.reference], frames[:, curve.reference])
    apart = moves.apply(roots_at(curve.motions[k], frames[:, k])) - reference_roots
    theta = np.broadcast_to(moves.theta, u.shape)
    values = np.stack([theta, apart[:, 0], apart[:, 2]], axis=-1)
    return fit_alignment(u / curve.frames_per_knot, values, len(curve.times.points))


def one_fit(curve: RegistrationCurve, at: float = 0.0) -> RegistrationCurve:
    """The curve with every motion moved once, by the fit at the parameter ``at``."""
    u = np.linspace(*curve.u_range, 4 * len(curve.times.points))
    fits = curve.alignments(at)
    splines = [
        None
        if k == curve.reference
        else _alignment(
            curve,
            k,
            u,
            PlanarTransform(*(float(np.asarray(v)[k]) for v in (fits.theta, fits.x0, fits.z0))),
        )
        for k in range(len(curve.motions))
    ]
    return dataclasses.replace(curve, alignment=tuple(splines))


def dtw_baselines() -> dict[str, DtwPath]:
    """Other libraries' best paths from corner to corner, as pairs of frames (N, 2)."""
    import librosa
    from dtw import dtw
    from tslearn.metrics import dtw_path_from_metric

    def by_dtw_python(cost: np.ndarray) -> np.ndarray:
        warped = dtw(cost, step_pattern="symmetricP05")
        return np.stack([warped.index1, warped.index2], axis=-1)

    return {
        "tslearn": lambda cost: np.array(dtw_path_from_metric(cost, metric="precomputed")[0]),
        "tslearn, Itakura": lambda cost: np.array(
            dtw_path_from_metric(
                cost, metric="precomputed", global_constraint="itakura", itakura_max_slope=2.0
            )[0]
        ),
        "librosa": lambda cost: librosa.sequence.dtw(C=cost)[1][::-1],
        "dtw-python P05": by_dtw_python,
    }
