"""The tree of pairs through which several clips are brought together.

Clips that are alike are matched well, and clips that are not (a sneak and a jog) are matched badly.
A tree of the cheapest pairs connects any two clips by steps between clips that are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray


class Edge(NamedTuple):
    """A clip and the one through which it is reached."""

    parent: int
    child: int


def cheapest_tree(cost: FloatArray, root: int) -> list[Edge]:
    """The minimum spanning tree of the pairs, parents before their children.

    By the rule of Prim (1957): from the root on, the clip nearest to any that is reached comes
    next. Of several that are as near, the first.

    Parameters
    ----------
    cost : (K, K)
        Symmetric; what it costs to match two clips.
    root
        Where the tree begins.

    Examples
    --------
    >>> cost = np.array([[0, 1, 9], [1, 0, 2], [9, 2, 0]])
    >>> [tuple(edge) for edge in cheapest_tree(cost, 0)]
    [(0, 1), (1, 2)]
    """
    left = [k for k in range(len(cost)) if k != root]
    reached, edges = [root], []
    while left:
        parent, child = min(((p, c) for p in reached for c in left), key=lambda edge: cost[edge])
        edges.append(Edge(parent, child))
        reached.append(child)
        left.remove(child)
    return edges


def centre_of(cost: FloatArray) -> int:
    """The clip from which all others are cheapest to reach through the tree.

    Examples
    --------
    >>> centre_of(np.array([[0, 1, 9], [1, 0, 2], [9, 2, 0]]))
    1
    """
    totals = []
    for root in range(len(cost)):
        far = {root: 0.0}
        for parent, child in cheapest_tree(cost, root):
            far[child] = far[parent] + float(cost[parent, child])
        totals.append(sum(far.values()))
    return int(np.argmin(totals))
