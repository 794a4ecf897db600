"""Balance: body masses, the centre of mass, the zero moment point and how far support misses it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion

__all__ = [
    "GRAVITY",
    "Segments",
    "ZeroMoment",
    "centre_of_mass",
    "mass_segments",
    "segment_centres",
    "support_distance",
    "zero_moment_point",
]

GRAVITY = 9.81

# Winter 2009, after Dempster: part of body mass, and where along the segment its centre lies.
LIMBS = {
    "upper_arm": (0.028, 0.436, ("shoulder", "elbow")),
    "forearm": (0.016, 0.430, ("elbow", "wrist")),
    # From the wrist to half way to the knuckles, said in forearms: rigs seldom agree on fingers.
    "hand": (0.006, 1.2, ("elbow", "wrist")),
    "thigh": (0.100, 0.433, ("hip", "knee")),
    "shank": (0.0465, 0.433, ("knee", "ankle")),
    "foot": (0.0145, 0.5, ("ankle", "toe")),
}
# The trunk from mid-hips to mid-shoulders; Winter's three parts, moved so that together they have
# their centre half way, where he puts that of the whole trunk.
TRUNK = {"pelvis": (0.142, 0.28), "abdomen": (0.139, 0.45), "thorax": (0.216, 0.675)}
HEAD = (0.081, 1.2)
"""Head and neck: the ear lies a little above the head joint on the line from the shoulders."""

SMOOTH_S = 0.25
"""Window of the cubic fits behind accelerations: shorter leave noise, longer cut peaks."""
FLIGHT_LOAD = 0.2
"""Below this part of body weight on the ground there is no zero moment point."""


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Body segments as weighted sums of joints."""

    names: tuple[str, ...]
    masses: FloatArray
    """Parts of body mass; they sum to one. Shape (S,)."""
    weights: FloatArray
    """``weights @ joint_positions`` are the segments' centres; rows sum to one. Shape (S, J)."""

    def centres(self, positions: FloatArray) -> FloatArray:
        """Centres of mass (F, S, 3) of the segments, from joint positions (F, J, 3)."""
        return np.asarray(np.einsum("sj,fjc->fsc", self.weights, positions, optimize=True))

    def centre(self, positions: FloatArray) -> FloatArray:
        """Centre of mass (F, 3) of the body, from joint positions (F, J, 3)."""
        return np.asarray(np.einsum("j,fjc->fc", self.masses @ self.weights, positions))


@dataclass(frozen=True, slots=True, eq=False)
class ZeroMoment:
    """Where the ground would have to push, and how hard."""

    points: FloatArray
    """Zero moment point (x, z) on the floor, nan in flight and near the ends. Shape (F, 2)."""
    load: FloatArray
    """Vertical push in body weights: 1 standing, 0 in flight. Shape (F,)."""


def mass_segments(n_joints: int, body: BodyMap) -> Segments:
    """Winter's body segments on the roles of ``body``, for a skeleton of ``n_joints``.

    Roles that are missing fall back on the next joint inwards, so that the masses still sum to one:
    a rig without hands carries their mass at the elbows.
    """
    body.require("pelvis", task="the centre of mass")

    unit: FloatArray = np.eye(n_joints)

    def point(*roles: str) -> FloatArray:
        joints = (getattr(body, role) for role in roles)
        joint = next((j for j in joints if j is not None), body.pelvis)
        return np.asarray(unit[joint])

    hips = 0.5 * (point("left_hip", "pelvis") + point("right_hip", "pelvis"))
    shoulders = 0.5 * (point("left_shoulder", "neck") + point("right_shoulder", "neck"))
    names, masses, rows = [], [], []

    def add(name: str, mass: float, start: FloatArray, end: FloatArray, part: float) -> None:
        names.append(name)
        masses.append(mass)
        rows.append((1.0 - part) * start + part * end)

    for name, (mass, part) in TRUNK.items():
        add(name, mass, hips, shoulders, part)
    add("head", HEAD[0], shoulders, point("head", "neck"), HEAD[1])
    inwards = {
        "elbow": ("elbow", "shoulder"),
        "wrist": ("wrist", "elbow", "shoulder"),
        "knee": ("knee", "hip"),
        "ankle": ("ankle", "knee", "hip"),
        "toe": ("toe", "ankle", "knee", "hip"),
    }
    for side in ("left", "right"):
        for name, (mass, part, (start, end)) in LIMBS.items():
            ends = [
                point(*(f"{side}_{role}" for role in inwards.get(at, (at,)))) for at in (start, end)
            ]
            add(f"{side}_{name}", mass, ends[0], ends[1], part)
    return Segments(tuple(names), np.array(masses), np.array(rows))


def centre_of_mass(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Centre of mass of the body in every frame, metres. Shape (F, 3)."""
    body = BodyMap.guess(motion.skeleton) if body is None else body
    return mass_segments(motion.skeleton.n_joints, body).centre(motion.world_positions())


def segment_centres(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Centres of the 16 segments, in the order of :func:`mass_segments`. Shape (F, 16, 3)."""
    body = BodyMap.guess(motion.skeleton) if body is None else body
    return mass_segments(motion.skeleton.n_joints, body).centres(motion.world_positions())


def zero_moment_point(
    motion: Motion, *, body: BodyMap | None = None, floor: float = 0.0
) -> ZeroMoment:
    """Point on the floor about which gravity and inertia of all segments balance.

    Point masses at the segments' centres, positions and accelerations from cubic fits over a
    quarter of a second; the first and last eighth of a second therefore have none.

    Parameters
    ----------
    motion
        F frames.
    body
        Roles of its joints; guessed by default.
    floor
        Height of the ground, metres.
    """
    body = BodyMap.guess(motion.skeleton) if body is None else body
    segments = mass_segments(motion.skeleton.n_joints, body)
    centres, accelerations = _cubic_fits(segments.centres(motion.world_positions()), motion.fps)
    mass = segments.masses
    push = accelerations[..., 1] + GRAVITY  # (F, S)
    load = push @ mass / GRAVITY
    height = centres[..., 1] - floor
    points = np.stack(
        [(centres[..., c] * push - height * accelerations[..., c]) @ mass for c in (0, 2)], axis=-1
    )
    stands = np.nan_to_num(load) >= FLIGHT_LOAD
    points = np.where(
        stands[:, None], points / np.where(stands, load * GRAVITY, 1.0)[:, None], np.nan
    )
    return ZeroMoment(points, load)


def support_distance(points: FloatArray, corners: FloatArray, used: BoolArray) -> FloatArray:
    """How far each point lies outside the convex hull of its corners; negative inside. Shape (F,).

    Parameters
    ----------
    points : (F, 2)
        On the ground.
    corners : (F, C, 2)
        Corners of what stands on the ground.
    used : (F, C)
        Which of them count in each frame. Frames without any, or with a nan point, give nan.

    Notes
    -----
    The distance is the largest gap in any of 360 directions, which errs by less than 4e-5 of it.
    Inside, it is minus the distance to the nearest edge, to the same precision.
    """
    angles = np.arange(360) * (np.pi / 180.0)
    directions = np.stack([np.cos(angles), np.sin(angles)])  # (2, 360)
    out = np.full(len(points), np.nan)
    for first in range(0, len(points), 256):  # bounds the memory of long clips
        part = slice(first, first + 256)
        # Measured from the point itself, so that far from the origin no digits are lost.
        reach = (corners[part] - points[part, None]) @ directions  # (F, C, 360)
        farthest = np.where(used[part][..., None], reach, -np.inf).max(axis=1)
        out[part] = np.max(-farthest, axis=-1)
    return np.where(used.any(axis=-1) & np.isfinite(points).all(axis=-1), out, np.nan)


def _cubic_fits(values: FloatArray, fps: float) -> tuple[FloatArray, FloatArray]:
    """Value and second derivative of local cubics, nan where the window leaves the clip."""
    half = max(2, round(0.5 * SMOOTH_S * fps))
    smooth, second = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    if len(values) < 2 * half + 1:
        return smooth, second
    time = np.arange(-half, half + 1) / fps
    fit = np.linalg.pinv(np.vander(time, 4, increasing=True))  # (4, window)
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1, axis=0)
    smooth[half:-half] = windows @ fit[0]
    second[half:-half] = 2.0 * (windows @ fit[2])
    return smooth, second
