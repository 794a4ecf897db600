"""Results of every kind, each with its clips and the times of them that every frame shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.edit import transform
from motionloom.rotation import quat
from studies.audit.audit_clips import library, load
from studies.baselines.inertialize import decayed
from studies.trust.draw import Case
from studies.trust.independent import Array, Body, Origin
from studies.trust.points import body_of, points_of

CONTEXT_S = 0.5
"""Captured time before and after a transition of a table that is judged with it."""
BLEND_S = 0.6
DECAY_S = 0.4
LAPS = 2


@dataclass(eq=False)
class Made:
    """A result as the study judges it."""

    motion: ml.Motion
    sources: Sequence[ml.Motion]
    """On the skeleton of the result."""
    told: list[tuple[int, Array]]
    """Index of a source, and its seconds at every frame; nan where it plays no part."""
    passed: bool = True
    failed: str = ""
    """The checks that failed, by motionloom itself."""
    kept: tuple[float, ...] = ()
    """Shares of the clips that are in the result unblended."""
    span: tuple[int, int] | None = None
    provenance: ml.Provenance | None = None
    body: Body | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def indices(self) -> list[int]:
        """Which of ``sources`` each source of the provenance is."""
        assert self.provenance is not None
        names: Sequence[str] = self.extra.get("names", ())
        if len(self.provenance.sources) == len(self.sources):
            return list(range(len(self.sources)))
        return [names.index(name) for name in self.provenance.sources]

    def judged(self) -> tuple[Body, list[Origin]]:
        """What the independent check is given."""
        bodies: dict[int, Body] = {}
        for k, _ in self.told:
            if k not in bodies:
                bodies[k] = cached_body(self.sources[k])
        origins = [Origin(bodies[k], time) for k, time in self.told]
        return self.body or body_of(self.motion), origins


_bodies: dict[int, tuple[ml.Motion, Body]] = {}


def cached_body(motion: ml.Motion) -> Body:
    """A clip as the check sees it, made once."""
    if id(motion) not in _bodies:
        if len(_bodies) > 400:
            _bodies.clear()
        _bodies[id(motion)] = (motion, body_of(motion))
    return _bodies[id(motion)][1]


def told_by(provenance: ml.Provenance, indices: Sequence[int]) -> list[tuple[int, Array]]:
    """Sources and times of the part that carries the body, one entry for every place of a clip.

    ``indices`` says which of the study's sources each of the provenance's is.
    """
    track = next((t for t in provenance.tracks if t.part == "lower"), provenance.body)
    told = []
    for slot in range(track.clip.shape[1]):
        clip, weight, time = (x[:, slot] for x in (track.clip, track.weight, track.time))
        for source in np.unique(clip[(clip >= 0) & (weight > 0.0)]):
            plays = (clip == source) & (weight > 0.0)
            told.append((indices[int(source)], np.where(plays, time, np.nan)))
    return told


def failed_of(result: Any) -> str:
    """Names of the checks that a result fails by motionloom's own judgement."""
    return ", ".join(dict.fromkeys(str(each.check) for each in result.verification.failed))


def _told(result: Any, names: Sequence[str], n: int, otherwise: Callable[[], Any]) -> Any:
    """By the result's provenance, or as can be seen from its fields."""
    provenance = getattr(result, "provenance", None)
    if provenance is None:
        return otherwise(), None
    if len(provenance.sources) == n:
        return told_by(provenance, range(n)), provenance
    return told_by(provenance, [names.index(name) for name in provenance.sources]), provenance


def transition(case: Case) -> Made:
    a, b = load(case["a"]), load(case["b"])
    joined = ml.transition(a, b)
    motions = joined.matched.motions
    (first, last), n = joined.span, joined.motion.n_frames

    def seen() -> list[tuple[int, Array]]:
        fps = joined.motion.fps
        k = np.arange(n)
        left, right = joined.frames[:, 0], joined.frames[:, 1]
        before = np.concatenate([k[:first] - first + left[0], left, np.full(n - last - 1, np.nan)])
        after = np.concatenate([np.full(first, np.nan), right, k[last + 1 :] - last + right[-1]])
        return [(0, before / fps), (1, after / fps)]

    told, provenance = _told(joined, ("a", "b"), 2, seen)
    kept = (first / motions[0].n_frames, (n - 1 - last) / motions[1].n_frames)
    return Made(joined.motion, motions, told, bool(joined.verification), failed_of(joined), kept,
                joined.span, provenance, extra={"placement": joined.placement})  # fmt: skip


def table(case: Case) -> Made:
    place = library(case["collection"])
    ids = [c for c in place.collection.ids if place.motion(c).n_frames > place.table.length]
    ends = []
    for clip_at, frame_at in (case["at"][:2], case["at"][2:]):
        clip = ids[int(clip_at * len(ids))]
        ends.append((clip, int(frame_at * place.motion(clip).n_frames)))
    joined = place.table.transition(*ends, lead_s=CONTEXT_S, follow_s=CONTEXT_S)
    names = list(place.collection.ids)
    sources = [place.motion(name) for name in names]
    (first, last), n = joined.span, joined.motion.n_frames
    fps, frames = joined.motion.fps, place.table.frames

    def seen() -> list[tuple[int, Array]]:
        told = []
        rows, k = joined.recipe.rows, np.arange(n)
        times = joined.recipe.times
        for way, row in enumerate(rows):
            clip, start = frames.place_of(row)
            at = k - first if times is None else np.interp(k - first, *_steps(times[:, way]))
            plays = (k >= first) & (k <= last)
            plays |= (k < first) & (way == 0)
            plays |= (k > last) & (way == len(rows) - 1)
            at = np.where((k < first) | (k > last), k - first, at)
            told.append((names.index(clip), np.where(plays, (start + at) / fps, np.nan)))
        return told

    told, provenance = _told(joined, names, -1, seen)
    return Made(joined.motion, sources, told, bool(joined.verification), failed_of(joined),
                span=joined.span, provenance=provenance,
                extra={"names": names})  # fmt: skip


def _steps(times: Any) -> tuple[Array, Array]:
    return np.arange(len(times), dtype=np.float64), np.asarray(times, dtype=np.float64)


def blend(case: Case) -> Made:
    clips = [load(name) for name in case["clips"]]
    curve = ml.register(clips)
    blended = ml.blend(curve, case["weights"])
    sources, fps = curve.motions, blended.motion.fps

    def seen() -> list[tuple[int, Array]]:
        return [
            (k, np.where(blended.weights[:, k] > 0.0, blended.frames[:, k] / fps, np.nan))
            for k in range(len(sources))
        ]

    told, provenance = _told(blended, case["clips"], len(sources), seen)
    return Made(blended.motion, sources, told, bool(blended.verification), failed_of(blended),
                span=blended.span, provenance=provenance)  # fmt: skip


def splice(case: Case) -> Made:
    spliced = ml.splice(upper=load(case["upper"]), lower=load(case["lower"]))
    sources = spliced.matched.motions

    def seen() -> list[tuple[int, Array]]:
        return [(0, np.arange(spliced.motion.n_frames) / spliced.motion.fps)]

    told, provenance = _told(spliced, ("lower", "upper"), 2, seen)
    return Made(spliced.motion, sources, told, bool(spliced.verification), failed_of(spliced),
                span=spliced.span, provenance=provenance)  # fmt: skip


def loop(case: Case) -> Made:
    clip = ml.travel_on_root(load(case["clip"]))  # as ml.loop lays out rigs with a root bone
    cycle = ml.loop(clip)
    length, fps = cycle.motion.n_frames - 1, cycle.motion.fps

    def seen() -> list[tuple[int, Array]]:
        """The frames of the cycle, and those a lap before and after, for the seam."""
        at = cycle.span[0] + np.arange(length + 1)
        inside = [np.where((at + k >= 0) & (at + k < clip.n_frames), (at + k) / fps, np.nan)
                  for k in (0, -length, length)]  # fmt: skip
        return [(0, time) for time in inside]

    told, provenance = _told(cycle, (case["clip"],), 1, seen)
    points = points_of(cycle.motion)
    laps = {name: [track] for name, track in points.items()}
    moved = points
    for _ in range(LAPS - 1):
        moved = {name: cycle.closure.apply(track[1:]) for name, track in moved.items()}
        for name, track in moved.items():
            laps[name].append(track)
    body = Body({name: np.concatenate(tracks) for name, tracks in laps.items()}, fps)
    told = [(k, np.concatenate([time, *[time[1:]] * (LAPS - 1)])) for k, time in told]
    return Made(cycle.motion, [clip], told, bool(cycle.verification), failed_of(cycle),
                span=cycle.span, provenance=provenance, body=body)  # fmt: skip


MAKERS: dict[str, Callable[[Case], Made]] = {
    "transitions": transition, "tables": table, "blends": blend, "splices": splice, "loops": loop,
}  # fmt: skip


def crossfade(made: Made) -> Made:
    """The plain cross-fade of two clips where a transition joins them, both at their own rate."""
    a, b, p, q = _meeting(made)
    half = round(0.5 * BLEND_S * a.fps)
    half = min(half, p, q, a.n_frames - 1 - p, b.n_frames - 1 - q)
    k = np.arange(-half, half + 1)
    u = (k + half) / max(2 * half, 1)
    w = (u * u * (3.0 - 2.0 * u))[:, None]
    quats = quat.slerp(a.local_quats[p + k], b.local_quats[q + k], w)
    tracks = [(1.0 - w[..., None]) * x[p + k] + w[..., None] * y[q + k]
              for x, y in zip(_tracks(a), _tracks(b), strict=True)]  # fmt: skip
    middle = _motion(a, tracks, quats)
    return _joined(made, [a[: p - half], middle, b[q + half + 1 :]], p + half, q - half)


def inertialized(made: Made) -> Made:
    """B from the middle of a transition's blend on, its difference from A fading."""
    a, b, p, q = _meeting(made)
    rest = b[q:]
    t = np.arange(rest.n_frames) / b.fps

    def faded(now: Array, last: Array) -> Array:
        return decayed(now, (now - last) * a.fps, t, blend_s=DECAY_S)

    def apart(k: int) -> Array:
        return quat.log(quat.multiply(a.local_quats[p - k], quat.conjugate(b.local_quats[q - k])))

    quats = quat.multiply(quat.exp(faded(apart(0), apart(1))), rest.local_quats)
    tracks = [z + faded(x[p] - y[q], x[p - 1] - y[q - 1])
              for x, y, z in zip(_tracks(a), _tracks(b), _tracks(rest), strict=True)]  # fmt: skip
    fades = p + round(DECAY_S * a.fps)
    return _joined(made, [a[:p], _motion(a, tracks, quats)], fades, q)


def _tracks(motion: ml.Motion) -> list[Array]:
    """Positions of the root, and translations of joints if there are any. (F, J, 3) each"""
    more = [] if motion.joint_translations is None else [motion.joint_translations]
    return [motion.root_positions[:, None], *more]


def _motion(like: ml.Motion, tracks: list[Array], quats: Array) -> ml.Motion:
    return ml.Motion(like.skeleton, tracks[0][:, 0], quats, like.fps,
                     tracks[1] if len(tracks) > 1 else None)  # fmt: skip


def _meeting(made: Made) -> tuple[ml.Motion, ml.Motion, int, int]:
    """A, B placed where the transition has it, and the frames of both that meet in the middle."""
    a, b = made.sources
    assert made.span is not None
    middle = sum(made.span) // 2
    p, q = (round(float(_at(made, k, middle)) * a.fps) for k in (0, 1))
    return (
        a, transform(b, made.extra["placement"]),
        int(np.clip(p, 1, a.n_frames - 2)), int(np.clip(q, 1, b.n_frames - 2)),
    )  # fmt: skip


def _at(made: Made, source: int, frame: int) -> float:
    """Seconds of a source nearest to a frame of the result."""
    best = min(
        (abs(int(k) - frame), float(time[k]))
        for index, time in made.told if index == source
        for k in np.flatnonzero(np.isfinite(time))
    )  # fmt: skip
    return best[1]


def _joined(made: Made, parts: list[ml.Motion], p: int, q: int) -> Made:
    """Parts as one clip, the first two A's and mixed; A plays up to its frame p, B from its q."""
    start = parts[0].n_frames
    tracks = [np.concatenate(some) for some in zip(*map(_tracks, parts), strict=True)]
    motion = _motion(parts[0], tracks, np.concatenate([part.local_quats for part in parts]))
    k = np.arange(motion.n_frames)
    left, right = np.where(k <= p, k, np.nan), np.where(k >= start, q + k - start, np.nan)
    told = [(0, left / motion.fps), (1, right / motion.fps)]
    return Made(motion, made.sources, told)
