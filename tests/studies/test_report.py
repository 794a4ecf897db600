"""Results of a study that is run in part."""

from __future__ import annotations

from pathlib import Path

from studies.report import Figure, with_others, write_report


def test_a_part_of_a_study_keeps_the_figures_of_the_others(tmp_path: Path) -> None:
    whole = [Figure("a", 1.0, "m", "peer", 2.0), Figure("a", 1.0, "m", "other", 3.0)]
    about = {"half": "reported", "parts": "one, two"}
    write_report("some", whole, about=about, quiet=True, folder=tmp_path)
    part = [Figure("a", 5.0, "m", "other", 6.0), Figure("b", 7.0, "m")]
    figures, written = with_others(
        "some", part, {"half": "reported", "parts": "two"}, folder=tmp_path
    )
    assert figures == [whole[0], *part]
    assert written == {"half": "reported", "parts": "one, two", "measured again": "two"}


def test_other_halves_of_the_clips_are_not_mixed(tmp_path: Path) -> None:
    about = {"half": "reported", "parts": "one"}
    write_report("some", [Figure("a", 1.0, "m")], about=about, quiet=True, folder=tmp_path)
    part, tuned = [Figure("b", 7.0, "m")], {"half": "tuned", "parts": "two"}
    assert with_others("some", part, tuned, folder=tmp_path) == (part, tuned)
    assert with_others("none", part, tuned, folder=tmp_path) == (part, tuned)
