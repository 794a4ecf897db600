"""The transition tab: from one clip into another, with all that explains the result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.join import Candidate as Place
from motionloom.blending.join import Pair, find_places
from motionloom.blending.transition import Transition, transition
from motionloom.errors import ArrayError, RegistrationError
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.clips.verdict_limits import SPEED
from motionloom.studio.messages.messages import TransitionMake
from motionloom.studio.messages.result_messages import Candidate, TransitionDetail, WhyRow
from motionloom.studio.results.result import Result, command_line, load_lines, python_call
from motionloom.studio.results.result_verdicts import evaluate, explain, graded_row

KEEP = (0.3, 0.3)
"""What transitions keep of both clips where nothing else is asked for."""


def make_transition(matches: Matches, request: TransitionMake) -> Result:
    """The transition at the best place whose result passes the check, as the command makes it."""
    if request.a == request.b and request.at is None:
        raise ArrayError("A and B must be two clips. Choose another for one of them.")
    matched = matches.of([request.a, request.b], request.plants)
    a, b = matched.motions
    joined = transition(
        a, b, at=request.at, length_s=request.length_s, moving=request.moving,
        timewarp=request.timewarp, footplants=(matched.footplants[0], matched.footplants[1]),
        body=matched.body, clean=request.clean,
    )  # fmt: skip
    evaluation = evaluate(joined, matched)
    sources = [matches.library.source(clip) for clip in (request.a, request.b)]
    why = explain(
        evaluation,
        _headline(joined),
        _rows(joined, evaluation.motion, matched),
        _notes(request, matched, joined),
        *_equivalents(sources, request),
    )
    placement = joined.placement
    return Result(
        motion=evaluation.motion,
        footplants=evaluation.footplants,
        body=joined.body,
        sources=(request.a, request.b),
        source_frames=_clock(joined, a.n_frames, b.n_frames),
        placements=(
            (0.0, 0.0, 0.0),
            (float(placement.theta), float(placement.x0), float(placement.z0)),
        ),
        source_motions=(a, b),
        source_plants=matched.footplants,
        source_keys=(matched.key(0), matched.key(1)),
        why=why,
        detail=_detail(request, matched, joined),
        arrays={
            "grid": matched.distances.distances,
            "grid_best": matched.distances.best,
            "path": _path(joined),
        },
        clips=(request.a, request.b),
    )


def _detail(request: TransitionMake, matched: Matched, joined: Transition) -> TransitionDetail:
    places, best = _places(matched, request, joined)
    place, (first, last) = joined.candidates[0], joined.span
    return TransitionDetail(
        span=(first, last),
        at=(place.frame_a, place.frame_b),
        by_hand=request.at is not None,
        best=best,
        candidates=[
            Candidate(c.frame_a, c.frame_b, c.cost, c.pose, c.feet, c.both_moving) for c in places
        ],
        length_s=(last - first) / matched.motions[0].fps,
        asked_length_s=request.length_s,
        stride=matched.distances.stride,
        grid_range=matched.distances.range_m,
    )


def _places(
    matched: Matched, request: TransitionMake, joined: Transition
) -> tuple[tuple[Place, ...], tuple[int, int] | None]:
    """Places of the automatic search, best first, and the one that it takes.

    For a place set by hand these are the places of the last automatic result with the same choices.
    Without one they are searched, and the place that the search takes is None.
    """
    key = (request.length_s, request.moving)
    if request.at is None:
        taken = joined.candidates[0]
        ranked = tuple(sorted(joined.candidates, key=lambda each: each.cost))
        matched.places[key] = ranked, (taken.frame_a, taken.frame_b)
    elif key not in matched.places:
        pair = Pair.of(joined.matched)
        half = max(1, round(0.5 * request.length_s * pair.a.fps))
        try:
            matched.places[key] = find_places(pair, half, moving=request.moving, keep=KEEP), None
        except RegistrationError:  # the clips are too short to choose a place
            matched.places[key] = joined.candidates, None
    return matched.places[key]


def _path(joined: Transition) -> FloatArray:
    """Frame of A and of B at every blended frame. (N, 2)."""
    first, last = joined.span
    track = joined.provenance.body[first : last + 1]
    path = joined.motion.fps * np.stack([track.times_in(0), track.times_in(1)], axis=-1)
    # At either end only one clip plays; the other is a frame from where it comes in.
    path[0, 1], path[-1, 0] = path[1, 1] - 1.0, path[-2, 0] + 1.0
    return path


def _clock(joined: Transition, n_a: int, n_b: int) -> FloatArray:
    """Frame of A and of B at every frame of the result, nan where a clip is over. (F, 2)."""
    first, last = joined.span
    at = np.arange(joined.motion.n_frames, dtype=np.float64)
    path = _path(joined)
    frames = np.stack([at, at - last + path[-1, 1]], axis=-1)
    frames[: first + 1, 1] = path[0, 1] + at[: first + 1] - first
    frames[last:, 0] = path[-1, 0] + at[last:] - last
    frames[first : last + 1] = path
    outside = (frames < 0.0) | (frames > np.array([n_a - 1, n_b - 1]))
    return np.where(outside, np.nan, frames)


@dataclass(frozen=True, slots=True)
class _Seam:
    """The worse end of the blend: its frame, and the speed of the joints there."""

    frame: int
    ratio: float
    turn_deg_s: float
    sources_deg_s: float


def _seam(motion: Motion, span: tuple[int, int], matched: Matched) -> _Seam:
    ratios = [matched.check.speed_ratio(motion[max(0, at - 1) : at + 2]) for at in span]
    turns = [_turn_deg_s(motion[max(0, at - 1) : at + 2]) for at in span]
    ratio, frame, turn = max(zip(ratios, span, turns, strict=True))
    return _Seam(frame, ratio, turn, max(_turn_deg_s(source) for source in matched.motions))


def _turn_deg_s(motion: Motion) -> float:
    """Fastest turn of any joint, degrees a second."""
    turns = quat.angle_between(motion.local_quats[1:], motion.local_quats[:-1])
    return float(np.degrees(turns.max(initial=0.0)) * motion.fps)


def _headline(joined: Transition) -> str:
    place, (first, last) = joined.candidates[0], joined.span
    length = (last - first) / joined.motion.fps
    return (
        f"frame {place.frame_a} of A meets frame {place.frame_b} of B, {length:.2f} s of blending"
    )


def _rows(joined: Transition, motion: Motion, matched: Matched) -> list[WhyRow]:
    place, seam = joined.candidates[0], _seam(motion, joined.span, matched)
    near, far = matched.moment_m
    return [
        graded_row("match", 100.0 * (place.pose + place.feet), "cm", (100.0 * near, 100.0 * far),
                   "cost of the place: distance of the bodies plus contacts that disagree; good "
                   "is what these bodies move in 0.1 s, fair what they move in 0.2 s",
                   frame=sum(joined.span) // 2),
        WhyRow("  pose", 100.0 * place.pose, "cm", about="distance of the bodies there"),
        WhyRow("  plants", 100.0 * place.feet, "cm",
               about="contacts that disagree, as a distance"),
        WhyRow("  travel", 100.0 * place.travel, "cm",
               about="direction and speed of travel that differ, as a distance"),
        graded_row("seam", seam.ratio, "x", SPEED,
                   "part of its limit that the fastest joint uses into and out of the blend",
                   frame=seam.frame),
        WhyRow("  turn", seam.turn_deg_s, "°/s", frame=seam.frame,
               about="fastest turn of a joint there; the sources turn by up to "
               f"{seam.sources_deg_s:.0f} °/s"),
    ]  # fmt: skip


def _notes(request: TransitionMake, matched: Matched, joined: Transition) -> list[str]:
    notes = [str(joined.kept), *matched.notes, *joined.notes]
    if joined.passed_over:
        notes.append(f"{joined.passed_over} better places fail the quality check")
    if request.plants:
        notes.append("plants set by hand: the command line and Python below detect their own")
    return notes


def _equivalents(sources: list[str], request: TransitionMake) -> tuple[str, str]:
    """The same run as a command line and as Python."""
    length = None if request.length_s == 0.6 else request.length_s
    words = [*sources, "-o", "transition.bvh"]
    words += ["--at", str(request.at[0]), str(request.at[1])] if request.at is not None else []
    words += ["--length", f"{length:g}"] if length is not None else []
    words += ["--moving"] if request.moving else []
    words += [] if request.timewarp else ["--no-timewarp"]
    words += [] if request.clean else ["--raw"]
    call = python_call(
        "ml.transition", ["a", "b"], at=request.at, length_s=length,
        moving=request.moving or None, timewarp=None if request.timewarp else False,
        clean=None if request.clean else False,
    )  # fmt: skip
    lines = [*load_lines(["a", "b"], sources), f"t = {call}"]
    lines.append('ml.save(t.motion, "transition.bvh")')
    return command_line("transition", *words), "\n".join(lines)
