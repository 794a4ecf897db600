"""A connection to a dask scheduler whose workers are fit to search."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from motionloom.errors import MotionLoomError, TableError

__all__ = ["check_versions", "connected", "cut_off", "import_distributed", "n_workers"]

CONNECT_S = 10.0
"""An address is given up after this time."""
STARTS_THREAD = "_start_unlocked"
"""What dask calls the function that waits for its thread."""
LOOP_TRIES = 3
"""dask gives its own thread ten seconds to start, which a machine that stands still may take."""
FIRST_WORKER_S = 20.0
"""A scheduler that has no worker by then is given up."""
PACKAGES = ("motionloom", "numpy", "numba", "llvmlite")
"""What must be the same everywhere for the same numbers to come out, beside Python."""


def import_distributed() -> Any:
    """dask.distributed, or one line that names the install."""
    try:
        import distributed
    except ImportError as error:
        raise MotionLoomError(
            "A search on a cluster needs dask.distributed, which cannot be imported "
            f"({error}). Install it: pip install 'motionloom[cluster]'."
        ) from None
    return distributed


@contextmanager
def connected(address: str, *, first_worker_s: float | None = None) -> Iterator[Any]:
    """A client of the scheduler at ``address``, once it has a worker and versions agree.

    Waits ``first_worker_s`` for a worker, :data:`FIRST_WORKER_S` by default.
    """
    distributed = import_distributed()
    with _quiet():
        try:
            client = _client(distributed, address)
        except (OSError, TimeoutError):
            raise TableError(
                f"No dask scheduler answers at {address} within {CONNECT_S:g} s. Start one with "
                "`dask scheduler`, and workers with `dask worker ADDRESS`, or correct the address."
            ) from None
        except (ValueError, TypeError) as error:
            raise TableError(
                f"The address of a dask scheduler must be like tcp://host:8786, got {address!r} "
                f"({error})."
            ) from None
        try:
            longest = FIRST_WORKER_S if first_worker_s is None else first_worker_s
            _wait_for_worker(client, address, longest)
            check_versions(client)
            yield client
        finally:
            client.close(timeout=CONNECT_S)


def _client(distributed: Any, address: str) -> Any:
    """A client, tried again where dask's thread did not start in time."""
    late: AssertionError | None = None
    for _ in range(LOOP_TRIES):
        try:
            return distributed.Client(
                address, timeout=CONNECT_S, set_as_default=False, name="motionloom"
            )
        except AssertionError as error:  # all that dask says of it
            if traceback.extract_tb(error.__traceback__)[-1].name != STARTS_THREAD:
                raise
            late = error
    raise TableError(
        f"dask could not start its thread on this machine in {LOOP_TRIES} tries of ten seconds: it "
        "has too much else to do. Build again when it is less busy."
    ) from late


def check_versions(client: Any) -> None:
    """Nothing, or an error that names every worker with other versions than this machine.

    Raises
    ------
    TableError
        A worker has another Python, numpy, numba or motionloom, or lacks one of them.
    """
    versions = client.get_versions(packages=PACKAGES)
    here = _versions(versions["client"])
    wrong: dict[str, list[str]] = {}
    for address, told in sorted(versions["workers"].items()):
        there = _versions(told)
        differs = [
            f"{name} {there[name]} instead of {here[name]}" if there[name] else f"no {name}"
            for name in here
            if there[name] != here[name]
        ]
        if differs:
            wrong.setdefault(", ".join(differs), []).append(address)
    if wrong:
        said = "; ".join(f"{', '.join(where)}: {what}" for what, where in wrong.items())
        raise TableError(
            f"Workers must have the versions of the machine that builds, but found {said}. "
            "Install the same ones there: pip install "
            f"'motionloom[cluster]=={here['motionloom']}' numpy=={here['numpy']} "
            f"numba=={here['numba']}."
        )


def cut_off(client: Any) -> bool:
    """Whether the scheduler is gone."""
    return bool(client.status != "running")


def n_workers(client: Any) -> int:
    """Number of workers; -1 where the scheduler does not answer."""
    try:
        return len(client.nthreads())
    except Exception:  # whatever it is that breaks with the connection
        return -1


def _versions(told: dict[str, Any]) -> dict[str, str | None]:
    """Versions of a machine by name; of Python the first two numbers."""
    packages = told["packages"]
    python = ".".join(str(packages["python"]).split(".")[:2])
    return {"python": python, **{name: packages.get(name) for name in PACKAGES}}


def _wait_for_worker(client: Any, address: str, longest: float) -> None:
    try:
        client.wait_for_workers(1, timeout=longest)
    except TimeoutError:
        raise TableError(
            f"The dask scheduler at {address} has no workers. Start some: `dask worker {address} "
            "--nthreads 1`."
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask's own words about lost connections and other versions back: ours say it."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in ("distributed", *names)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
