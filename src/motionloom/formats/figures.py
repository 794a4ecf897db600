"""Which nodes of a scene are the skeleton of its figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from motionloom.errors import FormatError
from motionloom.formats.node_tree import N, Tree

MAX_ENDS = 4096
LONGEST_TIP = 16
"""Nodes outside the skin that may stand between a joint and the tip that its end site is."""


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """Which nodes are the joints and end sites of the skeleton."""

    joints: tuple[int, ...]
    """Node numbers, the root first and parents before children."""
    ends: tuple[int, ...]
    """Leaf nodes that carry nothing: tips of toes, fingers and the head."""
    left_out: int
    """Joints of the file that belong to other figures."""


def choose_figure(
    tree: Tree[N], parts: list[dict[int, None]], animated: set[int], *, skinned: bool
) -> Rig:
    """The skeleton among the joints that a file names.

    Parameters
    ----------
    tree
        All nodes.
    parts
        Joints as ordered sets, one for each skin or chain. Parts of one figure (body, visor, hair)
        share their joints or hang on one another's; of several figures the one that moves most is
        taken.
    animated
        Nodes that move.
    skinned
        Whether only named joints are joints; else every node with children below the root is.
    """
    figures = _figures(tree, parts)
    chosen = max(figures, key=lambda joints: (len(joints.keys() & animated), len(joints)))
    left_out = len(set().union(*figures)) - len(chosen)
    root = tree.meeting(chosen)
    joints, ends = _joints_and_ends(tree, chosen, root, skinned=skinned)
    if len(ends) > MAX_ENDS:
        raise FormatError(f"At most {MAX_ENDS} bare leaves can be read, got {len(ends)}.")
    bones = set(joints)
    stated = [n for n in chosen if n in bones]
    if len(stated) == len(joints) and _parents_first(tree, stated, root):
        joints = stated
    return Rig(tuple(joints), tuple(sorted(ends)), left_out)


def _figures(tree: Tree[N], skins: list[dict[int, None]]) -> list[dict[int, None]]:
    """Joints of skins whose roots stand above one another, together; under one top node each."""
    tops = _highest(tree, range(len(tree.nodes)))
    parts: list[tuple[int, dict[int, None]]] = []
    for skin in skins:
        under: dict[int, dict[int, None]] = {}
        for n in skin:
            under.setdefault(tops[n], {})[n] = None
        parts += [(tree.meeting(joints), joints) for joints in under.values()]
    highest = _highest(tree, [root for root, _ in parts])
    figures: dict[int, dict[int, None]] = {}
    for root, joints in parts:
        figures.setdefault(highest[root], {}).update(joints)
    return list(figures.values())


def _highest(tree: Tree[N], marked: Iterable[int]) -> list[int]:
    """For every node the topmost marked node that is or stands above it, -1 where none does."""
    wanted = set(marked)
    highest = [-1] * len(tree.nodes)
    for n in tree.order:
        parent = tree.nodes[n].parent
        above = highest[parent] if parent >= 0 else -1
        highest[n] = n if above < 0 and n in wanted else above
    return highest


def _joints_and_ends(
    tree: Tree[N], chosen: dict[int, None], root: int, *, skinned: bool
) -> tuple[list[int], list[int]]:
    """Joints in file order, parents first, and the bare leaves below them."""
    nodes = tree.nodes
    members = {root}
    for n in chosen:
        if nodes[n].is_end and not nodes[n].children:
            continue
        while n not in members:  # whatever stands between two joints moves the lower one
            members.add(n)
            n = nodes[n].parent
    joints: list[int] = []
    ends: list[int] = []
    waiting = [(root, 0)]
    while waiting:
        n, away = waiting.pop()
        node = nodes[n]
        if n in members or (not skinned and node.children):
            joints.append(n)
            away = 0
        elif not node.children and not node.has_content and away <= LONGEST_TIP:
            ends.append(n)
        waiting.extend((child, away + 1) for child in reversed(node.children))
    return joints, ends


def _parents_first(tree: Tree[N], joints: list[int], root: int) -> bool:
    """Whether a skin's own order, which files written by motionloom keep, can be kept."""
    seen: set[int] = set()
    for n in joints:
        if n != root and tree.nodes[n].parent not in seen:
            return False
        seen.add(n)
    return bool(joints) and joints[0] == root
