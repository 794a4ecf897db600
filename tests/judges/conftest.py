"""The judges as fixtures; a test whose judge is missing is skipped and says how to install it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


judges = _load("judges")


def _found(name: str) -> Path:
    place = judges.JUDGES[name]()
    if place is None and judges.is_required(name):
        pytest.fail(f"{name} could be installed on this machine but was not found")
    if place is None:
        pytest.skip(f"{name} not found; ./test --judges installs it")
    return Path(place)


@pytest.fixture(scope="session")
def blender() -> Path:
    return _found("blender")


@pytest.fixture(scope="session")
def gltf_validator() -> Path:
    return _found("gltf-validator")


@pytest.fixture(scope="session")
def node() -> Path:
    return Path(judges.find_node())


@pytest.fixture(scope="session")
def chromium() -> Path:
    return _found("chromium")
