"""Where a frame came from, as a colour: amber is clip A, blue clip B, mixed where they blend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.transition import Transition
from motionloom.drawing.charts import example_colour
from motionloom.drawing.theme import AMBER, BLUE, Rgb, mix
from motionloom.rotation.easing import ease


def tint_transition(joined: Transition, *, first: int = 0) -> Callable[[int], Rgb]:
    """The colour of every frame of a transition, or of a part of it that starts at ``first``.

    Examples
    --------
    >>> from motionloom import synthetic, transition
    >>> joined = transition(*(synthetic.clip(kind).motion for kind in ("walk", "jog")))
    >>> tint = tint_transition(joined)
    >>> tint(0) == AMBER, tint(joined.motion.n_frames - 1) == BLUE
    (True, True)
    """
    begin, end = joined.span

    def tint(frame: int) -> Rgb:
        of_a = float(ease((frame + first - begin) / max(end - begin, 1)))
        return mix(BLUE, AMBER, of_a)

    return tint


def tint_by_weights(weights: FloatArray) -> Callable[[int], Rgb]:
    """The colours of the examples mixed by the weights (F, K) of each frame."""
    colours = np.array([example_colour(k) for k in range(weights.shape[1])])

    def tint(frame: int) -> Rgb:
        parts = np.clip(weights[min(frame, len(weights) - 1)], 0.0, None)
        red, green, blue = (round(c) for c in (parts / parts.sum()) @ colours)
        return int(red), int(green), int(blue)

    return tint
