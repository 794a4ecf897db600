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
