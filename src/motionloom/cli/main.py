"""The motionloom command: its subcommands, and what every failure looks like.

Nothing slow is imported here: a command imports what it needs when it runs, so that
``motionloom --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from functools import cache
from typing import Annotated, Any, NoReturn

import typer

from motionloom import __version__
from motionloom.cli.blend_command import blend
from motionloom.cli.check_command import check
from motionloom.cli.clean_command import clean
from motionloom.cli.convert_command import convert
from motionloom.cli.demo_command import demo
from motionloom.cli.info_command import info
from motionloom.cli.render_command import render
from motionloom.cli.splice_command import splice
from motionloom.cli.studio_command import studio
from motionloom.cli.table_command import app as table
from motionloom.cli.transition_command import transition
from motionloom.errors import FlawedResultError, MotionLoomError

__all__ = ["app", "main"]

app = typer.Typer(
    name="motionloom",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"motionloom {__version__}")
        raise typer.Exit


@app.callback()
def motionloom(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """New human motion out of captured motion. To see it, run motionloom demo."""


for command in (demo, info, convert, check, render, transition, blend, splice, clean, studio):
    app.command()(command)
app.add_typer(table)


@cache
def command_tree() -> Any:
    """Every command as click knows it; a program that runs several makes it once."""
    return typer.main.get_command(app)


def main() -> NoReturn:
    """Run and exit.

    0 done, 1 something found, 2 bad input or usage, 3 the result fails its quality check, 130
    stopped by the user.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for file names that are no UTF-8
    try:
        command_tree()(prog_name="motionloom")
    except FlawedResultError as error:
        _fail(str(error), code=3)
    except MotionLoomError as error:
        _fail(str(error))
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}.")
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # click says 1, which means findings
            _leave_quietly()
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
            raise leaving
        _leave_quietly()
    sys.exit(0)


def _fail(text: str, code: int = 2) -> NoReturn:
    # One line, whatever a file's own text holds: scripts read it line by line.
    print("motionloom: " + " ".join(text.split()), file=sys.stderr)
    sys.exit(code)


def _leave_quietly() -> NoReturn:
    """The reader of our output has gone; nothing is wrong, and nobody is there to be told."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
