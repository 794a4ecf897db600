"""Matches of neighbours joined to tuples of frames of all windows, item by item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import IntArray


def joined_paths(paths: Sequence[IntArray], length: int, most: int) -> IntArray | None:
    """Tuples (L, N) from the first window's first frame to the last one's last; None for none."""
    tuples = [tuple(int(v) for v in cell) for cell in paths[0]]
    for path in paths[1:]:
        tuples = _joined(tuples, path)
        if len(tuples) > most:
            return None
    if not tuples:
        return None
    whole = _from_end_to_end(np.array(tuples, dtype=np.int64), length)
    return whole if 2 <= len(whole) <= most else None


def _joined(tuples: list[tuple[int, ...]], path: IntArray) -> list[tuple[int, ...]]:
    if not tuples:
        return []
    shared = path[:, 0]
    joined: list[tuple[int, ...]] = []
    for frame in range(max(tuples[0][-1], int(shared[0])), int(shared[-1]) + 1):
        left = [each for each in tuples if each[-1] == frame]
        right = [int(b) for b in path[shared == frame, 1]]
        if not left:
            break
        for k in range(max(len(left), len(right))):
            pair = (*left[min(k, len(left) - 1)], right[min(k, len(right) - 1)])
            if not joined or joined[-1] != pair:
                joined.append(pair)
    return joined


def _from_end_to_end(times: IntArray, length: int) -> IntArray:
    """Tuples with what comes before in the first window, and after in the last, played on."""
    before = np.repeat(times[:1], times[0, 0], axis=0)
    before[:, 0] = np.arange(times[0, 0])
    after = np.repeat(times[-1:], length - 1 - times[-1, -1], axis=0)
    after[:, -1] = np.arange(times[-1, -1] + 1, length)
    return np.concatenate([before, times, after])
