"""docs/runtime.md: its C compiles, its axes are right, its figures are those of the benchmark."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from motionloom.rotation import quat
from tests.runtimes.conftest import ROOT

DOCS = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")
LINES = {
    "file": "| file | {:.1f} MB",
    "open a file": "| open the file, with all checks | {:.0f} ms",
    "transition": "| transition between two frames, 32 recipes scored | {:.2f} ms",
    "frame of a character": "| step | {:.4f} ms",
    "frame in which it follows an order": "| step that follows an order | {:.2f} ms",
    "the same in the middle of a transition": "| the same in the middle of a transition | {:.2f}",
    "frame, with an order every half second": "| step, with an order every half second | {:.3f}",
}
"""What the documentation has of each figure."""
PARTS = {"x": 0, "y": 1, "z": 2}


def formula(engine: str, column: int) -> str:
    row = next(line for line in DOCS.splitlines() if line.startswith(f"| {engine}"))
    return row.split("|")[1 + column].strip().strip("`")


def placed(text: str, v: np.ndarray) -> np.ndarray:
    """A vector by a formula as ``100 * (z, -x, y)``."""
    scale = float(text.split("*")[0]) if "*" in text else 1.0
    names = [name.strip() for name in text[text.index("(") + 1 : -1].split(",")]
    signs = [-1.0 if name.startswith("-") else 1.0 for name in names]
    parts = [v[PARTS[name.lstrip("-")]] for name in names if name != "w"]
    return scale * np.array([sign * part for sign, part in zip(signs, parts, strict=False)])


@pytest.mark.parametrize("engine", ["Unity", "Unreal", "Godot"])
def test_a_turned_vector_is_the_same_in_the_axes_of_an_engine(engine: str) -> None:
    """Their quaternions turn vectors by the same products, whichever hand their axes are."""
    rng = np.random.Generator(np.random.PCG64(8))
    to, turn = formula(engine, 1), formula(engine, 2)
    for _ in range(20):
        q, v = rng.normal(size=4), rng.normal(size=3)
        q /= np.linalg.norm(q)
        theirs = np.array([q[0], *placed(turn, q[1:])])
        turned = quat.rotate(theirs, placed(to, v))
        np.testing.assert_allclose(turned, placed(to, quat.rotate(q, v)), atol=1e-9)


@pytest.mark.parametrize(
    ("engine", "up", "forward", "left", "right_handed"),
    [
        ("Unity", [0, 1, 0], [0, 0, 1], [-1, 0, 0], False),
        ("Unreal", [0, 0, 100], [100, 0, 0], [0, -100, 0], False),
        ("Godot", [0, 1, 0], [0, 0, 1], [1, 0, 0], True),
    ],
)
def test_up_and_forward_are_those_of_the_engine(engine, up, forward, left, right_handed) -> None:
    to = formula(engine, 1)
    axes = [placed(to, axis) for axis in np.eye(3)]
    np.testing.assert_allclose(axes, [left, up, forward], atol=0)
    assert (np.linalg.det(axes) > 0) == right_handed


@pytest.mark.slow
def test_the_code_in_c_compiles(compile_program, tmp_path) -> None:
    (code,) = re.findall(r"```c\n(.*?)```", DOCS, re.DOTALL)
    source = tmp_path / "docs.c"
    source.write_text(f"{code}\nint main(void) {{ return 0; }}\n")
    compile_program(source)


def test_figures_are_those_of_the_benchmark() -> None:
    path = ROOT / "benchmarks" / "results" / "runtime.json"
    found = {each["name"]: each["value"] for each in json.loads(path.read_text())["figures"]}
    for name, line in LINES.items():
        assert line.format(found[name]) in DOCS, name
