"""Reports of the site: the pages of ``studies``, copied to where Sphinx reads them.

Pages of the documentation link to reports by their path in the repository, and reports link back.
:func:`write_reports` copies the reports with their links changed; :func:`to_site` changes the links
of a documentation page, which ``docs/conf.py`` asks for when Sphinx reads it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

__all__ = ["to_site", "write_reports"]

REPORTS = Path(__file__).resolve().parents[1] / "studies" / "reports"
ARCHIVE = REPORTS.parent / "ARCHIVE.md"
FOLDER = "reference/generated/reports"
"""Folder of the copies, as seen from ``docs``."""
LINK = re.compile(r"(?:\.\./)+studies/(?:reports/|(?=ARCHIVE\.md))")


def write_reports(docs: Path) -> None:
    """Copy every report, its pictures and the archive into the generated pages."""
    folder = docs / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(REPORTS / "img", folder / "img")
    for page in sorted(REPORTS.glob("*.md")):
        text = page.read_text(encoding="utf-8").replace("../../docs/", "../../../")
        text = text.replace(f"](../{ARCHIVE.name}", f"]({ARCHIVE.name}")
        (folder / page.name).write_text(text, encoding="utf-8")
    text = ARCHIVE.read_text(encoding="utf-8").replace("](../docs/", "](../../../")
    (folder / ARCHIVE.name).write_text(text.replace("](reports/", "]("), encoding="utf-8")


def to_site(page: str, text: str) -> str:
    """The text of a documentation page (its name without suffix), with links to the copies."""
    return LINK.sub("../" * page.count("/") + FOLDER + "/", text)
