"""Laws of the binary formats: whatever motion goes in comes out, and settles at once."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motionloom.formats.archives import archive
from motionloom.formats.archives import plain_arrays as arrays
from motionloom.formats.fbx import fbx
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

WRITTEN_M = 1e-5
MODULES = {"archive": archive, "arrays": arrays, "glb": glb, "fbx": fbx}
# numpy drops trailing NULs of text, and lone surrogates are no text.
NAMES = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=12
)


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    n_joints = draw(st.integers(1, 6))
    n_frames = draw(st.integers(1, 5))
    names = draw(st.lists(NAMES, min_size=n_joints, max_size=n_joints, unique=True))
    parents = [-1] + [draw(st.integers(0, j - 1)) for j in range(1, n_joints)]
    ends = draw(st.lists(st.integers(0, n_joints - 1), max_size=3))
    rng = np.random.Generator(np.random.PCG64(draw(st.integers(0, 2**32))))
    # Some bones without length, some rotations at rest and at half turns, as files have them.
    offsets = rng.normal(0.0, 0.4, (n_joints, 3)) * (rng.random((n_joints, 1)) < 0.8)
    spread = draw(st.sampled_from([0.0, 1e-9, 0.5, 3.0]))
    sliding = draw(st.booleans())
    return Motion(
        Skeleton(
            tuple(names),
            np.array(parents),
            offsets,
            rest_quats=quat.exp(rng.normal(0.0, spread, (n_joints, 3))),
            end_parents=np.array(ends, dtype=np.int64),
            end_offsets=rng.normal(0.0, 0.1, (len(ends), 3)),
        ),
        rng.normal(0.0, draw(st.sampled_from([0.0, 1.0, 30.0])), (n_frames, 3))
        + draw(st.sampled_from([0.0, -500.0, 40_000.0])),
        quat.exp(rng.normal(0.0, spread, (n_frames, n_joints, 3))),
        draw(st.floats(1.0, 1000.0)),
        offsets + rng.normal(0.0, 0.1, (n_frames, n_joints, 3)) if sliding else None,
    )


def written(module: object, clip: FileClip) -> bytes:
    stream = io.BytesIO()
    module.write(clip, stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", MODULES)
@settings(max_examples=60, deadline=None)
@given(motion=motions())
def test_a_motion_survives_and_its_file_settles(name: str, motion: Motion) -> None:
    module = MODULES[name]
    data = written(module, FileClip(motion, unit_m=1.0, up="y"))
    clip = module.read(io.BytesIO(data), ReadOptions())
    back = clip.motion
    assert back.skeleton.names == motion.skeleton.names
    assert back.fps == motion.fps
    assert np.abs(back.world_positions() - motion.world_positions()).max() < WRITTEN_M
    if len(motion.skeleton.end_parents):
        assert np.abs(back.end_positions() - motion.end_positions()).max() < WRITTEN_M
    assert np.abs(back.skeleton.offsets - motion.skeleton.offsets).max() < WRITTEN_M
    turned = quat.angle_between(back.skeleton.rest_quats, motion.skeleton.rest_quats)
    assert turned.max() < WRITTEN_M
    assert written(module, clip) == data
