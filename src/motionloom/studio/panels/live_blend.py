"""A live blend: weights or parameters in, one pose out; the weights can be recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from motionloom._arrays import FloatArray
from motionloom.blending.control import Controller
from motionloom.blending.weights import checked_weights
from motionloom.errors import ArrayError
from motionloom.studio.clips.matches import Matched
from motionloom.studio.clips.point_rig import BOUND_FRAMES, bind_points
from motionloom.studio.messages.answers import Answer, LiveStarted
from motionloom.studio.messages.wire import encode_pose
from motionloom.studio.panels.quick_weights import QuickWeights

FOLLOWS_S = 0.12
"""Time constant with which the weights follow the pointer, so that a click causes no jump."""
MOST_AT_ONCE = 16
MOST_RECORDED_S = 60.0


class LiveBlend:
    """A live blend of matched clips."""

    def __init__(
        self,
        number: int,
        controller: Controller,
        matched: Matched,
        space: QuickWeights | None,
    ) -> None:
        self.number, self.controller, self.frame = number, controller, 0
        self.fps = controller.curve.motions[0].fps
        self.recorded: list[list[float]] = []
        self.looks, self._rig = bind_points(matched.motions[0][:BOUND_FRAMES], matched.body)
        self._space = space
        self._weights: FloatArray | None = None
        self._asked: tuple[dict[str, float], FloatArray] | None = None

    def answer(self) -> Answer:
        """How to draw it."""
        return Answer(LiveStarted(self.number, self.fps, self.looks))

    def step(
        self,
        weights: Sequence[float] | None,
        parameters: Mapping[str, float] | None = None,
        *,
        frames: int = 1,
        record: bool = False,
    ) -> bytes:
        """The message with the next frame, or with a later one."""
        if not 1 <= frames <= MOST_AT_ONCE:
            raise ArrayError(f"`frames` must be 1 to {MOST_AT_ONCE}, got {frames}.")
        target = self._target(weights, parameters)
        now = target if self._weights is None else self._weights
        near = 1.0 - math.exp(-1.0 / (FOLLOWS_S * self.fps))
        for _ in range(frames):
            now = now + near * (target - now)
            shares = tidy_weights(now)
            if record and len(self.recorded) < MOST_RECORDED_S * self.fps:
                self.recorded.append(shares)
            pose = self.controller.step(shares)
        self._weights = now
        self.frame += frames
        points = self._rig.points(pose.root_position, pose.local_quats, pose.joint_translations)
        return encode_pose(self.number, self.frame, pose.planted, points)

    def _target(
        self, weights: Sequence[float] | None, parameters: Mapping[str, float] | None
    ) -> FloatArray:
        if (weights is None) == (parameters is None):
            raise ArrayError("A step must have weights or parameters, one of them.")
        n = len(self.controller.curve.motions)
        if weights is not None:
            if len(weights) != n or abs(sum(weights) - 1.0) > 1e-3:
                raise ArrayError(f"Weights must be {n} numbers that sum to 1, got {weights}.")
            return checked_weights(weights, n)  # before the character moves
        wanted = dict(parameters or {})
        if self._space is None:
            raise ArrayError("These clips have the same turn and speed. Steer them by weights.")
        # A resting pointer repeats its request, and weights take longer to find than a pose.
        if self._asked is None or self._asked[0] != wanted:
            self._asked = wanted, self._space.find(wanted)
        return self._asked[1]


def tidy_weights(weights: Sequence[float] | FloatArray) -> list[float]:
    """Weights to four decimals that sum to exactly one: those shown are those used."""
    whole = [round(10_000 * float(w)) for w in weights]
    if whole:
        largest = max(range(len(whole)), key=lambda k: whole[k])
        whole[largest] += 10_000 - sum(whole)
    return [w / 10_000 for w in whole]
