"""A result of a page, the Python and the command that repeat it, and how long it is stored."""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Footplants, Motion
from motionloom.studio.clips.stage_clip import Arrays, show_motion
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.result_messages import Detail, ResultAnswer, Source, Why

MOST_OF_PAGE = 24
MOST_OF_ALL = 256
MOST_BYTES = 1024**3
"""Memory of all results together; a shared source counts once for each result."""
EMBEDDED = "embedded:"


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a tab makes. The page gets all of it; the server stores it for export."""

    motion: Motion
    footplants: Footplants
    body: BodyMap
    sources: tuple[str, ...]
    """What is shown next to it, by name: its clips, or results of other methods."""
    source_frames: FloatArray
    """Frame of every source at every frame, nan where a source has none. (F, K)"""
    placements: tuple[tuple[float, float, float], ...]
    """Turn and shift (theta, x0, z0) from each source's coordinates to the result's."""
    source_motions: tuple[Motion, ...]
    """The sources after matching: one skeleton, one rate."""
    source_plants: tuple[Footplants, ...]
    source_keys: tuple[str, ...]
    """Names under which a page stores the sources' motions."""
    why: Why
    detail: Detail
    """What only its tab knows."""
    arrays: dict[str, npt.NDArray[Any]]
    """Further arrays of its tab."""
    clips: tuple[str, ...] = ()
    """Its clips, by id."""
    files: dict[str, str] = field(default_factory=dict)
    """Texts that the shown command line reads, by the file's name."""

    @property
    def tab(self) -> str:
        """Name of the tab that made it."""
        return str(self.detail.__struct_config__.tag)

    def answer(self, number: int, have: Collection[str] = ()) -> tuple[ResultAnswer, Arrays]:
        """The head of the message and its arrays; those of source 0 are named ``0.points`` ...

        Parameters
        ----------
        number
            Of the result.
        have
            Keys of sources that the page has and that are not sent again.
        """
        report_step("drawing the result")
        shown, arrays = show_motion(self.motion, self.footplants, self.body)
        sources = []
        for k, key in enumerate(self.source_keys):
            report_step("drawing the sources", k, len(self.source_keys))
            drawn = None
            if key not in have:
                motion, plants = self.source_motions[k], self.source_plants[k]
                drawn, own = show_motion(motion, plants, self.body)
                arrays |= {f"{k}.{name}": array for name, array in own.items()}
            sources.append(Source(self.sources[k], key, self.placements[k], drawn))
        head = ResultAnswer(number, shown, sources, self.why, self.detail)  # type: ignore[arg-type]
        return head, {**arrays, "source_frames": self.source_frames, **self.arrays}


class StoredResults:
    """Results of all pages; beyond the limits the oldest are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: OrderedDict[int, tuple[PageResults, Result, int]] = OrderedDict()
        self._bytes = 0

    def page(self) -> PageResults:
        """The results of a page that was opened."""
        return PageResults(self)

    def add(self, page: PageResults, result: Result) -> int:
        """Store a result, unless its page has closed; its number."""
        number, size = fresh_number(), _bytes_of(result)
        with self._lock:
            if page.closed:
                return number
            self._stored[number] = page, result, size
            self._bytes += size
            own = self._numbers(page)
            self._drop(own[: max(0, len(own) - MOST_OF_PAGE)])
            while len(self._stored) > 1 and (
                len(self._stored) > MOST_OF_ALL or self._bytes > MOST_BYTES
            ):
                self._drop([next(iter(self._stored))])
        return number

    def find(self, page: PageResults, number: int) -> Result | None:
        """A result of a page; None where it was dropped or belongs to another page."""
        owner, result, _ = self._stored.get(number, (None, None, 0))
        return result if owner is page else None

    def close(self, page: PageResults) -> None:
        """Drop the results of a page that was closed, and any that it makes later."""
        with self._lock:
            page.closed = True
            self._drop(self._numbers(page))

    def _numbers(self, page: PageResults) -> list[int]:
        return [n for n, (owner, _, _) in self._stored.items() if owner is page]

    def _drop(self, numbers: list[int]) -> None:
        self._bytes -= sum(self._stored.pop(number)[2] for number in numbers)


class PageResults:
    """Results of one page."""

    def __init__(self, results: StoredResults) -> None:
        self._all, self.closed = results, False

    def add(self, result: Result) -> int:
        """Store a result; its number."""
        return self._all.add(self, result)

    def find(self, number: int) -> Result | None:
        """A result that is still stored."""
        return self._all.find(self, number)

    def close(self) -> None:
        """Drop them, and all that come later."""
        self._all.close(self)


def _bytes_of(result: Result) -> int:
    motions = (result.motion, *result.source_motions)
    return sum(m.local_quats.nbytes + m.root_positions.nbytes for m in motions) + sum(
        array.nbytes for array in result.arrays.values()
    )


def command_line(command: str, *words: str) -> str:
    """A command with its words quoted for a shell."""
    return " ".join(["motionloom", command, *(shlex.quote(word) for word in words)])


def load_lines(names: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Lines that load the clips, one for each name."""
    return ["import motionloom as ml", ""] + [
        f"{name} = {_loading(source)}" for name, source in zip(names, sources, strict=True)
    ]


def python_call(function: str, first: Sequence[str], **options: object) -> str:
    """A call with its data and those options that are not None."""
    given = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*first, *given])})"


def _loading(source: str) -> str:
    if source.startswith(EMBEDDED):
        return f"ml.synthetic.clip({source.removeprefix(EMBEDDED)!r}).motion"
    return f"ml.load({source!r})"
