"""Registration of three clips or more: each against a reference, then all on one curve."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import RegistrationError
from motionloom.registration.alignment import fit_alignment
from motionloom.registration.grids import Grids
from motionloom.registration.registration_settings import RegistrationSettings
from motionloom.registration.splines import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import TimePath, find_corner_path
from motionloom.registration.two_clips import find_path, fit_clips


def nearest_to_all(grids: Grids, settings: RegistrationSettings) -> int:
    """The motion whose frames lie nearest to the others' on average."""
    n_clips = len(grids.clips)
    cost = np.zeros((n_clips, n_clips))
    for a in range(n_clips):
        for b in range(a + 1, n_clips):
            cost[a, b] = cost[b, a] = find_path(grids(a, b).cost, settings, []).mean_cost
    return int(np.argmin(cost.sum(axis=1)))


def register_many(
    grids: Grids, settings: RegistrationSettings, reference: int
) -> tuple[Spline, list[Spline | None], tuple[float, ...]]:
    """Every motion against the reference, then all on the reference's frames (section 4.2)."""
    rate, clips = grids.rate, range(len(grids.clips))
    others = [k for k in clips if k != reference]
    paths = {k: find_path(grids(reference, k).cost, settings, []) for k in others}
    if settings.ends == "open":
        paths = _cropped(grids, paths, reference, settings)
    pairs = {
        k: fit_clips(grids, grids(reference, k), path, (reference, k), settings)
        for k, path in paths.items()
    }
    first = max(float(p.times(0.0)[0]) for p in pairs.values())
    last = min(float(p.times(p.times.u_end)[0]) for p in pairs.values())
    if last - first < 2.0:
        raise RegistrationError(
            f"The motions share only {max(last - first, 0.0) / rate:.2f} s of the reference "
            f"(motion {reference}). Choose clips of the same action, or name another `reference`."
        )
    frames = np.linspace(first, last, max(round(last - first) + 1, 3))
    rows: list[FloatArray] = []
    carried: list[FloatArray | None] = []
    for k in clips:
        if k == reference:
            rows.append(frames)
            carried.append(None)
        else:
            u = pairs[k].times.inverse(0, frames)
            rows.append(pairs[k].times(u)[:, 1])
            carried.append(pairs[k].alignment(u))
    values = np.stack(rows, axis=-1)  # (N, K)
    length = float((values[-1] - values[0]).mean())
    n_points = 2 + max(1, int(np.ceil(length / max(settings.knot_s * rate, 1.0))))
    u = np.linspace(0.0, n_points - 2.0, len(frames))
    ends = values[[0, -1]]
    times = fit_spline(u, values, n_points, ends=ends)
    times = adjust_increasing(times, epsilon=settings.epsilon, ends=ends)
    alignments: list[Spline | None] = [
        None if c is None else fit_alignment(u, c, n_points) for c in carried
    ]
    costs = tuple(0.0 if k == reference else float(np.sqrt(pairs[k].path.mean_cost)) for k in clips)
    return Spline(times.points * grids.stride), alignments, costs


def _cropped(
    grids: Grids, paths: dict[int, TimePath], reference: int, settings: RegistrationSettings
) -> dict[int, TimePath]:
    """Paths over the part of the reference that all motions share, ends forced together."""
    first = max(int(p.cells[0, 0]) for p in paths.values())
    last = min(int(p.cells[-1, 0]) for p in paths.values())
    cropped = {}
    for k, path in paths.items():
        inside = path.cells[(path.cells[:, 0] >= first) & (path.cells[:, 0] <= last)]
        if last - first < 2 or len(inside) < 2:
            raise RegistrationError(
                f"The motions have no part in common: motion {k} shares with the reference "
                f"(motion {reference}) what others do not. Leave it out, or use ends='match'."
            )
        i, j = inside[0]
        n, m = inside[-1]
        cost = grids(reference, k).cost[i : n + 1, j : m + 1]
        part = find_corner_path(cost, slope_limit=settings.slope_limit)
        cropped[k] = TimePath(part.cells + np.array([i, j]), part.cost)
    return cropped
