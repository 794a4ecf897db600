"""The C core as two files, motionloom.c and motionloom.h: python scripts/amalgamate.py [FOLDER].

A program takes both and compiles them with its own sources, without anything else of this project.
The same sources give the same bytes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core"
HEADER = "motionloom.h"
PUBLIC = CORE / "include" / HEADER
DEFAULT = ROOT / "dist" / "amalgamation"
WIDTH = 100
LOCAL = re.compile(r'^#include "(.+)"\n', re.MULTILINE)
SYSTEM = re.compile(r"^#include <(.+)>\n", re.MULTILINE)
GUARD = re.compile(r"#ifndef (MOTIONLOOM_\w+_H)\n#define \1\n(.*)#endif\n\Z", re.DOTALL)
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
VERSION = re.compile(r'^#define ML_VERSION "(.+)"$', re.MULTILINE)
TOP = """/* motionloom {version}: the C core in one file, for programs that compile it themselves:

       cc -std=c11 -O3 -ffp-contract=off motionloom.c main.c -lm

   {header} goes with it and has what there is to know. scripts/amalgamate.py of motionloom made
   this file: do not change it, change what it was made of.

{license} */

#if !defined(__GNUC__) && !defined(__clang__)
#error "motionloom is compiled with Clang or GCC: see motionloom.h"
#endif
#if defined(__FAST_MATH__)
#error "motionloom is compiled without -ffast-math and -Ofast, which change its results"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "motionloom is for little-endian machines"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

"""


def amalgamation() -> str:
    """All sources as one: every header once, those that others need first, then every C file."""
    headers: list[Path] = []
    sources = sorted((CORE / "src").rglob("*.c"), key=lambda path: path.name)
    for source in sources:
        _collect(source, headers)
    body = "".join([*map(_header, headers), *map(_source, sources)])
    # Those of the C library go to the top; the few under conditions stay where they are.
    systems = sorted({name for name in SYSTEM.findall(body) if not _is_conditional(name, body)})
    for name in systems:
        body = body.replace(f"#include <{name}>\n", "")
    includes = "".join(f"#include <{name}>\n" for name in systems)
    return f"{_top()}{includes}{_spaced(body)}"


def _collect(path: Path, headers: list[Path]) -> None:
    """Headers of a file, and theirs before them, that are not there yet."""
    for name in LOCAL.findall(_read(path)):
        found = (path.parent / name).resolve()
        if found != PUBLIC and found not in headers:
            _collect(found, headers)
            headers.append(found)


def _top() -> str:
    found = VERSION.search(_read(PUBLIC))
    if found is None:
        raise RuntimeError(f"{PUBLIC} does not define ML_VERSION.")
    lines = _read(ROOT / "LICENSE").strip().splitlines()
    terms = "\n".join(f"   {line}".rstrip() for line in lines)
    return TOP.format(version=found.group(1), header=HEADER, license=terms)


def _header(path: Path) -> str:
    """A header of the sources, without its guard."""
    text = _read(path)
    guarded = GUARD.search(text)
    if guarded is None:
        raise RuntimeError(f"{path.name} has no guard MOTIONLOOM_..._H around all of it.")
    inside = text[: guarded.start()] + guarded.group(2)
    own = inside.replace(f'#include "../include/{HEADER}"', f"#include <{HEADER}>")
    return _banner(path.name) + LOCAL.sub("", own).replace(f"<{HEADER}>", f'"{HEADER}"')


def _source(path: Path) -> str:
    """A C file, behind which its macros are gone."""
    text = _read(path)
    macros = "".join(f"#undef {name}\n" for name in sorted(set(MACRO.findall(text))))
    return _banner(path.name) + LOCAL.sub("", text) + (f"\n{macros}" if macros else "")


def _banner(name: str) -> str:
    return f"\n/* ==== {name} {'=' * (WIDTH - 13 - len(name))} */\n\n"


def _is_conditional(name: str, body: str) -> bool:
    """Whether a header is included under some condition wherever it is."""
    depth = 0
    for line in body.splitlines():
        if line.startswith("#if"):
            depth += 1
        elif line.startswith("#endif"):
            depth -= 1
        elif line == f"#include <{name}>" and depth == 0:
            return False
    return True


def _spaced(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def amalgamate(folder: Path) -> None:
    """Write both files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((HEADER, _read(PUBLIC)), ("motionloom.c", amalgamation())):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    amalgamate(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
