"""Numbers that are given once: what a page kept from an earlier socket never names another's."""

from __future__ import annotations

import itertools

__all__ = ["fresh_number"]

_numbers = itertools.count(1)


def fresh_number() -> int:
    """A number that no session of this server has given to anything before."""
    return next(_numbers)
