"""Every defect that is planted into a clip is found by its column; clean clips are not accused."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from studies.datasets.planted_defects import PLANTED, floating

SOUND = ("walk", "run")
SPOILED = "audit/127_09"
"""A run that was not used to set a limit."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ml.DatasetReport:
    folder = tmp_path_factory.mktemp("planted")
    for kind in SOUND:
        clip = ml.synthetic.clip(kind).motion
        ml.save(clip, folder / f"{kind}.bvh")
        for name, (plant, _) in PLANTED.items():
            ml.save(plant(clip), folder / f"{kind} {name}.bvh")
    ml.save(floating(ml.synthetic.clip("walk").motion), folder / "walk floats.bvh")
    return ml.check_dataset(folder, progress=False)


def columns_of(report: ml.DatasetReport, name: str) -> list[str]:
    clip = next(clip for clip in report.clips if Path(clip.path).stem == name)
    return [each.column for each in clip.faults]


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("name", sorted(PLANTED))
def test_a_planted_defect_is_found_by_its_column(report, kind: str, name: str) -> None:
    assert set(PLANTED[name][1]) & set(columns_of(report, f"{kind} {name}"))


@pytest.mark.parametrize("kind", SOUND)
def test_the_clip_without_defects_is_the_one_that_is_kept(report, kind: str) -> None:
    assert columns_of(report, kind) == []
    assert any(Path(path).stem == kind for path in report.accepted)


def test_a_body_that_floats_is_found(report) -> None:
    assert "contacts" in columns_of(report, "walk floats")


@pytest.mark.slow
def test_defects_planted_into_a_real_clip_are_found(mocap: Path, tmp_path: Path) -> None:
    clip = ml.load(mocap / f"{SPOILED}.bvh")
    ml.save(clip, tmp_path / "sound.bvh")
    for name, (plant, _) in PLANTED.items():
        ml.save(plant(clip), tmp_path / f"{name}.bvh")
    found = ml.check_dataset(tmp_path, progress=False)
    by_name = {
        Path(each.path).stem: {fault.column for fault in each.faults} for each in found.clips
    }
    missed = [name for name, (_, wanted) in PLANTED.items() if not set(wanted) & by_name[name]]
    assert missed == []
    assert by_name["sound"] == set()
