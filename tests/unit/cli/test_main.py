"""The command itself: quick to start, one line for every failure, codes as promised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import motionloom
from motionloom.cli import check_command as check
from motionloom.cli import info_command as info

SLOW_MODULES = ("numpy", "scipy", "matplotlib", "PIL", "rich", "motionloom.intake")


def test_starting_the_command_imports_nothing_slow() -> None:
    code = (
        "import sys; import motionloom.cli.main; "
        f"print([name for name in {SLOW_MODULES!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_help_names_every_command(run) -> None:
    done = run("--help")
    assert done.code == 0
    for name in ("demo", "info", "convert", "check", "render"):
        assert name in done.out


@pytest.mark.parametrize("command", ["demo", "info", "convert", "check", "render"])
def test_every_command_has_help(run, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert "Usage: motionloom " + command in done.out


def test_the_version_is_the_packages(run) -> None:
    assert run("--version").out == f"motionloom {motionloom.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["info"], ["render", "x.bvh"], ["info", "--what"]]
)
def test_wrong_usage_exits_with_2(run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err


def test_an_error_is_one_line_that_names_the_file(run, tmp_path: Path) -> None:
    done = run("convert", tmp_path / "none.bvh", tmp_path / "out.glb")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "none.bvh" in done.err
    assert "Traceback" not in done.err


def test_a_stop_by_the_user_exits_with_130(run, walk_bvh: Path, monkeypatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(info, "load_clip", stopped)
    assert run("info", walk_bvh).code == 130


def test_a_reader_that_goes_away_is_no_error(walk_bvh: Path) -> None:
    command = f"'{sys.executable}' -m motionloom info '{walk_bvh}' --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "{"
    assert done.stderr == ""


def test_a_folder_that_may_not_be_read_is_reported_in_one_line(
    run, walk_bvh: Path, monkeypatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(walk_bvh))

    monkeypatch.setattr(check, "find_clips", refused)
    done = run("check", walk_bvh)
    assert done.code == 2
    assert done.err == f"motionloom: {walk_bvh}: Permission denied.\n"
