"""Methods whose seconds are compared with captured ones; a new one is one line of ``METHODS``.

Each is given a second with its inside cut out and returns a motion of the same length. All are
pinned by the same code (:meth:`Ground.pinned`): exactly the captured first and last frame, and the
velocities there; ``fill`` pins its results so itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from motionloom.motion.motion import Motion
from motionloom.tables.index.contexts import spans_of
from motionloom.tables.score.columns import PAPER
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.gap_motion import GapMotion
from motionloom.tables.synthesis.gap_windows import Gap
from motionloom.tables.synthesis.inbetween import fill_checked
from motionloom.tables.synthesis.synthesis import synthesize
from motionloom.tables.synthesis.table_check import TableCheck
from studies.baselines.inertialize import played_window
from studies.baselines.motion_matching import MatchIndex, matching_transition
from studies.captured_clips import mocap
from studies.memory_table import MemoryTable, table_in_memory
from studies.tables.told_apart_seconds import CONTEXT_S, Ground, Second, Surrounded

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
        """The papers' sum and weights."""
        return table_in_memory(
            self.frames,
            length=self.length,
            clusters=self.clusters,
            ranking=PAPER,
            family="bernstein",
        )

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

    def captured_row(self, second: Second) -> int:
        """The second's first row among all takes."""
        return self.captured.row_of(second.take, second.frame)


Method = Callable[[Workshop, Second], Motion]


def linear_blend(at: Workshop, second: Second) -> Motion:
    """From the window that starts most like the second to the one that ends so, evenly."""
    gap = at.gap(second)
    first, last = at.like_start(gap), at.like_end(gap)
    blend = synthesize(at.frames, Recipe((first, last), at.length, "hat"), rig=at.rig, feet=False)
    motion, after = blend.motion(at.frames), last + at.length - 1
    return at.pinned(gap, at.surrounded(at.frames, motion, before=first, after=after))


def nearest_window(at: Workshop, second: Second) -> Motion:
    """The captured window that starts, ends and goes most like the second."""
    gap = at.gap(second)
    first = at.like_both(gap)
    last = first + at.length - 1
    motion = at.frames.motion(first, last)
    return at.pinned(gap, at.surrounded(at.frames, motion, before=first, after=last))


def inertialization(at: Workshop, second: Second) -> Motion:
    """That window switched to at once; what does not fit at both ends fades by quintics."""
    gap = at.gap(second)
    name, frame = at.frames.place_of(at.like_both(gap))
    first, row = at.captured.row_of(name, frame), at.captured_row(second)
    rows, last = np.arange(first, first + at.length), row + at.length - 1
    played = played_window(at.captured, rows, opening=row, closing=last).motion(at.captured)
    return at.pinned(gap, at.surrounded(at.captured, played, before=row, after=last))


def motion_matching(at: Workshop, second: Second) -> Motion:
    """A hop to the window that motion matching finds for both ends, inertialized."""
    row = at.captured_row(second)
    last, out = row + at.length - 1, spans_of(at.captured, at.left_out)
    hop = matching_transition(at.matches, row, last, at.length, exclude=out).motion(at.captured)
    return at.pinned(at.gap(second), at.surrounded(at.captured, hop, before=row, after=last))


def by_table(at: Workshop, second: Second, table: MemoryTable) -> Motion:
    """A table's transition from the window that starts most alike to the one that ends so."""
    gap = at.gap(second)
    source = at.frames.place_of(at.like_start(gap))
    target = at.frames.place_of(at.like_end(gap) + at.length - 1)
    led = table.transition(source, target, lead_s=CONTEXT_S, follow_s=CONTEXT_S)
    return at.pinned(gap, Surrounded(led.motion, led.span[0]))


def fill(at: Workshop, second: Second) -> Motion:
    """``table.fill``: windows that start and end alike, averaged, feet held."""
    first = second.frame + 1
    filled = at.table.fill(at.take(second.take), first, first + at.length - 3)
    return filled.motion[second.frame : second.frame + at.length]


def fill_one(at: Workshop, second: Second) -> Motion:
    """``fill`` with a single window: pinned, and feet held after that; no detail is averaged."""
    first = second.frame + 1
    filled = fill_checked(
        at.check,
        GapMotion(at.take(second.take), first, first + at.length - 3),
        index=at.index,
        count=1,
        feet=True,
        exclude=(),
    )
    return filled.motion[second.frame : second.frame + at.length]


def captured_again(at: Workshop, second: Second) -> Motion:
    """The captured second itself through the same steps: no classifier may notice it."""
    return at.pinned(at.gap(second), Surrounded(at.with_context(second), at.context))


METHODS: dict[str, Method] = {
    "linear blend": linear_blend,
    "inertialization": inertialization,
    "motion matching": motion_matching,
    "nearest window": nearest_window,
    "paper's table": lambda at, second: by_table(at, second, at.paper_table),
    "our table": lambda at, second: by_table(at, second, at.table),
    "fill": fill,
    "fill, one window": fill_one,
}
PIPELINE = "captured, through the same steps"


@lru_cache(maxsize=2)
def workshop(subject: str, fold: int, folder: Path | None = None) -> Workshop:
    """The workshop of a group and a fold; the last two are in memory."""
    folder = mocap() if folder is None else folder
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    return Workshop(folder, subject, fold)
