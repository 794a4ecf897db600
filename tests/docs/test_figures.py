"""Figures of the README and of pages are those of the committed results (`docs/figures.toml`)."""

from __future__ import annotations

import pytest

from scripts.page_figures import ROOT, Place, measured, places, put_in, wrong


@pytest.mark.parametrize("place", places(), ids=lambda place: f"{place.page}: {place.text[:50]}")
def test_a_place_shows_what_was_measured(place: Place) -> None:
    assert wrong(place, (ROOT / place.page).read_text(encoding="utf-8")) is None


def test_a_wrong_figure_and_a_changed_text_are_found_and_written() -> None:
    figure = "core | 6.4 million recipes searched, 2 threads | .1f"
    place = Place("page.md", "searched in {} s", (figure,))
    true = f"searched in {measured(figure)} s"
    assert wrong(place, f"All are {true}.") is None
    assert "shows ['1234.5']" in str(wrong(place, "All are searched in 1234.5 s."))
    assert "0 places" in str(wrong(place, "All are found."))
    assert put_in(place, "All are searched in 1234.5 s.") == f"All are {true}."
