"""The map in CONTRIBUTING.md is true, and the version is the same everywhere."""

import json
import re
from pathlib import Path

import pytest

import motionloom

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(
    {p for p in re.findall(r"`([\w./-]+)`", TEXT) if p.startswith(("src/", "core/", "tests/"))}
)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_named_exists(path):
    assert (ROOT / path).exists()


def test_the_map_lists_every_package():
    package = ROOT / "src" / "motionloom"
    tree = TEXT[TEXT.index("src/motionloom/\n") : TEXT.index("runtimes/ ")]
    for folder in package.iterdir():
        if (folder / "__init__.py").exists():
            assert f"{folder.name}/" in tree, folder.name


def test_the_version_is_the_same_everywhere():
    header = (ROOT / "core" / "include" / "motionloom.h").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    client = ROOT / "src" / "motionloom" / "studio" / "client" / "package.json"
    versions = {
        motionloom.__version__,
        re.search(r'#define ML_VERSION "(.*)"', header).group(1),
        re.search(r"^version: (.*)$", citation, re.MULTILINE).group(1),
        json.loads(client.read_text(encoding="utf-8"))["version"],
    }
    assert versions == {motionloom.__version__}
