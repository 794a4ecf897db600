"""Body roles by names, by the tree, by hand; side pairs; stature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from motionloom.body.anatomy import _tip, stature
from motionloom.body.body_map import ROLES, BodyMap, Tree, _equal_branches
from motionloom.body.joint_names import read_name
from motionloom.body.mirror import pair_sides
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

from .named_rigs import LAFAN, RIGS, tree, wanted_roles

FLOAT64 = 1e-12


def named(skeleton: Skeleton, body: BodyMap) -> dict[str, object]:
    """Role to joint name."""
    out: dict[str, object] = {}
    for role in ROLES:
        value = getattr(body, role)
        if role == "spine":
            out[role] = tuple(skeleton.names[j] for j in value)
        else:
            out[role] = None if value is None else skeleton.names[value]
    return out


def person(prefix: str = "joint") -> Skeleton:
    """A person in a T-pose, facing +Z, whose joint names say nothing."""
    joints = [
        (-1, (0, 0.95, 0)),  # 0 pelvis
        (0, (-0.1, -0.05, 0)),  # 1 right hip
        (1, (0, -0.42, 0)),
        (2, (0, -0.41, 0)),
        (3, (0, -0.05, 0.14)),  # 4 right toe
        (0, (0.1, -0.05, 0)),  # 5 left hip
        (5, (0, -0.42, 0)),
        (6, (0, -0.41, 0)),
        (7, (0, -0.05, 0.14)),  # 8 left toe
        (0, (0, 0.12, 0)),  # 9 spine
        (9, (0, 0.15, 0)),
        (10, (0, 0.2, 0)),  # 11 neck
        (11, (0, 0.12, 0)),  # 12 head
        (10, (-0.04, 0.16, 0)),  # 13 right clavicle
        (13, (-0.14, 0, 0)),
        (14, (-0.28, 0, 0)),
        (15, (-0.26, 0, 0)),
        (16, (-0.09, 0, 0)),  # 17 right knuckles
        (10, (0.04, 0.16, 0)),  # 18 left clavicle
        (18, (0.14, 0, 0)),
        (19, (0.28, 0, 0)),
        (20, (0.26, 0, 0)),
        (21, (0.09, 0, 0)),
    ]
    ends = {4: (0, 0, 0.06), 8: (0, 0, 0.06), 12: (0, 0.13, 0), 17: (-0.08, 0, 0), 22: (0.08, 0, 0)}
    return Skeleton(
        [f"{prefix}{i}" for i in range(len(joints))],
        [p for p, _ in joints],
        [o for _, o in joints],
        end_parents=list(ends),
        end_offsets=list(ends.values()),
    )


PERSON = BodyMap(
    pelvis=0,
    spine=(9, 10),
    neck=11,
    head=12,
    left_hip=5,
    left_knee=6,
    left_ankle=7,
    left_toe=8,
    right_hip=1,
    right_knee=2,
    right_ankle=3,
    right_toe=4,
    left_shoulder=19,
    left_elbow=20,
    left_wrist=21,
    right_shoulder=14,
    right_elbow=15,
    right_wrist=16,
)


@pytest.mark.parametrize("rig", RIGS)
def test_every_role_of_a_known_rig_is_found(rig: str) -> None:
    skeleton = tree(RIGS[rig][0])
    assert named(skeleton, BodyMap.guess(skeleton)) == wanted_roles(rig)


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_case_does_not_matter(change: object) -> None:
    skeleton = tree(RIGS["asf"][0])
    changed = Skeleton([change(n) for n in skeleton.names], skeleton.parents, skeleton.offsets)  # type: ignore[operator]
    assert BodyMap.guess(changed) == BodyMap.guess(skeleton)


@pytest.mark.parametrize("rig", RIGS)
def test_every_sided_joint_of_a_known_rig_has_its_partner(rig: str) -> None:
    skeleton = tree(RIGS[rig][0])
    partner = pair_sides(skeleton)
    assert np.array_equal(partner[partner], np.arange(skeleton.n_joints))
    for j, name in enumerate(skeleton.names):
        side, other = read_name(name).side, read_name(skeleton.names[partner[j]]).side
        assert {side, other} in ({"left", "right"}, {""}), name


def test_roles_are_found_without_any_name() -> None:
    assert BodyMap.guess(person()) == PERSON


def test_a_nameless_body_that_faces_back_keeps_its_left_and_right() -> None:
    skeleton = person()
    turned = Skeleton(
        skeleton.names,
        skeleton.parents,
        skeleton.offsets * [-1, 1, -1],
        end_parents=skeleton.end_parents,
        end_offsets=skeleton.end_offsets * [-1, 1, -1],
    )
    assert BodyMap.guess(turned) == PERSON


def test_a_motion_shows_the_sides_where_the_rest_pose_cannot() -> None:
    # The same person with every bone along x at rest; one frame turns them into a T-pose.
    upright = person()
    aim = quat.between_vectors(np.array([1.0, 0.0, 0.0]), upright.offsets)
    own = np.zeros((upright.n_joints, 4))
    for j in range(upright.n_joints):
        children = upright.children(j)
        own[j] = aim[children[-1]] if children else quat.IDENTITY
    flat = Skeleton(
        upright.names,
        upright.parents,
        quat.rotate(quat.conjugate(own[np.maximum(upright.parents, 0)]), upright.offsets),
        end_parents=upright.end_parents,
        end_offsets=quat.rotate(quat.conjugate(own[upright.end_parents]), upright.end_offsets),
    )
    local = own.copy()
    local[1:] = quat.multiply(quat.conjugate(own[upright.parents[1:]]), own[1:])
    frame = Motion(flat, np.zeros((1, 3)), local[None], fps=30)
    assert np.allclose(frame.world_positions()[0, 8], [0.1, -0.93, 0.14], atol=FLOAT64)
    assert BodyMap.guess(flat, motion=frame) == PERSON


def test_a_thing_without_limbs_has_no_roles() -> None:
    rope = Skeleton(["a", "b", "c"], [-1, 0, 1], [[0, 0, 0], [0, 1, 0], [0, 1, 0]])
    assert BodyMap.guess(rope) == BodyMap()
    assert set(BodyMap.guess(rope).missing()) == set(ROLES)
    assert stature(rope) == 0.0


def test_one_joint_is_a_skeleton_too() -> None:
    assert BodyMap.guess(Skeleton(["Hips"], [-1], [[0, 0, 0]])).pelvis == 0


def test_a_foot_that_ends_in_an_end_site_has_no_toe() -> None:
    leg = Skeleton(
        ["Hips", "LeftHip", "LeftKnee", "LeftAnkle"],
        [-1, 0, 1, 2],
        [[0, 0, 0], [0.1, 0, 0], [0, -0.4, 0], [0, -0.4, 0]],
        end_parents=[3],
        end_offsets=[[0, -0.1, 0.2]],
    )
    body = BodyMap.guess(leg)
    assert (body.left_ankle, body.left_toe) == (3, None)
    assert "left_toe" in body.missing()


@pytest.mark.parametrize(
    ("name", "side", "role"),
    [
        ("mixamorig:LeftUpLeg", "left", "hip"),
        ("Armature|mixamorig:RightFoot", "right", "ankle"),
        ("rtibia", "right", "knee"),
        ("Bip001 R UpperArm", "right", "shoulder"),
        ("thigh_l", "left", "hip"),
        ("LHipJoint", "left", "hip"),
        ("CC_Base_L_Calf", "left", "knee"),
        ("lowerback", "", "spine"),
        ("L5", "", None),
        ("LeftHandIndex1", "left", None),
        ("thigh_twist_01_l", "left", None),
        ("Bip01 L Toe0Nub", "left", None),
        ("ik_foot_l", "left", None),
        ("MCH-thigh_ik.L", "left", None),
    ],
)
def test_names_are_read_as_rigs_mean_them(name: str, side: str, role: str | None) -> None:
    meaning = read_name(name)
    assert meaning.side == side
    assert (role in meaning.roles) if role else not meaning.roles


def test_named_roles_override_and_the_rest_is_guessed() -> None:
    skeleton = tree(LAFAN)
    body = BodyMap.from_names(skeleton, {"left_toe": "LeftFoot", "spine": ["Spine1"], "head": None})
    assert body.left_toe == skeleton.index("LeftFoot")
    assert body.spine == (skeleton.index("Spine1"),)
    assert body.head is None
    assert body.left_knee == skeleton.index("LeftLeg")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"elbow": "LeftForeArm"}, "must be one of"),
        ({"pelvis": "Pelvis"}, "No joint is called 'Pelvis'"),
        ({"pelvis": ["Hips"]}, "must be one joint's name"),
    ],
)
def test_a_wrong_override_is_explained(names: dict[str, str], message: str) -> None:
    with pytest.raises(ArrayError, match=message):
        BodyMap.from_names(tree(LAFAN), names)


def test_a_body_map_survives_its_toml_file(tmp_path: Path) -> None:
    skeleton = person(prefix='odd "name"\\ ')
    path = tmp_path / "body.toml"
    path.write_text(PERSON.to_toml(skeleton), encoding="utf-8")
    assert BodyMap.load(path, skeleton) == PERSON
    rope = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    path.write_text(BodyMap().to_toml(rope), encoding="utf-8")
    assert BodyMap.load(path, rope) == BodyMap()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[roles", "readable TOML"),
        ("pelvis = 'Hips'", "table"),
        ("[roles]\npelvis = 'Nobody'", "No joint is called"),
        ("[roles]\npelvis = 3", "one joint's name"),
    ],
)
def test_a_broken_toml_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "body.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        BodyMap.load(path, tree(LAFAN))
    assert caught.value.path == str(path)


def test_a_missing_role_is_named_with_the_remedy() -> None:
    rope = Skeleton(["rope_a", "rope_b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    body = BodyMap.guess(rope)
    with pytest.raises(SkeletonMismatchError) as caught:
        body.require("left_ankle", "pelvis", task="foot plants", skeleton=rope)
    for part in ("left_ankle", "pelvis", "foot plants", "rope_a", "body="):
        assert part in str(caught.value)
    assert PERSON.require("left_ankle", "pelvis", task="foot plants") == (7, 0)


def test_stature_of_a_measured_person_is_near_the_sum_of_its_bones() -> None:
    summed = (0.42 + 0.41 + 0.05 + 0.12 + 0.15 + 0.2 + 0.12 + 0.13) / (1 - 0.039)
    by_legs = (0.42 + 0.41) / 0.491
    assert summed < by_legs
    assert stature(person(), PERSON) == pytest.approx((summed + by_legs) / 2, rel=FLOAT64)


def test_stature_scales_with_the_skeleton_and_not_with_its_rest_pose() -> None:
    skeleton = person()
    larger = Skeleton(
        skeleton.names,
        skeleton.parents,
        100.0 * skeleton.offsets,
        end_parents=skeleton.end_parents,
        end_offsets=100.0 * skeleton.end_offsets,
    )
    assert stature(larger, PERSON) == pytest.approx(100.0 * stature(skeleton, PERSON), rel=FLOAT64)
    bent = quat.normalize(np.random.default_rng(1).normal(size=(skeleton.n_joints, 4)))
    sitting = Skeleton(
        skeleton.names,
        skeleton.parents,
        skeleton.offsets,
        bent,
        skeleton.end_parents,
        skeleton.end_offsets,
    )
    assert stature(sitting, PERSON) == pytest.approx(stature(skeleton, PERSON), rel=FLOAT64)


def test_children_of_partners_are_paired_by_order_where_names_do_not_match() -> None:
    skeleton = Skeleton(
        ["root", "arm_L_4", "arm_L_3", "arm_R", "arm_R_2"],
        [-1, 0, 1, 0, 3],
        [[0, 0, 0], [0.2, 0, 0], [0.3, 0, 0], [-0.2, 0, 0], [-0.3, 0, 0]],
    )
    assert pair_sides(skeleton).tolist() == [0, 3, 4, 1, 2]


def test_a_given_body_decides_the_pairs() -> None:
    skeleton = person()
    assert pair_sides(skeleton, body=PERSON)[PERSON.left_wrist] == PERSON.right_wrist


def test_the_file_of_a_body_map_is_plain_to_read() -> None:
    skeleton = Skeleton(("my hips", 'a "b"\\', "bell\x07"), np.array([-1, 0, 1]), np.zeros((3, 3)))
    text = BodyMap(pelvis=0, head=1, neck=2).to_toml(skeleton)
    assert 'pelvis = "my hips"' in text
    assert 'head = "a \\"b\\"\\\\"' in text
    assert 'neck = "bell\\u0007"' in text


def test_up_to_eighty_joints_are_listed_by_name() -> None:
    names = tuple(f"bone{k}" for k in range(81))
    for n, more in ((80, ""), (81, " and 1 more")):
        skeleton = Skeleton(names[:n], np.arange(n) - 1, np.zeros((n, 3)))
        with pytest.raises(SkeletonMismatchError) as error:
            BodyMap().require("pelvis", task="a test", skeleton=skeleton)
        assert f"bone79{more}." in str(error.value)


def test_limbs_that_hang_at_different_depths_are_paired_up_to_where_they_meet() -> None:
    # The left arm has a clavicle that the right one lacks; the chest must not become its partner.
    bones = {
        "chest": (-1, (0.0, 1.0, 0.0)),
        "c": (0, (0.05, 0.2, 0.0)),
        "ls": (1, (0.1, 0.0, 0.0)),
        "le": (2, (0.3, 0.0, 0.0)),
        "lw": (3, (0.25, 0.0, 0.0)),
        "rs": (0, (-0.15, 0.2, 0.0)),
        "re": (5, (-0.3, 0.0, 0.0)),
        "rw": (6, (-0.25, 0.0, 0.0)),
    }
    parents = np.array([p for p, _ in bones.values()])
    offsets = np.array([o for _, o in bones.values()])
    skeleton = Skeleton(tuple(bones), parents, offsets)
    arms = {f"left_{r}": k for r, k in (("shoulder", 2), ("elbow", 3), ("wrist", 4))}
    arms |= {f"right_{r}": k for r, k in (("shoulder", 5), ("elbow", 6), ("wrist", 7))}
    assert pair_sides(skeleton, body=BodyMap(**arms)).tolist() == [0, 1, 5, 6, 7, 2, 3, 4]


def test_a_nameless_body_with_short_pairs_of_bones_keeps_its_limbs() -> None:
    # Horns on the head: a pair of branches shorter than arms and legs.
    base = person()
    offsets = np.array([[0.05, 0.1, 0.0], [0.0, 0.05, 0.0], [-0.05, 0.1, 0.0], [0.0, 0.05, 0.0]])
    horned = Skeleton(
        (*base.names, "h1", "h2", "h3", "h4"),
        np.concatenate([base.parents, [12, 23, 12, 25]]),
        np.concatenate([base.offsets, offsets]),
        end_parents=base.end_parents,
        end_offsets=base.end_offsets,
    )
    found = BodyMap.guess(horned)
    limbs = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
    for role in (f"{side}_{limb}" for side in ("left", "right") for limb in limbs):
        assert getattr(found, role) == getattr(PERSON, role), role


def test_a_joint_has_one_partner_and_roles_come_before_names() -> None:
    # By their names left_x and right_x are a pair, but the role of left_x's partner is another's.
    names = ("root", "left_x", "other", "right_x")
    skeleton = Skeleton(names, np.array([-1, 0, 0, 0]), np.zeros((4, 3)))
    pairs = pair_sides(skeleton, body=BodyMap(left_wrist=1, right_wrist=2))
    assert pairs.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("wrong", [-1, 23, 100, True, 1.0, "joint0"])
def test_a_body_map_names_joints_of_its_skeleton(wrong: object) -> None:
    skeleton = person()
    assert PERSON.checked_for(skeleton) is PERSON
    assert BodyMap(head=22, pelvis=0).checked_for(skeleton).head == 22
    for body in (BodyMap(head=wrong), BodyMap(spine=(9, wrong))):  # type: ignore[arg-type]
        with pytest.raises(SkeletonMismatchError, match="joints below 23, got"):
            body.checked_for(skeleton)


def test_joints_of_a_limb_hang_on_each_other() -> None:
    skeleton = person()
    assert BodyMap(left_hip=5, left_ankle=7).checked_for(skeleton).left_ankle == 7
    for knee in (5, 2, 0):  # the hip itself, of the other leg, and above it
        with pytest.raises(SkeletonMismatchError, match="left_knee below the left_hip"):
            BodyMap(left_hip=5, left_knee=knee).checked_for(skeleton)


def test_the_longest_tip_of_a_head_counts() -> None:
    skeleton = Skeleton(
        ["Neck", "Head", "HeadTop_End", "LeftEye"],
        [-1, 0, 1, 1],
        [[0, 0, 0], [0, 0.1, 0], [0, 0.12, 0.05], [0.03, 0.3, 0.1]],
        end_parents=[1, 0, 1],
        end_offsets=[[0, 0.05, 0], [0, 1, 0], [0, 0, 0.11]],
    )
    assert _tip(skeleton, 1) == pytest.approx(0.13)  # the marker's: sqrt(0.12^2 + 0.05^2)
    assert _tip(skeleton, 0) == 1.0
    assert _tip(skeleton, 3) == 0.0


def test_branches_that_are_alike_are_pairs_and_helpers_are_none() -> None:
    bones = {
        "a": (-1, (0.0, 0.0, 0.0)),
        "b": (0, (0.1, 0.0, 0.0)),
        "c": (1, (0.0, -0.4, 0.0)),
        "d": (2, (0.0, -0.4, 0.0)),
        "e": (0, (-0.1, 0.0, 0.0)),
        "f": (4, (0.0, -0.4, 0.0)),
        "g": (5, (0.0, -0.39, 0.0)),
        "ik_foot_l": (0, (0.1, -1.0, 0.0)),
        "ik_toe_l": (7, (0.0, -5.0, 0.0)),
        "ik_foot_r": (0, (-0.1, -1.0, 0.0)),
        "ik_toe_r": (9, (0.0, -5.0, 0.0)),
        "h": (3, (0.1, 0.0, 0.0)),  # two leaves, on which nothing hangs
        "i": (3, (0.1, 0.0, 0.0)),
    }
    parents, offsets = zip(*bones.values(), strict=True)
    tree = Tree(Skeleton(tuple(bones), np.array(parents), np.array(offsets)), None)
    assert tree.names[7].off_chain and tree.reach[7] == 5.0
    # b reaches 0.9 m, as i hangs 0.1 m under d; e 0.79 m. They may differ by a fifth.
    assert _equal_branches(tree) == [(pytest.approx(0.79), 1, 4, 0)]

    def changed(joint: int, y: float, scale: float) -> Tree:
        other = np.array(offsets)
        other[joint, 1] = y
        return Tree(Skeleton(tuple(bones), np.array(parents), scale * other), None)

    for scale in (0.01, 1.0, 100.0):
        assert _equal_branches(changed(6, -0.39, scale)) == [(pytest.approx(0.79 * scale), 1, 4, 0)]
        # 0.9 and 0.7 m; 0.9 and 0.94 m with other bones; 1.4 and 0.79 m with the same first bones.
        assert _equal_branches(changed(6, -0.3, scale)) == []
        assert _equal_branches(changed(5, -0.55, scale)) == []
        assert _equal_branches(changed(12, -0.6, scale)) == []


@pytest.mark.parametrize(
    ("own", "other", "paired"), [("prop", "tool", True), ("LeftProp", "LeftTool", False)]
)
def test_children_of_a_pair_are_a_pair_unless_named_for_the_same_side(own, other, paired):
    names = ("Hips", "LeftHand", own, "RightHand", other)
    skeleton = Skeleton(names, np.array([-1, 0, 1, 0, 3]), np.ones((5, 3)))
    expected = [0, 3, 4, 1, 2] if paired else [0, 3, 2, 1, 4]
    assert pair_sides(skeleton).tolist() == expected


def test_lines_of_a_body_map_end_where_toml_ends_them(tmp_path: Path) -> None:
    key = "a." * 150 + '"\x85".'
    (tmp_path / "map.toml").write_text(f"[roles]\n{key * 2}a = 1\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"line 2: .* at most 200 dots"):
        BodyMap.load(tmp_path / "map.toml", tree(LAFAN))
