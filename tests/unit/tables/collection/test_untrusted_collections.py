"""Collections that somebody else wrote: every value of the catalogue and of the rows is checked."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.collection import catalogue
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.clusters import find_lookup


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign") / "clips"
    folder.mkdir()
    for kind in ("walk", "run"):
        clip = ml.synthetic.clip(kind, duration_s=1.0, fps=30)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    return Collection.ingest(folder, fps=30)


@pytest.fixture
def copied(lib, tmp_path):
    return shutil.copytree(lib.path, tmp_path / "copied.mlc")


def refused(copied, *keys, value):
    """Whether the collection is refused once a value of its catalogue is another one."""
    path = copied / "catalogue.json"
    good = path.read_text()
    document = json.loads(good)
    node = document
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(TableError) as caught:
        Collection.open(copied)
    assert len(str(caught.value)) < 1000
    path.write_text(good)
    return True


VALUES = (None, True, -1, 1.5, 2**70, float("nan"), "", "x", [], {}, [[]], [None], {"a": 1})


@pytest.mark.parametrize(
    "keys",
    [
        ("schema",), ("fps",), ("generation",), ("clips",), ("files",), ("common",), ("clips", 0),
        ("common", "skeleton"), ("common", "roles"), ("common", "feet"), ("files", 0),
        ("clips", 0, 4), ("clips", 0, 5), ("clips", 1, 4), ("common", "feet", 0),
        ("common", "skeleton", "names"), ("common", "skeleton", "parents"),
        ("common", "skeleton", "parents", 1), ("common", "skeleton", "offsets"),
        ("common", "skeleton", "offsets", 1), ("common", "skeleton", "rest_quats", 0),
        ("common", "feet", 0, "ankle"), ("common", "feet", 1, "heel"),
    ],
    ids=str,
)  # fmt: skip
def test_no_value_of_the_catalogue_can_be_of_another_kind(copied, keys):
    allowed = {("fps",): [1.5], ("common", "roles"): [{}]}  # a slow rate, a body without a head
    for value in VALUES:
        if value not in allowed.get(keys, []):
            assert refused(copied, *keys, value=value)


def test_rates_joints_and_lengths_must_be_in_their_range(copied):
    for fps in (0.0, 1e-9, 0.5, 1001.0, 1e308, -30.0):
        assert refused(copied, "fps", value=fps)
    for joint in (-1, 22, 10**9, 1.0, True, "3"):
        assert refused(copied, "common", "roles", "left_knee", value=joint)
        assert refused(copied, "common", "roles", "spine", value=[joint])
        assert refused(copied, "common", "feet", 0, "ankle", value=joint)
    for number in (1e7, -1e300, "0", None):
        assert refused(copied, "common", "skeleton", "offsets", 2, 1, value=number)
        assert refused(copied, "common", "feet", 0, "ball", value=[0.0, number, 0.0])
    assert refused(copied, "generation", value=10**300)
    assert refused(copied, "options", value={"plants": "magic"})
    assert refused(copied, "options", value={"keep_jumps": [1]})


@pytest.mark.parametrize(
    ("column", "kind", "value"),
    [
        ("heading", "<f8", np.inf),
        ("ground", "<f8", 1e9),
        ("quats", "<f4", np.nan),
        ("quats", "<f4", 30.0),
        ("body", "<f4", -np.inf),
        ("body", "<f4", 1e30),
        ("points", "<f4", np.nan),
        ("planted", "|u1", 2),
        ("planted", "|u1", 255),
    ],
)
def test_rows_that_no_motion_has_are_refused(copied, column, kind, value):
    file = next(copied.glob(f"{column}.*.rows"))
    rows = np.frombuffer(file.read_bytes(), dtype=kind).copy()
    rows[len(rows) // 2] = value
    file.write_bytes(rows.tobytes())
    with pytest.raises(TableError, match="damaged"):
        Collection.open(copied)


def test_a_rotation_of_no_length_is_refused(copied):
    file = next(copied.glob("quats.*.rows"))
    rows = np.frombuffer(file.read_bytes(), dtype="<f4").copy()
    rows[40:44] = 0.0
    file.write_bytes(rows.tobytes())
    with pytest.raises(TableError, match="no unit length"):
        Collection.open(copied)


def test_windows_that_are_far_apart_have_a_distance(lib):
    """Bodies may be a thousand kilometres apart, more than a half-precision number holds."""
    ground = np.array(lib.frames.ground)
    ground[::3] = 9e5
    far = replace(lib.frames, ground=ground)
    first = np.array([0])
    assert np.isfinite(find_lookup(far, first, first, length=15).fine_distance).all()


def test_a_catalogue_of_many_short_records_is_read(lib, tmp_path, monkeypatch):
    found = catalogue.read_catalogue(lib.path / "catalogue.json")
    clip = found.clips[0]
    many = tuple(clip._replace(id=f"{k}", first=k * clip.frames) for k in range(3000))
    catalogue.write_catalogue(tmp_path / "many.json", replace(found, clips=many))
    monkeypatch.setattr(catalogue, "FREE_MEMORY", 0)  # as if there were a hundred times as many
    assert len(catalogue.read_catalogue(tmp_path / "many.json").clips) == 3000
