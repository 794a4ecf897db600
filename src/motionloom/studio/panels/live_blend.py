"""A blend under the hand: weights or parameters in, one pose out, and what the hand did kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from motionloom._arrays import FloatArray
from motionloom.blending.blend_weights import checked_weights
from motionloom.blending.control import Controller
from motionloom.errors import ArrayError
from motionloom.studio.clips.matches import Matched
from motionloom.studio.clips.stage_clip import bind_points
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.wire import encode_pose
from motionloom.studio.panels.quick_weights import QuickWeights

__all__ = ["LiveBlend", "tidy_weights"]

FOLLOWS_S = 0.12
"""Seconds in which the weights come most of the way after the hand: a click is no jump."""
BOUND_FRAMES = 240
"""Of the first clip that the drawn body is tied to: each costs some 50 kB meanwhile."""
MOST_AT_ONCE = 16
MOST_RECORDED_S = 60.0


class LiveBlend:
    """A live blend of matched clips.

    Parameters
    ----------
    number
        The page's name for it.
    controller
        Gives the frames.
    matched
        Whose body is drawn.
    space
        Turns parameters into weights; None where the clips differ in none.
    """

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
        return Answer("control", {"live": self.number, "fps": self.fps, "looks": self.looks})

    def step(
        self,
        weights: Sequence[float] | None,
        parameters: Mapping[str, float] | None = None,
        *,
        frames: int = 1,
        record: bool = False,
    ) -> bytes:
        """The message with the next frame, or with one a few frames on."""
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
        points = self._rig.points(pose.root_position, pose.local_quats)
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
            return checked_weights(weights, n)  # before the character takes a step
        wanted = dict(parameters or {})
        if self._space is None:
            raise ArrayError("These clips turn alike and are as fast. Steer them by weights.")
        # A hand at rest asks the same again, and finding weights takes longer than a pose.
        if self._asked is None or self._asked[0] != wanted:
            self._asked = wanted, self._space.find(wanted)
        return self._asked[1]


def tidy_weights(weights: Sequence[float] | FloatArray) -> list[float]:
    """Weights to four decimals that sum to one exactly: what is told is what was used."""
    whole = [round(10_000 * float(w)) for w in weights]
    largest = max(range(len(whole)), key=lambda k: whole[k])
    whole[largest] += 10_000 - sum(whole)
    return [w / 10_000 for w in whole]
