from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.blending.transition import transition
from motionloom.errors import ArrayError, FormatError
from motionloom.intake.load import load, load_provenance
from motionloom.intake.save import save, supported_formats
from motionloom.motion.motion import Motion, Skeleton

BVH_TEXT_M = 1e-5


def test_every_format_lists_what_it_can() -> None:
    known = {info.name: info for info in supported_formats()}
    assert known["bvh"].suffixes == (".bvh",)
    assert known["bvh"].can_read and known["bvh"].can_write
    assert known["amc"].can_read and not known["amc"].can_write
    assert {".glb", ".mlm", ".npz"} <= {s for info in known.values() for s in info.suffixes}


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".mlm", ".npz"])
def test_any_writable_format_keeps_every_joint(person, tmp_path: Path, suffix: str) -> None:
    motion = person(25)
    path = tmp_path / f"person{suffix}"
    save(motion, path)
    loaded = load(path)
    assert loaded.fps == pytest.approx(60.0)
    np.testing.assert_allclose(loaded.world_positions(), motion.world_positions(), atol=BVH_TEXT_M)


def test_a_clip_goes_home_in_its_own_unit_axes_and_channels(person, tmp_path: Path) -> None:
    first, second = tmp_path / "first.bvh", tmp_path / "second.bvh"
    save(person(25), first, unit="in", up="z")
    save(load(first), second)
    assert second.read_text() == first.read_text()


def test_another_format_gets_its_own_custom(person, tmp_path: Path) -> None:
    bvh, glb, back = tmp_path / "a.bvh", tmp_path / "a.glb", tmp_path / "b.bvh"
    save(person(25), bvh, unit="in", up="z")
    save(load(bvh), glb)
    assert (load(glb).source.unit_m, load(glb).source.up) == (1.0, "y")
    save(load(glb), back)
    assert load(back).source.unit_m == pytest.approx(0.01)


def test_unit_and_axes_may_be_given(person, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    save(person(25), path, unit=0.1, up="-x")
    source = load(path).source
    assert (source.unit_m, source.up) == (pytest.approx(0.1), "-x")


def test_the_file_it_came_from_is_never_overwritten(person, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    save(person(25), path)
    before = path.read_bytes()
    motion = load(path)
    for same in (path, tmp_path / "." / "a.bvh"):
        with pytest.raises(FormatError, match="never overwritten"):
            save(motion, same)
    link = tmp_path / "link.bvh"
    link.symlink_to(path)
    with pytest.raises(FormatError, match="never overwritten"):
        save(motion, link)
    assert path.read_bytes() == before


def test_another_existing_file_is_replaced(person, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    save(person(25), path)
    save(person(10), path)
    assert load(path).n_frames == 10


def test_a_failed_write_leaves_nothing_behind(person, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="folder"):
        save(person(5), tmp_path / "nowhere" / "a.bvh")
    folder = tmp_path / "folder.bvh"
    folder.mkdir()
    with pytest.raises(FormatError):
        save(person(5), folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.bvh"]


def test_the_same_motion_gives_the_same_bytes(person, tmp_path: Path) -> None:
    for suffix in (".bvh", ".glb", ".mlm", ".npz"):
        a, b = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        save(person(12), a)
        save(person(12), b)
        assert a.read_bytes() == b.read_bytes()


def test_a_stream_needs_a_format(person, tmp_path: Path) -> None:
    stream = io.BytesIO()
    save(person(5), stream, format="bvh")
    save(person(5), tmp_path / "a.bvh")
    assert stream.getvalue() == (tmp_path / "a.bvh").read_bytes()
    with pytest.raises(FormatError, match="Pass format="):
        save(person(5), io.BytesIO())


@pytest.mark.parametrize("name", ["a", "a.txt", "a.amc", "a.dae"])
def test_a_suffix_that_cannot_be_written_lists_those_that_can(
    person, tmp_path: Path, name: str
) -> None:
    with pytest.raises(FormatError, match=r"\.bvh"):
        save(person(5), tmp_path / name)


def test_a_format_that_cannot_be_written_is_refused(person, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="bvh"):
        save(person(5), tmp_path / "a.bvh", format="amc")


def test_what_is_no_motion_or_no_place_is_refused(person) -> None:
    with pytest.raises(ArrayError, match="must be a Motion"):
        save("walk.bvh", "b.bvh")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="named by a path"):
        save(person(5), 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".mlm", ".npz"])
def test_what_could_not_be_read_again_is_not_written(person, tmp_path: Path, suffix: str) -> None:
    motion = person(5)
    far = motion.replace(root_positions=motion.root_positions + 2e9)
    with pytest.raises(FormatError, match="must stay below"):
        save(far, tmp_path / f"far{suffix}")
    with pytest.raises(FormatError, match="frame rate must lie between"):
        save(motion.replace(fps=1e6), tmp_path / f"fast{suffix}")
    with pytest.raises(ArrayError, match="between 1e-6 and 1e6"):
        save(motion, tmp_path / f"unit{suffix}", unit=1e30)
    assert not list(tmp_path.iterdir())


def test_a_chain_of_thousands_of_joints_can_be_read_again(tmp_path: Path) -> None:
    joints = 4000
    chain = Skeleton(
        [f"j{n}" for n in range(joints)], np.arange(joints) - 1, np.full((joints, 3), 0.001)
    )
    still = np.zeros((2, joints, 4))
    still[..., 0] = 1.0
    save(Motion(chain, np.zeros((2, 3)), still, 30.0), tmp_path / "chain.bvh")
    assert (tmp_path / "chain.bvh").stat().st_size < 2_000_000
    assert load(tmp_path / "chain.bvh").skeleton.n_joints == joints


def test_channels_stated_several_times_can_be_written_again(person, tmp_path: Path) -> None:
    save(person(5), tmp_path / "a.bvh")
    text, many = (tmp_path / "a.bvh").read_text(), " ".join(["9", *["Zposition"] * 8, "Zrotation"])
    head, rows = text.split("MOTION\n")
    own = head.rindex("CHANNELS 3")
    head = head[:own] + f"CHANNELS {many}" + head[head.index("\n", own) :]
    lines = rows.splitlines()
    lines[2:] = [f"{line} 1 2 3 4 5 6" for line in lines[2:]]
    (tmp_path / "b.bvh").write_text(head + "MOTION\n" + "\n".join(lines) + "\n")
    odd = load(tmp_path / "b.bvh")
    save(odd, tmp_path / "c.bvh")
    again = load(tmp_path / "c.bvh")
    np.testing.assert_allclose(again.world_positions(), odd.world_positions(), atol=BVH_TEXT_M)


def test_a_result_in_numpy_arrays_says_what_its_frames_were_made_from(tmp_path: Path) -> None:
    a, b = (synthetic.clip(name).motion for name in ("walk", "run"))
    joined = transition(a, b)
    save(joined, tmp_path / "joined.npz")
    again = load_provenance(tmp_path / "joined.npz")
    assert again.json() == joined.provenance.json()
    save(joined.motion, tmp_path / "given.npz", provenance=joined.provenance)
    assert load_provenance(tmp_path / "given.npz").json() == again.json()


def test_clips_without_provenance_say_how_to_save_it(person, tmp_path: Path) -> None:
    save(person(5), tmp_path / "a.npz")
    with pytest.raises(FormatError, match="Save the result itself"):
        load_provenance(tmp_path / "a.npz")
    save(person(5), tmp_path / "a.bvh")
    with pytest.raises(FormatError):
        load_provenance(tmp_path / "a.bvh")


def test_provenance_that_was_damaged_is_refused(tmp_path: Path) -> None:
    a, b = (synthetic.clip(name).motion for name in ("walk", "wave"))
    save(transition(a, b), tmp_path / "joined.npz")
    arrays = dict(np.load(tmp_path / "joined.npz"))
    for name, damaged in (
        ("clip", arrays["provenance_clip"] + 9),
        ("weight", 2.0 * arrays["provenance_weight"]),
        ("time", arrays["provenance_time"][:, :-1]),
        ("changed", arrays["provenance_changed"][:-1]),
        ("parts", np.array(["one", "two"])),
    ):
        np.savez(tmp_path / "bad.npz", **{**arrays, f"provenance_{name}": damaged})
        with pytest.raises(FormatError):
            load_provenance(tmp_path / "bad.npz")
