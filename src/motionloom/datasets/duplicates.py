"""Duplicates: clips of a data set with the same motion, renamed, moved, turned or re-timed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.anatomy import stature
from motionloom.body.body_map import BodyMap, facing_of_positions
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Skeleton

POINTS = ("head", "left_wrist", "right_wrist", "left_ankle", "right_ankle")
POSES = 128
"""Poses of a fingerprint, at equal ways of the body's points from one to the next."""
PARTS = 512
"""Parts of equal time that a clip is averaged over first: noise makes no way."""
REST = 0.1
"""A body at rest counts as moving at this part of its mean speed, or stillness takes no part."""
UNIT = 1.0 / 8192.0
"""Of the stored whole numbers, in statures."""
LEAST_FRAMES = 8
ALIKE = 0.12
"""Fingerprints that differ by less than this part of how far the body's points stray, with times
matched, are of one motion. Of 280 captured clips the two most similar takes, runs of one person,
differ by 0.126 and the next by 0.158; the same takes in two formats by 0.05 to 0.09, one by 0.15;
resampled ones by less than 0.12."""
CANDIDATES = 0.45
"""Times are matched for pairs that differ by less than this without."""
BAND = 6
"""Poses by which times may differ."""
PAIRS = 128
"""Pairs whose times are matched at once."""
LEAST_STRAY = 0.004
"""Points that stray less than this, in statures, stand still: noise decides how alike they are."""
BLOCK = 512


def make_fingerprint(positions: FloatArray, skeleton: Skeleton, body: BodyMap) -> FloatArray | None:
    """Points of the body about the pelvis, in statures. Shape (POSES, P, 3).

    Turned to the heading of each frame, so that place and direction do not count; sampled by the
    way that the points go, so that time does not count. None for bodies without a pelvis or a
    heading, and for clips of a few frames.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the world, metres.
    skeleton
        Of the clip.
    body
        Its roles.
    """
    if body.pelvis is None or len(positions) < LEAST_FRAMES:
        return None
    try:
        heading = facing_of_positions(positions, body)
        tall = stature(skeleton, body)
    except SkeletonMismatchError:
        return None
    if not tall > 0.0:
        return None
    joints = [getattr(body, role) for role in POINTS]
    around = positions[:, [body.pelvis if j is None else j for j in joints]]
    around = (around - positions[:, [body.pelvis]]) / tall
    sin, cos = np.sin(heading)[:, None], np.cos(heading)[:, None]
    x, z = around[..., 0], around[..., 2]
    turned = np.stack([cos * x - sin * z, around[..., 1], sin * x + cos * z], axis=-1)
    return _by_way(_averaged(turned))


def pack_fingerprint(poses: FloatArray | None) -> str:
    """As text; empty for none."""
    if poses is None:
        return ""
    whole = np.clip(np.round(poses / UNIT), -32767, 32767).astype("<i2")
    return base64.b64encode(whole.tobytes()).decode("ascii")


def unpack_fingerprint(text: str) -> FloatArray | None:
    """What was packed, as one row of numbers; None where there is none."""
    if not text:
        return None
    whole = np.frombuffer(base64.b64decode(text), dtype="<i2")
    return np.asarray(whole.astype(np.float64) * UNIT)


def _averaged(values: FloatArray) -> FloatArray:
    """Means over ``PARTS`` parts of equal time, linear between frames. Shape (PARTS, P, 3)."""
    n = len(values)
    flat = values.reshape(n, -1)
    total = np.concatenate([np.zeros((1, flat.shape[1])), np.cumsum(flat, axis=0)])
    # Means between two times are differences of the integral, which is linear within a frame.
    edges = np.linspace(0.0, n, PARTS + 1)
    at = np.minimum(edges.astype(np.int64), n - 1)
    integral = total[at] + (edges - at)[:, None] * flat[at]
    means = np.diff(integral, axis=0) * (PARTS / n)
    return np.asarray(means.reshape(PARTS, *values.shape[1:]))


def _by_way(values: FloatArray) -> FloatArray:
    """Poses at equal ways. Shape (POSES, P, 3)."""
    flat = values.reshape(len(values), -1)
    steps = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    steps = steps + max(REST * float(steps.mean()), 1e-9)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, way[-1], POSES)
    out = np.stack([np.interp(wanted, way, column) for column in flat.T], axis=1)
    return np.asarray(out.reshape(POSES, *values.shape[1:]))


def find_duplicates(prints: Sequence[FloatArray | None], digests: Sequence[str]) -> list[int]:
    """Number of the first clip with the same motion, for every clip; its own where there is none.

    Parameters
    ----------
    prints
        Fingerprints, each one row of numbers; None for clips without.
    digests
        Of the files; copies are duplicates whatever they hold. Empty where unknown.

    Examples
    --------
    >>> find_duplicates([None, None, None], ["a", "b", "a"])
    [0, 1, 0]
    """
    groups = _Groups(len(prints))
    first: dict[str, int] = {}
    for n, digest in enumerate(digests):
        if digest:
            groups.join(n, first.setdefault(digest, n))
    numbers = [n for n, each in enumerate(prints) if each is not None]
    if len(numbers) > 1:
        rows = np.stack([each for each in prints if each is not None])
        for a, b in alike_pairs(rows):
            groups.join(numbers[a], numbers[b])
    return [groups.head(n) for n in range(len(prints))]


def alike_pairs(rows: FloatArray) -> list[tuple[int, int]]:
    """Pairs of fingerprints (N, D) of one motion.

    Each is taken about its own mean pose: rigs that differ by a bone hold the body differently all
    the time. Of clips sorted by how far their points stray, only near ones are compared.
    """
    poses = rows.reshape(len(rows), POSES, -1)
    centred = (poses - poses.mean(axis=1, keepdims=True)).reshape(len(rows), -1)
    power = np.einsum("nd,nd->n", centred, centred)
    stray = np.sqrt(power / (POSES * len(POINTS)))
    order = np.argsort(stray, kind="stable")
    order = order[stray[order] > LEAST_STRAY]
    centred, power, stray = centred[order], power[order], stray[order]
    # Rows whose lengths differ by more cannot be candidates: |a - b| >= ||a| - |b||.
    stops = np.searchsorted(stray, stray * (1.0 + CANDIDATES) ** 2 + 1e-12, side="right")
    pairs = []
    for begin in range(0, len(order), BLOCK):
        end = min(begin + BLOCK, len(order))
        for start in range(begin, int(stops[begin:end].max()), BLOCK):
            stop = min(start + BLOCK, len(order))
            products = centred[begin:end] @ centred[start:stop].T
            apart = power[begin:end, None] + power[None, start:stop] - 2.0 * products
            size = np.sqrt(power[begin:end, None] * power[None, start:stop])
            near = np.argwhere(apart < CANDIDATES**2 * size) + np.array([begin, start])
            pairs += [(int(a), int(b)) for a, b in near if a < b]
    tracks = centred.reshape(len(centred), POSES, poses.shape[2])
    alike = []
    for first in range(0, len(pairs), PAIRS):
        some = np.array(pairs[first : first + PAIRS])
        near_enough = matched_distances(tracks[some[:, 0]], tracks[some[:, 1]]) < ALIKE
        alike += [(int(order[a]), int(order[b])) for a, b in some[near_enough]]
    return sorted((min(pair), max(pair)) for pair in alike)


def matched_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """How much tracks (N, K, D) differ with their times matched, as a part of their size. (N,).

    Dynamic time warping within a band; a step in both counts twice, so that all ways through have
    the same weight.
    """
    n, poses = a.shape[:2]
    costs = np.full((2 * BAND + 1, n, poses), np.inf)
    for shift in range(-BAND, BAND + 1):
        here = slice(max(0, -shift), poses - max(0, shift))
        other = slice(max(0, shift), poses - max(0, -shift))
        costs[shift + BAND][:, here] = ((a[:, here] - b[:, other]) ** 2).sum(axis=-1)
    none = np.full(n, np.inf)
    before = [none] * (2 * BAND + 1)  # least cost up to the frame before in a, by shift
    for i in range(poses):
        now = list(before)
        for at in range(2 * BAND + 1):
            cost = costs[at, :, i]
            both = before[at] + 2.0 * cost
            if i == 0 and at == BAND:
                both = 2.0 * cost
            only_a = before[at + 1] + cost if at + 1 < len(before) else none
            only_b = now[at - 1] + cost if at else none
            now[at] = np.minimum(np.minimum(both, only_a), only_b)
        before = now
    size = np.sqrt((a * a).sum(axis=(1, 2)) * (b * b).sum(axis=(1, 2)))
    return np.asarray(np.sqrt(0.5 * before[BAND] / np.maximum(size, 1e-300)))


class _Groups:
    """Numbers that belong together; the lowest is the head."""

    def __init__(self, n: int) -> None:
        self._heads = list(range(n))

    def head(self, n: int) -> int:
        while self._heads[n] != n:
            self._heads[n] = self._heads[self._heads[n]]
            n = self._heads[n]
        return n

    def join(self, a: int, b: int) -> None:
        a, b = self.head(a), self.head(b)
        self._heads[max(a, b)] = min(a, b)
