"""loop(): the best cycle in a clip, with its seam hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, of_kind, positive
from motionloom.blending.weights import ease
from motionloom.errors import RegistrationError
from motionloom.features.footplants import detect_footplants
from motionloom.features.markers import SyncMarkers, sync_markers
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import transform
from motionloom.motion.motion import Motion
from motionloom.registration.distance import distance_grid
from motionloom.rotation import quat
from motionloom.rotation.planar import PlanarTransform

__all__ = ["Loop", "loop"]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A cycle: its last frame is its first one, moved on by ``closure``."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    """First and last frame of the cycle in the clip it was cut from."""
    match: FloatArray
    """How well a cycle that starts at each frame of the clip closes, metres rms; nan where none
    fits. (F,)"""
    cost: float
    """How well this one closed before its seam was hidden, metres rms."""
    closure: PlanarTransform
    """What one cycle moves the body by."""

    @property
    def period_s(self) -> float:
        """Seconds of one cycle."""
        return self.motion.duration_s

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def loop(
    motion: Motion,
    *,
    shortest_s: float = 0.5,
    longest_s: float = 3.0,
    seam_s: float = 0.2,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
) -> Loop:
    """The cycle of a clip that closes best.

    Parameters
    ----------
    motion
        A clip with at least one whole cycle in it.
    shortest_s, longest_s
        How long a cycle may be.
    seam_s
        Seconds before the end over which the pose is led back to the first one.
    footplants
        Plants of the clip; detected where not given.
    body
        Which joint is which; guessed where not given.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> cycle = loop(synthetic.clip("walk").motion)
    >>> bool(np.allclose(cycle.motion.local_quats[0, 1:], cycle.motion.local_quats[-1, 1:]))
    True
    """
    of_kind(motion, Motion, "motion")
    positive(seam_s, "seam_s")
    positive(shortest_s, "shortest_s")
    body = BodyMap.guess(motion.skeleton) if body is None else body
    plants = detect_footplants(motion, body=body) if footplants is None else footplants
    fps, n = motion.fps, motion.n_frames
    low, high = max(2, round(shortest_s * fps)), min(n - 1, round(longest_s * fps))
    if high < low:
        raise RegistrationError(
            f"A cycle takes at least {shortest_s:g} s; the clip has {motion.duration_s:.2f} s. "
            "Use a longer clip or a smaller `shortest_s`."
        )
    stride = max(1, round(fps / 60.0))
    cloud = point_cloud(motion, body=body)
    points = cloud.points[::stride]
    half = max(1, round(0.06 * fps / stride))
    grid = distance_grid(points, points, cloud.weights, half_window=half)
    start, stop, strip = _best_cycle(grid.cost, low / stride, high / stride, half)
    first, last = start * stride, stop * stride
    theta, slide = grid.alignment(np.array([stop]), np.array([start]))
    closure = PlanarTransform(float(theta[0]), float(slide[0, 0]), float(slide[0, 1]))
    match = np.full(n, np.nan)
    frames = np.arange(n)
    sampled = np.arange(len(strip)) * stride
    known = np.isfinite(strip)
    if known.any():
        inside = (frames >= sampled[known].min()) & (frames <= sampled[known].max())
        match[inside] = np.interp(frames[inside], sampled[known], strip[known])
    closed = _closed(motion, first, last, closure, max(2, round(seam_s * fps)))
    planted = np.array(plants.planted[first : last + 1])
    planted[-1] = planted[0]
    return Loop(
        closed,
        Footplants(planted),
        (first, last),
        match,
        float(np.sqrt(grid.cost[stop, start])),
        closure,
    )


def _best_cycle(
    cost: FloatArray, shortest: float, longest: float, half: int
) -> tuple[int, int, FloatArray]:
    """First and last sample of the best cycle, and the best closing cost from every start."""
    n = len(cost)
    strip = np.full(n, np.nan)
    best, span = np.inf, (0, n - 1)
    for i in range(n):
        stops = np.arange(i + int(np.ceil(shortest)), min(n, i + int(longest) + 1))
        if not len(stops):
            continue
        j = stops[np.argmin(cost[i, stops])]
        # Windows cut by the clip's ends compare repeated frames and look better than they are.
        cut = max(0, half - i) + max(0, j + half - (n - 1))
        value = float(np.sqrt(cost[i, j]))
        strip[i] = value
        if value * (1.0 + 0.1 * cut) < best:
            best, span = value * (1.0 + 0.1 * cut), (i, int(j))
    return *span, strip


def _closed(motion: Motion, first: int, last: int, closure: PlanarTransform, seam: int) -> Motion:
    """The cycle with its end led to its beginning."""
    cycle = motion[first : last + 1]
    goal = transform(motion[first : first + 1], closure)
    n = cycle.n_frames
    left = ease((n - 1 - np.arange(n)) / min(seam, n - 1))  # 0 far from the end, 1 at it
    turns = quat.log(quat.multiply(goal.local_quats[0], quat.conjugate(cycle.local_quats[-1])))
    quats = quat.multiply(quat.exp(left[:, None, None] * turns), cycle.local_quats)
    gap = goal.root_positions[0] - cycle.root_positions[-1]
    moving = cycle.joint_translations
    if moving is not None:
        slide = motion.joint_translations[first] - moving[-1]  # type: ignore[index]
        moving = moving + left[:, None, None] * slide
    return cycle.replace(
        root_positions=cycle.root_positions + left[:, None] * gap,
        local_quats=quats,
        joint_translations=moving,
        name=f"{motion.name} loop".strip(),
    )
