"""Bends: how far a blend is moved from its windows to begin and to end where it must.

A transition of a table begins with the source's own second and ends with the target's: nothing is
bent. A blend that is to fill a gap, or to take over from a pose that was never captured, meets it
only nearly, and what is shown is the blend and a correction. Naturalness weighs how far windows are
from what is shown: the squared correction adds to the squared spread of the windows about their
blend, frame by frame.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.body.masses import mass_segments
from motionloom.errors import ArrayError
from motionloom.rotation.quat import smoothstep
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.contexts import turned
from motionloom.tables.score.columns import column
from motionloom.tables.score.terms import TURN_M
from studies.measures.window_batch import WindowBatch

__all__ = ["BENDS", "bent_columns", "measure_bends"]

BENDS = ("posture_m", "travel_m_s")
"""Root mean squares over the blend, of the correction to the posture (segments about the centre of
mass by their masses, metres, as ``spread_m``) and of that to the root's velocity (metres a second,
as ``root_spread``)."""


def measure_bends(
    frames: Frames,
    rows: npt.ArrayLike,
    length: int,
    around: Frames,
    starts: IntArray,
    ends: IntArray,
    *,
    family: str = "bernstein",
) -> FloatArray:
    """How far blends are bent to fill gaps, (n, 2) as :data:`BENDS`.

    A correction of the posture fades smoothly from its end to the other: however soon it is faded
    out for display, what does not fit at an end does not fit on the way either (counted within
    1/3, 1/2, 2/3 of a second and the whole second it split near from far blends of the tuning takes
    with an area under the ROC curve of 0.952, 0.961, 0.966 and 0.972). That of place and heading
    grows evenly. Of the gap nothing is seen but its two sides.

    Parameters
    ----------
    frames, rows, length
        The collection, first rows (n, N) of the windows that are blended, and their frames.
    around, starts, ends
        Where the gaps are, and the rows (n,) at their two sides.
    family
        Weights of the blends.
    """
    blends = WindowBatch.of_blends(frames, rows, length, family=family)
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)

    def posture(joints: npt.NDArray[np.float32]) -> FloatArray:
        """Segments (n, 3 S) about the centre of mass, by the roots of their masses."""
        centres = segments.centres(joints.astype(np.float64))
        centres -= np.einsum("s,nsc->nc", segments.masses, centres)[:, None]
        return np.asarray((np.sqrt(segments.masses)[:, None] * centres).reshape(len(joints), -1))

    first = posture(around.body[starts]) - posture(blends.body[:, 0])
    last = posture(around.body[ends]) - posture(blends.body[:, -1])
    left = np.linspace(1.0, 0.0, length)
    fade = smoothstep(left)
    square = np.mean(fade**2) * (
        np.square(first).sum(axis=1) + np.square(last).sum(axis=1)
    ) + 2.0 * np.mean(fade * fade[::-1]) * np.sum(first * last, axis=1)
    goes = turned(blends.ground[:, -1] - blends.ground[:, 0], -blends.heading[:, 0])
    asked = turned(around.ground[ends] - around.ground[starts], -around.heading[starts])
    turn = blends.heading[:, -1] - blends.heading[:, 0]
    turn -= around.heading[ends] - around.heading[starts]
    arc = TURN_M * (np.mod(turn + np.pi, 2.0 * np.pi) - np.pi)
    miss = np.sqrt(np.square(goes - asked).sum(axis=1) + arc**2)
    return np.stack([np.sqrt(np.maximum(square, 0.0)), miss * frames.fps / (length - 1)], axis=1)


def bent_columns(columns: npt.ArrayLike, bends: npt.ArrayLike) -> FloatArray32:
    """Columns (n, C) of blends with how far windows are from what is shown, bent by (n, 2).

    Examples
    --------
    >>> from motionloom.tables.score.columns import COLUMNS
    >>> bent = bent_columns(np.full((1, len(COLUMNS)), 0.3), [[0.4, 0.0]])
    >>> float(round(bent[0, column("spread_m")], 6))
    0.5
    """
    out = np.array(columns, dtype=np.float32, ndmin=2)
    by = np.atleast_2d(np.asarray(bends, dtype=np.float64))
    if by.shape != (len(out), len(BENDS)):
        raise ArrayError(
            f"`bends` must have one row of {len(BENDS)} for each of {len(out)} blends, got an "
            f"array of shape {by.shape}."
        )
    for k, name in enumerate(("spread_m", "root_spread")):
        out[:, column(name)] = np.hypot(out[:, column(name)], by[:, k])
    return out
