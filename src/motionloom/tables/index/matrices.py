"""Matrices: products, eigenvectors and spectral embeddings with the same bits on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel

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
    _multiply(len(left), left.shape[1], columns.shape[1], left, columns, out)
    return out[:, 0] if right.ndim == 1 else out


def add_squares(a: npt.ArrayLike, sums: FloatArray) -> None:
    """Add the products of every two columns of a matrix (N, K), over its rows, to ``sums``."""
    rows = np.ascontiguousarray(a, dtype=np.float64)
    _square(len(rows), rows.shape[1], rows, sums)


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


Block = npt.NDArray[np.floating[Any]]

FLOOR = 1e-10
"""Eigenvalues of the sample's affinity below this part of the largest count as zero."""


class Spectrum(NamedTuple):
    """Leading eigenvectors of a normalised affinity, the largest first."""

    vectors: FloatArray
    """One column each, of unit length. (N, C)"""
    values: FloatArray
    """Their eigenvalues; the first is about 1. (C,)"""

    def embedding(self) -> FloatArray:
        """Every thing as a point of a unit sphere: similar things are near one another, (N, C)."""
        points = self.vectors * np.sqrt(np.maximum(self.values, 0.0))
        length = np.linalg.norm(points, axis=1, keepdims=True)
        return np.asarray(points / np.maximum(length, np.finfo(np.float64).tiny))


def find_spectrum(
    sample: FloatArray, blocks: Callable[[], Iterable[Block]], components: int
) -> Spectrum:
    """Leading eigenvectors of ``D^-1/2 W D^-1/2``, where ``W`` is guessed as ``C A^-1 C^T``.

    Time and memory grow with N, not with its square: ``W`` is never made. With all things in the
    sample the answer is exact.

    Parameters
    ----------
    sample
        ``A``, affinity of the sampled things to one another, symmetric. (n, n)
    blocks
        Called three times; gives the rows of ``C``, affinity of all N things to the sampled ones,
        in pieces (m, n), the same ones each time.
    components
        How many eigenvectors; fewer come where the affinity has a lower rank.
    """
    sample = np.asarray(sample, dtype=np.float64)
    # The paper writes the sampled and the other things apart. Together, C = [A; B^T] gives its
    # degrees as C A^-1 C^T 1 and its S as A^-1/2 C^T C A^-1/2.
    total = np.sum([block.sum(axis=0, dtype=np.float64) for block in blocks()], axis=0)  # (n,)
    share = product(_power(sample, -1), total)
    largest = float(np.abs(product(sample, share)).max(initial=1.0))

    def degrees(block: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(product(block, share), FLOOR * largest))

    root = np.sqrt(degrees(sample))  # (n,)
    gram = np.zeros_like(sample)
    for piece in blocks():
        block = np.asarray(piece, dtype=np.float64)
        block = block / (np.sqrt(degrees(block))[:, None] * root)
        add_squares(block, gram)
    whiten = _power(sample / np.outer(root, root), -0.5)
    values, turn = eigen(product(product(whiten, gram), whiten))
    order = np.argsort(-values)[:components]
    order = order[values[order] > FLOOR * values[order[0]]]
    values, turn = values[order], turn[:, order]
    onto = product(whiten, turn / np.sqrt(values))  # (n, C)
    pieces = []
    for piece in blocks():
        block = np.asarray(piece, dtype=np.float64)
        pieces.append(product(block / (np.sqrt(degrees(block))[:, None] * root), onto))
    vectors = np.concatenate(pieces)
    # An eigenvector's sign is free: the largest entry is made positive, so that runs agree.
    sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    return Spectrum(vectors * sign, values)


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    """A symmetric matrix to the power -1 or -1/2, on the part of the space where it is not zero."""
    values, vectors = eigen(0.5 * (matrix + matrix.T))
    positive = values > FLOOR * values[-1]
    roots = np.sqrt(values[positive]) if exponent == -0.5 else values[positive]
    return product(vectors[:, positive] / roots, vectors[:, positive].T)
