"""Times moved so that matched contacts begin and end together in all motions.

Poses say where motions belong together to about a frame: which frame of a stance is which depends
on style. A foot that comes down or leaves the ground is an event without style, and a blend keeps
a foot still only where all its examples plant it. So after the path through the grid, the curve is
drawn towards the events that the motions share, as far as its knots and its limits on rates allow.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.splines import adjust_increasing, fit_spline

FOLLOWED = ("left_toe", "right_toe")
"""Contacts that are followed. Heels come down and go up more gradually, and are found less well."""
WEIGHT = 12.0
"""Weight of an event against that of one sample of the path; a knot has about eight samples."""
PER_KNOT = 8
"""Samples of the present times per control point."""
FARTHEST_S = 0.15
"""Contacts that begin or end farther apart than this may not be the same event."""
EDGE_S = 0.03
"""An event this close to an end of the curve may be cut."""


class _Event(NamedTuple):
    """A contact that begins or ends in every motion."""

    u: float
    """Where it should lie on the curve."""
    frames: FloatArray
    """Frame of every motion. (K,)"""


def timed_by_contacts(curve: RegistrationCurve, epsilon: float) -> RegistrationCurve:
    """The curve with times drawn to the contacts that were matched on it.

    Parameters
    ----------
    curve
        With matched contacts.
    epsilon
        Smallest ratio of two motions' rates.
    """
    events = _shared_events(curve)
    if not events:
        return curve
    spline, scale = curve.times, curve.frames_per_knot
    even = np.linspace(0.0, spline.u_end, PER_KNOT * len(spline.points))
    u = np.concatenate([even, [event.u / scale for event in events]])
    values = np.concatenate([spline(even), np.array([event.frames for event in events])])
    weights = np.concatenate([np.ones(len(even)), np.full(len(events), WEIGHT)])
    ends = spline(np.array([0.0, spline.u_end]))
    fitted = fit_spline(u, values, len(spline.points), weights=weights, ends=ends)
    times = adjust_increasing(fitted, epsilon=epsilon, ends=ends)
    return dataclasses.replace(curve, times=times)


def _shared_events(curve: RegistrationCurve) -> list[_Event]:
    """Begins and ends of matched contacts that are begins and ends in every motion."""
    fps = curve.motions[0].fps
    low, high = curve.u_range
    events = []
    for kind in FOLLOWED:
        matches = curve.matches[kind]
        edges = _edges(curve, kind)
        for match in matches:
            spans = np.array(match.intervals)  # (K, 2)
            for side in range(2):
                at = spans[:, side]
                near = np.ptp(at) <= 2.0 * FARTHEST_S * fps
                inside = at.min() > low + EDGE_S * fps and at.max() < high - EDGE_S * fps
                if not (near and inside):
                    continue
                whole = [
                    np.abs(own - u).min(initial=np.inf) < 1e-3
                    for own, u in zip(edges, at, strict=True)
                ]
                if all(whole):
                    frames = np.array([curve.frames(u)[k] for k, u in enumerate(at)])
                    events.append(_Event(float(at.mean()), frames))
    return events


def _edges(curve: RegistrationCurve, kind: str) -> list[FloatArray]:
    """Where contacts of a kind begin or end in each motion: a split one begins and ends inside."""
    edges = []
    for k, plants in enumerate(curve.footplants):
        frames = np.array(plants.intervals()[kind], dtype=np.float64).ravel()
        u = curve.u_of(k, frames) if len(frames) else frames
        edges.append(u[np.isfinite(u)])
    return edges
