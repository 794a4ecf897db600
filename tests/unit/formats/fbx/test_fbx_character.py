"""Characters of FBX files: read, posed, and written with every motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import BoxMan, box_man, box_man_glb, png
from fuzz.box_man_fbx import box_man_items
from fuzz.fbx_forms import as_binary, as_text
from motionloom.formats.fbx.fbx_scene import Item

SINGLE_M = 3e-6
FORMS = {
    "binary": as_binary,
    "wide": lambda items: as_binary(items, 7700, deflated=True),
    "text": as_text,
}


@pytest.fixture(scope="module")
def man() -> BoxMan:
    return box_man()


@pytest.fixture
def file(man: BoxMan, tmp_path: Path) -> Path:
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(box_man_items(man)))
    return path


def places(points: np.ndarray) -> list[tuple[float, ...]]:
    """Points without order or number: corners of one place may be several points."""
    return sorted({tuple(row) for row in np.round(points, 4).tolist()})


def gap_m(one: np.ndarray, other: np.ndarray) -> float:
    """How far the points of one set are from the nearest of the other."""
    apart = np.linalg.norm(one[:, None] - other[None], axis=-1)
    return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))


@pytest.mark.parametrize("form", FORMS)
def test_a_skin_under_scaled_nodes_is_where_it_stands(
    man: BoxMan, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "man.fbx"
    path.write_bytes(FORMS[form](box_man_items(man)))
    character = ml.load_character(path)
    assert sorted(mesh.name for mesh in character.meshes) == ["hat", "man"]
    walk = ml.synthetic.clip("walk").motion[:30]
    for frame in (0, 13, 29):
        assert gap_m(character.posed(walk, frame), man.posed(walk, frame)) < SINGLE_M


def test_materials_and_packed_images_are_read(file: Path) -> None:
    by_name = {each.name: each for each in ml.load_character(file).materials}
    assert by_name["cloth"].colour == (0.5, 0.25, 1.0, 1.0)
    assert by_name["cloth"].roughness == pytest.approx(0.5)
    assert by_name["cloth"].textures["colour"].data == png()
    assert not by_name["skin"].textures


@pytest.mark.parametrize("place", ["C:\\work\\cloth.png", "man.fbm/cloth.png", "/x/cloth.png"])
def test_images_are_found_beside_the_file_whatever_folder_is_stated(
    man: BoxMan, tmp_path: Path, place: str
) -> None:
    (tmp_path / "man.fbm").mkdir()
    (tmp_path / "man.fbm" / "cloth.png").write_bytes(png(4))
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(box_man_items(man, image=place)))
    materials = ml.load_character(path).materials
    assert [t.data for each in materials for t in each.textures.values()] == [png(4)]


def test_images_of_other_folders_are_left_out(man: BoxMan, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "man.fbx"
    path.write_bytes(as_binary(box_man_items(man, image="../secret.png")))
    character = ml.load_character(path)
    assert not any(each.textures for each in character.materials)
    assert any("Images that cannot be read" in each.problem for each in character.findings)


def test_what_is_left_out_is_named(file: Path) -> None:
    problems = " ".join(finding.problem for finding in ml.load_character(file).findings)
    assert "Morph targets are left out" in problems
    assert "hang on no joint" in problems
    assert "cut into triangles" in problems


@pytest.mark.parametrize("suffix", ["fbx", "glb"])
@pytest.mark.parametrize("start", ["fbx", "glb"])
def test_from_one_format_to_the_other_the_skin_stays(
    man: BoxMan, tmp_path: Path, start: str, suffix: str
) -> None:
    data = box_man_glb(man) if start == "glb" else as_binary(box_man_items(man))
    path, out = tmp_path / f"man.{start}", tmp_path / f"walk.{suffix}"
    path.write_bytes(data)
    character = ml.load_character(path)
    walk = ml.synthetic.clip("walk").motion[:30]
    ml.save(walk, out, character=character)
    back, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    expected = man.with_four_shares() if suffix == "glb" else man
    assert gap_m(back.posed(motion, 13), expected.posed(walk, 13)) < SINGLE_M
    assert sum(len(mesh.triangles) for mesh in back.meshes) == sum(
        len(mesh.triangles) for mesh in character.meshes
    )
    images = {t.data for each in back.materials for t in each.textures.values()}
    assert images == {png()}
    cloth, own = (
        next(each for each in c.materials if each.name == "cloth") for c in (back, character)
    )
    assert np.allclose(cloth.colour, own.colour) and cloth.roughness == pytest.approx(own.roughness)
    uvs = [np.concatenate([m.uvs[0] for m in c.meshes if m.uvs]) for c in (back, character)]
    assert places(uvs[0]) == places(uvs[1])


@pytest.mark.parametrize("options", [{"up": "z", "unit": "m"}, {"up": "-x", "unit": "ft"}])
def test_the_skin_goes_with_the_axes_and_the_unit_of_the_file(
    man: BoxMan, file: Path, tmp_path: Path, options: dict[str, str]
) -> None:
    out, walk = tmp_path / "walk.fbx", ml.synthetic.clip("walk").motion[:30]
    ml.save(walk, out, character=ml.load_character(file), **options)
    back, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    assert gap_m(back.posed(motion, 13), man.posed(walk, 13)) < SINGLE_M


@pytest.mark.parametrize("engine", ["unreal", "unity", "godot"])
def test_files_for_engines_keep_the_skin(
    man: BoxMan, file: Path, tmp_path: Path, engine: str
) -> None:
    out, walk = tmp_path / "walk.fbx", ml.synthetic.clip("walk").motion[:30]
    ml.save(walk, out, character=ml.load_character(file), engine=engine)
    back, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    heights = [np.sort(np.unique(np.round(p[:, 1], 5))) for p in (
        back.posed(motion, 13), man.posed(walk, 13)
    )]  # fmt: skip
    # The clip starts over the origin: heights stay, and distances from the root.
    assert abs(heights[0][0] - heights[1][0]) < 2e-5
    assert abs(heights[0][-1] - heights[1][-1]) < 2e-5


def test_a_clip_of_a_character_keeps_its_skin_in_the_other_format(
    man: BoxMan, file: Path, tmp_path: Path
) -> None:
    ml.save(ml.load(file), tmp_path / "rest.glb")
    assert ml.load_character(tmp_path / "rest.glb").n_points >= len(man.points) + 8


def test_a_mesh_that_many_links_lead_to_is_read_once(man: BoxMan, tmp_path: Path) -> None:
    items = box_man_items(man)
    listed = find(items, "Connections")
    object.__setattr__(listed, "items", [*listed.items] * 40)
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(items))
    assert sorted(mesh.name for mesh in ml.load_character(path).meshes) == ["hat", "man"]


def find(items: list[Item], *names: str) -> Item:
    """The first item below others, by name."""
    item = next(each for each in items if each.name == names[0])
    return item if len(names) == 1 else find(list(item.items), *names[1:])


FAULTS: dict[str, tuple[tuple[str, ...], Any]] = {
    "points of polygons": (("Objects", "Geometry", "PolygonVertexIndex"), np.array([0, 1, -9999])),
    "rows of layers": (
        ("Objects", "Geometry", "LayerElementUV", "UVIndex"),
        np.full(4, 77, dtype="<i4"),
    ),
    "not finite": (("Objects", "Geometry", "Vertices"), np.full(3, np.nan)),
    "no array": (("Objects", "Geometry", "Vertices"), "text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_files_that_contradict_themselves_are_refused(
    man: BoxMan, tmp_path: Path, fault: str
) -> None:
    items = box_man_items(man)
    names, value = FAULTS[fault]
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        value = value.astype("<i4")
    object.__setattr__(find(items, *names), "values", (value,))
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(items))
    with pytest.raises(ml.FormatError, match=r"man\.fbx"):
        ml.load_character(path)


def test_a_small_file_of_many_points_and_joints_is_refused_before_it_takes_memory(
    man: BoxMan, tmp_path: Path
) -> None:
    items = box_man_items(man)
    n_points = 400_000
    geometry = find(items, "Objects", "Geometry")
    points = Item("Vertices", (np.zeros(3 * n_points),))
    polygon = Item("PolygonVertexIndex", (np.array([0, 1, -3], "<i4"),))
    object.__setattr__(geometry, "items", [points, polygon])
    everywhere = [
        Item("Indexes", (np.zeros(1, "<i4"),)),
        Item("Weights", (np.ones(1),)),
    ]
    for item in find(items, "Objects").items:
        if item.name == "Deformer" and "Cluster" in item.values:
            object.__setattr__(item, "items", everywhere)
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(items, 7700, deflated=True))
    assert path.stat().st_size < 200_000
    with pytest.raises(ml.FormatError, match="of memory"):
        ml.load_character(path)
