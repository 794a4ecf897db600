"""The blend room: whole blends by weights or parameters, and blends steered live."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from motionloom.blending.blend import Blend, blend
from motionloom.blending.control import Controller, control
from motionloom.blending.parameters import ParameterSpace, parametrize
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.studio.answers import Answer, Why, WhyRow
from motionloom.studio.equivalents import command_line, load_lines, python_call
from motionloom.studio.finishing import (
    Matched,
    finish,
    gate_warnings,
    match_clips,
    quality_rows,
    worst,
)
from motionloom.studio.library import Library
from motionloom.studio.messages import BlendMake, ControlStart
from motionloom.studio.result import Result
from motionloom.studio.shown import bind_points
from motionloom.studio.wire import encode_pose

__all__ = ["BlendRoom", "LiveBlend"]

KEPT_CURVES = 8


class BlendRoom:
    """Blends of a library's clips; registration curves are kept, for they take longest."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._curves: dict[tuple[str, ...], tuple[RegistrationCurve, Matched]] = {}
        self._numbers = itertools.count(1)

    def make(self, wish: BlendMake) -> Result:
        """A whole blend."""
        curve, matched = self._curve(wish.clips)
        if (wish.weights is None) == (wish.parameters is None):
            raise ArrayError("A blend must have weights or parameters, one of them.")
        if wish.parameters is not None:
            space = self._space(curve)
            weights = [float(w) for w in space.weights(clamp=True, **wish.parameters)]
        else:
            weights = list(wish.weights or ())
        made = blend(curve, weights)
        finished = finish(made.motion, made.footplants, matched, clean=wish.clean)
        apart_cm = 100.0 * float(max(curve.costs))
        about = "distance of the bodies along the curve"
        rows = [WhyRow("registration", apart_cm, "cm", about=about), *quality_rows(finished)]
        sources = [self.library.source(clip) for clip in wish.clips]
        shares = ",".join(f"{w:.4g}" for w in weights)
        lines = load_lines([f"clip{n}" for n in range(len(sources))], sources)
        names = ", ".join(f"clip{n}" for n in range(len(sources)))
        lines.append(f"curve = ml.register([{names}])")
        lines.append("b = " + python_call("ml.blend", ["curve", f"[{shares.replace(',', ', ')}]"]))
        if wish.clean:
            lines.append("b = ml.clean_footskate(b.motion, b.footplants)")
        lines.append('ml.save(b.motion, "blend.bvh")')
        raw = [] if wish.clean else ["--raw"]
        why = Why(
            worst(rows, finished.acceptable),
            f"{made.motion.duration_s:.2f} s of {len(sources)} clips",
            rows,
            gate_warnings(finished),
            list(matched.notes),
            command_line("blend", *sources, "-w", shares, "-o", "blend.bvh", *raw),
            "\n".join(lines),
        )
        return Result(
            motion=finished.motion,
            footplants=finished.footplants,
            body=matched.body,
            sources=tuple(wish.clips),
            source_frames=made.frames,
            placements=_placements(made, curve.motions),
            source_motions=curve.motions,
            source_plants=curve.footplants,
            why=why,
            detail={"room": "blend", "weights": weights},
            arrays={},
        )

    def space(self, clips: Sequence[str]) -> Answer:
        """What the clips can be steered by: turn and speed, measured on each."""
        curve, _ = self._curve(clips)
        space = self._space(curve)
        names = list(space.names)
        return Answer(
            "space",
            {
                "names": names,
                "ranges": [space.range(name) for name in names],
                "values": _measured(curve.motions).tolist(),
            },
        )

    def start(self, wish: ControlStart) -> LiveBlend:
        """A blend steered live."""
        curve, matched = self._curve(wish.clips)
        return LiveBlend(next(self._numbers), control(curve, loop=wish.loop), matched)

    def _curve(self, clips: Sequence[str]) -> tuple[RegistrationCurve, Matched]:
        if len(set(clips)) < 2 or len(set(clips)) != len(clips):
            raise ArrayError("A blend must have two or more different clips. Choose another.")
        key = tuple(clips)
        if key not in self._curves:
            matched = match_clips([self.library.open(clip) for clip in clips], {})
            curve = register(matched.motions, footplants=matched.footplants, body=matched.body)
            while len(self._curves) >= KEPT_CURVES:
                self._curves.pop(next(iter(self._curves)))
            self._curves[key] = curve, matched
        return self._curves[key]

    def _space(self, curve: RegistrationCurve) -> ParameterSpace:
        turn, speed = _measured(curve.motions).T
        return parametrize(curve, {"turn": turn, "speed": speed})


class LiveBlend:
    """A blend under the hand: weights in, one pose out."""

    def __init__(self, number: int, controller: Controller, matched: Matched) -> None:
        self.number, self.controller, self.frame = number, controller, 0
        self.fps = controller.curve.motions[0].fps
        self.looks, self._rig = bind_points(matched.motions[0], matched.body)

    def answer(self) -> Answer:
        """How to draw it."""
        return Answer("control", {"live": self.number, "fps": self.fps, "looks": self.looks})

    def step(self, weights: Sequence[float]) -> bytes:
        """The message with the next frame."""
        pose = self.controller.step(weights)
        points = self._rig.points(pose.root_position, pose.local_quats)
        self.frame += 1
        return encode_pose(self.number, self.frame, pose.planted, points)


def _measured(motions: Sequence[Motion]) -> np.ndarray:
    """Heading change in radians and mean ground speed of every clip. (K, 2)."""
    from motionloom.motion.facing import facing

    rows = []
    for motion in motions:
        heading = np.unwrap(facing(motion))
        steps = np.diff(motion.root_positions[:, [0, 2]], axis=0)
        way = float(np.linalg.norm(steps, axis=-1).sum())
        rows.append((float(heading[-1] - heading[0]), way / motion.duration_s))
    return np.array(rows)


def _placements(made: Blend, motions: Sequence[Motion]) -> tuple[tuple[float, float, float], ...]:
    """Each source moved so that it stands where the blend starts."""
    start = made.motion.root_positions[0]
    places = []
    for k, motion in enumerate(motions):
        at = motion.root_positions[round(float(made.frames[0, k]))]
        places.append((0.0, float(start[0] - at[0]), float(start[2] - at[2])))
    return tuple(places)
