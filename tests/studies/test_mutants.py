"""The study of mutants: what it changes, that it notices planted mistakes, what it leaves out."""

import ast
import sys
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest

from studies.mutants import mutant_apply
from studies.mutants.mutant_results import Equivalents
from studies.mutants.mutant_session import run_all, start
from studies.mutants.mutant_sites import SourceFile, sample

CODE = '''"""Half of 1 + 1."""
import numpy as np

LIMIT = 0.5
__all__ = ["nearest"]


def nearest(values: "tuple[3]", wanted, low=0):
    """Take 2 + 2."""
    if len(values) < 1 and not wanted:
        raise ValueError(f"at least {1 + 1} values, not {len(values) - 0}")
    gaps = np.abs(values[low:] - wanted)
    return np.argmin(gaps, axis=0) * -1
'''


@pytest.fixture
def written(tmp_path):
    def write(text, name="planted.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return SourceFile(path, f"src/motionloom/{name}")

    return write


def changes(file):
    return {(m.kind, m.before, m.after) for m in file.mutants}


def test_every_kind_of_mistake_is_made_and_text_is_left_alone(written):
    assert changes(written(CODE)) == {
        ("constant", "0.5", "1.0"),
        ("off by one", "0", "1"),
        (
            "logic",
            "len(values) < 1 and (not wanted)",
            "len(values) < 1 or not wanted",
        ),
        ("comparison", "len(values) < 1", "len(values) <= 1"),
        ("off by one", "1", "2"),
        ("off by one", "1", "0"),
        ("not", "not wanted", "wanted"),
        ("abs", "np.abs(values[low:] - wanted)", "values[low:] - wanted"),
        ("arithmetic", "values[low:] - wanted", "values[low:] + wanted"),
        ("slice", "low:", "low + 1:"),
        ("arithmetic", "np.argmin(gaps, axis=0) * -1", "np.argmin(gaps, axis=0) / -1"),
        ("extreme", "np.argmin(gaps, axis=0)", "np.argmax(gaps, axis=0)"),
        ("axis", "axis=0", "axis=1"),
        ("sign", "-1", "1"),
    }


def test_arguments_change_places_unless_their_order_has_no_meaning(written):
    file = written("a = f(x, y)\nb = max(x, y)\nc = f(x, x)\nd = True\n")
    swaps = {(m.before, m.after) for m in file.mutants if m.kind == "arguments"}
    assert swaps == {("f(x, y)", "f(y, x)")}
    assert ("truth", "True", "False") in changes(file)
    assert ("extreme", "max(x, y)", "min(x, y)") in changes(file)


def test_a_mutant_differs_from_its_file_in_that_one_expression(written):
    file = written(CODE)
    whole = ast.unparse(ast.parse(CODE)).splitlines()
    for mutant in file.mutants:
        lines = ast.unparse(file.tree_of(mutant)).splitlines()
        differ = [(a, b) for a, b in zip(whole, lines, strict=True) if a != b]
        assert len(differ) == 1, mutant
        assert mutant.before in differ[0][0]
        assert mutant.after in differ[0][1]


def test_the_same_seed_chooses_the_same_and_files_get_equal_shares(written):
    files = [written(CODE, "a.py"), written(CODE, "b.py")]
    chosen = sample(files, 8, 3)
    assert [m.key for m in chosen] == [m.key for m in sample(files, 8, 3)]
    assert [m.key for m in chosen] != [m.key for m in sample(files, 8, 4)]
    assert [sum(m.file.endswith(n) for m in chosen) for n in ("a.py", "b.py")] == [4, 4]
    assert len({m.spot for m in chosen}) == 8
    assert len(sample(files, 1000, 0)) == len({m.spot for f in files for m in f.mutants})


PLANTED = """
from dataclasses import dataclass
from functools import lru_cache
import numpy as np

PLANTED_SCALE = 3.0
ROW = np.array([10.0, 20.0])
ONLY = object()


def inner(x):
    return x + 1.0


def outer(x):
    return PLANTED_SCALE * inner(x)


@lru_cache
def shifted(n, by=2, mark=ONLY):
    return n + by if mark is ONLY else -1


def row():
    return ROW


@dataclass(frozen=True)
class Point:
    x: float = 4.0

    @property
    def doubled(self):
        return self.x * 2.0
"""


USER = "from planted import PLANTED_SCALE as OWN\n"


@pytest.fixture
def planted(written, monkeypatch):
    """A file that is imported, a user of its data, and what both compute."""
    file = written(PLANTED)
    module, user, other = (ModuleType(n) for n in ("planted", "planted_user", "planted_other"))
    module.__file__ = str(file.path)
    user.__file__ = str(written(USER, "planted_user.py").path)
    other.__file__ = str(written("PLANTED_SCALE = 3.0\n", "planted_other.py").path)
    monkeypatch.setitem(sys.modules, "planted", module)
    monkeypatch.setitem(sys.modules, "planted_user", user)
    monkeypatch.setitem(sys.modules, "planted_other", other)
    exec(compile(PLANTED, module.__file__, "exec"), vars(module))
    user.OWN = other.PLANTED_SCALE = module.PLANTED_SCALE
    functions = (module.outer, module.shifted, module.Point, module.row)

    def values():
        outer, shifted, point, row = functions
        shifted.cache_clear()
        assert other.PLANTED_SCALE == 3.0  # equal, but not imported from there
        made = (outer(1.0), user.OWN, shifted(1), point().x, point(1.0).doubled)
        return made if row().tolist() == [10.0, 20.0] else row().tolist()

    return file, values


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("x + 1.0", "x - 1.0", (0.0, 3.0, 3, 4.0, 2.0)),  # a function that a function calls
        ("3.0", "6.0", (12.0, 6.0, 3, 4.0, 2.0)),  # data that a function and a module read
        ("n + by", "n - by", (6.0, 3.0, -1, 4.0, 2.0)),  # a function with cached results
        ("2", "3", (6.0, 3.0, 4, 4.0, 2.0)),  # a default value
        ("4.0", "8.0", (6.0, 3.0, 3, 8.0, 2.0)),  # the default value of a field
        ("self.x * 2.0", "self.x / 2.0", (6.0, 3.0, 3, 4.0, 0.5)),  # a property
        ("10.0", "20.0", [20.0, 20.0]),  # an array
    ],
)
def test_a_planted_mistake_reaches_everything_that_was_imported(planted, before, after, expected):
    file, values = planted
    assert values() == (6.0, 3.0, 3, 4.0, 2.0)
    [mutant] = [m for m in file.mutants if (m.before, m.after) == (before, after)]
    assert mutant_apply.apply(file, mutant) > 0
    assert values() == expected


def test_a_file_that_cannot_be_imported_with_its_mutant_is_a_mistake_noticed(written, monkeypatch):
    file = written("VALUES = [1.0, 2.0][1]\n")
    module = ModuleType("planted")
    module.__file__ = str(file.path)
    monkeypatch.setitem(sys.modules, "planted", module)
    [mutant] = [m for m in file.mutants if m.after == "2"]
    with pytest.raises(mutant_apply.MutantFailsError, match="IndexError"):
        mutant_apply.apply(file, mutant)


ENTRY = """
[[mutant]]
file = "src/motionloom/planted.py"
source = "LIMIT = 0.5"
before = "0.5"
after = "{after}"
reason = "{reason}"
"""


def test_an_explained_mutant_is_known_by_its_line(written, tmp_path):
    file = written(CODE)
    path = tmp_path / "equivalent.toml"
    path.write_text(ENTRY.format(after="1.0", reason="nothing reads it"))
    [name] = Equivalents.read(path, [file])
    assert [m.line for m in file.mutants if m.name == name] == [4]


@pytest.mark.parametrize(
    ("after", "reason", "message"),
    [("2.5", "nothing reads it", "no longer has this mutant"), ("1.0", "", "no reason")],
)
def test_an_explanation_that_is_out_of_date_or_empty_stops_the_study(
    written, tmp_path, after, reason, message
):
    path = tmp_path / "equivalent.toml"
    path.write_text(ENTRY.format(after=after, reason=reason))
    with pytest.raises(SystemExit, match=message):
        Equivalents.read(path, [written(CODE)])


def test_of_equal_mutants_on_a_line_one_is_named_by_its_column(written, tmp_path):
    file = written("pair = (0.5, 0.5)\n")
    path = tmp_path / "equivalent.toml"
    text = ENTRY.format(after="1.0", reason="only a test").replace(
        "LIMIT = 0.5", "pair = (0.5, 0.5)"
    )
    path.write_text(text)
    with pytest.raises(SystemExit, match=r"`column` \(8, 13\)"):
        Equivalents.read(path, [file])
    path.write_text(text + "column = 13\n")
    [name] = Equivalents.read(path, [file])
    assert name.endswith("| 1:13")


def test_explanations_fit_the_present_code():
    from studies.mutants.mutants import ROOT, numeric_files

    entries = ROOT / "studies" / "mutants" / "equivalent_mutants.toml"
    Equivalents.read(entries, numeric_files(ROOT))


def test_processes_send_their_messages_and_a_fault_is_one_of_them():
    def works(send):
        send({"failed": "a test"})

    def fails(send):
        raise KeyError("gone")

    children = {"works": works, "fails": fails}
    starts = (lambda name=name: (name, start(children[name], 60.0)) for name in children)
    ended = {name: (child.messages, bool(child.status)) for name, child in run_all(starts, 2)}
    assert ended == {
        "works": ([{"failed": "a test"}], False),
        "fails": ([{"error": "KeyError: 'gone'"}], True),
    }


@dataclass
class Weights:
    """Data of a module that is more than a number."""

    values: np.ndarray


def test_an_object_with_other_fields_is_other_data():
    assert mutant_apply.is_same(Weights(np.array([1.0, 2.0])), Weights(np.array([1.0, 2.0])))
    assert not mutant_apply.is_same(Weights(np.array([1.0, 2.0])), Weights(np.array([1.0, 2.5])))
