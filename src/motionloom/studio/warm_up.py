"""Compiled code fetched before it is asked for, so that the first result of a room is no slower."""

from __future__ import annotations

from contextlib import suppress

from motionloom.errors import MotionLoomError
from motionloom.studio.blend_room import BlendRoom
from motionloom.studio.library import Library
from motionloom.studio.matches import Matches
from motionloom.studio.messages import ControlStart, SpliceMake, TransitionMake
from motionloom.studio.splice_room import make_splice
from motionloom.studio.tables import Tables
from motionloom.studio.transition_room import make_transition
from motionloom.transitions.tables.table import TransitionTable

__all__ = ["use_table", "warm_up"]


def warm_up(tables: Tables) -> None:
    """Make one small thing in every room, and forget it.

    A table is taken where there is one; the process that builds one does the same with it.
    """
    matches = Matches(Library())
    make_transition(matches, TransitionMake(id=0, a="walk", b="jog"))
    live = BlendRoom(matches).start(ControlStart(id=0, clips=["walk", "jog"]))
    live.step([0.5, 0.5])
    make_splice(matches, SpliceMake(id=0, lower="walk", upper="wave"))
    with suppress(MotionLoomError):  # a table that cannot be read is told when it is opened
        table = tables.first()
        if table is not None:
            use_table(table)


def use_table(table: TransitionTable) -> None:
    """Make what a page asks of a table: a transition, and a step of a live character."""
    clips = table.frames.ids
    one, other = clips[0], clips[-1]
    table.transition((one, 0), (other, table.length))
    stream = table.stream((one, 0))
    stream.go(frame=(other, table.length))
    stream.step()
