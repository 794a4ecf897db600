"""Scale of nodes in a scene: one factor per node, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.findings import Finding

SCALE_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class NodeScale:
    """Units of length of the file per unit within a node."""

    total: float
    own: float
    """The node's part of it."""


@dataclass(slots=True, eq=False)
class Scales:
    """What is odd about scale, and the nodes where it is."""

    odd: dict[str, list[str]] = field(default_factory=dict)

    def factor(self, name: str, still: FloatArray, keyed: FloatArray | None) -> float:
        """One factor per node: bones are rigid here, so scale only sets lengths.

        Parameters
        ----------
        name
            Of the node.
        still : (3,)
            Its scale where it has no keys.
        keyed : (F, 3)
            Its scale in every frame.
        """
        scale = still if keyed is None else keyed[0]
        changes = 0.0 if keyed is None else float(np.abs(keyed - scale).max())
        if changes > SCALE_TOLERANCE * max(np.abs(scale).max(), 1e-9):
            self._add("Scale keys change in time; only the first is used", name)
        factor = float(np.cbrt(np.abs(scale).prod()))
        if np.abs(np.abs(scale) - factor).max() > SCALE_TOLERANCE * factor:
            self._add("Scale differs along the axes; its mean is used", name)
        if scale.min() < 0.0:
            self._add("Negative scale mirrors the figure; it is read unmirrored", name)
        return factor

    def _add(self, problem: str, name: str) -> None:
        self.odd.setdefault(problem, []).append(name)

    def findings(self) -> list[Finding]:
        """One warning per oddity, not one per node."""
        fix = "Apply the scale before exporting."
        return [
            Finding("warning", f"node {names[0]!r}", f"{problem} ({len(names)} nodes).", fix)
            for problem, names in self.odd.items()
        ]
