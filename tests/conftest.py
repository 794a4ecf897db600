"""Fixtures for every test: the folder of real clips, and the external validators.

A test whose judge is missing is skipped and prints how to install it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.places import ROOT, find_mocap

# A busy machine takes any time, so no deadline and no check of how fast examples are made; the same
# examples every time, so that a failure here is a failure everywhere; no shrinking, which takes
# minutes where an example takes seconds.
settings.register_profile(
    "motionloom",
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow,),
    derandomize=True,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
settings.load_profile("motionloom")


@pytest.fixture(scope="session")
def mocap() -> Path:
    folder = find_mocap()
    if folder is None:
        pytest.skip("no motion-capture folder: set MOTIONLOOM_MOCAP to one with an INDEX.csv")
    return folder


def load_file(name: str, path: Path) -> ModuleType:
    """A file of the project as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


judges = load_file("judges", ROOT / "tests" / "validators" / "validators.py")


def found(name: str) -> Path:
    """Where an external validator is; a test without it is skipped, or fails if it is required."""
    place = judges.JUDGES[name]()
    if place is None and judges.is_required(name):
        pytest.fail(f"{name} could be installed on this machine but was not found")
    if place is None:
        pytest.skip(f"{name} not found; ./test --judges installs it")
    return Path(place)


@pytest.fixture(scope="session")
def page_lacks() -> Callable[[str], NoReturn]:
    """Skips where the studio's page cannot be built, fails where it could have been."""
    return pytest.fail if judges.page_is_required() else pytest.skip


@pytest.fixture(scope="session")
def blender() -> Path:
    return found("blender")


@pytest.fixture(scope="session")
def gltf_validator() -> Path:
    return found("gltf-validator")


@pytest.fixture(scope="session")
def three() -> Path:
    return found("three")


@pytest.fixture(scope="session")
def ufbx() -> Path:
    return found("ufbx")


@pytest.fixture(scope="session")
def fbx2gltf() -> Path:
    return found("fbx2gltf")


@pytest.fixture(scope="session")
def godot() -> Path:
    return found("godot")


@pytest.fixture(scope="session")
def mono() -> Path:
    return found("mono")


@pytest.fixture(scope="session")
def usd_core() -> Path:
    """A Python that has the package."""
    return found("usd-core")


@pytest.fixture(scope="session")
def mujoco() -> Path:
    """A Python that has the package."""
    return found("mujoco")


@pytest.fixture(scope="session")
def node() -> Path:
    place = judges.find_node()
    if place is None:
        pytest.skip("Node.js not found; it runs the glTF validator")
    return Path(place)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests that need one; each opens separate pages."""
    chromium = found("chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        options = list(judges.BROWSER_OPTIONS)
        made = driver.chromium.launch(executable_path=str(chromium), args=options)
        yield made
        made.close()


@pytest.fixture(scope="session")
def blender_judge(blender: Path) -> ModuleType:
    """What asks Blender where the joints of files are: ``Case``, ``asked``, ``worst_gap_m``."""
    return load_file("blender_judge", ROOT / "tests" / "validators" / "test_blender.py")


@pytest.fixture(scope="session")
def page_sources() -> ModuleType:
    """What builds the studio's page, and checks whether it is built."""
    return load_file("hatch_build", ROOT / "hatch_build.py")


SLOW_FIXTURES = {"browser", "blender", "godot"}
"""Programs that are slow on a busy machine: their tests start first."""


VALIDATORS = {
    *("browser", "blender", "gltf_validator", "three", "ufbx", "fbx2gltf"),
    *("mono", "node", "compile_program", "godot"),
}
"""Fixtures that run another program; ``-m "not judge"`` leaves their tests out."""


def is_slow(item: pytest.Item) -> bool:
    uses = SLOW_FIXTURES & set(getattr(item, "fixturenames", ()))
    return bool(uses) or item.get_closest_marker("slow") is not None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need external validators; run files with slow tests first."""
    for item in items:
        if VALIDATORS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.judge)
    files = {item.path for item in items if is_slow(item)}
    items.sort(key=lambda item: item.path not in files)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Show scripts/watched.py that tests go on."""
    beat = os.environ.get("MOTIONLOOM_TEST_BEAT")
    if beat is not None:
        Path(beat).touch()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    folder = find_mocap()
    real = "used" if folder else "not found, real-data tests skipped (set MOTIONLOOM_MOCAP)"
    terminalreporter.write_line(f"real clips: {real}")
