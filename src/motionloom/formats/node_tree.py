"""A tree of nodes, as scene files hold them: parents first, walked without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from motionloom.errors import FormatError

MAX_DEPTH = 4608
"""Far deeper than any rig; below it every walk up the tree stays short."""


class TreeNode(Protocol):
    """What a tree asks of its nodes."""

    @property
    def name(self) -> str:
        """Name in the file."""

    @property
    def parent(self) -> int:
        """Number of the node above, -1 for none."""

    @property
    def children(self) -> tuple[int, ...]:
        """Numbers of the nodes below."""

    @property
    def is_end(self) -> bool:
        """Whether motionloom wrote it as an end site."""

    @property
    def has_content(self) -> bool:
        """Whether it carries a mesh, a camera or the like."""


N = TypeVar("N", bound=TreeNode)


@dataclass(frozen=True, slots=True, eq=False)
class Tree(Generic[N]):
    """All nodes, parents known, no cycles."""

    nodes: tuple[N, ...]
    depth: tuple[int, ...]
    order: tuple[int, ...]
    """Node numbers, parents before children."""

    def ancestors(self, node: int) -> list[int]:
        """Nodes above ``node``, the topmost first."""
        path: list[int] = []
        while (node := self.nodes[node].parent) >= 0:
            path.append(node)
        return path[::-1]

    def meeting(self, members: Iterable[int]) -> int:
        """The lowest node that is or stands above every one of ``members``, -1 where none does."""
        met: int | None = None
        for n in members:
            a = n if met is None else met
            while a != n and a >= 0 and n >= 0:
                if self.depth[a] >= self.depth[n]:
                    a = self.nodes[a].parent
                else:
                    n = self.nodes[n].parent
            met = a if a == n else -1
            if met < 0:
                return -1
        return -1 if met is None else met


def depth_and_order(
    parents: Sequence[int], children: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How deep every node is, and the nodes with parents first; cycles are refused."""
    depth = [0 if parent == -1 else -1 for parent in parents]
    order = [n for n, parent in enumerate(parents) if parent == -1]
    for n in order:  # grows while it is walked: parents first
        for child in children[n]:
            depth[child] = depth[n] + 1
            order.append(child)
    if len(order) < len(parents):
        lost = depth.index(-1)
        raise FormatError("A node must not be its own ancestor.", where=f"node {lost}")
    if depth and max(depth) > MAX_DEPTH:
        raise FormatError(
            f"Nodes must be nested at most {MAX_DEPTH} deep, got {max(depth)}.",
            where=f"node {depth.index(max(depth))}",
        )
    return tuple(depth), tuple(order)
