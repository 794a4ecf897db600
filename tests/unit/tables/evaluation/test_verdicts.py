"""Verdicts of people, from a CSV file."""

import pytest

from motionloom.errors import ArrayError, FormatError
from motionloom.tables.evaluation.evaluation import read_verdicts


def written(tmp_path, text):
    path = tmp_path / "verdicts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_verdicts_are_read_and_the_majority_counts(tmp_path):
    verdicts = read_verdicts(
        written(
            tmp_path,
            "transition,natural,rater,remark\n"
            "t1,1,ann,fine\nt1,1,bo,\nt1,0,cy,\nt2,no,ann,\nt3,1,ann,\nt3,0,bo,feet\n",
        )
    )
    assert verdicts.majority() == {"t1": True, "t2": False}
    assert verdicts.labels(["t2", "t3", "t9"]) == [False, None, None]
    assert verdicts.raters == ("ann", "bo", "cy")
    assert "3 people on 2 transitions (1 natural)" in verdicts.about


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("transition,natural\na,1\n", "rater missing"),
        ("transition,natural,rater\na,perhaps,x\n", "line 2.*1 or 0.*perhaps"),
        ("transition,natural,rater\na,1,x\na,0,x\n", "line 3.*once"),
        ("transition,natural,rater\n,1,x\n", "line 2.*name a transition"),
        ("", "columns"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        read_verdicts(written(tmp_path, text))


def test_a_file_without_verdicts_or_without_text_is_refused(tmp_path):
    with pytest.raises(ArrayError, match="at least one"):
        read_verdicts(written(tmp_path, "transition,natural,rater\n"))
    with pytest.raises(FormatError, match="no such file"):
        read_verdicts(tmp_path / "none.csv")
