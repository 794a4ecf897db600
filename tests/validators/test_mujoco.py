"""MuJoCo agrees with our reading of its models: bodies, order, limits, poses, velocities."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat

pytestmark = pytest.mark.judge

SCRIPT = Path(__file__).with_name("mujoco_poses.py")
BIPED = Path(__file__).resolve().parents[1] / "unit" / "intake" / "biped.xml"
TIME_LIMIT_S = 60

ODD = """<mujoco>
  <compiler angle="radian" eulerseq="xyz"/>
  <default><default class="leg"><joint axis="0 1 0" range="-2 2"/></default></default>
  <worldbody>
    <body name="pelvis" pos="0 0 0.8" quat="0.9 0 0 0.3" childclass="leg">
      <freejoint name="floating"/><geom size="0.1"/>
      <body name="torso" pos="0 0 0.1" zaxis="0.1 0 1">
        <joint name="waist" axis="0 0 1" range="-1 1"/><geom size="0.1"/>
        <body name="head" pos="0 0 0.4" euler="0.1 0.2 0.3"><geom size="0.1"/></body>
      </body>
      <frame pos="0 0.1 0" axisangle="1 0 0 0.2">
        <body name="thigh" pos="0 0.1 0" xyaxes="1 0.1 0 0 1 0.2">
          <joint name="pitch" pos="0 0 0.02"/><joint name="roll" axis="1 0 0"/>
          <joint name="yaw" axis="0 0.1 1" pos="0.01 0 0"/><geom size="0.1"/>
          <body name="shin" pos="0 0 -0.35">
            <joint name="knee" range="-0.1 2.5" ref="0.2"/><geom size="0.1"/>
            <body name="foot" pos="0 0 -0.35">
              <joint name="ankle" type="ball" range="0 1"/><geom size="0.1"/>
              <body name="toe" pos="0.1 0 0" euler="0.2 0.1 0">
                <joint name="toe" type="slide" axis="1 0 0.2" pos="0 0.1 0" ref="0.02"/>
                <joint name="tip" axis="0 1 0"/><geom size="0.1"/>
              </body>
            </body>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
</mujoco>
"""


def smooth_qpos(robot: ml.Robot) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(5))
    t = np.linspace(0.0, 1.0, 30)[:, None]
    qpos = 0.7 * np.sin(t + rng.uniform(0.0, 6.0, robot.n_qpos))
    for joint, columns in zip(robot._tree.model.joints, robot._tree.columns, strict=True):
        if joint.type in ("free", "ball"):
            last = slice(columns.stop - 4, columns.stop)
            qpos[:, last] = quat.exp(qpos[:, last][:, :3])
    return qpos


@pytest.mark.parametrize("model", ["biped", "odd"])
def test_mujoco_agrees(model: str, tmp_path: Path, mujoco: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(BIPED.read_text() if model == "biped" else ODD)
    robot = ml.load_robot(file)
    clip = robot.clip(robot.motion(smooth_qpos(robot), 50.0))
    clip.save(tmp_path / "in.npz")
    command = [str(mujoco), "-I", str(SCRIPT), str(file), str(tmp_path / "in.npz")]
    subprocess.run([*command, str(tmp_path / "out.npz")], check=True, timeout=TIME_LIMIT_S)
    with np.load(tmp_path / "out.npz") as seen:
        assert int(seen["nq"]) == robot.n_qpos
        assert seen["bodies"].tolist() == list(robot.body_names)
        assert seen["joints"].tolist()[1:] == list(robot.joint_names)
        assert np.abs(seen["places"] - clip.body_positions).max() < 1e-12
        assert quat.angle_between(seen["turns"], clip.body_quats).max() < 1e-7
        for name, limits in robot.limits.items():
            assert np.allclose(seen["limits"][seen["joints"].tolist().index(name)], limits)
        # MuJoCo counts turns in the frame before, we in the frame between: 2 % of a turn apart.
        assert np.abs(seen["qvel"] - clip.qvel).max() < 0.03 * np.abs(clip.qvel).max()
        joints = zip(robot._tree.model.joints, robot._tree.velocity_columns, strict=True)
        single = [at.start for joint, at in joints if joint.type in ("hinge", "slide")]
        assert np.abs(seen["qvel"] - clip.qvel)[:, single].max() < 1e-9
