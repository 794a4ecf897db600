"""What ./build-wheels finds wrong with a wheel."""

import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheels():
    """The script as a module; the path of modules stays as it was."""
    before, known = list(sys.path), set(sys.modules)
    described = importlib.util.spec_from_file_location(
        "build_wheels", ROOT / "scripts" / "build_wheels.py"
    )
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    yield module
    sys.path[:] = before
    for name in {"build", "hatch_build"} - known:
        sys.modules.pop(name, None)


def library(wheels, name):
    """Bytes that look like a library of a platform which has every function."""
    target = wheels.TARGETS[name]
    content = bytearray(0x200)
    kind = wheels.FORMATS[target.system]
    content[: len(kind)] = kind
    if target.system == "Windows":
        content[0x3C] = 0x80
        content[0x84:0x86] = b"\x64\x86"
    else:
        at, machine = wheels.MACHINES[kind, target.machine]
        content[at : at + len(machine)] = machine
    text = (
        wheels.HEADER.read_text()
        + wheels.KERNELS.read_text()
        + wheels.KERNELS.read_text()
        + wheels.KERNELS.read_text()
        + wheels.KERNELS.read_text()
    )
    functions = [line.split("(")[0].split()[-1] for line in text.splitlines() if "ML_API" in line]
    names = [name.lstrip("*") for name in functions if "ml_" in name]
    assert len(names) > 100
    return bytes(content) + b"".join(b"\0" + each.encode() + b"\0" for each in names)


def wheel(wheels, folder, name, change=None):
    """A wheel of a platform; ``change`` may corrupt its files."""
    target = wheels.TARGETS[name]
    files = dict.fromkeys(wheels.NEEDED, b"text")
    files["motionloom-1.dist-info/WHEEL"] = f"Tag: py3-none-{target.tag}\n".encode()
    for each in wheels.library_names(target):
        files[f"motionloom/_lib/{each}"] = library(wheels, name)
    if change is not None:
        change(files)
    path = folder / f"motionloom-1-py3-none-{target.tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in files.items():
            archive.writestr(each, content)
    return path, target


PLATFORMS = ["linux-x86_64", "linux-aarch64", "macos-arm64", "macos-x86_64", "windows-x86_64"]


def test_all_platforms_are_known(wheels):
    assert list(wheels.TARGETS) == PLATFORMS


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_good_wheel_has_no_faults(wheels, tmp_path, name):
    path, target = wheel(wheels, tmp_path, name)
    assert wheels.check(path, target) == []
    assert all(each in wheels.contents(path) for each in wheels.library_names(target))


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("other", PLATFORMS)
def test_a_library_of_another_platform_is_found(wheels, name, other):
    target = wheels.TARGETS[name]
    same = wheels.TARGETS[other][:2] == target[:2]
    assert (wheels.check_library("x", library(wheels, other), target) == []) is same


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("is missing", lambda files: files.pop("motionloom/_lib/motionloom.h")),
        ("is missing", lambda files: files.pop("motionloom/studio/static/index.html")),
        ("its libraries must be", lambda files: files.pop("motionloom/_lib/libmotionloom.so")),
        ("its libraries must be", lambda f: f.update({"motionloom/_lib/motionloom.dll": b"MZ"})),
        ("does not belong", lambda f: f.update({"motionloom/studio/client/a.ts": b""})),
        ("does not belong", lambda f: f.update({"motionloom/__pycache__/a.pyc": b""})),
        ("does not belong", lambda f: f.update({"tests/a.py": b""})),
        ("its tag", lambda f: f.update({"motionloom-1.dist-info/WHEEL": b"Tag: py3-none-any"})),
        ("at most 12 MB", lambda f: f.update({"motionloom/a.bin": bytes(13_000_000)})),
    ],
)
def test_what_is_wrong_is_reported(wheels, tmp_path, fault, change):
    path, target = wheel(wheels, tmp_path, "linux-aarch64", change)
    assert any(fault in each for each in wheels.check(path, target))


def test_a_function_that_is_missing_and_a_newer_glibc_are_found(wheels):
    target = wheels.TARGETS["linux-x86_64"]
    whole = library(wheels, "linux-x86_64")
    lacking = whole.replace(b"\0ml_stream_step\0", b"\0")
    assert wheels.check_library("x", lacking, target) == ["x lacks ml_stream_step"]
    assert wheels.check_library("x", whole + b"GLIBC_2.17\0GLIBC_2.2.5\0", target) == []
    assert wheels.check_library("x", whole + b"GLIBC_2.29\0", target) == ["x needs glibc 2.29"]
