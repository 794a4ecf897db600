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
import tempfile
from pathlib import Path

CORE = Path(__file__).resolve().parent
HEADER = CORE / "motionloom.h"
MARK = "built-from"
"""File next to the library that holds the digest of what it was built from, and the machine."""
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden")
AVX2 = ("-mavx2",)
"""For the second library on x86-64, taken where the processor has it; without fused products."""


def sources() -> list[Path]:
    """Every C file, in order."""
    return sorted((CORE / "src").glob("*.c"))


def has_compiler() -> bool:
    """Whether the machine has a compiler of its own."""
    return bool(os.environ.get("CC")) or any(map(shutil.which, ("cc", "gcc", "clang")))


def compiler() -> list[str]:
    """The command that compiles."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise RuntimeError(
        "The C core needs a compiler: install one (cc, gcc, clang), name it in the environment "
        "variable CC, or install the Python package ziglang."
    )


def library_name(variant: str = "", system: str = "") -> str:
    """File name of the library on a system (this one by default)."""
    system = system or platform.system()
    stem = f"motionloom-{variant}" if variant else "motionloom"
    return {"Windows": f"{stem}.dll", "Darwin": f"lib{stem}.dylib"}.get(system, f"lib{stem}.so")


def digest() -> str:
    """Of every file that the library is made from; and the machine it is for."""
    found = hashlib.sha256()
    for path in [HEADER, Path(__file__), *sorted((CORE / "src").iterdir())]:
        text = path.read_bytes().replace(b"\r\n", b"\n")
        found.update(path.name.encode() + b"\0" + text + b"\0")
    return f"{found.hexdigest()} {platform.system()} {platform.machine()}"


def is_built(folder: Path) -> bool:
    """Whether the library in a folder is of the sources as they are."""
    mark = folder / MARK
    there = mark.is_file() and (folder / library_name()).is_file()
    return there and mark.read_text() == digest()


def build(folder: Path) -> None:
    """Compile into a folder, with the header, unless what is there is of the same sources."""
    if is_built(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    variants = {"": ()}
    if platform.machine().lower() in ("x86_64", "amd64"):
        variants["avx2"] = AVX2
    for variant, flags in variants.items():
        compile_library(folder / library_name(variant), [*compiler(), *flags])
    shutil.copyfile(HEADER, folder / HEADER.name)
    (folder / MARK).write_text(digest())


def compile_library(target: Path, command: list[str]) -> None:
    """Compile all sources with a command into a library, which is whole or not there."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        options = [*FLAGS, "-shared"]
        if not target.name.endswith(".dll"):
            options.append("-fPIC")
        done = subprocess.run(
            [*command, *options, *map(str, sources()), "-o", str(made), "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.stderr.write(done.stderr[-4000:])
            raise RuntimeError(f"The C core could not be compiled with {' '.join(command)}.")
        made.replace(target)


if __name__ == "__main__":
    default = CORE.parent / "src" / "motionloom" / "_lib"
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
