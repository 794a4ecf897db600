"""Session: one open page, its requests answered in turn, its results kept for export."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from motionloom._progress import progress_to
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.motion.motion import Motion
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matches, plants_from
from motionloom.studio.clips.skins import Skins
from motionloom.studio.clips.stage_clip import preview_points, show_motion
from motionloom.studio.messages import messages as m
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.notices import encode_error
from motionloom.studio.messages.wire import encode_answer
from motionloom.studio.panels.blend_panel import BlendRoom
from motionloom.studio.panels.live_blend import LiveBlend
from motionloom.studio.panels.open_tables import Tables
from motionloom.studio.panels.splice_panel import make_splice
from motionloom.studio.panels.table_handlers import TableDesk
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.results.exports import Exports
from motionloom.studio.results.kept_results import KeptResults
from motionloom.studio.results.result import Result
from motionloom.studio.results.sharing import shared_page
from motionloom.studio.server.project import Project
from motionloom.studio.server.work import Cancelled, Work

__all__ = ["Session"]

_steps = msgspec.json.Decoder(m.ControlStep)
log = logging.getLogger(__name__)

MOST_LIVE = 4
MOST_TOLD = 300
"""Letters of an error that nobody foresaw."""


class Session:
    """Requests in, messages out; nothing here knows about sockets.

    Parameters
    ----------
    library, exports, project, tables
        What all pages of a server share.
    command
        The command line that starts the server again.
    results
        Results of all pages; this page's alone by default.
    """

    def __init__(
        self,
        library: Library,
        exports: Exports,
        project: Project,
        tables: Tables,
        command: str = "",
        results: KeptResults | None = None,
    ) -> None:
        self.command = command
        self._results = (results or KeptResults()).page()
        self.library, self.exports, self.project = library, exports.page(), project
        self.matches = Matches(library)
        self.blends = BlendRoom(self.matches)
        self.skins = Skins(library)
        self._live: OrderedDict[int, LiveBlend] = OrderedDict()
        self._desk = TableDesk(tables, self.exports, self._keep)
        self._answers: dict[type, Callable[[Any], Answer | bytes]] = {
            m.Cancel: lambda wish: Answer("done", {"stopped": False}),
            m.LibraryList: self._list,
            m.LibraryPreview: self._preview,
            m.ClipOpen: self._open,
            m.TransitionMake: lambda wish: self._keep(make_transition(self.matches, wish), wish),
            m.BlendMake: lambda wish: self._keep(self.blends.make(wish), wish),
            m.BlendSpace: lambda wish: self.blends.space(wish.clips),
            m.ControlStart: self._start,
            m.ControlStep: self._step,
            m.ControlStop: self._stop,
            m.SpliceMake: lambda wish: self._keep(make_splice(self.matches, wish), wish),
            m.RenderMake: self._render,
            m.ExportFormats: lambda wish: self.exports.formats(),
            m.ExportMake: self._export,
            m.PageMake: self._page,
            m.ProjectSave: self._save,
            m.ProjectLoad: self._load,
            **self._desk.answers(),
        }

    def answer(self, text: str | bytes, work: Work | None = None) -> str | bytes:
        """The message that answers a request; never raises, whatever is sent or goes wrong.

        A defect of the server is logged and reported: the page keeps its socket, and with it
        results and live characters.

        Parameters
        ----------
        text
            The request.
        work
            Takes the progress, and stops the work when it is cancelled.
        """
        number = 0
        try:
            wish = m.decode_request(text)
            number = wish.id
            work = work or Work(number)
            with progress_to(work):
                work("working", None)
                answer = self._answers[type(wish)](wish)
            return answer if isinstance(answer, bytes) else encode_answer(wish.id, answer)
        except Cancelled:
            return encode_error(number, "Cancelled.", "cancelled")
        except MotionLoomError as error:
            return encode_error(number, str(error))
        except (msgspec.MsgspecError, RecursionError) as error:
            if not isinstance(error, msgspec.MsgspecError) and number:
                return self._failed(number, error)
            return encode_error(m.read_head(text).id, m.why_invalid(error), "invalid")
        except Exception as error:
            return self._failed(number, error)

    def quick_answer(self, head: m.Head, text: str | bytes) -> str | bytes | None:
        """The answer to a request that takes well under a millisecond; None for all others.

        The caller need not hand these to another thread, which takes longer than they do.
        """
        if head.type == "stream.step":
            return None if self._desk.must_plan(text) else self.answer(text)
        if head.type == "control.step":
            return None if self._is_first_step(text) else self.answer(text)
        return None

    def _is_first_step(self, text: str | bytes) -> bool:
        """Whether a step of a live blend is its first, or looks for weights."""
        try:
            wish = _steps.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return False
        live = self._live.get(wish.live)
        return live is not None and (live.frame == 0 or wish.parameters is not None)

    def cancelled(self, wish: m.Cancel, stopped: bool) -> str | bytes:
        """The message that answers a cancel."""
        return encode_answer(wish.id, Answer("done", {"stopped": stopped}))

    def _failed(self, number: int, error: Exception) -> str:
        """The message for a defect of the server, which is logged."""
        log.exception("A request could not be answered.")
        what = f"{type(error).__name__}: {error}"[:MOST_TOLD]
        return encode_error(number, f"Something went wrong in the studio ({what}).", "failed")

    def close(self) -> None:
        """Release what the page kept."""
        self._results.close()
        self._live.clear()
        self._desk.close()
        self.exports.close()

    def _list(self, wish: m.LibraryList) -> Answer:
        return Answer("library", {**self.library.listing(), "command": self.command})

    def _preview(self, wish: m.LibraryPreview) -> Answer:
        clip = self.library.open(wish.clip)
        looks, points = preview_points(clip.motion, clip.body)
        return Answer("preview", {"facts": clip.facts, "looks": looks}, {"points": points})

    def _open(self, wish: m.ClipOpen) -> Answer:
        clip = self.library.open(wish.clip)
        shown, arrays = show_motion(clip.motion, plants_from(clip, wish.plants), clip.body)
        findings = [
            {"level": f.level, "where": f.where, "problem": f.problem, "fix": f.fix}
            for f in clip.findings
        ]
        body = {"clip": clip.id, "shown": shown, "findings": findings, "facts": clip.facts}
        dress = self.skins.dress([clip.id], {"": clip.motion})
        return Answer("clip", body, arrays | dress)

    def _keep(self, result: Result, wish: m.TransitionMake | m.BlendMake | m.SpliceMake) -> Answer:
        number = self._results.add(result)
        said = result.answer(number, wish.have)
        fresh = {
            f"{k}.": motion
            for k, motion in enumerate(result.source_motions)
            if result.source_keys[k] not in wish.have
        }
        dress = self.skins.dress(result.clips, {"": result.motion, **fresh})
        files = [
            {"name": name, "url": self.exports.keep(text, name).body["url"]}
            for name, text in result.files.items()
        ]
        return Answer(said.type, {**said.body, "files": files}, said.arrays | dress)

    def _start(self, wish: m.ControlStart) -> Answer:
        live = self.blends.start(wish)
        self._live[live.number] = live
        while len(self._live) > MOST_LIVE:
            self._live.popitem(last=False)
        return live.answer()

    def _step(self, wish: m.ControlStep) -> bytes:
        live = self._live.get(wish.live)
        if live is None:
            raise ArrayError("This live blend has ended. Start another.")
        return live.step(
            wish.weights, wish.parameters, frames=wish.frames, record=wish.record
        )  # fmt: skip

    def _stop(self, wish: m.ControlStop) -> Answer:
        live = self._live.pop(wish.live, None)
        return Answer("done", {"recorded": [] if live is None else live.recorded})

    def _export(self, wish: m.ExportMake) -> Answer:
        return self.exports.make(self._motion(wish.what), wish.format, wish.preset)

    def _render(self, wish: m.RenderMake) -> Answer:
        return self.exports.render(self._result(wish.result), wish.kind, wish.view)

    def _page(self, wish: m.PageMake) -> Answer:
        return self.exports.keep(shared_page(self._result(wish.result)), "motionloom.html")

    def _motion(self, what: str) -> Motion:
        if not what.isdecimal():
            return self.library.open(what).motion
        return self._result(int(what)).motion

    def _result(self, number: int) -> Result:
        result = self._results.find(number)
        if result is None:
            raise ArrayError("This result is no longer kept. Make it again.")
        return result

    def _save(self, wish: m.ProjectSave) -> Answer:
        self.project.save(wish.project)
        return Answer("done", {})

    def _load(self, wish: m.ProjectLoad) -> Answer:
        """The project; ``problem`` says why a file that is there cannot be used."""
        try:
            return Answer("project", {"project": self.project.load(), "problem": None})
        except FormatError as error:
            return Answer("project", {"project": None, "problem": str(error)})
