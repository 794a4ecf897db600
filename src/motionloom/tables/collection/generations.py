"""Generations: every ingest writes new files of rows, and one catalogue names those that count.

The files of a published generation never change. Readers hold a lease on the generation that they
have mapped; it is removed by the first ingest after the last of them is gone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from motionloom.saving.leases import remove_unleased

__all__ = [
    "CATALOGUE",
    "LOCK",
    "PART",
    "before_file",
    "discard_generations",
    "free_generation",
    "generations_before",
]

CATALOGUE = "catalogue.json"
"""Names the generation that counts: replacing it publishes another one."""
PART = "catalogue.part.json"
"""The catalogue so far of an ingest that is under way, or was stopped."""
LOCK = "ingest.lock"
ROWS = re.compile(r"(heading|ground|quats|body|points|planted)\.(\d{1,18})\.rows")
BEFORE = re.compile(r"catalogue\.(\d{1,18})\.json")


def before_file(folder: Path, generation: int) -> Path:
    """The catalogue of a generation that another one has followed."""
    return folder / f"catalogue.{generation}.json"


def generations_before(folder: Path) -> list[int]:
    """Generations that tables may still be built on, by their catalogues."""
    matches = (BEFORE.fullmatch(file.name) for file in folder.glob("catalogue.*.json"))
    return [int(match[1]) for match in matches if match]


def discard_generations(folder: Path, *, but: Container[int]) -> None:
    """Remove the catalogues of all other generations, and their rows where nobody reads them."""
    columns = defaultdict(list)
    for file in sorted(folder.glob("*.rows")):
        match = ROWS.fullmatch(file.name)
        if match is not None:
            columns[int(match[2])].append(file)
    for file in folder.glob("catalogue.*.json"):
        match = BEFORE.fullmatch(file.name)
        if match is not None and int(match[1]) not in but:
            with suppress(OSError):
                file.unlink()
    for generation, files in columns.items():
        if generation not in but:
            remove_unleased(files)


def free_generation(folder: Path, used: list[int]) -> int:
    """A number above those used, of which no file is there."""
    matches = (ROWS.fullmatch(file.name) for file in folder.glob("*.rows"))
    return max([*used, *(int(match[2]) for match in matches if match)], default=0) + 1
