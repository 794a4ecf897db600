"""Groups of aligned motions."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.evaluate import Aligned
from motionloom.registration.curve import RegistrationCurve, roots_at


def stand(curve: RegistrationCurve, u: FloatArray) -> Aligned:
    """The plain form of ``Group(curve).at(u)``, ``u`` (N,) in spline units."""
    frames = curve.frames(u * curve.frames_per_knot)
    align = curve.alignments(u * curve.frames_per_knot)
    roots = [roots_at(m, frames[:, k]) for k, m in enumerate(curve.motions)]
    return Aligned(
        frames,
        np.asarray(align.theta),
        np.stack([align.x0, align.z0], axis=-1),
        align.apply(np.stack(roots, axis=1)),
    )
