"""Put the upper body of one clip on the legs of another.

python examples/06_splice.py [ACTION LOCOMOTION]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml


def main(arguments: list[str]) -> None:
    if arguments:
        action, legs = ml.load(arguments[0]), ml.load(arguments[1])
    else:
        action = ml.synthetic.clip("carry").motion
        legs = ml.synthetic.clip("walk", turn=0.6).motion

    folder = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    for where in ("torso", "right_arm"):
        result = ml.splice(action, legs, where=where)
        print(where, result.motion, "check:", result.verification.describe())
        for note in result.notes:
            print("  note:", note)
        ml.save(result.motion, folder / f"{where}.bvh")
    print("open", folder)


if __name__ == "__main__":
    main(sys.argv[1:])
