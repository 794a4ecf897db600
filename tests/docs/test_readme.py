"""The README: speeds are those of the last benchmark, and what it installs exists."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURES = json.loads((ROOT / "benchmarks/results/core.json").read_text("utf-8"))["figures"]


def three_digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("load a BVH", "ml.load (BVH, with all detection)"),
        ("read it", "BVH read"),
        ("write it", "BVH write"),
        ("forward kinematics", "forward kinematics"),
    ],
)
def test_a_speed_of_the_readme_is_that_of_the_benchmark(row: str, name: str) -> None:
    line = next(line for line in README.splitlines() if line.startswith(f"| {row}"))
    figure = next(each for each in FIGURES if each["name"] == name and each["baseline"] == "pybvh")
    assert f"| {three_digits(figure['value'])} frames/s |" in line
    assert f"pybvh {three_digits(figure['baseline_value'])}" in line


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{:.2f} ms |", "table transition, 32 recipes re-scored"),
        ("| {:.1f} s |", "6.4 million recipes searched, 2 threads"),
        ("| {:.2f}x |", "ml.load, 500 MB BVH: peak memory over its arrays"),
    ],
)
def test_a_time_of_the_readme_is_that_of_the_benchmark(text: str, name: str) -> None:
    assert text.format(next(each["value"] for each in FIGURES if each["name"] == name)) in README


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
