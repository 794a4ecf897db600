"""What games call: the header of games, the wrapper in C# and the one for the web list the same
functions, and the module for browsers exports them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from motionloom import _core
from tests.runtimes.conftest import ROOT

HEADER = ROOT / "core" / "include" / "motionloom.h"
KERNELS = ROOT / "core" / "src" / "kernels.h"


def declared(path: Path) -> list[str]:
    """Functions that a header exports, in its order."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^ML_API [^(;]*?\b(ml_\w+)\(", text, re.MULTILINE)


def test_the_wrapper_in_csharp_declares_every_function_for_games() -> None:
    text = (ROOT / "runtimes" / "csharp" / "MotionLoom.cs").read_text(encoding="utf-8")
    assert re.findall(r"static extern \w+ (ml_\w+)\(", text) == declared(HEADER)


def test_the_wrapper_for_the_web_declares_every_function_for_games() -> None:
    text = (ROOT / "runtimes" / "web" / "motionloom.ts").read_text(encoding="utf-8")
    inside = text[text.index("interface Core {") :].partition("\n}")[0]
    assert re.findall(r"^  (ml_\w+)\(", inside, re.MULTILINE) == declared(HEADER)


def test_the_module_for_browsers_exports_every_function_for_games() -> None:
    path = ROOT / "runtimes" / "web" / "build.py"
    described = importlib.util.spec_from_file_location("web_build", path)
    assert described and described.loader
    builder = importlib.util.module_from_spec(described)
    described.loader.exec_module(builder)
    assert builder.exported() == [*declared(HEADER), "__heap_base"]


def test_the_library_exports_what_its_two_headers_declare_and_nothing_twice() -> None:
    names = declared(HEADER) + declared(KERNELS)
    assert len(set(names)) == len(names)
    assert set(names) == set(_core.functions())
