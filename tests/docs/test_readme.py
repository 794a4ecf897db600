"""The README and pages: extras and scripts that they name exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_extras_and_scripts_that_pages_name_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = {names for text in texts for names in re.findall(r"pip install '\.\[([^\]]+)\]'", text)}
    extras = {extra for names in named for extra in names.split(",")}
    assert extras and extras <= set(project["optional-dependencies"])
    scripts = {name for text in texts for name in re.findall(r"^\./([\w-]+)", text, re.M)}
    assert scripts and all((ROOT / name).exists() for name in scripts)
    assert not any("pip install motionloom" in text for text in texts)


def test_the_page_on_installing_lists_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    for extra in set(project["optional-dependencies"]) - {"dev", "bench"}:
        assert f"pip install '.[{extra}]'" in page, extra
