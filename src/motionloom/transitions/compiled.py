"""How kernels are compiled that only kernels call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.registry import CPUDispatcher

__all__ = ["inner", "variable"]

variable = cast("Callable[[int], int]", np.int64)
"""A whole number that numba does not take for a constant."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class InnerKernel(CPUDispatcher):
    """A kernel that says so, instead of crashing, where Python calls it."""

    def __call__(self, *given: object, **named: object) -> NoReturn:
        """Refuse: there is no code to be called by."""
        name = self.py_func.__name__
        raise TypeError(
            f"{name} is compiled to be called by kernels only; make it a plain njit to call it "
            "from Python."
        )


def inner(**options: object) -> Callable[[Kernel], Kernel]:
    """``njit`` of a kernel without the code by which Python would call it.

    Where arguments are tuples of many arrays, that code is a quarter of the time to compile. What
    else keeps that time short: numbers go to kernels as variables (:data:`variable`), for numba
    compiles a kernel once more for every constant among its arguments; and arrays are copied by
    loops, for what numba says of shapes that do not fit takes seconds to compile.

    Parameters
    ----------
    options
        Of ``njit``.
    """
    compiler: Any = njit
    bare = compiler(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)

    def compiled(kernel: Kernel) -> Kernel:
        made: Any = bare(kernel)
        if isinstance(made, CPUDispatcher):  # not where numba is told to compile nothing
            made.__class__ = InnerKernel
        return cast("Kernel", made)

    return compiled
