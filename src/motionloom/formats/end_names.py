"""Names of end sites, for formats in which they are joints like all others."""

from __future__ import annotations

from motionloom.motion.skeleton import Skeleton


def end_names(skeleton: Skeleton) -> list[str]:
    """A name for every end site that nothing else has."""
    taken = set(skeleton.names)
    names = []
    for parent in skeleton.end_parents:
        base = name = f"{skeleton.names[parent]}_end"
        again = 2
        while name in taken:
            name, again = f"{base}_{again}", again + 1
        taken.add(name)
        names.append(name)
    return names
