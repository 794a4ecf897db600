"""control(): a blend steered live, one frame a call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray, flag, of_kind
from motionloom._records import one_line, record
from motionloom.blending.cycle import find_cycle
from motionloom.blending.group import Group
from motionloom.blending.pose import mix_poses
from motionloom.blending.walk import place_frame, step_parameter
from motionloom.blending.weights import checked_weights, ease
from motionloom.errors import ArrayError
from motionloom.motion.contacts import KINDS
from motionloom.motion.facing import facing
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve, roots_at
from motionloom.rotation.planar import PlanarTransform

__all__ = ["Controller", "Pose", "control"]

SEAM_S = 0.25
"""Seconds over which the jump from a curve's end to its start is eased away."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Pose:
    """One frame of a live motion."""

    root_position: FloatArray
    """Metres, world. (3,)"""
    local_quats: FloatArray
    """(J, 4)"""
    planted: BoolArray
    """Left heel, left toe, right heel, right toe. (4,)"""


def control(
    curve: RegistrationCurve,
    *,
    loop: bool = True,
    start: PlanarTransform | None = None,
    backwards: bool = False,
    euler: bool = False,
) -> Controller:
    """A live blend: every call of ``step`` takes weights and gives the next frame.

    Parameters
    ----------
    curve
        K examples.
    loop
        Play the curve round: between the two places on it where all examples are most alike, and
        placed where it ended. Else the last pose is held and ``done`` becomes true.
    start
        Where the first frame stands; by default the reference stays where it is.
    backwards
        Play from the curve's end to its start. A loop then jumps from its start to its end.
    euler
        Advance along the curve by equation 7 of [KG03]_ instead of by exact votes.

    Examples
    --------
    >>> from motionloom import register, synthetic
    >>> live = control(register([synthetic.clip("walk", turn=t).motion for t in (-0.8, 0.8)]))
    >>> live.step([0.2, 0.8]).local_quats.shape[1]
    4
    """
    of_kind(curve, RegistrationCurve, "curve")
    if start is not None:
        of_kind(start, PlanarTransform, "start")
    loop, backwards, euler = flag(loop, "loop"), flag(backwards, "backwards"), flag(euler, "euler")
    return Controller(curve, loop=loop, start=start, backwards=backwards, euler=euler)


class Controller:
    """The state of a live blend; made by :func:`control`."""

    def __init__(
        self,
        curve: RegistrationCurve,
        *,
        loop: bool,
        start: PlanarTransform | None,
        backwards: bool = False,
        euler: bool = False,
    ) -> None:
        self.curve = curve
        self.loop = loop
        self.done = False
        self._euler = euler
        self._direction = -1.0 if backwards else 1.0
        self._at = curve.times.u_end if backwards else 0.0
        self._begun = False
        self._placement = PlanarTransform.identity() if start is None else start
        self._last: tuple[FloatArray, FloatArray] | None = None
        self._group = Group(curve)
        low, high = find_cycle(curve) if loop else curve.u_range
        cycle = (high, low) if backwards else (low, high)  # in the order of play
        self._from, self._to = (u / curve.frames_per_knot for u in cycle)
        self._closures = _closures(curve, cycle)
        self._ends = self._group.at(np.array([self._to, self._from]))
        self._seam: tuple[FloatArray, float] | None = None
        self._since_seam = 0
        matched = [
            (match.intervals, i) for i, kind in enumerate(KINDS) for match in curve.matches[kind]
        ]
        n_motions = len(curve.motions)
        self._spans = np.array([m for m, _ in matched], dtype=np.float64).reshape(-1, n_motions, 2)
        self._kinds = np.array([i for _, i in matched], dtype=np.int64)

    def __repr__(self) -> str:
        return one_line(f"Controller({self.curve!r}, u={self.u:.1f})")

    @property
    def u(self) -> float:
        """Parameter of the frame given last, average frames."""
        return self._at * self.curve.frames_per_knot

    def step(self, weights: npt.ArrayLike) -> Pose:
        """The next frame of the blend."""
        w = checked_weights(weights, len(self.curve.motions))
        if w.ndim != 1:
            raise ArrayError(
                f"`weights` must be one row for one frame, got {len(w)} rows. Call `step` once "
                "per frame."
            )
        wrapped = False
        if not self._begun:
            self._begun = True
        else:
            wrapped = self._advance(w)
        return self._pose(w, wrapped)

    def _advance(self, w: FloatArray) -> bool:
        """Move on by one frame; whether that jumped from the end of a loop to its start."""
        sign, end = self._direction, self._to
        points = self.curve.times.points
        following = step_parameter(points, w, self._at, sign, self._euler)
        past = sign * (following - end)
        if past <= 1e-9:
            self._at = following
            return False
        if not self.loop:
            self._at, self.done = end if sign * (end - self._at) > 0.0 else self._at, True
            return False
        length = sign * (end - self._from)
        self._at = self._from + sign * min(past, length)
        self._open_seam(w)
        return True

    def _pose(self, w: FloatArray, wrapped: bool) -> Pose:
        frames, theta, slide, roots = (rows[0] for rows in self._group.at(np.array([self._at])))
        if self._last is not None:
            last_theta, last_slide = self._last
            if wrapped:
                last_theta, last_slide = _joined(last_theta, last_slide, self._closures)
            p = self._placement
            self._placement = PlanarTransform(
                *place_frame(
                    last_theta, last_slide, theta, slide, roots[:, ::2], w,
                    float(p.theta), float(p.x0), float(p.z0),
                )
            )  # fmt: skip
        self._last = (theta, slide)
        heading = float(self._placement.theta)
        quats = self._mixed(frames, w, heading + theta)
        p = self._placement
        position = _carried(heading, float(p.x0), float(p.z0), w @ roots)
        return self._eased(position, quats, w)

    def _mixed(self, frames: FloatArray, w: FloatArray, headings: FloatArray) -> FloatArray:
        group = self._group
        quats, _ = mix_poses(group.quats, group.starts, frames[None], w[None], headings[None])
        return np.asarray(quats[0])

    def _eased(self, position: FloatArray, quats: FloatArray, w: FloatArray) -> Pose:
        if self._seam is not None:
            turns, lift = self._seam
            left = float(ease(self._since_seam / (SEAM_S * self.curve.motions[0].fps)))
            self._since_seam += 1
            if left <= 0.0:
                self._seam = None
            else:
                # The root's own offset is seen from its heading.
                seen = np.array(turns)
                seen[0] = _carried(float(self._placement.theta), 0.0, 0.0, turns[0])
                _turn(quats, left * seen)
                position = position + np.array([0.0, left * lift, 0.0])
        return Pose(position, quats, self._planted(w))

    def _open_seam(self, w: FloatArray) -> None:
        """What the pose jumps by from the curve's end to its start, to be eased away.

        Both are seen from the heading of the start: the end's is turned back by what the motions
        turned in between.
        """
        group, ends = self._group, self._ends
        headings = np.array(ends.theta)
        headings[0] -= float(w @ (ends.theta[0] + self._closures[:, 0] - ends.theta[1]))
        poses, _ = mix_poses(group.quats, group.starts, ends.frames, np.array([w, w]), headings)
        self._seam = (_jump(poses), float(w @ (ends.roots[0, :, 1] - ends.roots[1, :, 1])))
        self._since_seam = 0

    def _planted(self, w: FloatArray) -> BoolArray:
        planted = np.zeros(len(KINDS), dtype=bool)
        _hold(self._spans, self._kinds, w, self.u, planted)
        return planted


@njit(cache=True, error_model="numpy")
def _carried(theta: float, x0: float, z0: float, point: FloatArray) -> FloatArray:
    """One point (3,) turned and shifted on the ground, as PlanarTransform does with many."""
    c, s = np.cos(theta), np.sin(theta)
    x, z = point[0], point[2]
    return np.array([c * x + s * z + x0, point[1], c * z - s * x + z0])


@njit(cache=True, error_model="numpy")
def _joined(
    theta: FloatArray, slide: FloatArray, closures: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Alignments (K,), (K, 2) with each motion's closure (K, 3) done first."""
    turned, slid = np.zeros(len(theta)), np.zeros((len(theta), 2))
    for k in range(len(theta)):
        c, s = np.cos(theta[k]), np.sin(theta[k])
        x, z = closures[k, 1], closures[k, 2]
        turned[k] = theta[k] + closures[k, 0]
        slid[k, 0] = c * x + s * z + slide[k, 0]
        slid[k, 1] = c * z - s * x + slide[k, 1]
    return turned, slid


@njit(cache=True, error_model="numpy")
def _turn(quats: FloatArray, turns: FloatArray) -> None:
    """Turn every joint (J, 4) by its rotation vector (J, 3), in place."""
    for j in range(len(quats)):
        x, y, z = turns[j, 0], turns[j, 1], turns[j, 2]
        angle = np.sqrt(x * x + y * y + z * z)
        scale = np.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
        a, b, c, d = np.cos(0.5 * angle), scale * x, scale * y, scale * z
        w, x, y, z = quats[j, 0], quats[j, 1], quats[j, 2], quats[j, 3]
        quats[j, 0] = a * w - b * x - c * y - d * z
        quats[j, 1] = a * x + b * w + c * z - d * y
        quats[j, 2] = a * y - b * z + c * w + d * x
        quats[j, 3] = a * z + b * y - c * x + d * w


@njit(cache=True, error_model="numpy")
def _jump(poses: FloatArray) -> FloatArray:
    """Rotation vectors (J, 3) that turn the second of two poses (2, J, 4) into the first."""
    n = poses.shape[1]
    out = np.zeros((n, 3))
    for j in range(n):
        a, b, c, d = poses[0, j, 0], poses[0, j, 1], poses[0, j, 2], poses[0, j, 3]
        p, q, r, s = poses[1, j, 0], -poses[1, j, 1], -poses[1, j, 2], -poses[1, j, 3]
        w = a * p - b * q - c * r - d * s
        x = a * q + b * p + c * s - d * r
        y = a * r - b * s + c * p + d * q
        z = a * s + b * r - c * q + d * p
        sine = np.sqrt(x * x + y * y + z * z)
        scale = 2.0 * np.arctan2(sine, abs(w)) / sine if sine > 1e-12 else 2.0
        if w < 0.0:
            scale = -scale
        out[j, 0], out[j, 1], out[j, 2] = scale * x, scale * y, scale * z
    return out


@njit(cache=True, error_model="numpy")
def _hold(
    spans: FloatArray, kinds: IntArray, weights: FloatArray, u: float, planted: BoolArray
) -> None:
    """Set ``planted`` where a matched plant, mixed by the weights, holds at ``u``."""
    for i in range(len(spans)):
        low, high = 0.0, 0.0
        for k in range(len(weights)):
            low += weights[k] * spans[i, k, 0]
            high += weights[k] * spans[i, k, 1]
        if low - 1e-9 <= u <= high + 1e-9:
            planted[kinds[i]] = True


def _closures(curve: RegistrationCurve, cycle: tuple[float, float]) -> FloatArray:
    """For every motion the transform from its pose where a cycle starts to where it ends.

    ``cycle`` is in the order of play. Turn, x and z. (K, 3).
    """
    ends = curve.frames(np.array(cycle))  # (2, K)
    rows = np.zeros((len(curve.motions), 3))
    for k, motion in enumerate(curve.motions):
        first, last = (_planar_pose(motion, float(f)) for f in ends[:, k])
        closure = last @ first.inverse()
        rows[k] = float(closure.theta), float(closure.x0), float(closure.z0)
    return rows


def _planar_pose(motion: Motion, frame: float) -> PlanarTransform:
    """Where the body is and where it faces, on the ground."""
    at = round(frame)
    low, high = max(0, at - 1), min(motion.n_frames, at + 2)
    heading = float(np.median(facing(motion[low:high])))
    root = roots_at(motion, np.asarray(frame))
    return PlanarTransform(heading, float(root[0]), float(root[2]))
