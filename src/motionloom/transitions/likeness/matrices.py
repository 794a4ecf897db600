"""Matrices: products and eigenvectors with the same bits on every machine.

Libraries of linear algebra round differently on every processor, and with every number of threads.
What a table is made of must not: it is worked out with these.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel

__all__ = ["add_squares", "eigen", "product"]

_multiply = kernel("ml_matrix_multiply")
_square = kernel("ml_matrix_square")
_eigen = kernel("ml_matrix_eigen")


def product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """The product of matrices (N, K) and (K, M), or of a matrix and a vector (K,).

    Examples
    --------
    >>> product([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0]).tolist()
    [12.0, 34.0]
    """
    left = np.ascontiguousarray(a, dtype=np.float64)
    right = np.ascontiguousarray(b, dtype=np.float64)
    columns = right.reshape(len(right), -1)
    out = np.zeros((len(left), columns.shape[1]))
    _multiply(*left.shape, columns.shape[1], left, columns, out)
    return out[:, 0] if right.ndim == 1 else out


def add_squares(a: npt.ArrayLike, sums: FloatArray) -> None:
    """Add the products of every two columns of a matrix (N, K), over its rows, to ``sums``."""
    rows = np.ascontiguousarray(a, dtype=np.float64)
    _square(*rows.shape, rows, sums)


def eigen(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (N,) of a symmetric matrix, ascending, and eigenvectors as columns (N, N).

    Examples
    --------
    >>> eigen(np.array([[2.0, 1.0], [1.0, 2.0]]))[0].round(12).tolist()
    [1.0, 3.0]
    """
    n = len(matrix)
    values, vectors = np.zeros(n), np.zeros((n, n))
    _eigen(n, np.ascontiguousarray(matrix, dtype=np.float64), values, vectors, np.zeros(n))
    return values, vectors.T
