"""Services behind the page: clips, exports, tables. They load in another thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motionloom.studio.clips.library import Library
    from motionloom.studio.panels.library_tables import Tables
    from motionloom.studio.results.exports import Exports
    from motionloom.studio.results.stored_results import StoredResults
    from motionloom.studio.server.project import Project
    from motionloom.studio.server.session import Session


@dataclass(frozen=True, slots=True)
class _Loaded:
    library: Library
    exports: Exports
    tables: Tables
    results: StoredResults


class Services:
    """What all pages share, created in a background thread while the page is served.

    Each property waits until its service is ready.
    """

    def __init__(self, folder: Path | None, project: Project) -> None:
        self.folder, self.project = folder, project
        self._loaded: Future[_Loaded] = Future()
        threading.Thread(target=self._load, name="services", daemon=True).start()

    @property
    def library(self) -> Library:
        """The clips."""
        return self._loaded.result().library

    @property
    def exports(self) -> Exports:
        """Files to download."""
        return self._loaded.result().exports

    @property
    def tables(self) -> Tables:
        """Transition tables."""
        return self._loaded.result().tables

    def session(self, command: str = "") -> Session:
        """For a page that was opened; ``command`` starts the server again."""
        from motionloom.studio.server.session import Session

        ready = self._loaded.result()
        return Session(
            ready.library, ready.exports, self.project, ready.tables, command, ready.results
        )

    def close(self) -> None:
        """End running builds and delete the exported files."""
        if self._loaded.exception() is not None:
            return  # each property raises it
        self.tables.close()
        self.exports.close()

    def _load(self) -> None:
        try:
            from motionloom.studio.clips.library import Library
            from motionloom.studio.panels.library_tables import Tables
            from motionloom.studio.results.exports import Exports
            from motionloom.studio.results.stored_results import StoredResults

            library, path = Library(self.folder), self.project.path
            tables = Tables(library, path.with_name(f"{path.stem}.tables"))
            self._loaded.set_result(_Loaded(library, Exports(), tables, StoredResults()))
        except BaseException as error:
            self._loaded.set_exception(error)
        else:
            import motionloom.studio.server.session  # noqa: F401  a page needs it next
