import pickle

import pytest

from motionloom import errors
from motionloom.findings import Finding


def test_a_format_error_says_file_place_problem_and_remedy():
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
