"""Compare what the package returns and says with what it did: ``python -m tests.digests``.

    python -m tests.digests [FOLDER ...]           print what differs from the stored digests
    python -m tests.digests --write [FOLDER ...]   store them

Numbers are results to the last bit of this machine, for work that must not change any; texts are
errors and the help of every command. ``tests/digests/*.json`` holds both, a file for each folder.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import motionloom as ml
from tests.digests.cases import FOLDERS
from tests.digests.digest import digest

FOLDER = re.compile(r"/\S*/")
"""Of a file that an error names: it differs from machine to machine."""
HERE = Path(__file__).parent
COMMANDS = (
    *("demo", "info", "convert", "check", "render", "transition", "sequence", "blend", "splice"),
    *("clean", "balance", "studio", "table", "table build", "table info", "table fit-masses"),
    *("table query", "table synthesize", "table verify", "table evaluate", "table export"),
    *("table page",),
)


def of_folder(name: str) -> dict[str, dict[str, str]]:
    numbers, texts = {}, {}
    for case, made in FOLDERS[name]():
        try:
            numbers[case] = digest(made())
        except ml.MotionLoomError as error:
            texts[case] = f"{type(error).__name__}: {FOLDER.sub('', str(error))}"
        except Exception as error:  # a crash is a text as well, and stands out
            texts[case] = f"CRASH {type(error).__name__}: {error}"
    return {"numbers": numbers, "texts": texts}


def of_commands() -> dict[str, dict[str, str]]:
    texts = {}
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "motionloom", *command.split(), "--help"],
            capture_output=True, text=True, check=False, env={"COLUMNS": "100", "PATH": ""},
        )  # fmt: skip
        texts[command] = done.stdout + done.stderr
    return {"numbers": {}, "texts": texts}


def differences(stored: dict[str, str], found: dict[str, str]) -> list[str]:
    lines = []
    for case in {**stored, **found}:
        before, after = stored.get(case), found.get(case)
        if before != after:
            lines.append(f"  {case}\n    before: {before}\n    now:    {after}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    changed = 0
    for name in options.folders or [*FOLDERS, "cli"]:
        found = of_commands() if name == "cli" else of_folder(name)
        path = HERE / f"{name}.json"
        count = f"{len(found['numbers'])} results, {len(found['texts'])} texts"
        if options.write:
            path.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{name}: {count} stored")
            continue
        stored = json.loads(path.read_text())
        lines = [
            line for kind in ("numbers", "texts") for line in differences(stored[kind], found[kind])
        ]
        changed += len(lines)
        print("\n".join([f"{name}: {count}, {len(lines)} differ", *lines]), flush=True)
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
