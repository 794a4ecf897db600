"""Every study can be loaded, and what it switches off in the package is there."""

import importlib
import re
from pathlib import Path

import pytest

STUDIES = Path(__file__).resolve().parents[2] / "studies"
MODULES = sorted(
    ".".join(("studies", *path.relative_to(STUDIES).with_suffix("").parts))
    for path in STUDIES.rglob("*.py")
    if path.name != "__init__.py"
)
PROTOCOL = re.compile(r"\b(?:protocol|study_settings)\(\"(\w+)\"\)")
SWITCHED = re.compile(r"mock\.patch\.object\(\s*(\w+), \"(\w+)\"")


@pytest.mark.parametrize("name", MODULES)
def test_a_study_loads_and_finds_what_it_switches_off(name):
    module = importlib.import_module(name)
    text = Path(str(module.__file__)).read_text()
    for owner, attribute in SWITCHED.findall(text):
        if hasattr(module, owner):
            assert hasattr(getattr(module, owner), attribute), f"{owner}.{attribute}"


@pytest.mark.parametrize("name", MODULES)
def test_protocols_that_a_study_asks_for_are_there(name):
    text = Path(str(importlib.import_module(name).__file__)).read_text()
    missing = [
        each
        for each in PROTOCOL.findall(text)
        if not (STUDIES / f"protocols/{each}.json").is_file()
    ]
    assert missing == []
