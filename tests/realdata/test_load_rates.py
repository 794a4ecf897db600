"""Frame rates of real clips held against gravity."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.findings import Finding, MotionLoomWarning

JUMPS_AND_RUNS_AT_60 = (
    *(f"143_{n:02d}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 42)),
    "77_12",  # not in the folder's notes: 40 to 50 m/s2 at 120, and 6 m/s in a "careful" run
)
"""Takes of CMU whose headers have 120 and whose bodies fall as at 60."""


def rate_findings(path: Path, **options: float) -> list[Finding]:
    found = ml.inspect_file(path, **options)  # type: ignore[arg-type]
    return [finding for finding in found if "m/s2" in finding.problem]


@pytest.mark.parametrize("take", JUMPS_AND_RUNS_AT_60)
def test_a_take_recorded_at_60_with_120_in_its_header_is_warned_about(
    mocap: Path, take: str
) -> None:
    (finding,) = rate_findings(mocap / f"cmu_bvh/{take}.bvh")
    assert finding.level == "warning"
    assert finding.fix == "Pass fps=60 if that is the true rate."
    with pytest.warns(MotionLoomWarning, match="fps=60"):
        assert ml.load(mocap / f"cmu_bvh/{take}.bvh").fps == pytest.approx(120, rel=1e-4)


@pytest.mark.parametrize("take", JUMPS_AND_RUNS_AT_60)
def test_at_its_true_rate_the_same_take_is_not_warned_about(mocap: Path, take: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ml.load(mocap / f"cmu_bvh/{take}.bvh", fps=60).fps == 60


def test_no_other_clip_is_warned_about(mocap: Path) -> None:
    with (mocap / "INDEX.csv").open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["role"] == "motion"]
    warned = set()
    for row in rows:
        findings = rate_findings(mocap / row["file"])
        if any(finding.level == "warning" for finding in findings):
            warned.add(Path(row["file"]).stem)
    # Single flights of two more takes of 143, which is all at 60.
    assert warned - set(JUMPS_AND_RUNS_AT_60) <= {"143_22", "143_35"}
    assert not any(take.startswith("16_") for take in warned)


@pytest.mark.parametrize("take", ["16_01", "16_03", "16_05"])
def test_jumps_at_their_true_rate_fall_at_gravity(mocap: Path, take: str) -> None:
    (finding,) = rate_findings(mocap / f"cmu_bvh/{take}.bvh")
    assert finding.level == "note"
    assert "agrees with gravity" in finding.problem


@pytest.mark.parametrize("take", ["16_01", "16_03", "16_05", "16_35", "16_36", "16_40", "56_08"])
def test_a_true_clip_relabelled_at_twice_its_rate_is_found_out(
    mocap: Path, tmp_path: Path, take: str
) -> None:
    motion = ml.load(mocap / f"cmu_bvh/{take}.bvh")
    lying = tmp_path / "lying.bvh"
    ml.save(motion.replace(fps=240.0), lying)
    (finding,) = rate_findings(lying)
    assert finding.level == "warning"
    assert "fps=120" in finding.fix
