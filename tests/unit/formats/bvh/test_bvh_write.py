"""Writing BVH: what was read comes back, whatever the channels; what BVH cannot say is unrolled."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest

from motionloom.formats.bvh import bvh
from motionloom.formats.bvh.bvh_write import _without_rest_rotations
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import euler, quat

TEXT_UNITS = 2e-6
"""Six decimals of a degree and of a unit, over a chain of a few joints."""

CHAIN = Skeleton(
    ("hips", "spine", "head"),
    np.array([-1, 0, 1]),
    np.array([[0.0, 1.0, 0.0], [0.0, 0.5, 0.1], [0.02, 0.4, 0.0]]),
    end_parents=np.array([2]),
    end_offsets=np.array([[0.0, 0.2, 0.0]]),
)


def motion_on(skeleton: Skeleton, n_frames: int = 40, seed: int = 0) -> Motion:
    rng = np.random.Generator(np.random.PCG64(seed))
    t = np.linspace(0.0, 1.0, n_frames)[:, None, None]
    swing = rng.normal(0.0, 1.5, (skeleton.n_joints, 3))
    turns = quat.exp(np.sin(5.0 * t + np.arange(skeleton.n_joints)[:, None]) * swing)
    return Motion(skeleton, rng.normal(size=(n_frames, 3)).cumsum(axis=0), turns, 30.0)


def written(clip: FileClip) -> bytes:
    stream = io.BytesIO()
    bvh.write(clip, stream)
    return stream.getvalue()


def again(clip: FileClip) -> FileClip:
    return bvh.read(io.BytesIO(written(clip)), ReadOptions())


def stated(motion: Motion, channels: list[list[str]]) -> FileClip:
    detail = {"names": motion.skeleton.names, "channels": tuple(map(tuple, channels))}
    return FileClip(motion, detail=detail)


POSITIONS = ["Xposition", "Yposition", "Zposition"]


def rotations(order: str) -> list[str]:
    return [f"{letter}rotation" for letter in order]


def test_a_motion_without_a_past_has_the_customary_channels() -> None:
    motion = motion_on(CHAIN)
    clip = again(FileClip(motion))
    assert clip.detail["channels"][0] == (*POSITIONS, *rotations("ZXY"))
    assert clip.detail["channels"][1] == tuple(rotations("ZXY"))
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )
    np.testing.assert_allclose(clip.motion.end_positions(), motion.end_positions(), atol=TEXT_UNITS)


ORDERS = [
    "".join(order)
    for order in itertools.product("XYZ", repeat=3)
    if order[0] != order[1] != order[2]
]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_rotations_comes_back(order: str) -> None:
    motion = motion_on(CHAIN, seed=len(order))
    channels = [[*rotations(order), *POSITIONS], rotations(order), rotations(order[::-1])]
    clip = again(stated(motion, channels))
    assert [list(names) for names in clip.detail["channels"]] == channels
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )
    dots = np.abs(np.sum(clip.motion.local_quats * motion.local_quats, axis=-1))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)


@pytest.mark.parametrize("order", ["X", "Y", "Z", "ZX", "XZ", "YZ", "XYZ"])
def test_few_channels_stay_few_while_they_can_express_the_motion(order: str) -> None:
    angles = np.radians(np.linspace(-170.0, 170.0, 35)[:, None] * np.ones(len(order)))
    turns = np.tile(quat.IDENTITY, (35, 3, 1))
    turns[:, 1] = euler.euler_to_quat(angles, order)
    motion = Motion(CHAIN, np.zeros((35, 3)), turns, 30.0)
    clip = again(stated(motion, [[*POSITIONS, *rotations("ZXY")], rotations(order), []]))
    assert clip.detail["channels"][1:] == (tuple(rotations(order)), ())
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )


def test_channels_are_added_where_the_motion_needs_them_by_now() -> None:
    motion = motion_on(CHAIN)
    clip = again(stated(motion, [["Yposition"], ["Yrotation"], []]))
    assert set(clip.detail["channels"][0]) == {*POSITIONS, *rotations("XYZ")}
    assert clip.detail["channels"][1][0] == "Yrotation"
    assert len(clip.detail["channels"][2]) == 3
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )


def test_sliding_joints_get_position_channels() -> None:
    motion = motion_on(CHAIN)
    slide = np.tile(CHAIN.offsets, (motion.n_frames, 1, 1))
    slide[:, 2, 0] += np.linspace(0.0, 0.3, motion.n_frames)
    motion = motion.replace(joint_translations=slide)
    clip = again(FileClip(motion))
    assert [len(names) for names in clip.detail["channels"]] == [6, 3, 6]
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )


def test_rest_rotations_are_unrolled_into_offsets() -> None:
    rest = quat.exp(np.array([[0.3, 0.4, 0.1], [0.0, -1.2, 0.5], [2.0, 0.0, 0.3]]))
    skeleton = Skeleton(
        CHAIN.names, CHAIN.parents, CHAIN.offsets, rest, CHAIN.end_parents, CHAIN.end_offsets
    )
    motion = motion_on(skeleton)
    clip = again(FileClip(motion))
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )
    np.testing.assert_allclose(clip.motion.end_positions(), motion.end_positions(), atol=TEXT_UNITS)
    at_rest = Motion(skeleton, np.zeros((1, 3)), rest[None], 30.0)
    np.testing.assert_allclose(again(FileClip(at_rest)).motion.local_quats[0, :, 0], 1.0, atol=1e-9)


def test_joints_come_out_depth_first_whatever_their_order() -> None:
    skeleton = Skeleton(
        ("root", "a", "b", "a_tip", "b_tip"), np.array([-1, 0, 0, 1, 2]), np.eye(5, 3) + 0.5
    )
    motion = motion_on(skeleton)
    back = again(FileClip(motion)).motion
    assert back.skeleton.names == ("root", "a", "a_tip", "b", "b_tip")
    places = [back.skeleton.index(name) for name in skeleton.names]
    np.testing.assert_allclose(
        back.world_positions()[:, places], motion.world_positions(), atol=TEXT_UNITS
    )


def test_names_are_made_safe_and_stay_unique() -> None:
    names = ("the hips", "the_hips", "a{b}#c")
    skeleton = Skeleton(names, CHAIN.parents, CHAIN.offsets)
    back = again(FileClip(motion_on(skeleton))).motion
    assert len(set(back.skeleton.names)) == 3
    assert not any(set(name) & set(" {}#") for name in back.skeleton.names)


def test_the_stated_frame_time_is_written_while_it_is_true() -> None:
    motion = motion_on(CHAIN).replace(fps=1.0 / 0.0083333)
    detail = {"names": CHAIN.names, "frame_time": ".0083333", "newline": "\r\n"}
    text = written(FileClip(motion, detail=detail))
    assert b"Frame Time: .0083333\r\n" in text
    assert b"\n" not in text.replace(b"\r\n", b"")
    faster = FileClip(motion.replace(fps=59.94), detail=detail)
    assert again(faster).motion.fps == pytest.approx(59.94, rel=1e-15)


def test_details_of_another_skeleton_are_not_used() -> None:
    detail = {"names": ("x",), "channels": (("Xrotation",),), "frame_time": "1"}
    clip = again(FileClip(motion_on(CHAIN), detail=detail))
    assert len(clip.detail["channels"]) == 3


def test_angles_do_not_jump_from_frame_to_frame() -> None:
    angles = np.zeros((200, 3))
    angles[:, 1] = np.linspace(0.0, 4.0 * np.pi, 200)  # the middle one passes 90 degrees
    turns = np.tile(quat.IDENTITY, (200, 3, 1))
    turns[:, 0] = euler.euler_to_quat(angles, "ZXY")
    text = written(FileClip(Motion(CHAIN, np.zeros((200, 3)), turns, 30.0))).decode()
    rows = np.loadtxt(text.partition("Frame Time")[2].splitlines()[1:])
    assert np.abs(np.diff(rows[:, 3:6], axis=0)).max() < 5.0


@pytest.mark.parametrize("order", ORDERS)
def test_gimbal_lock_is_exact_in_every_order(order: str) -> None:
    proper = order[0] == order[2]
    locked = (0.0, 180.0, -180.0) if proper else (90.0, -90.0, 270.0)
    angles = np.radians([[a, b, c] for a in (0.0, 33.0, -170.0) for b in locked for c in (0, 71)])
    turns = np.tile(quat.IDENTITY, (len(angles), 3, 1))
    turns[:, 1] = euler.euler_to_quat(angles, order)
    motion = Motion(CHAIN, np.zeros((len(angles), 3)), turns, 30.0)
    clip = again(stated(motion, [[*POSITIONS, *rotations("ZXY")], rotations(order), []]))
    np.testing.assert_allclose(
        clip.motion.world_positions(), motion.world_positions(), atol=TEXT_UNITS
    )


def test_large_values_keep_their_decimals() -> None:
    motion = motion_on(CHAIN)
    far = motion.replace(root_positions=motion.root_positions + np.array([3e11, 0.0, -7e9]))
    np.testing.assert_allclose(
        again(FileClip(far)).motion.root_positions, far.root_positions, rtol=1e-15, atol=TEXT_UNITS
    )


def test_writing_twice_gives_the_same_bytes() -> None:
    clip = again(FileClip(motion_on(CHAIN)))
    assert written(again(clip)) == written(clip)


def test_a_source_without_channels_is_written_with_those_of_the_root() -> None:
    still = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 1, 0]]))
    motion = Motion(still, np.zeros((2, 3)), np.tile(quat.IDENTITY, (2, 2, 1)), 30.0)
    stream = io.BytesIO()
    bvh.write(FileClip(motion, detail={"names": ("a", "b"), "channels": ((), ())}), stream)
    stream.seek(0)
    assert bvh.read(stream, ReadOptions()).motion.n_frames == 2


def test_rest_rotations_of_any_sign_are_taken_out_of_the_skeleton() -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    for rest in (-np.abs(rng.normal(size=(3, 4))), rng.normal(size=(3, 4))):
        rest[:, 0] = np.abs(rest[:, 0])
        skeleton = Skeleton(
            ("a", "b", "c"),
            np.array([-1, 0, 0]),
            rng.normal(size=(3, 3)),
            rest_quats=rest,
            end_parents=np.array([2, 0]),
            end_offsets=rng.normal(size=(2, 3)),
        )
        quats = quat.normalize(rng.normal(size=(4, 3, 4)))
        motion = Motion(skeleton, rng.normal(size=(4, 3)), quats, 30.0)
        plain = _without_rest_rotations(motion)
        assert plain.skeleton.rest_quats.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 3
        np.testing.assert_allclose(plain.world_positions(), motion.world_positions(), atol=1e-12)
        np.testing.assert_allclose(plain.end_positions(), motion.end_positions(), atol=1e-12)
        assert _without_rest_rotations(plain) is plain
