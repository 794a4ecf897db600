"""Bad FBX files: refused with the place and a remedy, within time and memory."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from fuzz.fbx_forms import Craft, as_binary, as_text, crafted
from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.fbx import fbx
from motionloom.formats.fbx.fbx_scene import Item, Long, file_bytes, property_of
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.motion import Motion, Skeleton


def refused(data: bytes, limits: Limits | None = None) -> FormatError:
    with pytest.raises(FormatError) as caught:
        fbx.read(io.BytesIO(data), ReadOptions(limits=limits or Limits()))
    return caught.value


def items() -> list[Item]:
    return crafted(np.random.default_rng(0), Craft(joints=3, seconds=0.3))


def changed(section: str, change: object) -> list[Item]:
    """A good file, one of whose lists is changed."""
    return [
        Item(item.name, item.values, change(list(item.items))) if item.name == section else item
        for item in items()
    ]


@pytest.mark.parametrize("version", [6100, 5000, 8000])
def test_other_versions_are_refused_with_a_remedy(version: int) -> None:
    error = refused(b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", version) + bytes(200))
    assert f"{version / 1000:g}" in error.problem
    assert "FBX 2011" in (error.fix or "")


def test_old_ascii_is_refused_with_a_remedy() -> None:
    error = refused(b"; FBX 6.1.0 project file\nFBXHeaderExtension: {\n\tFBXVersion: 6100\n}\n")
    assert "FBX 2011" in (error.fix or "")


def test_a_file_cut_short_is_reported() -> None:
    data, text = as_binary(items()), as_text(items())
    assert "must end by byte" in refused(data[: len(data) // 2]).problem
    assert "cut short" in (refused(data[: data.index(b"Connections") - 13]).fix or "")
    assert "cut short" in (refused(text[: text.index(b"KeyValueFloat")]).fix or "")


def test_an_array_that_unpacks_to_more_than_it_states_is_refused() -> None:
    data = as_binary(items(), 7400, deflated=True)
    at = data.index(b"KeyTime") + 8
    count = struct.unpack_from("<I", data, at)[0]
    for wrong in (count - 1, count + 1):
        changed_data = data[:at] + struct.pack("<I", wrong) + data[at + 4 :]
        assert "numbers" in refused(changed_data).problem


def test_a_packed_bomb_does_not_fill_the_memory() -> None:
    """48 MB of zeros in a small file: unpacked only where something asks for them."""
    huge = Item("KeyTime", (np.zeros(6_000_000, "<i8"),))
    curve = Item("AnimationCurve", (Long(9), "", ""), [huge])
    alone = as_binary(changed("Objects", lambda listed: [*listed, curve]), deflated=True)
    assert len(alone) < 200_000
    fbx.read(io.BytesIO(alone), ReadOptions())

    def use_it(listed: list[Item]) -> list[Item]:
        at = next(k for k, item in enumerate(listed) if item.name == "AnimationCurve")
        return [*listed[:at], Item("AnimationCurve", listed[at].values, [huge]), *listed[at + 1 :]]

    assert "memory" in refused(as_binary(changed("Objects", use_it), deflated=True)).problem


def test_deep_nesting_is_refused() -> None:
    nested = Item("x", (1,))
    for _ in range(200):
        nested = Item("x", (1,), [nested])
    data = file_bytes([Item("Objects", (), [Item("Model", (Long(1), "a", "Null"), [nested])])])
    assert "deep" in refused(data).problem
    text = b"FBXVersion: 7400\nObjects: {\n" + b"Model: 1 {\n" * 5000
    assert "deep" in refused(b"FBXHeaderExtension: {\n}\n" + text).problem


def test_a_model_above_itself_is_refused() -> None:
    def loop(links: list[Item]) -> list[Item]:
        first, last = (links[k].values for k in (1, 3))
        return [*links, Item("C", ("OO", first[1], last[1]))]

    error = refused(as_binary(changed("Connections", loop)))
    assert "parent" in error.problem or "ancestor" in error.problem


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("RotationOrder", 9, "RotationOrder"),
        ("InheritType", 5, "InheritType"),
        ("PreRotation", (float("nan"), 0.0, 0.0), "PreRotation"),
        ("Lcl Scaling", (1.0,), "three numbers"),
    ],
)
def test_a_bad_property_is_named(name: str, value: object, text: str) -> None:
    values = value if isinstance(value, tuple) else (value,)

    def spoil(listed: list[Item]) -> list[Item]:
        table = Item("Properties70", (), [property_of(name, "x", "", "", *values)])
        first = listed[0]
        return [Item(first.name, first.values, [table]), *listed[1:]]

    error = refused(as_binary(changed("Objects", spoil)))
    assert text in error.problem
    assert error.where


def test_a_file_without_bones_is_reported_with_what_is_missing() -> None:
    error = refused(as_binary([Item("FBXHeaderExtension"), Item("Objects")]))
    assert "LimbNode" in error.problem
    assert error.fix


def test_too_many_layers_are_refused() -> None:
    many = crafted(np.random.default_rng(0), Craft(joints=1, seconds=0.1, layers=70))
    assert "layers" in refused(as_binary(many)).problem


def test_a_long_good_file_is_within_its_budget_of_memory() -> None:
    """Ten minutes at 120 frames a second: what a file may take grows with its size."""
    names = tuple(f"bone{j}" for j in range(8))
    skeleton = Skeleton(names, np.arange(-1, 7), np.full((8, 3), 10.0))
    n_frames = 72_000
    turns = np.zeros((n_frames, 8, 4))
    turns[..., 0] = 1.0
    motion = Motion(skeleton, np.zeros((n_frames, 3)), turns, 120.0)
    stream = io.BytesIO()
    fbx.write(FileClip(motion, unit_m=0.01, up="y"), stream)
    stream.seek(0)
    assert fbx.read(stream, ReadOptions()).motion.n_frames == n_frames


def test_a_connection_counts_once_however_often_it_is_listed() -> None:
    """Thousands of links between two objects multiplied to minutes."""
    once = fbx.read(io.BytesIO(as_binary(items())), ReadOptions()).motion
    often = as_binary(changed("Connections", lambda links: links * 300))
    many = fbx.read(io.BytesIO(often), ReadOptions()).motion
    assert (many.local_quats == once.local_quats).all()
    assert (many.root_positions == once.root_positions).all()


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_file_whose_end_is_zeros_is_refused(share: float) -> None:
    """A download that broke off often has its whole length, the rest filled with zeros."""
    data = as_binary(items())
    kept = int(share * len(data))
    assert "damaged" in (refused(data[:kept] + bytes(len(data) - kept)).fix or "")


def test_zeros_after_the_last_section_are_refused() -> None:
    data = as_binary(items())
    cut = data.index(b"Connections") - 13
    assert "bytes are zero" in refused(data[:cut] + bytes(5000)).problem
