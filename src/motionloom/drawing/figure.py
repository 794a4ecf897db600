"""A clip as a person: the body parts over its joints, how thick they are, and their outline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.anatomy import foot_points, stature, tip_points
from motionloom.body.body_map import ROLES, BodyMap, facing, roles_for
from motionloom.motion.motion import Footplants, Motion, motion_in
from motionloom.rotation import quat

T = TypeVar("T")
Side = Literal["left", "middle", "right"]
# Radii as fractions of the standing height, about those of a slim adult.
HIP, KNEE, ANKLE = 0.044, 0.030, 0.021
SHOULDER, ELBOW, WRIST, HAND = 0.029, 0.022, 0.016, 0.018
SEAT, WAIST, CHEST, NECK = 0.048, 0.058, 0.060, 0.028
SKULL, CHIN, HEAD_OVER_NECK = 0.047, 0.036, 0.045
HEEL, BALL, TOE_TIP = 0.018, 0.020, 0.012
LEG = ("hip", "knee", "ankle")
SIDES: tuple[Side, Side] = ("left", "right")
DIRECTIONS = 28
"""Corners of an outline: enough that a head looks round at poster size."""
_ANGLES = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
_RAYS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)  # (K, 2)


class Result(Protocol):
    """Result of an operation: a motion and its contacts."""

    @property
    def motion(self) -> Motion:
        """The result."""

    @property
    def footplants(self) -> Footplants:
        """Its contacts."""


def motion_and_contacts(
    drawn: object, footplants: T | None
) -> tuple[object, T | Footplants | None]:
    """Take a result apart into its motion and contacts; return anything else unchanged."""
    motion = motion_in(drawn)
    if motion is None or motion is drawn:
        return drawn, footplants
    own = getattr(drawn, "footplants", None)
    if footplants is not None or not isinstance(own, Footplants):
        return motion, footplants
    return motion, own


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the body: the hull of balls at some of the figure's points."""

    name: str
    """``"thigh"``, ``"foot"``, ``"head"``; ``"bone"`` for joints without a role."""
    side: Side
    points: tuple[int, ...]
    """Columns of :attr:`Figure.points`."""
    radii: tuple[float, ...]
    """Metres, one per point."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """World points of a clip and the body parts spanned over them."""

    points: FloatArray
    """Metres. Shape (F, P, 3)."""
    parts: tuple[Part, ...]
    height: float
    """Standing height, metres."""

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.points)

    def nearness(self, part: Part, near: FloatArray) -> float:
        """How near the eye a part is drawn, from the nearness (P,) of the points.

        The neck goes behind the chest that it grows out of, whichever side they are seen from.
        """
        return float(near[list(part.points)].mean()) - (0.08 * self.height) * (part.name == "neck")

    def lowest(self) -> FloatArray:
        """Height of the lowest spot of the body in every frame, metres. Shape (F,)."""
        soles = [part for part in self.parts if part.name in ("foot", "toes")] or self.parts
        reach = [
            self.points[:, p, 1] - r
            for part in soles
            for p, r in zip(part.points, part.radii, strict=True)
        ]
        return np.asarray(np.min(reach, axis=0))

    def floor(self) -> float:
        """Height of the ground that the figure is drawn on, metres.

        Near zero it is zero: the rest is the thickness of a sole, which no file states.
        """
        low = float(np.percentile(self.lowest(), 5.0))
        return 0.0 if abs(low) < 0.012 * self.height else low

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest corner (3,) of all balls in all frames."""
        used = sorted({p for part in self.parts for p in part.points})
        widest = max(r for part in self.parts for r in part.radii)
        points = self.points[:, used]
        return points.min(axis=(0, 1)) - widest, points.max(axis=(0, 1)) + widest


def build_figure(motion: Motion, *, body: BodyMap | None = None) -> Figure:
    """The clip as a person: tapered limbs, a torso, a head that faces ahead, feet with soles.

    Where the skeleton is no person's (no legs found), every bone becomes a thin capsule.
    """
    body = roles_for(motion.skeleton, body)
    if any(_role(body, side, role) is None for side in SIDES for role in LEG):
        return _bare_figure(motion)
    flesh = _Flesh(motion, body)
    flesh.add_legs()
    flesh.add_arms()
    flesh.add_trunk()
    flesh.add_head()
    flesh.add_loose_bones()
    return Figure(np.stack(flesh.columns, axis=1), tuple(flesh.parts), flesh.height)


def _joints(value: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _role(body: BodyMap, side: Side, role: str) -> int | None:
    joint: int | None = getattr(body, f"{side}_{role}")
    return joint


class _Flesh:
    """Points and parts gathered one after the other."""

    def __init__(self, motion: Motion, body: BodyMap) -> None:
        self.motion, self.body = motion, body
        self.height = stature(motion.skeleton, body)
        self.positions, self.quats = motion.world_pose()
        self.columns: list[FloatArray] = list(np.moveaxis(self.positions, 1, 0))  # P of (F, 3)
        self.parts: list[Part] = []
        heading = facing(motion, body=body)
        self.ahead = np.stack([np.sin(heading), 0.0 * heading, np.cos(heading)], axis=-1)  # (F, 3)

    def add(self, name: str, side: Side, *balls: tuple[int | None, float]) -> None:
        """A part over points, radii as fractions of the height; absent points are left out."""
        sized = [(p, r * self.height) for p, r in balls if p is not None]
        if sized:
            self.parts.append(
                Part(name, side, tuple(p for p, _ in sized), tuple(r for _, r in sized))
            )

    def point(self, column: FloatArray) -> int:
        """A further point (F, 3); returns its number."""
        self.columns.append(column)
        return len(self.columns) - 1

    def between(self, a: int, b: int, amount: float) -> int:
        """The point at ``amount`` of the way from one to another."""
        return self.point((1.0 - amount) * self.columns[a] + amount * self.columns[b])

    def beyond(self, joint: int, offset: FloatArray) -> int:
        """A point fixed in a joint's frame, by a world offset (F, 3) in parts of the height.

        Rigs differ in how their axes lie; the mean over the clip tells what is ahead of a head.
        """
        length = float(np.median(np.linalg.norm(offset, axis=-1))) * self.height
        local = quat.rotate(quat.conjugate(self.quats[:, joint]), offset).mean(axis=0)
        local *= length / max(float(np.linalg.norm(local)), 1e-9)
        return self.point(self.positions[:, joint] + quat.rotate(self.quats[:, joint], local))

    def add_legs(self) -> None:
        soles = foot_points(self.motion, body=self.body)  # (F, 4, 3)
        tips = tip_points(self.motion, body=self.body)  # (F, 2, 3)
        for s, side in enumerate(SIDES):
            hip, knee, ankle = (_role(self.body, side, role) for role in LEG)
            assert ankle is not None
            self.add("thigh", side, (hip, HIP), (knee, KNEE))
            self.add("shin", side, (knee, KNEE), (ankle, ANKLE))
            heel = self.point(soles[:, 2 * s])
            ball = self.point(soles[:, 2 * s + 1])
            self.add("foot", side, (ankle, ANKLE), (heel, HEEL), (ball, BALL))
            tip = self.point(tips[:, s])
            self.add("toes", side, (ball, BALL), (tip, TOE_TIP))

    def add_arms(self) -> None:
        for side in SIDES:
            shoulder, elbow, wrist = (
                _role(self.body, side, role) for role in ("shoulder", "elbow", "wrist")
            )
            self.add("upper arm", side, (shoulder, SHOULDER), (elbow, ELBOW))
            if wrist is None:
                continue
            self.add("forearm", side, (elbow, ELBOW), (wrist, WRIST))
            bone = self.positions[:, wrist] - self.positions[:, wrist if elbow is None else elbow]
            length = np.maximum(np.linalg.norm(bone, axis=-1, keepdims=True), 1e-9)
            fingers = self.beyond(wrist, 0.055 * bone / length)
            self.add("hand", side, (wrist, WRIST), (fingers, HAND))

    def add_trunk(self) -> None:
        body = self.body
        hips = (body.left_hip, body.right_hip)
        assert hips[0] is not None and hips[1] is not None
        seat = self.between(hips[0], hips[1], 0.5)
        shoulders = (body.left_shoulder, body.right_shoulder)
        if shoulders[0] is None or shoulders[1] is None:
            top = body.neck if body.neck is not None else body.head
            self.add("trunk", "middle", (seat, WAIST), (top, NECK))
            return
        yoke = self.between(shoulders[0], shoulders[1], 0.5)
        inward = [self.between(joint, yoke, 0.28) for joint in shoulders if joint is not None]
        # The spine's own joints give the bend; their places along the back differ from rig to rig,
        # so a straight guess stands in where a rig has none between seat and shoulders.
        inner = [j for j in body.spine if self._share(seat, yoke, j) > 0.15]
        low = min(inner, key=lambda j: abs(self._share(seat, yoke, j) - 0.35), default=None)
        high = min(inner, key=lambda j: abs(self._share(seat, yoke, j) - 0.72), default=None)
        waist = self.between(seat, yoke, 0.35) if low is None else low
        chest = self.between(seat, yoke, 0.72) if high is None else high
        waist = self.point(self.columns[waist] + 0.012 * self.height * self.ahead)
        chest = self.point(self.columns[chest] + 0.016 * self.height * self.ahead)
        self.add("seat", "middle", (hips[0], SEAT), (hips[1], SEAT), (waist, WAIST))
        throat = body.neck if body.neck is not None else yoke
        broad = [(p, 0.036) for p in inward]
        self.add("chest", "middle", (waist, WAIST), (chest, CHEST), *broad, (throat, NECK))
        if body.head is not None:
            self.add(
                "neck", "middle", (self.between(throat, body.head, 0.35), NECK), (body.head, NECK)
            )

    def _share(self, a: int, b: int, joint: int) -> float:
        way = self.columns[b] - self.columns[a]
        along = np.sum((self.columns[joint] - self.columns[a]) * way, axis=-1)
        return float(np.median(along / np.maximum(np.sum(way * way, axis=-1), 1e-9)))

    def add_head(self) -> None:
        # Rigs without a head joint let the neck carry the head.
        head, neck = self.body.head, self.body.neck
        carrier = neck if head is None else head
        if carrier is None:
            return
        below = neck if head is not None and neck is not None else (self.body.spine or (0,))[-1]
        up = self.positions[:, carrier] - self.positions[:, below]
        if float(np.median(np.linalg.norm(up, axis=-1))) < 1e-3:
            up = np.tile([0.0, 1.0, 0.0], (len(up), 1))
        unit = up / np.maximum(np.linalg.norm(up, axis=-1, keepdims=True), 1e-9)
        base = 0.0 if head is not None else HEAD_OVER_NECK
        skull = self.beyond(carrier, (0.062 + base) * unit - 0.004 * self.ahead)
        chin = self.beyond(carrier, (0.034 + base) * unit + 0.017 * self.ahead)
        self.add("head", "middle", (skull, SKULL), (chin, CHIN))
        if head is None:
            self.add("neck", "middle", (carrier, NECK), (self.between(carrier, skull, 0.4), NECK))

    def add_loose_bones(self) -> None:
        """Bones that no role covers (a tail, a prop), thin; fingers and faces are left out."""
        skeleton, body = self.motion.skeleton, self.body
        roles = {j for part in self.parts for j in part.points if j < skeleton.n_joints}
        roles.update(j for role in ROLES for j in _joints(getattr(body, role)))
        quiet = {_role(body, side, role) for side in SIDES for role in ("wrist", "ankle")} | {
            body.head
        }
        for j in range(1, skeleton.n_joints):
            chain = skeleton.chain(j)
            on_the_way = any(j in skeleton.chain(r) for r in roles)
            if j in roles or on_the_way or any(k in quiet for k in chain[:-1]):
                continue
            parent = int(skeleton.parents[j])
            length = float(
                np.median(np.linalg.norm(self.positions[:, j] - self.positions[:, parent], axis=-1))
            )
            if length > 0.05 * self.height:
                self.add("bone", "middle", (parent, 0.012), (j, 0.010))


def _bare_figure(motion: Motion) -> Figure:
    positions = motion.world_positions()
    ends = motion.end_positions()
    points = np.concatenate([positions, ends], axis=1)
    size = float(np.median(np.ptp(points, axis=1).max(axis=-1))) or 1.0
    skeleton = motion.skeleton
    pairs = [(int(skeleton.parents[j]), j) for j in range(1, skeleton.n_joints)]
    pairs += [(int(at), skeleton.n_joints + e) for e, at in enumerate(skeleton.end_parents)]
    thick = 0.014 * size
    parts = [Part("bone", "middle", pair, (thick, 0.7 * thick)) for pair in pairs]
    parts = parts or [Part("bone", "middle", (0,), (thick,))]
    return Figure(points, tuple(parts), size)


def ball_hull(centres: FloatArray, radii: FloatArray) -> FloatArray:
    """Corners (K, 2) of the convex outline around discs.

    In each direction the outline touches the disc that reaches farthest; two discs of different
    size give a tapered capsule, and more of them a torso or a foot.

    Parameters
    ----------
    centres : (N, 2)
        Middles of the discs.
    radii : (N,)
        In the same unit.

    Examples
    --------
    >>> outline = ball_hull(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([1.0, 0.5]))
    >>> float(outline[:, 0].min()), float(outline[:, 0].max())
    (-1.0, 3.5)
    """
    reach = centres @ _RAYS.T + radii[:, None]  # (N, K)
    farthest = np.argmax(reach, axis=0)
    corners: FloatArray = centres[farthest] + radii[farthest, None] * _RAYS
    return corners
