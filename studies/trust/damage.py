"""Captured clips played otherwise, and faults put into them: what the check must and must not find.

Everything works on positions, ``{role: (F, 3)}`` in metres, y up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from studies.trust.independent import GROUND, SIDES, Array, Body, mean, runs, slope, turned

FPS = 30.0
WARP, WARP_S = 0.15, (1.5, 3.0)
NOISE_M = 0.0005
SLIDE_M, SLIDE_S = 0.06, 0.3
FAULT_S = 0.5
LIFT_S = 0.3
MOVES_M_S = 0.5
EDGE_S = 0.4
"""Faults stay so far from both ends."""
Points = Mapping[str, Array]


class Fault(NamedTuple):
    """Points with a fault, and its first and last frame."""

    points: Points
    first: int
    last: int


def warped(points: Points, fps: float, rng: np.random.Generator) -> tuple[dict[str, Array], Array]:
    """The clip turned, played 15 % slower and faster by turns at 30 fps, with noise; its times."""
    seconds = (len(points["pelvis"]) - 1) / fps
    period, phase = rng.uniform(*WARP_S), rng.uniform(0.0, 2.0 * np.pi)
    t = np.arange(int(seconds * FPS * 2)) / FPS
    wave = 2.0 * np.pi / period
    time = t + WARP / wave * (np.cos(phase) - np.cos(wave * t + phase))
    time = time[time <= seconds]
    angle = np.full(len(time), rng.uniform(0.0, 2.0 * np.pi))
    shift = rng.uniform(-5.0, 5.0, size=2)
    result = {}
    for name, track in points.items():
        moved = sampled(track, time * fps)
        moved[:, GROUND] = turned(moved[:, GROUND], angle) + shift
        result[name] = moved + rng.normal(0.0, NOISE_M, moved.shape)
    return result, time


def sampled(track: Array, frames: Array) -> Array:
    """A track between its frames, by cubic pieces through them. (N, 3)"""
    last = len(track) - 1
    base = np.clip(np.floor(frames).astype(int), 0, max(last - 1, 0))
    u = (frames - base)[:, None]
    a, b, c, d = (track[np.clip(base + k, 0, last)] for k in (-1, 0, 1, 2))
    return np.asarray(
        b
        + 0.5 * u * (c - a)
        + u**2 * (a - 2.5 * b + 2.0 * c - 0.5 * d)
        + u**3 * (1.5 * (b - c) + 0.5 * (d - a))
    )


def ramp(n_frames: int, first: int, last: int) -> Array:
    """From 0 at the first frame to 1 at the last, smoothly."""
    u = np.clip((np.arange(n_frames) - first) / max(last - first, 1), 0.0, 1.0)
    return np.asarray(u * u * (3.0 - 2.0 * u))


def _stance(body: Body, rng: np.random.Generator) -> tuple[str, int] | None:
    """A foot, and a frame from which it stands slowly for as long as a slide takes."""
    places = []
    length = round(SLIDE_S * body.fps)
    for side in SIDES:
        foot = body.slowest(side)
        stands = (foot.speed < 0.2) & (body.share[side] >= 0.5) & ~body.falling
        for first, last in runs(stands):
            if last - first >= length:
                places.append((side, int(rng.integers(first, last - length + 1))))
    return places[int(rng.integers(len(places)))] if places else None


def body_slide(points: Points, body: Body, rng: np.random.Generator) -> Fault | None:
    """The whole body slides while a foot stands."""
    place = _stance(body, rng)
    if place is None:
        return None
    first, last = place[1], place[1] + round(SLIDE_S * body.fps)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    way = SLIDE_M * np.array([np.cos(angle), 0.0, np.sin(angle)])
    move = ramp(body.n_frames, first, last)[:, None] * way
    return Fault({name: track + move for name, track in points.items()}, first, last)


def foot_slide(points: Points, body: Body, rng: np.random.Generator) -> Fault | None:
    """One foot slides while it stands, and comes back when it is up."""
    place = _stance(body, rng)
    if place is None:
        return None
    side, first = place
    last = first + round(SLIDE_S * body.fps)
    down = np.asarray(body.low[side].any(axis=1))
    up = np.flatnonzero(~down[last:])
    back = last + int(up[0]) if len(up) else body.n_frames
    angle = rng.uniform(0.0, 2.0 * np.pi)
    way = SLIDE_M * np.array([np.cos(angle), 0.0, np.sin(angle)])
    gone = ramp(body.n_frames, first, last)
    gone = gone - ramp(body.n_frames, back, back + round(0.2 * body.fps))
    result = dict(points)
    for joint, share in (("knee", 0.5), ("ankle", 1.0), ("toe", 1.0)):
        if (name := f"{side}_{joint}") in points:
            result[name] = points[name] + share * gone[:, None] * way
    return Fault(result, first, last)


def _moving(body: Body, seconds: float, rng: np.random.Generator) -> tuple[int, int] | None:
    """A time so long in which the body travels."""
    length, edge = round(seconds * body.fps), round(EDGE_S * body.fps)
    fast = np.asarray(np.linalg.norm(body.travel, axis=1) > MOVES_M_S)
    fast[:edge] = fast[-edge:] = False
    places = [k for a, b in runs(fast) for k in range(a, b - length + 2)]
    if not places:
        return None
    first = places[int(rng.integers(len(places)))]
    return first, first + length - 1


def _paced(points: Points, body: Body, first: int, last: int, factor: float) -> Fault:
    """The pelvis' path at another pace, eased in and out; the poses are as they were."""
    ease = round(0.1 * body.fps)
    n = body.n_frames
    share = ramp(n, first - ease, first) - ramp(n, last, last + ease)
    velocity = mean(slope(body.pelvis[:, GROUND], body.fps, 0.0), body.fps, 0.1)
    move = np.zeros((n, 3))
    move[:, GROUND] = np.cumsum((factor - 1.0) * share[:, None] * velocity / body.fps, axis=0)
    return Fault({name: track + move for name, track in points.items()}, first, last)


def _pace(factor: float) -> Callable[[Points, Body, np.random.Generator], Fault | None]:
    def fault(points: Points, body: Body, rng: np.random.Generator) -> Fault | None:
        place = _moving(body, FAULT_S, rng)
        return None if place is None else _paced(points, body, *place, factor)

    return fault


def body_turned(
    points: Points, body: Body, rng: np.random.Generator, degrees: tuple[float, float]
) -> Fault | None:
    """The body turns while its path goes on: for half a second it walks sideways or backwards."""
    place = _moving(body, FAULT_S, rng)
    if place is None:
        return None
    first, last = place
    ease, n = round(0.2 * body.fps), body.n_frames
    share = ramp(n, first - ease, first) - ramp(n, last, last + ease)
    angle = share * rng.uniform(*np.radians(degrees)) * rng.choice([-1.0, 1.0])
    result = {}
    for name, track in points.items():
        moved = track.copy()
        about = body.pelvis[:, GROUND]
        moved[:, GROUND] = about + turned(track[:, GROUND] - about, angle)
        result[name] = moved
    return Fault(result, first, last)


def _turn(*degrees: float) -> Callable[[Points, Body, np.random.Generator], Fault | None]:
    return lambda points, body, rng: body_turned(points, body, rng, (degrees[0], degrees[1]))


def lift(
    points: Points, body: Body, rng: np.random.Generator, height: float = 0.05
) -> Fault | None:
    """The whole body is lifted for 0.3 s while a foot stands."""
    place = _stance(body, rng)
    edge = round(EDGE_S * body.fps)
    if place is None or not edge < place[1] < body.n_frames - 2 * edge:
        return None
    first, last = place[1], place[1] + round(LIFT_S * body.fps)
    ease, n = max(1, round(0.07 * body.fps)), body.n_frames
    up = height * body.scale * (ramp(n, first - ease, first) - ramp(n, last, last + ease))
    move = up[:, None] * np.array([0.0, 1.0, 0.0])
    return Fault({name: track + move for name, track in points.items()}, first, last)


def high_lift(points: Points, body: Body, rng: np.random.Generator) -> Fault | None:
    """The same, 12 cm high."""
    return lift(points, body, rng, height=0.12)


FAULTS: dict[str, tuple[str, Callable[[Points, Body, np.random.Generator], Fault | None]]] = {
    "slide of the body by 6 cm": ("support", body_slide),
    "slide of a foot by 6 cm": ("support", foot_slide),
    "stall to 30 % for 0.5 s": ("speed", _pace(0.3)),
    "launch to 180 % for 0.5 s": ("speed", _pace(1.8)),
    "path reversed for 0.5 s": ("reversal", _pace(-1.0)),
    "body turned by 120 to 180 degrees for 0.5 s": ("reversal", _turn(120.0, 180.0)),
    "body turned by 60 to 120 degrees for 0.5 s": ("reversal", _turn(60.0, 120.0)),
    "lift by 5 cm for 0.3 s": ("hovering", lift),
    "lift by 12 cm for 0.3 s": ("hovering", high_lift),
}
"""Every fault, with the kind of alarm that must find it."""
