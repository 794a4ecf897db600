"""Files of the run time with a right digest and one wrong number: the core refuses them.

Numbers at the limits that it names are taken: a limit is where it is meant to be.
"""

from itertools import pairwise

import numpy as np
import pytest

import motionloom as ml
from motionloom import _core
from motionloom._core import CoreError, blank, kernel
from motionloom.tables import runtime_file
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from tests.support.tables import table_in_memory

LENGTH, DAMAGED = 30, 3
LONGEST = 16384
ARRAYS = (
    *("counts", "numbers", "parents", "offsets", "chain", "legs", "soles", "poles", "judged"),
    *("carriers", "across", "check_legs", "hinges", "check_soles", "firsts", "joints", "parts"),
    *("masses", "taps", "term_weights", "sole", "linear", "log", "compared", "before", "after"),
    *("start_mean", "start_axes", "start_steps", "end_mean", "end_axes", "end_steps", "way_step"),
    *("groups_0", "group_first_0", "centres_0", "list_first_0", "members_0"),
    *("groups_1", "group_first_1", "centres_1", "list_first_1", "members_1"),
    *("starts", "jumps", "medoids", "nearest", "between", "costs", "spokes"),
    *(
        "first_piece",
        "pieces",
        "paces",
        "weights",
        "limits",
        "hovers",
        "slowest",
        "plant_spans",
        "plant_places",
        "plant_ahead",
        "names",
        "heading",
        "ground",
    ),
    *("height", "planted", "quats"),
)
COUNTS = {"joints": 1, "check_legs": 13, "head": 14, "roll": 20, "prunes": 23, "bounded": 24}


@pytest.fixture(scope="module")
def table():
    """Of three clips, in all a multiple of 16 frames: no gaps between arrays in memory.

    It begins in flight, so that the first frame has no plant.
    """
    clips = [ml.synthetic.clip(name) for name in ("run", "walk", "stand")]
    motions = [clip.motion.replace(name=str(k)) for k, clip in enumerate(clips)]
    plants = [clip.footplants for clip in clips]
    first = int(np.flatnonzero(~plants[0].planted.any(axis=1))[0])
    motions[0], plants[0] = motions[0][first : first + 222], plants[0][first : first + 222]
    frames = frames_of(motions, footplants=plants)
    assert frames.starts[-1] == 704
    labels = [Label("0", "running", 40, 200)]
    return table_in_memory(frames, length=LENGTH, clusters=4, keep=6, labels=labels)


@pytest.fixture(scope="module")
def arrays(table):
    """Everything in the file of a small table, by its name."""
    found = runtime_file.runtime_arrays(table.query_engine)
    return dict(zip(ARRAYS, found, strict=True))


def file_of(arrays, **changes):
    """The bytes of a file in which arrays stand for others."""
    data = b"".join(runtime_file._padded(changes.get(name, arrays[name])) for name in ARRAYS)
    head = runtime_file.MAGIC + runtime_file.VERSION.to_bytes(4, "little") + bytes(4)
    head += (runtime_file.HEAD + len(data)).to_bytes(8, "little")
    head += runtime_file._digest(data).to_bytes(8, "little")
    return head.ljust(runtime_file.HEAD, b"\0") + data


def aligned(size):
    block = np.zeros(size + 16, dtype=np.uint8)
    first = -block.ctypes.data % 16
    return block[first : first + size]


def is_opened(data):
    file = aligned(len(data))
    file[:] = np.frombuffer(data, dtype=np.uint8)
    size = kernel("ml_table_memory")(len(file), file)
    memory = aligned(max(size, 0))
    try:
        kernel("ml_table_open")(len(file), file, len(memory), memory, blank("ml_table"))
    except CoreError as error:
        assert error.status == DAMAGED
        return False
    assert size > 0
    return True


def with_one(arrays, name, place, value):
    """A file with another number at a place of an array."""
    changed = arrays[name].copy()
    changed.reshape(-1)[place] = value
    return file_of(arrays, **{name: changed})


def test_the_file_of_the_table_is_opened(arrays):
    assert is_opened(file_of(arrays))


@pytest.mark.parametrize(
    ("count", "taken", "refused"),
    [
        ("check_legs", [2], [1, 3]),
        ("head", [-1, 0], [-2]),
        ("roll", [0, LONGEST], [-1, LONGEST + 1]),
        ("prunes", [0, 1], [-1, 2]),
        ("bounded", [0, 1], [-1, 2]),
    ],
)
def test_counts_have_limits(arrays, count, taken, refused):
    for value in taken:
        assert is_opened(with_one(arrays, "counts", COUNTS[count], value)), value
    for value in refused:
        assert not is_opened(with_one(arrays, "counts", COUNTS[count], value)), value


def test_the_head_is_a_joint_of_the_skeleton(arrays):
    n_joints = int(arrays["counts"][COUNTS["joints"]])
    assert is_opened(with_one(arrays, "counts", COUNTS["head"], n_joints - 1))
    assert not is_opened(with_one(arrays, "counts", COUNTS["head"], n_joints))


@pytest.mark.parametrize(
    ("name", "place", "taken", "refused"),
    [
        ("numbers", 0, [1.0, 1000.0], [0.999, 1000.1, np.nan]),  # frames a second
        ("numbers", 1, [-1e3, 1e3], [-1.01e3, 1.01e3, np.nan]),
        ("numbers", 2, [0.0, 1e3], [-0.01, 1.01e3, np.nan]),
        ("offsets", -1, [-1e6, 1e6], [-1.01e6, 1.01e6, np.nan]),
        ("soles", 11, [1e6], [1.01e6, np.inf]),
        ("poles", 5, [1e6], [1.01e6, np.nan]),
        ("hinges", 5, [1e6], [1.01e6, np.nan]),
        ("check_soles", 11, [1e6], [1.01e6, np.nan]),
        ("parts", -1, [1e6], [1.01e6, np.nan]),
        ("masses", -1, [0.0, 1e6], [-0.1, 1.01e6, np.nan]),
        ("sole", 3, [1e6], [1.01e6, np.nan]),
        ("taps", -1, [1e9], [1.01e9, np.nan]),
        ("term_weights", -1, [1e3], [1.01e3, np.nan]),
        ("linear", -1, [1e6], [1.01e6, np.nan]),
        ("log", -1, [1e6], [1.01e6, np.nan]),
        ("before", -1, [-LONGEST, 0], [-LONGEST - 1, 1]),
        ("after", -1, [0, LONGEST - 1], [-1, LONGEST]),
        ("start_mean", -1, [1e6], [1.01e6, np.nan]),
        ("end_mean", -1, [1e6], [1.01e6, np.nan]),
        ("start_axes", -1, [1e3], [1.01e3, np.nan]),
        ("end_axes", -1, [1e3], [1.01e3, np.nan]),
        ("start_steps", -1, [1e6], [0.0, -1.0, 1.01e6, np.nan]),
        ("end_steps", -1, [1e6], [0.0, -1.0, 1.01e6, np.nan]),
        ("way_step", 0, [1e6], [0.0, -1.0, 1.01e6, np.nan]),
        ("paces", -1, [1e6], [1.01e6, np.nan]),
        ("weights", -1, [1e3], [1.01e3, np.nan]),
        ("limits", -1, [np.inf], [np.nan]),
        ("hovers", -1, [0.0, 9.0], [np.nan, np.inf]),
        ("slowest", -1, [-1, 4], [-2, 5]),
        ("groups_0", -1, [1e9], [1.01e9, np.nan]),
        ("centres_1", -1, [1e9], [1.01e9, np.nan]),
        ("costs", -1, [1e9, -1e9], [1.01e9, np.nan]),
        ("plant_places", -1, [1e6], [1.01e6, np.nan]),
        ("plant_ahead", -1, [1e6], [1.01e6, np.nan]),
        ("heading", -1, [1e6], [1.01e6, np.nan]),
        ("ground", -1, [1e6], [1.01e6, np.nan]),
        ("height", -1, [1e6], [1.01e6, np.nan]),
    ],
)
def test_numbers_have_limits(arrays, name, place, taken, refused):
    for value in taken:
        assert is_opened(with_one(arrays, name, place, value)), value
    for value in refused:
        assert not is_opened(with_one(arrays, name, place, value)), value


@pytest.mark.parametrize(
    "name", ["chain", "legs", "judged", "across", "check_legs", "joints", "compared"]
)
def test_joints_are_those_of_the_skeleton(arrays, name):
    n_joints = int(arrays["counts"][COUNTS["joints"]])
    for place in (0, -1):
        for value in (0, n_joints - 1):
            assert is_opened(with_one(arrays, name, place, value)), value
        for value in (-1, n_joints):
            assert not is_opened(with_one(arrays, name, place, value)), value


def test_parents_come_before_their_children_and_only_the_first_has_none(arrays):
    for place, value in ((0, 0), (0, -2), (1, -1), (1, 1), (-1, len(arrays["parents"]))):
        assert not is_opened(with_one(arrays, "parents", place, value)), (place, value)
    assert is_opened(with_one(arrays, "parents", -1, len(arrays["parents"]) - 2))


@pytest.mark.parametrize(
    "name",
    ["firsts", "group_first_0", "list_first_0", "group_first_1", "list_first_1", "starts",
     "first_piece"],
)  # fmt: skip
def test_ranges_go_from_the_first_to_the_last(arrays, name):
    last = int(arrays[name][-1])
    for place, value in ((0, 1), (0, -1), (-1, last + 1), (-1, last - 1), (1, -1), (1, last + 1)):
        assert not is_opened(with_one(arrays, name, place, value)), (place, value)


def test_a_clip_and_a_part_of_the_body_are_never_empty(arrays):
    for name in ("starts", "firsts"):
        first = arrays[name]
        assert not is_opened(with_one(arrays, name, 1, int(first[0])))
        assert not is_opened(with_one(arrays, name, -2, int(first[-1])))


@pytest.mark.parametrize("name", ["members_0", "members_1", "medoids", "spokes"])
def test_windows_are_whole_and_inside_of_a_clip(arrays, name):
    starts, n_rows = arrays["starts"], int(arrays["starts"][-1])
    last = int(starts[1]) - LENGTH
    for place in (0, -1):
        for value in (last + 1, int(starts[1]) - 1, n_rows - LENGTH + 1, n_rows):
            assert not is_opened(with_one(arrays, name, place, value)), value
    if name != "spokes":  # which also lead to a row that has a representative
        for value in (0, last, int(starts[1]), int(starts[-2]), n_rows - LENGTH):
            assert is_opened(with_one(arrays, name, 0, value)), value
    if name in ("medoids", "spokes"):
        assert not is_opened(with_one(arrays, name, 0, -2))
        assert is_opened(with_one(arrays, name, 0, -1)) == (name == "spokes")


def test_rows_have_a_representative_that_exists_or_none(arrays):
    n_ends, n_medoids = int(arrays["counts"][5]), int(arrays["counts"][4])
    for value, is_fine in ((0, True), (n_ends - 1, True), (n_ends, False), (65534, False)):
        assert is_opened(with_one(arrays, "nearest", 0, value)) == is_fine, value
    assert is_opened(with_one(arrays, "nearest", 0, 65535))
    for value, is_fine in ((n_medoids - 1, True), (n_medoids, False), (253, False), (254, True)):
        for place in (0, -1):
            assert is_opened(with_one(arrays, "between", place, value)) == is_fine, value


def test_pieces_of_labels_are_spans_of_rows_of_one_clip(arrays):
    starts = arrays["starts"]
    for place, value, is_fine in (
        (0, 0, True),
        (0, -1, False),
        (0, int(arrays["pieces"][0, 1]) + 1, False),
        (1, int(starts[1]) - 1, True),
        (1, int(starts[1]), False),
        (1, int(starts[-1]), False),
    ):
        assert is_opened(with_one(arrays, "pieces", place, value)) == is_fine, (place, value)


def test_plants_are_spans_of_rows_of_one_of_two_feet(arrays):
    spans, n_rows = arrays["plant_spans"], int(arrays["starts"][-1])
    first, last = (int(x) for x in spans[-1, :2])
    for place, value, is_fine in (
        (0, -1, False),
        (0, 0, True),
        (-2, first, True),
        (-2, first - 1, False),
        (-2, n_rows - 1, True),
        (-2, n_rows, False),
        (-3, last, True),
        (-3, last + 1, False),
        (-1, 0, True),
        (-1, 1, True),
        (-1, -1, False),
        (-1, 2, False),
    ):
        assert is_opened(with_one(arrays, "plant_spans", place, value)) == is_fine, (place, value)


def test_every_name_ends(arrays):
    names = arrays["names"]
    assert not is_opened(with_one(arrays, "names", -1, ord("x")))
    assert not is_opened(with_one(arrays, "names", 0, 0))
    moved = names.copy()
    moved[-1], moved[0] = ord("x"), 0
    assert not is_opened(file_of(arrays, names=moved))


OWN = {
    *("scratch", "met", "missing", "n_work", "work", "measured", "weighing.rows"),
    *("weighing.posture", "weighing.best", "n_labels", "n_characters", "n_names"),
    *("n_pieces", "first_piece", "pieces"),
}
"""Memory of a table to work in; and names and labels, which only files have."""


def differences(kind, expected, opened, path=""):
    """Largest difference of each field of a record that the core filled from that of another."""
    for field in _core.structs()[kind].fields:
        wanted, found = getattr(expected, field.name), getattr(opened, field.name)
        name = f"{path}{field.name}"
        if name in OWN or wanted is None:
            continue
        if not field.is_pointer:
            yield name, abs(found - wanted)
        elif field.type in _core.NUMBERS:
            values = (found if wanted.size else wanted).reshape(-1)[: wanted.size]
            assert values.dtype == wanted.dtype or wanted.dtype == bool
            values = values.astype(np.float64)
            with np.errstate(invalid="ignore"):  # limits that are infinite
                apart = np.abs(values - wanted.reshape(-1).astype(np.float64))
            apart[values == wanted.reshape(-1)] = 0.0
            yield name, apart.max(initial=0.0)
        else:
            yield from differences(field.type, wanted, found, f"{name}.")


ROUNDED = {
    **dict.fromkeys(("rows.heading", "rows.ground", "seen.heading", "seen.ground"), 1e-6),
    **dict.fromkeys(("term_source.heading", "term_source.ground"), 1e-6),
    **dict.fromkeys(("rows.body", "rows.points", "seen.body"), 2e-5),
    **dict.fromkeys(("term_source.body", "term_source.points"), 2e-5),
    **dict.fromkeys(("terms.rows", "term_slots.rows"), 1e-3),  # with accelerations
    **dict.fromkeys(("terms.posture", "term_slots.posture"), 1e-5),
    **dict.fromkeys(("terms.anchors", "term_slots.anchors", "term_slots.turns"), 1e-6),
    **dict.fromkeys(("terms.low",), 1e-8),
    **dict.fromkeys(("index.starts", "index.ends", "index.ways"), 1.0),
    **dict.fromkeys(("by_start.heads", "by_both.heads"), 1.0),
}
"""What rotations in 18 bits, and places in 32, may change; steps of codes next to a border."""


@pytest.fixture
def opened(arrays):
    """The file as the core opens it; with everything that it lies in."""
    data = file_of(arrays)
    file = aligned(len(data))
    file[:] = np.frombuffer(data, dtype=np.uint8)
    memory = aligned(kernel("ml_table_memory")(len(file), file))
    made = blank("ml_table", lies_in=(file, memory))
    kernel("ml_table_open")(len(file), file, len(memory), memory, made)
    return made


def test_an_opened_file_has_everything_that_the_table_has(table, opened):
    own = table.query_engine.record
    found = dict(differences("ml_table", own, opened))
    del found["rows.quats"]
    assert {"index.ways", "by_both.heads", "term_source.plant_ids"} <= found.keys()
    for name, apart in found.items():
        assert apart <= ROUNDED.get(name, 0.0), name


def test_rotations_of_an_opened_file_are_those_of_the_table_without_jumps_of_sign(table, opened):
    own = table.query_engine.record
    wanted, found = own.rows.quats, opened.rows.quats
    sign = np.sign((found * wanted).sum(axis=2, keepdims=True))
    assert np.abs(sign * found - wanted).max() < 1e-5
    for first, last in pairwise(own.starts):
        clip = found[first:last]
        assert (np.abs(clip[0]).max(axis=1) == clip[0].max(axis=1)).all()  # the largest is above 0
        assert ((clip[1:] * clip[:-1]).sum(axis=2) > 0.0).all()


def test_names_of_an_opened_file_are_those_of_the_table(table, opened):
    skeleton = table.frames.skeleton
    for kind, names in (
        ("joint", list(skeleton.names)),
        ("clip", list(table.frames.ids)),
        ("label", ["running"]),
    ):
        name_of, find = kernel(f"ml_table_{kind}_name"), kernel(f"ml_table_find_{kind}")
        assert [name_of(opened, k).decode() for k in range(len(names))] == names
        assert (name_of(opened, -1), name_of(opened, len(names))) == (b"", b"")
        for k, name in enumerate(names):
            text = np.frombuffer(name.encode(), dtype=np.uint8)
            assert find(opened, len(text), text) == k
        text = np.frombuffer(b"none", dtype=np.uint8)
        assert find(opened, len(text), text) == -1
        assert find(opened, len(text) - 1, text[:-1]) == -1


def test_rows_of_an_opened_file_are_those_of_clips_and_frames(table, opened):
    starts, row_of = table.frames.starts, kernel("ml_table_row")
    for clip, (first, behind) in enumerate(pairwise(starts)):
        n = int(behind - first)
        assert [row_of(opened, clip, f) for f in (-1, 0, n - 1, n)] == [-1, first, behind - 1, -1]
    assert row_of(opened, -1, 0) == row_of(opened, len(starts) - 1, 0) == -1
