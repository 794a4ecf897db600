"""Files that hold no clip are named, whatever their suffix."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import motionloom as ml

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
PAGE = b"\n<!DOCTYPE html>\n<html><body>404</body></html>"


@pytest.mark.parametrize("suffix", [".bvh", ".fbx", ".glb", ".npz", ".csv", ".usda", ".dat", ""])
@pytest.mark.parametrize(
    ("data", "kind", "fix"),
    [
        (POINTER, "pointer of Git LFS", "git lfs pull"),
        (PAGE, "web page", "Download it again"),
        (gzip.compress(b"HIERARCHY", mtime=0), "compressed by gzip", "gunzip"),
        (b"BLENDER-v300RENDH", "Blender scene", "glTF, FBX or BVH"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5 file", ".npz"),
        (b"\x02\x50" + bytes(600), "C3D file holds markers", "ml.load_points"),
    ],
)
def test_the_error_names_the_kind_and_what_to_do(
    tmp_path: Path, suffix: str, data: bytes, kind: str, fix: str
) -> None:
    file = tmp_path / f"walk{suffix}"
    file.write_bytes(data)
    with pytest.raises(ml.FormatError, match=kind) as caught:
        ml.load(file)
    assert fix in str(caught.value)
    assert str(caught.value).count(f"walk{suffix}") == 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "empty"),
        (POINTER, "pointer of Git LFS"),
        (PAGE, "web page"),
        (b"hello", "0x50 as its second byte"),
        (b"\x02\x50" + bytes(40), "at least 512 bytes"),
    ],
)
def test_files_of_markers_are_refused_alike(tmp_path: Path, data: bytes, text: str) -> None:
    file = tmp_path / "walk.c3d"
    file.write_bytes(data)
    with pytest.raises(ml.FormatError, match=text):
        ml.load_points(file)
