"""Quality: how well a motion keeps its contacts, how smooth it is, whether it balances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind
from motionloom._records import record
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.features.balance import measure_support
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.glitch_frames import SpeedSpike, find_speed_spikes
from motionloom.motion.motion import KINDS, Footplants, Motion, contacts_for, runs_of


@dataclass(frozen=True, slots=True)
@record
class Quality:
    """Measurements of a motion in metres and seconds; feet are measured at the given contacts.

    Values that are not defined are None: contact speeds if nothing is planted, jerk and balance of
    clips too short for them.

    Attributes
    ----------
    contact_speed_mean : float or None
        Mean speed of planted points, m/s.
    contact_speed_max : float or None
        Highest speed of a planted point, m/s.
    contact_speed_worst : tuple
        Frame and kind of that highest speed.
    slide_mean_m : float or None
        Mean over plants of the largest distance over the ground between two places of the same
        point.
    slide_max_m : float or None
        The same of the worst plant.
    penetration : float or None
        Deepest that a heel or ball goes below the floor that the contacts show, metres.
    float_height : float or None
        Highest that a planted point stands above that floor, metres.
    flat_ground : bool
        Whether one plane fits all contacts; on stairs each plant is its own floor.
    peak_jerk : float or None
        Largest third derivative of a joint's position, m/s3.
    peak_jerk_at : tuple
        Frame and joint of it.
    joint_speed_spikes : tuple of SpeedSpike
        Single frames in which a joint turns far faster than just before and after.
    zmp_outside : float or None
        Distance of the zero moment point from the support, metres: 95th percentile over frames that
        stand on something; None where none does.
    unsupported : float or None
        Part of the frames that are neither in flight nor within 0.1 s of a plant; None where
        balance cannot be measured.
    """

    contact_speed_mean: float | None
    contact_speed_max: float | None
    contact_speed_worst: tuple[int, str] | None
    slide_mean_m: float | None
    slide_max_m: float | None
    penetration: float | None
    float_height: float | None
    flat_ground: bool
    peak_jerk: float | None
    peak_jerk_at: tuple[int, str] | None
    joint_speed_spikes: tuple[SpeedSpike, ...]
    zmp_outside: float | None
    unsupported: float | None


def measure_quality(
    motion: Motion, footplants: Footplants | None = None, *, body: BodyMap | None = None
) -> Quality:
    """Measure the quality of a motion. See :class:`Quality`.

    Parameters
    ----------
    motion
        F frames.
    footplants
        The contacts that the motion should keep; detected by default. Measure a blend or a cleaned
        clip with the contacts that it was made with: a detector does not find contacts that slide.
    body
        Roles of its joints; guessed by default.

    Returns
    -------
    Quality
        Speeds and slides of planted feet, floor, smoothness and balance.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk")
    >>> quality = measure_quality(clip.motion, clip.footplants)
    >>> quality.contact_speed_max < 1e-6, quality.penetration < 1e-6
    (True, True)
    """
    of_kind(motion, Motion, "motion")
    body = roles_for(motion.skeleton, body)
    footplants = detect_footplants(motion, body=body) if footplants is None else footplants
    contacts_for(footplants, motion.n_frames)
    pose = motion.world_pose()
    points = foot_points(motion, body=body, pose=pose)
    planted = footplants.planted
    speeds, both = _contact_speeds(points, planted, motion.fps)
    slides = _slides(points, planted)
    heights, flat = fit_contact_heights(points, planted)
    over = points[..., 1] - heights
    jerk, jerk_at = peak_jerk(motion, pose[0], body)
    outside, unsupported = measure_support(motion, points, planted, body)
    worst = np.unravel_index(int(np.argmax(np.where(both, speeds, -1.0))), speeds.shape)
    some = bool(both.any())
    return Quality(
        contact_speed_mean=float(speeds[both].mean()) if some else None,
        contact_speed_max=float(speeds[both].max()) if some else None,
        contact_speed_worst=(int(worst[0]), KINDS[int(worst[1])]) if some else None,
        slide_mean_m=float(np.mean(slides)) if slides else None,
        slide_max_m=max(slides) if slides else None,
        penetration=float(max(0.0, -np.nanmin(over))) if planted.any() else None,
        float_height=float(max(0.0, over[planted].max())) if planted.any() else None,
        flat_ground=flat,
        peak_jerk=jerk,
        peak_jerk_at=jerk_at,
        joint_speed_spikes=find_speed_spikes(motion),
        zmp_outside=outside,
        unsupported=unsupported,
    )


def _contact_speeds(
    points: FloatArray, planted: BoolArray, fps: float
) -> tuple[FloatArray, BoolArray]:
    """Speed from each frame to the next, and where the point is planted in both. Shapes (F, 4)."""
    speeds, both = np.zeros(planted.shape), np.zeros(planted.shape, dtype=bool)
    speeds[:-1] = np.linalg.norm(np.diff(points, axis=0), axis=-1) * fps
    both[:-1] = planted[:-1] & planted[1:]
    return speeds, both


def _slides(points: FloatArray, planted: BoolArray) -> list[float]:
    """Diameter of the ground track of every plant, metres."""
    slides = []
    for k in range(planted.shape[1]):
        for first, last in runs_of(planted[:, k]):
            track = points[first : last + 1, k][:, [0, 2]]
            # The farthest pair is nearly always the farthest from the first with its own farthest.
            far = track[np.argmax(np.linalg.norm(track - track[0], axis=-1))]
            slides.append(float(np.linalg.norm(track - far, axis=-1).max()))
    return slides


# --- The ground that contacts show: one plane where they lie on one, else a floor per plant

FLAT_M = 0.025
"""Plants that all lie this near one plane lie on flat ground; the lowest stair is 10 cm."""
STEEPEST = 0.15
"""Rise per metre of the steepest plane; even stairs lie on one, but on a steeper."""
LEVEL_M = 1.0
"""Contacts spread over less than this tell little about a slope, so it is kept small."""


def fit_contact_heights(points: FloatArray, planted: BoolArray) -> tuple[FloatArray, bool]:
    """Height of the ground under every point in every frame, and whether it is one plane.

    Heels and balls of both feet keep their own height over the plane. Where plants lie on
    steps, the ground under a planted point is that plant's own height, and between two plants the
    lower of both.

    Parameters
    ----------
    points : (F, P, 3)
        World, metres.
    planted : (F, P)
        When each is on the ground.

    Returns
    -------
    heights : (F, P)
        Metres; nan for points that are never planted and, on steps, before the first plant and
        after the last.
    flat : bool
        Whether one plane fits.
    """
    plants = [
        (p, first, last) for p in range(planted.shape[1]) for first, last in runs_of(planted[:, p])
    ]
    heights = np.full(planted.shape, np.nan)
    if not plants:
        return heights, True
    kind = np.array([p for p, _, _ in plants])
    places = np.array([np.median(points[a : b + 1, p], axis=0) for p, a, b in plants])
    slope, level = _fit_plane(kind, places, planted.shape[1])
    residual = places[:, 1] - level[kind] - places[:, [0, 2]] @ slope
    if np.abs(residual).max() <= FLAT_M and np.linalg.norm(slope) <= STEEPEST:
        seen = np.isin(np.arange(planted.shape[1]), kind)
        heights[:, seen] = level[seen] + points[:, seen][..., [0, 2]] @ slope
        return heights, True
    for p in np.unique(kind):
        own = [(a, b, y) for (q, a, b), y in zip(plants, places[:, 1], strict=True) if q == p]
        heights[:, p] = _steps(own, len(points))
    return heights, False


def _fit_plane(kind: np.ndarray, places: FloatArray, n_kinds: int) -> tuple[FloatArray, FloatArray]:
    """Slope (2,) along x and z, and level (P,) of every kind, by least squares."""
    ground = places[:, [0, 2]]
    centre = ground.mean(axis=0)
    columns = np.concatenate([np.eye(n_kinds)[kind], ground - centre], axis=1)
    # A ridge on the slope only: across a straight path nothing else would hold it.
    ridge = np.diag([1e-9] * n_kinds + [LEVEL_M**2 * 0.1] * 2)
    solution = np.linalg.solve(columns.T @ columns + ridge, columns.T @ places[:, 1])
    slope = solution[n_kinds:]
    return slope, solution[:n_kinds] - centre @ slope


def _steps(plants: list[tuple[int, int, float]], n_frames: int) -> FloatArray:
    """Ground under one point that goes from plant to plant over steps. Shape (F,).

    Before the first plant and after the last it is not known.
    """
    heights = np.full(n_frames, np.nan)
    for (_, before, low), (after, _, high) in pairwise(plants):
        heights[before + 1 : after] = min(low, high)
    for first, last, height in plants:
        heights[first : last + 1] = height
    return heights


# --- Smoothness

JERK_WINDOW_S = 0.1
"""Cubics are fitted over this long: third differences of single frames would be all noise."""


def peak_jerk(
    motion: Motion, positions: FloatArray, body: BodyMap
) -> tuple[float | None, tuple[int, str] | None]:
    """Largest jerk of any joint that has a body role, m/s3, with its frame and joint.

    Fingers, twist bones and props are left out. None for clips shorter than the fit.
    """
    half = max(2, round(0.5 * JERK_WINDOW_S * motion.fps))
    if motion.n_frames < 2 * half + 1:
        return None, None
    joints = np.array(_role_joints(body) or range(motion.skeleton.n_joints))
    time = np.arange(-half, half + 1) / motion.fps
    fit = 6.0 * np.linalg.pinv(np.vander(time, 4, increasing=True))[3]  # (window,)
    # Weighted sums of shifted copies: a window view of a long clip would fill the memory.
    track = positions[:, joints]
    inner = len(track) - 2 * half
    jerk = np.zeros((inner, *track.shape[1:]))
    for shift, weight in enumerate(fit):
        jerk += weight * track[shift : shift + inner]
    size = np.linalg.norm(jerk, axis=-1)
    frame, joint = np.unravel_index(int(np.argmax(size)), size.shape)
    name = motion.skeleton.names[int(joints[joint])]
    return float(size[frame, joint]), (int(frame) + half, name)


def _role_joints(body: BodyMap) -> list[int]:
    named = [getattr(body, role) for role in body.__slots__ if role != "spine"]
    return sorted({*(j for j in named if j is not None), *body.spine})
