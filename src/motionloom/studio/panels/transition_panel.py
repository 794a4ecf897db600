"""The transition room: from one clip into another, with all that explains the result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.candidates import Candidate as Place
from motionloom.blending.join import find_places
from motionloom.blending.pair import pair_of
from motionloom.blending.transition import Transition, transition
from motionloom.errors import ArrayError, RegistrationError
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matched, Matches
from motionloom.studio.clips.verdict_limits import SPEED
from motionloom.studio.messages.answers import Candidate, Why, WhyRow
from motionloom.studio.messages.messages import TransitionMake
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

__all__ = ["make_transition"]


def make_transition(matches: Matches, wish: TransitionMake) -> Result:
    """The transition at the best place whose result passes the check, as the command makes it."""
    if wish.a == wish.b and wish.at is None:
        raise ArrayError("A and B must be two clips. Choose another for one of them.")
    matched = matches.of([wish.a, wish.b], wish.plants)
    a, b = matched.motions
    joined = transition(
        a, b, at=wish.at, length_s=wish.length_s, moving=wish.moving, timewarp=wish.timewarp,
        footplants=(matched.footplants[0], matched.footplants[1]), body=matched.body,
        clean=wish.clean,
    )  # fmt: skip
    finished = judge(joined, matched)
    first, last = joined.span
    grid = matched.distances
    places, best = _places(matched, wish, joined)
    seam = _seam(finished.motion, joined.span, matched)
    place = joined.candidates[0]
    others = [Candidate(c.frame_a, c.frame_b, c.cost, c.pose, c.feet, c.both_moving)
              for c in places]  # fmt: skip
    detail = {
        "room": "transition",
        "span": (first, last),
        "at": (place.frame_a, place.frame_b),
        "by_hand": wish.at is not None,
        "best": best,
        "candidates": others,
        "length_s": (last - first) / a.fps,
        "asked_length_s": wish.length_s,
        "stride": grid.stride,
        "grid_range": grid.range_m,
    }
    placement = joined.placement
    return Result(
        motion=finished.motion,
        footplants=finished.footplants,
        body=joined.body,
        sources=(wish.a, wish.b),
        source_frames=_clock(joined, a.n_frames, b.n_frames),
        placements=(
            (0.0, 0.0, 0.0),
            (float(placement.theta), float(placement.x0), float(placement.z0)),
        ),
        source_motions=(a, b),
        source_plants=matched.footplants,
        source_keys=(matched.key(0), matched.key(1)),
        why=_why(matches.library, wish, matched, joined, finished, seam, joined.passed_over),
        detail=detail,
        arrays={"grid": grid.distances, "grid_best": grid.best, "path": joined.frames},
        clips=(wish.a, wish.b),
    )


def _places(
    matched: Matched, wish: TransitionMake, joined: Transition
) -> tuple[tuple[Place, ...], tuple[int, int] | None]:
    """Places of the automatic search, best first, and the one that it takes.

    For a place set by hand they are those of the last automatic result with the same choices, else
    they are looked for, and the one that the search takes is not known.
    """
    key = (wish.length_s, wish.moving)
    if wish.at is None:
        taken = joined.candidates[0]
        ranked = tuple(sorted(joined.candidates, key=lambda each: each.cost))
        matched.places[key] = ranked, (taken.frame_a, taken.frame_b)
    elif key not in matched.places:
        pair = pair_of(joined.matched)
        half = max(1, round(0.5 * wish.length_s * pair.a.fps))
        try:
            matched.places[key] = find_places(pair, half, moving=wish.moving), None
        except RegistrationError:  # the clips are too short to choose a place
            matched.places[key] = joined.candidates, None
    return matched.places[key]


def _clock(joined: Transition, n_a: int, n_b: int) -> FloatArray:
    """Frame of A and of B at every frame of the result, nan where a clip is over. (F, 2)."""
    first, last = joined.span
    at = np.arange(joined.motion.n_frames, dtype=np.float64)
    frames = np.stack([at, at - last + joined.frames[-1, 1]], axis=-1)
    frames[: first + 1, 1] = joined.frames[0, 1] + at[: first + 1] - first
    frames[last:, 0] = joined.frames[-1, 0] + at[last:] - last
    frames[first : last + 1] = joined.frames
    outside = (frames < 0.0) | (frames > np.array([n_a - 1, n_b - 1]))
    return np.where(outside, np.nan, frames)


@dataclass(frozen=True, slots=True)
class _Seam:
    """The worse end of the blend: its frame, and how fast joints go there."""

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


def _why(
    library: Library,
    wish: TransitionMake,
    matched: Matched,
    joined: Transition,
    finished: Judged,
    seam: _Seam,
    taken: int,
) -> Why:
    place = joined.candidates[0]
    near, far = matched.moment_m
    spot = sum(joined.span) // 2
    rows = [
        graded_row("match", 100.0 * place.cost, "cm", (100.0 * near, 100.0 * far),
                   "cost of the place: distance of the bodies plus plants that disagree; good is "
                   "what these bodies move in 0.1 s, fair what they move in 0.2 s", frame=spot),
        WhyRow("  pose", 100.0 * place.pose, "cm", about="distance of the bodies there"),
        WhyRow("  plants", 100.0 * place.feet, "cm", about="plants that disagree, as a distance"),
        graded_row("seam", seam.ratio, "x", SPEED,
                   "part of its limit that the fastest joint uses into and out of the blend",
                   frame=seam.frame),
        WhyRow("  turn", seam.turn_deg_s, "°/s", frame=seam.frame,
               about="fastest that a joint turns there; the sources turn by up to "
               f"{seam.sources_deg_s:.0f} °/s"),
        *quality_rows(finished),
    ]  # fmt: skip
    notes = [*matched.notes, *joined.notes]
    if taken:
        notes.append(f"{taken} better places fail the quality check")
    if wish.plants:
        notes.append("plants set by hand: the command line and Python below detect their own")
    verdict = worst(rows, finished.verification.passed)
    length = (joined.span[1] - joined.span[0]) / joined.motion.fps
    headline = (
        f"frame {place.frame_a} of A meets frame {place.frame_b} of B, {length:.2f} s of blending"
    )
    sources = [library.source(wish.a), library.source(wish.b)]
    words = [*sources, "-o", "transition.bvh"]
    if wish.at is not None:
        words += ["--at", str(wish.at[0]), str(wish.at[1])]
    words += ["--length", f"{wish.length_s:g}"] if wish.length_s != 0.6 else []
    words += ["--moving"] if wish.moving else []
    words += ["--no-timewarp"] if not wish.timewarp else []
    words += ["--raw"] if not wish.clean else []
    lines = load_lines(["a", "b"], sources)
    call = python_call(
        "ml.transition", ["a", "b"], at=wish.at,
        length_s=wish.length_s if wish.length_s != 0.6 else None,
        moving=True if wish.moving else None,
        timewarp=None if wish.timewarp else False,
        clean=None if wish.clean else False,
    )  # fmt: skip
    lines.append(f"t = {call}")
    lines.append('ml.save(t.motion, "transition.bvh")')
    return Why(
        verdict,
        headline,
        rows,
        check_warnings(finished),
        notes,
        command_line("transition", *words),
        "\n".join(lines),
    )
