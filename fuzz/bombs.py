"""Small files that ask for much: every reader must refuse them, or read them within its bounds.

    python fuzz/bombs.py [--only NAME] [--scale 0.1] [--json FILE]

Each case is written to a temporary folder and loaded by a separate process. The table shows the
size of the file, the peak of memory above what the interpreter had before, the processor time and
the limits: 64 MB and 8 times the file, 2 s and 1 s per 10 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fbx_bombs  # noqa: F401 - it enters its files
from bomb_files import BOMBS

FREE_MB, GROWTH = 64.0, 8.0
FREE_S, S_PER_MB = 2.0, 0.1
DEADLINE_S = 180
ADDRESS_SPACE = 5 << 30
"""More than this is refused by the system, so that a bomb does not take the machine with it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    name: str
    file_mb: float
    peak_mb: float
    seconds: float
    result: str

    @property
    def limit_mb(self) -> float:
        """Memory allowed for a file of this size."""
        return FREE_MB + GROWTH * self.file_mb

    @property
    def limit_s(self) -> float:
        """Time allowed for a file of this size."""
        return FREE_S + S_PER_MB * self.file_mb

    @property
    def ok(self) -> bool:
        """Whether the file was read or refused within its limits."""
        calm = self.result.startswith(("read", "refused"))
        return calm and self.peak_mb <= self.limit_mb and self.seconds <= self.limit_s


def memory_mb(key: str) -> float:
    """A line of this process's memory: ``VmRSS`` now, ``VmHWM`` at most so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024.0
    raise SystemExit(f"/proc/self/status has no {key}.")


def load_here(path: Path) -> dict[str, Any]:
    """Load a file in this process, and measure it."""
    import motionloom as ml
    from attempt import warm_up
    from motionloom.errors import MotionLoomError
    from seeds import all_seeds

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(all_seeds(), Path(folder))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.RLIM_INFINITY))
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    before, start = memory_mb("VmRSS"), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load = ml.RegistrationCurve.load if path.suffix == ".mlr" else ml.load
            result = f"read: {load(path)!r}"
    except MotionLoomError as error:
        result = f"refused: {str(error).replace(str(path), path.name)}"
    except Exception as error:  # what must not come
        result = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    return {"peak_mb": memory_mb("VmHWM") - before, "seconds": seconds, "result": result}


def measure(name: str, path: Path) -> Outcome:
    """Load a file in a separate process."""
    files = [file for file in path.parent.glob(f"{path.stem}.*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6 if path.is_file() else 0.0
    command = [sys.executable, __file__, "--load", str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=DEADLINE_S
        )
    except subprocess.TimeoutExpired:
        return Outcome(name, size, 0.0, float(DEADLINE_S), "hangs")
    if done.returncode:
        reason = (
            signal.Signals(-done.returncode).name
            if done.returncode < 0
            else done.stderr.strip().splitlines()[-1][:200]
        )
        return Outcome(name, size, 0.0, 0.0, f"dies: {reason}")
    return Outcome(name, size, **json.loads(done.stdout.splitlines()[-1]))


def special_files(folder: Path) -> dict[str, Path]:
    """What has a name in a folder and is no file."""
    fifo, link, behind = folder / "fifo.bvh", folder / "zero.bvh", folder / "fifo_behind_link.bvh"
    os.mkfifo(fifo)
    link.symlink_to("/dev/zero")
    behind.symlink_to(fifo)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket.bvh"))
    server.close()
    return {
        "fifo without a writer": fifo,
        "link to a fifo": behind,
        "socket": folder / "socket.bvh",
        "device that never ends": link,
        "empty device": Path("/dev/null"),
        "folder": folder,
    }


def run(only: str | None, scale: float) -> list[Outcome]:
    """Every case, printed as it comes."""
    outcomes = []
    print(
        f"{'case':34} {'file MB':>8} {'peak MB':>8} {'limit':>7} {'s':>6} {'limit':>6}  ok  outcome"
    )
    with tempfile.TemporaryDirectory(prefix="bombs") as name:
        cases: dict[str, Any] = {**BOMBS, **special_files(Path(name))}
        for case, made in cases.items():
            if only is not None and only not in case:
                continue
            path = made if isinstance(made, Path) else made(Path(name), scale)
            outcome = measure(case, path)
            outcomes.append(outcome)
            print(
                f"{case:34} {outcome.file_mb:8.2f} {outcome.peak_mb:8.1f} {outcome.limit_mb:7.0f} "
                f"{outcome.seconds:6.2f} {outcome.limit_s:6.1f}  {'yes' if outcome.ok else 'NO '} "
                f"{outcome.result[:150]}",
                flush=True,
            )
            if not isinstance(made, Path):
                for file in path.parent.glob(f"{path.stem}.*"):
                    file.unlink()
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="cases whose name holds this text")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the files")
    parser.add_argument("--json", type=Path, help="write the outcomes to this file")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load is not None:
        print(json.dumps(load_here(options.load)))
        return 0
    outcomes = run(options.only, options.scale)
    bad = [outcome for outcome in outcomes if not outcome.ok]
    print(f"{len(outcomes)} cases, {len(bad)} beyond their limits")
    if options.json is not None:
        rows = [vars(outcome) | {"ok": outcome.ok} for outcome in outcomes]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
