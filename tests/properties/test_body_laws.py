"""Laws of body roles, pairs and mirrors that hold for any tree with any names."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from motionloom.body.anatomy import stature
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.body.mirror import mirror, pair_sides
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

FLOAT64 = 1e-9

WORDS = [
    *("Left", "Right", "L", "R", "l_", "_r", ".L", ":", "__", "é", " "),
    *("Hip", "Knee", "Leg", "UpLeg", "thigh", "foot", "toe", "Arm", "ForeArm", "hand", "shoulder"),
    *("neck", "head", "spine", "pelvis", "root", "joint", "end", "twist", "01", "2"),
]


@st.composite
def skeletons(draw: st.DrawFn) -> Skeleton:
    n = draw(st.integers(1, 24))
    words = st.lists(st.sampled_from(WORDS), max_size=4).map("".join)
    names = draw(st.lists(words, min_size=n, max_size=n))
    names = [name if name not in names[:i] else f"{name}{i}" for i, name in enumerate(names)]
    parents = [-1, *(draw(st.integers(max(0, j - 4), j - 1)) for j in range(1, n))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offsets = rng.normal(size=(n, 3)) * (rng.random((n, 1)) > 0.2)
    ends = rng.integers(0, n, size=2)
    return Skeleton(
        [f"{name}~{i}" if names.count(name) > 1 else name for i, name in enumerate(names)],
        parents,
        offsets,
        quat.normalize(rng.normal(size=(n, 4))),
        ends,
        rng.normal(size=(2, 3)),
    )


@settings(max_examples=120, deadline=None)
@given(skeleton=skeletons())
def test_guessing_never_fails_and_never_gives_one_joint_two_roles(skeleton: Skeleton) -> None:
    body = BodyMap.guess(skeleton)
    given_roles = [getattr(body, role) for role in ROLES if role != "spine"]
    joints = [j for j in (*given_roles, *body.spine) if j is not None]
    assert len(joints) == len(set(joints))
    assert all(0 <= j < skeleton.n_joints for j in joints)
    assert np.isfinite(stature(skeleton, body))


@settings(max_examples=60, deadline=None)
@given(skeleton=skeletons())
def test_each_partners_partner_is_the_joint_itself(skeleton: Skeleton) -> None:
    partner = pair_sides(skeleton)
    assert np.array_equal(partner[partner], np.arange(skeleton.n_joints))


@settings(max_examples=60, deadline=None)
@given(skeleton=skeletons(), seed=st.integers(0, 2**16))
def test_mirroring_twice_gives_any_motion_back(skeleton: Skeleton, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = quat.normalize(rng.normal(size=(1, skeleton.n_joints, 4)))
    turns = quat.exp(0.1 * np.cumsum(rng.normal(size=(4, skeleton.n_joints, 3)), axis=0))
    clip = Motion(skeleton, rng.normal(size=(4, 3)), quat.multiply(start, turns), fps=30)
    back = mirror(mirror(clip))
    assert np.allclose(back.world_positions(), clip.world_positions(), atol=FLOAT64)
