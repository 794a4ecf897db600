"""Compiles the C core into a shared library: python core/build.py [FOLDER].

The compiler is the one that ``CC`` names, else cc, gcc or clang, else that of the PyPI package
``ziglang``, which also compiles for other platforms. The same sources give the same bits of every
result on every platform: products and sums are not contracted, and nothing is reordered.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

CORE = Path(__file__).resolve().parent
HEADER = CORE / "include" / "motionloom.h"
"""What games call."""
KERNELS = CORE / "src" / "kernels.h"
"""What Python calls; it goes next to the library with the header of games."""
MARK = "built-from"
"""File next to the library that holds the digest of what it was built from, and the platform."""
FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",  # no code reads floating-point exception flags; results do not change
    "-fvisibility=hidden",
)
AVX2 = ("-mavx2",)
"""For the second library on x86-64, taken where the processor has it; without fused products."""


class Target(NamedTuple):
    """A platform that a library is built for."""

    system: str
    machine: str
    tag: str
    """Of its wheels."""
    triple: str = ""
    """Its name for zig; empty for this machine."""


TARGETS = {
    "linux-x86_64": Target("Linux", "x86_64", "manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17"),
    "linux-aarch64": Target("Linux", "arm64", "manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17"),
    "macos-arm64": Target("Darwin", "arm64", "macosx_11_0_arm64", "aarch64-macos.11.0"),
    "macos-x86_64": Target("Darwin", "x86_64", "macosx_11_0_x86_64", "x86_64-macos.11.0"),
    "windows-x86_64": Target("Windows", "x86_64", "win_amd64", "x86_64-windows-gnu"),
}
"""Platforms that wheels are made for."""


def this_machine() -> Target:
    """The platform that this runs on."""
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower())
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return Target(platform.system(), machine or platform.machine().lower(), tag)


def sources() -> list[Path]:
    """Every C file, in order."""
    return sorted((CORE / "src").rglob("*.c"))


def files() -> list[Path]:
    """Every C file and every header, in order."""
    return sorted([*(CORE / "include").rglob("*.h"), *(CORE / "src").rglob("*.[ch]")])


def has_compiler() -> bool:
    """Whether the machine has a compiler."""
    return bool(os.environ.get("CC")) or any(map(shutil.which, ("cc", "gcc", "clang")))


def compiler(target: Target) -> list[str]:
    """The command that compiles for a platform."""
    zig = [sys.executable, "-m", "ziglang", "cc"]
    if target.triple:
        return [*zig, "-target", target.triple]
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang"):
        return zig
    raise RuntimeError(
        "The C core needs a compiler: install one (cc, gcc, clang), name it in the environment "
        "variable CC, or install the Python package ziglang."
    )


def library_names(target: Target) -> dict[str, tuple[str, ...]]:
    """File names of the libraries for a platform, with the flags of each."""
    form = {"Windows": "{}.dll", "Darwin": "lib{}.dylib"}.get(target.system, "lib{}.so")
    names: dict[str, tuple[str, ...]] = {form.format("motionloom"): ()}
    if target.machine == "x86_64":
        names[form.format("motionloom-avx2")] = AVX2
    return names


def digest(target: Target) -> str:
    """Digest of every file that the library is made from, and the platform it is for."""
    found = hashlib.sha256()
    for path in [Path(__file__), *files()]:
        text = path.read_bytes().replace(b"\r\n", b"\n")
        found.update(path.name.encode() + b"\0" + text + b"\0")
    return f"{found.hexdigest()} {target.system} {target.machine}"


def is_built(folder: Path, target: Target) -> bool:
    """Whether the libraries in a folder are of the sources as they are."""
    mark = folder / MARK
    there = mark.is_file() and all((folder / name).is_file() for name in library_names(target))
    return there and mark.read_text() == digest(target)


def build(folder: Path, target: Target | None = None) -> None:
    """Compile into a folder, with the header, unless what is there is of the same sources."""
    target = target or this_machine()
    if is_built(folder, target):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*motionloom*"):
        path.unlink()  # of another platform, or of older sources
    for name, flags in library_names(target).items():
        compile_library(folder / name, [*compiler(target), *flags])
    for header in (HEADER, KERNELS):
        shutil.copyfile(header, folder / header.name)
    (folder / MARK).write_text(digest(target))


def compile_library(path: Path, command: list[str]) -> None:
    """Compile all sources with a command into a library, which is whole or not there."""
    options = [*FLAGS, *([] if path.suffix == ".dll" else ["-fPIC"])]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as threads:

        def compiled(source: Path) -> str:
            made = str(Path(folder) / f"{source.stem}.o")
            _run([*command, *options, "-c", str(source), "-o", made])
            return made

        objects = list(threads.map(compiled, sources()))
        linked = Path(folder) / path.name  # apart: linkers for Windows leave more next to it
        _run([*command, "-shared", "-s", *objects, "-o", str(linked), "-lm"])
        made = path.with_name(f".{os.getpid()}-{path.name}")
        try:
            shutil.copy(linked, made)
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        raise RuntimeError(f"The C core could not be compiled with {' '.join(command)}.")


if __name__ == "__main__":
    default = CORE.parent / "src" / "motionloom" / "_lib"
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
