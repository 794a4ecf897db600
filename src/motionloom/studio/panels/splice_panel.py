"""The splice tab: one clip's upper body on another's legs, by one of four methods."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import msgspec
import numpy as np

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.body.body_map import facing
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion
from motionloom.splicing.splice import Method, Splice, splice
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.messages.messages import SpliceMake
from motionloom.studio.messages.result_messages import MethodFigures, SpliceDetail
from motionloom.studio.results.result import Result, command_line, load_lines, python_call
from motionloom.studio.results.result_verdicts import evaluate, explain

METHODS: tuple[Method, ...] = get_args(Method)


def make_splice(matches: Matches, request: SpliceMake) -> Result:
    """The action on the locomotion; legs and root exactly the lower clip's."""
    matched = matches.of([request.lower, request.upper])
    spliced = _splice(matched, request, request.method)
    evaluation = evaluate(spliced, matched)
    why = explain(
        evaluation,
        f"{request.upper} above, {request.lower} below",
        [],
        [*matched.notes, *spliced.notes],
        *_equivalents(matches.library, request, evaluation.verification.passed),
    )
    lower, upper = matched.motions
    n = spliced.motion.n_frames
    frames = np.stack([np.asarray(spliced.timewarp.action_frames)[:n], np.arange(n)], axis=-1)
    here = lower.root_positions[0] - upper.root_positions[round(float(frames[0, 0]))]
    result = Result(
        motion=evaluation.motion,
        footplants=evaluation.footplants,
        body=matched.body,
        sources=(request.upper, request.lower),
        source_frames=frames,
        placements=((0.0, float(here[0]), float(here[2])), (0.0, 0.0, 0.0)),
        source_motions=(upper, lower),
        source_plants=(matched.footplants[1], matched.footplants[0]),
        source_keys=(matched.key(1), matched.key(0)),
        why=why,
        detail=SpliceDetail(request.method, request.where),
        arrays={},
        clips=(request.upper, request.lower),
    )
    return _compared(result, matched, request, spliced) if request.compare else result


def _splice(matched: Matched, request: SpliceMake, method: Method) -> Splice:
    lower, upper = matched.motions
    report_step(f"splicing by {method}")
    return splice(
        upper, lower, method=method, where=request.where,  # type: ignore[arg-type]
        when_short=request.when_short, align=request.align and method != "naive",
        soft=request.soft, keep_bend=request.keep_bend,
        footplants=matched.footplants[0], body=matched.body,
    )  # fmt: skip


def _compared(result: Result, matched: Matched, request: SpliceMake, chosen: Splice) -> Result:
    """The result with the other methods' results as its sources, and the figures of all."""
    splices = {
        method: chosen if method == request.method else _splice(matched, request, method)
        for method in METHODS
    }
    others = [method for method in METHODS if method != request.method]
    n = result.motion.n_frames
    clock = np.arange(n, dtype=np.float64)
    columns = []
    for method in others:
        last = splices[method].motion.n_frames - 1
        columns.append(np.where(clock <= last, clock, np.nan))
    still = (0.0, 0.0, 0.0)
    key = ":".join(
        str(each)
        for each in (
            matched.number, request.where, request.when_short,
            request.align, request.soft, request.keep_bend,
        )
    )  # fmt: skip
    return replace(
        result,
        sources=tuple(others),
        source_frames=np.stack(columns, axis=-1),
        placements=(still,) * len(others),
        source_motions=tuple(splices[method].motion for method in others),
        source_plants=tuple(splices[method].footplants for method in others),
        source_keys=tuple(f"{key}:{method}" for method in others),
        detail=msgspec.structs.replace(
            result.detail,
            methods=[_figures(method, splices[method], matched) for method in METHODS],
        ),
    )


def _figures(method: Method, spliced: Splice, matched: Matched) -> MethodFigures:
    """What a method preserves: the action's lean, the locomotion's sway, the sources' speed."""
    lower, upper = matched.motions
    motion = spliced.motion
    legs = lower[: motion.n_frames]
    own = sample(upper, np.asarray(spliced.timewarp.action_frames)[: motion.n_frames])
    trunk, of_action, of_legs = (_trunk(each, matched) for each in (motion, own, legs))
    means = [np.mean(each, axis=0) for each in (trunk, of_action)]
    cosine = float(means[0] @ means[1] / np.prod([np.linalg.norm(mean) for mean in means]))
    sways = [each - each.mean(axis=0) for each in (trunk, of_legs)]
    power = float(np.sqrt(np.prod([np.sum(sway**2) for sway in sways])))
    return MethodFigures(
        method,
        lean_lost_deg=float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))),
        sway=float(np.sum(sways[0] * sways[1])) / power if power > 0.0 else 0.0,
        step=matched.check.speed_ratio(motion),
    )


def _trunk(motion: Motion, matched: Matched) -> FloatArray:
    """From pelvis to the middle of the shoulders, relative to the facing direction. (F, 3)."""
    body, positions = matched.body, motion.world_positions()
    shoulders = [j for j in (body.left_shoulder, body.right_shoulder) if j is not None]
    up = positions[:, shoulders].mean(axis=1) - positions[:, body.pelvis or 0]
    angle = facing(motion, body=body)
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = up.T
    return np.stack([c * x - s * z, y, s * x + c * z], axis=-1)


def _equivalents(library: Library, request: SpliceMake, passed: bool) -> tuple[str, str]:
    """The same run as a command line and as Python."""
    sources = [library.source(request.upper), library.source(request.lower)]
    options = {
        "method": None if request.method == "full" else request.method,
        "where": None if request.where == "torso" else request.where,
        "when_short": None if request.when_short == "crop" else request.when_short,
        "align": (request.align and request.method != "naive") or None,
        "soft": request.soft or None,
        "keep_bend": request.keep_bend or None,
    }
    words = ["--upper", sources[0], "--lower", sources[1], "-o", "splice.bvh"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    if not passed:
        words.append("--allow-flawed")
    lines = load_lines(["upper", "lower"], sources)
    lines.append("s = " + python_call("ml.splice", ["upper=upper", "lower=lower"], **options))
    lines.append('ml.save(s.motion, "splice.bvh")')
    return command_line("splice", *words), "\n".join(lines)
