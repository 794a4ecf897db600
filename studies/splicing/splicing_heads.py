"""How steady the head of a splice is, next to the paper's method and copied joints.

    python -m studies.splicing.splicing_heads [--fresh]

Per pair: turn rate of the head in the world, 95th percentile, divided by that of the source whose
head turns faster, over the frames used. "paper" aligns the torso frame by frame and turns the upper
body as a whole, as [HKG06] prints it and as ``ml.splice`` did before heads were kept steady;
"naive" copies joints. Pairs stand in ``protocols/splicing_heads.json``; they need the real clips.
Before them come 260 pairs of embedded clips that turn against each other. Their heads hardly turn,
and a head at 30 degrees per second, as in the steadiest captured walk, counts as steady.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.motion.edit import sample
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part, parts_of
from motionloom.splicing.posture import hip_frames, nearest_rotation
from studies.captured_clips import LEADING, PROTOCOLS, mocap
from studies.report import Figure, write_report

HEAD_GOAL, SHARE_GOAL = 1.3, 95.0
QUICKER, UNSEEN = 1.3, 300.0
"""A joint may turn this much faster than in its sources, or at this many degrees per second."""
FLIP, AROUND_S = 3.0, 0.1
"""A flip turns this many times as fast as the median around it."""
STEADY_RATE = 30.0
"""Degrees per second at which the steadiest head of the captured walks turns."""
ACTIONS, GAITS = ("carry", "push", "walk", "jog", "wave"), ("walk", "jog", "sneak", "stairs")
TURNS = np.round(np.linspace(-1.2, 1.2, 13), 1)
"""Radians that embedded clips turn; the action turns to the other side than the legs."""
ROLES = tuple(
    f"{side}_{role}" for side in ("left", "right") for role in ("shoulder", "elbow", "wrist")
)


@dataclass(frozen=True)
class Row:
    """One pair of clips."""

    names: str
    full: float
    paper: float
    naive: float
    quick: tuple[str, ...]
    """Joints of the splice that turn too fast."""
    flips: tuple[str, ...]
    """Joints that turn faster than in their sources for one frame only."""


@lru_cache(maxsize=100)
def clip(folder: Path, name: str, fps: float | None) -> ml.Motion:
    motion = ml.load(folder / "audit" / f"{name}.bvh", fps=fps)
    return motion[LEADING:] if name[0].isdigit() else motion


@lru_cache(maxsize=100)
def embedded(kind: str, turn: float) -> ml.Motion:
    """A clip of 2.5 s; waves and stairs go straight on."""
    turned = {} if kind in ("wave", "stairs") else {"turn": turn}
    return ml.synthetic.clip(kind, duration_s=2.5, **turned).motion


@lru_cache(maxsize=100)
def near_glitches(motion: ml.Motion) -> np.ndarray:
    """Steps from frame to frame that touch a glitch or one of its neighbours. (F - 1,)"""
    near = np.zeros(motion.n_frames + 2, bool)
    for jump in find_glitches(motion):
        near[max(jump.frame - 2, 0) : jump.frame + 2] = True
    return near[: motion.n_frames - 1]


def speeds(quats: np.ndarray, fps: float) -> np.ndarray:
    """Degrees per second from every frame to the next."""
    return fps * np.degrees(quat.angle_between(quats[:-1], quats[1:]))


def head_rate(motion: ml.Motion, body: ml.BodyMap) -> float:
    return float(np.percentile(speeds(motion.world_quats()[:, body.head], motion.fps), 95))


def as_printed(upper: ml.Motion, lower: ml.Motion, body: ml.BodyMap) -> ml.Motion:
    """Alignment frame by frame, and posture, by one turn of the whole upper body."""
    timed = ml.splice(upper, lower, method="time", body=body)
    legs, action = lower[: timed.motion.n_frames], sample(upper, timed.timewarp.frames)
    (part,) = parts_of(lower.skeleton, body, "torso")
    quats, parent = np.array(timed.motion.local_quats), int(lower.skeleton.parents[part.joint])
    world = legs.world_quats()[:, parent]
    seen = [_torso(each, part, parent) for each in (legs, action)]
    quats[:, part.joint] = quat.multiply(nearest_rotation(*seen), quats[:, part.joint])
    aligned = timed.motion.replace(local_quats=quats)
    turn = nearest_rotation(*(_posture(each, part, body) for each in (action, aligned)))
    axes = quat.multiply(hip_frames(legs.world_positions(), body), world)
    about = quat.multiply(quat.multiply(quat.conjugate(axes), turn), axes)
    quats[:, part.joint] = quat.multiply(about, quats[:, part.joint])
    return aligned.replace(local_quats=quats)


def _torso(motion: ml.Motion, part: Part, parent: int) -> np.ndarray:
    """Spine and shoulders from the part's joint, in the axes of its parent."""
    positions, world = motion.world_pose()
    relative = positions[:, part.torso] - positions[:, [part.joint]]
    return quat.rotate(quat.conjugate(world[:, parent])[:, None], relative)


def _posture(motion: ml.Motion, part: Part, body: ml.BodyMap) -> np.ndarray:
    """Shoulders in the hips' axes, on average."""
    positions = motion.world_positions()
    relative = positions[:, part.held] - positions[:, [part.joint]]
    return quat.rotate(hip_frames(positions, body)[:, None], relative).mean(axis=0)


def faults(
    spliced: ml.Motion, sources: tuple[ml.Motion, ...], body: ml.BodyMap
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Joints above the hips that turn too fast against their parent, and those that flip."""
    quick, flips = [], []
    for joint in sorted({*body.spine, body.neck, body.head, *(getattr(body, r) for r in ROLES)}):
        turns = speeds(spliced.local_quats[:, joint], spliced.fps)
        own = max(
            float(np.max(speeds(each.local_quats[:, joint], each.fps)[~near_glitches(each)]))
            for each in sources
        )
        name, half = spliced.skeleton.names[joint], round(AROUND_S * spliced.fps)
        if turns.max() > max(QUICKER * own, UNSEEN):
            quick.append(f"{name} {turns.max():.0f} ({own:.0f}) at {turns.argmax()}")
        for f in np.flatnonzero(turns > max(own, UNSEEN)):
            around = np.concatenate([turns[max(f - half, 0) : f], turns[f + 1 : f + half + 1]])
            if turns[f] > FLIP * np.median(around):
                flips.append(f"{name} {turns[f]:.0f} ({own:.0f}) at {f}")
    return tuple(quick), tuple(flips)


def measured(folder: Path, upper: str, lower: str, rates: dict[str, float]) -> Row:
    above, below = (clip(folder, n, rates.get(n.split("_")[0])) for n in (upper, lower))
    action = above
    if not np.allclose(above.skeleton.offsets, below.skeleton.offsets, atol=1e-6):
        action = ml.retarget(above, below)
    return compared(ml.resample(action, fps=below.fps), below, f"{upper} on {lower}")


def compared(action: ml.Motion, below: ml.Motion, names: str, least: float = 0.0) -> Row:
    """The splice of two clips next to the paper's and to copied joints.

    Sources whose heads turn at less than ``least`` degrees per second count as if they did.
    """
    body = ml.BodyMap.guess(below.skeleton)
    full = ml.splice(action, below, body=body)
    spliced, frames = full.motion, full.timewarp.frames
    used = action[int(frames[0]) : int(np.ceil(frames[-1])) + 1]
    own = max(least, *(head_rate(each, body) for each in (used, below[: spliced.n_frames])))
    copied = ml.splice(action, below, method="naive", body=body).motion
    paper = as_printed(action, below, body)
    ratios = [head_rate(each, body) / own for each in (spliced, paper, copied)]
    return Row(names, *ratios, *faults(spliced, (action, below), body))


def embedded_rows() -> list[Row]:
    """Every action on every gait, turning by as much to the other side."""
    return [
        compared(
            embedded(action, turn), embedded(gait, -turn), f"{action} on {gait}, turn {turn:g}",
            least=STEADY_RATE / HEAD_GOAL,
        )
        for action in ACTIONS
        for gait in GAITS
        for turn in TURNS.tolist()
    ]  # fmt: skip


def figures_of(rows: list[Row], title: str) -> list[Figure]:
    within = {
        m: 100.0 * float(np.mean([getattr(row, m) <= HEAD_GOAL for row in rows]))
        for m in ("full", "paper", "naive")
    }
    worst = max(rows, key=lambda row: row.full)
    quick, flips = ([row for row in rows if getattr(row, n)] for n in ("quick", "flips"))
    return [
        Figure(
            f"{title}: pairs whose head turns at most {HEAD_GOAL:g} times as fast as its sources'",
            within["full"],
            "%",
            "the paper's method",
            within["paper"],
            value_goal=SHARE_GOAL,
            note=f"{len(rows)} pairs; copied joints {within['naive']:.0f} %; worst "
            f"{worst.full:.2f} ({worst.names}), the paper's {max(r.paper for r in rows):.2f}",
        ),
        Figure(
            f"{title}: head turn rate against the sources', median",
            float(np.median([row.full for row in rows])),
            "x",
            "the paper's method",
            float(np.median([row.paper for row in rows])),
            lower_is_better=True,
            note=f"copied joints {np.median([row.naive for row in rows]):.2f}",
        ),
        Figure(
            f"{title}: pairs with a joint that turns too fast in some frame",
            float(len(quick)),
            "pairs",
            lower_is_better=True,
            value_goal=0.0,
            note="; ".join(f"{row.names}: {row.quick[0]}" for row in quick[:3]),
        ),
        Figure(
            f"{title}: pairs with a joint that flips for one frame",
            float(len(flips)),
            "pairs",
            lower_is_better=True,
            note="; ".join(f"{row.names}: {row.flips[0]}" for row in flips[:3]),
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="also pairs nothing was chosen on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = mocap()
    if folder is None or not (folder / "audit").is_dir():
        print("Real clips not found: set MOTIONLOOM_MOCAP to the folder that has audit/ in it.")
        return 2
    plan = json.loads((PROTOCOLS / "splicing_heads.json").read_text())
    rows = {"embedded": embedded_rows()}
    for title in ("pairs", "fresh") if options.fresh else ("pairs",):
        rows[title] = [measured(folder, *names, plan["fps"]) for names in plan[title]]
    figures: list[Figure] = []
    for title, measures in rows.items():
        for row in measures:
            print(
                f"{row.names:66} full {row.full:.2f}  paper {row.paper:.2f}  "
                f"naive {row.naive:.2f}  {'; '.join((*row.quick, *row.flips)[:2])}"
            )
        figures += figures_of(measures, title)
    about = {title: f"{len(measures)} pairs" for title, measures in rows.items()}
    write_report("splicing_heads", figures, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
