"""Terms of captured windows that are bent to leave one row and to arrive at another."""

from __future__ import annotations

import numpy as np

from motionloom.tables.score.terms import (
    COM,
    FEET,
    HEADING,
    LIFT,
    N_ROWS,
    PACE,
    POWER,
    STANDS,
    STEP,
    TRAVEL,
    TURN_M,
    TermArrays,
)
from tests.oracles.passage import GLIDE_S, REACH_S, SHORTEST_S, eased, slope


def pinned_terms(arrays: TermArrays, fps: float, pad: int, ends, windows) -> TermArrays:
    """Terms of windows pinned between two, all given by their slots: one window of each array."""
    source, target = ends
    rows, posture = (np.array(part[source]) for part in (arrays.rows, arrays.posture))
    length = rows.shape[1] - 2 * pad
    first, last = pad, pad + length - 1
    rows[:, last + 1 :] = arrays.rows[target][:, last + 1 :]
    posture[last + 1 :] = arrays.posture[target][last + 1 :]
    reach = max(1, int(REACH_S * fps + 0.5))
    before = min([reach, arrays.reach[source, 0], *arrays.reach[windows, 0]])
    after = min([reach, arrays.reach[target, 1], *arrays.reach[windows, 1]])
    t, end = np.arange(length), length - 1
    inside = slice(first, last + 1)
    mean = arrays.rows[windows].mean(axis=0)
    a = 1.0 - eased((t - 0.5) / (GLIDE_S * fps))
    b = 1.0 - eased((end - t + 0.5) / (GLIDE_S * fps))
    for row in range(HEADING, FEET):
        lacks = np.zeros(2)
        if before:
            lead = slice(first - before + 1, first + 1)
            lacks[0] = (arrays.rows[source, row, lead] - mean[row, lead]).mean()
        if after:
            rest = slice(last + 1, last + 1 + after)
            lacks[1] = (arrays.rows[target, row, rest] - mean[row, rest]).mean()
        bent = mean[row, inside] + a * lacks[0] + b * lacks[1]
        rows[row, first + 1 : last + 1] = bent[1:]

    def bend(of_source, of_target, own):
        """Series with time first."""
        start, stop = of_source - own, of_target - own
        rises = (start[first] - start[first - before]) / before if before else 0.0 * start[0]
        falls = (stop[last + after] - stop[last]) / after if after else 0.0 * start[0]
        time, u = min(SHORTEST_S * fps, end), (t / end)[:, None]
        along = (stop[last] - start[first]) / end
        return (
            own[inside]
            + (1.0 - u) * start[first]
            + u * stop[last]
            + slope(t, time)[:, None] * (rises - along)
            - slope(end - t, time)[:, None] * (falls - along)
        )

    series = [*range(FEET, COM + 3), LIFT, LIFT + 1]
    rows[series, inside] = bend(
        arrays.rows[source, series].T, arrays.rows[target, series].T, mean[series].T
    ).T
    posture[inside] = bend(
        arrays.posture[source], arrays.posture[target], arrays.posture[windows].mean(axis=0)
    )
    rows[STANDS : STANDS + 2, inside] = mean[STANDS : STANDS + 2, inside]
    apart = np.square(arrays.posture[windows][:, inside] - posture[inside]).sum(axis=2)
    rows[POWER, inside] = np.square(posture[inside]).sum(axis=1) + apart.mean(axis=0)
    rows[PACE, inside] = mean[PACE, inside]
    scale = np.array([TURN_M, 1.0, 1.0])[:, None]
    steps = scale * rows[HEADING : STEP + 2, inside]
    off = scale * arrays.rows[windows][:, HEADING : STEP + 2, inside] - steps
    away = np.square(off).sum(axis=1).mean(axis=0)
    away[0] = 0.0
    rows[TRAVEL, inside] = (np.square(steps).sum(axis=0) + away) * fps * fps
    assert rows.shape[0] == N_ROWS
    return TermArrays(
        rows,
        posture,
        arrays.anchors[windows[0]],
        arrays.spans[windows[0]],
        arrays.ahead[windows[0]],
        arrays.counts[windows[0]],
        np.array([arrays.reach[source, 0], arrays.reach[target, 1]]),
    )
