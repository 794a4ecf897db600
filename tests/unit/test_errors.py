import pickle

import pytest

from motionloom import errors
from motionloom.findings import Finding


def test_a_format_error_names_file_place_problem_and_remedy():
    error = errors.FormatError("No frames.", path="a.bvh", where="line 3", fix="Export it again.")
    assert str(error) == "a.bvh, line 3: No frames. Export it again."


def test_a_format_error_takes_its_path_later():
    error = errors.FormatError("No frames.", where="line 3").at("b.bvh")
    assert (error.path, error.where) == ("b.bvh", "line 3")


def test_a_format_error_survives_a_worker_process():
    error = pickle.loads(pickle.dumps(errors.FormatError("No.", path="a", where="b", fix="c.")))
    assert (error.problem, error.path, error.where, error.fix) == ("No.", "a", "b", "c.")


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_of_the_one_family(name):
    assert issubclass(getattr(errors, name), errors.MotionLoomError)


def test_a_finding_reads_as_one_line():
    assert str(Finding("note", "header", "Unit is cm.")) == "note: header: Unit is cm."


@pytest.mark.parametrize("name", errors.__all__)
def test_the_text_of_an_error_can_be_printed_and_is_bounded(name):
    error = getattr(errors, name)("a\ud800b " + "long " * 10_000 + "Do that.")
    str(error).encode("utf-8")
    assert str(error).startswith("a\\ud800b long")
    assert str(error).endswith("long Do that.")
    assert len(str(error)) <= errors.LONGEST_TEXT
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_format_error_with_an_odd_path_can_be_printed_and_keeps_the_path():
    error = errors.FormatError("No frames.", where="\udc80", fix="Export it again.").at("a\ud800b")
    assert str(error) == "a\\ud800b, \\udc80: No frames. Export it again."
    assert error.path == "a\ud800b"
    long = errors.FormatError("No frames.", path="x" * 5000, fix="Export it again.")
    assert str(long).endswith("x: No frames. Export it again.")
    assert len(str(long)) <= errors.LONGEST_TEXT
