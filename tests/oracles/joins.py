"""Which candidate a join takes: captured windows first, targets, places where clips meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom.features.balance import GRAVITY
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.natural import SLOW, STILL, naturalness
from motionloom.tables.score.recipe import weights_of

RATE, APART_S, KEPT, MORE, FARTHEST = 20.0, 0.15, 12, 3, 14.0
POSTURE, VELOCITY, SLIP, TURN_M = 7.58, 15.44, 12.0, np.float64(np.float32(0.3))


class Judged(NamedTuple):
    """The best between two windows."""

    captured: bool
    """Whether it is captured windows that are natural."""
    worth: float
    key: tuple[int, ...]


def logit(engine: QueryEngine, columns: np.ndarray, windows) -> float:
    chance = float(naturalness(columns, engine.reference((windows[0], windows[-1])))[0])
    return float(np.log(chance / (1.0 - chance)))


def best_of_pair(engine: QueryEngine, source: int, target: int, line: float) -> Judged:
    """Captured windows where they are natural, else the cheapest, else the most natural."""
    asked = {"rescore": 0, "longest": engine.length}
    choice = engine.ranked(engine.join(source, np.array([target]), **asked))
    worths = [
        logit(engine, choice.columns[n], choice.windows(n)) - line for n in range(len(choice.rows))
    ]
    pinned = [n for n in range(len(worths)) if choice.key(n)[-1]]
    taken = next((n for n in pinned if worths[n] >= 0.0), None)
    captured = taken is not None
    if taken is None:
        taken = 0 if worths[0] >= 0.0 else int(np.argmax(worths))
    return Judged(captured, worths[taken], choice.key(taken))


def steps_of(frames, rows: np.ndarray) -> np.ndarray:
    """Turn and way to each row from the one before, seen from the body; none to the first."""
    steps = np.zeros((len(rows), 3))
    x, z = np.diff(frames.ground[rows], axis=0).T
    heading = frames.heading[rows]
    cos, sin = np.cos(heading[:-1]), np.sin(heading[:-1])
    steps[1:] = np.stack([TURN_M * np.diff(heading), cos * x - sin * z, sin * x + cos * z], axis=1)
    return steps


def slip_of(frames, a: int, b: int, t: np.ndarray, leaves, enters) -> float:
    """Metres that feet slip in a plain blend of the windows from a and b while both stand."""
    balls = frames.points[:, [1, 3]][..., [0, 2]].astype(np.float64)
    stands = frames.planted[:, [1, 3]].astype(np.float64)
    apart = [(balls[row + t, 0] - balls[row + t, 1]) for row in (a, b)]
    both = np.min(leaves[t, None] * stands[a + t] + enters[t, None] * stands[b + t], axis=1)
    change = (both[1:] * np.diff(enters[t]))[:, None] * (apart[1] - apart[0])[1:]
    path = np.concatenate([np.zeros((1, 2)), np.cumsum(change, axis=0)])
    return float(np.hypot(*(path.max(axis=0) - path.min(axis=0))))


def places_between(engine: QueryEngine, source: int, target: int, most: int) -> list:
    """Frames that the source plays on for and the target is entered sooner by, closest first."""
    frames, length = engine.frames, engine.length
    stride = max(int(frames.fps / RATE), 1)
    left, entered = (frames.clip_at(row) for row in (source, target))
    stop = min(source + most + length, int(frames.starts[left + 1]))
    first = max(target - most, int(frames.starts[entered]))
    end = min(target + length, int(frames.starts[entered + 1]))
    mine, theirs = (steps_of(frames, np.arange(*span)) for span in ((source, stop), (first, end)))
    reference = engine.reference((source, target))
    movement = float(reference.movement[0]) + STILL * reference.stature
    speed = float(reference.speed[0]) + SLOW * np.sqrt(GRAVITY * reference.stature)
    leaves, enters = weights_of(engine.family, 2, length)
    t = np.arange(0, length, stride)
    joints = compared_joints(frames.skeleton, frames.body_map)
    found: list[tuple[float, int, int]] = []
    for total in range(0, most + 1, stride):
        for ahead in range(0, total + 1, stride):
            sooner = total - ahead
            a, b = source + ahead, target - sooner
            outside = a + length > stop or b < first or b + length > end
            if total == 0 or outside or engine._nearest[a] == 65535 or engine._nearest[b] == 65535:
                continue
            off = frames.body[a + t][:, joints] - frames.body[b + t][:, joints]
            posture = np.square(off).sum(axis=-1).mean(axis=-1)
            apart = mine[a + t - source] - theirs[b + t - first]
            velocity = np.square(apart).sum(axis=-1) * frames.fps**2
            shares = stride / length * leaves[t] * enters[t]
            loss = POSTURE * np.sqrt(shares @ posture) / movement
            loss += VELOCITY * np.sqrt(shares @ velocity) / speed
            loss += SLIP * slip_of(frames, a, b, t, leaves, enters)
            found = kept(found, (float(loss), ahead, sooner), int(APART_S * frames.fps) + 1)
    return [(ahead, sooner) for cost, ahead, sooner in found if cost <= FARTHEST]


def kept(found: list, place: tuple, apart: int) -> list:
    """A sorted list with one more place, unless one near to it is better; worse ones go."""
    near = [abs(o[1] - place[1]) + abs(o[2] - place[2]) < apart for o in found]
    if any(close and o[0] <= place[0] for close, o in zip(near, found, strict=True)):
        return found
    rest = [o for close, o in zip(near, found, strict=True) if not close]
    return sorted([*rest, place], key=lambda o: o[0])[:KEPT]


def best_join(engine: QueryEngine, source: int, targets, longest: int, line: float) -> Judged:
    """What ``ml_table_join`` puts first, without recipes of the table."""
    blends = [engine.score([(source, int(target))]) for target in targets]
    order = np.argsort([-logit(engine, b.columns[0], b.windows(0)) for b in blends], kind="stable")
    best, pair = None, (source, int(targets[0]))
    for k in order:
        judged = best_of_pair(engine, source, int(targets[k]), line)
        if best is None or judged.worth > best.worth:
            best, pair = judged, (source, int(targets[k]))
        if best.worth >= 0.0:
            break
    assert best is not None
    if best.worth >= 0.0 or longest <= engine.length:
        return best
    more = MORE
    for ahead, sooner in places_between(engine, *pair, longest - engine.length):
        if more == 0:
            break
        more -= best.worth >= 0.0
        judged = best_of_pair(engine, pair[0] + ahead, pair[1] - sooner, line)
        best = max(best, judged, key=lambda each: each.worth)
    return best
