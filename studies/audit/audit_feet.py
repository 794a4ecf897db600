"""Heels, balls and floors from joint positions: where feet stand, slide, sink and hover."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from studies.audit.audit_signals import SIDES, Array, Points, toe_of, unit

SOLES = ("left_heel", "left_ball", "right_heel", "right_ball")
HEEL_BEHIND_ANKLE = 0.3
"""Heel behind the ankle, as a part of the distance from ankle to ball on the ground."""
LEVEL = 0.3
"""Cosine of a foot's pitch below which it points up or down too much to have a side."""
BALL_TO_END = 0.67
"""Ball of a foot without a toe joint, as a part of the way from ankle to the foot's end: balls are
7.2 % of stature before the ankle, tips of toes 10.8 %."""
STILL_M_S = 0.25
ABOVE_FLOOR_M = 0.015
SLIDE_M_S = 0.25
OFF_FLOOR_M = 0.06
FALL_M_S2 = 3.5
"""A body whose middle falls with at least this is in flight, not hovering."""
BRIEF_S = 0.025
STANCE_S = 0.1
"""A sole that is slow for a shorter time may be at the top of a jump."""
LEVEL_S = 0.5
"""Floors of a clip may differ; a level is that of the stances so many seconds around a frame."""


@dataclass(frozen=True)
class Heel:
    """Where a heel is in the plane of its foot and shank, metres along foot and up."""

    along: float
    up: float
    stands: bool = True
    """Whether the clip has frames in which the foot stands still."""
    rise: float = 0.0
    """How far the ankle stands over the ball, metres: most on tiptoe."""
    length: float = 0.0
    """From ankle to ball, metres."""


def fit_heel(points: Points, side: str) -> Heel | None:
    """The heel's place at the height of the ball while the foot stands flat, from stance frames."""
    toe_joint = toe_of(points, side)
    if toe_joint is None:
        return None
    ankle, toe = (
        points.positions[:, points.roles[f"{side}_ankle"]],
        ball_of(points, side, toe_joint),
    )
    speed = np.maximum(_speed(ankle, points.fps), _speed(toe, points.fps))
    low = toe[:, 1] < np.percentile(toe[:, 1], 20.0) + 0.03
    still = (speed < STILL_M_S) & low
    stands = np.count_nonzero(still) >= 3
    if not stands:
        order = np.argsort(speed + 10.0 * (toe[:, 1] - toe[:, 1].min()))
        still = np.zeros(len(speed), dtype=bool)
        still[order[:3]] = True
    along, up = _foot_axes(points, side, toe_joint)
    foot = toe - ankle
    heel = -HEEL_BEHIND_ANKLE * foot * [1.0, 0.0, 1.0] + foot * [0.0, 1.0, 0.0]
    place = np.stack([np.sum(heel * along, -1), np.sum(heel * up, -1)], axis=-1)[still]
    rise, length = (
        float(np.median(-foot[still, 1])),
        float(np.median(np.linalg.norm(foot, axis=-1))),
    )
    return Heel(*np.median(place, axis=0).tolist(), stands, rise, length)


def ball_of(points: Points, side: str, toe: int) -> Array:
    """Ball of a foot: its toe's joint, or, without one, a part of the way to the foot's end. (F, 3)

    A foot that turns on the tip of its toes moves its ball.
    """
    end = points.positions[:, toe]
    if f"{side}_toe" in points.roles:
        return end
    ankle = points.positions[:, points.roles[f"{side}_ankle"]]
    return np.asarray(ankle + BALL_TO_END * (end - ankle))


def find_heels(points: Points) -> list[Heel | None]:
    """Left and right heel as one clip shows them."""
    return [fit_heel(points, side) for side in SIDES]


def skeleton_heels(clips: list[list[Heel | None]]) -> list[Heel | None]:
    """Left and right heel of a skeleton, from those of all its clips.

    A heel is a part of a skeleton, but runs and jumps show it only on tiptoe: between the clips of
    CMU 16 the ankle stands 4.7 to 9.2 cm over the ball.
    """
    return [common_heel([heels[n] for heels in clips]) for n in range(len(SIDES))]


def common_heel(heels: list[Heel | None]) -> Heel | None:
    """The heel of a skeleton from those of its clips; clips that stand count, if there are any."""
    given = [heel for heel in heels if heel is not None]
    if not given:
        return None
    given = [heel for heel in given if heel.stands] or given
    return Heel(
        float(np.median([heel.along for heel in given])),
        float(np.median([heel.up for heel in given])),
        given[0].stands,
        float(np.median([heel.rise for heel in given])),
        float(np.median([heel.length for heel in given])),
    )


def same_heels(heels: list[Heel | None]) -> list[Heel | None]:
    """The flatter foot's heel for both feet, where they are equally long.

    A foot that is on tiptoe whenever it stands has its heel at another place than it seems.
    """
    left, right = heels
    if left is None or right is None or abs(left.length - right.length) > 0.02 * left.length:
        return heels
    flatter = left if left.rise < right.rise else right
    return [flatter, flatter]


def _foot_axes(points: Points, side: str, toe: int) -> tuple[Array, Array]:
    """Directions along a foot and up from it. (F, 3) each

    Up is on the side of the shank, without the shank's lean to a side: over a foot that stands the
    shank leans as it likes, and joint positions do not show how a foot rolls. (In a Bandai walk a
    heel seemed to slide by 5.2 cm while ankle and ball moved by 1.1 and 0.4.)
    """
    ankle = points.positions[:, points.roles[f"{side}_ankle"]]
    along = unit(points.positions[:, toe] - ankle)
    shank = points.positions[:, points.roles[f"{side}_knee"]] - ankle
    across = np.cross(along, [0.0, 1.0, 0.0])
    level = np.linalg.norm(across, axis=-1, keepdims=True) > LEVEL  # else it shows no side
    lean = np.where(level, np.sum(shank * unit(across), axis=-1, keepdims=True), 0.0)
    shank = shank - lean * unit(across)
    return along, unit(shank - np.sum(shank * along, axis=-1, keepdims=True) * along)


def _speed(path: Array, fps: float) -> Array:
    return np.linalg.norm(np.gradient(path, axis=0), axis=-1) * fps


def sole_points(points: Points, heels: list[Heel | None]) -> Array:
    """Left heel, left ball, right heel, right ball in the world. (F, 4, 3)"""
    soles = np.zeros((len(points.positions), 4, 3))
    for n, (side, heel) in enumerate(zip(SIDES, heels, strict=True)):
        ankle = points.positions[:, points.roles[f"{side}_ankle"]]
        toe = toe_of(points, side)
        if toe is None or heel is None:
            soles[:, 2 * n], soles[:, 2 * n + 1] = ankle, ankle
            continue
        along, up = _foot_axes(points, side, toe)
        soles[:, 2 * n] = ankle + heel.along * along + heel.up * up
        soles[:, 2 * n + 1] = ball_of(points, side, toe)
    return soles


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First frame and the one after the last of every run of true flags."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def joined(spans: list[tuple[int, int]], brief: float) -> list[tuple[int, int]]:
    """Runs of which those fewer than ``brief`` frames apart are one."""
    out: list[tuple[int, int]] = []
    for first, stop in spans:
        if out and first - out[-1][1] < brief:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((first, stop))
    return out


@dataclass(eq=False)
class Feet:
    """The soles of a clip, given where its heels are."""

    points: Points
    heels: list[Heel | None]
    soles: Array = field(init=False)
    """(F, 4, 3)"""
    floors: Array = field(init=False)
    """Height at which each sole point stands. (4,)"""

    def __post_init__(self) -> None:
        self.soles = sole_points(self.points, self.heels)
        slow = self.ground_speed < SLIDE_M_S
        slow = np.r_[slow[:1], slow]
        floors = []
        for k in (1, 3):  # heels are where balls are when a foot stands, and stand less often
            heights = self.soles[:, k, 1]
            floors.append(np.percentile(heights[slow[:, k]] if slow[:, k].any() else heights, 5.0))
        self.floors = np.repeat(floors, 2)

    @property
    def ground_speed(self) -> Array:
        """(F - 1, 4)"""
        steps = np.diff(self.soles[..., [0, 2]], axis=0)
        return np.linalg.norm(steps, axis=-1) * self.points.fps

    def contact_slides(
        self, *, copied: NDArray[np.bool_] | None = None
    ) -> list[tuple[float, int, int]]:
        """How far every labelled contact moves over the ground: metres, sole point, frame.

        Contacts that lie in ``copied`` frames (F,) are left out.
        """
        contacts = self.points.contacts
        slides = []
        for k in range(0 if contacts is None else 4):
            assert contacts is not None
            for first, stop in runs(contacts[:, k]):
                if copied is not None and copied[first:stop].all():
                    continue
                ground = self.soles[first:stop, k][:, [0, 2]]
                thin = ground[:: max(1, len(ground) // 60)]
                apart = np.linalg.norm(thin[:, None] - thin[None], axis=-1)
                worst = int(np.argmax(np.linalg.norm(ground - ground[len(ground) // 2], axis=-1)))
                slides.append((float(apart.max()), k, first + worst))
        return slides

    def low_slides(
        self, floors: Array, *, copied: NDArray[np.bool_] | None = None
    ) -> list[tuple[float, int, int]]:
        """Ways over the ground of sole points that are fast at the floor: metres, point, frame.

        ``copied`` steps (F - 1,) are left out.

        Ways with less than ``BRIEF_S`` between them are one: a single frame that is a millimetre
        higher does not end a slide.
        """
        brief = BRIEF_S * self.points.fps
        low = self.soles[..., 1] < floors + ABOVE_FLOOR_M
        fast = self.ground_speed > SLIDE_M_S
        if copied is not None:
            fast &= ~copied[:, None]
        slides = []
        for k in range(4):
            for first, stop in joined(runs(fast[:, k] & low[1:, k] & low[:-1, k]), brief):
                way = self.ground_speed[first:stop, k].sum() / self.points.fps
                slides.append((float(way), k, (first + stop) // 2))
        return slides

    @cached_property
    def lowest(self) -> Array:
        """Height of the lowest point of the body, sole points included. (F,)"""
        positions = np.delete(self.points.positions, self.points.above[:-1], axis=1)
        return np.minimum(positions[..., 1].min(axis=1), self.soles[..., 1].min(axis=1))

    @cached_property
    def stands(self) -> NDArray[np.bool_]:
        """Frames in which a slow sole point supports the body; runs do so for too short. (F,)"""
        speed = np.stack([_speed(self.soles[:, k], self.points.fps) for k in range(4)], axis=1)
        support = self.soles[..., 1] < self.lowest[:, None] + OFF_FLOOR_M
        slow = (support & (speed < STILL_M_S)).any(axis=1)
        stands = np.zeros(len(slow), dtype=bool)
        for first, stop in runs(slow):
            stands[first:stop] = stop - first >= STANCE_S * self.points.fps
        return stands

    @cached_property
    def level(self) -> float:
        """Height of the floor: the lowest point's median over the frames in which the body stands.

        A percentile of the lowest heights is no floor: toes that push off go centimetres deeper.
        """
        if not self.stands.any():
            return float(self.floors.min())
        return float(np.median(self.lowest[self.stands]))

    @cached_property
    def levels(self) -> Array:
        """The same near each frame, where it is higher than in the whole clip: boxes, stairs. (F,)

        Stances that are lower say little: feet of CMU 141_03 go 6 cm under their floor in a step.
        """
        half = round(LEVEL_S * self.points.fps)
        levels = np.full(len(self.lowest), self.level)
        for frame in range(len(levels)):
            rows = slice(max(0, frame - half), frame + half + 1)
            if self.stands[rows].any():
                levels[frame] = max(self.level, np.median(self.lowest[rows][self.stands[rows]]))
        return levels

    def hovers(
        self, levels: Array | float, *, copied: NDArray[np.bool_] | None = None
    ) -> list[tuple[float, int]]:
        """Spans in which everything is off the floor and the body does not fall: seconds, frame.

        ``levels`` is the height of the floor, or that in each frame (F,). Spans that lie in
        ``copied`` frames (F,) are left out.
        """
        middle = self.points.positions[:, self.points.judged, 1].mean(axis=1)
        hovers = []
        for first, stop in runs(self.lowest > levels + OFF_FLOOR_M):
            if stop - first < 4 or (copied is not None and copied[first:stop].all()):
                continue
            times = np.arange(stop - first) / self.points.fps
            fall = -2.0 * np.polyfit(times, middle[first:stop], 2)[0]
            if fall < FALL_M_S2:
                hovers.append(((stop - first) / self.points.fps, (first + stop) // 2))
        return hovers
