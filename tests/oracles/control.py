"""A blend steered live."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.control import EASE_S, SEAM_S, Pose, _closures
from motionloom.blending.cycle import find_cycle
from motionloom.blending.evaluate import Group, mixed_translations, plants_along
from motionloom.registration.curve import RegistrationCurve
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform, ease
from tests.oracles import group, pose, walk


class Controller:
    """The plain form of :class:`Controller`, for curves that are played round or once."""

    def __init__(
        self,
        curve: RegistrationCurve,
        *,
        loop: bool = True,
        start: PlanarTransform | None = None,
        backwards: bool = False,
        euler: bool = False,
        ease_s: float = EASE_S,
    ) -> None:
        self.ease_frames = ease_s * curve.motions[0].fps
        self.weights: list[FloatArray] = []
        self.asked: list[FloatArray] = []
        self.jumped: tuple[int, FloatArray] | None = None
        self.curve, self.loop, self.euler, self.done = curve, loop, euler, False
        self.group = Group(curve)
        self.sign = -1.0 if backwards else 1.0
        self.at: float | None = None
        self.place = start or PlanarTransform.identity()
        low, high = find_cycle(curve) if loop else curve.u_range
        cycle = (high, low) if backwards else (low, high)
        self.begin, self.end = (u / curve.frames_per_knot for u in cycle)
        self.closures = PlanarTransform(*_closures(curve, cycle).T)
        self.seam: tuple[FloatArray, float, FloatArray | float] | None = None
        self.since = 0

    def step(self, asked: FloatArray) -> Pose:
        w = self._weighed(np.asarray(asked, dtype=np.float64))
        wrapped = self._advance(w)
        now = group.stand(self.curve, np.array([self.at]))
        frames, theta, (slide,), (roots,) = now.frames, now.theta, now.slide, now.roots
        align = PlanarTransform(theta[0], slide[:, 0], slide[:, 1])
        if hasattr(self, "align"):
            before = self.align @ self.closures if wrapped else self.align
            self.place = walk.place_frame(before, align, roots[:, ::2], w, self.place)
        self.align = align
        quats = self._mixed(frames, w, theta + self.place.theta)[0]
        root = self.place.apply(w @ roots)
        moved = mixed_translations(self.curve, frames, w[None])
        moved = None if moved is None else moved[0]
        if self.seam is not None:
            left = float(ease(self.since / (SEAM_S * self.curve.motions[0].fps)))
            turns, lift, shifts = self.seam
            turns = np.concatenate([quat.rotate(self.place.quat(), turns[:1]), turns[1:]])
            quats = quat.multiply(quat.exp(left * turns), quats)
            root = root + np.array([0.0, left * lift, 0.0])
            moved = None if moved is None else moved + left * shifts
            self.since += 1
        u = np.array([self.at * self.curve.frames_per_knot])
        return Pose(root, quats, plants_along(self.curve, u, w[None]).planted[0], (), moved)

    def _weighed(self, asked: FloatArray) -> FloatArray:
        """The weights of a frame: what they last jumped by is taken off, less and less."""
        step = len(self.asked)
        if step and np.abs(asked - self.asked[-1]).max() * self.ease_frames > 1.0:
            self.jumped = step, self.weights[-1] - asked
        w = asked
        if self.jumped is not None:
            since, by = self.jumped
            w = asked + float(ease((step + 1 - since) / self.ease_frames)) * by
        self.asked.append(asked)
        self.weights.append(w)
        return w

    def _advance(self, w: FloatArray) -> bool:
        if self.at is None:
            self.at = self.curve.times.u_end if self.sign < 0 else 0.0
            return False
        points = self.curve.times.points
        following = walk.step_parameter(points, w, self.at, self.sign, self.euler)
        past = self.sign * (following - self.end)
        if past <= 1e-9:
            self.at = following
            return False
        if not self.loop:
            self.at, self.done = self.end, True
            return False
        length = abs(self.end - self.begin)
        # What is left of the frame is gone from the start.
        part = self.sign * min(past / abs(following - self.at), 1.0)
        over = walk.step_parameter(points, w, self.begin, part, self.euler)
        self.at = self.begin + self.sign * min(max(self.sign * (over - self.begin), 0.0), length)
        ends = group.stand(self.curve, np.array([self.end, self.begin]))
        turned = w @ (ends.theta[0] + self.closures.theta - ends.theta[1])
        headings = ends.theta - np.array([[turned], [0.0]])
        last, first = self._mixed(ends.frames, np.tile(w, (2, 1)), headings)
        jump = quat.log(quat.multiply(last, quat.conjugate(first)))
        moved = mixed_translations(self.curve, ends.frames, np.tile(w, (2, 1)))
        shifts = 0.0 if moved is None else moved[0] - moved[1]
        self.seam = jump, float(w @ (ends.roots[0, :, 1] - ends.roots[1, :, 1])), shifts
        self.since = 0
        return True

    def _mixed(self, frames: FloatArray, w: FloatArray, headings: FloatArray) -> FloatArray:
        quats, starts = self.group.quats, self.group.starts
        return pose.mix_poses(quats, starts, frames, np.atleast_2d(w), headings)
