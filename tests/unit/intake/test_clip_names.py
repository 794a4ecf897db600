from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.intake.clip_names import find_target, opened


def test_a_name_after_the_hash_is_a_clip() -> None:
    target = find_target("some/Soldier.glb#Run", None)
    assert (target.label, target.path, target.clip) == (
        "some/Soldier.glb",
        Path("some/Soldier.glb"),
        "Run",
    )


def test_a_file_that_has_a_hash_in_its_name_wins(tmp_path: Path) -> None:
    odd = tmp_path / "take#2.bvh"
    odd.write_text("x")
    target = find_target(odd, None)
    assert (target.path, target.clip) == (odd, None)


def test_the_last_hash_parts_clip_from_file(tmp_path: Path) -> None:
    target = find_target(str(tmp_path / "take#2.glb#Run"), None)
    assert (target.path, target.clip) == (tmp_path / "take#2.glb", "Run")


def test_a_clip_that_is_passed_leaves_the_path_alone() -> None:
    target = find_target("a#b.glb", "Run")
    assert (target.path, target.clip) == (Path("a#b.glb"), "Run")


def test_a_name_that_is_all_hash_is_a_path() -> None:
    assert find_target("#Run", None).path == Path("#Run")


def test_a_folder_with_a_hash_is_no_clip() -> None:
    target = find_target("takes#1/walk.bvh", None)
    assert (target.path, target.clip) == (Path("takes#1/walk.bvh"), None)


def test_a_minus_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        buffer = io.BytesIO(b"HIERARCHY")

    monkeypatch.setattr(sys, "stdin", Fake())
    with opened(find_target("-", None), Limits()) as (head, stream):
        assert head == stream.read() == b"HIERARCHY"


def test_a_stream_is_read_whole() -> None:
    content = b"0123456789" * 1000
    with opened(find_target(io.BytesIO(content), None), Limits()) as (head, stream):
        assert head == content[:4096]
        assert stream.read() == content


def test_a_text_stream_is_refused() -> None:
    target = find_target(io.StringIO("text"), None)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="binary mode"), opened(target, Limits()):
        pass


@pytest.mark.parametrize("wrong", [None, 3, [], b"walk.bvh"])
def test_what_is_no_path_is_refused(wrong: object) -> None:
    with pytest.raises(FormatError, match="named by a path"):
        find_target(wrong, None)  # type: ignore[arg-type]


def test_a_missing_file_a_folder_and_an_empty_file_have_different_errors(tmp_path: Path) -> None:
    empty = tmp_path / "empty.bvh"
    empty.touch()
    for path, text in (
        (tmp_path / "none.bvh", "no such file"),
        (tmp_path, "is a folder"),
        (empty, "is empty"),
    ):
        with (
            pytest.raises(FormatError, match=text) as caught,
            opened(find_target(path, None), Limits()),
        ):
            pass
        assert caught.value.path == str(path)
        assert caught.value.fix


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    secret = tmp_path / "secret.bvh"
    secret.write_text("HIERARCHY")
    secret.chmod(0)
    with (
        pytest.raises(FormatError, match="Permission denied"),
        opened(find_target(secret, None), Limits()),
    ):
        pass


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with (
        pytest.raises(FormatError, match="cannot be read"),
        opened(find_target(name, None), Limits()),
    ):
        pass


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.bvh"
    large.write_bytes(b"HIERARCHY" * 10)
    with (
        pytest.raises(FormatError, match="at most"),
        opened(find_target(large, None), Limits(max_bytes=50)),
    ):
        pass
    with (
        pytest.raises(FormatError, match="at most"),
        opened(find_target(io.BytesIO(b"x" * 51), None), Limits(max_bytes=50)),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_as_a_stream(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(pipe, os.O_WRONLY)
    os.write(writing, b"HIERARCHY")
    with pipe.open("rb") as stream:
        os.close(writing)
        with opened(find_target(stream, None), Limits()) as (head, _):
            assert head == b"HIERARCHY"
    os.close(reading)
