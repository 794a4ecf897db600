"""Inertialization: switch at once, and let what does not fit fade, as games do.

The clip switched to is played as it is; the difference of the poses at the switch is added and
decays within a fraction of a second, either by a polynomial of fifth degree that starts with the
old velocity and ends in nothing (Bollo 2018), or like a critically damped spring (Holden 2023).
Nothing is ever blended, so it costs next to nothing; feet are not looked at.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, positive
from motionloom.errors import ArrayError, TableError
from motionloom.motion.motion import Footplants, Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames

__all__ = ["Decay", "MadeWindow", "decayed", "inertialized_transition", "played_window"]

Decay = Literal["quintic", "spring"]
"""How a difference fades."""

BLEND_S = 0.4
HALF_LIFE = 0.25
"""Of the blend's time: when half of a spring's difference is gone; 1 % is left at its end."""
HALVED = 1.678347
"""Where (1 + x) exp(-x) is one half."""
UP = np.array([0.0, 1.0, 0.0])


class MadeWindow(NamedTuple):
    """Frames of a transition, where its source stands."""

    heading: FloatArray
    """Radians. (L,)"""
    root_positions: FloatArray
    """Metres. (L, 3)"""
    local_quats: FloatArray
    """(L, J, 4)"""
    planted: BoolArray
    """Labels of the clip that is played: left heel, left ball, right heel, right ball. (L, 4)"""

    def motion(self, frames: Frames, *, name: str = "") -> Motion:
        """As a motion."""
        return Motion(frames.skeleton, self.root_positions, self.local_quats, frames.fps, name=name)

    def footplants(self) -> Footplants:
        """As footplants."""
        return Footplants(self.planted)


def decayed(
    offset: FloatArray,
    velocity: FloatArray,
    times: FloatArray,
    *,
    blend_s: float = BLEND_S,
    method: Decay = "quintic",
) -> FloatArray:
    """A vector that starts as ``offset``, moving with ``velocity``, and fades to nothing.

    Parameters
    ----------
    offset, velocity : (..., D)
        At time 0.
    times : (L,)
        Seconds, from 0.
    blend_s
        When a quintic is over; a spring has 1 % left then.
    method
        ``"quintic"`` takes the velocity along the offset only, and ends sooner where it would
        overshoot; ``"spring"`` takes all of it and may pass through nothing once.

    Returns
    -------
    faded : (L, ..., D)

    Examples
    --------
    >>> decayed(np.array([1.0]), np.array([0.0]), np.array([0.0, 0.4]))[:, 0]
    array([1., 0.])
    """
    x, v = np.asarray(offset, dtype=np.float64), np.asarray(velocity, dtype=np.float64)
    t = np.asarray(times, dtype=np.float64).reshape(-1, *[1] * x.ndim)
    if method == "spring":
        rate = HALVED / (HALF_LIFE * blend_s)
        return np.asarray(np.exp(-rate * t) * (x + (v + rate * x) * t))
    if method != "quintic":
        raise ArrayError(f"`method` must be 'quintic' or 'spring', got {method!r}.")
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    along = x / np.where(size > 0.0, size, 1.0)
    return np.asarray(along * _quintic(size, (v * along).sum(axis=-1, keepdims=True), t, blend_s))


def _quintic(size: FloatArray, speed: FloatArray, t: FloatArray, blend_s: float) -> FloatArray:
    """Bollo's polynomial: from ``size`` and ``speed`` to nothing, never below it."""
    v = np.minimum(speed, 0.0)
    end = np.where(v < 0.0, np.minimum(blend_s, -5.0 * size / np.where(v < 0.0, v, -1.0)), blend_s)
    end = np.maximum(end, 1e-9)
    a = np.maximum((-8.0 * v * end - 20.0 * size) / end**2, 0.0)
    c5 = -(a * end**2 + 6.0 * v * end + 12.0 * size) / (2.0 * end**5)
    c4 = (3.0 * a * end**2 + 16.0 * v * end + 30.0 * size) / (2.0 * end**4)
    c3 = -(3.0 * a * end**2 + 12.0 * v * end + 20.0 * size) / (2.0 * end**3)
    s = np.minimum(t, end)
    return np.asarray(((((c5 * s + c4) * s + c3) * s + 0.5 * a) * s + v) * s + size)


def inertialized_transition(
    frames: Frames,
    source: int,
    target: int,
    length: int,
    *,
    blend_s: float = BLEND_S,
    method: Decay = "quintic",
) -> MadeWindow:
    """From one row to another by an inertialized switch at once.

    Parameters
    ----------
    frames
        The collection.
    source
        Row at which the switch happens; the first frame is its pose, and it goes on from there
        with its velocity.
    target
        Row whose pose the last frame has; the rows before it are played.
    length
        Frames, both ends counted.
    blend_s
        Seconds that the difference takes to fade; at most the window.
    method
        How it fades.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("jog").motion])
    >>> made = inertialized_transition(frames, 5, frames.row_of("jog", 30), 30)
    >>> bool(np.allclose(made.local_quats[-1, 1:], frames.quats[frames.row_of("jog", 30), 1:]))
    True
    """
    played = _rows(frames, target - length + 1, length, "target")
    _rows(frames, source, 1, "source")
    return played_window(frames, played, opening=source, blend_s=blend_s, method=method)


def played_window(
    frames: Frames,
    rows: IntArray,
    *,
    opening: int | None = None,
    closing: int | None = None,
    blend_s: float = BLEND_S,
    method: Decay = "quintic",
) -> MadeWindow:
    """Captured rows, switched to from one pose and led into another.

    Parameters
    ----------
    frames, rows
        What is played: rows of one clip, one after another. (L,)
    opening
        Row whose pose, velocity and place the first frame has; that of the clip by default.
    closing
        Row whose pose the last frame has and into whose velocity it goes: the same decay,
        backwards.
    blend_s, method
        How a difference fades.
    """
    seconds = np.arange(len(rows)) / frames.fps
    blend_s = min(positive(blend_s, "blend_s"), max(float(seconds[-1]), 1e-9))
    quats = quat.normalize(frames.quats[rows].astype(np.float64))
    height = frames.body[rows, 0, 1].astype(np.float64)
    pace = _pace(frames, rows)  # (L, 3): sideways, ahead, turn; per second
    begins = opening if opening is not None else int(rows[0])
    switches = [(row, int(rows[at]), step) for row, at, step in ((opening, 0, 1), (closing, -1, -1))
                if row is not None]  # fmt: skip
    for row, meets, step in switches:
        turn, turning = _turn_offset(frames, row, meets, step)
        lift, lifting = _lift_offset(frames, row, meets, step)
        haste = _pace(frames, np.array([row]))[0] - _pace(frames, np.array([meets]))[0]
        order = slice(None, None, step)
        fade = [
            decayed(x, v, seconds, blend_s=blend_s, method=method)[order]
            for x, v in ((turn, turning), (lift, lifting), (haste, np.zeros(3)))
        ]
        quats = quat.multiply(quat.exp(fade[0]), quats)
        height = height + fade[1][:, 0]
        pace = pace + fade[2]
    heading, ground = _walked(pace, frames.heading[begins], frames.ground[begins], frames.fps)
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, heading), quats[:, 0])
    root = np.stack([ground[:, 0], height, ground[:, 1]], axis=-1)
    planted = np.asarray(frames.planted[rows])
    return MadeWindow(heading, root, quat.make_continuous(quats), planted)


def _rows(frames: Frames, first: int, length: int, name: str) -> IntArray:
    """Rows of a window, if it lies inside one clip."""
    last = first + length - 1
    if length < 2 and name == "target":
        raise ArrayError(f"`length` must be at least 2 frames, got {length}.")
    if first < 0 or last >= frames.n_rows or frames.clip_at(first) != frames.clip_at(last):
        raise TableError(
            f"The window of the `{name}`, rows {first} to {last}, must lie inside one clip. "
            "Choose a row further from the clip's ends."
        )
    return np.arange(first, last + 1)


def _beside(frames: Frames, row: int, step: int) -> int:
    """The row one before (``step`` 1) or after (-1); at a clip's end the other one, or itself."""
    for other in (row - step, row + step):
        if 0 <= other < frames.n_rows and frames.clip_at(other) == frames.clip_at(row):
            return other
    return row


def _turn_offset(frames: Frames, row: int, meets: int, step: int) -> tuple[FloatArray, FloatArray]:
    """Rotation vectors (J, 3) from the played pose to the wanted one, and their velocities.

    The velocity is along the time in which the difference fades: backwards for a closing one.
    """

    def apart(one: int, other: int) -> FloatArray:
        a, b = (quat.normalize(frames.quats[k].astype(np.float64)) for k in (one, other))
        d = quat.multiply(a, quat.conjugate(b))
        return np.asarray(quat.log(np.where(d[:, :1] < 0.0, -d, d)))

    before = _beside(frames, row, step), _beside(frames, meets, step)
    now = apart(row, meets)
    if (before[0] - row) * (before[1] - meets) <= 0:  # one at a clip's end: no common step
        return now, np.zeros_like(now)
    sign = 1.0 if (before[0] - row) * step < 0 else -1.0
    then = apart(*before)
    return now, sign * (now - then) * frames.fps


def _lift_offset(frames: Frames, row: int, meets: int, step: int) -> tuple[FloatArray, FloatArray]:
    """Height (1,) from the played root to the wanted one, and its velocity."""

    def speed(k: int) -> float:
        other = _beside(frames, k, step)
        rise = float(frames.body[k, 0, 1]) - float(frames.body[other, 0, 1])
        return rise * frames.fps / (k - other) if other != k else 0.0

    lift = float(frames.body[row, 0, 1]) - float(frames.body[meets, 0, 1])
    return np.array([lift]), np.array([step * (speed(row) - speed(meets))])


def _pace(frames: Frames, rows: IntArray) -> FloatArray:
    """Velocity of the root sideways and ahead as the body faces, and of its heading. (L, 3)."""
    clip = frames.clip_at(int(rows[0]))
    ahead = np.minimum(rows + 1, frames.starts[clip + 1] - 1)
    moved = (frames.ground[ahead] - frames.ground[rows]) * frames.fps
    turned = (frames.heading[ahead] - frames.heading[rows]) * frames.fps
    cos, sin = np.cos(frames.heading[rows]), np.sin(frames.heading[rows])
    x, z = moved[:, 0], moved[:, 1]
    return np.stack([cos * x - sin * z, sin * x + cos * z, turned], axis=-1)


def _walked(
    pace: FloatArray, heading: float, ground: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray]:
    """Heading (L,) and place (L, 2) of a root that starts so and keeps this pace."""
    facing = heading + np.concatenate([[0.0], np.cumsum(pace[:-1, 2])]) / fps
    cos, sin = np.cos(facing[:-1]), np.sin(facing[:-1])
    x, z = pace[:-1, 0], pace[:-1, 1]
    steps = np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1) / fps
    return facing, ground + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
