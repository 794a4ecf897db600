"""Quality: how well a motion keeps its contacts, how smooth it is, whether it balances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import foot_points
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.ground_fit import fit_contact_heights
from motionloom.features.smoothness import SpeedSpike, find_speed_spikes, peak_jerk
from motionloom.features.support import measure_support
from motionloom.motion.contacts import KINDS, Footplants, contacts_for, runs_of
from motionloom.motion.motion import Motion


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
