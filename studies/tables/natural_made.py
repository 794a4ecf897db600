"""Blends that are good or bad by construction, of every group: captured, near and far ones.

Captured windows are good. Blends of windows that are nearly equal (a transition that was nearly
captured) are good. Blends of windows that are far from each other are bad: their mean is nobody's
motion. Labels of that kind favour any score that sees how far windows differ, so areas under curves
are reported for the candidates of ``natural_truth.py``; of these blends, the share called natural.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.tables.index.windows import distances, window_features, window_shape
from motionloom.tables.score.natural import Reference
from studies.tables.natural_candidates import frames_of_subject, window_length
from studies.tables.natural_truth import WAYS, measured_columns, measured_reference

SEED = 7
EACH = 150
DRAWN_FROM = 1500
NEAR_M, FAR_M = 0.08, 0.25
"""Windows nearer than the first, root mean square over joints, are nearly equal; those further than
the second are far."""
STRIDE_S = 0.4
"""Distance of the captured windows."""


class Made(NamedTuple):
    """Blends of one kind with what is measured of them."""

    rows: np.ndarray
    take: np.ndarray
    columns: np.ndarray
    reference: Reference


@lru_cache(maxsize=5)
def made_blends(folder: Path, subject: str) -> dict[str, Made]:
    """Blends of a group by kind: ``captured``, ``near`` and ``far``."""
    frames = frames_of_subject(folder, subject)
    length = window_length(frames)
    stride = max(1, round(STRIDE_S * frames.fps))
    captured = frames.sound(frames.windows(length, stride=stride), length)
    rows = {"captured": np.full((len(captured), WAYS), -1), **_near_and_far(folder, subject)}
    rows["captured"][:, 0] = captured
    names = np.array(frames.ids)
    return {
        kind: Made(
            of_kind,
            names[np.searchsorted(frames.starts, of_kind[:, 0], side="right") - 1],
            measured_columns(frames, of_kind),
            measured_reference(frames, of_kind),
        )
        for kind, of_kind in rows.items()
    }


def _near_and_far(folder: Path, subject: str) -> dict[str, np.ndarray]:
    """First rows (n, 4) of near and far blends of two, three and four windows."""
    frames = frames_of_subject(folder, subject)
    length = window_length(frames)
    rng = np.random.default_rng(SEED)
    rows = frames.sound(frames.windows(length), length)
    drawn = np.sort(rng.choice(rows, min(DRAWN_FROM, len(rows)), replace=False))
    features = window_features(frames, drawn, window_shape(frames, length))
    clips = np.searchsorted(frames.starts, drawn, side="right") - 1
    samples: dict[str, list[list[int]]] = {"near": [], "far": []}
    for k in rng.permutation(len(drawn)):
        apart = distances(features[[k]], features)[0]
        # At least a second away in the same take: the next frame is no duplicate.
        other = (clips != clips[k]) | (np.abs(drawn - drawn[k]) >= length)
        for kind, fits in (("near", (apart < NEAR_M) & other), ("far", apart > FAR_M)):
            others = drawn[fits]
            if len(others) >= WAYS - 1 and len(samples[kind]) < EACH:
                count = 1 + len(samples[kind]) % (WAYS - 1)
                chosen = rng.choice(others, count, replace=False).tolist()
                samples[kind].append([int(drawn[k]), *chosen, *[-1] * (WAYS - 1 - count)])
    return {kind: np.array(recipes).reshape(-1, WAYS) for kind, recipes in samples.items()}
