"""How far one goes to read a verb.

    python scripts/trace_verbs.py [A.bvh B.bvh] [--files] [--switches N]

Runs ``ml.load``, ``ml.transition`` and ``ml.splice`` a second time, with clips loaded anew, when
all modules are imported, and counts the files of ours that they enter, the functions they call, and
how often one file calls into another. ``--files`` lists the files, most often entered first, and
``--switches N`` the N most frequent switches: a function of one file, and the function of another
that it calls.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import motionloom as ml

PACKAGE = Path(ml.__file__).parent


class Trace:
    """Calls of functions of ours."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.functions: set[tuple[str, str, int]] = set()
        self.switches: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: Any, event: str, argument: object) -> None:
        """Count a call; what ``sys.setprofile`` asks for."""
        if event != "call" or not frame.f_code.co_filename.startswith(str(PACKAGE)):
            return
        own = frame.f_code.co_filename
        self.files[own] += 1
        self.functions.add((own, frame.f_code.co_name, frame.f_code.co_firstlineno))
        caller = frame.f_back
        while caller and not caller.f_code.co_filename.startswith(str(PACKAGE)):
            caller = caller.f_back
        if caller and caller.f_code.co_filename != own:
            self.switches[_place(caller.f_code), _place(frame.f_code)] += 1


def _place(code: CodeType) -> str:
    """A function as ``file:function``."""
    return f"{Path(code.co_filename).relative_to(PACKAGE)}:{code.co_qualname}"


def traced(verb: Callable[..., object], given: Callable[[], list[object]]) -> Trace:
    """What a verb enters when it is run again."""
    verb(*given())
    trace, arguments = Trace(), given()
    sys.setprofile(trace)
    try:
        verb(*arguments)
    finally:
        sys.setprofile(None)
    return trace


def main() -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", nargs="*", metavar="CLIP", help="two; embedded ones by default")
    parser.add_argument("--files", action="store_true", help="list the files")
    parser.add_argument("--switches", type=int, default=0, metavar="N", help="list the switches")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(each) for each in options.clips[:2]]
        for kind in ("walk", "run")[len(paths) :]:
            paths.append(Path(folder, f"{kind}.bvh"))
            ml.save(ml.synthetic.clip(kind).motion, paths[-1])

        def loaded() -> list[object]:
            return [ml.load(path) for path in paths]

        for name, verb, given in (
            ("load", ml.load, lambda: paths[:1]),
            ("transition", ml.transition, loaded),
            ("splice", ml.splice, lambda: loaded()[::-1]),
        ):
            trace = traced(verb, given)
            print(
                f"{name}: {len(trace.files)} files, {len(trace.functions)} functions, "
                f"{sum(trace.files.values())} calls, {trace.switches.total()} from file to file"
            )
            for path, calls in trace.files.most_common() if options.files else ():
                print(f"  {calls:6d} {Path(path).relative_to(PACKAGE)}")
            for (caller, called), calls in trace.switches.most_common(options.switches):
                print(f"  {calls:6d} {caller} -> {called}")


if __name__ == "__main__":
    main()
