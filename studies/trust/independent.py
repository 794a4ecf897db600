"""The independent check of results: what a body does that its sources do not, from positions only.

It knows no contact labels, no skeleton and no code of motionloom. It is given the positions of a
few joints (metres, y up), and for every frame of a result which time of which source it shows.

    body = Body(points, fps)
    judge(body, [Origin(Body(points of a source, its fps), seconds of it at each frame), ...])

k = length of a leg / 0.8 m. A sole has five points from the heel to the ball; no joint is needed at
the heel, which lies as high as the ball in the foot's own flat pose.

falling   the mass point is accelerated downwards by more than 5 m/s2: not judged.
low       a sole point within 2.5 cm k of the lowest sole point of some frame within a second that
          does not fall. Stairs and slopes need no floor, and a foot held up is never low.
carries   a foot of which some low point is slower than 1.2 m/s, and than 0.3 m/s up or down, with
          at least 0.3 of the weight: the place of the mass point between the feet.
support   the velocity over the ground of the slowest such point, less the nearest velocity that it
          has in the sources within 80 ms of the time they show, seen from the hips, or that lies
          between two sources; a source whose foot is in the air says nothing. Its path gets farther
          than 3 cm within 0.6 s of a run of carrying frames: alarm. The same for the slower foot.
speed     the speed of the pelvis over the ground (mean of 0.24 s) is under 0.8 of the least or over
          1.2 of the greatest of the sources within 80 ms, by more than 0.1 m/s: alarm.
reversal  the direction of travel, seen from the hips, is for 0.1 s more than 45 degrees outside the
          directions of the sources within 80 ms and those between two of them; judged from 0.3 m/s
          on: alarm.
hovering  nothing low is slower than 0.8 m/s, or all soles are 3 cm k over where the sources stand,
          and the mass point leaves the parabola of free fall through both ends of that time, at the
          rate of the sources' time (0.8 to 1.25) too, by more than 5 cm and 1.25 of what it does in
          the sources: alarm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SIDES = ("left", "right")
GROUND = [0, 2]
GRAVITY = 9.81
LEG_M = 0.8
"""Heights are given for a leg so long."""
N_SOLE = 5
LEVEL_S, LOW_M, FALL_M_S2 = 1.0, 0.025, 5.0
SHARE, CARRY_M_S, RISE_M_S = 0.3, 1.2, 0.3
NEAR_S, N_NEAR = 0.08, 9
SLIP_S, SLIP_M, LEAST_RUN_S = 0.6, 0.03, 0.05
SPEED_S, STALL, LAUNCH, SPEED_M_S = 0.12, 0.8, 1.2, 0.1
REVERSAL_M_S, REVERSAL_DEG, REVERSAL_S = 0.3, 45.0, 0.1
RATES = (0.8, 1.25)
"""A fall may be played at these rates."""
UNHELD_M_S, HANG_M, GAP_M, GAP_TIMES = 0.8, 0.03, 0.05, 1.25
STAND_M_S = 0.3

KINDS = ("support", "speed", "reversal", "hovering")


class Alarm(NamedTuple):
    """Something a body does that its sources do not."""

    kind: str
    """One of ``KINDS``."""
    what: str
    """The foot, or "stall" or "launch"."""
    value: float
    """Metres of slip or gap, metres per second beyond the band, or degrees."""
    limit: float
    first: int
    last: int

    def __str__(self) -> str:
        unit = {"speed": "m/s", "reversal": "deg"}.get(self.kind, "m")
        return f"{self.kind} ({self.what}) {self.value:.3g} {unit} in {self.first}-{self.last}"


class Body:
    """What is measured of a clip.

    Parameters
    ----------
    points
        Positions (F, 3) of ``pelvis``, and of ``left_`` and ``right_`` ``hip``, ``knee``,
        ``ankle``, ``toe`` (the ball); of ``neck`` or both ``shoulder`` if there are any.
    fps
        Frames per second.
    """

    def __init__(self, points: Mapping[str, Array], fps: float) -> None:
        self.points = {name: np.asarray(p, dtype=np.float64) for name, p in points.items()}
        self.fps = float(fps)
        self.pelvis = self.points["pelvis"]
        self.n_frames = len(self.pelvis)
        self.scale = self._leg() / LEG_M
        self.mass = self._mass()
        calm = mean(mean(self.mass, fps, 0.03), fps, 0.03)
        self.falling: Bools = slope(slope(calm, fps, 0.04), fps, 0.04)[:, 1] < -FALL_M_S2
        self.soles = {side: self._sole(side) for side in SIDES}
        self.sole_velocities = {side: slope(sole, fps, 0.025) for side, sole in self.soles.items()}
        heights = [sole[..., 1].min(axis=1) for sole in self.soles.values()]
        self.lowest: Array = np.minimum(*heights)
        self.low = self._low()

    def _leg(self) -> float:
        p = self.points
        thigh = np.linalg.norm(p["left_hip"] - p["left_knee"], axis=1)
        shank = np.linalg.norm(p["left_knee"] - p["left_ankle"], axis=1)
        return float(np.median(thigh + shank))

    def _mass(self) -> Array:
        """The mass point: trunk 0.62, thighs 0.2, shanks and feet 0.18."""
        p, half = self.points, np.array([0.0, 0.5 * self.scale, 0.0])
        tops = [p[name] for name in ("neck", "left_shoulder", "right_shoulder") if name in p]
        top = sum(tops) / len(tops) if tops else self.pelvis + half
        whole = 0.62 * (0.55 * top + 0.45 * self.pelvis)
        for side in SIDES:
            hip, knee, ankle = (p[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
            whole = whole + 0.05 * (hip + knee) + 0.045 * (knee + ankle)
        return np.asarray(whole)

    def _sole(self, side: str) -> Array:
        """Five points of a sole from heel to ball. (F, 5, 3)"""
        ankle, ball = self.points[f"{side}_ankle"], self.points.get(f"{side}_toe")
        if ball is None:
            return np.repeat(ankle[:, None], N_SOLE, axis=1)
        along = np.linspace(0.0, 1.0, N_SOLE)[None, :, None]
        heel = self._heel(ankle, ball)
        return np.asarray(heel[:, None] * (1.0 - along) + ball[:, None] * along)

    def _heel(self, ankle: Array, ball: Array) -> Array:
        """A point fixed to the foot, level with the ball in the foot's own flat pose."""
        speeds = [np.linalg.norm(slope(joint, self.fps, 0.03), axis=1) for joint in (ankle, ball)]
        slow = sum(speeds)
        still = np.flatnonzero(slow <= max(float(np.quantile(slow, 0.15)), 0.1))
        height = (ball + ankle)[still, 1]
        flat = still[height <= np.quantile(height, 0.5) + 1e-9]
        along = unit(ball - ankle)
        down = np.array([0.0, -1.0, 0.0])
        square = unit(down + along[:, 1:2] * along)
        reach = float(np.median(np.linalg.norm((ball - ankle)[flat][:, GROUND], axis=1)))
        drop = float(np.median((ankle - ball)[flat, 1]))
        # Forwards and upwards in the flat pose: the foot's axis, its normal, and the heel.
        axis = np.array([reach, -drop]) / max(np.hypot(reach, drop), 1e-9)
        normal = np.array([axis[1] * axis[0], -1.0 + axis[1] * axis[1]])
        normal /= max(float(np.linalg.norm(normal)), 1e-9)
        heel = np.array([-0.3 * reach, -drop])
        return np.asarray(ankle + (heel @ axis) * along + (heel @ normal) * square)

    def _low(self) -> dict[str, Bools]:
        """Whether a sole point is as low as the body stood within a second. (F, 5)"""
        levels = np.where(self.falling, np.nan, self.lowest)
        wide, step = max(1, round(LEVEL_S * self.fps)), max(1, round(self.fps / 30.0))
        padded = np.pad(levels, wide, constant_values=np.nan)
        near = [padded[wide + k : wide + k + self.n_frames] for k in range(-wide, wide + 1, step)]
        low = {side: np.zeros((self.n_frames, N_SOLE), dtype=bool) for side in SIDES}
        for level in near:
            for side in SIDES:
                low[side] |= np.abs(self.soles[side][..., 1] - level[:, None]) < LOW_M * self.scale
        return low

    @cached_property
    def heading(self) -> Array:
        """Angle of the line through the hips on the ground. (F,)"""
        across = self.points["left_hip"] - self.points["right_hip"]
        return np.asarray(np.arctan2(across[:, 2], across[:, 0]))

    @cached_property
    def travel(self) -> Array:
        """Velocity of the pelvis over the ground, seen from the hips. (F, 2)"""
        over = mean(slope(self.pelvis[:, GROUND], self.fps, 0.0), self.fps, SPEED_S)
        return turned(over, self.heading)

    @cached_property
    def seen(self) -> dict[str, Array]:
        """Velocities of sole points over the ground, seen from the hips. (F, 5, 2)"""
        return {s: turned(v[..., GROUND], self.heading) for s, v in self.sole_velocities.items()}

    @cached_property
    def down(self) -> dict[str, Bools]:
        """Whether a foot is low, with a point slower than a carrying foot may be. (F,)"""
        return {side: self.slowest(side).speed < CARRY_M_S for side in SIDES}

    @cached_property
    def share(self) -> dict[str, Array]:
        """How much of the weight each foot has, by the place of the mass point, 0 to 1. (F,)"""
        feet: dict[str, Array] = {}
        any_low: dict[str, Bools] = {}
        for side in SIDES:
            low, sole = self.low[side][..., None], self.soles[side][..., GROUND]
            any_low[side] = np.asarray(self.low[side].any(axis=1))
            middle = (sole * low).sum(axis=1) / np.maximum(low.sum(axis=1), 1)
            feet[side] = np.where(any_low[side][:, None], middle, sole[:, N_SOLE // 2])
        shares = {}
        for side, other in (SIDES, SIDES[::-1]):
            line = feet[side] - feet[other]
            at = ((self.mass[:, GROUND] - feet[other]) * line).sum(axis=1)
            at = np.clip(at / np.maximum((line**2).sum(axis=1), 1e-4), 0.0, 1.0)
            shares[side] = np.where(any_low[other], at, 1.0)
        return shares

    def slowest(self, side: str, rise: float = np.inf) -> Slowest:
        """The low point of a foot that is slowest over the ground, of those that rise slower."""
        velocity = self.sole_velocities[side]
        ground = np.linalg.norm(velocity[..., GROUND], axis=-1)
        stays = self.low[side] & (np.abs(velocity[..., 1]) < rise)
        speeds = np.where(stays, ground, np.inf)
        return Slowest(speeds.argmin(axis=1), speeds.min(axis=1))

    def unheld(self, rate: Array | None = None) -> Iterator[tuple[float, int, int]]:
        """Gap, first and last frame of times in which no low point is slow."""
        off = np.minimum(*(self.slowest(side).speed for side in SIDES)) > UNHELD_M_S
        yield from self._gaps(off, rate)

    def hangs(self, floor: float, rate: Array | None = None) -> Iterator[tuple[float, int, int]]:
        """Gap, first and last frame of times in which all soles are above where one stands."""
        yield from self._gaps(self.lowest > floor + HANG_M * self.scale, rate)

    def _gaps(self, off: Bools, rate: Array | None) -> Iterator[tuple[float, int, int]]:
        """How far the mass point leaves free fall between the ends of each run of frames.

        A fall played faster or slower, as ``rate`` says of every frame, is a fall too.
        """
        height = mean(self.mass[:, 1], self.fps, 0.02)
        for first, last in runs(off):
            if first == 0 or last == self.n_frames - 1 or last - first < 2:
                continue
            y = height[first - 1 : last + 2]
            t = np.arange(len(y)) / self.fps
            line = y[0] + (y[-1] - y[0]) * t / t[-1]
            fall = 0.5 * GRAVITY * t * (t[-1] - t)
            played = 1.0 if rate is None else float(rate[first - 1 : last + 2].mean()) ** 2
            gap = min(np.abs(y - line - pace * fall).max() for pace in (1.0, played))
            yield float(gap), first, last

    @cached_property
    def standing(self) -> float:
        """Height of the sole where it stands highest. m"""
        heights = np.concatenate([self.soles[side][..., 1] for side in SIDES], axis=1)
        velocity = np.concatenate([self.sole_velocities[side] for side in SIDES], axis=1)
        row, point = np.arange(self.n_frames), heights.argmin(axis=1)
        still = np.linalg.norm(velocity[row, point], axis=-1) < STAND_M_S
        still &= ~self.falling
        some = heights[row, point][still] if still.sum() > 3 else self.lowest
        return float(np.quantile(some, 0.95))


class Slowest(NamedTuple):
    """The slowest low point of a foot in every frame."""

    point: NDArray[np.intp]
    speed: Array
    """Over the ground; infinite where there is no such point."""


class Origin(NamedTuple):
    """A source, and the seconds of it that each frame of the result shows; nan where none."""

    body: Body
    time: Array

    def near(self) -> Iterator[tuple[Bools, NDArray[np.intp]]]:
        """Frames of the source around the time shown: where it plays, and which."""
        plays = np.isfinite(self.time)
        for offset in np.linspace(-NEAR_S, NEAR_S, N_NEAR):
            yield plays, self.frames(offset)

    def rate(self, fps: float) -> Array:
        """Seconds of the source per second of a result at so many frames per second."""
        steps = np.gradient(self.time) * fps if len(self.time) > 1 else np.ones(1)
        return np.asarray(np.clip(np.where(np.isfinite(steps), steps, 1.0), *RATES))

    def frames(self, offset: float = 0.0) -> NDArray[np.intp]:
        """The frame of the source at the time shown, so many seconds later."""
        time = np.where(np.isfinite(self.time), self.time, 0.0) + offset
        frames = np.round(time * self.body.fps).astype(np.intp)
        return np.asarray(np.clip(frames, 0, self.body.n_frames - 1))


def judge(body: Body, origins: Sequence[Origin]) -> list[Alarm]:
    """All alarms of a result, those farthest over their limits first."""
    if not origins:
        raise ValueError("`origins` must name at least one source of the result.")
    alarms = [*support(body, origins), *speed(body, origins), *reversal(body, origins),
              *hovering(body, origins)]  # fmt: skip
    return sorted(alarms, key=lambda alarm: alarm.value / alarm.limit, reverse=True)


def support(body: Body, origins: Sequence[Origin], limit: float = SLIP_M) -> Iterator[Alarm]:
    """Slips of a carrying foot that the sources do not explain."""
    extra, carries, speeds = {}, {}, {}
    for side in SIDES:
        foot = body.slowest(side, RISE_M_S)
        rest, explained = _unexplained(body, origins, side, foot.point)
        ok = (foot.speed < CARRY_M_S) & ~body.falling & explained
        extra[side], carries[side], speeds[side] = turned(rest, -body.heading), ok, foot.speed
        yield from _paths(body, extra[side], ok & (body.share[side] >= SHARE), side, limit)
    left, right = SIDES
    slower = carries[right] & (~carries[left] | (speeds[right] < speeds[left]))
    both = np.where(slower[:, None], extra[right], extra[left])
    yield from _paths(body, both, carries[left] | carries[right], "both", limit)


def _unexplained(
    body: Body, origins: Sequence[Origin], side: str, point: NDArray[np.intp]
) -> tuple[Array, Bools]:
    """A sole point's velocity less the nearest of the sources, and where a source says any."""
    own = body.seen[side][np.arange(body.n_frames), point]
    least, rest = np.full(body.n_frames, np.inf), np.zeros((body.n_frames, 2))

    def offer(velocity: Array, valid: Bools) -> None:
        apart = own - velocity
        far = np.linalg.norm(apart, axis=1)
        better = valid & (far < least)
        least[better], rest[better] = far[better], apart[better]

    middles = []
    for origin in origins:
        seen, down = origin.body.seen[side], origin.body.down[side]
        for plays, at in origin.near():
            offer(seen[at, point], plays & down[at])
        at = origin.frames()
        middles.append((seen[at, point], np.isfinite(origin.time) & down[at]))
    for n, (a, a_valid) in enumerate(middles):
        for b, b_valid in middles[n + 1 :]:
            line = b - a
            share = ((own - a) * line).sum(axis=1) / np.maximum((line**2).sum(axis=1), 1e-9)
            offer(a + np.clip(share, 0.0, 1.0)[:, None] * line, a_valid & b_valid)
    return rest, np.isfinite(least)


def _paths(body: Body, velocity: Array, ok: Bools, what: str, limit: float) -> Iterator[Alarm]:
    """The farthest way within 0.6 s of every run of frames, where it is over the limit."""
    step = max(1, round(body.fps / 60.0))
    widest = max(1, round(SLIP_S * body.fps / step))
    for first, last in runs(ok):
        if (last - first) / body.fps < LEAST_RUN_S:
            continue
        path = np.concatenate([[[0.0, 0.0]], np.cumsum(velocity[first:last] / body.fps, axis=0)])
        path = path[::step]
        best, start, length = 0.0, 0, 0
        for k in range(1, min(widest, len(path) - 1) + 1):
            ways = np.linalg.norm(path[k:] - path[:-k], axis=1)
            if ways.max() > best:
                best, start, length = float(ways.max()), int(ways.argmax()), k
        if best > limit:
            begin = first + start * step
            yield Alarm("support", what, best, limit, begin, min(begin + length * step, last))


def speed(body: Body, origins: Sequence[Origin]) -> Iterator[Alarm]:
    """Stalls and launches: speeds outside the band of the sources."""
    least, most = np.full(body.n_frames, np.inf), np.full(body.n_frames, -np.inf)
    for origin in origins:
        speeds = np.linalg.norm(origin.body.travel, axis=1)
        for plays, at in origin.near():
            least[plays] = np.minimum(least, speeds[at])[plays]
            most[plays] = np.maximum(most, speeds[at])[plays]
    known = np.isfinite(least)
    own = np.linalg.norm(body.travel, axis=1)
    with np.errstate(invalid="ignore"):
        under = np.where(known, STALL * least - own, -np.inf)
        over = np.where(known, own - LAUNCH * most, -np.inf)
    for what, beyond in (("stall", under), ("launch", over)):
        for first, last in runs(beyond > SPEED_M_S):
            value = float(beyond[first : last + 1].max())
            yield Alarm("speed", what, value, SPEED_M_S, first, last)


def reversal(body: Body, origins: Sequence[Origin], limit: float = REVERSAL_DEG) -> Iterator[Alarm]:
    """Times in which a body goes another way, seen from its hips, than its sources."""
    beyond = directions_beyond(body, origins)
    for first, last in runs(beyond > limit):
        if (last - first + 1) / body.fps >= REVERSAL_S:
            value = float(beyond[first : last + 1].max())
            yield Alarm("reversal", "travel", value, limit, first, last)


def directions_beyond(body: Body, origins: Sequence[Origin]) -> Array:
    """Degrees between the direction of travel and the nearest of the sources; 0 if unclear. (F,)"""
    own = np.arctan2(body.travel[:, 1], body.travel[:, 0])
    moves = np.linalg.norm(body.travel, axis=1) > REVERSAL_M_S
    least = np.full(body.n_frames, np.inf)
    middles = []
    for origin in origins:
        travel = origin.body.travel
        clear = np.linalg.norm(travel, axis=1) > REVERSAL_M_S
        ways = np.arctan2(travel[:, 1], travel[:, 0])
        for plays, at in origin.near():
            apart = np.where(plays & clear[at], np.abs(wrapped(own - ways[at])), np.inf)
            least = np.minimum(least, apart)
        at = origin.frames()
        middles.append((ways[at], np.isfinite(origin.time) & clear[at]))
    for n, (a, a_valid) in enumerate(middles):
        for b, b_valid in middles[n + 1 :]:
            arc, part = wrapped(b - a), wrapped(own - a)
            within = (part * np.sign(arc) >= 0.0) & (np.abs(part) <= np.abs(arc))
            least = np.where(a_valid & b_valid & within, 0.0, least)
    return np.degrees(np.where(moves & np.isfinite(least), least, 0.0))


def hovering(body: Body, origins: Sequence[Origin]) -> Iterator[Alarm]:
    """Times in which nothing carries the body and it does not fall."""
    sources = [origin.body for origin in origins]
    rates = [origin.rate(body.fps) for origin in origins]
    rate = np.asarray(sum(rates) / len(rates))
    floor = max(source.standing for source in sources)
    for what, found, own in (
        ("unheld", body.unheld(rate), [gap[0] for s in sources for gap in s.unheld()]),
        (
            "hangs",
            body.hangs(floor, rate),
            [gap[0] for s in sources for gap in s.hangs(s.standing)],
        ),
    ):
        limit = max(GAP_M, GAP_TIMES * max(own, default=0.0))
        for gap, first, last in found:
            if gap > limit:
                yield Alarm("hovering", what, gap, limit, first, last)


def unit(vectors: Array) -> Array:
    """Vectors of length 1."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))


def wrapped(angles: Array) -> Array:
    """Angles from -pi to pi."""
    return np.asarray((angles + np.pi) % (2.0 * np.pi) - np.pi)


def turned(vectors: Array, angle: Array) -> Array:
    """Vectors on the ground (F, ..., 2) in a frame turned by the angle of each frame."""
    angle = angle.reshape(-1, *[1] * (vectors.ndim - 2))
    c, s = np.cos(angle), np.sin(angle)
    x, z = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x + s * z, c * z - s * x], axis=-1)


def slope(values: Array, fps: float, seconds: float) -> Array:
    """Slope per second of the line through the values within so many seconds, at least a frame."""
    k = max(1, round(seconds * fps))
    pad = [(k, k)] + [(0, 0)] * (values.ndim - 1)
    if len(values) > k + 1:
        wide = np.pad(values, pad, mode="reflect", reflect_type="odd")
    else:
        wide = np.pad(values, pad, mode="edge")
    steps = np.arange(-k, k + 1)
    total = sum(step * wide[k + step : k + step + len(values)] for step in steps)
    return np.asarray(total / (steps @ steps) * fps)


def mean(values: Array, fps: float, seconds: float) -> Array:
    """Mean of the values within so many seconds."""
    k = round(seconds * fps)
    if k < 1:
        return values
    wide = np.pad(values, [(k, k)] + [(0, 0)] * (values.ndim - 1), mode="edge")
    sums = np.cumsum(np.concatenate([np.zeros_like(wide[:1]), wide]), axis=0)
    return np.asarray((sums[2 * k + 1 :] - sums[: -2 * k - 1]) / (2 * k + 1))


def runs(mask: Bools) -> list[tuple[int, int]]:
    """First and last frame of every run of true frames."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return list(
        zip(
            (int(k) for k in np.flatnonzero(edges == 1)),
            (int(k) - 1 for k in np.flatnonzero(edges == -1)),
            strict=True,
        )
    )
