"""Places for many joints: the cheapest chain, compared with trying all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from motionloom.blending.sequence_joints import JointPlaces, NoChainError, cheapest_chain


def by_trying_all(
    joints: list[JointPlaces], n_frames: list[int], least: list[int], loop: bool
) -> tuple[float, tuple[int, ...]] | None:
    """Cost and places of the cheapest chain, found by looking at every one."""
    best = None
    for path in itertools.product(*(range(len(each.cost)) for each in joints)):
        n = len(n_frames)
        entered = [0] * n
        left = [size - 1 for size in n_frames]
        for j, i in enumerate(path):
            left[j] = int(joints[j].leaves[i])
            entered[(j + 1) % n] = int(joints[j].enters[i])
        if not all(
            last - first + 1 >= k for first, last, k in zip(entered, left, least, strict=True)
        ):
            continue
        cost = sum(float(joints[j].cost[i]) for j, i in enumerate(path))
        if np.isfinite(cost) and (best is None or cost < best[0] - 1e-12):
            best = cost, path
    return best


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_no_chain_is_cheaper(seed: int, loop: bool) -> None:
    random = np.random.default_rng(seed)
    n_clips = int(random.integers(1 if loop else 2, 5))
    n_frames = [int(n) for n in random.integers(8, 30, n_clips)]
    least = [int(random.integers(1, max(2, n // 2))) for n in n_frames]
    joints = []
    for j in range(n_clips if loop else n_clips - 1):
        size = int(random.integers(1, 8))
        cost = random.integers(1, 6, size) * 0.1  # many ties
        cost[random.random(size) < 0.1] = np.inf
        leaves = random.integers(0, n_frames[j], size)
        enters = random.integers(0, n_frames[(j + 1) % n_clips], size)
        joints.append(JointPlaces(leaves, enters, cost))
    wanted = by_trying_all(joints, n_frames, least, loop)
    if wanted is None:
        with pytest.raises(NoChainError) as caught:
            cheapest_chain(joints, n_frames, least, loop=loop)
        assert 0 <= caught.value.clip < n_clips
        return
    path = cheapest_chain(joints, n_frames, least, loop=loop)
    cost = sum(float(joints[j].cost[i]) for j, i in enumerate(path))
    assert cost == pytest.approx(wanted[0])
    assert by_trying_all(
        [JointPlaces(*(column[[i]] for column in joints[j])) for j, i in enumerate(path)],
        n_frames,
        least,
        loop,
    )


def test_the_clip_that_cannot_be_played_is_named() -> None:
    early, late = np.array([3]), np.array([25])
    free = np.array([0.1])
    joints = [
        JointPlaces(late, early, free),
        JointPlaces(late, late, free),
        JointPlaces(early, early, free),
    ]
    with pytest.raises(NoChainError) as caught:
        cheapest_chain(joints, [30] * 4, [1] * 4, loop=False)
    assert caught.value.clip == 2
