"""Session: one open page, its requests answered in turn, its results stored for export."""

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
from motionloom.studio.messages.answers import (
    Answer,
    ClipFinding,
    ClipOpened,
    Done,
    LibraryListed,
    Preview,
    ProjectLoaded,
    Recorded,
    Stopped,
)
from motionloom.studio.messages.notices import encode_error
from motionloom.studio.messages.result_messages import ResultFile
from motionloom.studio.messages.wire import encode_answer
from motionloom.studio.panels.blend_panel import BlendPanel, LiveBlend
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.panels.splice_panel import make_splice
from motionloom.studio.panels.table_handlers import TableHandlers
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.results.exports import Exports, shared_page
from motionloom.studio.results.result import Result, StoredResults
from motionloom.studio.server.project import Project
from motionloom.studio.server.work import Cancelled, Work

_steps = msgspec.json.Decoder(m.ControlStep)
log = logging.getLogger(__name__)

MOST_LIVE = 4
MOST_REASON = 300
"""Characters of an unexpected error."""


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
        results: StoredResults | None = None,
    ) -> None:
        self.command = command
        self._results = (results or StoredResults()).page()
        self.library, self.exports, self.project = library, exports.page(), project
        self.matches = Matches(library)
        self.blends = BlendPanel(self.matches)
        self.skins = Skins(library)
        self._live: OrderedDict[int, LiveBlend] = OrderedDict()
        self._tables = TableHandlers(tables, self.exports, self._store)
        self._handlers: dict[type, Callable[[Any], Answer | bytes]] = {
            m.Cancel: lambda request: Answer(Stopped(False)),
            m.LibraryList: self._list,
            m.LibraryPreview: self._preview,
            m.ClipOpen: self._open,
            m.TransitionMake: lambda request: self._store(
                make_transition(self.matches, request), request
            ),
            m.BlendMake: lambda request: self._store(self.blends.make(request), request),
            m.BlendSpace: self.blends.space,
            m.ControlStart: self._start,
            m.ControlStep: self._step,
            m.ControlStop: self._stop,
            m.SpliceMake: lambda request: self._store(make_splice(self.matches, request), request),
            m.RenderMake: self._render,
            m.ExportFormats: lambda request: Answer(self.exports.formats()),
            m.ExportMake: self._export,
            m.PageMake: self._page,
            m.ProjectSave: self._save,
            m.ProjectLoad: self._load,
            **self._tables.handlers(),
        }

    def answer(self, text: str | bytes, work: Work | None = None) -> str | bytes:
        """The message that answers a request; never raises.

        A defect of the server is logged and reported: the page keeps its socket, and with it
        results and live characters.

        Parameters
        ----------
        text
            The request.
        work
            Receives the progress; the work stops when it is cancelled.
        """
        number = 0
        try:
            request = m.decode_request(text)
            number = request.id
            work = work or Work(number)
            with progress_to(work):
                work("working", None)
                answer = self._handlers[type(request)](request)
            return answer if isinstance(answer, bytes) else encode_answer(request.id, answer)
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

        Another thread would take longer than these requests do.
        """
        if head.type == "stream.step":
            return None if self._tables.must_plan(text) else self.answer(text)
        if head.type == "control.step":
            return None if self._is_first_step(text) else self.answer(text)
        return None

    def _is_first_step(self, text: str | bytes) -> bool:
        """Whether a step of a live blend is its first, or must find weights."""
        try:
            request = _steps.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return False
        live = self._live.get(request.live)
        return live is not None and (live.frame == 0 or request.parameters is not None)

    def cancelled(self, request: m.Cancel, stopped: bool) -> str | bytes:
        """The message that answers a cancel."""
        return encode_answer(request.id, Answer(Stopped(stopped)))

    def _failed(self, number: int, error: Exception) -> str:
        """The message for a defect of the server, which is logged."""
        log.exception("A request could not be answered.")
        what = f"{type(error).__name__}: {error}"[:MOST_REASON]
        return encode_error(number, f"The studio has a defect ({what}).", "failed")

    def close(self) -> None:
        """Release what the page stored."""
        self._results.close()
        self._live.clear()
        self._tables.close()
        self.exports.close()

    def _list(self, request: m.LibraryList) -> Answer:
        return Answer(LibraryListed(self.library.name, self.library.items(), self.command))

    def _preview(self, request: m.LibraryPreview) -> Answer:
        clip = self.library.open(request.clip)
        looks, points = preview_points(clip.motion, clip.body)
        return Answer(Preview(clip.facts, looks), {"points": points})

    def _open(self, request: m.ClipOpen) -> Answer:
        clip = self.library.open(request.clip)
        shown, arrays = show_motion(clip.motion, plants_from(clip, request.plants), clip.body)
        findings = [ClipFinding(f.level, f.where, f.problem, f.fix) for f in clip.findings]
        skin = self.skins.arrays([clip.id], {"": clip.motion})
        return Answer(ClipOpened(clip.id, shown, findings, clip.facts), arrays | skin)

    def _store(
        self, result: Result, request: m.TransitionMake | m.BlendMake | m.SpliceMake
    ) -> Answer:
        number = self._results.add(result)
        head, arrays = result.answer(number, request.have)
        fresh = {
            f"{k}.": motion
            for k, motion in enumerate(result.source_motions)
            if result.source_keys[k] not in request.have
        }
        skin = self.skins.arrays(result.clips, {"": result.motion, **fresh})
        files = [
            ResultFile(name, self.exports.store(text, name).url)
            for name, text in result.files.items()
        ]
        return Answer(msgspec.structs.replace(head, files=files), arrays | skin)

    def _start(self, request: m.ControlStart) -> Answer:
        live = self.blends.start(request)
        self._live[live.number] = live
        while len(self._live) > MOST_LIVE:
            self._live.popitem(last=False)
        return live.answer()

    def _step(self, request: m.ControlStep) -> bytes:
        live = self._live.get(request.live)
        if live is None:
            raise ArrayError("This live blend has ended. Start another.")
        return live.step(
            request.weights, request.parameters, frames=request.frames, record=request.record
        )  # fmt: skip

    def _stop(self, request: m.ControlStop) -> Answer:
        live = self._live.pop(request.live, None)
        return Answer(Recorded([] if live is None else live.recorded))

    def _export(self, request: m.ExportMake) -> Answer:
        motion = self._motion(request.what)
        return Answer(self.exports.make(motion, request.format, request.preset))

    def _render(self, request: m.RenderMake) -> Answer:
        result = self._result(request.result)
        return Answer(self.exports.render(result, request.kind, request.view))

    def _page(self, request: m.PageMake) -> Answer:
        return Answer(
            self.exports.store(shared_page(self._result(request.result)), "motionloom.html")
        )

    def _motion(self, what: str) -> Motion:
        if not what.isdecimal():
            return self.library.open(what).motion
        return self._result(int(what)).motion

    def _result(self, number: int) -> Result:
        result = self._results.find(number)
        if result is None:
            raise ArrayError("This result is no longer stored. Make it again.")
        return result

    def _save(self, request: m.ProjectSave) -> Answer:
        self.project.save(request.project)
        return Answer(Done())

    def _load(self, request: m.ProjectLoad) -> Answer:
        """The project; ``problem`` explains why an existing file cannot be used."""
        try:
            return Answer(ProjectLoaded(self.project.load(), None))
        except FormatError as error:
            return Answer(ProjectLoaded(None, str(error)))
