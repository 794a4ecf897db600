"""Clips: the one public way in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, frozen, positive
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.synthetic.gait import gait_at
from motionloom.synthetic.locomotion import travel
from motionloom.synthetic.rig import REFERENCE_HEIGHT, rig
from motionloom.synthetic.take import perform

__all__ = ["SyntheticClip", "clip", "kinds"]


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticClip:
    """An embedded clip with the truth about it, exact by construction."""

    kind: str
    motion: Motion
    footplants: Footplants
    phase: FloatArray
    """Gait cycles: whole at left heel strikes, rising; not a number without steps. Shape (F,)."""
    path: FloatArray
    """Planned ground path of the body, world x and z, metres. Shape (F, 2)."""
    heading: FloatArray
    """Planned heading, radians, not wrapped. Shape (F,)."""

    def __post_init__(self) -> None:
        n = self.motion.n_frames
        path = frozen(self.path, "path", (n, 2))
        heading = frozen(self.heading, "heading", (n,))
        phase = np.array(self.phase, dtype=np.float64)  # may hold nan, which `frozen` refuses
        phase.flags.writeable = False
        for name, value in (("path", path), ("heading", heading), ("phase", phase)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"SyntheticClip({self.kind!r}, {self.motion!r})"


def kinds() -> tuple[str, ...]:
    """Names of every embedded clip."""
    return ("walk", "jog", "run")


def clip(
    kind: str,
    *,
    turn: float = 0.0,
    speed: float | None = None,
    cadence: float | None = None,
    duration_s: float | None = None,
    fps: float = 60.0,
    height: float = REFERENCE_HEIGHT,
    phase: float = 0.0,
    seed: int = 0,
    life: float = 1.0,
) -> SyntheticClip:
    """A clip of somebody doing ``kind``, starting at the origin, facing +Z.

    Examples
    --------
    >>> walk = clip("walk", turn=0.6, speed=1.3)
    >>> walk.motion.n_frames, walk.footplants.n_frames
    (241, 241)
    """
    if kind not in kinds():
        raise ArrayError(f"`kind` must be one of {', '.join(kinds())}, got {kind!r}.")
    body = rig(float(height))
    rng = np.random.Generator(np.random.PCG64(seed))
    gait = gait_at(kind, speed=speed, cadence=cadence, height=float(height))
    take = travel(
        body,
        gait,
        turn=float(turn),
        duration_s=4.0 if duration_s is None else positive(duration_s, "duration_s"),
        fps=positive(fps, "fps"),
        phase=float(phase),
        rng=rng,
        life=float(life),
    )
    motion, plants = perform(take, fps=fps, name=kind)
    return SyntheticClip(kind, motion, plants, take.phase, take.ground, take.heading)
