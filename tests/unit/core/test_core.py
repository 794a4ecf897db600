"""The binding: what does not fit is refused before the core sees it."""

from __future__ import annotations

import ast
import ctypes
import gc
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from motionloom import _core
from motionloom._core import kernel
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.features.checks import verification
from motionloom.tables.score.columns import COLUMNS

A, B = np.ones((5, 4)), np.full((5, 4), 2.0)


@pytest.mark.parametrize(
    "wrong",
    [
        (6, A, B, np.zeros((5, 4))),
        (-1, A, B, np.zeros((5, 4))),
        (5, A.astype(np.float32), B, np.zeros((5, 4))),
        (5, A[::-1], B, np.zeros((5, 4))),
        (5, A, B, np.zeros((5, 3))),
        (5, A, B, np.zeros((5, 4), dtype=">f8")),
    ],
    ids=["more rows", "no size", "other numbers", "strides", "small output", "other bytes"],
)
def test_arrays_that_do_not_fit_are_refused(wrong: tuple[object, ...]) -> None:
    with pytest.raises(ArrayError, match=r"of ml_quaternion_multiply must be an array"):
        kernel("ml_quaternion_multiply")(*wrong)


def test_an_output_that_cannot_be_written_is_refused() -> None:
    out = np.zeros((5, 4))
    out.flags.writeable = False
    with pytest.raises(ArrayError, match="array to write to"):
        kernel("ml_quaternion_multiply")(5, A, B, out)


def test_an_array_that_is_not_aligned_is_refused() -> None:
    odd = np.frombuffer(bytearray(8 * 20 + 1), dtype=np.uint8)[1:].view(np.float64).reshape(5, 4)
    with pytest.raises(ArrayError, match="C order"):
        kernel("ml_quaternion_multiply")(5, odd, B, np.zeros((5, 4)))


def test_a_status_becomes_an_error() -> None:
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_quaternion_turns")(3, 2, np.zeros((3, 2, 4)), 1, np.array([7]), np.zeros((2, 1)))


def test_flags_are_taken_for_bytes() -> None:
    flips = np.zeros(1, dtype=bool)
    q = np.array([[[1.0, 0, 0, 0]], [[-1.0, 0, 0, 0]]])
    assert kernel("ml_quaternion_check")(2, 1, q, flips) == 0.0
    assert flips[0]


RIG = {
    "n_joints": 3, "n_checked": 1, "n_carriers": 0, "n_across": 0, "n_legs": 0, "head": -1,
    "parents": np.array([-1, 0, 1]), "checked": np.array([1]), "carriers": np.zeros(0, np.int64),
    "across": np.zeros((0, 2), np.int64), "legs": np.zeros((0, 3), np.int64),
    "hinges": np.zeros((0, 3)), "soles": np.zeros((0, 2, 3)),
}  # fmt: skip


def test_a_record_points_to_its_arrays_and_keeps_them() -> None:
    made = _core.record("ml_check_rig", **RIG)
    raw = _core._struct_type("ml_check_rig").from_address(made.address)
    assert raw.parents == RIG["parents"].ctypes.data
    assert made.head == raw.head == -1
    assert made.parents is RIG["parents"]
    assert (made.kind, made.n_joints) == ("ml_check_rig", 3)


@pytest.mark.parametrize(
    "wrong",
    [{"n_joints": 4}, {"checked": np.array([1.0])}, {"parents": np.zeros((3, 2), np.int64)[:, 0]}],
    ids=["sizes", "other numbers", "strides"],
)
def test_a_record_of_arrays_that_do_not_fit_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ArrayError, match="of ml_check_rig must be an array"):
        _core.record("ml_check_rig", **{**RIG, **wrong})


def test_records_are_kept_for_the_same_tuple_and_made_for_another() -> None:
    made: list[tuple[int, ...]] = []

    @_core.kept
    def make(values: tuple[int, ...]) -> _core.Record:
        made.append(values)
        return _core.record("ml_check_rig", **RIG)

    tuples = [(k, k) for k in range(3 * _core.KEPT)]
    first = make(tuples[0])
    assert make(tuples[0]) is first
    assert make((0, *tuples[0][1:])) is not first
    assert len(made) == 2
    for each in tuples:
        assert make(each) is make(each)


def test_another_record_or_none_is_refused() -> None:
    series = _core.record("ml_check_rig", **RIG)
    arrays = np.zeros((0, 3, 3)), np.zeros((0, 3, 4)), np.zeros((0, 3, 4)), np.zeros((3, 6))
    for other in (series, None):
        with pytest.raises(ArrayError, match="`out` of ml_check_measure must be a record"):
            kernel("ml_check_measure")(series, 60.0, *arrays, other)


def test_every_array_in_the_header_has_a_shape_and_every_function_is_in_the_library() -> None:
    for name, declared in _core.functions().items():
        assert kernel(name)
        for field in declared.fields:
            assert not (field.is_pointer and field.type in _core.NUMBERS) or field.shape, name
    for name, declared in _core.structs().items():
        for field in declared.fields:
            assert not (field.is_pointer and field.type in _core.NUMBERS) or field.shape, name


def test_the_header_declares_nothing_that_is_not_read() -> None:
    text = re.sub(r"/\*.*?\*/", "", _core.header_text(), flags=re.DOTALL)
    assert set(re.findall(r"\b(ml_\w+)\s*\(", text)) == set(_core.functions())


def test_a_record_is_refused_where_an_array_does_not_fit_or_a_field_is_missing() -> None:
    none = np.zeros((0, 0, 0), dtype=np.float32)
    sizes = {"n_sources": 0, "n_targets": 0, "n_between": 0}
    made = _core.record("ml_spreads", **sizes, ends=none, sources=none, targets=none, middle=none)
    assert made.n_between == 0
    with pytest.raises(ArrayError, match="`middle` of ml_spreads must be an array"):
        _core.record("ml_spreads", **{**sizes, "n_between": 2}, ends=none, sources=none,
                     targets=none, middle=none)  # fmt: skip
    with pytest.raises(TypeError, match="middle"):
        _core.record("ml_spreads", **sizes, ends=none, sources=none, targets=none)


def test_a_function_takes_no_record_of_another_kind() -> None:
    none = np.zeros((0, 0, 0), dtype=np.float32)
    other = _core.record("ml_spreads", n_sources=0, n_targets=0, n_between=0, ends=none,
                         sources=none, targets=none, middle=none)  # fmt: skip
    with pytest.raises(ArrayError, match="`source` of ml_window_terms must be a record"):
        kernel("ml_window_terms")(other, other, 0, 0)


def test_the_core_reports_what_it_was_built_from() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", _core.built_from())


def test_a_kernel_that_the_library_lacks_is_an_error_with_a_remedy():
    with pytest.raises(MotionLoomError, match=r"ml_waltz.*core/build\.py"):
        kernel("ml_waltz")


# --- Numbers that Python and C share

MODULES = sorted(Path(_core.__file__).parent.rglob("*.py"))
OTHERS = {
    ("glitch_frames.py", "FREE"),  # acceleration of a repair, not of a result: ML_CHECK_BEND_FREE
}
"""Constants of Python that are like one of the core in name and value, and are another thing."""


def literals(module: Path) -> Iterator[tuple[str, float, str]]:
    """Constants of a module that are written as numbers: name, value, and the text below."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    for statement, below in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.Assign):
            continue
        text = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            text = str(below.value.value)
        for target in statement.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = [statement.value]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                values = statement.value.elts
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and (number := written(value)) is not None:
                    yield name.id, number, text


def written(value: ast.expr) -> float | None:
    """The number that an expression of literals is; None of any other."""
    allowed = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
    if not all(isinstance(node, allowed) for node in ast.walk(value)):
        return None
    number = eval(compile(ast.Expression(value), "<constant>", "eval"))
    return float(number) if isinstance(number, int | float) else None


def test_no_module_writes_a_number_of_the_core_again() -> None:
    said = re.compile(
        r"core/(src|include)|kernels\.h|motionloom\.h|\bML_[A-Z]|\b(as|of) the core\b"
    )
    shared = _core.constants()
    again = []
    for module in MODULES:
        for name, number, text in literals(module):
            alike = [
                each for each in shared if each.endswith(f"_{name}") and shared[each] == number
            ]
            if (said.search(text) or alike) and (module.name, name) not in OTHERS:
                again.append((module.name, name, alike))
    assert again == []


def test_every_number_that_is_asked_for_is_in_the_headers() -> None:
    asked = re.compile(r"\b(?:constant|integer)\(\s*\"(ML_\w+)\"")
    names = {name for module in MODULES for name in asked.findall(module.read_text("utf-8"))}
    assert len(names) > 60
    assert names <= set(_core.constants())


def test_numbers_are_read_as_the_headers_write_them() -> None:
    shared = _core.constants()
    assert _core.constant("ML_PASSAGE_REACH_S") == 4.0 / 60.0
    assert shared["ML_KEY_NEXT"] == 0x100
    assert shared["ML_SCAN_STATE"] == 13
    assert (shared["ML_NOT_HELD"], shared["ML_STREAM_CONTINUING_BADLY"]) == (-1, 4)
    assert type(_core.integer("ML_CHECK_GLIDE")) is int
    with pytest.raises(TypeError, match="integer"):
        _core.integer("ML_GRAVITY")
    with pytest.raises(MotionLoomError, match=r"ML_WALTZ.*core/build\.py"):
        _core.constant("ML_WALTZ")


def test_columns_and_checks_have_the_names_of_the_core() -> None:
    assert len(COLUMNS) == _core.integer("ML_TABLE_COLUMNS")
    shared = _core.constants()
    numbered = (
        "TURN",
        "SPEED",
        "BEND",
        "FLIP",
        "JUMP",
        "PELVIS",
        "SOLE",
        "CONTACT",
        "SLIP",
        "GLIDE",
    )
    assert [getattr(verification, name) for name in numbered] == [
        shared[f"ML_CHECK_{name}"] for name in numbered
    ]
    python_only = {verification.HEAD_TURN, verification.GLITCH, verification.FLOATING}
    rest = set(range(len(verification.CHECKS))) - python_only
    text = (_core.FOLDER / "kernels.h").read_text(encoding="utf-8")
    block = text[text.index("#define ML_CHECK_TURN 0") : text.index("/* Failures of one motion")]
    assert rest == {int(number) for number in re.findall(r"#define ML_CHECK_\w+ (\d+)", block)}


# --- Records read what the core sees


def choice() -> _core.Record:
    arrays = {"rows": np.zeros((2, 4), np.int64), "costs": np.zeros(2), "pinned": np.zeros(2, bool)}
    columns = np.zeros((2, _core.integer("ML_TABLE_COLUMNS")), np.float32)
    return _core.record("ml_choice", most=2, count=0, ranked=0, columns=columns, **arrays)


def test_a_number_that_is_set_is_set_where_the_core_sees_it() -> None:
    made = choice()
    raw = _core._struct_type("ml_choice").from_address(made.address)
    made.count = np.int64(2)
    assert (made.count, raw.count) == (2, 2)
    raw.count = 1  # as the core does
    assert made.count == 1
    with pytest.raises(TypeError, match="integer"):
        made.count = 1.5


@pytest.mark.parametrize("name", ["most", "costs", "kind", "address", "struct", "waltz"])
def test_sizes_arrays_and_all_that_is_no_field_cannot_be_set(name: str) -> None:
    made = choice()
    with pytest.raises(AttributeError, match=f"`{name}` of ml_choice cannot be set"):
        setattr(made, name, 3)
    assert made.most == 2
    assert (made.costs == 0.0).all()


def test_a_pointer_to_another_record_is_set_in_the_struct_and_keeps_the_record() -> None:
    made = _core.blank("ml_stream")
    raw = _core._struct_type("ml_stream").from_address(made.address)
    assert made.table is None
    table = _core.blank("ml_table")
    made.table = table
    assert made.table is table
    assert raw.table == table.address
    with pytest.raises(ArrayError, match="`table` of ml_stream must be a record of ml_table"):
        made.table = made


def test_arrays_and_records_that_the_core_points_to_are_read_from_its_memory() -> None:
    made, given = choice(), np.array([0.25, 0.5])
    other = _core.blank("ml_choice", lies_in=made)
    ctypes.memmove(other.address, made.address, ctypes.sizeof(_core._struct_type("ml_choice")))
    made.costs[:] = given
    found = other.costs
    assert found.tobytes() == given.tobytes()
    assert (other.rows.shape, other.rows.dtype) == ((2, 4), np.int64)
    del made, other
    gc.collect()
    assert found.tobytes() == given.tobytes()  # an array keeps what it lies in


def test_an_array_is_held_only_if_the_struct_points_to_it() -> None:
    made, other = choice(), np.zeros(2)
    with pytest.raises(ArrayError, match="`costs` of ml_choice must point to the array"):
        made.hold("costs", other)
