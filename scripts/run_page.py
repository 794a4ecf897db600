"""Run the Python and shell blocks of a page, and compare what they print with what it shows.

    python scripts/run_page.py [--write] [PAGE...]      all pages where none is named

Blocks of a page share one Python session and one empty folder. A block marked ``text`` that follows
a block shows its output; ``--write`` puts the true output there. In shell blocks the lines that
start with ``motionloom`` run; those of ``NOT_RUN`` install things or wait for a person.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(\s*^```text\n(.*?)^```\n)?", re.M | re.S)
NOT_RUN = ("pip ", "git ", "cd ", "./", "motionloom studio", "python -m http.server", "cp ", "cc ")
"""Starts of lines that change the machine, compile, or wait for a person."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, what it printed, and what the page shows."""

    language: str
    code: str
    shown: str | None
    printed: str
    span: tuple[int, int]
    """Where the shown output is in the page; (0, 0) where none is."""


def pages_with_blocks() -> list[Path]:
    """The README and every page of the documentation that has a block to run."""
    pages = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    written = [page for page in pages if "generated" not in page.parts]
    return [page for page in written if BLOCK.search(page.read_text(encoding="utf-8"))]


def run_page(page: Path, folder: Path) -> Iterator[Block]:
    """Every block of a page after it ran in ``folder``; a failure names page and line."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        where = f"{page.name}:{line}"
        with contextlib.chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if match[1] == "python":
                printed = _run_python(match[2], names, where)
            else:
                printed = "".join(run_line(each, where) for each in _lines(match[2]))
        printed = printed.replace(f"{folder}/", "")
        yield Block(match[1], match[2], match[4], printed, match.span(4))


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Exit code and output of ``motionloom ARGUMENTS``, run inside of this process."""
    from typer.testing import CliRunner

    from motionloom.cli.main import typer_app
    from motionloom.errors import MotionLoomError

    result = CliRunner().invoke(typer_app(), arguments, prog_name="motionloom")
    if isinstance(result.exception, MotionLoomError):
        return 2, result.output + str(result.exception)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def run_line(line: str, where: str) -> str:
    """What a line of a shell block prints; it must succeed, or find faults (exit code 1)."""
    words = shlex.split(line, comments=True)
    if not words or line.startswith(NOT_RUN):
        return ""
    if words == ["motionloom", "demo"]:  # takes long and has tests; pages use the clips it writes
        return _write_clips_of_demo()
    if words[0] != "motionloom":
        raise AssertionError(f"{where}: only `motionloom` runs in shell blocks, got {line!r}.")
    code, printed = run_command(words[1:])
    if code not in (0, 1):
        raise AssertionError(f"{where}: `{line}` exits with {code}:\n{printed}")
    return printed


def _write_clips_of_demo() -> str:
    import motionloom as ml

    folder = Path("demo-out")
    folder.mkdir(exist_ok=True)
    for kind in ml.synthetic.kinds():
        ml.save(ml.synthetic.clip(kind).motion, folder / f"{kind}.bvh")
    return ""


def _run_python(code: str, names: dict[str, object], where: str) -> str:
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        mock.patch("webbrowser.open"),
        mock.patch("tempfile.tempdir", str(Path.cwd())),  # pages of ml.view go with the folder
    ):
        exec(compile(code, where, "exec"), names)
    return printed.getvalue()


def _lines(block: str) -> list[str]:
    return block.replace("\\\n", " ").splitlines()


def rewrite(page: Path) -> bool:
    """Whether a page changed when the true outputs were put into it."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        blocks = list(run_page(page, Path(folder)))
    new = text
    for block in reversed(blocks):
        if block.shown is not None:
            first, last = block.span
            new = new[:first] + block.printed.rstrip() + "\n" + new[last:]
    page.write_text(new, encoding="utf-8")
    return new != text


def main() -> int:
    """Run the named pages; exit 1 where one shows another output than it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the true output into the pages")
    parser.add_argument("pages", nargs="*", type=Path)
    arguments = parser.parse_args()
    wrong = 0
    for page in arguments.pages or pages_with_blocks():
        if arguments.write:
            print(page, "changed" if rewrite(page) else "is as it was")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for block in run_page(page, Path(folder)):
                print(f"--- {block.code}{block.printed}")
                wrong += block.shown is not None and block.shown.strip() != block.printed.strip()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
