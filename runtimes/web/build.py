"""Compiles the C core for browsers and Node, as WebAssembly: python runtimes/web/build.py [FOLDER].

The compiler is that of the PyPI package ``ziglang``. The module exports every function of
``motionloom.h``, asks nothing of its host and allocates nothing; ``motionloom.ts`` is the wrapper
around it. Its results have the same bits as those of the library on every other platform.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
HEADER = CORE / "include" / "motionloom.h"
NAME = "motionloom.wasm"
MARK = "built-from"
"""File next to the module that holds the digest of what it was built from."""
FLAGS = (
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c11", "-O2", "-msimd128",
    "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden",
    "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576",
)  # fmt: skip
"""As in core/build.py. The stack lies below all else: one that overflows stops the module."""


def has_compiler() -> bool:
    """Whether ``ziglang`` is here."""
    return importlib.util.find_spec("ziglang") is not None


def exported() -> list[str]:
    """Names that the module exports."""
    text = HEADER.read_text(encoding="utf-8")
    return [*re.findall(r"^ML_API [^(]*?\b(ml_\w+)\(", text, re.MULTILINE), "__heap_base"]


def digest() -> str:
    """Digest of every file that the module is made from."""
    found = hashlib.sha256()
    for path in [HEADER, Path(__file__), *sorted((CORE / "src").rglob("*.[ch]"))]:
        text = path.read_bytes().replace(b"\r\n", b"\n")
        found.update(path.name.encode() + b"\0" + text + b"\0")
    return found.hexdigest()


def is_built(folder: Path) -> bool:
    """Whether the module in a folder is of the sources as they are."""
    mark = folder / MARK
    return (folder / NAME).is_file() and mark.is_file() and mark.read_text() == digest()


def build(folder: Path) -> None:
    """Compile into a folder, unless what is there is of the same sources."""
    if is_built(folder):
        return
    if not has_compiler():
        raise RuntimeError("The core for browsers needs the Python package ziglang to be compiled.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        # All sources at once: that takes seconds, and a minute one by one.
        whole, made = Path(place) / "whole.c", Path(place) / NAME
        sources = sorted((CORE / "src").rglob("*.c"))
        whole.write_text("".join(f'#include "{path.as_posix()}"\n' for path in sources))
        exports = [f"-Wl,--export={name}" for name in exported()]
        _run([sys.executable, "-m", "ziglang", "cc", *FLAGS, *exports, str(whole), "-o", str(made)])
        (folder / NAME).write_bytes(made.read_bytes())
    (folder / MARK).write_text(digest())


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        raise RuntimeError("The core could not be compiled for browsers.")


if __name__ == "__main__":
    default = ROOT / "src" / "motionloom" / "_web"
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
