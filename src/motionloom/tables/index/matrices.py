"""Matrices: products and eigenvectors with the same bits on every machine.

Libraries of linear algebra round differently on every processor, and with every number of threads.
What a table is made of must not: it is worked out with these. Large products of places, which need
no more than a few micrometres, are left to the library with numbers so short that nothing is
rounded.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel

__all__ = ["add_squares", "eigen", "product", "short_product", "shortened"]

DIGITS = 53
"""Of a number in double precision, binary."""

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


def shortened(terms: int, *arrays: npt.ArrayLike) -> tuple[float, list[FloatArray]]:
    """A step, and arrays as whole numbers of it, so short that sums of products are exact.

    Sums of up to ``terms`` products of any two of them are exact in any order, with or without
    fused products. With 600 terms a number has 21 digits: of metres, the step is a micrometre.

    Examples
    --------
    >>> step, (short,) = shortened(2, [1.0, 0.3])
    >>> bool(abs(step * short[1] - 0.3) < 1e-7), (short % 1.0).tolist()
    (True, [0.0, 0.0])
    """
    digits = (DIGITS - math.ceil(math.log2(max(terms, 2)))) // 2 - 1
    largest = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
    step = math.ldexp(1.0, math.frexp(largest)[1] - digits)
    return step, [np.rint(np.divide(array, step)) for array in arrays]


def short_product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """As :func:`product`, to six or seven digits of the largest numbers, by the library."""
    terms = np.shape(b)[0]
    (step, (left,)), (other, (right,)) = shortened(terms, a), shortened(terms, b)
    return np.asarray(step * other * (left @ right))
