"""glTF: what other tools write, read right; what attackers write, refused."""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb
from motionloom.formats.keys import far_origin
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Source
from motionloom.rotation import quat

FLOAT32 = 1e-6
HALF = np.sqrt(0.5)
SOME_BYTES = Limits(max_bytes=10_000_000)


class Builder:
    """A small glTF file put together piece by piece."""

    def __init__(self) -> None:
        self.data = b""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": [
                {"name": "hips", "children": [1], "translation": [0, 1, 0]},
                {"name": "knee", "translation": [0, -0.5, 0]},
            ],
            "skins": [{"joints": [0, 1]}],
            "accessors": [],
            "bufferViews": [],
        }

    def array(self, values: Any, kind: str, dtype: str = "<f4", **more: Any) -> int:
        array = np.asarray(values, dtype=dtype)
        self.json["accessors"].append(
            {
                "bufferView": self.view(array.tobytes()),
                "componentType": {"<f4": 5126, "<i2": 5122, "<u1": 5121, "<i1": 5120}[dtype],
                "count": len(array),
                "type": kind,
                **more,
            }
        )
        return len(self.json["accessors"]) - 1

    def view(self, data: bytes) -> int:
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.json["bufferViews"].append(view)
        self.data += data + b"\0" * (-len(data) % 4)
        return len(self.json["bufferViews"]) - 1

    def channel(self, node: int, path: str, times: int, values: int, how: str = "LINEAR") -> None:
        animations = self.json.setdefault("animations", [{"channels": [], "samplers": []}])
        last = animations[-1]
        target = {"node": node, "path": path}
        last["channels"].append({"sampler": len(last["samplers"]), "target": target})
        last["samplers"].append({"input": times, "output": values, "interpolation": how})

    def turn(self, times: list[float], node: int = 1) -> None:
        """Rotation keys about x, one radian per second."""
        half = 0.5 * np.asarray(times)
        keys = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], axis=1)
        at = self.array(np.asarray(times)[:, None], "SCALAR")
        self.channel(node, "rotation", at, self.array(keys, "VEC4"))

    def text(self) -> bytes:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        whole = {**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}
        return json.dumps(whole).encode()

    def read(self, **options: Any) -> FileClip:
        return glb.read(io.BytesIO(self.text()), ReadOptions(limits=SOME_BYTES, **options))


@pytest.fixture
def builder() -> Builder:
    return Builder()


def refused(builder: Builder, text: str) -> FormatError:
    with pytest.raises(FormatError, match=text) as caught:
        builder.read()
    return caught.value


@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 60.0, 120.0, 30000 / 1001])
def test_the_rate_is_that_of_the_keys(builder: Builder, fps: float) -> None:
    builder.turn([k / fps for k in range(50)])
    clip = builder.read()
    assert clip.motion.fps == fps
    assert clip.motion.n_frames == 50
    assert clip.fps_stated


def test_a_rate_nobody_uses_is_kept_as_measured(builder: Builder) -> None:
    builder.turn([k / 37.3 for k in range(50)])
    assert builder.read().motion.fps == pytest.approx(37.3, rel=FLOAT32)


def test_a_late_first_key_is_the_first_frame(builder: Builder) -> None:
    builder.turn([k / 24 for k in range(1, 49)])
    assert builder.read().motion.n_frames == 48


def test_keys_left_out_where_nothing_happens_are_filled_in(builder: Builder) -> None:
    builder.turn([0.0, 3 / 24, 4 / 24, 10 / 24])
    clip = builder.read()
    assert (clip.motion.fps, clip.motion.n_frames) == (24.0, 11)
    angle = 2.0 * np.arctan2(clip.motion.local_quats[:, 1, 1], clip.motion.local_quats[:, 1, 0])
    assert np.abs(angle - np.arange(11) / 24).max() < FLOAT32
    assert "filled in" in clip.findings[0].problem


def test_uneven_keys_are_sampled_finely_to_the_last_one(builder: Builder) -> None:
    builder.turn([0.0, 0.0713, 0.1, 0.333])
    clip = builder.read()
    assert clip.motion.fps == 60.0
    last = 2.0 * np.arctan2(*clip.motion.local_quats[-1, 1, [1, 0]])
    assert last == pytest.approx(0.333, abs=FLOAT32)
    assert "uneven" in clip.findings[0].problem


def test_a_long_clip_keeps_its_frames_although_its_times_are_single_precision(
    builder: Builder,
) -> None:
    builder.turn(list(np.arange(40_000) / 120.0 + 3600.0))
    clip = builder.read()
    assert (clip.motion.fps, clip.motion.n_frames) == (120.0, 40_000)


def test_a_step_holds_its_value_until_the_next_key(builder: Builder) -> None:
    times = builder.array([[0.0], [1.0], [1 + 1 / 30]], "SCALAR")
    places = builder.array([[0, 1, 0], [0, 2, 0], [0, 5, 0]], "VEC3")
    builder.channel(0, "translation", times, places, "STEP")
    heights = builder.read().motion.root_positions[:, 1]
    assert heights[:30].tolist() == [1.0] * 30
    assert heights[30:].tolist() == [2.0, 5.0]


def test_a_cubic_spline_follows_its_tangents(builder: Builder) -> None:
    times = builder.array([[0.0], [1.0]], "SCALAR")
    rise = [[0, 0, 0], [0, 0, 0], [0, 3, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
    builder.channel(0, "translation", times, builder.array(rise, "VEC3"), "CUBICSPLINE")
    motion = builder.read().motion
    s = np.arange(motion.n_frames) / motion.fps
    expected = (s**3 - 2 * s**2 + s) * 3 + (3 * s**2 - 2 * s**3)
    assert np.abs(motion.root_positions[:, 1] - expected).max() < FLOAT32


def test_integer_rotations_are_scaled_to_one(builder: Builder) -> None:
    times = builder.array([[0.0], [1 / 30]], "SCALAR")
    keys = builder.array(
        [[0, 0, 0, 32767], [23170, 0, 0, 23170]], "VEC4", dtype="<i2", normalized=True
    )
    builder.channel(1, "rotation", times, keys)
    assert np.allclose(builder.read().motion.local_quats[1, 1], [HALF, HALF, 0, 0], atol=1e-4)


def test_sparse_values_replace_the_stored_ones(builder: Builder) -> None:
    times = builder.array([[0.0], [1 / 30], [2 / 30]], "SCALAR")
    places = builder.array([[0, 1, 0]] * 3, "VEC3")
    builder.json["accessors"][places]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": builder.view(b"\2\0\0\0"), "componentType": 5121},
        "values": {"bufferView": builder.view(struct.pack("<3f", 0, 7, 0))},
    }
    builder.channel(0, "translation", times, places)
    assert builder.read().motion.root_positions[:, 1].tolist() == [1.0, 1.0, 7.0]


def test_nodes_above_the_root_are_folded_into_it(builder: Builder) -> None:
    """An armature in centimetres with Z up, as exporters make them."""
    builder.json["nodes"].append(
        {"name": "Armature", "children": [0], "rotation": [-HALF, 0, 0, HALF], "scale": [0.01] * 3}
    )
    builder.json["nodes"][0]["translation"] = [0, 0, 100]
    builder.json["nodes"][1]["translation"] = [0, 0, -50]
    builder.turn([0.0, 1 / 30])
    clip = builder.read()
    at = clip.motion.world_positions()[0]
    assert np.allclose(at, [[0, 1, 0], [0, 0.5, 0]], atol=1e-9)
    assert (clip.unit_m, clip.up) == (1.0, "y")
    assert clip.motion.skeleton.names == ("hips", "knee")


def test_root_motion_on_the_armature_is_kept(builder: Builder) -> None:
    builder.json["nodes"].append({"name": "Armature", "children": [0]})
    times = builder.array([[0.0], [1 / 30]], "SCALAR")
    builder.channel(2, "translation", times, builder.array([[0, 0, 0], [0, 0, 4]], "VEC3"))
    assert builder.read().motion.root_positions.tolist() == [[0, 1, 0], [0, 1, 4]]


def test_a_matrix_means_the_same_as_its_parts(builder: Builder) -> None:
    columns = [0, 0, -2, 0, 0, 2, 0, 0, 2, 0, 0, 0, 5, 6, 7, 1]  # a quarter turn about y, doubled
    builder.json["nodes"].append({"name": "top", "children": [0], "matrix": columns})
    motion = builder.read().motion
    assert np.allclose(motion.world_positions()[0], [[5, 8, 7], [5, 7, 7]])
    assert np.allclose(motion.skeleton.rest_quats[0], [HALF, 0, HALF, 0])


def test_bones_slide_only_where_their_keys_leave_the_rest_place(builder: Builder) -> None:
    times = builder.array([[0.0], [1 / 30]], "SCALAR")
    builder.channel(1, "translation", times, builder.array([[0, -0.5, 0]] * 2, "VEC3"))
    assert builder.read().motion.joint_translations is None
    builder.json["animations"][0]["samplers"][0]["output"] = builder.array(
        [[0, -0.5, 0], [0, -0.6, 0]], "VEC3"
    )
    moving = builder.read().motion.joint_translations
    assert moving is not None
    assert moving[1, 1].tolist() == pytest.approx([0, -0.6, 0])


def test_scale_that_changes_is_left_out_and_reported(builder: Builder) -> None:
    times = builder.array([[0.0], [1 / 30]], "SCALAR")
    builder.channel(0, "scale", times, builder.array([[1, 1, 1], [2, 2, 2]], "VEC3"))
    clip = builder.read()
    assert [f.level for f in clip.findings if "Scale keys" in f.problem] == ["warning"]
    assert np.allclose(clip.motion.world_positions()[1], [[0, 1, 0], [0, 0.5, 0]])


def test_without_a_skin_the_animated_nodes_are_the_skeleton(builder: Builder) -> None:
    del builder.json["skins"]
    builder.json["nodes"] += [
        {"name": "lamp", "translation": [9, 9, 9]},
        {"name": "scene", "children": [0, 2]},
    ]
    builder.turn([0.0, 1 / 30])
    builder.turn([0.0, 1 / 30], node=0)
    assert builder.read().motion.skeleton.names == ("hips", "knee")


def test_leaves_outside_the_skin_are_end_sites(builder: Builder) -> None:
    builder.json["nodes"][1]["children"] = [2]
    builder.json["nodes"].append({"name": "toe_end", "translation": [0, -0.1, 0.2]})
    skeleton = builder.read().motion.skeleton
    assert skeleton.end_parents.tolist() == [1]
    assert skeleton.end_offsets.tolist() == [[0, -0.1, 0.2]]


def test_of_two_figures_the_one_that_moves_is_read(builder: Builder) -> None:
    builder.json["nodes"] += [
        {"name": "statue", "children": [3], "translation": [5, 0, 0]},
        {"name": "arm"},
        {"name": "scene", "children": [0, 2]},
    ]
    builder.json["skins"].append({"joints": [2, 3]})
    builder.turn([0.0, 1 / 30])
    clip = builder.read()
    assert clip.motion.skeleton.names == ("hips", "knee")
    assert any("2 joints of other figures" in f.problem for f in clip.findings)


def test_skins_of_one_figure_are_one_skeleton(builder: Builder) -> None:
    builder.json["nodes"][1]["children"] = [2]
    builder.json["nodes"].append({"name": "toe"})
    builder.json["skins"].append({"joints": [2]})
    assert builder.read().motion.skeleton.names == ("hips", "knee", "toe")


def test_a_file_without_animation_is_its_rest_pose(builder: Builder) -> None:
    clip = builder.read()
    assert clip.motion.n_frames == 1
    assert not clip.fps_stated


def test_clips_are_picked_by_name_or_number(builder: Builder) -> None:
    for name in ("Walk", None, "Walk"):
        builder.json.setdefault("animations", []).append({"channels": [], "samplers": []})
        if name:
            builder.json["animations"][-1]["name"] = name
        builder.turn([0.0, 1 / (30 if name else 60)])
    assert builder.read().clips == ("Walk", "1", "Walk_2")
    assert builder.read().clip == "Walk"
    assert builder.read(clip="1").motion.fps == 60.0
    assert builder.read(clip="2").clip == "Walk_2"
    with pytest.raises(FormatError, match=r"no clip called 'Run'.*Walk, 1, Walk_2"):
        builder.read(clip="Run")


def test_joints_of_one_name_get_their_own(builder: Builder) -> None:
    builder.json["nodes"][1]["name"] = "hips"
    assert builder.read().motion.skeleton.names == ("hips", "hips_2")


def test_a_cycle_of_nodes_is_refused(builder: Builder) -> None:
    builder.json["nodes"][1]["children"] = [0]
    refused(builder, "own ancestor|one parent")


def test_a_node_with_two_parents_is_refused(builder: Builder) -> None:
    builder.json["nodes"].append({"children": [1]})
    assert refused(builder, "one parent").where == "node 1"


def test_a_very_deep_chain_is_read_without_recursion(builder: Builder) -> None:
    n = 4000
    builder.json["nodes"] = [{"children": [k + 1]} for k in range(n - 1)] + [{}]
    builder.json["skins"] = [{"joints": list(range(n))}]
    assert builder.read().motion.skeleton.n_joints == n


def test_nesting_beyond_all_rigs_is_refused(builder: Builder) -> None:
    n = 20_000
    builder.json["nodes"] = [{"children": [k + 1]} for k in range(n - 1)] + [{}]
    refused(builder, "nested at most")


def test_an_accessor_beyond_its_buffer_is_refused(builder: Builder) -> None:
    builder.turn([0.0, 1 / 30])
    builder.json["accessors"][1]["count"] = 3
    assert refused(builder, "must fit into").where == "accessor 1"


def test_an_accessor_of_countless_zeros_is_refused(builder: Builder) -> None:
    builder.turn([0.0, 1 / 30])
    builder.json["accessors"][1] = {"componentType": 5126, "count": 10**6, "type": "VEC4"}
    refused(builder, "without stored data|at most")


def test_two_keys_an_age_apart_are_refused(builder: Builder) -> None:
    builder.turn([0.0, 1e7])
    refused(builder, "must make at most")


@pytest.mark.parametrize("uri", ["../up.bin", "http://a.b/c.bin", "/etc/passwd", "a/../../b.bin"])
def test_buffers_from_elsewhere_are_refused(builder: Builder, tmp_path: Path, uri: str) -> None:
    builder.turn([0.0, 1 / 30])
    text = json.dumps({**builder.json, "buffers": [{"byteLength": 9, "uri": uri}]}).encode()
    with pytest.raises(FormatError, match="the file's folder"):
        glb.read(io.BytesIO(text), ReadOptions(path=tmp_path / "a.gltf"))


def test_a_link_out_of_the_folder_is_refused(builder: Builder, tmp_path: Path) -> None:
    builder.turn([0.0, 1 / 30])
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.bin").write_bytes(builder.data)
    (tmp_path / "in" / "a.bin").symlink_to(tmp_path / "secret.bin")
    text = json.dumps({**builder.json, "buffers": [{"byteLength": 9, "uri": "a.bin"}]}).encode()
    with pytest.raises(FormatError, match="must lie in the file's folder"):
        glb.read(io.BytesIO(text), ReadOptions(path=tmp_path / "in" / "a.gltf"))


def test_a_buffer_beside_the_file_is_read(builder: Builder, tmp_path: Path) -> None:
    builder.turn([0.0, 1 / 30])
    (tmp_path / "my data.bin").write_bytes(builder.data)
    buffers = [{"byteLength": len(builder.data), "uri": "my%20data.bin"}]
    text = json.dumps({**builder.json, "buffers": buffers}).encode()
    clip = glb.read(io.BytesIO(text), ReadOptions(path=tmp_path / "a.gltf"))
    assert clip.motion.n_frames == 2
    with pytest.raises(FormatError, match="stream cannot reach"):
        glb.read(io.BytesIO(text), ReadOptions())


def test_packed_data_is_refused_with_a_remedy(builder: Builder) -> None:
    builder.turn([0.0, 1 / 30])
    builder.json["bufferViews"][0]["extensions"] = {"EXT_meshopt_compression": {}}
    assert "without compression" in str(refused(builder, "EXT_meshopt_compression"))


def test_clips_in_another_unit_and_axis_are_written_in_metres_and_y_up() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    skeleton = Skeleton(
        ("a", "b"),
        np.array([-1, 0]),
        np.array([[0, 0, 90.0], [0, 0, -40.0]]),
        end_parents=np.array([1]),
        end_offsets=np.array([[10.0, 0, 0]]),
    )
    quats = quat.exp(rng.normal(size=(4, 2, 3)))
    motion = Motion(skeleton, rng.normal(90.0, 5.0, (4, 3)), quats, 30.0)
    stream = io.BytesIO()
    glb.write(FileClip(motion, unit_m=0.01, up="z"), stream)
    stream.seek(0)
    back = glb.read(stream, ReadOptions()).motion
    for ours, theirs in (
        (back.world_positions(), motion.world_positions()),
        (back.end_positions(), motion.end_positions()),
    ):
        upright = 0.01 * np.stack([theirs[..., 0], theirs[..., 2], -theirs[..., 1]], axis=-1)
        assert np.abs(ours - upright).max() < FLOAT32


def test_the_skin_lists_every_joint_and_end_site_with_its_inverse_bind() -> None:
    skeleton = Skeleton(
        ("a", "b"),
        np.array([-1, 0]),
        np.eye(3)[:2],
        end_parents=np.array([1]),
        end_offsets=np.eye(3)[:1],
    )
    stream = io.BytesIO()
    motion = Motion(skeleton, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 2, 1)), 30.0)
    glb.write(FileClip(motion), stream)
    data = stream.getvalue()
    document = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    skin = document["skins"][0]
    assert [document["nodes"][n]["name"] for n in skin["joints"]] == ["a", "b", "b_end"]
    assert document["accessors"][skin["inverseBindMatrices"]]["count"] == 3
    assert document["animations"][0]["extras"] == {"motionloom": {"fps": 30.0, "frames": 1}}


def test_a_clip_beyond_single_precision_is_not_written() -> None:
    skeleton = Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    motion = Motion(skeleton, np.full((1, 3), 1e10), np.tile(quat.IDENTITY, (1, 1, 1)), 30.0)
    with pytest.raises(FormatError, match="within 1e\\+09 m"):
        glb.write(FileClip(motion), io.BytesIO())


def test_where_a_motion_first_came_from_is_kept_through_every_copy() -> None:
    skeleton = Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    source = Source(format="bvh", path="/somewhere/16_15.bvh")
    motion = Motion(
        skeleton, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 1, 1)), 30.0, source=source
    )
    clip = FileClip(motion)
    for _ in range(2):
        stream = io.BytesIO()
        glb.write(clip, stream)
        stream.seek(0)
        clip = glb.read(stream, ReadOptions())
        assert clip.detail["source"] == {"format": "bvh", "file": "16_15.bvh"}


@pytest.mark.parametrize("indices", [b"\0\3\0\0", b"\3\0\0\0", b"\xff\2\0\0"])
def test_a_sparse_index_beyond_the_stored_values_is_refused(
    builder: Builder, indices: bytes
) -> None:
    times = builder.array([[0.0], [1 / 30], [2 / 30]], "SCALAR")
    places = builder.array([[0, 1, 0]] * 3, "VEC3")
    builder.json["accessors"][places]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": builder.view(indices), "componentType": 5121},
        "values": {"bufferView": builder.view(struct.pack("<6f", 0, 7, 0, 0, 8, 0))},
    }
    builder.channel(0, "translation", times, places)
    largest = max(indices)
    refused(builder, f"Sparse indices must be below 3, got {largest}")


def test_a_sparse_accessor_of_no_values_is_what_is_stored(builder: Builder) -> None:
    times = builder.array([[0.0], [1 / 30]], "SCALAR")
    places = builder.array([[0, 1, 0]] * 2, "VEC3")
    builder.json["accessors"][places]["sparse"] = {
        "count": 0,
        "indices": {"bufferView": builder.view(b"\1\0\0\0"), "componentType": 5121},
        "values": {"bufferView": builder.view(struct.pack("<3f", 0, 7, 0))},
    }
    builder.channel(0, "translation", times, places)
    assert builder.read().motion.root_positions[:, 1].tolist() == [1.0, 1.0]


def test_an_animation_of_something_else_leaves_the_rest_pose(builder: Builder) -> None:
    builder.json["nodes"].append({"name": "lamp"})
    builder.turn([0.0, 1 / 30], node=2)
    clip = builder.read()
    assert clip.motion.skeleton.names == ("hips", "knee")
    assert (clip.motion.n_frames, clip.motion.fps, clip.fps_stated) == (1, 30.0, False)
    assert clip.findings[0].problem == "No animation moves the skeleton: one frame, the rest pose."


def test_the_bones_of_a_file_are_matt_and_seen_from_both_sides() -> None:
    skeleton = Skeleton(("a", "b"), np.array([-1, 0]), np.eye(3)[:2])
    motion = Motion(skeleton, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 2, 1)), 30.0)
    stream = io.BytesIO()
    glb.write(FileClip(motion), stream)
    data = stream.getvalue()
    document = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    (material,) = document["materials"]
    surface = material["pbrMetallicRoughness"]
    assert material["doubleSided"] is True
    assert surface["metallicFactor"] == 0.0
    assert 0.5 < surface["roughnessFactor"] <= 1.0
    *_, opacity = surface["baseColorFactor"]
    assert opacity == 1.0
    assert all(0.0 <= part <= 1.0 for part in surface["baseColorFactor"])
    # The figure and its mesh stand in the scene; the skin hangs on the first joint.
    assert document["scenes"][document["scene"]]["nodes"] == [0, len(document["nodes"]) - 1]
    assert document["nodes"][-1] == {"name": "bones", "mesh": 0, "skin": 0}
    assert document["nodes"][document["skins"][0]["skeleton"]]["name"] == "a"


@pytest.mark.parametrize("far", [[5000.0, 0.0, 0.0], [-4000.4, 3.0, 2000.0]])
def test_a_figure_far_out_keeps_its_place_to_less_than_a_millimetre(far: list[float]) -> None:
    skeleton = Skeleton(("a", "b"), np.array([-1, 0]), np.eye(3)[:2])
    root = np.array(far) + np.random.default_rng(2).normal(0.0, 3.0, (6, 3))
    motion = Motion(skeleton, root, np.tile(quat.IDENTITY, (6, 2, 1)), 30.0)
    middle = 0.5 * (root.min(axis=0) + root.max(axis=0))
    assert np.abs(far_origin(motion.root_positions, 1.0) - middle).max() <= 0.5
    assert far_origin(motion.root_positions, 1.0).tolist() == np.round(middle).tolist()
    stream = io.BytesIO()
    glb.write(FileClip(motion), stream)
    stream.seek(0)
    assert np.abs(glb.read(stream, ReadOptions()).motion.root_positions - root).max() < FLOAT32
    near = motion.replace(root_positions=root - np.array(far))
    assert far_origin(near.root_positions, 1.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("value", [1.5e15, -1.5e15, np.inf, np.nan])
def test_keys_beyond_what_a_file_may_have_are_refused(builder: Builder, value: float) -> None:
    at = builder.array([[0.0], [1.0]], "SCALAR")
    builder.channel(0, "translation", at, builder.array([[0, 1, 0], [0, value, 0]], "VEC3"))
    refused(builder, "Keys must be finite numbers")


def test_rotation_keys_of_zeros_are_counted_in_a_warning(builder: Builder) -> None:
    times = builder.array(np.arange(20)[:, None] / 30.0, "SCALAR")
    keys = np.tile([0.0, 0.0, 0.0, 1.0], (20, 1))
    keys[15:] = 0.0
    builder.channel(1, "rotation", times, builder.array(keys, "VEC4"))
    clip = builder.read()
    assert any(
        finding.level == "warning" and "5 of 20 rotation keys" in finding.problem
        for finding in clip.findings
    )


def test_many_keys_at_one_time_are_refused_and_two_are_a_still_pose(builder: Builder) -> None:
    builder.turn([0.0, 0.0])
    assert builder.read().motion.n_frames == 1
    builder = Builder()
    builder.turn([0.0] * 60)
    assert "damaged" in (refused(builder, "all 60 are 0 s").fix or "")
