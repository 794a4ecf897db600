"""The blend tab: whole blends by weights or parameters, and live blends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom.blending.blend import Blend, blend
from motionloom.blending.control import control
from motionloom.blending.parameters import ParameterSpace, parametrize
from motionloom.body.facing import facing
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.messages.answers import Answer, Space
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.messages import BlendMake, BlendSpace, ControlStart
from motionloom.studio.messages.result_messages import BlendDetail, Why
from motionloom.studio.panels.live_blend import LiveBlend, tidy_weights
from motionloom.studio.panels.quick_weights import QuickWeights
from motionloom.studio.results.equivalents import command_line, load_lines, python_call
from motionloom.studio.results.result import Result
from motionloom.studio.results.result_verdicts import Evaluation, evaluate, explain, graded_row

STORED_CURVES = 8
WEIGHTS_FILE = "weights.csv"
SPREADS = {"turn": 0.2, "speed": 0.15}
"""Parameters by name, radians and metres a second, with the least difference between the clips that
makes a clip distinguishable."""


class BlendPanel:
    """Blends of a library's clips; registration curves are stored, because they take longest."""

    def __init__(self, matches: Matches) -> None:
        self.matches, self.library = matches, matches.library
        self._curves: dict[object, tuple[RegistrationCurve, Matched]] = {}

    def make(self, request: BlendMake) -> Result:
        """A whole blend."""
        curve, matched = self._curve(request)
        rows = self._weights(request, curve)
        recorded_s = None
        if request.recorded is not None:
            recorded_s = round((len(rows) - 1) / matched.motions[0].fps, 4)
            blended = blend(curve, np.array(rows), duration_s=recorded_s, clean=request.clean)
        else:
            blended = blend(curve, rows[0], clean=request.clean)
        evaluation = evaluate(blended, matched)
        return Result(
            motion=evaluation.motion,
            footplants=evaluation.footplants,
            body=matched.body,
            sources=tuple(request.clips),
            source_frames=curve.frames(blended.u),
            placements=_placements(blended, curve.motions),
            source_motions=curve.motions,
            source_plants=curve.footplants,
            source_keys=tuple(matched.key(k) for k in range(len(request.clips))),
            why=self._why(request, curve, matched, evaluation, (rows[-1], recorded_s)),
            detail=BlendDetail(
                weights=rows[-1],
                parameters=self._values(curve, rows[-1]),
                recorded=0 if recorded_s is None else len(rows),
            ),
            arrays={},
            clips=tuple(request.clips),
            files={} if recorded_s is None else {WEIGHTS_FILE: _csv(rows)},
        )

    def _weights(self, request: BlendMake, curve: RegistrationCurve) -> list[list[float]]:
        """Weights of every recorded frame, or the one row that all frames have."""
        given = [each is not None for each in (request.weights, request.parameters)]
        if sum(given) + (request.recorded is not None) != 1:
            raise ArrayError("A blend must have weights, parameters or a recording, one of them.")
        if request.recorded is not None:
            rows = [tidy_weights(row) for row in request.recorded]
            if not rows or any(len(row) != len(request.clips) for row in rows):
                raise ArrayError("A recording must have a weight per clip in every frame.")
            return rows
        if request.parameters is None:
            return [tidy_weights(request.weights or ())]
        space = self._space(curve)
        if space is None:
            raise ArrayError("These clips have the same turn and speed. Mix them by weights.")
        return [tidy_weights(space.weights(clamp=True, **request.parameters))]

    def _why(
        self,
        request: BlendMake,
        curve: RegistrationCurve,
        matched: Matched,
        evaluation: Evaluation,
        used: tuple[list[float], float | None],
    ) -> Why:
        weights, recorded_s = used
        near, far = matched.moment_m
        about = "distance of the bodies along the curve; good is what these bodies move in 0.1 s"
        apart_cm = 100.0 * float(max(curve.costs))
        notes = list(matched.notes)
        if recorded_s is not None:
            notes.append(f"save {WEIGHTS_FILE}, the weights of every frame, where you run this")
        return explain(
            evaluation,
            f"{evaluation.motion.duration_s:.2f} s of {len(request.clips)} clips"
            + (", as steered" if recorded_s is not None else ""),
            [graded_row("distance", apart_cm, "cm", (100.0 * near, 100.0 * far), about)],
            notes,
            *_equivalents(
                [self.library.source(clip) for clip in request.clips],
                [f"{w:g}" for w in weights],
                recorded_s,
                request,
                passed=evaluation.verification.passed,
            ),
        )

    def space(self, request: BlendSpace) -> Answer:
        """What the clips can be steered by: turn and speed, measured on each."""
        curve, _ = self._curve(request)
        space = self._space(curve)
        if space is None:
            return Answer(Space([], [], []))
        ranges = [space.range(name) for name in space.names]
        return Answer(Space(list(space.names), ranges, space.values[: len(request.clips)].tolist()))

    def start(self, request: ControlStart) -> LiveBlend:
        """A live blend."""
        curve, matched = self._curve(request)
        live, space = control(curve, loop=request.loop), self._space(curve)
        quick = None if space is None else QuickWeights(space)
        return LiveBlend(fresh_number(), live, matched, quick)

    def _curve(
        self, request: BlendMake | BlendSpace | ControlStart
    ) -> tuple[RegistrationCurve, Matched]:
        clips = request.clips
        if len(set(clips)) < 2 or len(set(clips)) != len(clips):
            raise ArrayError("A blend must have two or more different clips. Choose another.")
        versions = tuple(self.library.version(clip) for clip in clips)
        key = (versions, request.cycles, request.sync_contacts)
        if key not in self._curves:
            matched = self.matches.of(clips)
            curve = register(
                matched.motions,
                footplants=matched.footplants,
                body=matched.body,
                cycles=request.cycles,
                sync_contacts=request.sync_contacts,
            )
            while len(self._curves) >= STORED_CURVES:
                self._curves.pop(next(iter(self._curves)))
            self._curves[key] = curve, matched
        return self._curves[key]

    def _values(
        self, curve: RegistrationCurve, weights: Sequence[float]
    ) -> dict[str, float] | None:
        """Parameters of the mix; None where the clips do not differ in any."""
        space = self._space(curve)
        if space is None:
            return None
        values = np.asarray(weights) @ space.values[: len(weights)]
        return dict(zip(space.names, values.tolist(), strict=True))

    def _space(self, curve: RegistrationCurve) -> ParameterSpace | None:
        measured = dict(zip(SPREADS, _measured(curve.motions).T, strict=True))
        differing = {name: v for name, v in measured.items() if np.ptp(v) >= SPREADS[name]}
        return parametrize(curve, differing) if differing else None


def _equivalents(
    sources: Sequence[str],
    weights: Sequence[str],
    recorded_s: float | None,
    request: BlendMake,
    *,
    passed: bool,
) -> tuple[str, str]:
    """The same run as a command line and as Python."""
    names = [f"clip{n}" for n in range(len(sources))]
    lines = load_lines(names, sources)
    if recorded_s is None:
        words, row = [*sources, "-w", ",".join(weights)], f"[{', '.join(weights)}]"
    else:
        words, row = [*sources, "-w", WEIGHTS_FILE, "--duration", f"{recorded_s:g}"], "weights"
        lines[0:0] = ["import numpy as np", ""]
        lines.append(f'weights = np.loadtxt("{WEIGHTS_FILE}", delimiter=",")')
    call = python_call(
        "ml.blend", ["curve", row], duration_s=recorded_s, clean=None if request.clean else False
    )
    registered = python_call(
        "ml.register", [f"[{', '.join(names)}]"],
        cycles=request.cycles or None, sync_contacts=request.sync_contacts or None,
    )  # fmt: skip
    lines += [f"curve = {registered}", f"b = {call}"]
    lines.append('ml.save(b.motion, "blend.bvh")')
    words += ["--cycles"] if request.cycles else []
    words += ["--sync-contacts"] if request.sync_contacts else []
    words += ["-o", "blend.bvh", *([] if request.clean else ["--raw"])]
    words += [] if passed else ["--allow-flawed"]
    return command_line("blend", *words), "\n".join(lines)


def _measured(motions: Sequence[Motion]) -> np.ndarray:
    """Heading change in radians and mean ground speed of every clip. (K, 2)."""
    rows = []
    for motion in motions:
        heading = np.unwrap(facing(motion))
        steps = np.diff(motion.root_positions[:, [0, 2]], axis=0)
        distance = float(np.linalg.norm(steps, axis=-1).sum())
        rows.append((float(heading[-1] - heading[0]), distance / motion.duration_s))
    return np.array(rows)


def _placements(
    blended: Blend, motions: Sequence[Motion]
) -> tuple[tuple[float, float, float], ...]:
    """Each source moved so that it stands where the blend starts."""
    start = blended.motion.root_positions[0]
    frames, places = blended.curve.frames(blended.u[0]), []
    for k, motion in enumerate(motions):
        at = motion.root_positions[round(float(frames[k]))]
        places.append((0.0, float(start[0] - at[0]), float(start[2] - at[2])))
    return tuple(places)


def _csv(rows: Sequence[Sequence[float]]) -> str:
    """Weights over time as the command reads them, one row per frame."""
    return "".join(",".join(f"{w:g}" for w in row) + "\n" for row in rows)
