"""Find when each heel and toe is planted, and measure how still it stands.

python examples/03_feet.py [CLIP]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks


def main(arguments: list[str]) -> None:
    motion = ml.load(arguments[0]) if arguments else ml.synthetic.clip("jog").motion

    plants = ml.detect_footplants(motion)
    for kind, spans in plants.intervals().items():
        said = ", ".join(f"{first}-{last}" for first, last in spans)
        print(f"{kind:10}  {said or 'never'}")

    quality = ml.measure_quality(motion, plants)
    if quality.contact_speed_mean is not None and quality.contact_speed_max is not None:
        print(f"planted points move at {100 * quality.contact_speed_mean:.2f} cm/s on average,")
        worst = quality.contact_speed_worst
        print(f"at worst {100 * quality.contact_speed_max:.1f} cm/s at {worst}")

    folder = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    save_tracks(motion, folder / "feet.png", footplants=plants)
    save_strip(motion, folder / "strip.png", footplants=plants)
    print("open", folder / "feet.png")
    print("open", folder / "strip.png")


if __name__ == "__main__":
    main(sys.argv[1:])
