"""JSON of others: what is no plain document is refused, whatever it asks for."""

import json

import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json


def parsed(text: bytes, **options: bool) -> object:
    return parse_json(text, Budget(Limits(), len(text)), where="header", **options)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[NaN]",
        b"[-Infinity]",
        b"[1e999]",
        b"[-1E+999]",
        b"[" + b"1" * 299 + b"e99]",
        b"[" + b"1" * 211 + b".0e99]",
        b"[1" + b"0" * 400 + b".0]",
        b'["\\ud800"]',
        b"[" + b"9" * 5000 + b"]",
        b"[" + b"[]," * 2_000_000 + b"[]]",
        b"\xff\xfe[\x00]\x00",
        b'["\xff"]',
        b"",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_text_that_is_no_plain_document_is_refused(text):
    with pytest.raises(FormatError, match=r"^header: "):
        parsed(text)


def test_a_plain_document_is_read():
    document = {"a": [1, 2.5, "é\n", None, True, 1e300, 1e-300], "b": {"c": []}}
    assert parsed(json.dumps(document).encode()) == document
    assert parsed(json.dumps(document, ensure_ascii=False).encode()) == document


def test_constants_are_read_where_a_format_has_them():
    assert parsed(b"[Infinity, 1e999]", constants=True) == [float("inf")] * 2
