"""Find when each heel and toe is planted, measure how still it stands, and hold it in place.

python examples/03_feet.py [CLIP]
"""

from __future__ import annotations

import sys

import motionloom as ml


def main(arguments: list[str]) -> None:
    motion = ml.load(arguments[0]) if arguments else ml.synthetic.clip("jog").motion

    plants = ml.detect_footplants(motion)
    for kind, spans in plants.intervals().items():
        text = ", ".join(f"{first}-{last}" for first, last in spans)
        print(f"{kind:10}  {text or 'never'}")

    # Travel that is 15 % too long makes planted feet slide; clean-up holds them.
    skate = motion.replace(root_positions=motion.root_positions * [1.15, 1.0, 1.15])
    cleanup = ml.clean_footskate(skate, plants)
    for name, each in (("captured", motion), ("skating", skate), ("cleaned", cleanup.motion)):
        quality = ml.measure_quality(each, plants)
        if quality.slide_max_m is not None:
            print(f"{name:9} longest slide {100 * quality.slide_max_m:.1f} cm")
    print(cleanup.report)


if __name__ == "__main__":
    main(sys.argv[1:])
