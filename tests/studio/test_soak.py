"""The short form of ``fuzz/studio_soak.py``: random requests, valid and hostile, to one session."""

from __future__ import annotations

import importlib.util
import json
import random
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from motionloom.studio.clips.library import Library
from motionloom.studio.messages.wire import POSE
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.results.exports import Exports
from motionloom.studio.server.project import Project
from motionloom.studio.server.session import Session
from tests.studio.answers import decode_answer

REQUESTS = 60
SLOW = ("render.make", "table.build", "page.make", "splice.make")
"""Left to the command."""


@pytest.fixture(scope="module")
def drawn() -> ModuleType:
    file = Path(__file__).resolve().parents[2] / "fuzz" / "studio_requests.py"
    spec = importlib.util.spec_from_file_location("studio_requests", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def head_of(answer: str | bytes) -> dict[str, Any]:
    if isinstance(answer, bytes) and answer[:4] == POSE:
        return {"type": "pose"}
    return json.loads(answer) if isinstance(answer, str) else decode_answer(answer)[0]


def test_random_requests_are_answered_without_a_defect(
    drawn: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    drawn.write_folder(tmp_path)
    library = Library(tmp_path / "clips")
    requests = drawn.Requests(random.Random(5))
    with closing(Exports()) as exports:
        session = Session(
            library, exports, Project(tmp_path / "p.json"), Tables(library, tmp_path / "tables")
        )
        for text in drawn.HOSTILE_TEXTS:
            assert head_of(session.answer(text))["type"] == "error", text[:80]
        for number in range(REQUESTS):
            kind, body = requests.valid()
            if kind in SLOW:
                continue
            head = head_of(session.answer(json.dumps({"type": kind, "id": number, **body})))
            assert head.get("code") != "failed", (kind, body, head)
            requests.heard(kind, body, head)
            text = requests.mutated()
            head = head_of(session.answer(text))
            assert head.get("code") != "failed", (text[:300], head)
    assert caplog.records == []
