"""Wheels for every platform, each with a library that zig compiles for it, and checked."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "core"))

from build import TARGETS, Target, library_names  # noqa: E402  (core/build.py)

ELF, MACH_O, PE = b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ"
MACHINES = {
    (ELF, "x86_64"): (18, b"\x3e\x00"),
    (ELF, "arm64"): (18, b"\xb7\x00"),
    (MACH_O, "x86_64"): (4, b"\x07\x00\x00\x01"),
    (MACH_O, "arm64"): (4, b"\x0c\x00\x00\x01"),
}
"""Where a library of a format names its processor, and how."""
FORMATS = {"Linux": ELF, "Darwin": MACH_O, "Windows": PE}
SIZE_MB = 12.0
"""A wheel that is larger has something in it that does not belong there."""


def main(folder: Path, names: list[str]) -> None:
    """Build the wheels of some platforms into a folder."""
    for name in names:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT,
            env={**os.environ, "MOTIONLOOM_WHEEL_FOR": name},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (wheel,) = folder.glob(f"motionloom-*-py3-none-{TARGETS[name].tag}.whl")
        faults = check(wheel, TARGETS[name])
        if faults:
            raise SystemExit(f"{wheel.name}: " + "; ".join(faults))
        print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.2f} MB")
    subprocess.run([sys.executable, "core/build.py"], cwd=ROOT, check=True)  # this machine's again


def check(wheel: Path, target: Target) -> list[str]:
    """What is wrong with a wheel, in words."""
    faults = []
    if wheel.stat().st_size > 1e6 * SIZE_MB:
        faults.append(f"it must have at most {SIZE_MB:g} MB")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        tags = next(n for n in inside if n.endswith(".dist-info/WHEEL"))
        if f"Tag: py3-none-{target.tag}" not in archive.read(tags).decode():
            faults.append(f"its tag must be py3-none-{target.tag}")
        wanted = {f"motionloom/_lib/{name}" for name in library_names(target)}
        have = {n for n in inside if Path(n).suffix in (".so", ".dylib", ".dll", ".pdb", ".lib")}
        if have != wanted:
            faults.append(f"its libraries must be {sorted(wanted)}, got {sorted(have)}")
        parts = {
            "motionloom/_lib/motionloom.h",
            "motionloom/_web/motionloom.wasm",
            "motionloom/studio/static/index.html",
            "motionloom/studio/static/motionloom.mjs",
            "motionloom/studio/static/play.js",
        }
        faults += [f"{part} is missing" for part in sorted(parts - inside)]
        for name in wanted & have:
            faults += check_library(name, archive.read(name), target)
    return faults


def check_library(name: str, content: bytes, target: Target) -> list[str]:
    """What is wrong with a library, in words."""
    if not content.startswith(FORMATS[target.system]):
        return [f"{name} is no library of {target.system}"]
    place = MACHINES.get((FORMATS[target.system], target.machine))
    if place is None:  # Windows: the processor is named after the old header
        at = int.from_bytes(content[0x3C:0x40], "little") + 4
        place = (at, b"\x64\x86")
    if content[place[0] : place[0] + len(place[1])] != place[1]:
        return [f"{name} is not for {target.machine}"]
    return []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="./build-wheels", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("platforms", nargs="*", choices=[*TARGETS, []])
    given = parser.parse_args()
    main(given.folder.resolve(), given.platforms or list(TARGETS))
