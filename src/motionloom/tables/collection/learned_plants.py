"""Foot plants by a learned classifier, after Ikemoto, Arikan and Forsyth 2006.

"Knowing when to put your foot down" labels some frames by hand and learns from what legs do in a
short time around them. Here the labels come with the embedded clips, or from the caller, and
the classifier is a logistic regression on such windows and on hinges in random directions of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, one_of
from motionloom.body.anatomy import stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.plant_edges import line_slopes, measure_foot_signals
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Footplants, Motion, runs_of

METHODS = ("thresholds", "learned")

MOMENTS_S = (-0.15, -0.1, -0.06, -0.03, 0.0, 0.03, 0.06, 0.1, 0.15)
"""When the leg is looked at, around a frame."""
HINGES = 96
"""Random directions in which a window may bend the regression."""
RIDGE = 1e-4
"""Penalty on the squared coefficients, per example."""
ROUNDS, SAME = 50, 1e-8
"""Of the fit, and the part of the loss that the last one gains."""
SHORTEST_S, LONGEST_GAP_S = 0.06, 0.05
NOISES_M = (0.0, 0.002, 0.005)
"""Embedded clips are learned from clean and with so much noise."""


class PlantClassifier(NamedTuple):
    """Coefficients for heels and for balls; the same for left and right."""

    mean: FloatArray
    """Of the windows. (2, D)"""
    scale: FloatArray
    """Their spread. (2, D)"""
    hinges: FloatArray
    """Directions of the hinges. (D + 1, H)"""
    weights: FloatArray
    """(2, D + H + 1)"""


def plants_by(method: str, motion: Motion, body: BodyMap) -> Footplants:
    """Plants of a motion by ``"thresholds"`` or by the ``"learned"`` classifier."""
    if one_of(method, METHODS, "plants") == "learned":
        return classify_plants(motion, embedded_classifier(), body=body)
    return detect_footplants(motion, body=body)


def classify_plants(
    motion: Motion, classifier: PlantClassifier, *, body: BodyMap | None = None
) -> Footplants:
    """When each heel and ball stands, as a classifier says.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk")
    >>> learned = train_plants([(clip.motion, clip.footplants)])
    >>> found = classify_plants(clip.motion, learned)
    >>> bool(np.mean(found.planted == clip.footplants.planted) > 0.9)
    True
    """
    body = roles_for(motion.skeleton, body)
    windows = _windows(motion, body)  # (F, 4, D)
    planted = np.zeros(windows.shape[:2], dtype=bool)
    for p in range(4):
        inputs = _inputs(windows[:, p], classifier, p % 2)
        planted[:, p] = inputs @ classifier.weights[p % 2] > 0.0
    return Footplants(_tidied(planted, motion.fps))


def train_plants(
    examples: Sequence[tuple[Motion, Footplants]], *, seed: int = 0
) -> PlantClassifier:
    """A classifier that says of its examples' frames what their labels say."""
    if not examples:
        raise ArrayError("`examples` must hold at least one labelled motion, got none.")
    parts = [_windows(motion, BodyMap.guess(motion.skeleton)) for motion, _ in examples]
    windows = np.concatenate(parts)  # (N, 4, D)
    labels = np.concatenate([plants.planted for _, plants in examples])  # (N, 4)
    width = windows.shape[-1]
    rng = np.random.Generator(np.random.PCG64(seed))
    hinges = np.concatenate(
        [rng.normal(size=(width, HINGES)) / np.sqrt(width), rng.normal(size=(1, HINGES))]
    )
    both = [windows[:, p::2].reshape(-1, width) for p in (0, 1)]
    mean = np.stack([part.mean(axis=0) for part in both])
    scale = np.stack([np.maximum(part.std(axis=0), 1e-6) for part in both])
    blank = PlantClassifier(mean, scale, hinges, np.zeros((2, width + HINGES + 1)))
    weights = [
        _fit_logistic(_inputs(both[p], blank, p), labels[:, p::2].reshape(-1)) for p in (0, 1)
    ]
    return blank._replace(weights=np.stack(weights))


@lru_cache(maxsize=1)
def embedded_classifier() -> PlantClassifier:
    """The classifier learned from embedded clips, whose plants are known; takes seconds, once."""
    return train_plants(list(_embedded_examples()))


def _embedded_examples() -> Iterator[tuple[Motion, Footplants]]:
    from motionloom import synthetic

    for number, kind in enumerate(synthetic.kinds()):
        for turn in (0.0, 0.7):
            try:
                # Seeds apart from those that plants are measured on.
                clip = synthetic.clip(kind, turn=turn, seed=17)
            except MotionLoomError:  # not every kind turns
                continue
            for noise in NOISES_M:
                yield corrupt(clip.motion, noise_m=noise, seed=9000 + number), clip.footplants


def _windows(motion: Motion, body: BodyMap) -> FloatArray:
    """What each foot point, its foot, its knee and the body do around each frame. (F, 4, D)."""
    signals = measure_foot_signals(motion, body)
    fps, n_frames = motion.fps, motion.n_frames
    tall = max(stature(motion.skeleton, body), 1e-6)
    points = signals.points
    width = min(5, n_frames - (n_frames + 1) % 2)
    knees = body.require("left_knee", "right_knee", task="learned foot plants")
    knee_speed = _log_speed(
        np.linalg.norm(line_slopes(motion.world_positions()[:, list(knees)], width, fps), axis=-1)
    )
    speed = _log_speed(signals.speeds)  # (F, 4)
    sharp = _log_speed(signals.sharp_speeds)
    rise = np.arcsinh(line_slopes(points[..., 1], width, fps) / 0.1)
    height = points[..., 1] / tall
    low = _lowest_around(height.min(axis=1), round(0.5 * fps))
    carried = _log_speed(signals.body_speed)
    columns = []
    for p in range(4):
        side, other = p // 2, 4 * (p // 2) + 1 - p
        tracks = np.stack(
            [
                speed[:, p],
                sharp[:, p],
                speed[:, other],
                50.0 * (height[:, p] - low),
                50.0 * (height[:, p] - height[:, other]),
                rise[:, p],
                knee_speed[:, side],
            ],
            axis=-1,
        )
        far = np.stack([carried, speed[:, 2 * (1 - side)], speed[:, 2 * (1 - side) + 1]], axis=-1)
        columns.append(np.concatenate([_around(tracks, fps), far], axis=-1))
    return np.stack(columns, axis=1)


def _log_speed(speed: FloatArray) -> FloatArray:
    return np.asarray(np.log(0.02 + speed))


def _lowest_around(values: FloatArray, half: int) -> FloatArray:
    padded = np.pad(values, half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(windows.min(axis=-1))


def _around(tracks: FloatArray, fps: float) -> FloatArray:
    """Tracks (F, C) at all moments around each frame, (F, C M); held at the clip's ends."""
    frames = np.arange(len(tracks))
    parts = []
    for moment in MOMENTS_S:
        at = np.clip(frames + moment * fps, 0.0, len(tracks) - 1.0)
        below = np.floor(at).astype(np.int64)
        above = np.minimum(below + 1, len(tracks) - 1)
        part = (at - below)[:, None]
        parts.append((1.0 - part) * tracks[below] + part * tracks[above])
    return np.concatenate(parts, axis=-1)


def _inputs(windows: FloatArray, classifier: PlantClassifier, kind: int) -> FloatArray:
    """Windows (N, D) as the regression takes them, with hinges and a constant, (N, D + H + 1)."""
    plain = (windows - classifier.mean[kind]) / classifier.scale[kind]
    bent = np.maximum(plain @ classifier.hinges[:-1] + classifier.hinges[-1], 0.0)
    return np.concatenate([plain, bent, np.ones((len(plain), 1))], axis=-1)


def _fit_logistic(inputs: FloatArray, labels: BoolArray) -> FloatArray:
    """Coefficients (D,) of a logistic regression of labels (N,) on inputs (N, D).

    By Newton's method, with halved steps where a whole one goes too far.
    """
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: FloatArray) -> float:
        margin = signs * (inputs @ weights)
        return float(np.logaddexp(0.0, -margin).mean() + 0.5 * RIDGE * weights @ weights)

    weights = np.zeros(inputs.shape[1])
    now = loss(weights)
    for _ in range(ROUNDS):
        wrong = np.exp(-np.logaddexp(0.0, signs * (inputs @ weights)))  # chance of the other label
        slope = RIDGE * weights - inputs.T @ (signs * wrong) / len(signs)
        curve = (inputs.T * (wrong * (1.0 - wrong))) @ inputs / len(signs)
        curve[np.diag_indices(len(curve))] += RIDGE
        step = np.linalg.solve(curve, slope)
        while (tried := loss(weights - step)) > now + SAME * now:
            step = 0.5 * step
        weights, gain, now = weights - step, now - tried, tried
        if gain <= SAME * now:
            break
    return weights


def _tidied(planted: BoolArray, fps: float) -> BoolArray:
    """Plants without gaps and without moments that are too short to be either."""
    tidy = planted.copy()
    for p in range(planted.shape[1]):
        runs = runs_of(planted[:, p])
        for (_, last), (first, _) in pairwise(runs):
            if first - last - 1 <= LONGEST_GAP_S * fps:
                tidy[last:first, p] = True
        for first, last in runs_of(tidy[:, p]):
            if last - first + 1 < SHORTEST_S * fps and last - first + 1 < len(planted):
                tidy[first : last + 1, p] = False
    return tidy
