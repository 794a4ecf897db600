"""The blend room: whole blends by weights or parameters, and blends steered live."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom.blending.blend import Blend, blend
from motionloom.blending.control import control
from motionloom.blending.parameters import ParameterSpace, parametrize
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.messages.answers import Answer, Why
from motionloom.studio.messages.messages import BlendMake, ControlStart
from motionloom.studio.messages.unique_numbers import fresh_number
from motionloom.studio.panels.live_blend import LiveBlend, tidy_weights
from motionloom.studio.panels.quick_weights import QuickWeights
from motionloom.studio.results.equivalents import command_line, load_lines, python_call
from motionloom.studio.results.result import Result
from motionloom.studio.results.result_verdicts import (
    Judged,
    check_warnings,
    graded_row,
    judge,
    quality_rows,
    worst,
)

__all__ = ["BlendRoom"]

KEPT_CURVES = 8
WEIGHTS_FILE = "weights.csv"
SPREADS = {"turn": 0.2, "speed": 0.15}
"""Parameters by name, radians and metres a second, and how much the clips must differ to be told
apart by them."""


class BlendRoom:
    """Blends of a library's clips; registration curves are kept, for they take longest."""

    def __init__(self, matches: Matches) -> None:
        self.matches, self.library = matches, matches.library
        self._curves: dict[tuple[tuple[str, int], ...], tuple[RegistrationCurve, Matched]] = {}

    def make(self, wish: BlendMake) -> Result:
        """A whole blend."""
        curve, matched = self._curve(wish.clips)
        told = [each is not None for each in (wish.weights, wish.parameters, wish.recorded)]
        if sum(told) != 1:
            raise ArrayError("A blend must have weights, parameters or a recording, one of them.")
        if wish.recorded is not None:
            rows = [tidy_weights(row) for row in wish.recorded]
            if not rows or any(len(row) != len(wish.clips) for row in rows):
                raise ArrayError("A recording must have a weight per clip in every frame.")
            length = round((len(rows) - 1) / matched.motions[0].fps, 4)
            made = blend(curve, np.array(rows), duration_s=length, clean=wish.clean)
            weights = rows[-1]
        else:
            if wish.parameters is not None:
                space = self._space(curve)
                if space is None:
                    raise ArrayError("These clips turn alike and are as fast. Mix them by weights.")
                weights = tidy_weights(space.weights(clamp=True, **wish.parameters))
            else:
                weights = tidy_weights(wish.weights or ())
            made, length, rows = blend(curve, weights, clean=wish.clean), None, []
        finished = judge(made, matched)
        return Result(
            motion=finished.motion,
            footplants=finished.footplants,
            body=matched.body,
            sources=tuple(wish.clips),
            source_frames=made.frames,
            placements=_placements(made, curve.motions),
            source_motions=curve.motions,
            source_plants=curve.footplants,
            source_keys=tuple(matched.key(k) for k in range(len(wish.clips))),
            why=self._why(wish, curve, matched, finished, weights, length),
            detail={
                "room": "blend",
                "weights": weights,
                "parameters": self._values(curve, weights),
                "recorded": len(rows),
            },
            arrays={},
            clips=tuple(wish.clips),
            files={WEIGHTS_FILE: _csv(rows)} if rows else {},
        )

    def _why(
        self,
        wish: BlendMake,
        curve: RegistrationCurve,
        matched: Matched,
        finished: Judged,
        weights: list[float],
        recorded_s: float | None,
    ) -> Why:
        near, far = matched.moment_m
        about = "distance of the bodies along the curve; good is what these bodies move in 0.1 s"
        apart_cm = 100.0 * float(max(curve.costs))
        rows = [
            graded_row("distance", apart_cm, "cm", (100.0 * near, 100.0 * far), about),
            *quality_rows(finished),
        ]
        sources = [self.library.source(clip) for clip in wish.clips]
        shares = ",".join(f"{w:g}" for w in weights)
        names = [f"clip{n}" for n in range(len(sources))]
        lines = load_lines(names, sources)
        words = [*sources, "-w", WEIGHTS_FILE if recorded_s is not None else shares]
        notes = list(matched.notes)
        if recorded_s is None:
            call = python_call(
                "ml.blend",
                ["curve", f"[{shares.replace(',', ', ')}]"],
                clean=None if wish.clean else False,
            )
        else:
            words += ["--duration", f"{recorded_s:g}"]
            lines[0:0] = ["import numpy as np", ""]
            lines.append(f'weights = np.loadtxt("{WEIGHTS_FILE}", delimiter=",")')
            call = python_call(
                "ml.blend",
                ["curve", "weights"],
                duration_s=recorded_s,
                clean=None if wish.clean else False,
            )
            notes.append(
                f"the weights of every frame are in {WEIGHTS_FILE}: save it where you run the "
                "command"
            )
        lines += [f"curve = ml.register([{', '.join(names)}])", f"b = {call}"]
        lines.append('ml.save(b.motion, "blend.bvh")')
        words += ["-o", "blend.bvh", *([] if wish.clean else ["--raw"])]
        if not finished.verification.passed:
            words.append("--allow-flawed")
        return Why(
            worst(rows, finished.verification.passed),
            f"{finished.motion.duration_s:.2f} s of {len(sources)} clips"
            + (", as steered" if recorded_s is not None else ""),
            rows,
            check_warnings(finished),
            notes,
            command_line("blend", *words),
            "\n".join(lines),
        )

    def space(self, clips: Sequence[str]) -> Answer:
        """What the clips can be steered by: turn and speed, measured on each."""
        curve, _ = self._curve(clips)
        space = self._space(curve)
        names = [] if space is None else list(space.names)
        values = [] if space is None else space.values[: len(clips)].tolist()
        ranges = [] if space is None else [space.range(name) for name in names]
        return Answer("space", {"names": names, "ranges": ranges, "values": values})

    def start(self, wish: ControlStart) -> LiveBlend:
        """A blend steered live."""
        curve, matched = self._curve(wish.clips)
        live, space = control(curve, loop=wish.loop), self._space(curve)
        quick = None if space is None else QuickWeights(space)
        return LiveBlend(fresh_number(), live, matched, quick)

    def _curve(self, clips: Sequence[str]) -> tuple[RegistrationCurve, Matched]:
        if len(set(clips)) < 2 or len(set(clips)) != len(clips):
            raise ArrayError("A blend must have two or more different clips. Choose another.")
        key = tuple(self.library.version(clip) for clip in clips)
        if key not in self._curves:
            matched = self.matches.of(clips)
            curve = register(matched.motions, footplants=matched.footplants, body=matched.body)
            while len(self._curves) >= KEPT_CURVES:
                self._curves.pop(next(iter(self._curves)))
            self._curves[key] = curve, matched
        return self._curves[key]

    def _values(
        self, curve: RegistrationCurve, weights: Sequence[float]
    ) -> dict[str, float] | None:
        """What the clips do together with these weights; None where they all do the same."""
        space = self._space(curve)
        if space is None:
            return None
        values = np.asarray(weights) @ space.values[: len(weights)]
        return dict(zip(space.names, values.tolist(), strict=True))

    def _space(self, curve: RegistrationCurve) -> ParameterSpace | None:
        measured = dict(zip(SPREADS, _measured(curve.motions).T, strict=True))
        told = {name: v for name, v in measured.items() if np.ptp(v) >= SPREADS[name]}
        return parametrize(curve, told) if told else None


def _measured(motions: Sequence[Motion]) -> np.ndarray:
    """Heading change in radians and mean ground speed of every clip. (K, 2)."""
    from motionloom.body.facing import facing

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


def _csv(rows: Sequence[Sequence[float]]) -> str:
    """Weights over time as the command reads them, a row a frame."""
    return "".join(",".join(f"{w:g}" for w in row) + "\n" for row in rows)
