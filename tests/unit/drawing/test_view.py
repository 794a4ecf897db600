"""view(): pages in the temporary folder are reused, and old ones are removed."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.drawing.view import MOST_PAGES

CLIP = ml.synthetic.clip("walk", duration_s=0.2).motion


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    return tmp_path


def test_the_same_clip_has_the_same_page() -> None:
    first, again = ml.view(CLIP).path, ml.view(CLIP).path
    assert first == again
    assert first is not None
    assert len(list(first.parent.iterdir())) == 1


def test_only_the_newest_pages_stay(temporary: Path) -> None:
    paths = [ml.view(CLIP.replace(name=f"clip {n}")).path for n in range(MOST_PAGES + 3)]
    assert sum(path is not None and path.exists() for path in paths) == MOST_PAGES
    assert paths[-1] is not None
    assert paths[-1].exists()
    assert len(list(temporary.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="other users have other folders there")
def test_a_folder_that_is_a_link_is_not_used(temporary: Path, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("other")
    (temporary / f"motionloom-{os.getuid()}").symlink_to(other)
    path = ml.view(CLIP).path
    assert path is not None
    assert path.exists()
    assert list(other.iterdir()) == []
