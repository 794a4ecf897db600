"""Rotations: unit quaternions, smooth steps from one to the next, and turns about the up axis.

Quaternions are (w, x, y, z): Hamilton product, active rotations, leading axes broadcast.
``q_world_child = multiply(q_world_parent, q_parent_child)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record
from motionloom.errors import ArrayError

IDENTITY: FloatArray = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False

# Below this half-angle sin(x)/x is 1 to the last bit, so the series has one term.
_TINY = 1e-9

_multiply = kernel("ml_quaternion_multiply")
_rotate = kernel("ml_quaternion_rotate")
_angles = kernel("ml_quaternion_angles")
_sin, _cos, _arctan2 = kernel("ml_sin_of"), kernel("ml_cos_of"), kernel("ml_atan2_of")
_slerp = kernel("ml_quaternion_slerp")
_turns = kernel("ml_quaternion_turns")


def _alike(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both in one shape, as the core takes them."""
    if np.shape(a) != np.shape(b):
        a, b = np.broadcast_arrays(a, b)
    return np.ascontiguousarray(a, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Hamilton product ``a * b``: turn by ``b`` first, then by ``a``. Shapes (..., 4)."""
    a, b = _alike(a, b)
    out = np.zeros(a.shape)
    _multiply(out.size // 4, a, b, out)
    return out


def conjugate(q: FloatArray) -> FloatArray:
    """The opposite rotation. Shape (..., 4)."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Vectors ``v`` (..., 3) turned by unit quaternions ``q`` (..., 4)."""
    shape = np.shape(q)[:-1]
    if not shape and np.shape(v) == (3,):
        return _rotate_one(np.asarray(q), np.asarray(v))
    if np.ndim(v) == 1 and shape:  # one vector turned by many: quicker than the general case
        one, v = v, np.zeros((*shape, 3))
        v[...] = one
    elif np.shape(v)[:-1] != shape:
        shape = np.broadcast_shapes(shape, np.shape(v)[:-1])
        q, v = np.broadcast_to(q, (*shape, 4)), np.broadcast_to(v, (*shape, 3))
    q, v = np.ascontiguousarray(q, dtype=np.float64), np.ascontiguousarray(v, dtype=np.float64)
    out = np.zeros((*shape, 3))
    _rotate(out.size // 3, q, v, out)
    return out


def _rotate_one(q: FloatArray, v: FloatArray) -> FloatArray:
    """A single vector turned, in the order of the core's sums: a call of it takes longer."""
    w, x, y, z = q.tolist()
    a, b, c = v.tolist()
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.array(
        [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
    )


def normalize(q: FloatArray) -> FloatArray:
    """``q`` at unit length; a zero quaternion becomes the identity. Shape (..., 4)."""
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(norm > 0.0, q / np.where(norm > 0.0, norm, 1.0), IDENTITY)


def from_axis_angle(axis: FloatArray, angle: FloatArray | float) -> FloatArray:
    """Rotation by ``angle`` radians about unit ``axis`` (..., 3), right-handed."""
    axis = np.asarray(axis, dtype=np.float64)
    half = 0.5 * np.asarray(angle, dtype=np.float64)
    shape = np.broadcast_shapes(axis.shape[:-1], half.shape)
    sin, cos = (np.broadcast_to(each, shape)[..., None] for each in _sin_cos(half))
    return np.concatenate([cos, sin * axis], axis=-1)


def exp(v: FloatArray) -> FloatArray:
    """Unit quaternion of a rotation vector (axis times angle, radians). Shape (..., 3)."""
    half = 0.5 * np.linalg.norm(v, axis=-1, keepdims=True)
    sin, cos = _sin_cos(half)
    scale = 0.5 * np.where(half > _TINY, sin / np.where(half > _TINY, half, 1.0), 1.0)
    return np.concatenate([cos, scale * v], axis=-1)


def _sin_cos(angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sines and cosines, with the same bits on every machine."""
    angles = np.asarray(angles, order="C")
    sin, cos = np.zeros(angles.shape), np.zeros(angles.shape)
    _sin(angles.size, angles, sin)
    _cos(angles.size, angles, cos)
    return sin, cos


def log(q: FloatArray) -> FloatArray:
    """Rotation vector of a unit quaternion, the short way round. Shape (..., 4) to (..., 3)."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sin = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    cos, half = np.ascontiguousarray(q[..., :1]), np.zeros(sin.shape)
    _arctan2(half.size, np.ascontiguousarray(sin), cos, half)
    return q[..., 1:] * np.where(sin > _TINY, 2.0 * half / np.where(sin > _TINY, sin, 1.0), 2.0)


def turn(a: FloatArray, b: FloatArray) -> FloatArray:
    """Rotation vector from ``a`` to ``b`` in the frame of ``a``, the short way. Shape (..., 3)."""
    return log(from_to(a, b))


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angle of the rotation from ``a`` to ``b``, radians in [0, pi]."""
    a, b = _alike(a, b)
    out = np.zeros(a.shape[:-1])
    _angles(out.size, a, b, out)
    return out


def turns(q: FloatArray, joints: Sequence[int] | None = None) -> FloatArray:
    """Angle of joints from each frame to the next, radians. Shapes (F, J, 4) to (F - 1, J)."""
    which = np.array(range(q.shape[1]) if joints is None else joints, dtype=np.int64)
    out = np.zeros((max(len(q) - 1, 0), len(which)))
    q = np.ascontiguousarray(q, dtype=np.float64)
    _turns(*q.shape[:2], q, len(which), which, out)
    return out


def from_to(a: FloatArray, b: FloatArray) -> FloatArray:
    """The rotation from ``a`` to ``b`` in the frame of ``a``: turned by it, ``a`` is ``b``."""
    return multiply(conjugate(a), b)


def slerp(a: FloatArray, b: FloatArray, t: FloatArray | float) -> FloatArray:
    """The rotation a part ``t`` of the short way from ``a`` to ``b``; ``t`` broadcasts."""
    t = np.asarray(t, dtype=np.float64)
    shape = np.broadcast_shapes(np.shape(a)[:-1], np.shape(b)[:-1], t.shape)
    a, b = _alike(np.broadcast_to(a, (*shape, 4)), b)
    out = np.zeros(a.shape)
    _slerp(out.size // 4, a, b, np.ascontiguousarray(np.broadcast_to(t, shape)), out)
    return out


def smoothed(
    q: FloatArray,
    frames: IntArray,
    around: tuple[IntArray, FloatArray],
    share: FloatArray,
    origin: FloatArray,
    allowed: FloatArray,
) -> FloatArray:
    """Some rotations drawn towards the mean of those around, but not far from where they were.

    Parameters
    ----------
    q : (F, ..., 4)
        All rotations.
    frames : (C,)
        Those that are smoothed.
    around
        The frames around each of them, and their weights in the mean. (C, K), (C, K).
    share
        Part of the way to the mean that they are drawn; broadcasts to (C, ...).
    origin : (C, ..., 4)
        Where they were at first.
    allowed
        Angle from there, radians, that is approached smoothly; broadcasts to (C, ...).
    """
    q, (near, weights) = make_continuous(q), around
    mean = np.einsum("fk,fk...->f...", weights, q[near])
    smooth = slerp(q[frames], normalize(mean), share)
    change = angle_between(origin, smooth) / allowed
    return slerp(origin, smooth, (1.0 + change**4) ** -0.25)


def make_continuous(q: FloatArray) -> FloatArray:
    """``q`` with signs chosen so that neighbours along the first axis never flip hemisphere.

    The first row keeps its sign. Shape (F, ..., 4).
    """
    if len(q) < 2:
        return np.array(q)
    flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
    if not flips.any():
        return np.array(q)
    sign = np.where(np.logical_xor.accumulate(flips, axis=0), -1.0, 1.0)
    out = np.array(q)
    out[1:] *= sign[..., None]
    return out


def between_vectors(a: FloatArray, b: FloatArray) -> FloatArray:
    """Smallest rotation that carries direction ``a`` onto direction ``b``. Shapes (..., 3).

    Opposite vectors have no smallest rotation; then some half turn about a perpendicular is given.
    A zero vector gives the identity.
    """
    a, b = np.broadcast_arrays(a, b)
    norm = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    valid = norm > 1e-300
    norm = np.where(valid, norm, 1.0)
    cos = np.clip(np.sum(a * b, axis=-1) / norm, -1.0, 1.0)
    cross = np.cross(a, b) / norm[..., None]
    q = np.concatenate([(1.0 + cos)[..., None], cross], axis=-1)
    opposite = np.linalg.norm(q, axis=-1) < 1e-7
    if np.any(opposite):
        smallest = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
        perpendicular = np.cross(a, smallest)
        length = np.linalg.norm(perpendicular, axis=-1, keepdims=True)
        perpendicular = perpendicular / np.where(length > 0.0, length, 1.0)
        half_turn = np.concatenate([np.zeros((*cos.shape, 1)), perpendicular], axis=-1)
        q = np.where(opposite[..., None], half_turn, q)
    return np.where(valid[..., None], normalize(q), IDENTITY)


def to_matrix(q: FloatArray) -> FloatArray:
    """Rotation matrices (..., 3, 3) that act on column vectors."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )


def from_matrix(m: FloatArray) -> FloatArray:
    """Unit quaternions of rotation matrices (..., 3, 3), w not negative."""
    m = np.asarray(m, dtype=np.float64)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Each row is 4 q_i q; the row with the largest q_i is the one to divide by.
    rows = np.stack(
        [
            np.stack(
                [
                    1 + xx + yy + zz,
                    m[..., 2, 1] - m[..., 1, 2],
                    m[..., 0, 2] - m[..., 2, 0],
                    m[..., 1, 0] - m[..., 0, 1],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 2, 1] - m[..., 1, 2],
                    1 + xx - yy - zz,
                    m[..., 0, 1] + m[..., 1, 0],
                    m[..., 0, 2] + m[..., 2, 0],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 0, 2] - m[..., 2, 0],
                    m[..., 0, 1] + m[..., 1, 0],
                    1 - xx + yy - zz,
                    m[..., 1, 2] + m[..., 2, 1],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 1, 0] - m[..., 0, 1],
                    m[..., 0, 2] + m[..., 2, 0],
                    m[..., 1, 2] + m[..., 2, 1],
                    1 - xx - yy + zz,
                ],
                axis=-1,
            ),
        ],
        axis=-2,
    )  # (..., 4, 4)
    diagonal = np.stack([rows[..., i, i] for i in range(4)], axis=-1)
    best = np.argmax(diagonal, axis=-1)
    q = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    q = normalize(q)
    return np.where(q[..., :1] < 0.0, -q, q)


def yaw(q: FloatArray) -> FloatArray:
    """Turn about +Y of the twist-swing split of ``q``, radians in (-pi, pi]."""
    return np.asarray(
        np.arctan2(
            2.0 * (q[..., 0] * q[..., 2] + q[..., 1] * q[..., 3]),
            1.0 - 2.0 * (q[..., 1] ** 2 + q[..., 2] ** 2),
        )
    )


def mean(q: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean of rotations along the second last axis, as Park et al. 2002 take it.

    ``q* exp(sum_k w_k log(q*^-1 q_k))`` about the unweighted mean ``q*``: exact at unit weights,
    equal to slerp for two, continuous in the weights, and defined for negative weights too.

    Parameters
    ----------
    q : (..., K, 4)
        Unit quaternions; their signs do not matter.
    weights : (..., K)
        Sum to one; may be negative.
    """
    outer = np.einsum("...ki,...kj->...ij", q, q)
    centre = np.linalg.eigh(outer)[1][..., -1]  # Markley's mean: needs no choice of signs
    for _ in range(2):  # then Karcher steps to the least-squares centre
        spread = log(multiply(conjugate(centre)[..., None, :], q))
        centre = multiply(centre, exp(spread.mean(axis=-2)))
    spread = log(multiply(conjugate(centre)[..., None, :], q))
    step = np.sum(np.asarray(weights)[..., None] * spread, axis=-2)
    return normalize(multiply(centre, exp(step)))


# --- Easing: the smooth steps with which weights, offsets and angles set in and run out


def smoothstep(u: FloatArray) -> FloatArray:
    """3u² - 2u³: from 0 to 1 over ``u`` in [0, 1], flat at both ends. The caller clips ``u``.

    Examples
    --------
    >>> smoothstep(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(u * u * (3.0 - 2.0 * u))


def smootherstep(u: FloatArray) -> FloatArray:
    """From 0 to 1 with no velocity and no acceleration at either end; constant outside [0, 1]."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 + u * (6.0 * u - 15.0)))


def ease(t: npt.ArrayLike, *, nested: bool = False) -> FloatArray:
    """2t³ - 3t² + 1: from 1 at ``t <= 0`` down to 0 at ``t >= 1``, flat at both ends.

    ``nested`` multiplies in the order of the C core (Horner). Both orders differ in the last bit,
    and results must not depend on which module works them out.
    """
    t = np.clip(np.asarray(t, dtype=np.float64), 0.0, 1.0)
    return np.asarray((2.0 * t - 3.0) * t * t + 1.0 if nested else 2.0 * t**3 - 3.0 * t**2 + 1.0)


# --- Planar transforms: a turn about the up axis and a slide on the ground


def wrap_angle(angle: FloatArray | float) -> FloatArray:
    """``angle`` in radians brought into (-pi, pi]."""
    return np.asarray(np.pi - (np.pi - np.asarray(angle, dtype=np.float64)) % (2.0 * np.pi))


@dataclass(frozen=True, slots=True, eq=False)
@record
class PlanarTransform:
    """Rigid motion of the ground plane; fields are scalars or arrays that broadcast.

    Attributes
    ----------
    theta : array | float
        Turn about +Y, radians; positive carries +Z towards +X.
    x0, z0 : array | float
        Shift along +X and +Z after the turn, metres.

    Examples
    --------
    >>> quarter = PlanarTransform(np.pi / 2, 1.0, 0.0)
    >>> quarter.apply(np.array([0.0, 0.9, 1.0])).round(6).tolist()
    [2.0, 0.9, 0.0]
    """

    theta: FloatArray | float
    x0: FloatArray | float
    z0: FloatArray | float

    @staticmethod
    def identity() -> PlanarTransform:
        """The transform that does not move anything.

        Returns
        -------
        PlanarTransform
            No turn and no shift.
        """
        return PlanarTransform(0.0, 0.0, 0.0)

    def apply(self, points: FloatArray) -> FloatArray:
        """World points (..., 3) turned and shifted; y untouched.

        Returns
        -------
        (..., 3) array
            The points afterwards.
        """
        if not isinstance(points, np.ndarray) or points.shape[-1:] != (3,):
            raise ArrayError(f"`points` must be an array of shape (..., 3), got {points!r:.80}.")
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        x, z = points[..., 0], points[..., 2]
        return np.stack(
            np.broadcast_arrays(
                cos * x + sin * z + self.x0, points[..., 1], cos * z - sin * x + self.z0
            ),
            axis=-1,
        )

    def quat(self) -> FloatArray:
        """The turn as a quaternion (..., 4).

        Returns
        -------
        (..., 4) array
            Quaternions about the up axis, w first.
        """
        return from_axis_angle(np.array([0.0, 1.0, 0.0]), self.theta)

    def inverse(self) -> PlanarTransform:
        """The transform that undoes this one.

        Returns
        -------
        PlanarTransform
            ``t.inverse().apply(t.apply(x))`` is ``x``.
        """
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        return PlanarTransform(
            -np.asarray(self.theta),
            -(cos * self.x0 - sin * self.z0),
            -(cos * self.z0 + sin * self.x0),
        )

    def __matmul__(self, other: PlanarTransform) -> PlanarTransform:
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        return PlanarTransform(
            np.asarray(self.theta) + other.theta,
            cos * other.x0 + sin * other.z0 + self.x0,
            cos * other.z0 - sin * other.x0 + self.z0,
        )
