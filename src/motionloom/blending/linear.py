"""Linear blending: what blending is without a registration curve, kept as a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from motionloom.blending.blend_weights import checked_weights
from motionloom.body.facing import facing
from motionloom.motion.edit import sample, transform
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.planar import PlanarTransform


def blend_linearly(motions: Sequence[Motion], weights: npt.ArrayLike) -> Motion:
    """The plain average of motions: first frame with first, last with last, evenly between.

    All start where the first one does and face its way. Roots are averaged as points and rotations
    as quaternions, which is what fails when steps are out of phase or paths part.

    Parameters
    ----------
    motions
        Two or more on one skeleton at one rate.
    weights
        One per motion, summing to one.
    """
    w = checked_weights(weights, len(motions))
    n_frames = round(float(w @ [m.n_frames - 1 for m in motions])) + 1
    start = _standing(motions[0])
    roots, quats = [], []
    for motion in motions:
        placed = transform(motion, start @ _standing(motion).inverse())
        played = sample(placed, np.linspace(0.0, motion.n_frames - 1.0, n_frames))
        roots.append(played.root_positions)
        quats.append(played.local_quats)
    first = motions[0]
    return Motion(
        first.skeleton,
        np.einsum("k,knc->nc", w, np.array(roots)),
        quat.mean(np.stack(quats, axis=-2), w),
        first.fps,
        name="linear blend",
        source=first.source.for_result(),
    )


def _standing(motion: Motion) -> PlanarTransform:
    """Where the first frame stands and faces."""
    x, _, z = motion.root_positions[0]
    return PlanarTransform(float(facing(motion[:1])[0]), float(x), float(z))
