"""The types of kernels are those of the core's headers, and mypy uses them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def stubs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "scripts" / "kernel_stubs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_kernels_are_those_of_the_headers(stubs: ModuleType) -> None:
    written = (ROOT / "src" / "motionloom" / "_kernels.pyi").read_text(encoding="utf-8")
    assert written == stubs.generate(), "run python scripts/kernel_stubs.py"


def test_every_kernel_has_types_or_is_named_as_one_that_mypy_cannot_count(
    stubs: ModuleType,
) -> None:
    text, functions = stubs.generate(), stubs._core.functions()
    assert set(stubs.LOOSE) <= set(functions)
    for name in functions:
        assert (f'Literal["{name}"]' in text) is (name not in stubs.LOOSE), name


CALLS = {
    "_multiply(5, a, a, a)": "",
    "_multiply(a, a, a)": "Missing positional argument",
    "_multiply(5, a, a, a, 1)": "Too many arguments",
    "_multiply(5, a, 1.0, a)": 'Argument 3 to "__call__" of "_QuaternionMultiply"',
    "_multiply(5, a, b, a)": 'Argument 3 to "__call__" of "_QuaternionMultiply"',
    "_version() + 1": "Unsupported operand types",
    "_ask(a, None, None, None, b)": 'Argument 1 to "__call__" of "_NeighbourAsk"',
    "_ask(record, None, None, None, b)": "",
}
HEAD = """
import numpy as np
from motionloom._core import blank, kernel
_multiply, _version = kernel("ml_quaternion_multiply"), kernel("ml_version")
_ask = kernel("ml_neighbour_ask")
a, b, record = np.zeros((5, 4)), np.zeros(9, dtype=np.float32), blank("ml_window_index")
"""


@pytest.mark.slow
def test_a_wrong_call_of_a_kernel_is_an_error_of_mypy(tmp_path: Path) -> None:
    module = tmp_path / "calls.py"
    module.write_text(HEAD + "\n".join(CALLS), encoding="utf-8")
    first = len(HEAD.splitlines()) + 1
    done = subprocess.run(
        [sys.executable, "-m", "mypy", str(module)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = {int(line.split(":")[1]): line for line in lines}
    for number, (call, error) in enumerate(CALLS.items(), start=first):
        assert error in found.get(number, ""), call
        assert bool(error) is (number in found), call
