"""Run by a Python that has mujoco: poses and velocities of the qpos in an npz file.

``python mujoco_poses.py MODEL.xml IN.npz OUT.npz``
"""

from __future__ import annotations

import sys

import mujoco
import numpy as np


def main() -> None:
    model = mujoco.MjModel.from_xml_path(sys.argv[1])
    data = mujoco.MjData(model)
    with np.load(sys.argv[2]) as file:
        qpos, fps = file["qpos"], float(file["fps"][0])
    places, turns, qvel = [], [], []
    for frame, row in enumerate(qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[1:].copy())
        turns.append(data.xquat[1:].copy())
        before, after = max(frame - 1, 0), min(frame + 1, len(qpos) - 1)
        rate = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, rate, (after - before) / fps, qpos[before], qpos[after])
        qvel.append(rate)
    names = [model.joint(k).name for k in range(model.njnt)]
    bodies = [model.body(k).name for k in range(1, model.nbody)]
    np.savez(
        sys.argv[3],
        places=places,
        turns=turns,
        qvel=qvel,
        joints=names,
        bodies=bodies,
        limits=model.jnt_range,
        nq=model.nq,
    )


if __name__ == "__main__":
    main()
