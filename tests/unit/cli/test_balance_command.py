"""motionloom balance."""

import json

import motionloom as ml


def test_a_clip_is_balanced_and_the_figures_are_printed(run, tmp_path):
    ml.save(ml.synthetic.clip("walk", duration_s=2.0).motion, tmp_path / "walk.bvh")
    answer = run("balance", tmp_path / "walk.bvh", "-o", tmp_path / "out.bvh")
    assert answer.code == 0, answer.err
    assert "outside the soles in" in answer.out + answer.err
    assert ml.load(tmp_path / "out.bvh").n_frames == ml.load(tmp_path / "walk.bvh").n_frames
    answer = run("balance", tmp_path / "walk.bvh", "-o", tmp_path / "b.bvh", "--json")
    figures = json.loads(answer.out)
    text = json.dumps(figures)
    assert '"allowed_m": 0.02' in text and '"before"' in text and '"after"' in text


def test_a_distance_that_is_none_is_refused(run, tmp_path):
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    answer = run("balance", tmp_path / "walk.bvh", "-o", tmp_path / "out.bvh", "--allowed", "-1")
    assert answer.code == 2
    assert not (tmp_path / "out.bvh").exists()


def test_a_broken_clip_is_not_written(run, tmp_path):
    clip = ml.synthetic.clip("tiptoe").motion
    root = clip.root_positions.copy()
    root[80:, 0] += 3.0
    ml.save(clip.replace(root_positions=root), tmp_path / "tele.bvh")
    answer = run("balance", tmp_path / "tele.bvh", "-o", tmp_path / "out.bvh")
    assert answer.code == 3
    assert "capture glitch" in answer.err
    assert not (tmp_path / "out.bvh").exists()
    assert run("check", tmp_path / "tele.bvh").code == 1


def test_sources_allow_their_balance_and_set_the_check(run, tmp_path):
    for kind in ("walk", "sneak"):
        ml.save(ml.synthetic.clip(kind).motion, tmp_path / f"{kind}.bvh")
    blended = ml.blend(
        [ml.load(tmp_path / f"{kind}.bvh") for kind in ("walk", "sneak")], [0.5, 0.5]
    )
    ml.save(ml.resample(blended.motion, fps=30.0), tmp_path / "blend.bvh")
    sources = [
        word for kind in ("walk", "sneak") for word in ("--sources", tmp_path / f"{kind}.bvh")
    ]
    arguments = ["balance", tmp_path / "blend.bvh", *sources]
    answer = run(*arguments, "-o", tmp_path / "out.bvh", "--json")
    assert answer.code == 0, answer.err
    (figures,) = json.loads(answer.out)["clips"]
    assert figures["verification"]["compared"]
    other = run(
        "balance", tmp_path / "blend.bvh", "--sources", "embedded:run",
        "-o", tmp_path / "other.bvh", "--json",
    )  # fmt: skip
    assert json.loads(other.out)["clips"][0]["allowed_m"] > figures["allowed_m"]


def test_sources_are_not_overwritten(run, tmp_path):
    ml.save(ml.synthetic.clip("walk", duration_s=2.0).motion, tmp_path / "walk.bvh")
    ml.save(ml.synthetic.clip("sneak", duration_s=2.0).motion, tmp_path / "sneak.bvh")
    answer = run(
        "balance", tmp_path / "walk.bvh", "--sources", tmp_path / "sneak.bvh",
        "-o", tmp_path / "sneak.bvh", "--force",
    )  # fmt: skip
    assert answer.code == 2
    assert "never overwritten" in answer.err


def test_sources_on_another_skeleton_are_retargeted(run, tmp_path):
    clip = ml.synthetic.clip("walk", duration_s=2.0).motion
    ml.save(clip, tmp_path / "walk.bvh")
    names = [f"other_{name}" for name in clip.skeleton.names]
    skeleton = ml.Skeleton(names, clip.skeleton.parents, 1.2 * clip.skeleton.offsets)
    larger = clip.replace(skeleton=skeleton, root_positions=1.2 * clip.root_positions)
    ml.save(larger, tmp_path / "larger.bvh")
    answer = run(
        "balance", tmp_path / "walk.bvh", "--sources", tmp_path / "larger.bvh",
        "-o", tmp_path / "out.bvh",
    )  # fmt: skip
    assert answer.code == 0, answer.err
