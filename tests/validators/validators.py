"""Which external validators are on this machine: Blender, the glTF validator, three.js, ufbx,
FBX2glTF, usd-core, mujoco, a browser, mono, Godot.

``python tests/validators/validators.py`` prints one line for each: its name, and where it is or
that it is missing. ``tests/validators/install.sh`` installs them.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".judges"
"""Where judges go that no package tool of the system has."""
BROWSER_OPTIONS = (
    "--no-sandbox",
    # WebGL in software, for machines without a graphics card; the rest of the page is not drawn
    # through it, which takes half a second a frame.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--webgl-antialias-mode=none",  # every shader compiles in three quarters of the time
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find_blender() -> Path | None:
    """Blender's command: ``MOTIONLOOM_BLENDER``, else the one on the path."""
    return _command("MOTIONLOOM_BLENDER", "blender")


def find_chromium() -> Path | None:
    """A browser without a window: ``MOTIONLOOM_CHROMIUM``, else one on the path."""
    return _command("MOTIONLOOM_CHROMIUM", "chromium", "chromium-browser", "google-chrome")


def find_node() -> Path | None:
    """Node, which runs the glTF validator: ``MOTIONLOOM_NODE``, else the one on the path."""
    return _command("MOTIONLOOM_NODE", "node", "nodejs")


def find_gltf_validator() -> Path | None:
    """The folder of the npm package: ``MOTIONLOOM_GLTF_VALIDATOR``, else the one in .judges."""
    given = os.environ.get("MOTIONLOOM_GLTF_VALIDATOR")
    folder = Path(given) if given else FOLDER / "node_modules" / "gltf-validator"
    return folder if (folder / "package.json").is_file() and find_node() else None


def find_three() -> Path | None:
    """The folder of three.js: ``MOTIONLOOM_THREE``, else the one in .judges."""
    stated = os.environ.get("MOTIONLOOM_THREE")
    folder = Path(stated) if stated else FOLDER / "node_modules" / "three"
    loader = folder / "examples" / "jsm" / "loaders" / "FBXLoader.js"
    return folder if loader.is_file() and find_node() else None


def find_ufbx() -> Path | None:
    """A Python that has the ufbx package: ``MOTIONLOOM_UFBX``, else the one in .judges."""
    stated = os.environ.get("MOTIONLOOM_UFBX")
    program = Path(stated) if stated else FOLDER / "ufbx" / "bin" / "python"
    return program if program.is_file() else None


def find_fbx2gltf() -> Path | None:
    """FBX2glTF, which reads with Autodesk's own SDK: ``MOTIONLOOM_FBX2GLTF``, else .judges."""
    stated = os.environ.get("MOTIONLOOM_FBX2GLTF")
    inside = FOLDER / "node_modules" / "fbx2gltf" / "bin" / "Linux" / "FBX2glTF"
    program = Path(stated) if stated else inside
    is_here = sys.platform == "linux" and platform.machine() == "x86_64"
    return program if is_here and program.is_file() else None


def find_mono() -> Path | None:
    """Mono, which runs programs in C#, with its compiler mcs: ``MOTIONLOOM_MONO``, else mono."""
    found = _command("MOTIONLOOM_MONO", "mono")
    return found if found and found.with_name("mcs").is_file() else None


def find_godot() -> Path | None:
    """Godot 4: ``MOTIONLOOM_GODOT``, else the one on the path, else that of .judges."""
    inside = FOLDER / "godot" / "godot"
    found = _command("MOTIONLOOM_GODOT", "godot", "godot4")
    return found or (inside if inside.is_file() else None)


def find_usd() -> Path | None:
    """A Python with usd-core and mujoco: ``MOTIONLOOM_PACKAGES_PYTHON``, else that of .judges."""
    return _python_with("pxr")


def find_mujoco() -> Path | None:
    """A Python with mujoco, as of :func:`find_usd`."""
    return _python_with("mujoco")


def _python_with(package: str) -> Path | None:
    stated = os.environ.get("MOTIONLOOM_PACKAGES_PYTHON")
    python = Path(stated) if stated else FOLDER / "packages" / "bin" / "python"
    found = python.is_file() and any(
        (folder / package).is_dir()
        for folder in python.parent.parent.glob("lib/python3*/site-packages")
    )
    return python if found else None


JUDGES = {
    "blender": find_blender,
    "gltf-validator": find_gltf_validator,
    "three": find_three,
    "ufbx": find_ufbx,
    "fbx2gltf": find_fbx2gltf,
    "chromium": find_chromium,
    "mono": find_mono,
    "godot": find_godot,
    "usd-core": find_usd,
    "mujoco": find_mujoco,
}


def is_required(name: str) -> bool:
    """Whether a missing judge is a fault: asked for, and not named as one that cannot be had."""
    if not os.environ.get("MOTIONLOOM_REQUIRE_JUDGES"):
        return False
    named = FOLDER / "unavailable"
    return name not in (named.read_text().split() if named.is_file() else ())


def page_is_required() -> bool:
    """Whether a page that is not built is a fault: a browser is wanted, and Node is here."""
    return is_required("chromium") and find_node() is not None


def _command(variable: str, *names: str) -> Path | None:
    given = os.environ.get(variable)
    for name in (given,) if given else names:
        found = shutil.which(name)
        if found:
            return Path(found)
    return None


def main() -> int:
    """Print every judge; 1 where one is missing."""
    found = {name: find() for name, find in JUDGES.items()}
    for name, place in found.items():
        sys.stdout.write(f"{name}: {place or 'missing'}\n")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
