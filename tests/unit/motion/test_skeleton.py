import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.motion.motion import MAX_JOINTS, Skeleton

NAMES = ("hips", "knee", "ankle", "spine")
PARENTS = (-1, 0, 1, 0)
OFFSETS = np.zeros((4, 3))


def test_it_answers_who_is_whose_child():
    s = Skeleton(NAMES, PARENTS, OFFSETS)
    assert s.children(0) == (1, 3)
    assert s.chain(2) == (0, 1, 2)
    assert s.index("spine") == 3


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ArrayError, match="hips, knee, ankle, spine"):
        Skeleton(NAMES, PARENTS, OFFSETS).index("elbow")


def test_rest_rotations_are_identity_unless_given():
    s = Skeleton(NAMES, PARENTS, OFFSETS)
    assert np.array_equal(s.rest_quats, np.tile([1.0, 0, 0, 0], (4, 1)))


def test_arrays_cannot_be_written():
    s = Skeleton(NAMES, PARENTS, OFFSETS)
    with pytest.raises(ValueError, match="read-only"):
        s.offsets[0, 0] = 1.0


@pytest.mark.parametrize(
    ("names", "parents", "offsets", "text"),
    [
        (("a", "a"), (-1, 0), np.zeros((2, 3)), "unique, got 'a' twice"),
        (("a", "b", "c", "b"), (-1, 0, 1, 2), np.zeros((4, 3)), "unique, got 'b' twice"),
        ((), (), np.zeros((0, 3)), "1 to 4096 joints, got 0"),
        (("a", "b"), (0, 0), np.zeros((2, 3)), "must be -1"),
        (("a", "b", "c"), (-1, 2, 0), np.zeros((3, 3)), "earlier joint, got 2 for joint 1"),
        (("a", "b"), (-1, 1), np.zeros((2, 3)), "earlier joint"),
        (("a", "b"), (-1, -1), np.zeros((2, 3)), "earlier joint"),
        (("a", "b"), (-1, 0), np.zeros((1, 3)), r"shape \(2, 3\), got \(1, 3\)"),
        (("a", "b"), (-1, 0), np.full((2, 3), np.nan), "finite"),
        ("ab", (-1, 0), np.zeros((2, 3)), "list of strings"),
    ],
)
def test_what_is_no_tree_is_refused(names, parents, offsets, text):
    with pytest.raises(ArrayError, match=text):
        Skeleton(names, parents, offsets)


def test_too_many_joints_are_refused():
    most = MAX_JOINTS
    assert Skeleton(tuple(map(str, range(most))), np.arange(most) - 1, np.zeros((most, 3)))
    n = MAX_JOINTS + 1
    with pytest.raises(ArrayError, match="4096"):
        Skeleton(tuple(map(str, range(n))), np.arange(n) - 1, np.zeros((n, 3)))


def test_end_sites_must_hang_on_a_joint():
    with pytest.raises(ArrayError, match="end_parents"):
        Skeleton(NAMES, PARENTS, OFFSETS, end_parents=[4], end_offsets=[[0, 0, 1]])


def test_same_joints_ignores_lengths():
    a, b = Skeleton(NAMES, PARENTS, OFFSETS), Skeleton(NAMES, PARENTS, OFFSETS + 1)
    assert a.same_joints(b)
    assert not a.same_joints(Skeleton(NAMES, (-1, 0, 0, 0), OFFSETS))


def test_rest_rotations_of_unit_length_stay_bit_by_bit():
    rest = np.random.default_rng(2).normal(size=(300, 4))
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    again = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    assert (again != rest).any()  # what normalising once more would change
    names = tuple(f"j{k}" for k in range(300))
    made = Skeleton(names, np.arange(300) - 1, np.zeros((300, 3)), rest_quats=rest)
    assert made.rest_quats.tolist() == rest.tolist()
    longer = Skeleton(names, np.arange(300) - 1, np.zeros((300, 3)), rest_quats=3.0 * rest)
    assert longer.rest_quats == pytest.approx(rest)


def test_rest_rotations_need_a_direction_and_end_sites_a_joint():
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    rest[2] = 0.0
    with pytest.raises(ArrayError, match=r"got 0 for joint 2 \('ankle'\)"):
        Skeleton(NAMES, PARENTS, OFFSETS, rest_quats=rest)
    rest[2] = [0.0, 0.0, 2e-6, 0.0]
    assert Skeleton(NAMES, PARENTS, OFFSETS, rest_quats=rest).rest_quats[2].tolist() == [0, 0, 1, 0]
    for wrong in ([-1], [0, -1], [4, 0]):
        with pytest.raises(ArrayError, match="end_parents"):
            Skeleton(
                NAMES, PARENTS, OFFSETS, end_parents=wrong, end_offsets=np.zeros((len(wrong), 3))
            )
    for right in ([0], [3], [3, 0]):
        made = Skeleton(
            NAMES, PARENTS, OFFSETS, end_parents=right, end_offsets=np.zeros((len(right), 3))
        )
        assert made.end_parents.tolist() == right


def test_what_hangs_on_joints_is_listed_with_them():
    s = Skeleton(NAMES, PARENTS, OFFSETS)
    assert s.carried_by([1]).tolist() == [1, 2]
    assert s.carried_by([3, 2]).tolist() == [2, 3]
    assert s.carried_by([0]).tolist() == [0, 1, 2, 3]
    assert s.carried_by([]).tolist() == []
    for wrong in (-1, 4):
        with pytest.raises(ArrayError, match="joint"):
            s.carried_by([wrong])
