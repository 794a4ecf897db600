"""Feet that turn abruptly in the capture while one of their points is held."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.rotation import quat
from tests.oracles.blend_off import spread_smoothly
from tests.oracles.calm import share
from tests.oracles.quat import multiply, rotate

OVER_OWN, NEARBY = 1.5, 5.0


def calm_twitches(
    ankle: FloatArray,
    held: BoolArray,
    places: FloatArray,
    levers: FloatArray,
    *,
    free_change: float,
    stop: float,
) -> tuple[FloatArray, FloatArray]:
    """Turns of a foot (F, 4) that calm its ankle, and its levers after them (F, 2, 3)."""
    n, turns, levers = len(ankle), np.tile(quat.IDENTITY, (len(ankle), 1)), np.array(levers)
    lying = held[:, 0] & held[:, 1]
    for k in range(2):
        half = 1
        while half <= min(stop, n):
            jumps = _jumps(ankle, held[:, k], places[:, k], levers[:, k], free_change, stop)
            if not len(jumps):
                break
            part = share(np.unique([jumps - 1, jumps]), n, half + 1)
            part[lying] = 0.0
            means = spread_smoothly(levers[:, k], half)
            for f in np.flatnonzero(part):
                own = levers[f, k]
                turn = quat.between_vectors(own, own + part[f] * (means[f] - own))
                levers[f] = rotate(turn, levers[f])
                turns[f] = multiply(turn, turns[f])
            half *= 2
    return turns, levers


def _jumps(
    ankle: FloatArray,
    held: BoolArray,
    places: FloatArray,
    lever: FloatArray,
    free_change: float,
    stop: float,
) -> FloatArray:
    """Frames in which the ankle of a held point would jump."""
    n, around = len(ankle), int(min(NEARBY * stop, len(ankle)))
    own, jump = _second(ankle), _second(lever)
    jumps = []
    for f in range(1, n - 1):
        stands = held[f - 1 : f + 2].all() and (places[f - 1 : f + 2] == places[f]).all()
        most = own[max(0, f - around) : f + around + 1].max()
        if stands and jump[f] > free_change and most < jump[f] / OVER_OWN:
            jumps.append(f)
    return np.array(jumps, dtype=np.int64)


def _second(track: FloatArray) -> FloatArray:
    """Size of the second difference of a track (F, 3) around each frame; none at the ends. (F,)."""
    sizes = np.zeros(len(track))
    if len(track) > 2:
        sizes[1:-1] = np.linalg.norm(track[2:] - 2.0 * track[1:-1] + track[:-2], axis=-1)
    return sizes
