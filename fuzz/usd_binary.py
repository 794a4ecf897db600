"""Spoiled binary USD through its reader: each must give a Motion or a FormatError, in bounds.

    python fuzz/usd_binary.py --count 500 --seed 17 --json fuzz/results/usd_binary.json

Binary files are turned into text by ``usd-core`` in a process for each, which must be installed;
so few files are tried here. What that package makes of a file must end in time, and whatever
becomes of its process, ours goes on.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from attempt import check
from motionloom.errors import ArrayError, FormatError
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.usd.usd_read import read
from mutate import BLIND
from usd_mutate import changed_stage, small_stages, written

LONGEST_S = 30.0
"""Of one file; a machine that is busy starts processes slowly."""


def binary(text: bytes) -> bytes | None:
    """A text layer as binary USD; None where usd-core cannot read it."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        layer.ImportFromString(text.decode())
    except Exception:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.usdc"
        layer.Export(str(path))
        return path.read_bytes()


def spoiled(rng: np.random.Generator) -> bytes:
    """A binary file with one to three changes of its bytes, or one of a changed tree."""
    if rng.random() < 0.3:
        data = binary(changed_stage(rng))
        if data is not None:
            return data
    data = binary(written(small_stages()[int(rng.integers(len(small_stages())))]))
    assert data is not None
    for _ in range(1 + int(rng.integers(3))):
        data = BLIND[int(rng.integers(len(BLIND)))](rng, data)
    return data


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    outcomes: Counter[str] = Counter()
    failures, slowest = [], 0.0
    warnings.simplefilter("error")
    for number in range(given.count):
        data = spoiled(np.random.Generator(np.random.PCG64([given.seed, number])))
        start = time.monotonic()
        try:
            check(read(io.BytesIO(data), ReadOptions()).motion)
            outcomes["read"] += 1
        except (FormatError, ArrayError):
            outcomes["refused"] += 1
        except Exception:
            outcomes["failed"] += 1
            failures.append(f"case {number}: {traceback.format_exc()[-800:]}")
        slowest = max(slowest, time.monotonic() - start)
        if slowest > LONGEST_S:
            failures.append(f"case {number}: {slowest:.1f} s")
    print(f"{given.count} binary files: {dict(outcomes)}, slowest {slowest:.1f} s")
    print("\n".join(failures))
    if given.json is not None:
        summary = {
            **{"cases": given.count, "seed": given.seed, "read": outcomes["read"]},
            **{"refused": outcomes["refused"], "failures": failures, "slowest_s": slowest},
        }
        given.json.write_text(json.dumps(summary, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
