"""Cases of the audit from all real clips that are not in its folder.

Their kinds start with ``other-``. These clips are older than the audit: much of motionloom was
developed on subjects 143, 69 and 16. The repairs and the quality check were not.
"""

from __future__ import annotations

from studies.audit.audit_clips import OTHER_COLLECTIONS, audit_clips, bandai_clips, cmu_clips, mocap
from studies.audit.audit_draw import Draw, Protocol

PREFIX = "other-"
IN_PLACE = ("Soldier#Walk", "CesiumMan", "zombieWalk1")
"""They walk in place: their feet slide by design, so they are rigs to retarget onto only."""
REAL_UGLY = (
    "Boxing_Toes", "pybvh_test1", "sfu_0005_Walking001", "test_mocapbank", "three_pirouette",
    "wave_hello",
)  # fmt: skip
"""Captured clips among the files that break readers; the others are synthetic or single poses."""
SHORT = (
    "humanoid3d_run", "humanoid3d_jog", "dataset-1_run_normal_001", "dataset-1_dash_normal_001",
)  # fmt: skip
"""Under a second: too short to leave or reach with a transition of a second."""
SAME = {"143": 11, "69": 11, "16": 11, "few": 7, "asfamc": 7, "deepmimic": 6, "bandai": 7}
"""Transitions within a subject or, where it has few clips, within their skeleton."""
BLENDED = {
    "walk": "16_15 16_16 16_21 16_31 16_47 16_58 69_01 69_02 69_03 69_04 69_05 143_32 02_01 02_02",
    "walk left": "16_17 16_18 16_27 69_24 69_25 69_26 69_27 69_31 69_32 69_33",
    "walk right": "16_19 16_20 16_29 69_20 69_21 69_22 69_23 69_28 69_29 69_30",
    "veer left": "16_11 16_12 16_23",
    "veer right": "16_13 16_14 16_25",
    "run": "16_35 16_36 16_45 16_55 143_42 02_03",
    "run left": "16_41 16_42 16_51",
    "run right": "16_43 16_44 16_53",
    "sideways left": "69_56 69_57 69_58 69_62 69_63 69_64",
    "sideways right": "69_59 69_60 69_61 69_65 69_66 69_67",
    "backwards": "69_51 69_52 69_53 69_54 69_55 143_39",
    "pick up": "143_10 143_11 143_12 143_13",
    "step over": "143_14 143_15 143_16",
    "deepmimic walk": "humanoid3d_walk humanoid3d_zombie_walk humanoid3d_stealthy_walk",
    "deepmimic run": "sie_humanoid3d_run_forward02 sie_humanoid3d_run_left00 "
    "sie_humanoid3d_run_right07",
}
"""Clips that may be blended with one another."""
UPPER = (
    "143_20 143_22 143_23 143_25 143_30 143_33 143_34 143_36 02_05 69_69 Boxing_Toes wave_hello "
    "dataset-1_bye_normal_001 dataset-1_guide_normal_001 dataset-2_wave-right-hand_normal_001"
)
LOWER = (
    "16_15 16_31 16_35 16_47 69_01 69_20 143_04 143_32 143_42 77_12 02_01 humanoid3d_long_walk3 "
    "sfu_0005_Walking001 dataset-1_walk_normal_001 dataset-2_walk_normal_001"
)
LOOPED = (
    "16_15 16_31 16_36 69_01 69_03 143_32 143_39 143_42 77_12 136_27 02_01 02_03 "
    "dataset-1_walk_normal_001 dataset-2_run_normal_001 humanoid3d_long_walk3"
)
RIGS = (
    "143_32", "69_01", "16_15", "02_01", "dataset-1_walk_normal_001", "humanoid3d_long_walk3",
    *REAL_UGLY,
)  # fmt: skip


def asfamc_clips() -> list[str]:
    """Subject 16 is there in BVH too, without the thorax: its names need their folder."""
    return sorted(f"cmu_asfamc/{path.stem}" for path in (mocap() / "cmu_asfamc").glob("*.amc"))


def deepmimic_clips() -> list[str]:
    return sorted(path.stem for path in (mocap() / "deepmimic_txt").glob("*.txt"))


def real_clips() -> list[str]:
    """Names of all captured clips: those of the audit and all others."""
    others = [*bandai_clips(), *cmu_clips(), *asfamc_clips(), *deepmimic_clips()]
    return [*audit_clips(), *others, "Soldier#Idle", "Soldier#Run", *IN_PLACE, *REAL_UGLY]


def draw_others(draw: Draw, cleaned: frozenset[str]) -> Protocol:
    """Cases of every kind but the command line; ``cleaned`` are clips that others clean."""
    cases: Protocol = {}
    for name in OTHER_COLLECTIONS:
        cases[f"table-{name}"] = draw.tables(name, 150)
    for name in OTHER_COLLECTIONS:
        cases[f"stream-{name}"] = draw.stream(name)
    for name in OTHER_COLLECTIONS:
        cases[f"fill-{name}"] = draw.fills(name, 25)
    asfamc, deepmimic, bandai = asfamc_clips(), deepmimic_clips(), bandai_clips()
    long = {
        "143": cmu_clips("143"),
        "69": cmu_clips("69"),
        "16": cmu_clips("16"),
        "asfamc": asfamc,
        "deepmimic": [name for name in deepmimic if name not in SHORT],
        "bandai": [name for name in bandai if name not in SHORT],
    }
    few = {who: cmu_clips(who) for who in ("77", "83", "136")}
    single = {who: cmu_clips(who) for who in ("56", "82", "137")}
    kind = "other-transition-same"
    cases["transition-same"] = [
        case
        for name, count in SAME.items()
        for case in draw.within(kind, few if name == "few" else {name: long[name]}, count)
    ]
    kind = "other-transition-other"
    cmu = {who: long[who] for who in ("143", "69", "16")} | few | single
    rigs = {"cmu": [clip for some in cmu.values() for clip in some]}
    rigs |= {name: long[name] for name in ("asfamc", "deepmimic", "bandai")}
    rigs |= {"ugly": list(REAL_UGLY)}
    cases["transition-other"] = draw.across(kind, cmu, 24) + draw.across(kind, rigs, 16)
    every = [*cmu_clips(), *asfamc, *deepmimic, *bandai, "Soldier#Idle", *REAL_UGLY]
    cases["clean"] = draw.clips([name for name in every if name not in cleaned])
    blended = {name: clips.split() for name, clips in BLENDED.items()}
    cases["blend"] = draw.within("other-blend", blended, 40)
    splices = [(u, low) for u in UPPER.split() for low in LOWER.split()]
    cases["splice"] = draw.pairs("other-splice", splices, 20)
    cases["loop"] = draw.clips(LOOPED.split())
    retargets = [(a, b) for a in RIGS for b in (*RIGS, *IN_PLACE) if a != b]
    cases["retarget"] = draw.pairs("other-retarget", retargets, 12)
    return {PREFIX + kind: some for kind, some in cases.items()}
