"""Figures of a benchmark: printed as a table, and written as JSON to ``benchmarks/results``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from studies import report
from studies.report import Figure, machine, rounded, table

__all__ = ["RESULTS", "Figure", "machine", "rounded", "table", "write_report"]

RESULTS = Path(__file__).resolve().parent / "results"
write_report = partial(report.write_report, folder=RESULTS)
