"""Tests of the C core under AddressSanitizer and UBSan: python core/tests/run.py [options].

Compiles the core and the programs in this folder, runs every ``test_*.c``, and then a number of
mutated run-time files through ``fuzz_table.c``. Needs the installed package, which makes the file
that the programs play. A campaign:

    python core/tests/run.py --files 10000000 --minutes 20 --results fuzz/results/core.json

It tries as many files as fit into the time. In ``build/core-tests``, ``./fuzz_table small.mlr 1
SEED CASE`` meets one of them again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
SANITIZERS = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
OPTIONS = ("-std=c11", "-O1", "-g1", "-fPIC", "-ffp-contract=off", "-fno-math-errno", *SANITIZERS)
WITH_FILE = {"test_runtime"}
"""Programs that take the small file."""
AT_ONCE = 5_000
"""Mutated files that one process tries."""


def builder() -> ModuleType:
    """``core/build.py``."""
    described = importlib.util.spec_from_file_location("core_build", HERE.parent / "build.py")
    if described is None or described.loader is None:
        raise RuntimeError("core/build.py is missing.")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def compiler() -> list[str]:
    """The machine's compiler."""
    core = builder()
    found: list[str] = core.compiler(core.this_machine())
    return found


def has_sanitizers() -> bool:
    """Whether the compiler has both, and what it makes runs."""
    if not builder().has_compiler():
        return False
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "none.c", Path(folder) / "none"
        source.write_text("int main(void) { return 0; }\n")
        made = subprocess.run(
            [*compiler(), *SANITIZERS, str(source), "-o", str(program)], capture_output=True
        )
        return not made.returncode and not subprocess.run([program], capture_output=True).returncode


def compile_sources(folder: Path, sources: list[Path]) -> list[Path]:
    """Objects; those newer than their source and all headers are left as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    of_tests = HERE in (path.parent for path in sources)  # which may include C files as well
    own = [*HERE.glob("*.h"), *builder().sources()] if of_tests else []
    headers = [*(path for path in builder().files() if path.suffix == ".h"), *own]
    newest = max(path.stat().st_mtime for path in headers)

    def compiled(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        if not made.is_file() or made.stat().st_mtime < max(newest, source.stat().st_mtime):
            part = made.with_suffix(f".{os.getpid()}.o")
            _run([*compiler(), *OPTIONS, "-c", str(source), "-o", str(part)])
            part.replace(made)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(compiled, sources))


def compile_programs(folder: Path) -> dict[str, Path]:
    """Every program of this folder, linked with the core."""
    objects = compile_sources(folder / "core", builder().sources())
    made = {}
    for program in compile_sources(folder, sorted(HERE.glob("*.c"))):
        # A program that includes a file of the core does not need its object.
        text = (HERE / f"{program.stem}.c").read_text()
        others = [path for path in objects if f'/{path.stem}.c"' not in text]
        made[program.stem] = _linked(program.with_suffix(""), [program, *others])
    return made


def compile_library(folder: Path) -> Path:
    """A folder with the core as a library, for the environment variable MOTIONLOOM_CORE."""
    core, library = builder(), folder / "library"
    library.mkdir(parents=True, exist_ok=True)
    name = next(iter(core.library_names(core.this_machine())))
    _linked(library / name, compile_sources(folder / "core", core.sources()), "-shared")
    for header in (core.HEADER, core.KERNELS):
        (library / header.name).write_bytes(header.read_bytes())
    (library / core.MARK).write_text(core.digest(core.this_machine()))
    return library


def run_tests(programs: dict[str, Path], file: Path) -> None:
    """Every test."""
    for name in sorted(programs):
        if name.startswith("test_"):
            _run([str(programs[name]), *([str(file)] if name in WITH_FILE else [])])
            print(name, "passed", flush=True)


def fuzz(
    program: Path, file: Path, *, files: int, seed: int, jobs: int, minutes: float | None
) -> dict[str, Any]:
    """Mutated files, as many as are wanted or fit into the time; what became of them."""
    until = time.monotonic() + 60.0 * minutes if minutes is not None else None
    totals: dict[str, Any] = {"seed": seed, "cases": 0, "opened": 0, "steps": 0, "seconds": 0.0}
    totals |= {"mutators": {}, "failures": []}
    began = time.monotonic()

    def batches() -> Iterator[tuple[int, int]]:
        for first in range(0, files, AT_ONCE):
            yield first, min(AT_ONCE, files - first)

    def tried(batch: tuple[int, int]) -> tuple[int, subprocess.CompletedProcess[str]] | None:
        first, count = batch
        if until is not None and time.monotonic() > until:
            return None
        command = [str(program), str(file), str(count), str(seed), str(first)]
        # What lies about at the end of a process takes seconds to look through.
        quick = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=quick)
        return first, done

    with ThreadPoolExecutor(jobs) as threads:
        for done in threads.map(tried, batches()):
            if done is not None:
                _add(totals, *done)
    totals["files_a_second"] = round(totals["cases"] / (time.monotonic() - began), 1)
    totals["seconds"] = round(totals["seconds"], 1)
    return totals


def _add(totals: dict[str, Any], first: int, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        lines = done.stderr.splitlines()
        shown = [line for line in lines if line.startswith(("SUMMARY", "case"))]
        totals["failures"].append("\n".join([f"from case {first}:", *lines[:16], *shown]))
        return
    found = json.loads(done.stdout)
    for key in ("cases", "opened", "steps", "seconds"):
        totals[key] += found[key]
    for name, counts in found["mutators"].items():
        own = totals["mutators"].setdefault(name, {"cases": 0, "opened": 0})
        for key, value in counts.items():
            own[key] += value


def _linked(made: Path, objects: list[Path], *options: str) -> Path:
    newest = max(path.stat().st_mtime for path in objects)
    if not made.is_file() or made.stat().st_mtime < newest:
        part = made.with_name(f"{made.name}.{os.getpid()}")
        _run([*compiler(), *OPTIONS, *options, *map(str, objects), "-o", str(part), "-lm"])
        part.replace(made)
    return made


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-8000:])
        raise SystemExit(f"{' '.join(command[:1])} failed with {done.returncode}.")


def main() -> None:
    """Read the options and do it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--folder", type=Path, default=HERE.parents[1] / "build" / "core-tests")
    options.add_argument("--library", action="store_true", help="only a library; prints its folder")
    options.add_argument("--files", type=int, default=0, help="mutated files to try")
    options.add_argument("--seed", type=int, default=14, help="of the mutations")
    options.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    options.add_argument("--minutes", type=float, help="try no more files after this time")
    options.add_argument("--results", type=Path, help="a JSON file for what became of them")
    chosen = options.parse_args()
    if not has_sanitizers():
        raise SystemExit("The compiler has no AddressSanitizer or no UBSan.")
    if chosen.library:
        print(compile_library(chosen.folder))
        return
    programs = compile_programs(chosen.folder)
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]  # small_file, and studies for it
    from small_file import small_file

    file = chosen.folder / "small.mlr"
    file.write_bytes(small_file())
    run_tests(programs, file)
    if chosen.files:
        found = fuzz(
            programs["fuzz_table"],
            file,
            files=chosen.files,
            seed=chosen.seed,
            jobs=chosen.jobs,
            minutes=chosen.minutes,
        )
        text = json.dumps(found, indent=1, sort_keys=True) + "\n"
        if chosen.results:
            chosen.results.write_text(text)
        print(text, end="")
        if found["failures"]:
            raise SystemExit(f"{len(found['failures'])} processes failed.")


if __name__ == "__main__":
    main()
