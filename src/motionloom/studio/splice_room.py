"""The splice room: one clip's upper body on another's legs."""

from __future__ import annotations

import numpy as np

from motionloom.splicing.splice import splice
from motionloom.studio.answers import Why
from motionloom.studio.equivalents import command_line, load_lines, python_call
from motionloom.studio.finishing import finish, gate_warnings, match_clips, quality_rows, worst
from motionloom.studio.library import Library
from motionloom.studio.messages import SpliceMake
from motionloom.studio.result import Result

__all__ = ["make_splice"]


def make_splice(library: Library, wish: SpliceMake) -> Result:
    """The action on the locomotion; legs and root exactly the lower clip's."""
    matched = match_clips([library.open(wish.lower), library.open(wish.upper)], {})
    lower, upper = matched.motions
    made = splice(
        upper, lower, method=wish.method, where=wish.where,  # type: ignore[arg-type]
        when_short=wish.when_short, soft=wish.soft, keep_bend=wish.keep_bend,
        footplants=matched.footplants[0], body=matched.body,
    )  # fmt: skip
    finished = finish(made.motion, made.footplants, matched, clean=False)
    rows = quality_rows(finished)
    sources = [library.source(wish.upper), library.source(wish.lower)]
    said = {
        "method": None if wish.method == "full" else wish.method,
        "where": None if wish.where == "torso" else wish.where,
        "when_short": None if wish.when_short == "crop" else wish.when_short,
        "soft": wish.soft or None,
        "keep_bend": wish.keep_bend or None,
    }
    words = ["--upper", sources[0], "--lower", sources[1], "-o", "splice.bvh"]
    for name, value in said.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    lines = load_lines(["upper", "lower"], sources)
    lines.append("s = " + python_call("ml.splice", ["upper=upper", "lower=lower"], **said))
    lines.append('ml.save(s.motion, "splice.bvh")')
    why = Why(
        worst(rows, finished.acceptable),
        f"{wish.upper} above, {wish.lower} below",
        rows,
        gate_warnings(finished),
        [*matched.notes, *made.notes],
        command_line("splice", *words),
        "\n".join(lines),
    )
    n = made.motion.n_frames
    frames = np.stack([np.asarray(made.timewarp.frames)[:n], np.arange(n)], axis=-1)
    here = lower.root_positions[0] - upper.root_positions[round(float(frames[0, 0]))]
    return Result(
        motion=finished.motion,
        footplants=finished.footplants,
        body=matched.body,
        sources=(wish.upper, wish.lower),
        source_frames=frames,
        placements=((0.0, float(here[0]), float(here[2])), (0.0, 0.0, 0.0)),
        source_motions=(upper, lower),
        source_plants=(matched.footplants[1], matched.footplants[0]),
        why=why,
        detail={"room": "splice", "method": wish.method, "where": wish.where},
        arrays={},
    )
