"""Files for engines: names, root bone, rest pose, place, unit and axes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import ball_height
from motionloom.body.body_map import facing
from motionloom.formats.meshes import inverse_frames
from motionloom.intake.engine_export import ENGINES, ROOTS, engine_character, engine_motion
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat

FLOAT64 = 1e-9
FILE_M = 1e-5
"""Files hold single precision."""


@pytest.fixture(scope="module")
def turning() -> ml.Motion:
    """A walk that turns, away from the origin, facing no axis."""
    walk = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0, fps=30).motion
    return ml.move(walk, heading=0.7, x=2.0, z=-3.0)


def with_joint_root(motion: ml.Motion) -> ml.Motion:
    """The motion with a root bone that lies still while the hips travel."""
    rooted = ml.with_root_bone(motion, name="reference")
    return ml.travel_on_pelvis(
        rooted,
        like=rooted.replace(
            root_positions=np.zeros_like(rooted.root_positions),
            local_quats=np.concatenate(
                [np.tile(quat.IDENTITY, (rooted.n_frames, 1, 1)), rooted.local_quats[:, 1:]], axis=1
            ),
        ),
    )


def moved_to_origin(motion: ml.Motion) -> np.ndarray:
    """World positions with the first frame over the origin, facing +Z."""
    positions = motion.world_positions()
    pelvis = positions[0, ml.BodyMap.guess(motion.skeleton).pelvis or 0]
    heading = float(facing(motion)[0])
    back = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(-heading))
    return quat.rotate(back, positions - pelvis * np.array([1.0, 0.0, 1.0]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layout", ["hips", "root bone"])
def test_every_joint_stays_where_it_was_but_for_the_start(
    turning: ml.Motion, engine: str, layout: str
) -> None:
    clip = turning if layout == "hips" else with_joint_root(turning)
    exported = engine_motion(clip, ml.EngineExport(engine))
    body = moved_to_origin(turning)
    assert np.allclose(exported.world_positions()[:, 1:], body, atol=FLOAT64)
    assert exported.skeleton.names[0] == {"unreal": "root"}.get(engine, "Root")
    assert exported.skeleton.n_joints == turning.skeleton.n_joints + 1


@pytest.mark.parametrize("engine", ENGINES)
def test_the_root_bone_starts_at_the_origin_and_carries_travel_and_turn(
    turning: ml.Motion, engine: str
) -> None:
    exported = engine_motion(turning, ml.EngineExport(engine))
    positions, world = exported.world_pose()
    assert np.allclose(positions[0, 0], 0.0, atol=FLOAT64)
    assert np.allclose(np.abs(world[0, 0]), quat.IDENTITY, atol=FLOAT64)
    assert np.all(positions[:, 0, 1] == 0.0)
    assert np.allclose(positions[:, 0, [0, 2]], positions[:, 1, [0, 2]], atol=FLOAT64)
    yaw = 2.0 * np.arctan2(world[:, 0, 2], world[:, 0, 0])
    gone = facing(turning) - facing(turning)[0]
    assert np.allclose(np.cos(yaw), np.cos(gone), atol=1e-6)
    assert np.linalg.norm(positions[-1, 0]) > 2.0


@pytest.mark.parametrize("layout", ["hips", "root bone"])
def test_in_place_the_root_bone_lies_still_and_the_pelvis_stays_over_it(
    turning: ml.Motion, layout: str
) -> None:
    clip = turning if layout == "hips" else with_joint_root(turning)
    exported = engine_motion(clip, ml.EngineExport("unreal", root="in-place"))
    positions, world = exported.world_pose()
    assert np.abs(positions[:, 0]).max() < FLOAT64
    assert np.allclose(np.abs(world[:, 0]), quat.IDENTITY, atol=FLOAT64)
    assert np.abs(positions[:, 1][:, [0, 2]]).max() < FLOAT64
    heights = moved_to_origin(turning)[:, :, 1]
    assert np.allclose(positions[:, 1:, 1], heights, atol=FLOAT64)


def test_on_the_hips_no_root_bone_is_added(turning: ml.Motion) -> None:
    exported = engine_motion(turning, ml.EngineExport("unity", root="hips"))
    assert exported.skeleton.names[0] == "Hips"
    assert np.allclose(exported.world_positions(), moved_to_origin(turning), atol=FLOAT64)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_skeleton_rests_in_a_t_pose_on_the_ground(
    turning: ml.Motion, engine: str, root: str
) -> None:
    skeleton = engine_motion(turning, ml.EngineExport(engine, root=root)).skeleton
    body = ml.BodyMap.guess(skeleton)
    at = forward_kinematics(skeleton, skeleton.offsets[:1], skeleton.rest_quats[None])[0][0]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip, knee, ankle, toe, shoulder, elbow, wrist = (
            at[getattr(body, f"{side}_{part}")]
            for part in ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")
        )
        for above, below, towards in (
            (hip, knee, (0, -1, 0)),
            (knee, ankle, (0, -1, 0)),
            (shoulder, elbow, (sign, 0, 0)),
            (elbow, wrist, (sign, 0, 0)),
        ):
            bone = (below - above) / np.linalg.norm(below - above)
            assert np.allclose(bone, towards, atol=1e-6)
        assert toe[2] > ankle[2]  # faces +Z
        assert toe[1] == pytest.approx(ball_height(skeleton, body), abs=2e-3)
    assert np.allclose(at[body.pelvis][[0, 2]], 0.0, atol=1e-3)


def test_bones_for_godot_have_the_axes_of_its_profile(turning: ml.Motion) -> None:
    skeleton = engine_motion(turning, ml.EngineExport("godot")).skeleton
    turns = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])[1][0]
    matrices = dict(zip(skeleton.names, quat.to_matrix(turns), strict=True))
    assert np.allclose(matrices["Hips"], np.eye(3), atol=FLOAT64)
    # Columns are the axes, as Godot 4.6 prints them; test_godot.py compares all of them there.
    assert np.allclose(
        matrices["LeftLowerArm"], np.transpose([(0, -1, 0), (1, 0, 0), (0, 0, 1)]), atol=FLOAT64
    )
    assert np.allclose(
        matrices["RightFoot"], np.transpose([(-1, 0, 0), (0, 0, 1), (0, 1, 0)]), atol=FLOAT64
    )


@pytest.mark.parametrize(
    ("engine", "file", "unit_m", "up"),
    [
        ("unreal", "clip.fbx", 0.01, "z"),
        ("unity", "clip.fbx", 1.0, "y"),
        ("godot", "clip.glb", 1.0, "y"),
        ("godot", "clip.fbx", 1.0, "y"),
        ("unreal", "clip.glb", 1.0, "y"),
    ],
)
def test_files_have_the_unit_and_axes_of_the_engine(
    turning: ml.Motion, tmp_path: Path, engine: str, file: str, unit_m: float, up: str
) -> None:
    ml.save(turning, tmp_path / file, engine=engine)
    back = ml.load(tmp_path / file, keep_t_pose=True)
    assert back.source.unit_m == pytest.approx(unit_m)
    assert back.source.up == up
    wanted = engine_motion(turning, ml.EngineExport(engine))
    assert back.skeleton.names == wanted.skeleton.names
    assert np.abs(back.world_positions() - wanted.world_positions()).max() < FILE_M


def test_an_fbx_for_unreal_faces_minus_y_with_z_up_in_centimetres(
    turning: ml.Motion, tmp_path: Path
) -> None:
    """Unreal converts scenes to right-handed axes with Z up and -Y in front; this one has them."""
    from motionloom.formats.fbx import fbx
    from motionloom.formats.file_clip import ReadOptions

    ml.save(turning, tmp_path / "clip.fbx", engine="unreal")
    with (tmp_path / "clip.fbx").open("rb") as stream:
        clip = fbx.read(stream, ReadOptions())
    raw, names = clip.motion.world_positions()[0], clip.motion.skeleton.names
    assert any("up is z, front is -y, right is x" in each.problem for each in clip.findings)
    left, right = raw[names.index("thigh_l")], raw[names.index("thigh_r")]
    assert left[0] - right[0] > 10.0  # the left side is at +x when a body faces -y
    assert abs(left[1] - right[1]) < 2.0
    assert 80.0 < raw[names.index("pelvis")][2] < 120.0
    track = clip.motion.root_positions
    assert track[30, 1] < -50.0  # a second of walking forward


def test_options_of_save_come_before_those_of_the_engine(
    turning: ml.Motion, tmp_path: Path
) -> None:
    ml.save(turning, tmp_path / "clip.fbx", engine="unreal", unit="m", up="y")
    back = ml.load(tmp_path / "clip.fbx", keep_t_pose=True)
    assert (back.source.unit_m, back.source.up) == (1.0, "y")


@pytest.mark.parametrize("file", ["clip.bvh", "clip.npz", "clip.usda"])
def test_other_formats_are_refused(turning: ml.Motion, tmp_path: Path, file: str) -> None:
    with pytest.raises(ml.FormatError, match=r"must be \.fbx or \.glb.*Save as \.fbx"):
        ml.save(turning, tmp_path / file, engine="unity")
    assert not (tmp_path / file).exists()


def test_unknown_engines_and_roots_are_refused(turning: ml.Motion, tmp_path: Path) -> None:
    with pytest.raises(ml.ArrayError, match="`engine` must be one of unreal, unity, godot"):
        ml.save(turning, tmp_path / "clip.fbx", engine="lumberyard")
    with pytest.raises(ml.ArrayError, match="`root` must be one of bone, in-place, hips"):
        ml.EngineExport("unity", root="feet")


def test_a_body_without_legs_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    clip = ml.Motion(rod, np.zeros((2, 3)), np.tile(quat.IDENTITY, (2, 2, 1)), 30.0)
    with pytest.raises(ml.SkeletonMismatchError, match="left_hip"):
        ml.save(clip, tmp_path / "clip.fbx", engine="unreal")


def beads(motion: ml.Motion) -> ml.Character:
    """A character with a point in front of every joint, bound as the skeleton rests."""
    skeleton = motion.skeleton
    at, turns = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    n_joints = skeleton.n_joints
    mesh = ml.SkinnedMesh(
        "beads",
        at[0] + quat.rotate(turns[0], np.array([0.0, 0.0, 0.1])),
        np.zeros((1, 3), dtype=np.int64),
        np.arange(n_joints)[:, None],
        np.ones((n_joints, 1)),
        inverse_frames(at[0], turns[0]),
        np.full(1, -1),
    )
    return ml.Character("beads", motion[:1], (mesh,))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_skin_of_a_character_that_rests_backwards_faces_forward(
    turning: ml.Motion, engine: str
) -> None:
    rest = np.array(turning.skeleton.rest_quats)
    rest[0] = [0.0, 0.0, 1.0, 0.0]  # half a turn about Y
    motion = turning.replace(skeleton=dataclasses.replace(turning.skeleton, rest_quats=rest))
    character, export = beads(motion), ml.EngineExport(engine)
    assert character.meshes[0].points[0, 2] < -0.09
    worn, placed = engine_character(character, motion, export), engine_motion(motion, export)
    skeleton = placed.skeleton
    at, turns = forward_kinematics(skeleton, skeleton.offsets[:1], skeleton.rest_quats[None])
    mesh = worn.meshes[0]
    assert mesh.points[0, 2] == pytest.approx(0.1, abs=1e-3)
    assert np.allclose(mesh.posed(at[0], turns[0])[0], mesh.points[0])
    frame = placed.n_frames // 2
    now = mesh.posed(*(each[frame] for each in placed.world_pose()))
    old = character.meshes[0].posed(*(each[frame] for each in motion.world_pose()))
    assert np.allclose(old[:, 1], now[:, 1])
    apart = [np.linalg.norm(points - points[0], axis=1) for points in (old, now)]
    assert np.allclose(*apart)


def test_roles_can_be_given(turning: ml.Motion) -> None:
    """A rig with nameless joints gets the names of the roles that the caller states."""
    skeleton = turning.skeleton
    nameless = dataclasses.replace(skeleton, names=tuple(f"j{j}" for j in range(skeleton.n_joints)))
    body = ml.BodyMap.guess(skeleton)
    clip = turning.replace(skeleton=nameless)
    exported = engine_motion(clip, ml.EngineExport("unreal", body=body))
    wanted = engine_motion(turning, ml.EngineExport("unreal"))
    assert exported.skeleton.names == wanted.skeleton.names
