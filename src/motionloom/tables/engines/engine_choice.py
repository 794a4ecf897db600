"""The engine for given options, in the words of the command line."""

from __future__ import annotations

from motionloom._arrays import of_kind, whole
from motionloom.errors import ArrayError
from motionloom.tables.engines.engine import Engine

HERE = "local"
"""Stands for an address: a cluster of this machine's processors."""


def engine_of(
    *, jobs: int | None = None, device: str | None = None, dask: str | None = None
) -> Engine:
    """The requested engine, after checking that it is available.

    Parameters
    ----------
    jobs
        Threads on this machine, also next to a GPU, or workers of a cluster on it; one for each
        processor by default.
    device
        ``"cuda"``, or ``"cuda:1"``: search on a GPU.
    dask
        Address of a dask scheduler: search on its workers. ``"local"`` starts one on this machine.

    Returns
    -------
    Engine
        For ``engine=`` of :func:`motionloom.build_table`.

    Raises
    ------
    MotionLoomError
        Nothing answers at the address, there is no GPU, or what it needs is not installed.

    Examples
    --------
    >>> engine_of(jobs=2)
    LocalEngine(jobs=2)
    """
    from motionloom.tables.engines.engine import MOST_JOBS, LocalEngine

    if jobs is not None:
        whole(jobs, "jobs", least=1, most=MOST_JOBS)
    for name, value in (("device", device), ("dask", dask)):
        if value is not None:
            of_kind(value, str, name)
    if device is not None and dask is not None:
        raise ArrayError("A search runs on a GPU or on a cluster: give `device` or `dask`.")
    if device is not None:
        return _on_gpu(jobs, device)
    if dask is not None:
        return _on_cluster(jobs, dask)
    return LocalEngine(jobs)


def _on_gpu(jobs: int | None, device: str) -> Engine:
    from motionloom.tables.engines.gpu import GpuEngine

    engine = GpuEngine(device, jobs)
    engine.check()
    return engine


def _on_cluster(jobs: int | None, dask: str) -> Engine:
    from motionloom.tables.engines.dask import DaskEngine

    if not dask:
        raise ArrayError(
            '`dask` must be the address of a dask scheduler, as "tcp://host:8786", or "local", got '
            "''."
        )
    if dask == HERE:
        engine = DaskEngine(workers=jobs)
    elif jobs is None:
        engine = DaskEngine(dask)
    else:
        raise ArrayError(
            f"`jobs` are threads of this machine; the cluster at {dask} has its own workers: give "
            "one of both."
        )
    engine.check()
    return engine
