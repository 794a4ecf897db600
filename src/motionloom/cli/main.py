"""The motionloom command: its subcommands, and what every failure looks like.

Nothing slow is imported here: public names load on first use, so that ``motionloom --help`` answers
at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from functools import cache
from typing import Annotated, Any, NoReturn

import typer

import motionloom as ml
from motionloom.cli.balance_command import balance
from motionloom.cli.blend_command import blend
from motionloom.cli.check_command import check
from motionloom.cli.clean_command import clean
from motionloom.cli.convert_command import convert
from motionloom.cli.demo_command import demo
from motionloom.cli.info_command import info
from motionloom.cli.option_words import in_options
from motionloom.cli.render_command import render
from motionloom.cli.sequence_command import sequence
from motionloom.cli.splice_command import splice
from motionloom.cli.studio_command import studio
from motionloom.cli.table_command import app as table
from motionloom.cli.transition_command import transition

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
        typer.echo(f"motionloom {ml.__version__}")
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


for command in (
    demo,
    info,
    convert,
    check,
    render,
    transition,
    sequence,
    blend,
    splice,
    clean,
    balance,
    studio,
):
    app.command()(command)
app.add_typer(table)


@cache
def command_tree() -> Any:
    """Every command for click; a program that runs several builds it once."""
    return typer.main.get_command(app)


def main() -> NoReturn:
    """Run and exit.

    0 done, 1 findings, 2 bad input or usage, 3 the result fails its quality check, 130 stopped by
    the user.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for file names that are no UTF-8
    try:
        command_tree()(prog_name="motionloom")
    except ml.FlawedResultError as error:
        _fail(in_options(str(error)), code=3)
    except ml.MotionLoomError as error:
        _fail(in_options(str(error)))
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}.")
    except SystemExit as leaving:
        if isinstance(
            leaving.__context__, BrokenPipeError
        ):  # click exits with 1, which means findings
            _leave_quietly()
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
            raise leaving
        _leave_quietly()
    sys.exit(0)


def _fail(text: str, code: int = 2) -> NoReturn:
    # One line, also where the text of a file has several: scripts read it line by line.
    print("motionloom: " + " ".join(text.split()), file=sys.stderr)
    sys.exit(code)


def _leave_quietly() -> NoReturn:
    """End without a message: the program that reads our output has ended."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
