"""Parts of a study that were asked for on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def asked_parts(description: str, parts: Iterable[str]) -> list[str]:
    """The parts that were named, all of them where none was; ends the program at an unknown one."""
    names = list(parts)
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(names)}")
    asked = list(parser.parse_args().parts)
    if unknown := set(asked) - set(names):
        parser.error(f"parts must be of {', '.join(names)}, got {', '.join(sorted(unknown))}")
    return asked or names
