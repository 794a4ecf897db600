"""A large collection made of real clips: as many hours as wanted, the same for the same seed.

Every clip is a chain of excerpts of CMU captures (and of embedded clips) on the skeleton of CMU
subject 143, joined by short cross-fades. Excerpts are mirrored or not and retimed; the clip's path
is bent and its posture leans in its own way; in some clips a second chain is blended in all along.
Clip ``k`` depends on the seed and on ``k`` alone, so smaller collections are the beginnings of
larger ones. Nothing of this is kept in the repository.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat
from motionloom.tables.collection.folder_clips import find_clip_files

FPS = 30.0
BASE_FPS = 60.0
SEED = 7
LONGEST_BASE_S = 60.0
SHORTEST_BASE_S = 1.5
CLIP_S = (8.0, 40.0)
EXCERPT_S = (2.0, 12.0)
FADE_S = 0.4
SPEED = (0.75, 1.35)
"""How many times faster an excerpt goes than it was captured."""
SWAY = 0.15
"""That speed itself comes and goes by this part."""
BEND_RAD_M = 0.35
"""Paths turn by this many radians a metre more, one standard deviation."""
LEAN_RAD = {"spine": 0.06, "head": 0.08, "arms": 0.16, "legs": 0.03}
"""How far joints of a made clip's posture are turned away, one standard deviation."""
LEANING = {
    "spine": ("LowerBack", "Spine", "Spine1"),
    "head": ("Neck", "Neck1"),
    "arms": ("LeftArm", "LeftForeArm", "RightArm", "RightForeArm"),
    "legs": ("LeftUpLeg", "LeftLeg", "RightUpLeg", "RightLeg"),
}
BLENDED = 0.5
"""Part of the clips with a second chain blended in."""
EMBEDDED = 0.15
"""Chance of an excerpt to come from an embedded clip."""
MIRRORED = 0.5


class Track(NamedTuple):
    """Motion without a place: what it takes to go on from anywhere."""

    quats: np.ndarray
    """Local rotations, the root's without its heading. (F, J, 4)"""
    steps: np.ndarray
    """Turn, and metres to the left and ahead, from frame to frame. (F, 3)"""
    height: np.ndarray
    """Of the root, metres. (F,)"""


@dataclass(frozen=True)
class Base:
    """A captured or embedded clip and its mirror image."""

    name: str
    embedded: bool
    plain: Track
    mirrored: Track


@dataclass(frozen=True)
class Bases:
    """Everything that clips are made of."""

    skeleton: Skeleton
    real: tuple[Base, ...]
    embedded: tuple[Base, ...]

    @property
    def seconds(self) -> float:
        """Of captured motion, without mirror images."""
        return sum(len(base.plain.height) for base in self.real) / BASE_FPS


def find_bases(mocap: Path) -> Bases:
    """Tracks of all CMU captures and of the embedded kinds, on the skeleton of subject 143."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        common = ml.load(mocap / "cmu_bvh" / "143_01.bvh", fps=60.0)
        real = []
        for file in sorted((mocap / "cmu_bvh").glob("*.bvh")):
            motion = ml.load(file, fps=60.0 if file.name.startswith("143") else None)
            real.append(_base(motion, common, file.stem, embedded=False))
        embedded = [
            _base(ml.synthetic.clip(kind).motion, common, kind, embedded=True)
            for kind in ml.synthetic.kinds()
        ]
    return Bases(
        common.skeleton,
        tuple(base for base in real if base is not None),
        tuple(base for base in embedded if base is not None),
    )


def _base(motion: Motion, common: Motion, name: str, *, embedded: bool) -> Base | None:
    motion = ml.resample(motion, fps=BASE_FPS)
    motion = motion[: int(LONGEST_BASE_S * BASE_FPS)]
    if motion.n_frames < SHORTEST_BASE_S * BASE_FPS:
        return None
    if not name.startswith("143"):
        motion = ml.retarget(motion, common)
    return Base(name, embedded, _track(motion), _track(ml.mirror(motion)))


def _track(motion: Motion) -> Track:
    quats = np.array(motion.local_quats)
    heading = np.unwrap(quat.yaw(quats[:, 0]))
    quats[:, 0] = quat.multiply(_turn(-heading), quats[:, 0])
    away = np.diff(motion.root_positions[:, [0, 2]], axis=0)
    cos, sin = np.cos(heading[:-1]), np.sin(heading[:-1])
    steps = np.zeros((motion.n_frames, 3))
    steps[1:, 0] = np.diff(heading)
    steps[1:, 1] = cos * away[:, 0] - sin * away[:, 1]
    steps[1:, 2] = sin * away[:, 0] + cos * away[:, 1]
    return Track(quat.make_continuous(quats), steps, np.array(motion.root_positions[:, 1]))


def made_clips(bases: Bases, hours: float, *, seed: int = SEED) -> Iterator[tuple[Motion, Counter]]:
    """Clips until they last so many hours, and of each how many frames were made in which way."""
    left, number = hours * 3600.0 * FPS, 0
    while left > 0:
        motion, shares = make_clip(bases, number, seed=seed)
        yield motion, shares
        left -= motion.n_frames
        number += 1


def make_clip(bases: Bases, number: int, *, seed: int = SEED) -> tuple[Motion, Counter]:
    """Clip ``number``, and how many of its frames were made in which way."""
    rng = np.random.Generator(np.random.PCG64([seed, number]))
    n_frames = int(rng.uniform(*CLIP_S) * FPS)
    shares = Counter({"frames": n_frames, "retimed": n_frames, "bent": n_frames})
    track, shares["mirrored"], shares["embedded"] = _chain(bases, n_frames, rng)
    if rng.random() < BLENDED:
        other, _, _ = _chain(bases, n_frames, rng)
        seconds = np.arange(n_frames) / FPS
        wave = np.sin(rng.uniform(0.1, 0.6) * seconds + rng.uniform(0.0, 2.0 * np.pi))
        track = _mixed(track, other, 0.3 + 0.2 * wave)
        shares["blended"] = n_frames
    return _placed(bases.skeleton, track, rng, f"made_{number:05d}"), shares


def _chain(bases: Bases, n_frames: int, rng: np.random.Generator) -> tuple[Track, int, int]:
    """Excerpts, one fading into the next; frames of them that are mirrored, and embedded."""
    fade = round(FADE_S * FPS)
    parts: list[Track] = []
    made = mirrored = embedded = 0
    while made < n_frames:
        from_embedded = rng.random() < EMBEDDED
        pool = bases.embedded if from_embedded else bases.real
        # Long takes are more often drawn, as they hold more.
        lengths = np.array([len(base.plain.height) for base in pool], dtype=np.float64)
        base = pool[int(rng.choice(len(pool), p=lengths / lengths.sum()))]
        in_glass = rng.random() < MIRRORED
        part = _excerpt(base.mirrored if in_glass else base.plain, rng)
        if parts:
            weight = (np.arange(fade) + 1.0) / (fade + 1.0)
            last, parts[-1] = _cut(parts[-1], -fade, None), _cut(parts[-1], None, -fade)
            parts.append(_mixed(last, _cut(part, None, fade), weight))
            part = _cut(part, fade, None)
        parts.append(part)
        new = min(n_frames, sum(len(each.height) for each in parts)) - made
        mirrored += new * in_glass
        embedded += new * from_embedded
        made += new
    joined = Track(*(np.concatenate(column)[:n_frames] for column in zip(*parts, strict=True)))
    return joined, mirrored, embedded


def _cut(track: Track, first: int | None, stop: int | None) -> Track:
    return Track(*(column[first:stop] for column in track))


def _excerpt(track: Track, rng: np.random.Generator) -> Track:
    """Some seconds of a track at another speed, which sways."""
    seconds = rng.uniform(*EXCERPT_S)
    n = int(seconds * FPS)
    speed = rng.uniform(*SPEED) * (
        1.0 + SWAY * np.sin(rng.uniform(0.5, 3.0) * np.arange(n) / FPS + rng.uniform(0.0, 6.28))
    )
    ticks = np.cumsum(speed) * (BASE_FPS / FPS)
    last = len(track.height) - 1
    at = rng.uniform(0.0, max(0.0, last - ticks[-1])) + ticks
    kept = max(int(np.searchsorted(at, last)), round(2 * FADE_S * FPS) + 1)
    at, rate = np.minimum(at[:kept], last), speed[:kept] * (BASE_FPS / FPS)
    low = np.minimum(at.astype(np.int64), last - 1)
    part = at - low
    read = [a[low] + part.reshape(-1, *[1] * (a.ndim - 1)) * (a[low + 1] - a[low]) for a in track]
    read[1] = read[1] * rate[:, None]
    return Track(*read)


def _mixed(a: Track, b: Track, weight: np.ndarray) -> Track:
    """Both tracks at once, so much of the second."""
    w = weight[:, None]
    same = np.sign(np.sum(a.quats * b.quats, axis=-1, keepdims=True))
    quats = (1.0 - w[..., None]) * a.quats + w[..., None] * np.where(same == 0, 1, same) * b.quats
    steps = (1.0 - w) * a.steps + w * b.steps
    return Track(quats, steps, (1.0 - weight) * a.height + weight * b.height)


def _placed(skeleton: Skeleton, track: Track, rng: np.random.Generator, name: str) -> Motion:
    """The track as a motion: its path bent, its posture leaning."""
    n_frames = len(track.height)
    seconds = np.arange(n_frames) / FPS
    quats = quat.normalize(track.quats)
    for part, names in LEANING.items():
        joints = [skeleton.names.index(each) for each in names]
        shape = (len(joints), 3)
        always, comes = rng.normal(0.0, LEAN_RAD[part], (2, *shape))
        rate, phase = rng.uniform(0.05, 0.5, shape), rng.uniform(0.0, 6.28, shape)
        wave = np.sin(rate * seconds[:, None, None] + phase)
        quats[:, joints] = quat.multiply(quats[:, joints], quat.exp(always + comes * wave))
    way = np.hypot(track.steps[:, 1], track.steps[:, 2])
    heading = rng.uniform(0.0, 6.28) + np.cumsum(
        track.steps[:, 0] + rng.normal(0.0, BEND_RAD_M) * way
    )
    cos, sin = np.cos(heading), np.sin(heading)
    root = np.zeros((n_frames, 3))
    root[:, 0] = np.cumsum(cos * track.steps[:, 1] + sin * track.steps[:, 2])
    root[:, 1] = track.height
    root[:, 2] = np.cumsum(cos * track.steps[:, 2] - sin * track.steps[:, 1])
    quats[:, 0] = quat.multiply(_turn(heading), quats[:, 0])
    return Motion(skeleton, root, quat.make_continuous(quats), FPS, name=name)


def _turn(heading: np.ndarray) -> np.ndarray:
    return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading)


def write_clips(folder: Path, bases: Bases, hours: float, *, seed: int = SEED) -> Counter:
    """Write archives ``made_00000.mlm`` and on, hundred to a folder; frames made in which way."""
    total: Counter = Counter()
    for number, (motion, shares) in enumerate(made_clips(bases, hours, seed=seed)):
        place = folder / f"{number // 100:03d}"
        place.mkdir(parents=True, exist_ok=True)
        ml.save(motion, place / f"{motion.name}.mlm")
        total += shares
    return total


def link_first(source: Path, target: Path, hours: float, *, skip: int = 0) -> int:
    """Hard links to the first clips of a folder of made ones, until they last so many hours.

    ``skip`` clips are left out before the first; how many were linked comes back.
    """
    left, linked = hours * 3600.0 * FPS, 0
    for file in find_clip_files(source)[skip:]:
        if left <= 0:
            break
        there = target / file
        there.parent.mkdir(parents=True, exist_ok=True)
        there.hardlink_to(source / file)
        left -= ml.load(there).n_frames
        linked += 1
    return linked
