"""Support in plain PyTorch: the zero moment point of blends against the plants they stand on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from motionloom.motion.motion import runs_of

if TYPE_CHECKING:
    from torch import Tensor

    from tests.oracles.torch_score import TorchScore
else:
    Tensor = Any

__all__ = ["Stood", "measure_support"]

COM, LIFT = 7, 12
QUANTILE = 0.95


class Stood(NamedTuple):
    """Candidate plants of B blends, C for each foot, and which are taken."""

    errors: Tensor
    """Metres. (B, 2, C)"""
    firsts: Tensor
    lasts: Tensor
    taken: Tensor
    labels: Tensor
    """Candidate under each foot in every frame, -1 for none. (B, 2, T)"""
    places: Tensor
    """Place and direction of the foot. (B, 2, C, 4)"""


def measure_support(
    score: TorchScore,
    ids: Tensor,
    rows: Tensor,
    posture: Tensor,
    path: Any,
    stood: Stood,
    planted: Tensor,
    out: Tensor,
) -> None:
    """Columns of balance and of the centre of mass, into ``out`` (B, C)."""
    torch, terms = score.torch, score.terms
    gravity, flight_load, inch, _ = terms.constants
    cx, cz = path.world(rows[:, COM], rows[:, COM + 2])
    hz, hx = _momentum(score, posture, path)
    value, slope, bend = score.arrays["taps"]

    def smoothed(series: Tensor, taps: Tensor) -> Tensor:
        around = series.unfold(-1, len(taps), 1)[:, 1 : 1 + terms.length]
        return around @ taps

    x0, y0, z0 = (smoothed(series, value) for series in (cx, rows[:, COM + 1], cz))
    x2, y2, z2 = (smoothed(series, bend) for series in (cx, rows[:, COM + 1], cz))
    known = _known(score, ids)  # (B, T)
    peak = (x2**2 + y2**2 + z2**2).masked_fill(~known, 0.0)
    out[:, 17] = peak.amax(dim=1).sqrt()
    x = x0 + (smoothed(hz, slope) - y0 * x2) / (y2 + gravity)
    z = z0 + (smoothed(hx, slope) - y0 * z2) / (y2 + gravity)
    carried = known & (y2 >= (flight_load - 1.0) * gravity)
    stands = (stood.labels >= 0).any(dim=1)
    scored, bare = carried & stands, carried & ~stands
    outside = torch.zeros_like(x)
    outside[scored] = _outside(score, stood, scored, x[scored], z[scored])
    n_scored = scored.sum(dim=1)
    out[:, 8] = outside.amax(dim=1) / inch
    out[:, 9] = _high(score, outside.masked_fill(~scored, -1.0), n_scored) / inch
    out[:, 10] = outside.sum(dim=1) / n_scored.clamp(min=1) / inch
    out[:, 11] = n_scored
    wide = 2 * terms.roll + 1
    near = torch.nn.functional.max_pool1d(stands.float()[:, None], wide, 1, terms.roll)[:, 0] > 0
    out[:, 12] = (bare & ~near).sum(dim=1)
    out[:, 13] = bare.sum(dim=1)
    inner = slice(terms.pad, terms.pad + terms.length)
    push, tall = (y2 + gravity).abs() / gravity, float(terms.sole[3])
    for b in range(len(out)):
        falls = [0.0]
        lifted = rows[b, LIFT : LIFT + 2, inner].amin(dim=0) > terms.low + 0.02
        for span in _flights(terms, known[b], near[b] | ~lifted, int(planted[b])):
            turning = torch.zeros_like(push[b, span])
            for h in (hz[b, inner][span], hx[b, inner][span]):
                turning = turning + (h - h.mean()) ** 2
            gained = float(turning.amax().sqrt()) / (tall * math.sqrt(gravity * tall))
            falls.append(float(push[b, span].mean()) + gained)
        out[b, 18] = max(falls)


def _flights(terms: Any, known: Tensor, near: Tensor, planted: int) -> list[slice]:
    """Frames of flights: all that are known where nothing is planted, else long stretches."""
    frames = range(terms.length)
    free = [bool(known[t]) for t in frames]
    if planted:
        inside = range(terms.roll, terms.length - terms.roll)
        free = [free[t] and t in inside and not bool(near[t]) for t in frames]
    least = int(0.12 * float(terms.fps) + 0.5) if planted else 1
    return [slice(a, b + 1) for a, b in runs_of(np.array(free)) if b - a + 1 >= least]


def _momentum(score: TorchScore, posture: Tensor, path: Any) -> tuple[Tensor, Tensor]:
    """Angular momentum about the centre of mass, z and x, in every padded frame (B, P)."""
    torch = score.torch
    x, y, z = posture.chunk(3, dim=-1)
    xy, zy = ((v[:, :-1] * y[:, 1:]).sum(dim=-1) for v in (x, z))
    yx, yz = ((y[:, :-1] * v[:, 1:]).sum(dim=-1) for v in (x, z))
    c, s = path.c, path.s
    hz = c[:, :-1] * xy + s[:, :-1] * zy - c[:, 1:] * yx - s[:, 1:] * yz
    hx = c[:, :-1] * zy - s[:, :-1] * xy + s[:, 1:] * yx - c[:, 1:] * yz
    pad = torch.nn.functional.pad
    mean_z, mean_x = (0.5 * (pad(h, (1, 0)) + pad(h, (0, 1))) * score.terms.fps for h in (hz, hx))
    return mean_z, mean_x


def _known(score: TorchScore, ids: Tensor) -> Tensor:
    """Frames (B, T) of the window whose acceleration can be known."""
    terms, reach = score.terms, score.arrays["reach"]
    begin = 1 + terms.half - reach[ids[:, 0], 0]
    end = terms.length + reach[ids[:, -1], 1] - 1 - terms.half
    time = score.torch.arange(terms.length, device=score.device)
    return (time >= begin[:, None]) & (time < end[:, None])


def _outside(score: TorchScore, stood: Stood, scored: Tensor, x: Tensor, z: Tensor) -> Tensor:
    """Distance of N points from the hull of the soles they stand on, metres (N,).

    A point is inside where no half turn is without a corner; outside, its nearest place of the hull
    lies on the line between two corners, and lines within the hull are no nearer.
    """
    torch = score.torch
    heel, tip, half_width = (float(v) for v in score.terms.sole[:3])
    blend, time = torch.nonzero(scored, as_tuple=True)
    both = []
    for s in range(2):
        label = stood.labels[blend, s, time]
        plant = stood.places[blend, s, label.clamp(min=0)]  # (N, 4)
        along = torch.tensor([-heel, -heel, tip, tip], device=score.device)
        aside = torch.tensor([-half_width, half_width] * 2, device=score.device)
        px, pz, dx, dz = (v[:, None] for v in plant.unbind(dim=1))
        corners = torch.stack(
            [px + along * dx - aside * dz, pz + along * dz + aside * dx], dim=-1
        )  # (N, 4, 2)
        both.append((corners, label >= 0))
    (left, on_left), (right, on_right) = both
    # A foot in the air has the other's corners: twice the same ones change nothing.
    left_, right_ = (
        torch.where(on[:, None, None], mine, other)
        for mine, other, on in ((left, right, on_left), (right, left, on_right))
    )
    away = torch.cat([left_, right_], dim=1) - torch.stack([x, z], dim=-1)[:, None]
    angles = torch.atan2(away[..., 1], away[..., 0]).sort(dim=1).values
    gaps = torch.cat([angles, angles[:, :1] + 2.0 * math.pi], dim=1).diff(dim=1)
    edge = away[:, None] - away[:, :, None]  # (N, 8, 8, 2)
    size = (edge**2).sum(dim=-1)
    u = -(away[:, :, None] * edge).sum(dim=-1) / size.clamp(min=1e-12)
    nearest = away[:, :, None] + u.clamp(0.0, 1.0)[..., None] * edge
    distance = torch.linalg.norm(nearest, dim=-1).amin(dim=(1, 2))
    return distance.masked_fill(gaps.amax(dim=1) <= math.pi, 0.0)


def _high(score: TorchScore, values: Tensor, count: Tensor) -> Tensor:
    """95th percentile of the ``count`` values (B,) of each row (B, T) that are not negative."""
    torch = score.torch
    rising = values.sort(dim=1).values
    place = (QUANTILE * (count.double() - 1.0)).clamp(min=0.0)
    below = place.long()
    front = values.shape[1] - count
    low, high = (
        rising.gather(1, (front + k).clamp(max=values.shape[1] - 1)[:, None])[:, 0]
        for k in (below, below + 1)
    )
    found = low + (place - below).to(low.dtype) * (high - low)
    return torch.where(count > 0, found, torch.zeros_like(found))
