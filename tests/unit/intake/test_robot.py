"""Robots: models read safely, joint positions to motions and back, captured clips on hinges."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.findings import MotionLoomWarning
from motionloom.formats.robots.joint_positions import chain_angles, unwrapped
from motionloom.rotation import quat

MODEL = Path(__file__).with_name("biped.xml")
EXACT = 1e-9


def joint_map() -> dict[str, str]:
    names = {f"waist_{turn}_joint": "Spine1" for turn in ("yaw", "roll", "pitch")}
    for side in ("left", "right"):
        upper = side.capitalize()
        for turn in ("pitch", "roll", "yaw"):
            names[f"{side}_hip_{turn}_joint"] = f"{upper}UpLeg"
            names[f"{side}_shoulder_{turn}_joint"] = f"{upper}Arm"
        names[f"{side}_knee_joint"] = f"{upper}Leg"
        names[f"{side}_elbow_joint"] = f"{upper}ForeArm"
        names[f"{side}_ankle_pitch_joint"] = names[f"{side}_ankle_roll_joint"] = f"{upper}Foot"
    return names


@pytest.fixture(scope="module")
def robot() -> ml.Robot:
    return ml.load_robot(MODEL)


def some_qpos(robot: ml.Robot, n_frames: int = 40, seed: int = 0) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(seed))
    t = np.linspace(0.0, 2.0, n_frames)[:, None]
    qpos = 0.8 * np.sin(t + rng.uniform(0.0, 6.0, robot.n_qpos))
    qpos[:, 3:7] = quat.exp(qpos[:, 3:6])
    return qpos


def test_the_model_is_read(robot) -> None:
    assert (robot.n_qpos, robot.n_qvel) == (30, 29)
    assert robot.joint_names[:2] == ("waist_yaw_joint", "waist_roll_joint")
    assert robot.limits["left_knee_joint"] == pytest.approx(np.radians([-5.0, 150.0]))
    assert robot.body_names[0] == "pelvis"
    assert repr(robot) == "Robot(pelvis: 23 joints, 18 bodies)"
    assert pickle.loads(pickle.dumps(robot)).joint_names == robot.joint_names


def test_joint_positions_come_back(robot) -> None:
    qpos = some_qpos(robot)
    clip = robot.clip(robot.motion(qpos, 50.0))
    same = np.abs(clip.qpos - qpos)
    same[:, 3:7] = np.minimum(same[:, 3:7], np.abs(clip.qpos + qpos)[:, 3:7])
    assert same.max() < EXACT
    assert not [note for note in clip.notes if "leaves out" in note]


def test_the_other_order_of_quaternions_is_declared(robot) -> None:
    qpos = some_qpos(robot)
    other = qpos.copy()
    other[:, 3:7] = qpos[:, [4, 5, 6, 3]]
    one, two = robot.motion(qpos, 50.0), robot.motion(other, 50.0, quat_order="xyzw")
    assert np.array_equal(one.local_quats, two.local_quats)
    with pytest.raises(ml.ArrayError, match="quat_order"):
        robot.motion(qpos, 50.0, quat_order="zyxw")


def test_velocities_are_derivatives(robot) -> None:
    clip = robot.clip(robot.motion(some_qpos(robot), 50.0))
    assert np.allclose(clip.qvel[1:-1, :3], (clip.qpos[2:, :3] - clip.qpos[:-2, :3]) * 25.0)
    assert np.allclose(clip.qvel[1:-1, 6:], (clip.qpos[2:, 7:] - clip.qpos[:-2, 7:]) * 25.0)
    # MuJoCo's angular velocity is in the body: carried to the world it turns frame into frame.
    spin = quat.rotate(clip.qpos[1:-1, 3:7], clip.qvel[1:-1, 3:6])
    ahead = quat.multiply(quat.exp(spin / 25.0), clip.qpos[:-2, 3:7])
    assert quat.angle_between(ahead, clip.qpos[2:, 3:7]).max() < 1e-6


def test_mjlab_keys_and_names(robot, tmp_path) -> None:
    motion = robot.motion(some_qpos(robot), 50.0)
    clip = robot.clip(motion)
    clip.save(tmp_path / "clip.npz")
    with np.load(tmp_path / "clip.npz") as file:
        wanted = ("fps", "joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
        assert tuple(file)[:7] == (*wanted, "body_lin_vel_w", "body_ang_vel_w")
        assert file["joint_pos"].shape == (40, 23)
        assert file["body_pos_w"].shape == (40, 18, 3)
        assert file["joint_names"].tolist() == list(robot.joint_names)
        assert (str(file["quat_order"]), str(file["up"])) == ("wxyz", "z")
        places = file["body_pos_w"]
        assert np.allclose(file["body_lin_vel_w"][1:-1], (places[2:] - places[:-2]) * 25.0)
        only_mjlab = {key: file[key] for key in tuple(file)[:7]}
    np.savez(tmp_path / "mjlab.npz", **only_mjlab)
    for name in ("clip.npz", "mjlab.npz"):
        back = ml.load(tmp_path / name, skeleton=MODEL)
        assert np.abs(back.world_positions() - motion.world_positions()).max() < EXACT
    with pytest.raises(ml.FormatError, match=r"skeleton=\"g1.xml\""):
        ml.load(tmp_path / "clip.npz")


def test_csv_comes_back_to_the_last_bit(robot, tmp_path) -> None:
    clip = robot.clip(robot.motion(some_qpos(robot), 50.0))
    clip.save(tmp_path / "clip.csv")
    back = robot.clip(ml.load(tmp_path / "clip.csv", skeleton=MODEL))
    assert back.fps == 50.0
    assert np.abs(back.qpos - clip.qpos).max() < EXACT
    with pytest.raises(ml.FormatError, match=r"\.npz or \.csv"):
        clip.save(tmp_path / "clip.txt")


def test_a_seed_csv_is_in_centimetres_and_degrees(robot, tmp_path) -> None:
    names = ["Frame", *(f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ")]
    names += [f"{joint}_dof" for joint in robot.joint_names]
    rows = np.zeros((5, len(names)))
    rows[:, 0] = np.arange(5)
    rows[:, 1:7] = [100.0, -50.0, 80.0, 10.0, 20.0, 90.0]
    rows[:, names.index("left_knee_joint_dof")] = 45.0
    text = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "g1.csv").write_text(text)
    motion = ml.load(tmp_path / "g1.csv", skeleton=MODEL)
    assert motion.fps == 120.0
    assert motion.source.fps is None
    qpos = robot.clip(motion).qpos[0]
    assert np.allclose(qpos[:3], [1.0, -0.5, 0.8])
    z, y, x = np.eye(3)[::-1]
    turns = [quat.exp(np.radians(angle) * axis) for angle, axis in ((90, z), (20, y), (10, x))]
    wanted = quat.multiply(quat.multiply(turns[0], turns[1]), turns[2])
    assert quat.angle_between(qpos[3:7], wanted) < 1e-9
    at = robot.clip(motion).columns.index("left_knee_joint")
    assert qpos[at] == pytest.approx(np.pi / 4)


def test_files_without_a_header_are_refused(robot, tmp_path) -> None:
    np.savetxt(tmp_path / "bare.csv", some_qpos(robot), delimiter=",")
    with pytest.raises(ml.FormatError, match=r"quat_order=\"xyzw\""):
        ml.load(tmp_path / "bare.csv", skeleton=MODEL)


def test_columns_that_do_not_fit_are_reported(robot, tmp_path) -> None:
    clip = robot.clip(robot.motion(some_qpos(robot), 50.0))
    clip.save(tmp_path / "clip.csv")
    text = (tmp_path / "clip.csv").read_text().replace("left_knee_joint", "left_nee_joint")
    (tmp_path / "clip.csv").write_text(text)
    with pytest.warns(MotionLoomWarning) as caught:
        ml.load(tmp_path / "clip.csv", skeleton=MODEL)
    assert any("1 columns of no joint: 'left_nee_joint'" in str(each.message) for each in caught)
    assert any("'left_knee_joint'" in str(each.message) for each in caught)


def test_a_walk_on_hinges(robot) -> None:
    walk = ml.synthetic.clip("walk").motion
    clip = robot.clip(walk, joints=joint_map())
    angles = {name: np.degrees(clip.qpos[:, k]) for k, name in enumerate(clip.columns)}
    for side in ("left", "right"):
        assert 0.0 < angles[f"{side}_knee_joint"].min() < 15.0
        assert 45.0 < angles[f"{side}_knee_joint"].max() < 75.0
        assert -50.0 < angles[f"{side}_hip_pitch_joint"].min() < -20.0
        assert angles[f"{side}_hip_pitch_joint"].max() > 5.0
        assert angles[f"{side}_elbow_joint"].max() < 0.0  # arms hang and bend forwards
    # Thighs point where the clip's thighs point: three hinges can do that.
    robots = clip.body_positions[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
    names = clip.body_names
    places = walk.world_positions()
    for side, upper in (("left", "Left"), ("right", "Right")):
        link = robots[:, names.index(f"{side}_shin")] - robots[:, names.index(f"{side}_thigh")]
        bone = places[:, walk.skeleton.index(f"{upper}Leg")]
        bone = bone - places[:, walk.skeleton.index(f"{upper}UpLeg")]
        unit = [each / np.linalg.norm(each, axis=1)[:, None] for each in (link, bone)]
        assert np.sum(unit[0] * unit[1], axis=1).min() > np.cos(np.radians(1.0))
    assert abs(clip.body_positions[..., 2].min()) < 0.06  # feet near the ground


def test_limits_are_reported(robot) -> None:
    qpos = np.zeros((4, robot.n_qpos))
    qpos[:, 3] = 1.0
    at = 7 + robot.joint_names.index("left_knee_joint")
    qpos[2, at] = np.radians(-15.0)
    (note,) = robot.clip(robot.motion(qpos, 30.0)).notes
    assert note.startswith("left_knee_joint: beyond its limits (-5 to 150 degrees) in 1 of 4")
    assert note.endswith("by up to 10 degrees.")


def test_rotation_off_the_axis_is_reported(robot) -> None:
    motion = robot.motion(some_qpos(robot), 30.0)
    quats = np.array(motion.local_quats)
    at = motion.skeleton.index("left_knee_joint")
    quats[:, at] = quat.multiply(quats[:, at], quat.exp(np.array([0.0, 0.3, 0.0])))
    notes = robot.clip(motion.replace(local_quats=quats)).notes
    assert any(note.startswith("left_knee_joint: leaves out up to 17") for note in notes)


def test_transitions_and_blends_stay_on_the_hinges(robot) -> None:
    clip = robot.clip(ml.synthetic.clip("walk").motion, joints=joint_map())
    walk = robot.motion(clip.qpos, clip.fps)
    slow = robot.clip(ml.synthetic.clip("sneak").motion, joints=joint_map())
    other = robot.motion(slow.qpos, slow.fps)
    results = [ml.transition(walk, other).motion, ml.blend([walk, other], [0.5, 0.5]).motion]
    for result in results:
        back = robot.clip(result)
        assert not [note for note in back.notes if "leaves out" in note]
        steps = np.abs(np.diff(back.qpos[:, 7:], axis=0)).max()
        assert steps < 1.5 * max(
            np.abs(np.diff(each.qpos[:, 7:], axis=0)).max() for each in (clip, slow)
        )


def test_hinges_at_one_place_share_a_rotation(robot) -> None:
    motion = robot.motion(some_qpos(robot), 30.0)
    quats = np.array(motion.local_quats)
    at = motion.skeleton.index("left_hip_yaw_joint")
    quats[:, at] = quat.multiply(quats[:, at], quat.exp(np.array([0.2, 0.1, 0.3])))
    turned = motion.replace(local_quats=quats)
    clip = robot.clip(turned)
    assert not [note for note in clip.notes if "leaves out" in note]
    gap = robot.motion(clip.qpos, 30.0).world_positions() - turned.world_positions()
    assert np.abs(gap).max() < 1e-6


def test_wrong_maps_are_refused(robot) -> None:
    walk = ml.synthetic.clip("walk").motion
    with pytest.raises(ml.SkeletonMismatchError, match="joints="):
        robot.clip(walk)
    with pytest.raises(ml.ArrayError, match="got 'knee'"):
        robot.clip(walk, joints={"knee": "LeftLeg"})
    with pytest.raises(ml.ArrayError, match="No joint is called"):
        robot.clip(walk, joints={"left_knee_joint": "Knee"})
    with pytest.raises(ml.ArrayError, match="different limbs"):
        robot.clip(walk, joints={"left_knee_joint": "LeftLeg", "right_knee_joint": "LeftLeg"})


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("<mujoco", '<!DOCTYPE a [<!ENTITY b "c">]><mujoco', "document type"),
        ("<worldbody>", '<include file="a.xml"/><worldbody>', "included once"),
        ("<worldbody>", '<include file="../b.xml"/><worldbody>', "model's folder"),
        ("<worldbody>", '<include file="/etc/b.xml"/><worldbody>', "model's folder"),
        ("<worldbody>", "<include/><worldbody>", "model's folder"),
        ("<worldbody>", '<include file="b.xml"/><worldbody>', "b.xml"),
        ("<worldbody>", "<replicate/><worldbody>", "replicate"),
        ('class="pitch"/>', 'class="pich"/>', "default class"),
        ("</mujoco>", "", "XML"),
        ("0 0.08 -0.05", "0 0.08 x", "line 40"),
        ("0 0.08 -0.05", "0 0.08 nan", "finite"),
        ("left_knee_joint", "right_knee_joint", "comes twice"),
        ('axis="0 1 0"', 'axis="0 0 0"', "length"),
        ("<worldbody>", '<worldbody><body name="b2"/>', "one body at the top"),
    ],
)
def test_faults_of_models_are_named(old: str, new: str, match: str, tmp_path) -> None:
    text = MODEL.read_text()
    assert old in text
    (tmp_path / "a.xml").write_text(text.replace(old, new, 1))
    with pytest.raises(ml.FormatError, match=match):
        ml.load_robot(tmp_path / "a.xml")


LIFT = """<mujoco><compiler angle="radian"/><worldbody>
<body name="base" pos="0 0 1"><joint name="track" type="slide" axis="1 0 0" range="-2 2"/>
<body name="lift" pos="0 0 0.2" euler="0 0 1.5707963267948966">
<joint name="up" type="slide" axis="0 0 2" ref="0.1"/>
<joint name="turn" axis="0 0 1"/>
<body name="hand" pos="0.3 0 0"><joint name="reach" type="slide" axis="1 0 0"/></body>
</body></body></worldbody></mujoco>"""


def test_slides_move_bodies_along_their_axes() -> None:
    robot = ml.Robot.from_xml(LIFT)
    assert robot.joint_names == ("track", "up", "turn", "reach")
    assert robot.limits == {"track": (-2.0, 2.0)}
    qpos = np.array([[0.0, 0.1, 0.0, 0.0], [0.5, 0.4, 0.0, 0.2], [0.0, 0.1, -np.pi / 2.0, 0.1]])
    clip = robot.clip(robot.motion(qpos, 50.0))
    hands = clip.body_positions[:, robot.body_names.index("hand")]
    # The lift is turned by a quarter about Z: its X is the world's Y.
    assert np.allclose(hands, [[0.0, 0.3, 1.2], [0.5, 0.5, 1.5], [0.4, 0.0, 1.2]])
    assert np.abs(clip.qpos - qpos).max() < EXACT
    assert np.allclose(clip.qvel[1], (qpos[2] - qpos[0]) * 25.0)
    assert clip.notes == ()


def test_what_a_slide_cannot_do_is_noted() -> None:
    robot = ml.Robot.from_xml(LIFT)
    beyond = robot.clip(robot.motion([[2.5, 0.1, 0.0, 0.0]] * 2, 50.0))
    assert beyond.notes == (
        "track: beyond its limits (-2 to 2 metres) in 2 of 2 frames, by up to 0.5 metres.",
    )
    motion = robot.motion([[0.0, 0.1, 0.0, 0.0]] * 2, 50.0)
    moved = np.array(motion.joint_translations)
    moved[:, motion.skeleton.index("track")] += [0.04, 0.3, 0.0]  # Y up: 0.3 beside the track
    beside = robot.clip(motion.replace(joint_translations=moved))
    assert np.allclose(beside.qpos[:, 0], 0.04)
    assert beside.notes == ("track: leaves out up to 0.3 m of the motion's way, off its axis.",)
    still = robot.clip(motion.replace(joint_translations=None))
    assert np.allclose(still.qpos, [[0.0, 0.1, 0.0, 0.0]] * 2)


def test_included_files_stand_where_they_are_named(tmp_path) -> None:
    text = MODEL.read_text()
    start, stop = text.index("<worldbody>") + len("<worldbody>"), text.index("</worldbody>")
    (tmp_path / "parts").mkdir()
    inner = '<mujocoinclude><include file="parts/bodies.xml"/></mujocoinclude>'
    (tmp_path / "parts" / "world.xml").write_text(inner)
    (tmp_path / "parts" / "bodies.xml").write_text(f"<mujoco>{text[start:stop]}</mujoco>")
    (tmp_path / "a.xml").write_text(
        f'{text[:start]}<include file="./parts/world.xml"/>{text[stop:]}'
    )
    robot, whole = ml.load_robot(tmp_path / "a.xml"), ml.load_robot(MODEL)
    assert robot.joint_names == whole.joint_names
    assert np.array_equal(robot.skeleton.offsets, whole.skeleton.offsets)


def test_faults_of_included_files_name_them(tmp_path) -> None:
    (tmp_path / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (tmp_path / "b.xml").write_text("<robot/>")
    with pytest.raises(ml.FormatError, match=r"b\.xml.*begin with <mujoco>"):
        ml.load_robot(tmp_path / "a.xml")
    with pytest.raises(ml.FormatError, match="by its path"):
        ml.Robot.from_xml('<mujoco><include file="b.xml"/></mujoco>')
    for k in range(80):
        (tmp_path / f"c{k}.xml").write_text(f'<mujoco><include file="c{k + 1}.xml"/></mujoco>')
    with pytest.raises(ml.FormatError, match="64 in all"):
        ml.load_robot(tmp_path / "c0.xml")


def test_entities_do_not_grow(tmp_path) -> None:
    rows = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    text = f'<!DOCTYPE m [<!ENTITY a0 "x">{rows}]><mujoco>&a11;</mujoco>'
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(ml.FormatError, match="document type"):
        ml.load_robot(tmp_path / "a.xml")
    (tmp_path / "b.xml").write_text("<mujoco>" + "<body>" * 100_000)
    with pytest.raises(ml.FormatError, match="deep"):
        ml.load_robot(tmp_path / "b.xml")


def test_angles_of_chains() -> None:
    rng = np.random.Generator(np.random.PCG64(7))
    for axes in (np.eye(3), np.eye(3)[[1, 0]], np.array([[0, 1, 0], [1, 0, 0.2], [0.1, 0, 1]])):
        unit = axes / np.linalg.norm(axes, axis=1)[:, None]
        angles = rng.uniform(-1.2, 1.2, (200, len(unit)))
        turns = np.tile(quat.IDENTITY, (200, 1))
        for k, axis in enumerate(unit):
            turns = quat.multiply(turns, quat.from_axis_angle(axis, angles[:, k]))
        got, left = chain_angles(turns, unit)
        assert left.max() < 1e-6
        assert np.abs(got - angles).max() < 1e-5
    _, left = chain_angles(quat.exp(np.array([[0.0, 0.0, 0.5]])), np.eye(3)[:2])
    assert left[0] == pytest.approx(0.5, abs=1e-3)  # no hinge turns about Z
    assert unwrapped(np.array([3.1, -3.1]), (2.0, 5.0))[1] == pytest.approx(2.0 * np.pi - 3.1)
