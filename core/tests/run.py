"""Tests of the C core under AddressSanitizer and UBSan: python core/tests/run.py [options].

Compiles the core and the programs in this folder, runs every ``test_*.c``, and then a number of
mutated run-time files through ``fuzz_table.c``. Needs the installed package, which makes the file
that the programs play.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
SANITIZERS = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
OPTIONS = ("-std=c11", "-O1", "-g", "-fPIC", "-ffp-contract=off", "-fno-math-errno", *SANITIZERS)
WITH_FILE = {"test_runtime"}
"""Programs that take the small file."""


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


def compile_all(folder: Path) -> dict[str, Path]:
    """Every program, linked with the core; what is newer than all sources is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    core = builder()
    headers = [core.HEADER, *HERE.glob("*.h"), *(HERE.parent / "src").glob("*.h"), Path(__file__)]
    newest = max(path.stat().st_mtime for path in headers)

    def compiled(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        if not made.is_file() or made.stat().st_mtime < max(newest, source.stat().st_mtime):
            part = made.with_suffix(f".{os.getpid()}.o")
            _run([*compiler(), *OPTIONS, "-c", str(source), "-o", str(part)])
            part.replace(made)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        objects = list(threads.map(compiled, core.sources()))
        programs = list(threads.map(compiled, sorted(HERE.glob("*.c"))))
        linked = threads.map(lambda each: _linked(each, objects), programs)
        return {path.stem: path for path in linked}


def run_tests(programs: dict[str, Path], file: Path) -> None:
    """Every test."""
    for name in sorted(programs):
        if name.startswith("test_"):
            _run([str(programs[name]), *([str(file)] if name in WITH_FILE else [])])
            print(name, "passed", flush=True)


def _linked(program: Path, objects: list[Path]) -> Path:
    made = program.with_suffix("")
    _run([*compiler(), *OPTIONS, str(program), *map(str, objects), "-o", str(made), "-lm"])
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
    chosen = options.parse_args()
    if not has_sanitizers():
        raise SystemExit("The compiler has no AddressSanitizer or no UBSan.")
    programs = compile_all(chosen.folder)
    sys.path.insert(0, str(HERE))
    from small_file import small_file

    file = chosen.folder / "small.mlr"
    file.write_bytes(small_file())
    run_tests(programs, file)


if __name__ == "__main__":
    main()
