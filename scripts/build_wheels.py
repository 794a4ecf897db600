"""Wheels for every platform, each with a library that zig compiles for it, and checked.

The working tree stays as it is: wheels are built in a copy of what goes into them. That of this
machine is installed into a new environment, without a compiler or Node, and makes a transition.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "core")]

from build import HEADER, KERNELS, TARGETS, Target, library_names, this_machine  # noqa: E402  (core)
from hatch_build import FOR, build_page  # noqa: E402

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
BUILT_FROM = ("src", "core", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE")
"""What goes into a wheel, or is read while it is built."""
LIBRARIES = (".so", ".dylib", ".dll", ".pdb", ".lib")
NEEDED = (
    "motionloom/__init__.py",
    "motionloom/py.typed",
    "motionloom/_lib/motionloom.h",
    "motionloom/_lib/kernels.h",
    "motionloom/_lib/built-from",
    "motionloom/studio/static/index.html",
    "motionloom/studio/static/player.js",
    "motionloom/studio/static/play.js",
    "motionloom/studio/static/motionloom.mjs",
    "motionloom/_web/motionloom.wasm",
)
USE = """
import motionloom as ml
for kind in ("walk", "jog"):
    ml.save(ml.synthetic.clip(kind).motion, f"{kind}.bvh")
"""


def main(folder: Path, names: list[str], *, install: bool) -> None:
    """Build the wheels of some platforms into a folder."""
    build_page(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="motionloom_wheels_") as place:
        copy = copy_of_sources(Path(place))
        for name in names:
            wheel = build(copy, folder, name)
            faults = check(wheel, TARGETS[name])
            if faults:
                raise SystemExit(f"{wheel.name}: " + "; ".join(faults))
            print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.2f} MB, {contents(wheel)}")
            here = this_machine()
            if install and (TARGETS[name].system, TARGETS[name].machine) == here[:2]:
                try_out(wheel)
                print(f"{wheel.name}  installed and used")


def copy_of_sources(place: Path) -> Path:
    """What wheels are built from, apart from the working tree."""
    copy = place / "sources"
    copy.mkdir()
    unwanted = shutil.ignore_patterns("__pycache__", "node_modules", "_lib")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=unwanted)
        else:
            shutil.copyfile(ROOT / name, copy / name)
    return copy


def build(copy: Path, folder: Path, name: str) -> Path:
    """The wheel of a platform."""
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    run([sys.executable, *words], copy, {**os.environ, FOR: name})
    (wheel,) = folder.glob(f"motionloom-*-py3-none-{TARGETS[name].tag}.whl")
    return wheel


def contents(wheel: Path) -> str:
    """How many files of each kind, and the libraries with their sizes."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(PurePosixPath(each.filename), each.file_size) for each in archive.infolist()]
    kinds = Counter(path.suffix or path.name for path, _ in files if path.suffix not in LIBRARIES)
    libraries = [f"{p.name} {n / 1e3:.0f} kB" for p, n in files if p.suffix in LIBRARIES]
    return ", ".join(libraries + [f"{n} {kind}" for kind, n in kinds.most_common()])


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
        have = {n for n in inside if Path(n).suffix in LIBRARIES}
        if have != wanted:
            faults.append(f"its libraries must be {sorted(wanted)}, got {sorted(have)}")
        faults += [f"{part} is missing" for part in sorted(set(NEEDED) - inside)]
        faults += [f"{n} does not belong there" for n in sorted(inside) if is_foreign(n)]
        for name in sorted(wanted & have):
            faults += check_library(name, archive.read(name), target)
    return faults


def is_foreign(name: str) -> bool:
    """Whether a file is no part of the package: sources of the page, caches, tests."""
    path = PurePosixPath(name)
    top = path.parts[0]
    if top != "motionloom":
        return not top.endswith(".dist-info")
    unwanted = {"client", "node_modules", "__pycache__", "tests"}
    return bool(unwanted & set(path.parts)) or path.suffix in (".pyc", ".c", ".o", ".map", ".ts")


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
    headers = HEADER.read_text() + KERNELS.read_text()
    declared = re.findall(r"^ML_API [^(]*?(ml_\w+)\(", headers, re.MULTILINE)
    missing = [each for each in declared if each.encode() + b"\0" not in content]
    faults = [f"{name} lacks {', '.join(missing[:5])}"] if missing else []
    for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content):
        if (int(major), int(minor)) > (2, 17):
            faults.append(f"{name} needs glibc {major.decode()}.{minor.decode()}")
    return faults


def try_out(wheel: Path) -> None:
    """Install the wheel without extras into a new environment, and make a transition with it."""
    with tempfile.TemporaryDirectory(prefix="motionloom_wheel_") as name:
        place = Path(name)
        home = place / "env"
        venv.create(home, with_pip=True)
        bin_ = home / ("Scripts" if os.name == "nt" else "bin")
        hidden = {"PYTHONPATH", "VIRTUAL_ENV", "CC"}
        env = {key: value for key, value in os.environ.items() if key not in hidden}
        pip = [bin_ / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, wheel], place, env)
        env["PATH"] = str(bin_)  # no compiler, no Node
        run([bin_ / "python", "-c", USE], place, env)
        joined = place / "joined.glb"
        run([bin_ / "motionloom", "transition", "walk.bvh", "jog.bvh", "-o", joined], place, env)
        if not joined.stat().st_size:
            raise SystemExit(f"{wheel.name}: the transition is empty")
        drawn = [bin_ / "motionloom", "render", "walk.bvh", "-o", "walk.png"]
        refused = run(drawn, place, env, code=2)
        if "motionloom[pictures]" not in refused:
            raise SystemExit(f"{wheel.name}: the error must name the extra, got {refused!r}")


def run(command: list[object], folder: Path, env: dict[str, str], *, code: int = 0) -> str:
    """What a command prints on standard error; it must end with ``code``."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder, env=env, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != code:
        raise SystemExit(f"{command} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stderr


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="./build-wheels", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("platforms", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--no-install", action="store_true", help="do not try this machine's out")
    given = parser.parse_args()
    main(given.folder.resolve(), given.platforms or list(TARGETS), install=not given.no_install)
