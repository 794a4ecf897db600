"""Joint names: which side and which part of the body a name speaks of. All name knowledge is here.

Rigs write one joint in many ways: ``mixamorig:LeftUpLeg``, ``lThigh``, ``Bip01 L Thigh``,
``DEF-thigh.L``, ``thigh_l``, ``lfemur``. A name is cut into words, prefixes of rigs and the side
are taken off, and what is left is looked up. A word may stand for several roles ("foot" is the
ankle on most rigs and the ball on SMPL's); the tree decides between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(text: str) -> dict[str, dict[str, int]]:
    """Roles with strengths by word, from lines such as ``knee=3 hip=1: leg``."""
    out = {}
    for line in text.strip().split("\n"):
        roles, words = line.split(":")
        strengths = dict(pair.split("=") for pair in roles.split())
        for word in words.split():
            out[word] = {role: int(strength) for role, strength in strengths.items()}
    return out


_LEFT = frozenset({"left", "l", "lft", "lf", "lt"})
_RIGHT = frozenset({"right", "r", "rgt", "rt", "rht"})

# Words that say which rig or exporter it is, not which part of the body. Taken off in front only:
# "base" also ends "ToeBase".
_PREFIXES = _words(
    """
    mixamorig bip bip001 bip01 valvebiped def org joint jnt jt jn j m f avg skeleton bone bn b
    bind skin armature character rig cc base rp sk skel actor subject drv deform body c center
    centre
    """
)

# Joints off the body's own chain: they never get a role by name.
_OFF_CHAIN = _words(
    """
    end nub tip site null twist roll ik fk pole ctrl control controller mch helper target hint
    corrective driver socket prop weapon attach cam camera breast pec eye eyes eyeball eyelid
    brow jaw tongue teeth mouth lip lips nose ear cheek hair hat tail wing skirt cloth dress
    thumb index middle ring pinky little finger fingers fingerbase metacarpal carpal leaf
    locator marker bulge muscle latissimus
    """
)

_TIPS = _words("end nub tip site top leaf")

# The roles that a word may stand for, each with a strength.
_LEG_WORDS = _table(
    """
    hip=5: thigh upleg upperleg legupper femur thighbend
    hip=3: hip hips
    knee=3 hip=1: leg
    knee=5: shin calf knee crus lowerleg lowleg loleg legmid leglower tibia
    ankle=5: ankle
    ankle=3 toe=1: foot feet
    toe=4: toe toes toebase forefoot
    toe=3: midfoot metatarsals
    toe=5: ball football balloffoot
    """
)
_ARM_WORDS = _table(
    """
    shoulder=1: shoulder
    shoulder=3: shldr
    shoulder=5: shldrbend uparm upperarm armupper humerus
    shoulder=3 elbow=1: arm
    elbow=5: elbow forearm forearmbend lowerarm lowarm loarm armlower radius ulna
    wrist=5: wrist
    wrist=3: hand
    """
)
_CENTRE_WORDS = _table(
    """
    pelvis=5: pelvis hips
    pelvis=4: hip
    pelvis=1: root
    neck=5: neck lowerneck upperneck necklower neckupper cervical
    head=5: head
    head=4: skull
    spine=5: spine lowerback upperback
    spine=3: back
    spine=4: chest thorax torso trunk abdomen ab waist belly
    """
)
_KNOWN = frozenset(_LEG_WORDS) | frozenset(_ARM_WORDS) | frozenset(_CENTRE_WORDS)
_ALSO_SIDED = _words(
    """
    hipjoint clavicle collar collarbone buttock thumb fingers finger index middle ring pinky mid
    eye scapula
    """
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class JointName:
    """What a joint's name says."""

    side: str
    """``"left"``, ``"right"``, or empty."""
    roles: dict[str, int]
    """Roles (without the side) that the name may stand for, with the strength of its word."""
    off_chain: bool
    """Whether it is a twist, an end, a finger, an eye, a control: off the body's chain."""
    tip: bool
    """Whether it only marks where a bone ends: ``HeadEnd``, ``L Toe0Nub``."""
    number: int
    """Last number in the name, 0 where there is none: of two equal names the lower comes first."""
    key: tuple[str, ...]
    """The whole name in words with the side taken out: equal for both of a pair."""


@lru_cache(maxsize=8192)
def read_name(name: str) -> JointName:
    """What the name of a joint says about it.

    Examples
    --------
    >>> read_name("mixamorig:LeftUpLeg").side, read_name("mixamorig:LeftUpLeg").roles
    ('left', {'hip': 5})
    >>> read_name("rtibia").side, read_name("rtibia").roles
    ('right', {'knee': 5})
    >>> read_name("DEF-thigh.L.001").number, read_name("thigh_twist_01_l").off_chain
    (1, True)
    """
    bare = name[:256].rsplit(":", 1)[-1].rsplit("|", 1)[-1]
    words = [word.lower() for word in _WORD.findall(bare)]
    side, words = _take_side(words)
    letters = [word for word in words if not word.isdigit()]
    numbers = [int(word[:9]) for word in words if word.isdigit()]
    off_chain = bool(_OFF_CHAIN.intersection(letters)) or letters == ["mid"]
    # MakeHuman's spacers begin with two underscores: the named joint is their child.
    off_chain = off_chain or bare.startswith("__")
    part = "".join(_without_prefixes(letters))
    if part.startswith(("ik", "mch")) and part not in _KNOWN:
        off_chain = True
    roles: dict[str, int] = {}
    if not off_chain:
        tables = (_LEG_WORDS, _ARM_WORDS) if side else (_CENTRE_WORDS,)
        for table in tables:
            roles.update(table.get(part, {}))
    key = tuple(str(int(word[:9])) if word.isdigit() else word for word in words)
    if bare.startswith("__"):
        key = ("__", *key)
    tip = bool(_TIPS.intersection(letters))
    return JointName(side, roles, off_chain, tip, numbers[-1] if numbers else 0, key)


def _take_side(words: list[str]) -> tuple[str, list[str]]:
    """The side, and the words without it; also where it is glued to the part (``lfemur``)."""
    if all(len(word) == 1 or word.isdigit() for word in words):
        return "", words  # "L5" and "T8" are vertebrae
    for i, word in enumerate(words):
        if word in _LEFT:
            return "left", words[:i] + words[i + 1 :]
        if word in _RIGHT:
            return "right", words[:i] + words[i + 1 :]
    sided = (_KNOWN | _ALSO_SIDED) - {"ab", "root"}
    for i, word in enumerate(words):
        if word in _KNOWN:
            continue
        for mark, side in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
            rest = word[len(mark) :]
            if word.startswith(mark) and rest in sided:
                return side, [*words[:i], rest, *words[i + 1 :]]
    return "", words


def _without_prefixes(letters: list[str]) -> list[str]:
    """The words from the first that is not a rig's own, and without a closing "joint" or "bone"."""
    first = 0
    while first < len(letters) - 1 and letters[first] in _PREFIXES:
        first += 1
    words = letters[first:]
    while len(words) > 1 and words[-1] in ("joint", "jnt", "bone", "bend", "def"):
        words = words[:-1]
    return [word for word in words if word not in ("joint", "jnt")] or words
