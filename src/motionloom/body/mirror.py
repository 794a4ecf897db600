"""Mirror a clip: swap left and right on the same skeleton."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from motionloom._arrays import FloatArray, IntArray, of_kind
from motionloom.body.body_map import ARM, LEG, BodyMap, guess_roles
from motionloom.body.joint_names import read_name
from motionloom.motion.motion import Motion, Skeleton, local_from_world
from motionloom.rotation import quat

GLASS = np.diag([-1.0, 1.0, 1.0])
"""The looking glass: x to -x."""
PULL = 1e-9
"""How strongly the frames of the rest pose decide what the bones leave open, against the bones."""


def mirror(motion: Motion, *, body: BodyMap | None = None) -> Motion:
    """The clip with x turned to -x and left and right limbs exchanged; the skeleton stays.

    Works for any joint axes: how the two frames of a pair (or a central joint's two halves) lie to
    each other is read from the bones, and from the rest pose where bones leave a twist open. On a
    skeleton that is not symmetric each limb keeps its own bone lengths, and a joint that only one
    side has keeps its own turns. Mirroring twice gives the clip back.

    Parameters
    ----------
    motion
        The clip.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    Motion
        The mirrored clip.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk", turn=0.6).motion
    >>> bool(np.allclose(mirror(mirror(clip)).local_quats, clip.local_quats, atol=1e-9))
    True
    """
    skeleton = of_kind(motion, Motion, "motion").skeleton
    if body is not None:
        of_kind(body, BodyMap, "body").checked_for(skeleton)
    pairs = pair_sides(skeleton, body=body)
    flips = _local_flips(skeleton, pairs)
    seen = motion.world_quats()[:, pairs] * np.array([1.0, 1.0, -1.0, -1.0])  # glass R glass
    mirrored = quat.multiply(seen, _flip_quats(flips, pairs))
    lone = _without_partner(skeleton, pairs)
    for j in lone:
        over = mirrored[:, int(skeleton.parents[j])]
        mirrored[:, j] = quat.multiply(over, motion.local_quats[:, j])
    moving = motion.joint_translations
    if moving is not None:
        above = flips[np.maximum(skeleton.parents, 0)]  # (J, 3, 3)
        was = moving
        moving = np.einsum("jab,fjb->fja", above, was[:, pairs])
        moving[:, lone] = was[:, lone]
    return motion.replace(
        root_positions=motion.root_positions @ GLASS,
        local_quats=local_from_world(skeleton, mirrored),
        joint_translations=moving,
    )


def _without_partner(skeleton: Skeleton, pairs: IntArray) -> list[int]:
    """Joints in a limb that its other side lacks (one hand has a finger more): they stay as is."""
    lone: list[int] = []
    for j in range(1, skeleton.n_joints):
        parent = int(skeleton.parents[j])
        if pairs[j] == j and (pairs[parent] != parent or parent in lone):
            lone.append(j)
    return lone


def _flip_quats(flips: FloatArray, pairs: IntArray) -> FloatArray:
    """The turns ``glass @ flip^T`` (J, 4), signed so that mirroring twice restores signs too."""
    turns = quat.from_matrix(GLASS @ np.swapaxes(flips, -1, -2))
    late = np.flatnonzero(pairs < np.arange(len(pairs)))
    turns[late] = turns[pairs[late]] * np.array([1.0, -1.0, 1.0, 1.0])
    return turns


def _local_flips(skeleton: Skeleton, pairs: IntArray) -> FloatArray:
    """Reflections (J, 3, 3) that carry each joint's partner's own frame onto its own.

    ``flips[j] @ flips[pairs[j]] == 1``, so mirroring twice changes nothing.
    """
    rest = quat.to_matrix(skeleton.rest_quats)
    flips = np.zeros((skeleton.n_joints, 3, 3))
    solid = _bone_products(skeleton, pairs)
    for j in range(skeleton.n_joints):
        p = int(pairs[j])
        if p < j:
            flips[j] = flips[p].T
            continue
        parent = int(skeleton.parents[j])
        # At rest the partner's frame lies to this one as the parents' frames say.
        above = GLASS if parent < 0 else flips[parent]
        likely = rest[j].T @ above @ rest[p]
        flips[j] = _plane_flip(solid[j], likely) if p == j else _pair_flip(solid[j], likely)
    return _with_determined_planes(skeleton, pairs, flips, solid, rest)


def _bone_products(skeleton: Skeleton, pairs: IntArray) -> FloatArray:
    """Sums of (bone) (partner's bone)^T over each joint's bones: what a flip has to match."""
    products = np.zeros((skeleton.n_joints, 3, 3))
    for j in range(1, skeleton.n_joints):
        parent, partner = int(skeleton.parents[j]), int(pairs[j])
        if int(skeleton.parents[partner]) == int(pairs[parent]):
            products[parent] += np.outer(skeleton.offsets[j], skeleton.offsets[partner])
    for j in range(skeleton.n_joints):
        own = skeleton.end_offsets[skeleton.end_parents == j]
        other = skeleton.end_offsets[skeleton.end_parents == pairs[j]]
        if len(own) == len(other):
            products[j] += own.T @ other
    return products


def _pair_flip(product: FloatArray, likely: FloatArray) -> FloatArray:
    """Orthogonal matrix of determinant -1 that best matches the bones, near ``likely`` if open."""
    scale = np.linalg.norm(product)
    u, _, vt = np.linalg.svd(product + PULL * (scale if scale > 0.0 else 1.0) * likely)
    sign = -np.linalg.det(u) * np.linalg.det(vt)
    return np.asarray(u @ np.diag([1.0, 1.0, np.round(sign)]) @ vt)


def _plane_flip(product: FloatArray, likely: FloatArray) -> FloatArray:
    """Reflection through a plane that best matches a central joint's bones onto themselves."""
    scale = np.linalg.norm(product)
    pull = PULL * (scale if scale > 0.0 else 1.0) * (likely + likely.T)
    _, vectors = np.linalg.eigh(product + product.T + pull)
    normal = vectors[:, 0]
    return np.asarray(np.eye(3) - 2.0 * np.outer(normal, normal))


def _with_determined_planes(
    skeleton: Skeleton, pairs: IntArray, flips: FloatArray, solid: FloatArray, rest: FloatArray
) -> FloatArray:
    """Central joints with one bone take the plane of the joint above or below, which fits better.

    One bone leaves the plane's turn about it open. Where the rest pose is no pose (Bandai's), the
    chest above a spine joint tells more than the pelvis below it.
    """
    lowest = np.linalg.eigvalsh(solid + np.swapaxes(solid, -1, -2))[:, 0]
    determined = lowest < -1e-6 * np.linalg.norm(solid, axis=(1, 2))
    out = flips.copy()
    for j in range(skeleton.n_joints - 1, 0, -1):
        parent = int(skeleton.parents[j])
        central = pairs[j] == j and pairs[parent] == parent
        if not central or determined[parent] or not determined[j]:
            continue
        from_below = rest[j] @ out[j] @ rest[j].T
        size = np.linalg.norm(solid[parent])
        if np.sum(from_below * solid[parent]) > np.sum(out[parent] * solid[parent]) - 1e-12 * size:
            out[parent] = _plane_flip(solid[parent], from_below)
            determined[parent] = True
    return out


# --- Left and right partners


def pair_sides(skeleton: Skeleton, *, body: BodyMap | None = None) -> IntArray:
    """Each joint's mirror partner, itself where it is central or has none. Shape (J,).

    The joints of one role are partners, with those over them up to where both sides meet; so are
    names that differ in nothing but the side, and then the children of partners, one by one, where
    both have equally many.
    """
    partner = np.arange(skeleton.n_joints)
    free = np.ones(skeleton.n_joints, dtype=bool)

    def marry(a: int, b: int) -> None:
        if a != b and free[a] and free[b]:
            partner[a], partner[b] = b, a
            free[a] = free[b] = False

    # Roles first: numbers in names may run up one arm and down the other.
    guessed = guess_roles(skeleton) if body is None else {}
    for role in (*LEG, *ARM):
        left, right = (
            guessed.get(f"{side}_{role}") if body is None else getattr(body, f"{side}_{role}")
            for side in ("left", "right")
        )
        if isinstance(left, int) and isinstance(right, int):
            # Up to where both sides meet: the clavicles over the arms.
            both = zip(*(skeleton.chain(j)[::-1] for j in (left, right)), strict=False)
            for a, b in both:
                if a in skeleton.chain(b) or b in skeleton.chain(a):
                    break
                marry(a, b)
    names = [read_name(name) for name in skeleton.names]
    groups: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for j, name in enumerate(names):
        if name.side:
            groups[name.key][name.side].append(j)
    for group in groups.values():
        if len(group["left"]) == len(group["right"]) == 1:
            marry(group["left"][0], group["right"][0])
    # Parents come first, so partners are found before their children are looked at.
    for a in range(skeleton.n_joints):
        b = int(partner[a])
        if b <= a:
            continue
        own = [c for c in skeleton.children(a) if free[c]]
        other = [c for c in skeleton.children(b) if free[c]]
        if len(own) == len(other):
            for c, d in zip(own, other, strict=True):
                if names[c].side != names[d].side or not names[c].side:
                    marry(c, d)
    return partner
