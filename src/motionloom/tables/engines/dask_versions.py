"""Whether a cluster's workers have the versions of the machine that builds."""

from __future__ import annotations

from typing import Any

from motionloom.errors import TableError

__all__ = ["PACKAGES", "check_versions"]

PACKAGES = ("motionloom", "numpy")
"""What must be the same everywhere for the same numbers to come out, next to Python."""


def check_versions(versions: dict[str, Any]) -> None:
    """Nothing, or an error that names every worker with other versions than this machine.

    Parameters
    ----------
    versions
        Answer of a dask client's ``get_versions``.

    Raises
    ------
    TableError
        A worker has another Python, numpy or motionloom, or lacks one of them.
    """
    here = _versions(versions["client"])
    wrong: dict[str, list[str]] = {}
    for address, worker in sorted(versions["workers"].items()):
        there = _versions(worker)
        differs = [
            f"{name} {there[name]} instead of {here[name]}" if there[name] else f"no {name}"
            for name in here
            if there[name] != here[name]
        ]
        if differs:
            wrong.setdefault(", ".join(differs), []).append(address)
    if wrong:
        differences = "; ".join(f"{', '.join(where)}: {what}" for what, where in wrong.items())
        raise TableError(
            f"Workers must have the versions of the machine that builds, but found {differences}. "
            "Install the same ones there: pip install "
            f"'motionloom[cluster]=={here['motionloom']}' numpy=={here['numpy']}."
        )


def _versions(machine: dict[str, Any]) -> dict[str, str | None]:
    """Versions of a machine by name; of Python the first two numbers."""
    packages = machine["packages"]
    python = ".".join(str(packages["python"]).split(".")[:2])
    return {"python": python, **{name: packages.get(name) for name in PACKAGES}}
