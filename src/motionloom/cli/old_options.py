"""Old names of options: they work for one version, are not in the help, and print the new name."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from motionloom.cli.output import warn

RENAMED = {"--unit": "--source-unit", "--up": "--source-up"}
"""Options on the files that are read, in commands that do not choose what they write."""


class ReadingCommand(TyperCommand):
    """A command that also takes the old names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, old names replaced."""
        ends = args.index("--") if "--" in args else len(args)
        for place, word in enumerate(args[:ends]):
            name, equals, value = word.partition("=")
            if name in RENAMED:
                new = RENAMED[name]
                warn(f"{name} is deprecated here and will go in the next version: use {new}.")
                args[place] = f"{new}{equals}{value}"
        return super().parse_args(ctx, args)
