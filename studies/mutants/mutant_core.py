"""A mutant of the C core: compiled, linked with everything else, and put into a process.

All sources are compiled once. A mutant compiles again only the files that its definition is part
of. The library that comes out is another file than the one in use, so a process that has imported
everything can open it and call its functions in place of the others: the core has no state.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType, ModuleType

from studies.mutants.mutant_c_sites import CFile
from studies.mutants.mutant_c_syntax import CallGraph
from studies.mutants.mutant_sites import Mutant
from studies.mutants.mutant_tests import digest

QUICK = "-O1"
"""Compiles in half the time of -O3 and gives the same bits: C allows nothing else without
contraction and fast-math."""


class DoesNotCompileError(Exception):
    """A changed file that is no C."""


class SameCodeError(Exception):
    """A changed file that compiles to the same machine code: no test can notice it."""


class CoreBuild:
    """The core's sources of a project, compiled."""

    def __init__(self, root: Path, state: Path, files: list[CFile]) -> None:
        self.root, self.objects = root, state / "objects"
        self.files = {file.name: file for file in files}
        self.graph = CallGraph(list(files))
        build = build_of(root)
        flags = [flag for flag in build.FLAGS if not flag.startswith("-O")]
        self.command = [*build.compiler(build.this_machine()), *flags, QUICK, "-fPIC"]
        self.library = next(iter(build.library_names(build.this_machine())))
        paths = sorted((root / "core").glob("src/**/*.c"))
        self.sources = {path.stem: path.relative_to(root / "core" / "src") for path in paths}

    def prepare(self) -> None:
        """Compile everything, and have the project use it."""
        core = self.root / "core"
        now = digest(*sorted(core.rglob("*.[ch]"))) + " ".join(self.command)
        mark = self.objects / "built-from"
        if not mark.is_file() or mark.read_text() != now:
            shutil.rmtree(self.objects, ignore_errors=True)
            self.objects.mkdir(parents=True)
            self._compile(core / "src", self.sources, self.objects)
            mark.write_text(now)
        folder = self.root / "src" / "motionloom" / "_lib"
        for path in folder.glob("*motionloom-avx2*"):
            path.unlink()
        self._link(self.objects, (), folder / self.library)

    def make(self, mutant: Mutant, folder: Path) -> Path:
        """A folder with the library of a mutant.

        Raises
        ------
        DoesNotCompileError
        SameCodeError
        """
        shutil.copytree(self.root / "core", folder / "core")
        changed = self.files[mutant.file].text_of(mutant)
        (folder / mutant.file).write_text(changed, encoding="utf-8")
        names = self.graph.compiled_with(mutant.file, mutant.names[0])
        stems = [Path(name).stem for name in names]
        self._compile(folder / "core" / "src", stems, folder)
        if all(self._is_same(folder, stem) for stem in stems):
            raise SameCodeError
        library = folder / "_lib"
        shutil.copytree(self.root / "src" / "motionloom" / "_lib", library)
        (library / self.library).unlink()
        self._link(folder, stems, library / self.library)
        return library

    def _is_same(self, folder: Path, stem: str) -> bool:
        name = f"{stem}.o"
        return (folder / name).read_bytes() == (self.objects / name).read_bytes()

    def _compile(self, sources: Path, stems: Iterable[str], into: Path) -> None:
        for stem in stems:
            source = str(self.sources[stem])
            run([*self.command, "-c", source, "-o", str(into / f"{stem}.o")], sources)

    def _link(self, own: Path, stems: Iterable[str], library: Path) -> None:
        changed = set(stems)
        objects = [(own if s in changed else self.objects) / f"{s}.o" for s in self.sources]
        new = library.with_name(f"new-{library.name}")
        run([*self.command, "-shared", "-s", *map(str, objects), "-o", str(new), "-lm"], own)
        new.replace(library)  # one that is open stays as it is


def build_of(root: Path) -> ModuleType:
    """core/build.py of a project."""
    described = importlib.util.spec_from_file_location("core_build", root / "core" / "build.py")
    if described is None or described.loader is None:
        raise SystemExit("core/build.py is missing.")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        raise DoesNotCompileError("; ".join(lines[:1]) or f"status {done.returncode}")


def use_library(folder: Path) -> int:
    """Have every kernel of this process call the library in a folder; how many there are."""
    from motionloom import _core

    _core.FOLDER = folder
    _core._library.cache_clear()
    library = _core._library()
    in_use = kernels()
    for kernel in in_use:
        old = kernel.__globals__["_function"]
        new = getattr(library, kernel.__name__)
        new.restype, new.argtypes = old.restype, old.argtypes
        kernel.__globals__["_function"] = new
    return len(in_use)


def kernels() -> list[FunctionType]:
    """Every kernel that ``_core.kernel`` has made in this process."""
    functions = [o for o in gc.get_objects() if type(o) is FunctionType]
    return [
        f
        for f in functions
        if f.__code__.co_filename == f"<{f.__name__}>"
        and isinstance(f.__globals__.get("_function"), ctypes._CFuncPtr)  # type: ignore[attr-defined]
    ]
