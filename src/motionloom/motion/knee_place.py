"""Where a knee goes: scalar kernels that every leg solver shares.

A knee bends to one side only. Solvers that keep the side of the current pose turn a leg over in one
frame where it is captured straight or bent backwards; this one takes the side from a pole.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["knee_place", "knee_span"]

LATERAL = 0.05
"""Part of the thigh. When a leg bends more, a knee farther than this from the line between hip and
ankle moves sideways in proportion; a nearer one stays about as far to the side as it is."""
CLOSEST = float(np.cos(np.radians(160.0)))
"""Cosine of the largest flexion of a knee."""


@njit(cache=True, error_model="numpy", inline="always")
def knee_span(before: float, wanted: float, thigh: float, shank: float, soft: float) -> float:
    """Distance from hip to ankle as wanted, but within what the knee allows, metres.

    The span eases into full stretch, and into the closest fold, over ``soft`` (a part of the
    leg's length). A leg that is stretched or folded further already may stay so.
    """
    full = thigh + shank
    width = soft * full
    closest = np.sqrt(max(thigh * thigh + shank * shank + 2.0 * thigh * shank * CLOSEST, 0.0))
    high = max(before, full - width)
    low = min(before, closest + width)
    span = wanted
    if wanted > high:
        left = full - high
        span = high if left < 1e-9 else high + left * (1.0 - np.exp((high - wanted) / left))
    elif wanted < low:
        left = low - closest
        span = low if left < 1e-9 else low - left * (1.0 - np.exp((wanted - low) / left))
    return span


@njit(cache=True, error_model="numpy", inline="always")
def knee_place(
    tx: float, ty: float, tz: float,
    ax: float, ay: float, az: float,
    kx: float, ky: float, kz: float,
    px: float, py: float, pz: float,
    thigh: float, shank: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Where a knee goes when its ankle goes to another place; always on the side of the pole.

    The knee's offset from the line between hip and ankle has a part to the side and a part along
    the pole. The side part swings with the line and keeps its size (in proportion where the leg
    is bent). The part along the pole takes up the rest and is never negative. So the knee depends
    continuously on every argument, also where the leg is straight or bent backwards, and an ankle
    that stays leaves a healthy knee where it is.

    Parameters
    ----------
    tx, ty, tz
        Ankle wanted, relative to the hip, metres; its distance comes from :func:`knee_span`.
    ax, ay, az, kx, ky, kz
        Ankle and knee now, relative to the hip, metres.
    px, py, pz
        Pole: the direction in which the knee points, square to the thigh (:class:`Knee`).
    thigh, shank
        Lengths, metres.

    Returns
    -------
    nx, ny, nz
        New knee, relative to the hip, metres.
    """
    before = max(np.sqrt(ax * ax + ay * ay + az * az), 1e-12)
    span = max(np.sqrt(tx * tx + ty * ty + tz * tz), 1e-12)
    ax, ay, az = ax / before, ay / before, az / before
    ex, ey, ez = tx / span, ty / span, tz / span
    along = kx * ax + ky * ay + kz * az
    # Forwards: square to the line, in the plane of thigh and pole.
    side = px * ax + py * ay + pz * az
    fx, fy, fz = along * px - side * kx, along * py - side * ky, along * pz - side * kz
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    if size < 1e-9:  # no pole: the knee's own side
        fx, fy, fz = kx - along * ax, ky - along * ay, kz - along * az
        size = max(np.sqrt(fx * fx + fy * fy + fz * fz), 1e-12)
    fx, fy, fz = fx / size, fy / size, fz / size
    lateral = kx * (ay * fz - az * fy) + ky * (az * fx - ax * fz) + kz * (ax * fy - ay * fx)
    now = np.sqrt(max(thigh * thigh - along * along, lateral * lateral))
    down = (thigh * thigh - shank * shank + span * span) / (2.0 * span)
    out = np.sqrt(max(thigh * thigh - down * down, 0.0))
    rest = LATERAL * thigh
    lateral *= out / max(now, 1e-12) if out < now else (out + rest) / (now + rest)
    forward = np.sqrt(max(out * out - lateral * lateral, 0.0))
    # The shortest turn of the line carries its sides along.
    turned = (fx * ex + fy * ey + fz * ez) / max(1.0 + ax * ex + ay * ey + az * ez, 1e-9)
    fx, fy, fz = fx - turned * (ax + ex), fy - turned * (ay + ey), fz - turned * (az + ez)
    return (
        down * ex + forward * fx + lateral * (ey * fz - ez * fy),
        down * ey + forward * fy + lateral * (ez * fx - ex * fz),
        down * ez + forward * fz + lateral * (ex * fy - ey * fx),
    )
