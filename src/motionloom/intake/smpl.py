"""The skeleton of AMASS files, to carry clips over to."""

from __future__ import annotations

from motionloom._arrays import positive
from motionloom.formats.amass.amass import STATURE, body_of_stature
from motionloom.intake.axes import skeleton_to_world
from motionloom.motion.skeleton import Skeleton


def smpl_skeleton(stature: float = STATURE) -> Skeleton:
    """The 22 body joints of SMPL, with bones from published anthropometry.

    A clip on this skeleton can be saved for AMASS and SMPL tools:
    ``ml.save(clip, "clip.npz", format="amass")``. Lengths are not those of the licensed model;
    files hold rotations and the pelvis only, so they do not matter there.

    Parameters
    ----------
    stature
        Height of the person, metres.

    Returns
    -------
    Skeleton
        Y up, arms to the sides, facing +Z.

    Examples
    --------
    >>> smpl_skeleton().names[:3]
    ('pelvis', 'left_hip', 'right_hip')
    """
    return skeleton_to_world(body_of_stature(positive(stature, "stature")), up="z", unit_m=1.0)
