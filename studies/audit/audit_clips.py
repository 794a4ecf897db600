"""Clips of the audit: where they are, at which rate they were captured, and six collections.

The audit clips were unseen until the campaign; code was developed on them since. A name is that of
a file without its suffix. ``FOLDER/NAME`` picks one of two files of the same name, ``NAME#TAKE`` a
take of a file, ``NAME@0.1-0.8`` the part from 10 to 80 % of a clip. A collection and
its table are built once into a temporary folder whose name depends on the clips' contents and on
motionloom's code.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import tempfile
import warnings
from functools import cache, lru_cache
from pathlib import Path

import motionloom as ml
from studies.audit.audit_feet import Heel, find_heels, skeleton_heels
from studies.audit.audit_own import Own
from studies.audit.audit_points import points_of

RATE = 60.0
"""Of the collections."""
CLUSTERS = 24
LOOKUP = 60
FOLDERS = ("audit", "bandai_bvh", "cmu_bvh", "gltf", "deepmimic_txt", "cmu_asfamc", "ugly")
SUFFIXES = (".bvh", ".glb", ".txt", ".amc")
TRUE_FPS = {"141": 60.0, "143": 60.0}
"""Subjects whose files say 120 Hz."""
LOCOMOTION = ("07", "09", "16", "35", "38", "47", "104", "127", "136")
MIXED = (
    "07_01 07_04 09_01 09_12 16_02 16_06 16_22 16_28 16_34 16_52 35_01 35_17 38_03 47_01 70_09 "
    "74_03 81_06 91_53 104_06 104_09 113_13 113_25 113_26 115_06 120_12 127_05 127_21 136_13 "
    "141_04 141_25 141_32 141_34 dataset-1_run_childish_001 dataset-1_walk_tired_001 "
    "dataset-2_run_active_001 dataset-2_walk-turn-left_active_001 dataset-1_punch_normal_001 "
    "dataset-1_walk-back_normal_001"
)
LATER = (
    "06_05 06_06 107_07 107_13 10_05 117_13 128_03 14_31 39_02 39_10 78_33 79_28 87_05 "
    "dataset-2_run_elderly_010 dataset-2_run_masculine_038 dataset-2_walk-turn-left_elderly_021 "
    "dataset-2_wave-both-hands_masculine_014"
)
"""Clips that came into the audit's folder after its cases were drawn."""
COLLECTIONS = ("141", "walks", "bandai", "mixed")
OTHER_COLLECTIONS = ("143", "69")
"""Of clips that are not in the audit's folder."""
SHORTEST_PART_S = 1.0
"""Parts of a clip are at least so long, or the whole clip."""


@lru_cache(maxsize=1)
def mocap() -> Path:
    """The folder with the captured clips."""
    folder = Path(
        os.environ.get("MOTIONLOOM_MOCAP", Path(__file__).parents[3] / "shared" / "mocap")
    )
    if not (folder / "audit").is_dir():
        raise SystemExit("The audit needs captured clips: set MOTIONLOOM_MOCAP to their folder.")
    return folder


@cache
def path_of(name: str) -> Path:
    """File of a clip, by its name without the suffix."""
    only, _, stem = name.rpartition("/")
    for folder in [only] if only else FOLDERS:
        for suffix in SUFFIXES:
            path = mocap() / folder / f"{stem}{suffix}"
            if path.exists():
                return path
    raise SystemExit(f"No clip is called {name!r} in {mocap()}.")


def subject(name: str) -> str:
    """The person or character of a clip: what its name starts with."""
    return re.split("[_#@]", name.rpartition("/")[2])[0]


def audit_clips() -> list[str]:
    """Names of the clips of the audit, CMU ones by subject and number, then the others."""
    names = sorted(path.stem for path in (mocap() / "audit").glob("*.bvh"))
    return [name for name in names if name not in LATER.split()]


def bandai_clips() -> list[str]:
    return sorted(path.stem for path in (mocap() / "bandai_bvh").glob("*.bvh"))


def cmu_clips(*subjects: str) -> list[str]:
    """Names of the CMU clips in BVH that are not in the audit's folder."""
    names = sorted(path.stem for path in (mocap() / "cmu_bvh").glob("*.bvh"))
    return [name for name in names if not subjects or subject(name) in subjects]


def clips_of(collection: str) -> list[str]:
    """Clips of one of the collections."""
    if collection in OTHER_COLLECTIONS:
        return cmu_clips(collection)
    audit = audit_clips()
    return {
        "141": [name for name in audit if subject(name) in ("141", "113")],
        "walks": [name for name in audit if subject(name) in LOCOMOTION],
        "bandai": [name for name in audit if name.startswith("dataset")] + bandai_clips(),
        "mixed": MIXED.split(),
    }[collection]


@cache
def frames_at(name: str, rate: float = RATE) -> int:
    """Number of frames of a BVH clip at a rate, a leading T-pose left out."""
    with path_of(name).open(errors="replace") as file:
        text = "".join(line for line in file if line.lstrip().startswith("Frame"))
    frames = int(re.search(r"Frames:\s*(\d+)", text)[1])  # type: ignore[index]
    step = float(re.search(r"Frame Time:\s*([\d.eE+-]+)", text)[1])  # type: ignore[index]
    fps = TRUE_FPS.get(subject(name), 1.0 / step)
    return int((frames - 2) * rate / fps) + 1


@lru_cache(maxsize=256)
def load(name: str) -> ml.Motion:
    """A clip at its true rate, or a part of it."""
    whole, _, part = name.partition("@")
    if part:
        return _part(load(whole), *(float(share) for share in part.split("-")))
    file, _, take = whole.partition("#")
    path = path_of(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(f"{path}#{take}" if take else path, fps=TRUE_FPS.get(subject(name)))


def _part(motion: ml.Motion, start: float, end: float) -> ml.Motion:
    """From one share of a clip to another, lengthened to the shortest part that makes sense."""
    n = motion.n_frames
    length = min(n, max(round((end - start) * n), round(SHORTEST_PART_S * motion.fps)))
    first = min(round(start * n), n - length)
    return motion[first : first + length]


@lru_cache(maxsize=256)
def contacts(name: str) -> ml.Footplants:
    return ml.detect_footplants(load(name))


@lru_cache(maxsize=256)
def own_of(name: str) -> Own:
    """What a clip does itself, at its true rate."""
    return Own(points_of(load(name), contacts(name)), heels_of(name))


def heels_of(name: str) -> list[Heel | None]:
    """Heels of a clip's skeleton."""
    return _heels(*_skeleton_of(name))


def _skeleton_of(name: str) -> tuple[Path, str]:
    """Folder and performer of a clip: its clips in all folders of BVH have one skeleton."""
    folder = path_of(name.partition("#")[0].partition("@")[0]).parent
    return mocap() if folder.name in ("audit", "bandai_bvh", "cmu_bvh") else folder, subject(name)


@cache
def _heels(folder: Path, who: str) -> list[Heel | None]:
    names = [*audit_clips(), *bandai_clips(), *cmu_clips()]
    if folder != mocap():
        names = sorted(
            f"{folder.name}/{path.stem}" for path in folder.iterdir() if path.suffix in SUFFIXES
        )
    names = [name for name in names if subject(name) == who]
    return skeleton_heels([find_heels(points_of(load(name))) for name in names])


class Library:
    """A collection with its table, and what each of its clips does itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        folder = _folder(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.table = _table(name, folder)
        self.collection = self.table.collection
        self._motions: dict[str, ml.Motion] = {}
        self._own: dict[str, Own] = {}
        self._heels: list[Heel | None] | None = None

    def motion(self, clip: str) -> ml.Motion:
        if clip not in self._motions:
            self._motions[clip] = self.collection.motion(clip)
        return self._motions[clip]

    def own(self, clip: str) -> Own:
        if clip not in self._own:
            motion = self.motion(clip)
            points = points_of(motion, ml.detect_footplants(motion))
            self._own[clip] = Own(points, self.heels)
        return self._own[clip]

    @property
    def heels(self) -> list[Heel | None]:
        """Of the collection's skeleton."""
        if self._heels is None:
            motions = [self.motion(clip) for clip in clips_of(self.name)]
            self._heels = skeleton_heels([find_heels(points_of(motion)) for motion in motions])
        return self._heels


@lru_cache(maxsize=4)
def library(name: str) -> Library:
    return Library(name)


def is_built(name: str) -> bool:
    return (_folder(name) / "table.mlt").exists()


def _table(name: str, folder: Path) -> ml.TransitionTable:
    file = folder / "table.mlt"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be building it
        if not file.exists():
            _build(name, folder, file)
    return ml.TransitionTable.open(file)


def _build(name: str, folder: Path, file: Path) -> None:
    clips = folder / "clips"
    clips.mkdir(parents=True, exist_ok=True)
    for clip in clips_of(name):
        path = path_of(clip)
        link = clips / path.name
        if not link.exists():
            link.symlink_to(path.resolve())
    rates = {f"{who}_*": fps for who, fps in TRUE_FPS.items()
             if any(subject(clip) == who for clip in clips_of(name))}  # fmt: skip
    collection = ml.Collection.ingest(
        clips, out=folder / "clips.mlc", fps=RATE, source_fps=rates or None
    )
    unfinished = folder / "unfinished.mlt"
    ml.build_table(
        collection, out=unfinished, clusters=CLUSTERS, lookup=LOOKUP, jobs=1, progress=False
    )
    unfinished.replace(file)


@lru_cache(maxsize=8)
def _folder(name: str) -> Path:
    digest = hashlib.sha256(f"{_code_digest()} {CLUSTERS} {LOOKUP}".encode())
    for clip in clips_of(name):
        digest.update(clip.encode() + path_of(clip).read_bytes())
    base = Path(tempfile.gettempdir()) / f"motionloom-audit-{os.getuid()}"
    return base / f"{name}-{digest.hexdigest()[:16]}"


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """Of everything that a collection or a table depends on."""
    digest = hashlib.sha256()
    source = Path(ml.__file__).parent
    for path in sorted(source.rglob("*.py")):
        if path.relative_to(source).parts[0] not in ("studio", "drawing", "cli", "splicing"):
            digest.update(path.read_bytes())
    return digest.hexdigest()
