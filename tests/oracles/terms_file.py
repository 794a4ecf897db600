"""Terms in a file, for machines without a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom.tables.engines.gpu_module import Constants, PlainTerms


def save_terms(path: Path, terms: PlainTerms, **more: Any) -> None:
    """Write terms, and other arrays by name, as a compressed ``.npz`` file."""
    fields = {**terms._asdict(), "constants": np.array(terms.constants)}
    arrays: dict[str, Any] = {f"terms.{name}": value for name, value in fields.items()}
    np.savez_compressed(path, **arrays, **more)


def load_terms(path: Path) -> tuple[PlainTerms, dict[str, npt.NDArray[np.generic]]]:
    """Terms, and the other arrays by name, from a file that :func:`save_terms` wrote."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    fields = {
        name: value if value.ndim else value.item()
        for name in PlainTerms._fields
        for value in [arrays.pop(f"terms.{name}")]
    }
    fields["constants"] = Constants(*(float(x) for x in fields["constants"]))
    return PlainTerms(**fields), arrays
