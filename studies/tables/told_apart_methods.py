"""Methods whose seconds are compared with captured ones; a new one is one line of ``METHODS``.

Each is given the two ends of a second, of which it knows the frames outside, and windows of other
takes. All are pinned by the same kernel, the table's (:meth:`Ground.pinned`): exactly the captured
first and last frame, and the velocities there; where a second leads over the ground is free. Feet
are held after that by those methods that hold feet, the table and ``fill``; the baselines are made
without and with held feet, by the table's kernel and the contacts of the windows that they play.
``fill`` is given the place of the last frame as well, and pins its results itself; the nearest
window and the one that is inertialized are chosen with knowledge of that place, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np

from motionloom.body.body_map import facing
from motionloom.motion.motion import Motion
from motionloom.tables.index.contexts import contexts, spans_of
from motionloom.tables.index.neighbours import CAPTURED
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.fill import GapMotion, fill_checked
from motionloom.tables.synthesis.gap_windows import Gap
from motionloom.tables.synthesis.synthesis import Synthesis
from motionloom.tables.synthesis.table_check import TableCheck
from studies.baselines.inertialize import MadeWindow, played_window
from studies.baselines.motion_matching import MatchIndex, matching_transition
from studies.captured_clips import mocap
from studies.memory_table import MemoryTable, paper_table_in_memory, table_in_memory
from studies.tables.pinning import Surrounded
from studies.tables.told_apart_seconds import CONTEXT_S, Ground, Second

CLUSTERS = 24


class Workshop(Ground):
    """What methods need of a group without the takes of one fold; built when first asked for."""

    @cached_property
    def table(self) -> MemoryTable:
        """Our table, as it is by default."""
        return table_in_memory(
            self.frames, length=self.length, clusters=self.clusters, ranking=NATURAL
        )

    @cached_property
    def paper_table(self) -> MemoryTable:
        """The papers' table of 2007: ``build_table(method="paper")``."""
        return paper_table_in_memory(self.frames, length=self.length, clusters=self.clusters)

    @cached_property
    def matches(self) -> MatchIndex:
        """Of all takes: motion matching asks for rows of the second's own take."""
        return MatchIndex.build(self.captured)

    @cached_property
    def check(self) -> TableCheck:
        """The quality check of the collection."""
        return TableCheck(self.frames, self.rig)

    @property
    def clusters(self) -> int:
        """As many as a small table has, fewer in a small collection."""
        return min(CLUSTERS, max(6, round(self.frames.n_rows / self.frames.fps / 4.0)))

    def like_start(self, gap: Gap) -> int:
        """First row of the window that starts most like the gap."""
        return int(self.index.nearest(gap.question()[0], None, count=1).rows[0])

    def like_end(self, gap: Gap) -> int:
        """The same of the window that ends most like it."""
        return int(self.index.nearest(None, gap.question()[1], count=1).rows[0])

    def like_both(self, gap: Gap) -> int:
        """The same of the window that starts, ends and goes most like it."""
        return int(self.index.nearest(*gap.question(), count=1).rows[0])

    def rows_between(self, second: Second) -> list[int]:
        """First rows, among all takes, of the windows that the table finds between two frames."""
        first, last = self.ends(second)
        start = contexts(self.captured, np.array([first]), side="start")[0]
        end = contexts(self.captured, np.array([last]), side="end")[0]
        near = self.index.nearest(start, end, count=CAPTURED, apart=self.length // 4)
        return [self.among_all(int(row)) for row in near.rows]

    def among_all(self, row: int) -> int:
        """A row of the collection as one of all takes."""
        return self.captured.row_of(*self.frames.place_of(row))


Method = Callable[[Workshop, Second], Synthesis]


def linear_blend(at: Workshop, second: Second, *, feet: bool = False) -> Synthesis:
    """From the window that starts most like the second to the one that ends so, evenly."""
    gap = at.gap(second)
    rows = at.among_all(at.like_start(gap)), at.among_all(at.like_end(gap))
    return at.pinned(second, Recipe(rows, at.length, "hat"), feet=feet)


def nearest_window(at: Workshop, second: Second, *, feet: bool = False) -> Synthesis:
    """The captured window that starts, ends and goes most like the second."""
    row = at.among_all(at.like_both(at.gap(second)))
    return at.pinned(second, Recipe((row, row, row), at.length, pinned=True), feet=feet)


def inertialization(at: Workshop, second: Second, *, feet: bool = False) -> Synthesis:
    """That window switched to at once; what does not fit at both ends fades by quintics."""
    first, (row, last) = at.among_all(at.like_both(at.gap(second))), at.ends(second)
    rows = np.arange(first, first + at.length)
    played = played_window(at.captured, rows, opening=row, closing=last)
    return _pinned_window(at, second, played, feet=feet)


def motion_matching(at: Workshop, second: Second, *, feet: bool = False) -> Synthesis:
    """A hop to the window that motion matching finds for both ends, inertialized."""
    (row, last), out = at.ends(second), spans_of(at.captured, at.left_out)
    hop = matching_transition(at.matches, row, last, at.length, exclude=out)
    return _pinned_window(at, second, hop, feet=feet)


def _pinned_window(at: Workshop, second: Second, window: MadeWindow, *, feet: bool) -> Synthesis:
    """A window that was played between two ends, pinned there; with its own contacts held."""
    row, last = at.ends(second)
    around = at.surrounded(at.captured, window.motion(at.captured), before=row, after=last)
    planted = window.planted if feet else None
    return at.pinned_motion((row, last), around, planted=planted)


def by_paper(at: Workshop, second: Second, *, feet: bool = False) -> Synthesis:
    """The papers' transition from the window that starts most alike to the one that ends so."""
    gap = at.gap(second)
    source = at.frames.place_of(at.like_start(gap))
    target = at.frames.place_of(at.like_end(gap) + at.length - 1)
    led = at.paper_table.transition(source, target, lead_s=CONTEXT_S, follow_s=CONTEXT_S)
    first = led.span[0]
    planted = led.footplants.planted[first : first + at.length] if feet else None
    return at.pinned_motion(at.ends(second), Surrounded(led.motion, first), planted=planted)


def by_table(at: Workshop, second: Second) -> Synthesis:
    """What the table chooses between the windows that start and end most alike, from end to end.

    Where it pins captured windows, they are those that it finds for the ends themselves. Blends of
    the second's own continuation, which a table uses between frames of its collection, cannot be
    tried here: these are blends of windows like it, bent to its ends.
    """
    gap = at.gap(second)
    source = at.frames.place_of(at.like_start(gap))
    target = at.frames.place_of(at.like_end(gap) + at.length - 1)
    longest = at.length / at.frames.fps
    recipe = at.table.transition(source, target, longest_s=longest).recipe
    rows = tuple(at.among_all(row) for row in recipe.rows)
    if recipe.pinned:
        row = at.row(second)
        rows = (row, *at.rows_between(second), row)
    chosen = Recipe(rows, at.length, recipe.family, pinned=recipe.pinned)
    return at.pinned(second, chosen, feet=True)


def captured_windows(at: Workshop, second: Second, *, count: int = CAPTURED) -> Synthesis:
    """The captured windows that the table finds between the two ends, the nearest so many."""
    row = at.row(second)
    rows = (row, *at.rows_between(second)[:count], row)
    return at.pinned(second, Recipe(rows, at.length, pinned=True), feet=True)


def _filled(at: Workshop, second: Second, motion: Motion) -> Synthesis:
    """The second out of a filled take."""
    part = motion[second.frame : second.frame + at.length]
    heading = np.unwrap(facing(part, body=at.frames.body_map))
    heading += at.captured.heading[at.ends(second)[1]] - heading[-1]  # that of the last frame
    stands = np.zeros((at.length, 4), dtype=bool)
    root, quats = np.array(part.root_positions), np.array(part.local_quats)
    return Synthesis(heading, root, quats, stands, 0.0, 0.0)


def fill(at: Workshop, second: Second, *, count: int | None = None) -> Synthesis:
    """``table.fill``: windows that start and end alike, averaged, feet held."""
    first = second.frame + 1
    gap = GapMotion(at.take(second.take), first, first + at.length - 3)
    filled = fill_checked(at.check, gap, index=at.index, count=count, feet=True, exclude=())
    return _filled(at, second, filled.motion)


def captured_again(at: Workshop, second: Second) -> Synthesis:
    """The captured second itself through the same steps: no classifier may notice it."""
    return at.pinned_motion(at.ends(second), Surrounded(at.with_context(second), at.context))


BASELINES: dict[str, Callable[..., Synthesis]] = {
    "linear blend": linear_blend,
    "inertialization": inertialization,
    "motion matching": motion_matching,
    "nearest window": nearest_window,
    "paper's table": by_paper,
}
"""Baselines as they are known, and with feet held by our kernel."""
METHODS: dict[str, Method] = {
    **BASELINES,
    **{f"{name}, feet held": partial(method, feet=True) for name, method in BASELINES.items()},
    "our table": captured_windows,
    "our table, one window": partial(captured_windows, count=1),
    "our table, with similar blends": by_table,
    "fill": fill,
    "fill, one window": partial(fill, count=1),
}
PIPELINE = "captured, through the same steps"


@lru_cache(maxsize=2)
def workshop(subject: str, fold: int, folder: Path | None = None) -> Workshop:
    """The workshop of a group and a fold; the last two are in memory."""
    folder = mocap() if folder is None else folder
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    return Workshop(folder, subject, fold)
