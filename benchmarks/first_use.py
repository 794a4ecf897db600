"""From nothing to the first results: an installation, and what its first commands take.

    python benchmarks/first_use.py [--old TREE] [--extras NAMES] [--keep FOLDER]

The last commit is installed into a new virtual environment, and used by somebody who has no caches
and no settings; what one command caches is deleted before the next is timed. The demo and the
studio come after their extras were added to it. The same is done with ``--old``, the working tree
of an older version: its figures stand next to ours. Seconds are those of the processor, with all
children, unless a figure states otherwise: other work on the machine changes those least.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from report import Figure, write_report
from studio import Served, served

ROOT = Path(__file__).resolve().parents[1]
AGAIN = 3
"""Times that a command is run after the first; their median counts."""
STARTS = 9
"""Times that Python is started for the shortest commands; their median counts."""
PAGE_S = 3.0
"""Seconds from opening the studio's page to asking for a transition."""
CLIPS = ("16_15", "16_35")
EMBEDDED = ("walk", "jog")
STUDIO_CLIPS = (EMBEDDED, ("jog", "run"), ("run", "walk"), ("walk", "run"))

TABLE_SCRIPT = """
import json, sys, time
import motionloom as ml
table = ml.TransitionTable.open(sys.argv[1])
ids, taken = table.frames.ids, []
for _ in range(20):
    begun = time.process_time()
    table.transition((ids[0], 0), (ids[-1], table.length))
    taken.append(1e3 * (time.process_time() - begun))
print(json.dumps(taken))
"""
CLIP_SCRIPT = """
import sys
import motionloom as ml
for kind in sys.argv[2:]:
    ml.save(ml.synthetic.clip(kind).motion, f"{sys.argv[1]}/{kind}.bvh")
"""


@dataclass(frozen=True)
class Spent:
    """What a command took."""

    cpu_s: float
    wall_s: float
    output: str = ""


@dataclass(frozen=True)
class FirstUse:
    """Everything measured of one version."""

    install: Spent
    size_mb: float
    largest: dict[str, float]
    """Packages by megabytes, the largest first."""
    size_all_mb: float
    """With the extras."""
    imports: list[Spent]
    """Processes that import the package and end."""
    loads: list[Spent]
    """Processes that import the package and look up its function ``load``."""
    help_first: Spent
    help_again: list[Spent]
    transitions: list[Spent]
    demo: list[Spent]
    studio_address_s: float
    """Seconds by the clock from its start to its address."""
    studio_s: list[float]
    """Of its first transitions."""
    table_ms: list[float]
    """Milliseconds of a table's first transitions."""


def measure(tree: Path, folder: Path, extras: str, clips: Sequence[Path]) -> FirstUse:
    """Install the last commit of a working tree, and use it."""
    sources, home = folder / "sources", folder / "home"
    home.mkdir(parents=True)
    unpack(tree, sources)
    python = folder / "env" / "bin" / "python"
    run([base_python(), "-m", "venv", folder / "env"])
    words = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    install = run([*words, sources])
    clean = environment(home)
    program = [folder / "env" / "bin" / "motionloom"]
    size, largest = megabytes(folder / "env"), largest_packages(folder / "env")
    installed = set((folder / "env").rglob("*"))

    def forget() -> None:
        """Delete what was cached since, so that each use is the first."""
        shutil.rmtree(home)
        home.mkdir()
        for path in set((folder / "env").rglob("*")) - installed:
            if path.is_file():
                path.unlink()

    helps = [run([*program, "--help"], clean) for _ in range(1 + STARTS)]
    imports, loads = (
        [run([python, "-c", script], clean) for _ in range(STARTS)]
        for script in ("import motionloom", "import motionloom; motionloom.load")
    )
    forget()
    transition = [*program, "transition", *clips, "-o"]
    transitions = [run([*transition, folder / f"{n}.glb"], clean) for n in range(1 + AGAIN)]
    forget()
    # The command that an error names where an extra is missing; not built again.
    run([*words, f"motionloom[{extras}]"])
    size_all, installed = megabytes(folder / "env"), set((folder / "env").rglob("*"))
    demos = [run([*program, "demo", "-o", folder / f"demo_{n}"], clean) for n in range(2)]
    forget()
    with served(python=python, environment=clean) as studio:
        studio_s = in_the_studio(studio)
    forget()
    (table,) = (folder / "demo_0").rglob("*.mlt")
    table_ms = json.loads(run([python, "-c", TABLE_SCRIPT, table], clean).output)
    return FirstUse(
        install, size, largest, size_all, imports, loads, helps[0], helps[1:], transitions, demos,
        studio.address_s, studio_s, table_ms,
    )  # fmt: skip


def unpack(tree: Path, folder: Path) -> None:
    """The files of a working tree's last commit."""
    folder.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "-C", str(tree), "archive", "HEAD"], capture_output=True, check=True
    )
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive.stdout, check=True)


def base_python() -> str:
    """The interpreter that environments are made from, not that of this one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = Path(sys.base_prefix) / "bin" / name
    return str(found) if found.is_file() else sys.executable


def environment(home: Path) -> dict[str, str]:
    """For somebody without caches, settings or other motionlooms."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    return {**{key: os.environ[key] for key in kept if key in os.environ}, "HOME": str(home)}


def run(command: Sequence[object], env: dict[str, str] | None = None) -> Spent:
    """Run a command to its end, which must be good."""
    if env is None:  # an installation: pip has its settings, and writes what it always writes
        hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
        env = {key: value for key, value in os.environ.items() if key not in hidden}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [str(word) for word in command], env=env, capture_output=True, text=True, check=False
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(cpu, wall, done.stdout)


def megabytes(place: Path) -> float:
    """Of all files of a folder, or of a file."""
    files = [place] if place.is_file() else place.rglob("*")
    return sum(path.lstat().st_size for path in files if not path.is_dir()) / 1e6


def largest_packages(env: Path) -> dict[str, float]:
    """The ten largest entries of the environment's packages."""
    (packages,) = env.glob("lib/python*/site-packages")
    sizes = {path.name: round(megabytes(path), 1) for path in packages.iterdir()}
    return dict(sorted(sizes.items(), key=lambda item: -item[1])[:10])


def two_clips(folder: Path) -> list[Path]:
    """Two captured clips where they are found, else two embedded ones."""
    folder.mkdir(parents=True, exist_ok=True)
    mocap = os.environ.get("MOTIONLOOM_MOCAP")
    place = Path(mocap) if mocap else ROOT.parent / "shared" / "mocap"
    real = [place / "cmu_bvh" / f"{name}.bvh" for name in CLIPS]
    if all(path.is_file() for path in real):
        return real
    subprocess.run([sys.executable, "-c", CLIP_SCRIPT, str(folder), *EMBEDDED], check=True)
    return [folder / f"{kind}.bvh" for kind in EMBEDDED]


def in_the_studio(studio: Served) -> list[float]:
    """Seconds of the first transitions of a server whose page was just opened."""
    from websockets.sync.client import connect
    from websockets.typing import Origin

    with connect(studio.socket, origin=Origin(studio.origin), max_size=None) as socket:

        def ask(kind: str, **body: object) -> float:
            before = studio.cpu_s()
            socket.send(json.dumps({"type": kind, "id": 1, **body}))
            while isinstance(message := socket.recv(), str):  # progress
                if json.loads(message)["type"] == "error":
                    raise SystemExit(f"The studio refused: {message}")
            return studio.cpu_s() - before

        time.sleep(PAGE_S)
        # Other clips each time: a result that is kept is not made again.
        return [ask("transition.make", a=a, b=b) for a, b in STUDIO_CLIPS]


def figures_of(new: FirstUse, old: FirstUse | None) -> list[Figure]:
    """Ours, next to those of the older version."""

    def figure(
        name: str, of: str, unit: str = "s", goal: float | None = None, note: str = ""
    ) -> Figure:
        return Figure(
            name,
            values(new)[of],
            unit,
            "" if old is None else "before",
            None if old is None else values(old)[of],
            lower_is_better=True,
            value_goal=goal,
            note=note,
        )

    return [
        figure("pip install, wall", "install wall", note="with the build of core and page"),
        figure("environment", "size", "MB", 150.0),
        figure("environment with the extras", "size all", "MB", 250.0),
        figure("import motionloom", "import", goal=0.15, note=f"whole process, median of {STARTS}"),
        figure("import motionloom and its load", "load", note="with NumPy"),
        figure("motionloom --help, first", "help", goal=0.5),
        figure("motionloom --help, afterwards", "help again", note=f"median of {STARTS}"),
        figure("motionloom transition, first", "transition", goal=1.5),
        figure("motionloom transition, afterwards", "transition again", note=f"median of {AGAIN}"),
        figure("first over afterwards", "transition ratio", "x", 1.1),
        figure("motionloom demo, first, wall", "demo wall", goal=15.0),
        figure("motionloom demo, first", "demo"),
        figure("motionloom demo, afterwards", "demo again"),
        figure("studio until the page's address, wall", "studio address"),
        figure("studio's first transition", "studio", goal=1.0),
        figure("studio's transitions afterwards", "studio again", note=f"median of {AGAIN}"),
        figure("a table's first transition after opening", "table", "ms"),
        figure("a table's transitions afterwards", "table again", "ms", note="median of 19"),
    ]


def values(used: FirstUse) -> dict[str, float]:
    """Numbers by the names of :func:`figures_of`."""
    first, *others = used.transitions
    again = statistics.median(each.cpu_s for each in others)
    return {
        "install wall": used.install.wall_s,
        "size": used.size_mb,
        "size all": used.size_all_mb,
        "import": statistics.median(each.cpu_s for each in used.imports),
        "load": statistics.median(each.cpu_s for each in used.loads),
        "help": used.help_first.cpu_s,
        "help again": statistics.median(each.cpu_s for each in used.help_again),
        "transition": first.cpu_s,
        "transition again": again,
        "transition ratio": first.cpu_s / again,
        "demo wall": used.demo[0].wall_s,
        "demo": used.demo[0].cpu_s,
        "demo again": used.demo[1].cpu_s,
        "studio address": used.studio_address_s,
        "studio": used.studio_s[0],
        "studio again": statistics.median(used.studio_s[1:]),
        "table": used.table_ms[0],
        "table again": statistics.median(used.table_ms[1:]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./bench first-use", description=__doc__)
    parser.add_argument("--old", type=Path, help="working tree of an older version")
    parser.add_argument("--extras", default="pictures,studio", help="added before the demo")
    parser.add_argument(
        "--keep", type=Path, help="new folder for all that is made, kept afterwards"
    )
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="motionloom_first_use_"))
    try:
        clips = two_clips(folder)
        old = measure(given.old, folder / "old", given.extras, clips) if given.old else None
        new = measure(ROOT, folder / "new", given.extras, clips)
    finally:
        if given.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    figures = figures_of(new, old)
    about = {
        "clips": " and ".join(path.stem for path in clips),
        "seconds": "of the processor, with children, unless a figure states wall time",
        "largest packages, MB": new.largest,
        "before, largest packages, MB": old.largest if old else None,
    }
    write_report("first_use", figures, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
