"""CSV of others: rows with their line, or one error that names the line."""

import pytest

from motionloom.errors import FormatError
from motionloom.files.reading import csv_rows


def test_rows_come_with_their_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n\r\n"x\ny", 2\r\n3,"4"')
    assert list(csv_rows(path)) == [(1, ["a", "b"]), (4, ["x\ny", "2"]), (5, ["3", "4"])]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a,b\n1,\xff\n", "byte 6"),
        (b"a,b\n1,2\n" + b"x" * 200_000, "line 3"),
    ],
    ids=["bytes", "long"],
)
def test_what_is_no_csv_is_refused_with_its_line(tmp_path, content, place):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"{place}: .* Save it again as"):
        list(csv_rows(path))


def test_rows_without_end_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n" * 2_000_000)
    with pytest.raises(FormatError, match=r"its rows would bring it to .* MB"):
        list(csv_rows(path))


def test_many_short_rows_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"0.5,0.5\n" * 200_000)
    assert sum(cells == ["0.5", "0.5"] for _, cells in csv_rows(path)) == 200_000
