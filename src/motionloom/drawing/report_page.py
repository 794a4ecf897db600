"""A report: sections of text, tables, pictures and players in one page."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from motionloom.drawing.page import page_of, player_slot


class Report:
    """A page that grows section by section; every text given to it is escaped.

    Examples
    --------
    >>> report = Report("Walks", "Two walks.")
    >>> report.section("First", "It walks.")
    >>> report.table(["frames"], [["120"]])
    >>> "<h2>First</h2>" in report.html()
    True
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._parts = [f"<h1>{html.escape(title)}</h1>\n"]
        self._players = 0
        if lead:
            self._parts.append(f'<p class="ml-lead">{html.escape(lead)}</p>\n')

    def section(self, title: str, text: str = "") -> None:
        """A heading, and a paragraph below it."""
        self._parts.append(f"<h2>{html.escape(title)}</h2>\n")
        if text:
            self.text(text)

    def text(self, text: str) -> None:
        """A paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>\n")

    def link(self, target: str, text: str) -> None:
        """A link to a file next to the page."""
        self._parts.append(
            f'<p><a href="{html.escape(quote(target))}">{html.escape(text)}</a></p>\n'
        )

    def code(self, text: str) -> None:
        """Lines to copy: a command, a piece of Python."""
        self._parts.append(f"<pre>{html.escape(text)}</pre>\n")

    def picture(self, data: bytes, caption: str = "", *, kind: str = "png") -> None:
        """A picture, kept inside the page; ``kind`` is ``"png"`` or ``"gif"``."""
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        label = html.escape(caption)
        below = f"<figcaption>{label}</figcaption>" if caption else ""
        self._parts.append(f'<figure><img alt="{label}" src="{source}">{below}</figure>\n')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table of texts."""
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n"
            for row in rows
        )
        self._parts.append(
            f'<div class="ml-table"><table><thead><tr>{top}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>\n"
        )

    def player(self, clips: Sequence[dict[str, Any]], *, together: bool = False) -> None:
        """A player of clips packed by :func:`motionloom.drawing.clipdata.pack_clip`."""
        self._players += 1
        self._parts.append(player_slot(clips, number=self._players, together=together))

    def html(self) -> str:
        """The whole page."""
        return page_of(
            self.title, '<main class="ml-report">\n' + "".join(self._parts) + "</main>\n"
        )
