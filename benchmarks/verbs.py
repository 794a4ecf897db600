"""What one call of every verb takes, and one command, with another version next to it.

    python benchmarks/verbs.py [--old TREE] [--clips A B ACTION] [--rounds 3]

Clips of ten seconds at 120 frames a second: embedded ones, or two files. Seconds are those of the
processor, with all children, the best of some rounds; every version runs in a process of its own,
in turns with the other, on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from report import Figure, write_report

ROOT = Path(__file__).resolve().parents[1]
SECONDS, FPS = 10.0, 120.0
GOALS = {"transition": 0.2, "splice": 0.2, "blend": 0.1, "command": 0.6}
"""Seconds; loops have none."""
CALLS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import motionloom as ml
one, other, wave = (ml.load(path) for path in sys.argv[1:4])
verbs = {
    "transition": lambda: ml.transition(one, other),
    "splice": lambda: ml.splice(wave, one),
    "blend": lambda: ml.blend([one, other], [0.5, 0.5]),
    "loop": lambda: ml.loop(one),
}
for name, verb in verbs.items():
    taken = []
    for _ in range(3):  # the first one fills caches
        begun = time.process_time()
        try:
            verb()
        except ml.MotionLoomError as error:
            print(name, error, file=sys.stderr)
        taken.append(time.process_time() - begun)
    verbs[name] = min(taken)
print(json.dumps(verbs))
"""


def environment(tree: Path) -> dict[str, str]:
    """One thread, and the package of a tree."""
    path = os.pathsep.join([str(tree / "src"), str(tree)])
    return os.environ | {
        "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip


def measured(tree: Path, clips: list[Path], out: Path) -> dict[str, float]:
    """Seconds of every verb, and of the command, once."""
    places = [str(clip) for clip in clips]
    done = subprocess.run(
        [sys.executable, "-c", CALLS, *places],
        env=environment(tree), check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["transition", *places[:2], "-o", str(out), "--force", "--allow-flawed"]
    subprocess.run(
        [sys.executable, "-m", "motionloom", *command],
        env=environment(tree), check=True, capture_output=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**found, "command": spent}


def embedded(folder: Path) -> list[Path]:
    """Two gaits to join and a wave to splice, as files."""
    import motionloom as ml

    places = []
    for kind in ("walk", "jog", "wave"):
        places.append(folder / f"{kind}.bvh")
        ml.save(ml.synthetic.clip(kind, duration_s=SECONDS, fps=FPS).motion, places[-1])
    return places


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, help="the working tree of another version")
    parser.add_argument("--clips", type=Path, nargs=3, help="A, B, and an action for the splice")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    trees = {"ours": ROOT} | ({} if given.old is None else {"old": given.old.resolve()})
    best: dict[str, dict[str, float]] = {name: {} for name in trees}
    with tempfile.TemporaryDirectory() as folder:
        clips = given.clips or embedded(Path(folder))
        for _ in range(given.rounds):
            for name, tree in trees.items():
                for verb, taken in measured(tree, clips, Path(folder) / "out.bvh").items():
                    best[name][verb] = min(taken, best[name].get(verb, taken))
    figures = [
        Figure(
            verb,
            taken,
            "s",
            baseline="old" if "old" in best else "",
            baseline_value=best.get("old", {}).get(verb),
            lower_is_better=True,
            value_goal=GOALS.get(verb),
        )
        for verb, taken in best["ours"].items()
    ]
    write_report("verbs", figures, about={"clips": [clip.name for clip in clips], "fps": FPS})


if __name__ == "__main__":
    main()
