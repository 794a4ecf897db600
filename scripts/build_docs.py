"""Build the documentation site into build/site, without a network.

    ./docs-site [--output FOLDER] [--no-gallery]

Writes the reference from docstrings and help texts, copies the reports of ``studies``, makes the
motions of the gallery and, where MOTIONLOOM_MOCAP names captured clips, those of the showcases, and
runs Sphinx with warnings as errors.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def build(output: Path, *, gallery: bool = True) -> int:
    """Exit code of Sphinx: 0 for a site without a warning."""
    from sphinx.cmd.build import main as sphinx

    from scripts.gallery import write_gallery, write_showcases
    from scripts.reference_pages import write_reference
    from scripts.report_pages import write_reports

    write_reference(DOCS / "reference" / "generated")
    write_reports(DOCS)
    write_gallery(output / "players", motions=gallery)
    write_showcases(output / "players", motions=gallery)
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(output.with_suffix(".cache"))]
    return sphinx([*options, str(DOCS), str(output)])


def main() -> int:
    """Build what the arguments ask for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--no-gallery", action="store_true", help="leave out the motions")
    arguments = parser.parse_args()
    status = build(arguments.output, gallery=not arguments.no_gallery)
    if status == 0:
        print(f"open {arguments.output / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    sys.exit(main())
