# What Godot imported: bones, rest poses, poses at given times, travel by root motion.
#
# godot --headless --path PROJECT --script godot_scenes.gd -- JOBS.json OUT.json
# JOBS.json: {FILE: {"times": [seconds, ...], "on": FILE}}; files lie in the project and are imported
# already. With "on" the clip is also played on the character of that file.
extends SceneTree


# In the first frame, for before it nothing is in the tree.
func _process(_seconds: float) -> bool:
	var arguments := OS.get_cmdline_user_args()
	var jobs: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(arguments[0]))
	var answers := {"profile": _profile()}
	for file in jobs:
		answers[file] = _scene(file, jobs[file]["times"], jobs[file].get("on", ""))
	FileAccess.open(arguments[1], FileAccess.WRITE).store_string(JSON.stringify(answers, "", true, true))
	return true


func _listed(transform: Transform3D) -> Array:
	var values := []
	for vector in [transform.basis.x, transform.basis.y, transform.basis.z, transform.origin]:
		values.append([vector.x, vector.y, vector.z])
	return values


func _profile() -> Dictionary:
	var profile := SkeletonProfileHumanoid.new()
	var bones := {}
	var places := {}
	for i in profile.bone_size:
		var bone := profile.get_bone_name(i)
		var above := profile.get_bone_parent(i)
		places[bone] = places.get(above, Transform3D()) * profile.get_reference_pose(i)
		bones[bone] = {"parent": str(above), "rest": _listed(places[bone])}
	return bones


func _scene(file: String, times: Array, other: String) -> Dictionary:
	var scene: Node3D = load("res://" + file).instantiate()
	root.add_child(scene)
	var skeleton: Skeleton3D = scene.find_children("*", "Skeleton3D", true, false)[0]
	var player: AnimationPlayer = scene.find_children("*", "AnimationPlayer", true, false)[0]
	var clip: String = player.get_animation_list()[0]
	var bones := {}
	for i in skeleton.get_bone_count():
		var above := skeleton.get_bone_parent(i)
		bones[skeleton.get_bone_name(i)] = {
			"parent": "" if above < 0 else skeleton.get_bone_name(above),
			"rest": _listed(skeleton.get_bone_global_rest(i)),
		}
	var answer := {
		"bones": bones,
		"poses": _poses(player, clip, skeleton, times),
		"on": [] if other == "" else _poses_on(other, player.get_animation(clip), times),
		"length": player.get_animation(clip).length,
		"meshes": scene.find_children("*", "MeshInstance3D", true, false).size(),
	}
	answer["root_motion"] = _root_motion(scene, skeleton, player, clip)
	scene.free()
	return answer


func _poses(player: AnimationPlayer, clip: String, skeleton: Skeleton3D, times: Array) -> Array:
	player.play(clip)
	var poses := []
	for time in times:
		player.seek(time, true)
		var pose := {}
		for i in skeleton.get_bone_count():
			var place := skeleton.global_transform * skeleton.get_bone_global_pose(i)
			pose[skeleton.get_bone_name(i)] = [place.origin.x, place.origin.y, place.origin.z]
		poses.append(pose)
	return poses


# The clip on the skeleton of another file, which was imported with a bone map.
func _poses_on(file: String, clip: Animation, times: Array) -> Array:
	var scene: Node3D = load("res://" + file).instantiate()
	root.add_child(scene)
	var skeleton: Skeleton3D = scene.find_children("*", "Skeleton3D", true, false)[0]
	var copy: Animation = clip.duplicate(true)
	for track in copy.get_track_count():
		var bone := copy.track_get_path(track).get_concatenated_subnames()
		copy.track_set_path(track, NodePath(str(scene.get_path_to(skeleton)) + ":" + bone))
	var library := AnimationLibrary.new()
	library.add_animation("clip", copy)
	var player := AnimationPlayer.new()
	scene.add_child(player)
	player.root_node = player.get_path_to(scene)
	player.add_animation_library("other", library)
	var poses := _poses(player, "other/clip", skeleton, times)
	scene.free()
	return poses


# Travel of the whole clip as a game takes it: the first bone is the root motion track.
func _root_motion(scene: Node3D, skeleton: Skeleton3D, player: AnimationPlayer, clip: String) -> Dictionary:
	player.root_motion_track = NodePath(str(scene.get_path_to(skeleton)) + ":" + skeleton.get_bone_name(0))
	player.callback_mode_process = AnimationMixer.ANIMATION_CALLBACK_MODE_PROCESS_MANUAL
	player.stop()
	player.play(clip)
	var turn := Quaternion.IDENTITY
	var travel := Vector3.ZERO
	var length := player.get_animation(clip).length
	player.advance(0.0)
	for step in 100:
		player.advance((length - 1e-4) / 100)
		turn *= player.get_root_motion_rotation()
		travel += player.get_root_motion_position()
	return {"travel": [travel.x, travel.y, travel.z], "turn": [turn.w, turn.x, turn.y, turn.z]}
