"""What a cluster's workers do: check their versions, hold a job, and search chunks of it."""

from __future__ import annotations

import hashlib
import pickle
import platform
import re
import threading
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from motionloom._core import built_from
from motionloom.errors import TableError
from motionloom.tables.search.search import FoundChunk, SearchJob, search_chunk

PROBED_BETWEEN = 16
"""Intermediaries of the blends that workers score first: enough to notice other arithmetic."""
PICKLED_AS = 4
"""Arrays that come out of this pickle protocol own their memory, aligned and writable."""
IMPORTED = re.compile(rb"^from motionloom\.tables\.([\w.]+) import", re.MULTILINE)

_lock = threading.Lock()
_unpacked: tuple[str, SearchJob] | None = None


class PackedJob(NamedTuple):
    """A job as bytes, and what a worker needs to know that it would find the same."""

    digest: str
    job: bytes
    source: str
    """Digest of the code that searches."""
    probe: bytes
    """What the packing machine finds in a small part of the job."""


def pack_job(job: SearchJob) -> PackedJob:
    """A job to send: all that a search needs, so that workers need to see no files."""
    packed = pickle.dumps(job, PICKLED_AS)
    return PackedJob(job.digest(), packed, source_digest(), _probe(job))


# Functions inside functions travel as code, those of modules by name: a scheduler can pass these on
# without having motionloom.


def hold_task() -> Callable[[str, bytes, str, bytes], PackedJob]:
    """The task of having a packed job, given as its fields, which chunks take it from."""

    def hold(*fields: str | bytes) -> PackedJob:
        from motionloom.tables.engines.dask_tasks import PackedJob

        return PackedJob._make(fields)

    return hold


def chunk_task() -> Callable[[PackedJob, int], FoundChunk]:
    """The task of one chunk."""

    def search(packed: PackedJob, chunk: int) -> FoundChunk:
        from motionloom.tables.engines.dask_tasks import search_packed

        return search_packed(packed, chunk)

    return search


def search_packed(packed: PackedJob, chunk: int) -> FoundChunk:
    """The best blends of one chunk of a packed job.

    Raises
    ------
    TableError
        This machine's motionloom or processor would find other numbers.
    """
    return search_chunk(_job_of(packed), chunk)


def _job_of(packed: PackedJob) -> SearchJob:
    """The job, unpacked and tried once in each worker."""
    global _unpacked
    with _lock:
        if _unpacked is not None and _unpacked[0] == packed.digest:
            return _unpacked[1]
        if source_digest() != packed.source:
            raise TableError(
                f"The worker on {platform.node()} has another motionloom, though of the same "
                "version. Install the same one on all machines."
            )
        job: SearchJob = pickle.loads(packed.job)
        if _probe(job) != packed.probe:
            raise TableError(
                f"The worker on {platform.node()} ({platform.processor() or platform.machine()}) "
                "rounds differently from the machine that builds, so its table would have other "
                "bytes. Install the same motionloom and numpy there, or leave this worker out."
            )
        _unpacked = packed.digest, job
        return job


def _probe(job: SearchJob) -> bytes:
    """Digest of the best blends between the first source and the last target over a few windows."""
    few = job.between[:: max(1, len(job.between) // PROBED_BETWEEN)]
    small = SearchJob(
        job.terms, job.sources[:1], job.targets[-1:], few, job.ways, job.keep, job.ranking
    )
    best = search_chunk(small, 0)
    digest = hashlib.blake2b(best.recipes.tobytes(), digest_size=16)
    # All of the spreads' rounding shows in the bounds, only some of it in what is found.
    for array in (best.costs, *small.spreads):
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


@cache
def source_digest() -> str:
    """Name of the code that a search goes through, whatever the version says."""
    digest = hashlib.blake2b(digest_size=16)
    for name, text in sorted(searched_by().items()):
        digest.update(name.encode())
        digest.update(text)
    return digest.hexdigest()


def searched_by() -> dict[str, bytes]:
    """Text of the files of this package that a search imports, by name; the core by its digest."""
    folder = files("motionloom.tables")
    sources = {"core": built_from().encode()}
    left = ["search.search"]
    while left:
        name = left.pop()
        if name not in sources:
            text = (
                folder.joinpath(name.replace(".", "/") + ".py").read_bytes().replace(b"\r\n", b"\n")
            )
            sources[name] = text
            left += [other.decode() for other in IMPORTED.findall(text)]
    return sources


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
        theirs = _versions(worker)
        differs = [
            f"{name} {theirs[name]} instead of {here[name]}" if theirs[name] else f"no {name}"
            for name in here
            if theirs[name] != here[name]
        ]
        if differs:
            wrong.setdefault(", ".join(differs), []).append(address)
    if wrong:
        differences = "; ".join(f"{', '.join(where)}: {what}" for what, where in wrong.items())
        raise TableError(
            f"Workers must have the versions of the machine that builds, but found {differences}. "
            f"Install the same ones there: motionloom {here['motionloom']} by pip install "
            f"'.[cluster]' numpy=={here['numpy']} in a clone of it."
        )


def _versions(machine: dict[str, Any]) -> dict[str, str | None]:
    """Versions of a machine by name; of Python the first two numbers."""
    packages = machine["packages"]
    python = ".".join(str(packages["python"]).split(".")[:2])
    return {"python": python, **{name: packages.get(name) for name in PACKAGES}}
