"""The audit's independent check: each joint of a result against the same joint in its sources.

Written from the definitions alone, on joint positions, without motionloom's own check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from motionloom import Provenance
from studies.audit import audit_signals as signals
from studies.audit.audit_feet import SOLES, Feet, common_heel, same_heels
from studies.audit.audit_own import Own, braking
from studies.audit.audit_signals import SIDES, Array, Points

FLIP_RATIO = 3.0
FLIP_DEG = 5.0
"""A step at 60 Hz that turns a bone by less is no flip, whatever the frames around it do."""
FLIP_LEG_S = 0.07
FLOATING_M = 0.06
"""A retarget stands so far from where its rig stands at most, and as far as its source floats."""
LIMBS = ("knee", "ankle", "toe", "elbow", "wrist")
"""Joints whose bones are the same on all skeletons; the others differ in how a spine is divided."""
MARGIN = 1.1
"""Two ways to measure the same limit differ by less than this; a smaller excess is no failure."""
SOLE_MARGIN = 1.25
"""The same for slides: where a heel is, is an estimate."""
KNEE_MARGIN_DEG = 1.0
SAME_M = 1e-3
"""A captured step is the clip's own within this much."""
FLOORS_M = 0.06
"""The floor of a clip, as its stances show it, may be so far off that of the result."""
SAME_STEP = 1.15
"""A step at most so much larger than the source's in the very frame is the source's own."""


class Failure(NamedTuple):
    """One violated limit."""

    check: str
    joint: str
    frame: int
    value: float
    limit: float

    def __str__(self) -> str:
        where = f"{self.check}: {self.joint} at frame {self.frame}"
        return f"{where}: {self.value:.4g}, limit {self.limit:.4g}"


class Copied(NamedTuple):
    """Frames of a result that stand for certain frames of one source."""

    first: int
    stop: int
    source: int
    source_first: int


@dataclass(frozen=True, eq=False)
class Result:
    """A motion to judge, and where its frames come from."""

    points: Points
    copied: Sequence[Copied] = ()
    """Capture glitches of the source in these frames are no fault of the result."""
    span: tuple[int, int] | None = None
    """First and last frame that were synthesized; None where the heading has no plan."""
    used: Sequence[Copied] = ()
    """Frames of windows that were blended into these: a glitch that is in the source frames used is
    no new one. Flips fail whatever the sources do."""
    provenance: Provenance | None = None
    """Frames that are a clip's own, and steps between two of them, are not judged."""
    clips: Sequence[Own] = ()
    """The clips of the provenance, in its order: frames are theirs where they move as they do."""
    hips_jerk: Array | None = None
    """Acceleration of captured hips, which the trunk on them may have too. (F - 2,)"""

    @cached_property
    def own_steps(self) -> NDArray[np.bool_]:
        """Steps in which every joint moves as far, and rises as much, as in the clip. (F - 1,)"""
        own = np.zeros(len(self.points.positions) - 1, dtype=bool)
        if self.provenance is None:
            return own
        steps = np.diff(self.points.positions, axis=0)
        for first, last, source, start in self.provenance.copies():
            clip = self.clips[source].points.positions[start : start + last - first + 1]
            theirs = np.diff(clip, axis=0)
            ours = steps[first : first + len(theirs)]
            far = np.abs(np.linalg.norm(ours, axis=-1) - np.linalg.norm(theirs, axis=-1))
            rise = np.abs(ours[..., 1] - theirs[..., 1])
            own[first : first + len(theirs)] = np.maximum(far, rise).max(axis=1) < SAME_M
        return own

    @cached_property
    def own_frames(self) -> NDArray[np.bool_]:
        """Frames with such a step before or after them. (F,)"""
        return np.r_[self.own_steps, False] | np.r_[False, self.own_steps]


@dataclass(eq=False)
class Sources:
    """The clips a result was made of, measured once."""

    clips: Sequence[Own]
    scale: float = 1.0
    """Size of the result's body relative to theirs."""
    slack: float = 1.0
    """How much more a joint may do: bones of another skeleton point in other directions."""
    rig: Own | None = None
    """A captured clip on the result's skeleton, where the sources are on another one."""

    def __post_init__(self) -> None:
        rigs = self.clips if self.rig is None else [self.rig]
        self.heels = [common_heel([own.feet.heels[n] for own in rigs]) for n in range(len(SIDES))]
        if self.rig is not None:
            self.heels = same_heels(self.heels)
        # A result's heels are those of all sources: slides of these are measured with the same.
        feet = [own.feet for own in self.clips]
        if self.rig is None:
            feet = [f if f.heels == self.heels else Feet(f.points, self.heels) for f in feet]
        self.contact_slide = max((s[0] for f in feet for s in f.contact_slides()), default=0.0)
        slides = (s[0] for f in feet for s in f.low_slides(f.floors))
        self.low_slide = max(slides, default=0.0)
        floors = np.min([own.feet.floors for own in self.clips], axis=0)
        self.floors = self.scale * floors
        self.floor = self.scale * floors.min()
        self.lowest = self.scale * min(own.lowest for own in self.clips)
        # Over the level of the whole clip: a box or stairs in it license as much in a result.
        hovers = (s[0] for own in self.clips for s in own.feet.hovers(own.feet.level))
        self.hover = max(hovers, default=0.0)

    def own(self, quantity: str, key: str) -> float | None:
        """The largest a joint does in any source; None where no source has the joint."""
        if self.rig is not None and not key.endswith(LIMBS):
            return None
        values = [getattr(own, quantity).get(key) for own in self.clips]
        given = [value for value in values if value is not None]
        return self.slack * max(given) if given else None

    def bone_scale(self, points: Points, n: int) -> float:
        """Length of the bone to a judged joint relative to the sources' bones, if longer."""
        key = points.keys[n]
        ours = signals.bone_lengths(points)[n]
        for own in self.clips:
            if key in own.points.keys:
                theirs = signals.bone_lengths(own.points)[own.points.keys.index(key)]
                return max(self.scale, float(ours / max(theirs, 1e-6)))
        return self.scale

    def most(self, quantity: str) -> float:
        return max(float(getattr(own, quantity)) for own in self.clips)


def check(result: Result, sources: Sources, *, splice: bool = False) -> list[Failure]:
    """Everything wrong with a result, at most one failure per check and joint, worst first."""
    failures = [
        *_joints(result, sources),
        *_flips(result, sources),
        *_knees(result, sources),
        *_pelvis(result, sources),
        *_feet(result, sources),
    ]
    if splice:
        value = float(np.percentile(signals.chest_turn(result.points), 95.0) * result.points.fps)
        limit = MARGIN * max(1.3 * sources.most("chest_p95"), 40.0)
        if value > limit:
            failures.append(Failure("head", "shoulders and head", 0, value, limit))
    return sorted(failures, key=lambda f: -abs(f.value - f.limit) / max(abs(f.limit), 1e-3))


def _joints(result: Result, sources: Sources) -> list[Failure]:
    """Turn, speed and second difference of every judged joint."""
    points, fps, scale = result.points, result.points.fps, sources.scale
    licensed = _licensed(result, sources, [*result.copied, *result.used])
    own = result.own_steps
    steps = ~(licensed[1:] | licensed[:-1] | own[:, None])
    any_licensed = licensed.any(axis=1)
    calm = ~(any_licensed[2:] | any_licensed[1:-1] | any_licensed[:-2] | own[1:] & own[:-1])
    jerks = signals.accelerations(points)
    if result.hips_jerk is not None:
        calm = calm[:, None] & (jerks > result.hips_jerk[:, None])
    else:
        calm = calm[:, None]
    failures = []
    for check, values, ratio, size, least in (
        ("turn", np.where(steps, signals.bone_turns(points) * fps, 0.0), 1.3, 1.0, 300.0),
        ("speed", np.where(steps, signals.relative_speeds(points), 0.0), 1.3, scale, 1.2),
        ("accel", np.where(calm, jerks, 0.0), 1.5, scale, 80.0),
    ):
        for n, key in enumerate(points.keys):
            largest = sources.own(check, key)
            if largest is None or not len(values):
                continue
            if check == "speed" and sources.rig is not None:  # in the parent: by its own bone
                size = sources.bone_scale(points, n)
            limit = MARGIN * max(ratio * size * largest, least)
            frame = int(values[:, n].argmax())
            if values[frame, n] > limit:
                failures.append(Failure(check, key, frame, float(values[frame, n]), limit))
    return failures


def _licensed(result: Result, sources: Sources, frames: Sequence[Copied]) -> NDArray[np.bool_]:
    """Frames whose source has a glitch there, and their neighbours. (F, N)"""
    points = result.points
    licensed = np.zeros((len(points.positions), len(points.judged)), dtype=bool)
    for first, stop, source, source_first in frames:
        wide = sources.clips[source].near_glitches
        if sources.clips[source].points.names != points.names:
            wide = np.repeat(wide.any(axis=1)[:, None], licensed.shape[1], axis=1)
        part = wide[source_first : source_first + stop - first]
        licensed[first : first + len(part)] |= part
    return licensed


def _flips(result: Result, sources: Sources) -> list[Failure]:
    """Single steps that stand out from the frames around them and from the sources."""
    points, fps = result.points, result.points.fps
    turns = signals.bone_turns(points)
    licensed = _licensed(result, sources, result.copied)
    half = max(3, round(0.1 * fps))
    usual = signals.around(turns, half)
    least = FLIP_DEG * signals.long_step(points)
    flips = (turns > least) & (turns > FLIP_RATIO * usual) & ~(licensed[1:] | licensed[:-1])
    flips &= ~result.own_steps[:, None]
    failures = []
    for n, key in enumerate(points.keys):
        own = sources.own("turn", key)
        limit = MARGIN * max((own or 0.0) / fps, least)
        bad = np.flatnonzero(flips[:, n] & (turns[:, n] > limit))
        # One frame, or two: a swing that rises and falls over more is judged by its speed. Legs
        # that change their side may take four.
        brief = max(1.0, (FLIP_LEG_S if key.endswith(("knee", "ankle")) else signals.BURST_S) * fps)
        bad = np.array([f for f in bad if signals.width_of(turns[:, n], int(f)) <= brief], int)
        if len(bad) and own is not None:
            frame = int(bad[turns[bad, n].argmax()])
            failures.append(Failure("flip", key, frame, float(turns[frame, n]), limit))
    glitches = signals.glitch_frames(points) & ~licensed & ~_repeated(result, sources, turns)
    glitches &= ~_between(result.own_steps)[:, None]
    for n, key in enumerate(points.keys):
        if glitches[:, n].any() and sources.own("turn", key) is not None:
            frame = int(np.flatnonzero(glitches[:, n])[0])
            value = float(turns[max(0, frame - 1) : frame + 1, n].max())
            failures.append(Failure("glitch", key, frame, value, signals.GLITCH_DEG))
    return failures


def _between(steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Frames of which the steps to and from them are flagged. (F - 1,) to (F,)"""
    return np.r_[True, steps] & np.r_[steps, True]


def _repeated(result: Result, sources: Sources, turns: Array) -> NDArray[np.bool_]:
    """Frames whose steps (F - 1, N) are in the source frames used: nothing there is new. (F, N)"""
    repeated = np.zeros(turns.shape, dtype=bool)
    for first, stop, source, source_first in [*result.copied, *result.used]:
        if sources.clips[source].points.names != result.points.names:
            continue
        own = sources.clips[source].bone_turns
        first, source_first = first - min(source_first, 0), max(source_first, 0)
        count = max(0, min(stop - first, len(own) - source_first, len(turns) - first))
        rows = slice(first, first + count)
        repeated[rows] |= turns[rows] <= SAME_STEP * own[source_first : source_first + count]
    ends = np.ones((1, turns.shape[1]), dtype=bool)
    return np.concatenate([ends, repeated]) & np.concatenate([repeated, ends])


def _knees(result: Result, sources: Sources) -> list[Failure]:
    """Backward and overbent knees, and knees that snap."""
    points = result.points
    licensed = _licensed(result, sources, result.copied).any(axis=1)
    flexion = signals.knee_flexion(points)
    rate = np.abs(np.diff(flexion, axis=0)) * points.fps
    least = min(min(own.knee_least for own in sources.clips) - 3.0, -5.0) - KNEE_MARGIN_DEG
    most = max(sources.most("knee_most") + 10.0, 155.0)
    fastest = MARGIN * max(1.3 * sources.most("knee_rate"), 500.0)
    failures = []
    for n, side in enumerate(SIDES):
        for check, values, limit, sign in (
            ("knee backwards", flexion, least, -1.0),
            ("knee overbent", flexion, most, 1.0),
            ("knee snap", rate, fastest, 1.0),
        ):
            own = result.own_frames if len(values) == len(flexion) else result.own_steps
            allowed = licensed[: len(values)] | licensed[-len(values) :] | own
            frame = int(np.where(allowed, -np.inf, sign * values[:, n]).argmax())
            if sign * values[frame, n] > sign * limit and not allowed[frame]:
                failures.append(
                    Failure(check, f"{side}_knee", frame, float(values[frame, n]), limit)
                )
    return failures


def _pelvis(result: Result, sources: Sources) -> list[Failure]:
    """Turn rate of the pelvis, pirouettes, heading away from the plan, sudden stops."""
    points, fps = result.points, result.points.fps
    failures = []
    rate = signals.pelvis_turn(points) * fps
    licensed = _licensed(result, sources, result.copied).any(axis=1)
    rate = np.where(licensed[1:] | licensed[:-1] | result.own_steps, 0.0, rate)
    limit = MARGIN * max(1.5 * sources.most("pelvis"), 300.0)
    if rate.max(initial=0.0) > limit:
        failures.append(
            Failure("pelvis turn", "pelvis", int(rate.argmax()), float(rate.max()), limit)
        )
    # Bones above the pelvis turn no faster than the body does.
    roots = np.where(result.own_steps, 0.0, signals.root_turn(points) * fps)
    limit = MARGIN * max(1.3 * max(sources.most("pelvis"), rate.max(initial=0.0)), 200.0)
    if roots.max(initial=0.0) > limit:
        failures.append(
            Failure("root turn", "root", int(roots.argmax()), float(roots.max()), limit)
        )
    if result.span is not None:
        failures += _heading(points, result.span, sources)
    brake = braking(points)
    over = np.lib.stride_tricks.sliding_window_view(
        ~result.own_steps, len(points.positions) - len(brake)
    )
    brake = np.where(over.any(axis=1), brake, 0.0) if len(brake) > 1 else brake
    limit = MARGIN * max(9.0, 1.3 * sources.scale * sources.most("brake"))
    if brake.max() > limit:
        failures.append(
            Failure("braking", "pelvis", int(brake.argmax()), float(brake.max()), limit)
        )
    return failures


def _heading(points: Points, span: tuple[int, int], sources: Sources) -> list[Failure]:
    """The body may turn from the span's first heading to its last, as far as its sources sway."""
    heading = signals.heading(points)[span[0] : span[1] + 1]
    seconds = (span[1] - span[0]) / points.fps
    turned = max(own.sway(seconds) for own in sources.clips)
    failures = []
    limit = max(225.0, turned + 60.0)
    if abs(heading[-1] - heading[0]) > limit:
        value = float(abs(heading[-1] - heading[0]))
        failures.append(Failure("pirouette", "pelvis", span[1], value, limit))
    low, high = sorted((heading[0], heading[-1]))
    away = np.maximum(low - heading, heading - high)
    limit = 30.0 + turned
    if away.max() > limit:
        frame = span[0] + int(away.argmax())
        failures.append(Failure("heading", "pelvis", frame, float(away.max()), limit))
    return failures


def _feet(result: Result, sources: Sources) -> list[Failure]:
    """Sinking, sliding and hovering."""
    feet = Feet(result.points, sources.heels)
    floors, lowest = sources.floors, sources.lowest
    if sources.rig is not None:  # joints of another skeleton stand at other heights
        floors = feet.floors
        lowest = float(floors.min()) - (sources.floor - sources.lowest)
    failures = []
    if sources.rig is not None and sources.rig.feet.stands.any():  # else nothing shows its floor
        off = abs(feet.level - sources.rig.feet.level)
        own = max(abs(own.feet.level) for own in sources.clips)
        afloat = MARGIN * (FLOATING_M + sources.scale * own)
        if off > afloat:
            failures.append(Failure("floating", "body", 0, off, afloat))
    licensed = _licensed(result, sources, result.copied).any(axis=1)
    heights = np.where((licensed | result.own_frames)[:, None], np.inf, feet.soles[..., 1])
    limit = lowest - 0.025
    for k, name in enumerate(SOLES):
        frame = int(heights[:, k].argmin())
        if heights[frame, k] < limit:
            failures.append(Failure("sinking", name, frame, float(heights[frame, k]), limit))
    low_slides = feet.low_slides(floors, copied=result.own_steps)
    if sources.rig is not None:  # where heels are on another skeleton is not known well enough
        low_slides = [slide for slide in low_slides if SOLES[slide[1]].endswith("ball")]
    for check, slides, limit in (
        (
            "contact slide",
            feet.contact_slides(copied=result.own_frames),
            max(0.04, sources.contact_slide),
        ),
        ("low slide", low_slides, max(0.10, 1.2 * sources.low_slide)),
    ):
        worst = max(slides, default=(0.0, 0, 0))
        if worst[0] > SOLE_MARGIN * limit:
            name, limit = SOLES[worst[1]], SOLE_MARGIN * limit
            failures.append(Failure(check, name, worst[2], worst[0], limit))
    # Sources on stairs or afloat all the time say little about how long is too long.
    limit = MARGIN * max(0.12, (1.2 if sources.hover < 0.5 else 3.0) * sources.hover)
    hover = max(
        feet.hovers(_levels(result, sources, feet), copied=result.own_frames), default=(0.0, 0)
    )
    if hover[0] > limit:
        failures.append(Failure("hovering", "body", hover[1], hover[0], limit))
    return failures


def _levels(result: Result, sources: Sources, feet: Feet) -> Array:
    """Height of the floor in each frame of a result. (F,)

    Where frames come from a source, that of the source there, the highest of several (a retarget:
    the source's lowest point, because toes end at other heights on other rigs); otherwise
    that of the source that stands highest, or of the copied frames before and after.
    """
    own = [clip.feet for clip in sources.clips]
    above = np.full(len(feet.lowest), -np.inf)  # over the clip's level, which another rig changes
    highest = max(each.level for each in own)
    for first, stop, source, source_first in [*result.copied, *result.used]:
        levels = own[source].levels
        if sources.rig is not None:  # jumps of the source are its own: how far off it, is judged
            levels = np.maximum(levels, own[source].lowest)
        part = levels[max(source_first, 0) : source_first + stop - first] - highest
        rows = slice(first + max(-source_first, 0), first + max(-source_first, 0) + len(part))
        part = part[: len(above[rows])]
        above[rows] = np.maximum(above[rows], part)
    finite = np.flatnonzero(np.isfinite(above))
    gaps = np.flatnonzero(~np.isfinite(above))
    above[gaps] = 0.0
    if len(finite) and len(gaps):
        after = np.searchsorted(finite, gaps)
        for near in (after - 1, after):
            inside = (near >= 0) & (near < len(finite))
            between = gaps[inside]
            above[between] = np.maximum(above[between], above[finite[near[inside]]])
    base = feet.level if sources.rig is not None else highest
    return np.asarray(base + sources.scale * above)
