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


def smaller(clip):
    """The clip on a body of two thirds of its size, at 30 fps."""
    skeleton = clip.skeleton
    small = ml.Skeleton(skeleton.names, skeleton.parents, 0.67 * skeleton.offsets)
    shrunk = clip.replace(skeleton=small, root_positions=0.67 * clip.root_positions)
    return ml.resample(shrunk, fps=30.0)


def test_what_is_changed_in_sources_is_reported(run, tmp_path):
    clip = ml.synthetic.clip("walk", duration_s=2.0, fps=60).motion
    ml.save(clip, tmp_path / "walk.bvh")
    ml.save(smaller(clip), tmp_path / "small.bvh")
    small = tmp_path / "small.bvh"
    arguments = ["balance", tmp_path / "walk.bvh", "--sources", small]
    answer = run(*arguments, "-o", tmp_path / "out.bvh")
    assert answer.code == 0, answer.err
    assert f"note: {small}: resampled from 30 to 60 fps" in answer.err
    expected = f"bones of other lengths: retargeted onto that of {tmp_path / 'walk.bvh'}"
    assert f"note: {small}: {expected}" in answer.err
    answer = run(*arguments, "-o", tmp_path / "json.bvh", "--json")
    (figures,) = json.loads(answer.out)["clips"]
    (source,) = figures["sources"]
    assert source["file"] == str(small)
    assert source["notes"][0] == "resampled from 30 to 60 fps"
    same = run("balance", small, "--sources", small, "-o", tmp_path / "same.bvh")
    assert "note:" not in same.err


def test_faults_of_source_files_are_reported(run, tmp_path):
    clip = ml.synthetic.clip("walk", duration_s=2.0, fps=60).motion
    (tmp_path / "in").mkdir()
    for name in ("one", "two"):
        ml.save(clip, tmp_path / "in" / f"{name}.bvh")
    ml.save(clip, tmp_path / "cut.bvh")
    text = (tmp_path / "cut.bvh").read_text().replace("Frames: 121", "Frames: 200")
    (tmp_path / "cut.bvh").write_text(text)
    alone = run("convert", tmp_path / "cut.bvh", tmp_path / "other.bvh")
    assert "cut.bvh" in alone.err
    answer = run("balance", tmp_path / "in", "--sources", tmp_path / "cut.bvh",
                 "-o", tmp_path / "out")  # fmt: skip
    assert answer.code == 0, answer.err
    assert [line for line in answer.err.splitlines() if "cut.bvh" in line] == [
        line for line in alone.err.splitlines() if "cut.bvh" in line
    ]


def test_sources_of_a_folder_are_loaded_once(run, tmp_path, monkeypatch):
    from motionloom.cli import balance_command

    (tmp_path / "in").mkdir()
    for kind in ("walk", "sneak", "stand"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.0).motion, tmp_path / "in" / f"{kind}.bvh")
    loaded, load_clip = [], balance_command.load_clip

    def counted(path, reading):
        loaded.append(path)
        return load_clip(path, reading)

    monkeypatch.setattr(balance_command, "load_clip", counted)
    answer = run(
        "balance", tmp_path / "in", "--sources", "embedded:walk", "-o", tmp_path / "out",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert loaded.count("embedded:walk") == 1
    assert len(loaded) == 4


def test_travel_that_is_put_back_is_not_reported(run, tmp_path):
    """Matching moves the travel of a source to its root bone, and it is put back as IN has it."""
    clip = ml.synthetic.clip("walk", duration_s=2.0).motion
    ml.save(clip, tmp_path / "rooted.fbx", engine=ml.EngineExport("unreal", root="in-place"))
    rooted = tmp_path / "rooted.fbx"
    answer = run("balance", rooted, "--sources", rooted, "-o", tmp_path / "out.bvh")
    assert answer.code == 0, answer.err
    assert "travel" not in answer.err
