"""Every option of every command, with values of every wrong kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import motionloom as ml
from motionloom.cli.main import typer_app

WRONG = ("x", "0", "-1", "nan", "9" * 400, "\udcff")
PYTHON = re.compile(r"`|(?<![-\w'])[a-z]\w*=|\bml\.\w|Traceback|\bNone\b|\bTrue\b|\bFalse\b")
"""What only users of Python know: parameters, public names, values."""
NOT_CALLED = {"demo", "studio"}
"""They take long, and have few options, which are tested with them."""
READING = {"--fps", "--source-fps", "--source-unit", "--source-up", "--body"}
"""What all commands share for reading clips; one of them stands for all."""
ANYWAY = ("--force", "--allow-flawed")
COMMANDS: dict[str, tuple[str, ...]] = {
    "info": ("walk.bvh",),
    "convert": ("walk.bvh", "out.glb", "--force"),
    "check": ("walk.bvh",),
    "render": ("walk.bvh", "-o", "out.png", "--force"),
    "transition": ("walk.bvh", "jog.bvh", "-o", "out.bvh", *ANYWAY),
    "sequence": ("walk.bvh", "jog.bvh", "-o", "out.bvh", *ANYWAY),
    "blend": ("walk.bvh", "jog.bvh", "-o", "out.bvh", *ANYWAY),
    "splice": (
        "--upper",
        "jog.bvh",
        "--lower",
        "walk.bvh",
        "-o",
        "out.bvh",
        "--force",
        "--allow-flawed",
    ),
    "clean": ("walk.bvh", "-o", "out.bvh", *ANYWAY),
    "balance": ("walk.bvh", "-o", "out.bvh", *ANYWAY),
    "table build": ("clips", "-o", "new.mlt", "--force", "--clusters", "3", "--length", "0.5"),
    "table info": ("table.mlt",),
    "table fit-masses": ("table.mlc", "-o", "masses.csv", "--force"),
    "table query": ("table.mlt", "walk:2", "jog:12"),
    "table synthesize": (
        "table.mlt",
        "walk:2",
        "jog:12",
        "-o",
        "out.bvh",
        "--force",
        "--allow-flawed",
    ),
    "table verify": ("table.mlt",),
    "table export": ("table.mlt", "-o", "out.mlr", "--force"),
    "table page": ("table.mlt", "-o", "out.html", "--force"),
    "table evaluate": ("table.mlt", "--pairs", "2"),
}


def _commands() -> dict[str, Any]:
    """Every command by its name."""
    found, open_ = {}, [("", typer.main.get_command(typer_app()))]
    while open_:
        name, command = open_.pop()
        inside = getattr(command, "commands", None)
        if inside is None:
            found[name.strip()] = command
        else:
            open_ += [(f"{name} {each}", sub) for each, sub in inside.items()]
    return found


def test_no_command_is_forgotten() -> None:
    assert set(_commands()) - set(COMMANDS) == NOT_CALLED


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, and a table of them."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "clips").mkdir()
    for kind in ("walk", "jog"):
        motion = ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion
        for path in (folder / f"{kind}.bvh", folder / "clips" / f"{kind}.bvh"):
            ml.save(motion, path)
    collection = ml.Collection.ingest(folder / "clips", out=folder / "table.mlc", fps=20)
    ml.build_table(
        collection, out=folder / "table.mlt", length_s=0.5, clusters=3, jobs=1, progress=False
    )
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_wrong_is_refused_in_words(
    name: str, clips: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clips)
    usual = COMMANDS[name]
    assert run(*name.split(), *usual).code in (0, 1), "the usual call"
    parameters = [
        each for each in _commands()[name].params if name == "info" or each.opts[0] not in READING
    ]
    faults = [
        f"{[each[:20] for each in given]}: {fault}"
        for given in _with_wrong(parameters, usual)
        if (fault := _fault(run, [*name.split(), *given]))
    ]
    assert not faults, "\n".join(faults)


def _with_wrong(parameters: list[Any], usual: tuple[str, ...]) -> Iterator[list[str]]:
    """The usual arguments with one of them wrong, or with one more that is wrong."""
    place = 0
    for each in parameters:
        if each.opts[0].startswith("--"):
            for wrong in () if each.is_flag else WRONG:
                yield [*usual, each.opts[0], *[wrong] * each.nargs]
        else:
            for wrong in WRONG:
                yield [*usual[:place], wrong, *usual[place + 1 :]]
            place += 1


def _fault(run: Any, arguments: list[str]) -> str | None:
    """What is wrong with the answer: a raw exception, another exit code, or no words."""
    try:
        outcome = run(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if outcome.code not in (0, 1, 2, 3):
        return f"exit code {outcome.code}"
    if outcome.code >= 2 and not outcome.err.strip():
        return "refused without a word"
    lines = [line for line in outcome.err.splitlines() if not line.startswith("Usage: ")]
    python = [line for line in lines if PYTHON.search(line.replace("jitter=3", ""))]
    return f"speaks Python: {python}" if python else None
