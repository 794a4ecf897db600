"""The study of mutants in C: tokens, what it changes, which kernels and tests run a change."""

import ctypes
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from motionloom import _core
from studies.mutants import mutant_tests
from studies.mutants.mutant_c_sites import CFile, c_files
from studies.mutants.mutant_c_syntax import CallGraph, tokens_of
from studies.mutants.mutant_core import (
    CoreBuild,
    DoesNotCompileError,
    SameCodeError,
    kernels,
    use_library,
)
from studies.mutants.mutant_session import Watch
from studies.mutants.mutant_sites import sample

ROOT = Path(__file__).parents[2]
CODE = r"""/* 1 + 1 < 3 */
#include "other.h"
#define SIZE (2 + 2) /* 5 */
typedef struct {
    double at[4 - 1];
} pair;
enum { FIRST = 7 };
static const double weights[2] = {0.5, 1e-9};
double declared(double x[3]);

#if defined(__AVX__)
static int wide(int x) { return x + 8; }
#endif

static double middle(const double *a, int64_t n) {
    double best[SIZE + 1], *out = best, sum = -a[0];
    pair both;
    for (int64_t i = 0; i < n; i++) {
        if (!a[i] && i >= 2) continue; // 1 + 1
        sum += ml_min(a[2 * i], (double)-n) * fabs(sum);
    }
    *out = (const double)*a;
    text("1 + 1 \" < 2");
    return sum;
}
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="planted.c"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return CFile(path, f"core/src/{name}")

    return write


def changes(file):
    return {(m.kind, m.before, m.after) for m in file.mutants}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a->b+=c++-1;", ["a", "->", "b", "+=", "c", "++", "-", "1", ";"]),
        ("x<=.5e-3f>>1ull", ["x", "<=", ".5e-3f", ">>", "1ull"]),
        ("0x1.8p-52+0x7fUL", ["0x1.8p-52", "+", "0x7fUL"]),
        ("a /* - */ - b // + c\n* d", ["a", "-", "b", "*", "d"]),
        (r"""'\'' + "\"+" """, [r"'\''", "+", r'"\"+"']),
        ("#define A(x) \\\n  x + 1\nb\n#if A\nc\n#else\nd\n#endif\ne", ["b", "e"]),
        ("#ifndef GUARD\n#define GUARD\na\n#endif", ["a"]),
    ],
)
def test_tokens_are_those_of_c_without_comments_and_the_preprocessor(text, expected):
    assert [token.text for token in tokens_of(text)[0]] == expected


def test_every_kind_of_mistake_is_made_and_types_and_sizes_are_left_alone(written):
    assert changes(written(CODE)) == {
        ("constant", "0.5", "1.0"),
        ("sign", "-a", "a"),
        ("off by one", "0", "1"),
        ("comparison", "i < n", "i <= n"),
        ("negation", "!a[i] && i >= 2", "!(!a[i] && i >= 2)"),
        ("not", "!a", "a"),
        ("index", "[i]", "[i + 1]"),
        ("logic", "] && i", "] || i"),
        ("comparison", "i >= 2", "i > 2"),
        ("off by one", "2", "3"),
        ("off by one", "2", "1"),
        ("dropped", "continue;", ";"),
        ("arithmetic", "sum += ml_min", "sum -= ml_min"),
        ("extreme", "ml_min", "ml_max"),
        ("index", "[2 * i]", "[2 * i + 1]"),
        ("arithmetic", "2 * i", "2 / i"),
        ("sign", "-n", "n"),
        ("arithmetic", ") * fabs", ") / fabs"),
        ("abs", "fabs(sum)", "(sum)"),
        (
            "dropped",
            "sum += ml_min(a[2 * i], (double)-n) * fabs(sum);",
            ";",
        ),
        ("dropped", "*out = (const double)*a;", ";"),
        ("dropped", r'text("1 + 1 \" < 2");', ";"),
    }


def test_every_kind_of_statement_is_gone_through(written):
    file = written("""int64_t turn(int64_t n) {
    do {
        n -= 3;
    } while (n > 9);
    while (n < 4) n++;
    switch (n) {
    case 5: return n / 6;
    default: break;
    }
    for (;;) break;
    if (n) n = 7; else if (-n) { n = 8; }
    return x[n ? 1 : 2] ? (n) : 11;
}
""")
    found = changes(file)
    assert {("off by one", str(k), str(k + 1)) for k in (1, 2, 3, 4, 6, 7, 8, 9, 11)} <= found
    assert not {m for m in file.mutants if m.before == "5"}
    assert {m.before for m in file.mutants if m.kind == "negation"} == {"n > 9", "n < 4", "n", "-n"}
    dropped = [m.before for m in file.mutants if m.kind == "dropped"]
    assert dropped == ["n -= 3;", "n++;", "break;", "break;", "n = 7;", "n = 8;"]
    assert ("index", "[n ? 1 : 2]", "[(n ? 1 : 2) + 1]") in found


@pytest.mark.parametrize(
    ("number", "others"),
    [
        ("3.5f", {"7.0f"}),
        ("0x1.8p+1", {"0x1.8000000000000p+2"}),
        ("0.0f", {"1.0f"}),
        ("1e-7", set()),
        ("0xff", set()),
        ("2u", {"3u", "1u"}),
    ],
)
def test_numbers_become_others_of_the_same_type(written, number, others):
    file = written(f"double f(void) {{ return {number}; }}\n")
    assert {m.after for m in file.mutants if m.before == number} == others


def test_a_mutant_differs_from_its_file_in_that_one_place(written):
    file = written(CODE)
    for mutant in file.mutants:
        rows, texts = CODE.splitlines(), file.text_of(mutant).splitlines()
        differ = [k for k, (a, b) in enumerate(zip(rows, texts, strict=True), start=1) if a != b]
        assert differ == [mutant.line]
        row, text = rows[mutant.line - 1], texts[mutant.line - 1]
        assert row.strip() == mutant.source
        assert row[: mutant.column] == text[: mutant.column]
        assert mutant.before in row
        assert mutant.after in text
        assert mutant.names[0] in ("middle", "weights")


def test_a_larger_file_has_more_of_a_sample(written):
    small = "double f(double x) {\n" + "    x = x + 2.0;\n" * 10 + "    return x;\n}\n"
    large = "double f(double x) {\n" + "    x = x + 2.0;\n" * 30 + "    return x;\n}\n"
    files = [written(small, "small.c"), written(large, "large.c")]
    counts = [0, 0]
    for seed in range(20):
        for mutant in sample(files, 12, seed):
            counts["large" in mutant.file] += 1
    assert 2.5 < counts[1] / counts[0] < 3.5


def test_every_file_of_the_core_is_understood():
    files = c_files(ROOT)
    defined = {made.name for file in files for made in file.definitions if not file.is_header}
    declared = set(_core.functions())
    assert len(declared) > 100
    assert declared - defined == {"ml_processor_has_avx2"}  # all of it between #if and #endif
    for file in files:
        if file.mutants:
            assert file.text_of(file.mutants[-1]) != file.text


CORE = {
    "core/include/motionloom.h": """#define ML_API __attribute__((visibility("default")))
ML_API double ml_one(double x);
ML_API double ml_two(double x);
""",
    "core/build.py": (ROOT / "core" / "build.py").read_text(encoding="utf-8"),
    "core/src/part.h": """static const double STEP[1] = {4.0};
static inline double part_step(double x) { return x + STEP[0]; }
static inline double part_other(double x) { return x; }
""",
    "core/src/one.c": """#include "../include/motionloom.h"
#include "part.h"
#define TWICE(x) (2.0 * helper(x))
static double helper(double x) { return part_step(x); }
double ml_one(double x) { return TWICE(x); }
""",
    "core/src/two.c": """#include "../include/motionloom.h"
#include "part.h"
static double helper(double x) { return part_other(x) - 1.0 + 0 * 3; }
double ml_two(double x) { return helper(ml_one(x)); }
""",
}


@pytest.fixture
def core(tmp_path):
    """A small core of two C files and a header."""
    root = tmp_path / "project"
    for name, text in CORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "src" / "motionloom" / "_lib").mkdir(parents=True)
    built = CoreBuild(root, tmp_path / "state", c_files(root))
    built.prepare()
    return built


def the_mutant(core, file, before, after):
    [mutant] = [m for m in core.files[file].mutants if (m.before, m.after) == (before, after)]
    return mutant


@pytest.mark.parametrize(
    ("file", "name", "kernels_of", "compiled"),
    [
        ("one.c", "helper", {"ml_one": 2, "ml_two": 3}, ["one.c"]),
        ("two.c", "helper", {"ml_two": 1}, ["two.c"]),
        ("part.h", "STEP", {"ml_one": 4, "ml_two": 5}, ["one.c"]),
        ("part.h", "part_other", {"ml_two": 2}, ["two.c"]),
        ("one.c", "ml_one", {"ml_one": 0, "ml_two": 1}, ["one.c"]),
    ],
)
def test_a_change_reaches_the_kernels_that_call_it_and_the_files_that_hold_it(
    core, file, name, kernels_of, compiled
):
    graph = CallGraph(list(core.files.values()))
    assert graph.kernels_of(f"core/src/{file}", name) == kernels_of
    assert graph.compiled_with(f"core/src/{file}", name) == [f"core/src/{c}" for c in compiled]


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize(
    ("file", "before", "after", "expected"),
    [
        ("part.h", "4.0", "8.0", (18.0, 17.0)),
        ("part.h", "x + STEP", "x - STEP", (-6.0, -7.0)),
        ("two.c", ") - 1.0", ") + 1.0", (10.0, 11.0)),
        ("two.c", "1.0", "2.0", (10.0, 8.0)),
    ],
)
def test_a_library_is_made_with_that_mistake(core, tmp_path, file, before, after, expected):
    mutant = the_mutant(core, f"core/src/{file}", before, after)
    (tmp_path / "made").mkdir()
    folder = core.make(mutant, tmp_path / "made")
    assert values(core.root / "src" / "motionloom" / "_lib" / core.library) == (10.0, 9.0)
    assert values(folder / core.library) == expected


def values(path):
    library = ctypes.CDLL(str(path))
    for function in (library.ml_one, library.ml_two):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return library.ml_one(1.0), library.ml_two(1.0)


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_what_does_not_compile_or_is_the_same_code_is_no_mutant(core, tmp_path):
    for name in ("same", "wrong"):
        (tmp_path / name).mkdir()
    same = the_mutant(core, "core/src/two.c", "3", "4")
    with pytest.raises(SameCodeError):
        core.make(same, tmp_path / "same")
    file = core.files["core/src/two.c"]
    file.text = file.text.replace("helper(ml_one(x))", "nothing")
    with pytest.raises(DoesNotCompileError, match="nothing"):
        core.make(same, tmp_path / "wrong")


def test_every_kernel_of_a_process_calls_the_library_of_a_folder(tmp_path, monkeypatch):
    multiply = _core.kernel("ml_quaternion_multiply")
    made = tmp_path / "_lib"
    shutil.copytree(_core.FOLDER, made)
    olds = [(kernel, kernel.__globals__["_function"]) for kernel in kernels()]
    monkeypatch.setattr(_core, "FOLDER", _core.FOLDER)
    try:
        assert use_library(made) == len(olds)
        assert all(kernel.__globals__["_function"] is not old for kernel, old in olds)
        assert _core._library()._name.startswith(str(made))
        q, out = np.array([[0.0, 1.0, 0.0, 0.0]]), np.zeros((1, 4))
        multiply(1, q, q, out)
        assert out.tolist() == [[-1.0, 0.0, 0.0, 0.0]]
    finally:
        for kernel, old in olds:
            kernel.__globals__["_function"] = old
        _core._library.cache_clear()


def test_a_test_is_known_by_the_kernels_that_it_calls():
    watch = Watch(ROOT)
    multiply = _core.kernel("ml_quaternion_multiply")
    q = np.array([[1.0, 0.0, 0.0, 0.0]])
    _core.kernel.cache_clear()
    sys.settrace(watch)
    try:
        multiply(1, q, q, np.zeros((1, 4)))
        _core.kernel("ml_quaternion_rotate")  # made, not called
    finally:
        sys.settrace(None)
    kernels_called = {function for function in watch.stack[0] if function[0].startswith("<")}
    assert kernels_called == {("<ml_quaternion_multiply>", 1)}


def test_tests_of_a_mutant_in_c_are_those_that_call_its_kernels_the_nearest_first(core):
    def a_test(file, call_s, *names):
        item = SimpleNamespace(nodeid=f"{file}::x")
        return mutant_tests.Test(item, 0.0, call_s, frozenset((n, 1) for n in names))

    baseline = mutant_tests.Baseline.__new__(mutant_tests.Baseline)
    baseline.calls = core.graph
    baseline.tests = [
        a_test("tests/unit/formats/test_far.py", 1.0, "<ml_two>"),
        a_test("tests/unit/features/test_near.py", 1.0, "<ml_one>", "<ml_two>"),
        a_test("tests/unit/features/test_none.py", 1.0, "<ml_three>", "src/motionloom/a.py"),
        a_test("tests/unit/features/test_long.py", 100.0, "<ml_one>"),
    ]
    mutant = the_mutant(core, "core/src/part.h", "4.0", "8.0")
    chosen = [test.file for test in baseline.tests_of(mutant, 60.0)]
    assert chosen == ["tests/unit/features/test_near.py", "tests/unit/formats/test_far.py"]
