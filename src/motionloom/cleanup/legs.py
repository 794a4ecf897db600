"""Legs: where they are, how far they reach, how they follow their ankles, and how they stay smooth.

A hold that begins while its foot still moves, or a twitch of the hips over a planted foot, would
need a kick of the leg. There the correction is smoothed in time: where it is constant the leg
turns exactly as captured. The foot leaves its place for these frames, and they are not held.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, running_maximum
from motionloom._core import Record, kernel, maker
from motionloom.body.anatomy import SIDES, Knee
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.glitch_frames import sudden_turn_places
from motionloom.motion.motion import LimbSolution, Motion, runs_of, solve_limb
from motionloom.rotation.quat import ease

_read = kernel("ml_leg_read")
_damp = kernel("ml_knee_damp")
_damp_span = kernel("ml_knee_damp_span")
_soften_span = kernel("ml_knee_soften_span")
_aim = kernel("ml_leg_aim")
_leg = maker("ml_leg")

Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""
NO_HOLDS: BoolArray = np.zeros((0, 2), dtype=bool)
NO_PLACES: FloatArray = np.zeros((0, 2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Foot:
    """Joints of a leg, where they are, and where heel and ball are held. Metres, world."""

    joints: tuple[int, int, int, int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    hip: FloatArray
    knee: FloatArray
    ankle: FloatArray
    heel: FloatArray
    ball: FloatArray
    """Where these are in the motion that came in. Shapes (F, 3)."""
    bones: FloatArray
    """Length of thigh, of shank, and from hip to ankle. Shape (3, F)."""
    hinge: FloatArray
    """World axis about which the knee bends. Shape (F, 3)."""
    pole: FloatArray | None
    """World direction in which the knee points; None to keep the side it has. Shape (F, 3)."""
    held: BoolArray = dataclasses.field(default_factory=lambda: NO_HOLDS)
    """Heel, ball. Shape (F, 2)."""
    places: FloatArray = dataclasses.field(default_factory=lambda: NO_PLACES)
    """Where heel and ball are to be while they are held. Shape (F, 2, 3)."""

    def __getitem__(self, rows: slice) -> Foot:
        """The same foot in some frames."""
        return Foot(
            self.joints,
            self.hip[rows],
            self.knee[rows],
            self.ankle[rows],
            self.heel[rows],
            self.ball[rows],
            np.ascontiguousarray(self.bones[:, rows]),
            self.hinge[rows],
            None if self.pole is None else self.pole[rows],
            self.held[rows],
            self.places[rows],
        )

    @property
    def standing(self) -> BoolArray:
        """Whether either point is held. Shape (F,)."""
        return np.asarray(self.held[:, 0] | self.held[:, 1])


def read_feet(
    knees: tuple[Knee, Knee],
    body: BodyMap,
    pose: tuple[FloatArray, FloatArray],
    points: FloatArray,
    *,
    poles: bool = True,
) -> tuple[Foot, Foot]:
    """Left and right foot, nothing held yet.

    Parameters
    ----------
    knees
        Hinges of both knees.
    body
        Roles of the joints.
    pose
        World positions (F, J, 3) and rotations (F, J, 4).
    points : (F, 4, 3)
        Heels and balls.
    poles
        Whether knees stay on the side that anatomy gives them.
    """
    positions, quats = pose
    n = len(positions)

    def one(side: str, knee: Knee, at: int) -> Foot:
        hip, middle, ankle, hinge, pole = (np.zeros((n, 3)) for _ in range(5))
        bones, joints = np.zeros((3, n)), np.array(knee[:3], dtype=np.int64)
        axes = (np.ascontiguousarray(knee.axis), np.ascontiguousarray(knee.pole))
        _read(
            *positions.shape[:2], positions, quats, joints, *axes,
            hip, middle, ankle, bones, hinge, pole,
        )  # fmt: skip
        return Foot(
            (knee.hip, knee.knee, knee.ankle, getattr(body, f"{side}_toe")),
            hip,
            middle,
            ankle,
            np.ascontiguousarray(points[:, at]),
            np.ascontiguousarray(points[:, at + 1]),
            bones,
            hinge,
            pole if poles else None,
        )

    return one(SIDES[0], knees[0], 0), one(SIDES[1], knees[1], 2)


def leg_record(foot: Foot, reach: FloatArray) -> Record:
    """A leg as the core takes it, with how far its ankle may be from the hip (F,), metres."""
    made: Record = _leg(
        n_frames=len(foot.hip),
        hip=foot.hip,
        knee=foot.knee,
        ankle=foot.ankle,
        heel=foot.heel,
        ball=foot.ball,
        bones=foot.bones,
        reach=reach,
    )
    return made


# --- Reach: knees are damped near full stretch


def reach_of(foot: Foot) -> FloatArray:
    """How far from the hip the ankle may be taken, metres. Shape (F,).

    As far as the damped knee opens when asked for full stretch: never straight, and never less
    than the motion itself has in that frame.
    """
    upper, lower, span = foot.bones
    return damped_span(upper, lower, span, upper + lower)


def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Knee angle between the present and the wanted one that opens ever less near full stretch.

    Closed form of Kovar, Schreiner and Gleicher 2002, equations 10 and 11: the change is the
    integral of a weight that falls from 1 at 2.8 radians to 0 at pi. Shapes (F,), radians.
    """
    angles = np.zeros(len(now))
    _damp(len(now), now, wanted, angles)
    return angles


def damped_span(
    upper: FloatArray, lower: FloatArray, before: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Distance of the bones' ends at the damped knee angle, metres. Shapes (F,)."""
    spans = np.zeros(len(wanted))
    _damp_span(len(wanted), upper, lower, before, wanted, spans)
    return spans


def soft_span(
    before: FloatArray, wanted: FloatArray, reach: FloatArray, part: FloatArray
) -> FloatArray:
    """Hip to ankle as ``wanted``, but easing into ``reach`` instead of passing it.

    The same damping as :func:`damped_angle`, of the distance: knee angles have an infinite slope at
    full stretch, and a foot in the air that runs into it would jerk its knee. A leg that is asked
    for the span it had keeps it. Shapes (F,), metres; damping sets in at ``part`` of the reach
    before it.
    """
    spans = np.zeros(len(wanted))
    _soften_span(len(wanted), before, wanted, np.ascontiguousarray(reach), part, spans)
    return spans


# --- Rotations


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray | None
    """Length of thigh and shank over what it was; None for rigid bones. Shape (F,)."""


def solve_leg(
    foot: Foot,
    leg: Record,
    root_shift: FloatArray,
    target: FloatArray,
    *,
    length: float,
    free_change: float,
    stretch: bool,
) -> LegSolution:
    """Rotations that take the ankle to ``target``.

    Where the foot is held the target is met. Where it is free, a leg that would come near full
    stretch is damped, and its ankle stays a little behind.

    Parameters
    ----------
    foot
        The leg as it is.
    leg
        The same as the core takes it.
    root_shift, target : (F, 3)
        Shift of the hip, and where the ankle is to be, metres.
    length
        Frames over which damping sets in around a hold.
    free_change
        What a knee may speed up by where a hold ends, metres per frame and frame.
    stretch
        Damp the knee everywhere, and let the bones change length to meet the target.
    """
    n = len(target)
    hip, knee, ankle, end = (np.zeros((n, 3)) for _ in range(4))
    _aim(
        n, leg, foot.held, root_shift, target, length, free_change, np.zeros(n, dtype=np.uint8),
        np.zeros((4, n)), hip, knee, ankle, end,
    )  # fmt: skip
    if stretch:
        way = target - hip
        wanted = np.sqrt(np.einsum("fc,fc->f", way, way))
        upper, lower, before = foot.bones
        span = damped_span(upper, lower, before, wanted)
        part = np.where(span == wanted, 1.0, span / np.maximum(wanted, 1e-12))
        end = hip + way * part[:, None]
    limb = solve_limb(hip, knee, ankle, end, foot.hinge, pole=foot.pole, straight=0.0, soft=0.0)
    if not stretch:
        return LegSolution(limb, None)
    got = np.sqrt(np.sum((limb.end - hip) ** 2, axis=-1))
    return LegSolution(limb, wanted / np.maximum(got, 1e-12))


# --- Blend-off: how an offset that is needed in some frames runs out in the frames around them

_blend = kernel("ml_offset_blend")
_near = kernel("ml_offset_near")
_spread = kernel("ml_offset_spread")
_highest = kernel("ml_offset_highest")

LONGEST_HALF = 1000
"""Frames of half a window at most, where a clip has fewer."""


def blend_off(values: FloatArray, held: BoolArray, *, length: float, stop: float) -> FloatArray:
    """``values`` where they are held, and a smooth way to zero or to the next hold in other frames.

    Exactly zero from ``length`` frames beyond a hold on. Holds at most twice as far apart are
    joined directly. Value and slope are met at the edge of a hold, so that a foot comes to rest
    without a kick: the departure from Kovar, Schreiner and Gleicher, whose offsets start flat.

    Parameters
    ----------
    values : (F, C)
        Used in held frames only.
    held : (F,)
        Where ``values`` must be met.
    length
        Frames over which a value runs out.
    stop
        Frames over which a slope runs out: short, or the offset overshoots.
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _blend(*values.shape, values, np.ascontiguousarray(held), float(length), float(stop), out)
    return out


def nearness(held: BoolArray, length: float) -> FloatArray:
    """1 in held frames, falling smoothly to 0 at ``length`` frames from the nearest. Shape (F,)."""
    out = np.zeros(len(held))
    _near(len(held), np.ascontiguousarray(held), float(length), out)
    return out


def spread_smoothly(values: FloatArray, half: int) -> FloatArray:
    """Weighted mean over ``half`` frames to either side; beyond the ends the end value."""
    if half < 1:
        return np.array(values)
    half = bounded(half, len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _spread(len(values), values.size // max(len(values), 1), values, half, weights_of(half), out)
    return out


@lru_cache(maxsize=32)
def weights_of(half: int) -> FloatArray:
    """Weights of a smooth window over ``half`` frames to either side, which sum to one."""
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0), nested=True)
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def highest_nearby(values: FloatArray, half: int) -> FloatArray:
    """Largest value within ``half`` frames to either side. Shape (F,)."""
    half = bounded(half, len(values))
    out = np.zeros(len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    _highest(len(values), values, half, np.zeros(len(values) + 2 * half), out)
    return out


def bounded(half: int, n_frames: int) -> int:
    """The half window, at most the clip or 1000 frames, whatever the frame rate is."""
    return min(half, max(n_frames, LONGEST_HALF))


# --- Smooth legs: no joint turns faster than in the clip, and no knee jerks over a held foot

_find = kernel("ml_calm_find")
_largest = kernel("ml_calm_largest")
_share = kernel("ml_calm_share")
_smooth = kernel("ml_calm_smooth")

FREE_DEG_S = 300.0
"""Any joint may turn this fast, degrees per second."""
AROUND_S = 0.1
"""A step that stands out from the steps within this time around it is a flip, seconds."""
JERK_OVER_OWN, FREE_M_S2 = 1.5, 80.0
"""A knee may accelerate this many times as much as its most in the clip, or this much, m/s2."""
WIDTHS_S = (0.008, 0.012, 0.017, 0.025, 0.04, 0.06, 0.09, 0.13, 0.18)
"""Time to either side over which a correction is smoothed, in one try after another, seconds."""
SuddenTurns = tuple[tuple[int, str], ...]
"""Frames after capture glitches, and the joints that have them."""


class Leg(NamedTuple):
    """A leg to keep calm."""

    joints: Sequence[int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    knee: FloatArray
    """Where its knee was, metres. Shape (F, 3)."""


class LegLimits:
    """Limits of one leg: a little more than it does in the clip itself.

    Parameters
    ----------
    captured
        The clip as it came.
    before
        The clip with knees repaired.
    leg
        The leg before it was cleaned.
    turns
        Capture glitches, whose steps are left alone.
    """

    def __init__(self, captured: Motion, before: Motion, leg: Leg, turns: SuddenTurns) -> None:
        joints = [joint for joint in leg.joints if joint is not None]
        self.joints: IntArray = np.array(joints, dtype=np.int64)
        self._clips, self._fps = (captured.local_quats, before.local_quats), captured.fps
        self._glitched = _glitched(captured, turns, joints[-1])
        self._own = np.zeros(len(joints))
        quats = captured.local_quats
        _largest(*quats.shape[:2], quats, len(joints), self.joints, self._glitched, self._own)
        jerks = np.where(
            self._glitched[1:] | self._glitched[:-1], 0.0, second_differences(leg.knee)
        )
        most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / captured.fps**2)
        self._jerk = np.maximum(most, jerks + 1e-12)

    def broken(self, local: FloatArray, knee: FloatArray) -> BoolArray:
        """Steps (F - 1,) beyond what the leg may do.

        Parameters
        ----------
        local : (F, J, 4)
            Local rotations of all joints.
        knee : (F, 3)
            Track of the leg's knee, metres.
        """
        fast = np.zeros(len(local) - 1, dtype=bool)
        _find(
            *local.shape[:2],
            local,
            *self._clips,
            len(self.joints),
            self.joints,
            self._own,
            float(np.radians(FREE_DEG_S)) / self._fps,
            max(3, round(AROUND_S * self._fps)),
            knee,
            self._jerk,
            self._glitched,
            np.zeros(len(local) + len(self.joints)),
            fast,
        )
        return fast


def limits_of(captured: Motion, before: Motion, legs: Sequence[Leg]) -> tuple[LegLimits, ...]:
    """What legs may do. See :class:`LegLimits`; none where a clip is too short to say."""
    if captured.n_frames < 4:
        return ()
    turns = sudden_turn_places(captured)
    return tuple(LegLimits(captured, before, leg, turns) for leg in legs)


def calm_legs(
    before: Motion, after: Motion, pose: tuple[FloatArray, FloatArray], limits: Sequence[LegLimits]
) -> tuple[Motion, BoolArray]:
    """The cleaned motion without steps that are too fast, and where its legs were changed (F, L).

    Parameters
    ----------
    before, after
        The clip with knees repaired, and cleaned.
    pose
        World positions and rotations of the cleaned one.
    limits
        Of L legs.
    """
    local = np.array(after.local_quats)
    changed = calm_rotations(before, local, pose, limits)
    if not changed.any():
        return after, changed
    local.flags.writeable = False  # else it would be copied once more
    return after.replace(local_quats=local), changed


def calm_rotations(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: Sequence[LegLimits],
) -> BoolArray:
    """Calm legs in place, and tell where they were changed (F, L).

    Parameters
    ----------
    before
        The clip with knees repaired.
    local : (F, J, 4)
        Local rotations of the cleaned one, which are written to.
    pose
        World positions and rotations of the cleaned one, as it comes in.
    limits
        Of L legs.
    """
    changed = np.zeros((len(local), len(limits)), dtype=bool)
    for k, leg in enumerate(limits):
        knee = np.ascontiguousarray(pose[0][:, leg.joints[1]])
        fast = leg.broken(local, knee)
        if fast.any():
            changed[:, k] = _calm_leg(before, local, pose, leg, fast, knee)
    return changed


def _calm_leg(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: LegLimits,
    fast: BoolArray,
    knee: FloatArray,
) -> BoolArray:
    """Smooth one leg in ``local`` (F, J, 4) and its ``knee`` (F, 3), in place.

    Returns where it was changed (F,).
    """
    n, joints = len(local), limits.joints
    changed, scratch = np.zeros(n, dtype=bool), np.zeros((n, len(joints), 3))
    part, hips = np.zeros(n), np.array(local[:, joints[0]])
    clips = (before.local_quats, hips, *pose)
    for width in WIDTHS_S:
        half = bounded(max(1, round(width * before.fps)), n)
        _share(n, fast, half + 1, part, changed)
        window = (part, half, weights_of(half))
        _smooth(*local.shape[:2], *clips, len(joints), joints, *window, scratch, local, knee)
        fast = limits.broken(local, knee)
        if not fast.any():
            break
    return changed


def _glitched(motion: Motion, turns: SuddenTurns, end: int) -> BoolArray:
    """Steps near capture glitches of the joints from the root to ``end``. Shape (F - 1,)."""
    chain = {motion.skeleton.names[joint] for joint in motion.skeleton.chain(end)}
    flags = np.zeros(motion.n_frames - 1, dtype=bool)
    for frame, joint in turns:
        if joint in chain:
            flags[max(0, frame - 3) : frame + 3] = True
    return flags


def second_differences(track: FloatArray) -> FloatArray:
    """Size of the second difference of a track (F, 3), metres. Shape (F - 2,)."""
    second = track[2:] - 2.0 * track[1:-1] + track[:-2]
    return np.asarray(np.sqrt(np.sum(second * second, axis=-1)))


# --- Quiet knees: where a knee over a held foot jerks, the hips take up the jerk instead
#
# A captured foot trembles by a millimetre or two, and its hip with it. Once the foot stands, only
# the hip trembles, and the knee between them is thrown by several times as much: in its angle where
# the leg is nearly straight, in its direction where the leg is folded. There the quick part of the
# change that holding made between hip and ankle is given to the root.

_jerk_sizes = kernel("ml_knee_jerks")

NEARBY_S = 0.25
"""A knee is compared with the clip within this time before and after, seconds."""
KNEE_WIDTHS_S = (0.008, 0.017, 0.033, 0.067)
"""Time to either side over which the change is smoothed, in one try after another, seconds."""
MOST_M, MOST_M_S2 = 0.005, 0.5 * FREE_M_S2
"""The root moves by no more than the first for it, and accelerates by no more than the second: what
is larger is no tremble, and would shake the whole body."""
EDGE = 2
"""Frames before and after a change of the root in which knees show what it does."""
WHOLE = 0.5
"""Where more than this part of the frames has to be solved again, all are."""
Solve = Callable[[FloatArray, slice], tuple[LegSolution, ...]]
"""Solutions of both legs in some frames, under a shift of the root (F, 3) of all."""


def quiet_knees(
    feet: tuple[Foot, Foot],
    reach: FloatArray,
    shift: FloatArray,
    solve: Solve,
    fps: float,
    *,
    apart: int,
) -> tuple[FloatArray, tuple[LegSolution, ...]]:
    """A shift of the root (F, 3) under which knees over held feet jerk less, and both legs.

    Parameters
    ----------
    feet
        Left and right, with their holds.
    reach : (F, 2)
        How far held ankles may be from their hips, metres.
    shift : (F, 3)
        Of the root so far, metres.
    solve
        Solves both legs under a shift.
    fps
        Frames per second.
    apart
        Frames from one to another beyond which the shift of one does not matter to the other.
    """
    legs = solve(shift, slice(None))
    if len(shift) < 2 * EDGE:
        return shift, legs
    most = _allowed(feet, fps)
    inside = np.stack([_inside(foot.standing) for foot in feet], axis=1)
    jerks = _jerks(legs) / most
    for width in KNEE_WIDTHS_S:
        half = max(1, round(width * fps))
        for k, foot in enumerate(feet):
            jerky = (jerks[:, k] > 1.0) & inside[:, k]
            if not jerky.any():
                continue
            way = legs[k].limb.end - (foot.hip + shift)
            more = _quick_part(foot, way, np.maximum(reach[:, k], _lengths(way)), jerky, half)
            moved = np.asarray(more.any(axis=1))
            tried = _again(solve, legs, shift + more, moved, apart)
            better = _better(more, _jerks(tried) / most, jerks, fps)
            if better.any():
                shift = shift + np.where(better[:, None], more, 0.0)
                whole = np.array_equal(better, moved)
                legs = tried if whole else _again(solve, legs, shift, better, apart)
                jerks = _jerks(legs) / most
    return shift, legs


def _again(
    solve: Solve, legs: tuple[LegSolution, ...], shift: FloatArray, moved: BoolArray, apart: int
) -> tuple[LegSolution, ...]:
    """Legs under a shift (F, 3) that is another one in ``moved`` (F,), solved near those only."""
    near = highest_nearby(moved.astype(np.float64), apart) > 0.0
    if near.mean() > WHOLE:
        return solve(shift, slice(None))
    limbs = [LimbSolution(*(np.array(part) for part in _parts(leg.limb))) for leg in legs]
    for first, last in runs_of(near):
        start = max(first - apart, 0)
        solved = solve(shift, slice(start, last + 1 + apart))
        for limb, leg in zip(limbs, solved, strict=True):
            for part, new in zip(_parts(limb), _parts(leg.limb), strict=True):
                part[first : last + 1] = new[first - start : last + 1 - start]
    return tuple(LegSolution(limb, None) for limb in limbs)


def _parts(limb: LimbSolution) -> tuple[FloatArray, ...]:
    """The arrays of a solution."""
    return limb.q_upper, limb.q_lower, limb.middle, limb.end, limb.miss


def _allowed(feet: tuple[Foot, Foot], fps: float) -> FloatArray:
    """Second differences of the knees' tracks that are no jerk, metres. (F, 2)."""
    own = _second(*(foot.knee for foot in feet))
    nearby = running_maximum(own, min(round(NEARBY_S * fps), len(own)))
    return np.maximum(JERK_OVER_OWN * nearby, FREE_M_S2 / fps**2)


def _inside(standing: BoolArray) -> BoolArray:
    """Frames (F,) that are held with those before and after them."""
    inside = np.zeros_like(standing)
    inside[1:-1] = standing[:-2] & standing[1:-1] & standing[2:]
    return inside


def _quick_part(
    foot: Foot, way: FloatArray, reach: FloatArray, jerky: BoolArray, half: int
) -> FloatArray:
    """Shift (F, 3) that takes the quick part out of the change from hip to ankle.

    Parameters
    ----------
    foot
        As it was captured.
    way : (F, 3)
        From hip to ankle, metres.
    reach : (F,)
        How long the way may be, metres.
    jerky : (F,)
        Where; it runs out over ``half`` frames around.
    half
        Frames to either side that tell quick from slow.
    """
    change = way - (foot.ankle - foot.hip)
    around = np.array(jerky)
    around[1:] |= jerky[:-1]
    around[:-1] |= jerky[1:]
    part = nearness(around, half + 1.0)[:, None]
    calm = way - part * (change - spread_smoothly(change, half))
    within = np.minimum(1.0, reach / np.maximum(_lengths(calm), 1e-9))
    return np.where(part > 0.0, way - calm * within[:, None], 0.0)


def _better(more: FloatArray, tried: FloatArray, jerks: FloatArray, fps: float) -> BoolArray:
    """Frames (F,) of changes of the root ``more`` (F, 3) that are small and make knees quieter."""
    moved = np.asarray(more.any(axis=1))
    better, bends = np.zeros_like(moved), _second(more)[:, 0] * fps**2
    for first, last in runs_of(moved):
        rows = slice(max(first - EDGE, 0), last + 1 + EDGE)
        small = _lengths(more[rows]).max() <= MOST_M and bends[rows].max() <= MOST_M_S2
        better[first : last + 1] = small and tried[rows].max() < jerks[rows].max()
    return better


def _jerks(legs: tuple[LegSolution, ...]) -> FloatArray:
    """Second differences of both knees, metres. (F, 2)."""
    return _second(*(leg.limb.middle for leg in legs))


def _second(*tracks: FloatArray) -> FloatArray:
    """Size of the second difference of T tracks (F, 3), 0 in the first and last frame. (F, T)."""
    n, out = len(tracks[0]), np.zeros((len(tracks[0]), len(tracks)))
    for k, track in enumerate(tracks):
        _jerk_sizes(n, np.ascontiguousarray(track), len(tracks), k, out)
    return out


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))
