"""The kernel's measures in plain PyTorch: what the fused kernel on a GPU is held to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom.tables.engines.gpu_module import PlainTerms
from tests.oracles.torch_support import Stood, measure_support

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any

__all__ = ["TorchScore"]

HEADING, STEP, FEET, COM, STANDS, LIFT, POWER, PACE, TRAVEL = 0, 1, 3, 7, 10, 12, 14, 15, 16
BATCH = 512
"""Blends at a time: a few hundred megabytes."""
N_COLUMNS = 19


class _Path(NamedTuple):
    """Turn and place of the body in every padded frame, (B, P) each."""

    c: Tensor
    s: Tensor
    x: Tensor
    z: Tensor

    def world(self, x: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """Places seen from the body, (B, ..., P), over the ground."""
        c, s, px, pz = (
            v.reshape(len(v), *[1] * (x.ndim - 2), -1) for v in (self.c, self.s, self.x, self.z)
        )
        return px + c * x + s * z, pz - s * x + c * z


class TorchScore:
    """Terms as tensors on a device, and what their blends are worth.

    Parameters
    ----------
    terms
        Of all windows.
    device
        A device's name, as PyTorch has it.
    """

    def __init__(self, terms: PlainTerms, device: str = "cpu") -> None:
        import torch

        self.torch, self.terms, self.device = torch, terms, device
        self.arrays = {
            name: torch.from_numpy(np.array(value)).to(device)
            for name, value in terms._asdict().items()
            if isinstance(value, np.ndarray)
        }

    def score(self, ids: npt.ArrayLike, *, batch: int = BATCH) -> Tensor:
        """What is measured of blends. Shape (n, C), columns as in ``COLUMNS``.

        Parameters
        ----------
        ids : (n, N)
            Windows of each blend as places in the terms: source first, target last, then -1.
        batch
            Blends at a time.
        """
        torch = self.torch
        recipes = torch.as_tensor(np.asarray(ids, dtype=np.int64), device=self.device)
        ways = (recipes >= 0).sum(dim=1)
        out = torch.full((len(recipes), N_COLUMNS), float("nan"), device=self.device)
        for n in range(1, recipes.shape[1] + 1):
            for some in torch.nonzero(ways == n)[:, 0].split(batch):
                if len(some):
                    out[some] = self._score(recipes[some, :n])
        return out

    def _score(self, ids: Tensor) -> Tensor:
        """Columns (B, C) of blends that all have as many windows."""
        torch, terms = self.torch, self.terms
        inner = slice(terms.pad, terms.pad + terms.length)
        rows, posture = self._blended(ids)
        path = self._walked(rows)
        feet = torch.stack(path.world(rows[:, [FEET, FEET + 2]], rows[:, [FEET + 1, FEET + 3]]), -1)
        step = torch.linalg.norm(feet[:, :, inner].diff(dim=2), dim=-1)
        speed = torch.nn.functional.pad(step, (1, 0))  # (B, 2, T)
        stood = self._stood(ids, path, feet[:, :, inner])
        out = torch.zeros((len(ids), N_COLUMNS), device=self.device)
        errors, frames = stood.errors, (stood.lasts - stood.firsts + 1) * stood.taken
        planted = frames.sum(dim=(1, 2))
        out[:, 0] = (errors * frames).sum(dim=(1, 2)) / planted.clamp(min=1) / terms.constants.inch
        out[:, 1] = (errors * stood.taken).amax(dim=(1, 2)) / terms.constants.inch
        out[:, 2] = planted
        inside = (stood.labels >= 0) & (
            torch.nn.functional.pad(stood.labels[:, :, :-1], (1, 0), value=-1) == stood.labels
        )
        steps = ((frames - 1) * stood.taken).sum(dim=(1, 2))
        out[:, 3] = (speed * inside).sum(dim=(1, 2)) * terms.fps / steps.clamp(min=1)
        low = rows[:, LIFT : LIFT + 2, inner] < terms.low
        low[:, :, 0] = False
        out[:, 4] = (speed * low).sum(dim=(1, 2)) * terms.fps / low.sum(dim=(1, 2)).clamp(min=1)
        each = self.arrays["rows"][ids][:, :, STANDS : STANDS + 2, inner]  # (B, n, 2, T)
        out[:, 5] = (each.amax(dim=1) != each.amin(dim=1)).sum(dim=(1, 2))
        stands = rows[:, STANDS : STANDS + 2, inner]
        out[:, 6] = 4.0 * (stands * (1.0 - stands)).sum(dim=(1, 2))
        travelled = (terms.constants.turn_m * rows[:, HEADING]) ** 2
        travelled = travelled + (rows[:, STEP : STEP + 2] ** 2).sum(dim=1)
        lost = rows[:, TRAVEL] - travelled * terms.fps**2
        out[:, 7] = lost[:, inner].mean(dim=1).clamp(min=0.0).sqrt()
        self._posture(rows, posture, out)
        measure_support(self, ids, rows, posture, path, stood, planted, out)
        return out

    def _blended(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Rows (B, 17, P) and postures (B, P, 48)."""
        n = ids.shape[1]
        weights = self.arrays["weights"][n - 1, :n]
        order = [0, n - 1, *range(1, n - 1)] if n > 1 else [0]
        rows = sum(weights[i] * self.arrays["rows"][ids[:, i]] for i in order)
        posture = sum(weights[i][:, None] * self.arrays["posture"][ids[:, i]] for i in order)
        return rows, posture

    def _walked(self, rows: Tensor) -> _Path:
        torch = self.torch
        turn, dx, dz = (rows[:, q, 1:] for q in (HEADING, STEP, STEP + 1))
        front = torch.zeros((len(rows), 1), device=self.device)
        angle = torch.cat([front, turn.cumsum(dim=1)], dim=1)
        c, s = angle.cos(), angle.sin()
        x = (c[:, :-1] * dx + s[:, :-1] * dz).cumsum(dim=1)
        z = (c[:, :-1] * dz - s[:, :-1] * dx).cumsum(dim=1)
        return _Path(c, s, torch.cat([front, x], dim=1), torch.cat([front, z], dim=1))

    def _stood(self, ids: Tensor, path: _Path, feet: Tensor) -> Stood:
        """Plants of all windows where the blend puts them, and which are taken.

        Candidates of a foot, C of them, are in the order of windows. ``feet`` (B, 2, T, 2)
        """
        torch, terms, arrays = self.torch, self.terms, self.arrays
        b, n = ids.shape
        inner = slice(terms.pad, terms.pad + terms.length)
        anchors = arrays["anchors"][ids]  # (B, n, 4, P)
        x, z = path.world(anchors[:, :, ::2], anchors[:, :, 1::2])  # (B, n, 2, P)
        spans, ahead = arrays["spans"][ids].long(), arrays["ahead"][ids]  # (B, n, 2, M, 2)
        m = spans.shape[3]
        there = torch.arange(m, device=self.device) < arrays["counts"][ids][..., None]
        time = torch.arange(terms.length, device=self.device)
        firsts, lasts = spans[..., 0], spans[..., 1]
        held = (time >= firsts[..., None]) & (time <= lasts[..., None]) & there[..., None]
        frames = held.sum(dim=-1).clamp(min=1)
        x = (x[..., None, inner] * held).sum(dim=-1) / frames
        z = (z[..., None, inner] * held).sum(dim=-1) / frames
        away = torch.hypot(
            feet[:, None, :, None, :, 0] - x[..., None], feet[:, None, :, None, :, 1] - z[..., None]
        )
        errors = (away * held).sum(dim=-1) / frames
        middle = terms.pad + (firsts + lasts) // 2
        c, s = (
            v[torch.arange(b, device=self.device)[:, None], middle.reshape(b, -1)] for v in path[:2]
        )
        c, s = c.reshape(middle.shape), s.reshape(middle.shape)
        dx, dz = c * ahead[..., 0] + s * ahead[..., 1], c * ahead[..., 1] - s * ahead[..., 0]
        # Windows and plants of a foot in one row: (B, n, 2, M) to (B, 2, C).
        errors, firsts, lasts, there, x, z, dx, dz = (
            v.transpose(1, 2).reshape(b, 2, n * m)
            for v in (errors, firsts, lasts, there, x, z, dx, dz)
        )
        taken, labels = self._chosen(errors, firsts, lasts, there)
        return Stood(errors, firsts, lasts, taken, labels, torch.stack([x, z, dx, dz], dim=-1))

    def _chosen(
        self, errors: Tensor, firsts: Tensor, lasts: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Which candidates (B, 2, C) are taken, which each foot stands on, -1 for none (B, 2, T).

        By rising error where frames are free; ties by start, then by window.
        """
        torch = self.torch
        time = torch.arange(self.terms.length, device=self.device)
        labels = torch.full((*errors.shape[:2], len(time)), -1, device=self.device)
        taken, left = torch.zeros_like(there), there.clone()
        while bool(left.any()):
            least = errors.masked_fill(~left, math.inf)
            tied = left & (least == least.amin(dim=-1, keepdim=True))
            best = firsts.masked_fill(~tied, len(time)).argmin(dim=-1, keepdim=True)
            some = left.any(dim=-1, keepdim=True)
            first, last = firsts.gather(-1, best), lasts.gather(-1, best)
            held = (time >= first) & (time <= last) & some
            labels = torch.where(held, best, labels)
            taken = taken.scatter(-1, best, taken.gather(-1, best) | some)
            left = left & ~((firsts <= last) & (lasts >= first))
        return taken, labels

    def _posture(self, rows: Tensor, posture: Tensor, out: Tensor) -> None:
        """Columns of the posture's own motion."""
        terms = self.terms
        inner = slice(terms.pad, terms.pad + terms.length)
        seen = posture[:, inner]
        lost = rows[:, POWER, inner].sum(dim=1) - (seen**2).sum(dim=(1, 2))
        out[:, 14] = (lost / terms.length).clamp(min=0.0).sqrt()
        could = rows[:, PACE, terms.pad + 1 : terms.pad + terms.length].sum(dim=1)
        out[:, 15] = (seen.diff(dim=1) ** 2).sum(dim=(1, 2)) / could.clamp(min=1e-12)
        bend = seen.diff(dim=1, n=2).reshape(len(rows), terms.length - 2, 3, -1)
        square = (bend**2).sum(dim=2) / self.arrays["masses"]
        out[:, 16] = square.amax(dim=(1, 2)).sqrt() * terms.fps**2
