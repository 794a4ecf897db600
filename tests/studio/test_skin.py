"""The skin of a clip's character on the stage: GLB and FBX, where its joints carry it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb
from fuzz.box_man_fbx import box_man_items
from fuzz.fbx_forms import as_binary
from motionloom.formats.character import Character
from motionloom.rotation import quat
from motionloom.studio.clips import skin as skin_module
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.skin import drawn_skin, skin_of
from motionloom.studio.clips.skins import Skins
from motionloom.studio.server.server import Studio
from motionloom.studio.server.uploads import parse_upload, upload_path

FLOAT32_M = 1e-6
SUFFIXES = (".glb", ".fbx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The man of boxes walking, in a GLB and in an FBX."""
    home = tmp_path_factory.mktemp("skins")
    man = box_man().with_four_shares()
    (home / "source.glb").write_bytes(box_man_glb(man))
    character = ml.load_character(home / "source.glb")
    (home / "source.glb").unlink()
    walk = ml.retarget(ml.synthetic.clip("walk").motion, character)
    for suffix in SUFFIXES:
        ml.save(walk, home / f"man{suffix}", character=character)
    return home


def drawn(arrays: dict[str, np.ndarray], frame: int) -> np.ndarray:
    """Points in the world as the page draws them. (V, 3)."""
    places, turns = arrays["poses"][frame, :, :3], arrays["poses"][frame, :, 3:]
    frames = np.concatenate([quat.to_matrix(turns), places[..., None]], axis=-1)
    down = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(frames), 1, 4))
    bones = frames @ np.concatenate([arrays["skin.binds"].reshape(-1, 3, 4), down], axis=1)
    points = np.column_stack([arrays["skin.points"], np.ones(len(arrays["skin.points"]))])
    carried = np.einsum("vkij,vj->vki", bones[arrays["skin.bones"]], points)
    return np.asarray((arrays["skin.weights"][..., None] * carried).sum(axis=1))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_skin_of_a_file_is_drawn_where_its_character_has_it(folder: Path, suffix: str) -> None:
    library = Library(folder)
    clip = next(item.id for item in library.items() if item.id.endswith(suffix))
    motion = library.open(clip).motion
    arrays = Skins(library).arrays([clip], {"": motion})
    character = ml.load_character(folder / f"man{suffix}")
    for frame in (0, 7, 19):
        gaps = drawn(arrays, frame) - character.posed(motion, frame)
        assert np.abs(gaps).max() < FLOAT32_M
    assert arrays["skin.triangles"].max() < len(arrays["skin.points"])
    assert np.linalg.norm(arrays["skin.normals"], axis=1) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_uploaded_file_brings_its_skin(folder: Path, tmp_path: Path, suffix: str) -> None:
    source = upload_path(tmp_path, f"man{suffix}")
    source.write_bytes((folder / f"man{suffix}").read_bytes())
    clip = parse_upload(f"man{suffix}", source)[0]
    library = Library()
    added = library.add(clip.name, clip.motion, clip.skin).id
    arrays = Skins(library).arrays([added], {"": clip.motion})
    character = ml.load_character(folder / f"man{suffix}")
    assert np.abs(drawn(arrays, 7) - character.posed(clip.motion, 7)).max() < FLOAT32_M


def test_an_fbx_of_another_program_brings_its_skin(tmp_path: Path) -> None:
    path = tmp_path / "man.fbx"
    path.write_bytes(as_binary(box_man_items(box_man())))
    skin = skin_of(ml.load(path, keep_t_pose=True))
    assert skin is not None
    assert len(skin.points) == ml.load_character(path).n_points
    assert skin.weights.shape == (len(skin.points), 4)  # of five shares the largest four
    np.testing.assert_allclose(skin.weights.sum(axis=1), 1.0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_bones_that_motionloom_writes_are_no_skin(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"own{suffix}"
    ml.save(ml.synthetic.clip("walk").motion[:20], path)
    assert skin_of(ml.load(path)) is None


def test_a_clip_without_a_skin_has_none(tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    ml.save(ml.synthetic.clip("walk").motion[:20], path)
    assert skin_of(ml.load(path)) is None


def test_meshes_bound_to_one_joint_in_two_poses_are_two_bones(folder: Path) -> None:
    character = ml.load_character(folder / "man.glb")
    body = max(character.meshes, key=lambda mesh: len(mesh.points))
    binds = np.array(body.binds)
    binds[:, 0, 3] += np.linspace(0.0, 0.2, len(binds))
    other = dataclasses.replace(body, binds=binds)
    both = Character("both", character.motion, (body, other), character.materials)
    skin = drawn_skin(both)
    assert skin is not None
    alone = drawn_skin(dataclasses.replace(both, meshes=(body,)))
    assert alone is not None and len(skin.joints) == 2 * len(alone.joints) - 1  # one agrees
    motion = ml.load(folder / "man.glb")
    poses = np.concatenate(motion.world_pose(), axis=-1)[:, skin.joints]
    arrays = {"poses": poses, "skin.points": skin.points, "skin.bones": skin.bones}
    arrays |= {"skin.weights": skin.weights, "skin.binds": skin.binds}
    assert np.abs(drawn(arrays, 5) - both.posed(motion, 5)).max() < FLOAT32_M


@pytest.mark.parametrize("limit", ["MOST_POINTS", "MOST_BONES"])
def test_a_skin_too_large_to_draw_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    character = ml.load_character(folder / "man.fbx")
    assert drawn_skin(character) is not None
    monkeypatch.setattr(skin_module, limit, 5)
    assert drawn_skin(character) is None


@pytest.mark.judge
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_stage_draws_the_skin(
    open_screen: Any, served_studio: Callable[..., Any], folder: Path, tmp_path: Path, suffix: str
) -> None:
    """Its layer changes the picture, and its points lie on the body that is drawn without it."""
    home = tmp_path / "clips"
    home.mkdir()
    for name in ("man", "twin"):
        (home / f"{name}{suffix}").write_bytes((folder / f"man{suffix}").read_bytes())
    studio = Studio(home, project=tmp_path / "state" / "project.json")
    first, second = (item.id for item in studio.library.items())
    with served_studio(studio), open_screen(studio, "?debug") as screen:
        page = screen.page
        page.evaluate(f"studio.store.commit('', {{ a: {first!r}, b: {second!r} }})")
        screen.wait_for_result("transition")
        motion = "studio.store.scene.results.transition.motion"
        n_points = ml.load_character(home / f"man{suffix}").n_points
        assert page.evaluate(f"{motion}.skin.points.length") == 3 * n_points
        assert page.evaluate(f"{motion}.poses.length / {motion}.frames") == page.evaluate(
            f"7 * {motion}.skin.binds.length / 12"
        )

        def pictured(*, skin: bool) -> np.ndarray:
            layers = f"{{ ...studio.store.project.view.layers, skin: {str(skin).lower()} }}"
            page.evaluate(
                "studio.store.commit('', { view: { ...studio.store.project.view,"
                f"layers: {layers} }} }})"
            )
            page.evaluate("studio.clock.seek(0.2)")
            return screen.picture(f"skin_{suffix[1:]}_{skin}")

        changed = np.abs(pictured(skin=True) - pictured(skin=False)).max(axis=2) > 30
        assert 500 < changed.sum() < 0.2 * changed.size
