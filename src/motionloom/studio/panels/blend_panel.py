"""The blend tab: blends of matched clips, live blends, and weights for wanted parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.blend import Blend, blend
from motionloom.blending.control import Controller, control
from motionloom.blending.parameters import ParameterSpace, parametrize
from motionloom.blending.weights import checked_weights
from motionloom.body.body_map import facing
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.register import register
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.clips.point_rig import BOUND_FRAMES, bind_points
from motionloom.studio.messages.answers import Answer, LiveStarted, Space
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.messages import BlendMake, BlendSpace, ControlStart
from motionloom.studio.messages.result_messages import BlendDetail, Why
from motionloom.studio.messages.wire import encode_pose
from motionloom.studio.results.result import Result, command_line, load_lines, python_call
from motionloom.studio.results.result_verdicts import Evaluation, evaluate, explain, graded_row

STORED_CURVES = 8
WEIGHTS_FILE = "weights.csv"
SPREADS = {"turn": 0.2, "speed": 0.15}
"""Parameters by name, radians and metres a second, with the least difference between the clips that
makes a clip distinguishable."""
FOLLOWS_S = 0.12
"""Time constant with which the weights follow the pointer, so that a click causes no jump."""
MOST_AT_ONCE = 16
MOST_RECORDED_S = 60.0
INSIDE = 1e-9
FLAT = 1e-9
MOST_CORNERS = 4000


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


class LiveBlend:
    """A live blend of matched clips."""

    def __init__(
        self,
        number: int,
        controller: Controller,
        matched: Matched,
        space: QuickWeights | None,
    ) -> None:
        self.number, self.controller, self.frame = number, controller, 0
        self.fps = controller.curve.motions[0].fps
        self.recorded: list[list[float]] = []
        self.looks, self._rig = bind_points(matched.motions[0][:BOUND_FRAMES], matched.body)
        self._space = space
        self._weights: FloatArray | None = None
        self._asked: tuple[dict[str, float], FloatArray] | None = None

    def answer(self) -> Answer:
        """How to draw it."""
        return Answer(LiveStarted(self.number, self.fps, self.looks))

    def step(
        self,
        weights: Sequence[float] | None,
        parameters: Mapping[str, float] | None = None,
        *,
        frames: int = 1,
        record: bool = False,
    ) -> bytes:
        """The message with the next frame, or with a later one."""
        if not 1 <= frames <= MOST_AT_ONCE:
            raise ArrayError(f"`frames` must be 1 to {MOST_AT_ONCE}, got {frames}.")
        target = self._target(weights, parameters)
        now = target if self._weights is None else self._weights
        near = 1.0 - math.exp(-1.0 / (FOLLOWS_S * self.fps))
        for _ in range(frames):
            now = now + near * (target - now)
            shares = tidy_weights(now)
            if record and len(self.recorded) < MOST_RECORDED_S * self.fps:
                self.recorded.append(shares)
            pose = self.controller.step(shares)
        self._weights = now
        self.frame += frames
        points = self._rig.points(pose.root_position, pose.local_quats, pose.joint_translations)
        return encode_pose(self.number, self.frame, pose.planted, points)

    def _target(
        self, weights: Sequence[float] | None, parameters: Mapping[str, float] | None
    ) -> FloatArray:
        if (weights is None) == (parameters is None):
            raise ArrayError("A step must have weights or parameters, one of them.")
        n = len(self.controller.curve.motions)
        if weights is not None:
            if len(weights) != n or abs(sum(weights) - 1.0) > 1e-3:
                raise ArrayError(f"Weights must be {n} numbers that sum to 1, got {weights}.")
            return checked_weights(weights, n)  # before the character moves
        wanted = dict(parameters or {})
        if self._space is None:
            raise ArrayError("These clips have the same turn and speed. Steer them by weights.")
        # A resting pointer repeats its request, and weights take longer to find than a pose.
        if self._asked is None or self._asked[0] != wanted:
            self._asked = wanted, self._space.find(wanted)
        return self._asked[1]


def tidy_weights(weights: Sequence[float] | FloatArray) -> list[float]:
    """Weights to four decimals that sum to exactly one: those shown are those used."""
    whole = [round(10_000 * float(w)) for w in weights]
    if whole:
        largest = max(range(len(whole)), key=lambda k: whole[k])
        whole[largest] += 10_000 - sum(whole)
    return [w / 10_000 for w in whole]


class QuickWeights:
    """The weights of ``space.weights(clamp=True, ...)``, from all simplices of the samples.

    The mixture of nearest samples is a vertex of a linear program, and a vertex mixes one sample
    more than there are parameters. There are few samples, so all simplices are inverted in advance.
    """

    def __init__(self, space: ParameterSpace) -> None:
        self.space = space
        n, p = space.values.shape
        self._scale = np.maximum(np.ptp(space.values, axis=0), 1e-9)
        self._samples = space.values / self._scale
        corners = np.array(list(combinations(range(n), p + 1)), dtype=np.int64).reshape(-1, p + 1)
        rows = np.concatenate(
            [self._samples[corners], np.ones((len(corners), p + 1, 1))], axis=-1
        ).swapaxes(1, 2)  # (T, p + 1, p + 1)
        sound = np.abs(np.linalg.det(rows)) > FLAT
        few = len(corners) <= MOST_CORNERS
        self._corners = corners[sound] if few else corners[:0]
        self._inverses = np.linalg.inv(rows[sound]) if few else rows[:0]

    def find(self, wanted: Mapping[str, float]) -> FloatArray:
        """Weights (K,) of the examples; the nearest ones for parameters out of reach."""
        if set(wanted) != set(self.space.names):
            raise ArrayError(f"Every parameter must be given once: {', '.join(self.space.names)}.")
        target = np.array([wanted[name] for name in self.space.names]) / self._scale
        shares = self._inverses @ np.append(target, 1.0)  # (T, p + 1)
        inside = (shares >= -INSIDE).all(axis=1)
        if not inside.any():
            return self.space.weights(clamp=True, **wanted)
        apart = np.sum((self._samples - target) ** 2, axis=1)
        cost = np.where(inside, np.sum(shares * apart[self._corners], axis=1), np.inf)
        best = int(np.argmin(cost))
        mixed = np.clip(shares[best], 0.0, None) @ self.space.sample_weights[self._corners[best]]
        return np.asarray(mixed / mixed.sum())
