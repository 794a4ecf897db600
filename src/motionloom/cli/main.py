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
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

import motionloom as ml
from motionloom.cli.option_words import in_options

COMMANDS = (
    "demo",
    "info",
    "convert",
    "check",
    "render",
    "transition",
    "sequence",
    "blend",
    "splice",
    "clean",
    "balance",
    "studio",
    "table",
)
"""Names of all commands; each has a module of its own, which is imported when it is needed."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"motionloom {ml.__version__}")
        raise typer.Exit


def motionloom(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """New human motion out of captured motion. To see it, run motionloom demo."""


def typer_app(only: str | None = None) -> typer.Typer:
    """All commands, or one of them."""
    app = typer.Typer(
        name="motionloom",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=motionloom,
    )
    for name in COMMANDS if only is None else (only,):
        module = import_module(f"motionloom.cli.{name}_command")
        if name == "table":
            app.add_typer(module.app)
        else:
            app.command()(getattr(module, name))
    return app


@cache
def command_tree(only: str | None = None) -> Any:
    """The same for click; a program that runs several commands builds it once."""
    return typer.main.get_command(typer_app(only))


def main() -> NoReturn:
    """Run and exit.

    0 done, 1 findings, 2 bad input or usage, 3 the result fails its quality check, 130 stopped by
    the user.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for file names that are no UTF-8
    try:
        asked = sys.argv[1] if len(sys.argv) > 1 else ""
        command_tree(asked if asked in COMMANDS else None)(prog_name="motionloom")
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
