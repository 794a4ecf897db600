"""Checks the TypeScript client: types (tsc), lint rules and format (Biome), tests (vitest).

``python scripts/check_client.py`` checks; ``--fix`` applies the safe fixes and the format. Works
offline once the packages are installed in build/page. Exits with 0 and the reason where neither
Node nor its packages can be had.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import hatch_build as builder  # noqa: E402


def main() -> int:
    """Run the checks; the exit status."""
    workspace = ROOT / builder.WORKSPACE
    try:
        builder.install_packages(ROOT, workspace, checks=True)
    except RuntimeError as error:
        print(f"The TypeScript client is not checked: {error}", file=sys.stderr)
        return 0
    try:
        if "--fix" in sys.argv[1:]:
            with suppress(RuntimeError):  # the check below reports what is left
                builder.run_script(workspace, "fix")
            unwanted = shutil.ignore_patterns(builder.PACKAGES)
            shutil.copytree(
                workspace / builder.CLIENT,
                ROOT / builder.CLIENT,
                dirs_exist_ok=True,
                ignore=unwanted,
            )
            shutil.copyfile(workspace / builder.WRAPPER, ROOT / builder.WRAPPER)
        builder.run_script(workspace, "check")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
