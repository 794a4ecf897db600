"""Clusters of a collection's windows, and the lookup of the medoid that a window is nearest to.

[IAF07]_ section 3: one-second clips, an affinity between them, a spectral embedding by Nystrom's
method, k-means, and of each cluster the medoid.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray, exp
from motionloom._core import integer
from motionloom._records import record
from motionloom.errors import TableError
from motionloom.tables.collection.frames import FloatArray32, Frames, release_frames
from motionloom.tables.index.kmeans import find_means, nearest
from motionloom.tables.index.matrices import eigen, find_spectrum, short_product
from motionloom.tables.index.windows import (
    BLOCK,
    WindowShape,
    distances,
    stream_features,
    window_features,
    window_shape,
    windows_of,
)

Method = Literal["spectral", "means"]
SAMPLES = 300
"""Windows sampled for Nystrom's method, as in the paper."""
COMPONENTS = 10
"""Dimensions of the spectral embedding, as in the paper."""
PRINCIPAL = 40
"""Principal components that plain k-means works on; 98 % of the variance of CMU's subject 143."""
RESTARTS: dict[str, int] = {"spectral": 10, "means": 3}
"""Runs of k-means; in many dimensions they cost more and differ less."""
MEMBERS = 1000
"""A medoid is sought among at most this many members of its cluster."""
MOST = 200_000
"""Windows that are clustered, at most; of more, so many are taken evenly. Of ten hours, medoids
found among all 540,000 windows were nearer by 0.3 %, at twice the time."""
HELD = 1 << 26
"""Affinities are kept from pass to pass up to this many, and worked out again beyond."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Windows in clusters, the largest cluster first."""

    length: int
    """Frames in a window."""
    rows: IntArray
    """First rows of the windows that were clustered, ascending. (N,)"""
    labels: IntArray
    """Cluster of each of them. (N,)"""
    distances: FloatArray32
    """Distance of each from its own cluster's medoid: root mean square over joints, metres. (N,)"""
    medoids: IntArray
    """First row of each cluster's medoid. (K,)"""
    sizes: IntArray
    """Windows in each cluster. (K,)"""
    takes: IntArray
    """Clips that each cluster's windows come from. (K,)"""

    @property
    def count(self) -> int:
        """Number of clusters, K."""
        return len(self.medoids)

    def members(self, cluster: int) -> IntArray:
        """First rows of a cluster's windows, the nearest to its medoid first."""
        inside = np.flatnonzero(self.labels == cluster)
        return self.rows[inside[np.argsort(self.distances[inside], kind="stable")]]

    def spread(self) -> FloatArray:
        """Mean distance of each cluster's windows from its medoid, metres, (K,)."""
        return np.bincount(self.labels, weights=self.distances, minlength=self.count) / self.sizes


def find_clusters(
    frames: Frames,
    *,
    length: int,
    clusters: int = 50,
    stride: int = 5,
    seed: int = 0,
    method: Method = "spectral",
    rows: IntArray | None = None,
) -> Clusters:
    """Clusters of a collection's windows, and the medoid of each.

    The answer does not depend on the order of the clips, only on their ids and frames. Time grows
    with the number of windows up to :data:`MOST`, and what is held of each is a few numbers.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames in a window.
    clusters
        How many.
    stride
        Frames from one window to the next; 5 at 60 frames a second loses nothing against 1.
    seed
        Of what is drawn at random.
    method
        ``"spectral"`` as in the paper; it separates different motions. ``"means"`` is k-means on
        principal components: its medoids lie a little nearer to the windows, and it is the one to
        take for a fine set.
    rows
        First rows of the windows to cluster; by default all at ``stride``, or :data:`MOST` of them.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("run").motion])
    >>> found = find_clusters(frames, length=60, clusters=4)
    >>> found.count, int(found.sizes.sum())
    (4, 74)
    """
    if clusters < 1:
        raise TableError(f"`clusters` must be at least 1, got {clusters}.")
    if method not in get_args(Method):
        raise TableError(f"`method` must be one of {', '.join(get_args(Method))}, got {method!r}.")
    if rows is None:
        rows = windows_of(frames, length, stride=stride, at_least=clusters)
        rows = _by_name(frames, frames.sound(rows, length, at_least=clusters))
        most = max(MOST, clusters)
        if len(rows) > most:
            rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    elif len(rows) < clusters:
        raise TableError(f"`rows` must hold at least {clusters} windows, got {len(rows)}.")
    else:
        rows = _by_name(frames, np.asarray(rows, dtype=np.int64))
    shape = window_shape(frames, length)
    points = (
        _spectral_points(frames, rows, shape, seed)
        if method == "spectral"
        else _principal_points(frames, rows, shape)
    )
    labels = find_means(points, clusters, seed=seed, restarts=RESTARTS[method]).labels
    medoids, apart = _medoids(frames, rows, labels, clusters, shape)
    return _largest_first(frames, length, rows, labels, apart, medoids)


def _by_name(frames: Frames, rows: IntArray) -> IntArray:
    """Rows in the order of their clips' ids, so that the order of ingestion has no say."""
    rank = np.argsort(np.argsort(np.array(frames.ids)))
    clip = np.searchsorted(frames.starts, rows, side="right") - 1
    return rows[np.lexsort((rows, rank[clip]))]


def _spectral_points(frames: Frames, rows: IntArray, shape: WindowShape, seed: int) -> FloatArray:
    """Windows on the unit sphere of the spectral embedding, (N, 10)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = np.sort(rng.choice(len(rows), min(SAMPLES, len(rows)), replace=False))
    sample = window_features(frames, rows[chosen], shape)
    apart = distances(sample, sample).astype(np.float64)
    apart = 0.5 * (apart + apart.T)
    np.fill_diagonal(apart, 0.0)
    pairs = apart[np.triu_indices(len(apart), 1)]
    # exp(-d / sigma) is positive definite, as Nystrom's method needs; all copies are at distance 0.
    sigma = float(np.median(pairs)) if np.any(pairs) else 1.0
    sigma = sigma if sigma > 0.0 else float(pairs.max())

    def affinities() -> Iterable[FloatArray32]:
        for part, features in stream_features(frames, rows, shape):
            block = exp(distances(features, sample) / -sigma).astype(np.float32)
            here = np.flatnonzero((chosen >= part.start) & (chosen < part.stop))
            block[chosen[here] - part.start, here] = 1.0
            yield block

    if len(rows) * len(chosen) <= HELD:
        blocks = list(affinities())
        return find_spectrum(exp(-apart / sigma), lambda: blocks, COMPONENTS).embedding()
    return find_spectrum(exp(-apart / sigma), affinities, COMPONENTS).embedding()


def _principal_points(frames: Frames, rows: IntArray, shape: WindowShape) -> FloatArray:
    """Windows in the space of their leading principal components, (N, P)."""
    total, square = np.zeros(shape.width), np.zeros((shape.width, shape.width))
    origin = window_features(frames, rows[:1], shape)[0]
    for _, features in stream_features(frames, rows, shape):
        features = features - origin
        total += features.sum(axis=0, dtype=np.float64)
        square += short_product(features.T, features)
    mean = total / len(rows)
    _, vectors = eigen(square / len(rows) - np.outer(mean, mean))
    axes = vectors[:, ::-1][:, :PRINCIPAL]
    middle = origin + mean
    points = [
        short_product(block - middle, axes) for _, block in stream_features(frames, rows, shape)
    ]
    return np.concatenate(points)


def _medoids(
    frames: Frames,
    rows: IntArray,
    labels: IntArray,
    count: int,
    shape: WindowShape,
) -> tuple[IntArray, FloatArray32]:
    """Medoid's row of every cluster (K,), and every window's distance from its own one (N,)."""
    medoids = np.zeros(count, dtype=np.int64)
    apart = np.zeros(len(rows), dtype=np.float32)
    for cluster in range(count):
        members = np.flatnonzero(labels == cluster)
        some = members
        if len(members) > MEMBERS:
            some = members[np.linspace(0, len(members) - 1, MEMBERS).astype(np.int64)]
        features = window_features(frames, rows[some], shape)
        best = int(distances(features, features).sum(axis=0, dtype=np.float64).argmin())
        medoids[cluster] = rows[some[best]]
        for first in range(0, len(members), BLOCK):
            part = members[first : first + BLOCK]
            block = window_features(frames, rows[part], shape)
            apart[part] = distances(block, features[best : best + 1])[:, 0]
        apart[some[best]] = 0.0
        release_frames(frames)
    return medoids, apart


def _largest_first(
    frames: Frames,
    length: int,
    rows: IntArray,
    labels: IntArray,
    apart: FloatArray32,
    medoids: IntArray,
) -> Clusters:
    """Clusters in the order of their sizes, equal ones as they come; windows by row."""
    sizes = np.bincount(labels, minlength=len(medoids))
    order = np.argsort(-sizes, kind="stable")
    name = np.argsort(order)
    by_row = np.argsort(rows)
    rows, labels, apart = rows[by_row], name[labels][by_row], apart[by_row]
    clip = np.searchsorted(frames.starts, rows, side="right") - 1
    pairs = np.unique(labels * frames.n_clips + clip)
    takes = np.bincount(pairs // frames.n_clips, minlength=len(medoids))
    return Clusters(length, rows, labels, apart, medoids[order], sizes[order], takes)


NOWHERE = integer("ML_TABLE_NO_END")
"""Id of a row whose clip is shorter than a window."""
Ids = npt.NDArray[np.uint16]
Halves = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
@record
class Lookup:
    """The nearest medoid of every row's window, of a coarse set and of a fine one: 8 bytes a row.

    A row near its clip's end starts no window and has the ids of the clip's last one. The window
    that *ends* at row ``t`` is looked up where it starts, at ``t - length + 1``. The nearest medoid
    is not always the one of the window's own cluster, and it is the better one to take: its recipes
    fit better.
    """

    coarse: Ids
    """Number of the nearest medoid of the coarse set, whose recipes the table holds. (R,)"""
    fine: Ids
    """The same in the fine set. (R,)"""
    coarse_distance: Halves
    """How far that medoid is, root mean square over joints, metres. (R,)"""
    fine_distance: Halves

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, for a file."""
        return {
            "coarse": self.coarse,
            "fine": self.fine,
            "coarse_distance": self.coarse_distance,
            "fine_distance": self.fine_distance,
        }


def find_lookup(
    frames: Frames,
    coarse: IntArray,
    fine: IntArray,
    *,
    length: int,
    before: tuple[Lookup, IntArray] | None = None,
) -> Lookup:
    """The nearest medoids of every row's window; time grows with the rows, memory hardly.

    Parameters
    ----------
    frames
        The collection.
    coarse, fine
        First rows of the two sets' medoids.
    length
        Frames in a window.
    before
        A lookup of the same medoids and, for every row, its row there or -1: only clips of rows
        that are not there are looked up.
    """
    for name, medoids in (("coarse", coarse), ("fine", fine)):
        if not 1 <= len(medoids) < NOWHERE:
            raise TableError(f"`{name}` must hold 1 to {NOWHERE - 1} medoids, got {len(medoids)}.")
    ids = np.full((2, frames.n_rows), NOWHERE, dtype=np.uint16)
    apart = np.full((2, frames.n_rows), np.inf, dtype=np.float16)
    rows, is_new = windows_of(frames, length), np.ones(frames.n_clips, dtype=bool)
    if before is not None:
        old, was = before
        is_old = was >= 0
        ids[:, is_old] = old.coarse[was[is_old]], old.fine[was[is_old]]
        apart[:, is_old] = old.coarse_distance[was[is_old]], old.fine_distance[was[is_old]]
        rows, is_new = rows[~is_old[rows]], ~is_old[frames.starts[:-1]]
    shape = window_shape(frames, length)
    representatives = [
        window_features(frames, np.asarray(medoids, dtype=np.int64), shape)
        for medoids in (coarse, fine)
    ]
    for part, features in stream_features(frames, rows, shape):
        for k, some in enumerate(representatives):
            ids[k, rows[part]], least = nearest(features, some)
            apart[k, rows[part]] = np.minimum(least, np.finfo(np.float16).max)
    for clip in np.flatnonzero(is_new):
        first, last = frames.starts[clip : clip + 2]
        if last - first >= length:
            tail = slice(last - length + 1, last)
            ids[:, tail] = ids[:, last - length, None]
            apart[:, tail] = apart[:, last - length, None]
    return Lookup(ids[0], ids[1], apart[0], apart[1])
