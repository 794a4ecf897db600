"""The skin of a glTF file: points that go with their joints, or none."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.formats.gltf.gltf_skin_mesh import Skin, read_skin
from motionloom.rotation import quat

FLOAT32_M = 1e-5


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A clip with a mesh of one long octahedron per bone, its tips joints like all others."""
    path = tmp_path / "walk.glb"
    ml.save(ml.synthetic.clip("walk").motion[:20], path)

    def forget(document: dict) -> None:
        for node in document["nodes"]:
            node.pop("extras", None)

    rewrite(path, forget)
    return path


def bent(skin: Skin, motion: ml.Motion, frame: int) -> np.ndarray:
    """Points of the skin in the world. (V, 3)."""
    places, turns = motion.world_pose()
    joints = np.concatenate([quat.to_matrix(turns[frame]), places[frame][..., None]], axis=-1)
    down = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(skin.binds), 1, 4))
    bones = joints @ np.concatenate([skin.binds, down], axis=1)  # (J, 3, 4)
    points = np.concatenate([skin.points, np.ones((len(skin.points), 1))], axis=1)
    return np.einsum("vk,vkij,vj->vi", skin.weights, bones[skin.joints], points)


def rewrite(path: Path, change) -> None:
    """The same file with its JSON changed."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    change(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    path.write_bytes(head + text + rest)


def test_the_skin_stands_on_its_joints_in_every_frame(file: Path) -> None:
    motion = ml.load(file)
    skin = read_skin(file, motion.skeleton.names)
    assert skin is not None
    places, _ = motion.world_pose()
    for frame in (0, 7, 19):
        points = bent(skin, motion, frame)
        for joint in range(motion.skeleton.n_joints):
            own = points[skin.joints[:, 0] == joint]
            if len(own):  # the tail of every bone is its joint
                nearest = np.linalg.norm(own - places[frame, joint], axis=1).min()
                assert nearest < FLOAT32_M


def test_a_bone_keeps_its_shape_while_it_moves(file: Path) -> None:
    motion = ml.load(file)
    skin = read_skin(file, motion.skeleton.names)
    assert skin is not None
    first, later = bent(skin, motion, 0), bent(skin, motion, 15)
    a, b = skin.triangles[:, 0], skin.triangles[:, 1]
    before = np.linalg.norm(first[a] - first[b], axis=1)
    np.testing.assert_allclose(np.linalg.norm(later[a] - later[b], axis=1), before, atol=FLOAT32_M)


def test_missing_normals_are_made_from_the_triangles(file: Path) -> None:
    names = ml.load(file).skeleton.names
    rewrite(file, lambda d: d["meshes"][0]["primitives"][0]["attributes"].pop("NORMAL", None))
    skin = read_skin(file, names)
    assert skin is not None
    lengths = np.linalg.norm(skin.normals, axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_the_bones_that_we_write_ourselves_are_no_skin(tmp_path: Path) -> None:
    path = tmp_path / "own.glb"
    ml.save(ml.synthetic.clip("walk").motion[:20], path)
    assert read_skin(path, ml.load(path).skeleton.names) is None


def test_a_mesh_on_other_joints_is_left_out(file: Path) -> None:
    assert read_skin(file, ["somebody", "else"]) is None


def test_a_file_without_a_mesh_has_no_skin(file: Path) -> None:
    names = ml.load(file).skeleton.names

    def bare(document: dict) -> None:
        for node in document["nodes"]:
            node.pop("mesh", None)

    rewrite(file, bare)
    assert read_skin(file, names) is None


def test_points_that_are_not_there_are_refused(file: Path) -> None:
    names = ml.load(file).skeleton.names

    def cut(document: dict) -> None:
        primitive = document["meshes"][0]["primitives"][0]
        spec = document["accessors"][primitive["attributes"]["POSITION"]]
        spec["count"] -= 1

    rewrite(file, cut)
    with pytest.raises(FormatError, match="joints and weights"):
        read_skin(file, names)


def second_mesh(document: dict, **skin: object) -> None:
    """The mesh once more, in a second skin."""
    node = next(n for n in document["nodes"] if "mesh" in n)
    document["skins"].append({**document["skins"][0], **skin})
    document["nodes"].append({**node, "name": "again", "skin": len(document["skins"]) - 1})


def test_of_two_meshes_bound_in_different_poses_the_first_is_kept(file: Path) -> None:
    names = ml.load(file).skeleton.names
    alone = read_skin(file, names)
    rewrite(file, second_mesh)
    both = read_skin(file, names)
    assert alone is not None and both is not None
    n = len(alone.points)
    assert both.points.tolist() == [*alone.points.tolist(), *alone.points.tolist()]
    assert both.triangles.tolist() == [*alone.triangles.tolist(), *(alone.triangles + n).tolist()]

    def without_binds(document: dict) -> None:
        document["skins"][-1].pop("inverseBindMatrices")  # identity: another pose

    rewrite(file, without_binds)
    first = read_skin(file, names)
    assert first is not None
    assert first.points.tolist() == alone.points.tolist()
    assert first.binds.tolist() == alone.binds.tolist()


def test_joints_without_bind_matrices_are_bound_where_they_are_by_their_scale(file: Path) -> None:
    names = ml.load(file).skeleton.names

    def bare(document: dict) -> None:
        document["skins"][0].pop("inverseBindMatrices")

    rewrite(file, bare)
    skin = read_skin(file, names)
    assert skin is not None
    assert skin.binds.tolist() == np.tile(np.eye(3, 4), (len(names), 1, 1)).tolist()

    def doubled(document: dict) -> None:
        document["nodes"][0]["scale"] = [2.0, -4.0, 1.0]  # of a volume eight times as large

    rewrite(file, doubled)
    skin = read_skin(file, names)
    assert skin is not None
    assert skin.binds == pytest.approx(np.tile(2.0 * np.eye(3, 4), (len(names), 1, 1)))


def test_fewer_bind_matrices_than_joints_are_refused(file: Path) -> None:
    names = ml.load(file).skeleton.names

    def cut(document: dict) -> None:
        document["accessors"][document["skins"][0]["inverseBindMatrices"]]["count"] -= 1

    rewrite(file, cut)
    with pytest.raises(FormatError, match="bind matrix for each joint"):
        read_skin(file, names)
