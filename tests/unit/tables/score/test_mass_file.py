"""Files of masses: each segment once, with a part that a body can have."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.masses import SEGMENT_NAMES, mass_parts
from motionloom.errors import FormatError
from motionloom.tables.score.mass_fit import write_masses

LINES = [f"{name},{1.0 + number}" for number, name in enumerate(SEGMENT_NAMES)]
KILOGRAMS = 1.0 + np.arange(len(SEGMENT_NAMES))


def changed(name, line):
    """The lines, with another one for a segment."""
    return [line if each.startswith(f"{name},") else each for each in LINES]


def test_kilograms_in_any_order_become_parts(tmp_path):
    file = tmp_path / "masses.csv"
    file.write_text("\n".join(["segment,part", "", *reversed(LINES)]))
    assert ml.read_masses(file) == pytest.approx(KILOGRAMS / KILOGRAMS.sum())


def test_masses_are_read_back_digit_for_digit(tmp_path):
    """Their sum is one but for rounding, and dividing by it again would change their digits."""
    rng, file = np.random.default_rng(0), tmp_path / "masses.csv"
    sums = set()
    for _ in range(300):
        masses = rng.uniform(0.01, 0.2, len(SEGMENT_NAMES))
        masses /= masses.sum()
        sums.add(float(masses.sum()))
        write_masses(file, masses)
        assert np.array_equal(ml.read_masses(file), masses)
    assert len(sums) > 1


def test_parts_are_copied_and_those_that_do_not_sum_to_one_are_divided():
    parts = np.full(len(SEGMENT_NAMES), 1.0 / 16)
    copy = mass_parts(parts)
    parts[0] = 5.0
    assert copy[0] == 1.0 / 16
    off = KILOGRAMS / KILOGRAMS.sum() * (1.0 + 1e-9)
    assert abs(mass_parts(off).sum() - 1.0) < 1e-15


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (LINES[:-1], "missing: right_foot"),
        ([], "missing: pelvis"),
        ([*LINES, "head,2"], "line 17: Each segment must have one line; head has a second"),
        ([*LINES, "tail,2"], "line 17: A line must have a segment .* got 'tail,2'"),
        (changed("head", "head"), "line 4: A line must have a segment"),
        (changed("head", "head,1,2"), "line 4: A line must have a segment"),
        (changed("head", "head,heavy"), "line 4: A part of body mass must be a number"),
        (changed("head", "head,nan"), "got nan for head"),
        (changed("head", "head,-1"), "got -1 for head"),
        (changed("head", "head,0"), "got 0 for head"),
        (changed("head", "head,inf"), "for head, where all sum to inf"),
        (changed("head", "head,5000"), "got 5000 for head"),
        (changed("head", "head,0.001"), "got 0.001 for head"),
        ([f"{name},1e308" for name in SEGMENT_NAMES], "all sum to inf"),
    ],
)
def test_what_no_body_has_is_refused_in_words(tmp_path, lines, problem):
    file = tmp_path / "masses.csv"
    file.write_text("\n".join(lines))
    with pytest.raises(FormatError, match=problem):
        ml.read_masses(file)
