"""Arrays: contracts of arguments, functions with the same bits everywhere, windows, and memory.

Arguments are checked once, at the public edge: shape, dtype, finite, frozen, kind.

Elementary functions of numpy depend on the processor and on the C library, and so do products of
vectors by BLAS. What ends up in a table, or decides what does, is worked out with those given here.

Running windows take frames along the first axis and look ``half`` frames to either side. Beyond the
ends of a clip its first and last frame stand still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import index
from pathlib import PurePath
from typing import Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from motionloom._core import kernel
from motionloom.errors import ArrayError

T = TypeVar("T")

_farthest = kernel("ml_value_farthest")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Constants, because building a union takes longer than the check.
NO_NUMBERS = (bool, np.bool_, str, bytes)
NO_WHOLE_NUMBERS = (bool, np.bool_, np.ndarray)
MAX_FRAMES = 5_000_000
"""More than any clip has: eleven hours at 120 Hz."""
FARTHEST = 1e15
"""Lengths and places beyond it are mistakes, and their squares and cubes are not finite."""


def frozen(
    values: npt.ArrayLike,
    name: str,
    shape: tuple[int | None, ...],
    dtype: type[np.generic] = np.float64,
) -> npt.NDArray[Any]:
    """A read-only, C-contiguous array of ``values``, checked for shape and for finite values.

    Copied, unless ``values`` is such an array already and nothing can write to it: then it is
    taken as it is, so that checking a long clip twice does not hold it in memory twice.

    Parameters
    ----------
    values
        Anything numpy can turn into an array.
    name
        The argument's name, for the error text.
    shape
        Expected shape; ``None`` matches any length.
    dtype
        Kind of number wanted.
    """
    return _frozen(values, name, shape, dtype)[0]


def frozen_lengths(
    values: npt.ArrayLike, name: str, shape: tuple[int | None, ...]
) -> npt.NDArray[np.float64]:
    """As :func:`frozen`, of lengths or places that are not absurdly far."""
    array, farthest = _frozen(values, name, shape, np.float64)
    if farthest > FARTHEST:
        raise ArrayError(
            f"`{name}` must lie within {FARTHEST:g} metres, got {farthest:g}. "
            "Check the unit of length."
        )
    return array


def _frozen(
    values: npt.ArrayLike, name: str, shape: tuple[int | None, ...], dtype: type[np.generic]
) -> tuple[npt.NDArray[Any], float]:
    """An array that is checked and frozen, and the largest size of its real numbers."""
    if _is_immutable(values, dtype):
        array = values
    else:
        try:
            with np.errstate(invalid="ignore"):  # nan as a whole number is found below
                array = np.array(values, dtype=dtype, order="C")
        except (TypeError, ValueError, OverflowError) as error:
            wanted = np.dtype(dtype).name
            raise ArrayError(
                f"`{name}` must be an array of {wanted}, got {_shown(values)}."
            ) from error
    if array.dtype.kind == "i" and not np.array_equal(array, np.asarray(values)):
        raise ArrayError(f"`{name}` must be whole numbers, got {_shown(values)}.")
    if array.ndim != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ArrayError(f"`{name}` must have shape ({wanted}), got {array.shape}.")
    farthest = _farthest_of(array) if array.dtype.kind == "f" and array.size else 0.0
    if not math.isfinite(farthest):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ArrayError(
            f"`{name}` must be finite, got {array[place]} at index {place}. "
            "Repair or cut these frames first."
        )
    array.flags.writeable = False
    return array, farthest


def _farthest_of(array: npt.NDArray[Any]) -> float:
    """The largest size of real numbers; not finite where one is not."""
    if array.dtype == np.float64:
        farthest: float = _farthest(array.size, array)
        return farthest
    return max(float(array.max()), -float(array.min()))


def frames_in(
    seconds: float,
    fps: float,
    name: str,
    *,
    part: float = 1.0,
    least: int = 1,
    most: int = MAX_FRAMES,
) -> int:
    """The frames that a time above 0 takes, at least ``least``; refused if beyond ``most``.

    With ``part``, the frames of that part of the time.
    """
    frames = part * positive(seconds, name) * fps
    if frames > part * most:
        raise ArrayError(
            f"`{name}` must be at most {most / fps:g} s at {fps:g} fps ({most} frames), got "
            f"{seconds:g}."
        )
    return max(least, round(frames))


def _is_immutable(values: object, dtype: type[np.generic]) -> TypeGuard[npt.NDArray[Any]]:
    if not isinstance(values, np.ndarray) or values.dtype != dtype or not values.flags.c_contiguous:
        return False
    owner: object = values
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None


def positive(value: float, name: str) -> float:
    """``value`` as a float, if it is finite and above zero."""
    number = _number(value, name)
    if not math.isfinite(number) or number <= 0.0:
        raise ArrayError(f"`{name}` must be finite and above 0, got {number:g}.")
    return number


def finite(value: float, name: str) -> float:
    """``value`` as a float, if it is finite."""
    number = _number(value, name)
    if not math.isfinite(number):
        raise ArrayError(f"`{name}` must be finite, got {number:g}.")
    return number


def not_negative(value: float, name: str) -> float:
    """``value`` as a float, if it is finite and not below zero."""
    number = finite(value, name)
    if number < 0.0:
        raise ArrayError(f"`{name}` must not be below 0, got {number:g}.")
    return number


def unit_of_length(value: float, name: str) -> float:
    """``value`` as metres per unit, if it is between a micrometre and a thousand kilometres."""
    number = positive(value, name)
    if not 1e-6 <= number <= 1e6:
        raise ArrayError(f"`{name}` must lie between 1e-6 and 1e6 metres, got {number:g}.")
    return number


def whole(value: object, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """``value`` as an int, if it is a whole number by its type and lies within bounds.

    True, 1.0 and "1" are refused: a caller who passes them means something else.
    """
    try:
        if isinstance(value, NO_WHOLE_NUMBERS):
            raise TypeError
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArrayError(f"`{name}` must be a whole number, got {_shown(value)}.") from None
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (
            most is not None
        )
        raise ArrayError(f"`{name}` must be {' and '.join(bounds)}, got {number}.")
    return number


def flag(value: object, name: str) -> bool:
    """``value`` as a bool, if it is one: "no" is not False."""
    if not isinstance(value, bool | np.bool_):
        raise ArrayError(f"`{name}` must be True or False, got {_shown(value)}.")
    return bool(value)


def numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """``values`` as an array of floats of any shape."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(f"`{name}` must be numbers, got {_shown(values)}.") from error


def finite_numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """``values`` as an array of finite floats of any shape."""
    array = numbers(values, name)
    if not np.isfinite(array).all():
        raise ArrayError(f"`{name}` must be finite, got nan or infinity.")
    return array


def of_kind(value: object, kind: type[T], name: str) -> T:
    """``value``, if it is of the kind that the argument ``name`` must be."""
    if not isinstance(value, kind):
        shown, advice = _shown(value), _advice(value, kind)
        raise ArrayError(f"`{name}` must be a {kind.__name__}, got {shown}.{advice}")
    return value


def _advice(value: object, kind: type) -> str:
    """How to get what is asked for out of what was passed; empty where there is no way."""
    if kind.__name__ == "Motion":
        if isinstance(getattr(value, "motion", None), kind):
            return " Pass its .motion."
        if isinstance(value, str | PurePath):
            return " Load it first: ml.load(path)."
    if kind.__name__ == "Skeleton" and isinstance(getattr(value, "skeleton", None), kind):
        return " Pass its .skeleton."
    return ""


def one_of(value: object, allowed: Iterable[str], name: str) -> str:
    """``value``, if it is one of the allowed names."""
    names = tuple(allowed)
    if not isinstance(value, str) or value not in names:
        raise ArrayError(f"`{name}` must be one of {', '.join(names)}, got {_shown(value)}.")
    return value


def items(values: Iterable[T], name: str, kinds: str) -> tuple[T, ...]:
    """What ``values`` holds, if it is a list or gives its items in another way; a text is none.

    ``kinds`` are the items in words, for the error text.
    """
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        return tuple(values)
    except TypeError as error:
        raise ArrayError(f"`{name}` must be a list of {kinds}, got {_shown(values)}.") from error


def _number(value: float, name: str) -> float:
    try:
        if isinstance(value, NO_NUMBERS):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(f"`{name}` must be a number, got {_shown(value)}.") from error


def _shown(values: object) -> str:
    text = repr(values)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- Elementary functions with the same bits on every machine


def _over_array(name: str) -> Callable[[npt.ArrayLike], FloatArray]:
    function = kernel(name)

    def made(x: npt.ArrayLike) -> FloatArray:
        values = np.array(x, dtype=np.float64, order="C")
        function(values.size, values, values)
        return values

    made.__name__ = made.__qualname__ = name
    return made


sin = _over_array("ml_sin_of")
cos = _over_array("ml_cos_of")
arccos = _over_array("ml_acos_of")
exp = _over_array("ml_exp_of")
_arctan2 = kernel("ml_atan2_of")


def arctan2(y: npt.ArrayLike, x: npt.ArrayLike) -> FloatArray:
    """Angles of points (x, y) from the x axis."""
    y, x = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
    if y.shape != x.shape:
        y, x = np.broadcast_arrays(y, x)
    out = np.zeros(x.shape)
    _arctan2(out.size, np.ascontiguousarray(y), np.ascontiguousarray(x), out)
    return out


def hypot(x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    """Lengths of (x, y)."""
    return np.asarray(np.sqrt(np.square(x) + np.square(y)))


# --- Windows that run along a clip: largest, smallest and mean of the frames around each frame


def running_maximum(values: FloatArray, half: int) -> FloatArray:
    """The largest value around each frame. (F, ...).

    Examples
    --------
    >>> running_maximum(np.array([0.0, 3.0, 1.0, 2.0, 0.0]), 1).tolist()
    [3.0, 3.0, 3.0, 2.0, 2.0]
    """
    return _running(np.maximum, values, half)


def running_minimum(values: FloatArray, half: int) -> FloatArray:
    """The smallest value around each frame. (F, ...)."""
    return _running(np.minimum, values, half)


def running_mean(values: FloatArray, half: int) -> FloatArray:
    """The mean of the frames around each. (F, ...)."""
    if not len(values):
        return np.array(values, dtype=np.float64)
    width = 2 * half + 1
    padded = _held(values, half)
    first = np.cumsum(padded[:width], axis=0)[-1:]
    # From each window to the next one frame goes and one comes.
    sums = np.cumsum(np.concatenate([first, padded[width:] - padded[:-width]]), axis=0)
    return np.asarray(sums / width)


def _running(pick: Any, values: FloatArray, half: int) -> FloatArray:
    """``pick`` of windows, in as many steps as the width has binary digits."""
    if not len(values):
        return np.array(values, dtype=np.float64)
    picked, width, seen = _held(values, half), 2 * half + 1, 1
    while 2 * seen <= width:  # windows of 1, 2, 4 .. frames
        picked = pick(picked[:-seen], picked[seen:])
        seen *= 2
    rest = width - seen  # two of them that overlap
    return np.asarray(pick(picked[: len(picked) - rest], picked[rest:]))


def _held(values: FloatArray, half: int) -> FloatArray:
    """With the first and the last frame ``half`` times more."""
    ends = [(half, half), *((0, 0) for _ in values.shape[1:])]
    return np.pad(np.asarray(values, dtype=np.float64), ends, mode="edge")


# --- Memory that is given out piece by piece


class Block:
    """Zeros that are given out piece by piece: memory for work that is done with all at once.

    Systems give out large pages of large blocks where they have them, and C libraries hand what
    is freed of many arrays back to the system, only to ask for it again: of one long clip that
    takes as long as a third of the work on it.

    Parameters
    ----------
    size
        Numbers in it.
    """

    def __init__(self, size: int) -> None:
        self._left = np.zeros(size)

    def zeros(self, *shapes: tuple[int, ...]) -> list[FloatArray]:
        """Arrays of zeros of these shapes; a new one where nothing is left for it."""
        pieces = []
        for shape in shapes:
            size = math.prod(shape)
            if size > len(self._left):
                pieces.append(np.zeros(shape))
                continue
            pieces.append(self._left[:size].reshape(shape))
            self._left = self._left[size:]
        return pieces
