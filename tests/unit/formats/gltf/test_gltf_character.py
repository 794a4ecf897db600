"""Characters of glTF files: read, posed, and written with every motion."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import BoxMan, box_man, box_man_glb, data_address, png

SINGLE_M = 3e-6
"""What single precision leaves of a man."""


@pytest.fixture(scope="module")
def man() -> BoxMan:
    return box_man()


@pytest.fixture
def file(man: BoxMan, tmp_path: Path) -> Path:
    path = tmp_path / "man.glb"
    path.write_bytes(box_man_glb(man))
    return path


def document_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return dict(json.loads(data[20 : 20 + length]))


def rewrite(path: Path, change: Any) -> None:
    """The same file with its JSON changed."""
    data, document = path.read_bytes(), document_of(path)
    (length,) = struct.unpack_from("<I", data, 12)
    change(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    path.write_bytes(head + text + rest)


def walk_on(man: BoxMan) -> ml.Motion:
    return ml.synthetic.clip("walk").motion[:30]


def test_the_skin_of_a_turned_and_scaled_figure_is_where_it_stands(man: BoxMan, file: Path) -> None:
    character = ml.load_character(file)
    assert [mesh.name for mesh in character.meshes] == ["hat", "man"]
    at_rest = np.concatenate([mesh.points for mesh in character.meshes])
    assert np.abs(at_rest - np.concatenate([man.hat, man.points])).max() < SINGLE_M
    walk = walk_on(man)
    for frame in (0, 13, 29):
        gap = character.posed(walk, frame) - man.posed(walk, frame)
        assert np.abs(gap).max() < SINGLE_M


def test_materials_and_textures_are_read_with_the_bytes_of_their_image(file: Path) -> None:
    cloth, skin = sorted(ml.load_character(file).materials, key=lambda each: each.name)
    assert (cloth.name, cloth.metal, cloth.roughness) == ("cloth", 0.25, 0.5)
    assert (cloth.opacity, cloth.cutoff, cloth.two_sided) == ("mask", 0.25, True)
    assert cloth.glow == (0.0, 0.125, 0.0)
    texture = cloth.textures["colour"]
    assert texture.data == cloth.textures["normal"].data == png()
    assert (texture.wraps, texture.smooth, texture.suffix) == (("clamp", "mirror"), False, ".png")
    assert skin.colour == (0.8, 0.6, 0.5, 1.0) and not skin.textures


def test_what_is_left_out_is_named(file: Path) -> None:
    problems = " ".join(finding.problem for finding in ml.load_character(file).findings)
    assert "Morph targets are left out" in problems
    assert "hang on no joint" in problems  # the floor
    assert "a GLB keeps four" in problems


@pytest.mark.parametrize("packed", [True, False])
def test_images_come_from_an_address_or_from_a_file_beside(
    man: BoxMan, tmp_path: Path, packed: bool
) -> None:
    (tmp_path / "my cloth.png").write_bytes(png(4))
    uri = data_address(png(4)) if packed else "my%20cloth.png"
    (tmp_path / "man.glb").write_bytes(box_man_glb(man, {"uri": uri}))
    character = ml.load_character(tmp_path / "man.glb")
    images = [t.data for each in character.materials for t in each.textures.values()]
    assert images == [png(4), png(4)]


@pytest.mark.parametrize("uri", ["gone.png", "../man.png", "/etc/hostname", "data:,", 7])
def test_an_image_that_is_not_there_or_outside_is_left_out(
    man: BoxMan, tmp_path: Path, uri: Any
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "man.png").write_bytes(png())
    (tmp_path / "inner" / "man.glb").write_bytes(box_man_glb(man, {"uri": uri}))
    character = ml.load_character(tmp_path / "inner" / "man.glb")
    assert not any(each.textures for each in character.materials)
    assert any("cannot be read" in finding.problem for finding in character.findings)


@pytest.mark.parametrize("options", [{}, {"up": "z", "unit": "cm"}])
def test_a_motion_is_written_with_the_skin(
    man: BoxMan, file: Path, tmp_path: Path, options: dict[str, str]
) -> None:
    character, walk, out = ml.load_character(file), walk_on(man), tmp_path / "walk.glb"
    ml.save(walk, out, character=character, **options)
    back, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    assert [(m.name, len(m.points)) for m in back.meshes] == [
        (m.name, len(m.points)) for m in character.meshes
    ]
    for frame in (0, 29):
        expected = man.with_four_shares().posed(walk, frame)
        assert np.abs(back.posed(motion, frame) - expected).max() < SINGLE_M
    (body,) = (mesh for mesh in back.meshes if mesh.name == "man")
    (own,) = (mesh for mesh in character.meshes if mesh.name == "man")
    assert np.allclose(body.weights.sum(axis=1), 1.0)
    assert np.array_equal(body.surfaces, own.surfaces)
    assert np.abs(body.uvs[0] - own.uvs[0]).max() == 0.0


def test_materials_are_written_as_they_were_read_and_an_image_once(
    file: Path, tmp_path: Path
) -> None:
    first, out = ml.load_character(file), tmp_path / "walk.glb"
    ml.save(walk_on(box_man()), out, character=first)
    again = ml.load_character(out)
    for one, other in zip(first.materials, again.materials, strict=True):
        for name in ("name", "metal", "roughness", "opacity", "two_sided"):
            assert getattr(one, name) == getattr(other, name)
        assert np.allclose(one.colour, other.colour) and np.allclose(one.glow, other.glow)
        assert {use: t.data for use, t in one.textures.items()} == {
            use: t.data for use, t in other.textures.items()
        }
        assert {t.wraps for t in one.textures.values()} == {
            t.wraps for t in other.textures.values()
        }
    assert len(document_of(out)["images"]) == 1


def test_a_clip_of_a_character_keeps_its_skin_when_it_is_saved_again(
    man: BoxMan, file: Path, tmp_path: Path
) -> None:
    ml.save(walk_on(man), tmp_path / "walk.glb", character=ml.load_character(file))
    clip = ml.load(tmp_path / "walk.glb")
    ml.save(clip[3:9], tmp_path / "part.glb")
    assert ml.load_character(tmp_path / "part.glb").n_points == len(man.points) + 8
    (tmp_path / "walk.glb").unlink()  # its file is gone: bones
    ml.save(clip[3:9], tmp_path / "bones.glb")
    with pytest.raises(ml.FormatError, match="no mesh that hangs on a skeleton"):
        ml.load_character(tmp_path / "bones.glb")


def test_a_motion_on_other_joints_is_refused_with_what_to_do(file: Path, tmp_path: Path) -> None:
    skeleton = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    motion = ml.Motion(skeleton, np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 2, 1)), 30.0)
    with pytest.raises(ml.SkeletonMismatchError, match=r"ml\.retarget\(motion, character\)"):
        ml.save(motion, tmp_path / "x.glb", character=ml.load_character(file))
    assert not (tmp_path / "x.glb").exists()


def test_formats_without_skins_are_written_as_before(file: Path, tmp_path: Path) -> None:
    walk = walk_on(box_man())
    ml.save(walk, tmp_path / "a.bvh", character=ml.load_character(file))
    ml.save(walk, tmp_path / "b.bvh")
    assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()


FAULTS = {
    "joints outside": lambda d: d["skins"][0]["joints"].clear(),
    "no such accessor": lambda d: d["skins"][0].update(inverseBindMatrices=10_000),
    "no such material": lambda d: d["meshes"][0]["primitives"][0].update(material=99),
    "no such texture": lambda d: d["materials"][0]["normalTexture"].update(index=5),
    "flat": lambda d: d["nodes"][0].update(scale=[0.0, 0.0, 0.0]),
    "packed": lambda d: d["meshes"][0]["primitives"][0].update(
        extensions={"KHR_draco_mesh_compression": {}}
    ),
    "weights of others": lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(
        WEIGHTS_0=d["meshes"][0]["primitives"][1]["attributes"]["WEIGHTS_0"] + 40
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_files_that_contradict_themselves_are_refused(file: Path, fault: str) -> None:
    rewrite(file, FAULTS[fault])
    with pytest.raises(ml.FormatError) as caught:
        ml.load_character(file)
    assert "man.glb" in str(caught.value)


def test_strips_and_fans_are_triangles() -> None:
    from motionloom.formats.gltf.gltf_character import FAN, STRIP, _triangles

    corners = np.arange(5)
    assert _triangles(corners, STRIP).tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]
    assert _triangles(corners, FAN).tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]


def test_a_factor_beyond_every_float_is_a_factor_of_one(file: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        for material in document["materials"]:
            material["pbrMetallicRoughness"] = {
                "roughnessFactor": 10**400,
                "metallicFactor": -(10**400),
            }

    rewrite(file, change)
    for material in ml.load_character(file).materials:
        assert (material.roughness, material.metal) == (1.0, 0.0)
