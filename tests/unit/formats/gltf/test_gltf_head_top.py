"""The top of the body where only a glTF file's skin shows it."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import stature
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb

HIPS_M, NAPE_M, SKIN_M = 0.9, 0.5, 0.3
"""Hips over the ground, nape over hips, skin over the nape."""
FLOAT32 = 1e-6


class Figure:
    """Hips, a foot and a nape, with a skin of a few points; Z up and in centimetres inside."""

    def __init__(self) -> None:
        self.data = b""
        scale = 100.0
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": [
                {
                    "name": "armature",
                    "children": [1, 4],
                    "rotation": [-np.sqrt(0.5), 0, 0, np.sqrt(0.5)],
                    "scale": [1 / scale] * 3,
                },
                {"name": "hips", "children": [2, 3], "translation": [0, 0, scale * HIPS_M]},
                {"name": "foot", "translation": [0, 0, -scale * HIPS_M]},
                # The nape leans by half a radian about x.
                {
                    "name": "nape",
                    "translation": [0, 0, scale * NAPE_M],
                    "rotation": [np.sin(0.25), 0, 0, np.cos(0.25)],
                },
                {"name": "body", "mesh": 0, "skin": 0},
            ],
            "accessors": [],
            "bufferViews": [],
        }
        top = scale * (HIPS_M + NAPE_M + SKIN_M)
        self.points = [[0, 0, 0], [5, 0, scale * HIPS_M], [2, 7, top], [0, 0, top - 10]]
        self.owners = [1, 0, 2, 2]
        self.mesh_and_skin(scale)

    def mesh_and_skin(self, scale: float) -> None:
        cos, sin = np.cos(0.5), np.sin(0.5)
        binds = np.tile(np.eye(4), (3, 1, 1))
        binds[0, 2, 3] = -scale * HIPS_M
        binds[2, 1:3, 1:3] = [[cos, sin], [-sin, cos]]
        binds[2, 1:3, 3] = binds[2, 1:3, 2] * -scale * (HIPS_M + NAPE_M)
        bind = self.array(binds.transpose(0, 2, 1).reshape(3, 16), "MAT4", "<f4")
        owners = np.zeros((len(self.points), 4))
        owners[:, 1] = self.owners
        weights = np.tile([0.3, 0.7, 0.0, 0.0], (len(self.points), 1))
        self.json["skins"] = [{"joints": [1, 2, 3], "inverseBindMatrices": bind}]
        attributes = {
            "POSITION": self.array(self.points, "VEC3", "<f4"),
            "JOINTS_0": self.array(owners, "VEC4", "<u1"),
            "WEIGHTS_0": self.array(weights, "VEC4", "<f4"),
        }
        self.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]

    def array(self, values: Any, kind: str, dtype: str) -> int:
        data = np.asarray(values, dtype=dtype).tobytes()
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.json["bufferViews"].append(view)
        self.json["accessors"].append(
            {
                "bufferView": len(self.json["bufferViews"]) - 1,
                "componentType": {"<f4": 5126, "<u1": 5121}[dtype],
                "count": len(values),
                "type": kind,
            }
        )
        self.data += data + b"\0" * (-len(data) % 4)
        return len(self.json["accessors"]) - 1

    def read(self) -> FileClip:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        whole = {**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}
        return glb.read(io.BytesIO(json.dumps(whole).encode()), ReadOptions())


@pytest.fixture
def figure() -> Figure:
    return Figure()


def test_the_top_of_the_skin_is_an_end_site_straight_over_the_last_joint(figure: Figure) -> None:
    clip = figure.read()
    motion = clip.motion
    assert [motion.skeleton.names[j] for j in motion.skeleton.end_parents] == ["nape"]
    top = [0.0, HIPS_M + NAPE_M + SKIN_M, 0.0]
    assert motion.end_positions()[0, 0] == pytest.approx(top, abs=FLOAT32)
    (problem,) = (finding.problem for finding in clip.findings if finding.where == "skin")
    assert "30 cm over 'nape'" in problem


def test_a_joint_that_has_an_end_keeps_it(figure: Figure) -> None:
    figure.json["nodes"][3]["children"] = [5]
    figure.json["nodes"].append({"name": "head_end", "translation": [0, 0, 11]})
    clip = figure.read()
    assert np.linalg.norm(clip.motion.skeleton.end_offsets, axis=1) == pytest.approx([0.11])
    assert not any(finding.where == "skin" for finding in clip.findings)


@pytest.mark.parametrize("height", [HIPS_M + NAPE_M - 0.02, 3.0], ids=["lower", "a banner"])
def test_skin_that_is_no_head_gives_no_end_site(figure: Figure, height: float) -> None:
    for point in figure.points[2:]:
        point[2] = 100.0 * height
    figure.mesh_and_skin(100.0)
    assert not len(figure.read().motion.skeleton.end_parents)


@pytest.mark.parametrize("fault", ["owner", "short", "packed", "no such skin"])
def test_a_skin_that_cannot_be_read_does_no_harm(figure: Figure, fault: str) -> None:
    attributes = figure.json["meshes"][0]["primitives"][0]["attributes"]
    if fault == "owner":
        figure.owners[2] = 99
        figure.mesh_and_skin(100.0)
    elif fault == "short":
        figure.json["accessors"][attributes["WEIGHTS_0"]]["count"] = 2
    elif fault == "packed":
        view = figure.json["accessors"][attributes["POSITION"]]["bufferView"]
        figure.json["bufferViews"][view]["extensions"] = {"EXT_meshopt_compression": {}}
    else:
        figure.json["nodes"][4]["skin"] = 7
    assert figure.read().motion.skeleton.names == ("hips", "foot", "nape")


def test_the_mesh_that_is_written_here_adds_nothing_when_it_is_read() -> None:
    motion = synthetic.clip("walk").motion
    stream = io.BytesIO()
    glb.write(FileClip(motion, unit_m=1.0, up="y"), stream)
    stream.seek(0)
    back = glb.read(stream, ReadOptions()).motion.skeleton
    assert back.end_parents.tolist() == motion.skeleton.end_parents.tolist()
    assert stature(back) == pytest.approx(stature(motion.skeleton), abs=FLOAT32)
