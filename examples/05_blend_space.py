"""Make a family of walks from three clips, and steer along it.

python examples/05_blend_space.py
"""

from __future__ import annotations

import math

import motionloom as ml


def main() -> None:
    turns = (0.8, 0.0, -0.8)  # radians per second
    curve = ml.register([ml.synthetic.clip("walk", turn=turn).motion for turn in turns])
    space = ml.parametrize(curve, {"turn": turns})

    half_left = ml.blend(curve, space.weights(turn=0.4))
    print(half_left.motion, "check:", half_left.verification.describe())

    winding = ml.blend(curve, lambda s: space.weights(turn=0.8 * math.sin(s)), duration_s=5.0)
    print(winding.motion)

    live = ml.control(curve)
    for frame in range(120):
        pose = live.step(space.weights(turn=0.8 if frame < 60 else -0.8))
    print("after two seconds of steering at", pose.root_position.round(2))


if __name__ == "__main__":
    main()
