"""Laws of BVH: whatever is written comes back, in whatever channels."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from motionloom.formats.bvh import bvh
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

TEXT_UNITS = 5e-6
"""Six decimals of a degree and of a unit, over up to eight bones."""

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS = ("Xrotation", "Yrotation", "Zrotation")
channel_lists = st.lists(st.sampled_from(POSITIONS + ROTATIONS), unique=True, max_size=6)


@st.composite
def clips(draw: st.DrawFn) -> FileClip:
    """Any small tree, moving and sliding at random, with any channels stated."""
    n_joints, n_frames = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    rng = np.random.Generator(np.random.PCG64(draw(st.integers(0, 2**32))))
    parents = [-1, *(draw(st.integers(0, j - 1)) for j in range(1, n_joints))]
    skeleton = Skeleton(
        tuple(f"j{j}" for j in range(n_joints)),
        np.array(parents),
        rng.normal(size=(n_joints, 3)),
        rest_quats=quat.exp(rng.normal(size=(n_joints, 3)) * draw(st.sampled_from([0.0, 1.0]))),
    )
    turns = quat.exp(rng.normal(size=(n_frames, n_joints, 3)) * draw(st.sampled_from([0.0, 2.0])))
    slide = rng.normal(size=(n_frames, n_joints, 3)) if draw(st.booleans()) else None
    motion = Motion(skeleton, rng.normal(size=(n_frames, 3)), turns, 30.0, slide)
    channels = tuple(tuple(draw(channel_lists)) for _ in range(n_joints))
    return FileClip(motion, detail={"names": skeleton.names, "channels": channels})


@given(clips())
def test_every_joint_comes_back_in_place(clip: FileClip) -> None:
    stream = io.BytesIO()
    bvh.write(clip, stream)
    stream.seek(0)
    back = bvh.read(stream, ReadOptions()).motion
    order = [back.skeleton.index(name) for name in clip.motion.skeleton.names]
    np.testing.assert_allclose(
        back.world_positions()[:, order], clip.motion.world_positions(), atol=TEXT_UNITS
    )


@given(clips())
def test_what_was_read_from_bvh_is_written_the_same_ever_after(clip: FileClip) -> None:
    texts = []
    for _ in range(3):
        stream = io.BytesIO()
        bvh.write(clip, stream)
        texts.append(stream.getvalue())
        clip = bvh.read(io.BytesIO(texts[-1]), ReadOptions())
    assert texts[2] == texts[1]
