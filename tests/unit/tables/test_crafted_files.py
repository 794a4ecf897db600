"""Crafted tables, collections and curves: each works or is refused; the short form of a campaign.

The long form is ``python fuzz/tables.py``.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from motionloom.findings import MotionLoomWarning

FUZZ = Path(__file__).resolve().parents[3] / "fuzz"
SEED = 11


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(FUZZ))
    try:
        import table_cases
        import table_uses

        yield table_cases, table_uses
    finally:
        sys.path.remove(str(FUZZ))


@pytest.fixture(scope="module")
def base(fuzz, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crafted")
    fuzz[0].make_base(folder)
    return fuzz[0].open_base(folder)


@pytest.mark.parametrize(("kind", "count"), [("table", 120), ("collection", 30), ("curve", 50)])
def test_a_crafted_file_works_or_is_refused(fuzz, base, tmp_path, kind, count):
    opened = 0
    number = ("table", "collection", "curve").index(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        for case in range(count):
            rng = np.random.Generator(np.random.PCG64([SEED, number, case]))
            place = tmp_path / str(case)
            place.mkdir()
            try:
                opened += fuzz[1].run_case(kind, rng, base, place, quick=True)
            except Exception as error:
                pytest.fail(
                    f"{kind} case {case}: {type(error).__name__}: {error}. "
                    f"python fuzz/tables.py --kind {kind} --seed {SEED} --only {case}"
                )
    assert 0.05 * count < opened < 0.8 * count  # some changes are harmless, most are not
