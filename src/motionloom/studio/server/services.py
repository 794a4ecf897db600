"""What stands behind the page: clips, exports, tables. It loads slowly, so that it loads aside."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motionloom.studio.clips.library import Library
    from motionloom.studio.panels.open_tables import Tables
    from motionloom.studio.results.exports import Exports
    from motionloom.studio.results.kept_results import KeptResults
    from motionloom.studio.server.project import Project
    from motionloom.studio.server.session import Session

__all__ = ["Interior"]


@dataclass(frozen=True, slots=True)
class _Things:
    library: Library
    exports: Exports
    tables: Tables
    results: KeptResults


class Interior:
    """All that pages share, made in a thread of its own: the page itself is served meanwhile.

    Whoever asks for a part waits until it is there.

    Parameters
    ----------
    folder
        Clips; the embedded ones where None.
    project
        The page's state; the table that is built here lies beside its file.
    """

    def __init__(self, folder: Path | None, project: Project) -> None:
        self.folder, self.project = folder, project
        self._things: Future[_Things] = Future()
        threading.Thread(target=self._make, name="interior", daemon=True).start()

    @property
    def library(self) -> Library:
        """The clips."""
        return self._things.result().library

    @property
    def exports(self) -> Exports:
        """Files to download."""
        return self._things.result().exports

    @property
    def tables(self) -> Tables:
        """Transition tables."""
        return self._things.result().tables

    def session(self, command: str = "") -> Session:
        """For a page that was opened; ``command`` starts the server again."""
        from motionloom.studio.server.session import Session

        there = self._things.result()
        return Session(
            there.library, there.exports, self.project, there.tables, command, there.results
        )

    def close(self) -> None:
        """End what runs, and delete what was made to be downloaded."""
        if self._things.exception() is not None:
            return  # told to whoever asked
        there = self._things.result()
        there.tables.close()
        there.exports.close()

    def _make(self) -> None:
        try:
            from motionloom.studio.clips.library import Library
            from motionloom.studio.panels.open_tables import Tables
            from motionloom.studio.results.exports import Exports
            from motionloom.studio.results.kept_results import KeptResults

            library, kept = Library(self.folder), self.project.path
            tables = Tables(library, kept.with_name(f"{kept.stem}.tables"))
            self._things.set_result(_Things(library, Exports(), tables, KeptResults()))
        except BaseException as error:
            self._things.set_exception(error)
        else:
            import motionloom.studio.server.session  # noqa: F401  the rooms: what a page asks for next
