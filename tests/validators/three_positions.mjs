// Where every bone of FBX files is, by three.js's FBXLoader.
//
// node three_positions.mjs THREE_FOLDER JOBS.json OUT.json
//
// A job has `file`, `stack` and `times`, in seconds; answers are in the file's unit.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [three, jobs, out] = process.argv.slice(2);
// What a browser has and Node lacks; textures are not loaded.
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.document = { createElementNS: () => ({ style: {}, addEventListener() {} }) };

const at = (path) => pathToFileURL(`${three}/${path}`).href;
const THREE = await import(at("build/three.module.js"));
const { FBXLoader } = await import(at("examples/jsm/loaders/FBXLoader.js"));

function positions(job) {
  const bytes = readFileSync(job.file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const scene = new FBXLoader().parse(data, "");
  const mixer = new THREE.AnimationMixer(scene);
  const action = mixer.clipAction(scene.animations[job.stack ?? 0]);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  return job.times.map((time) => {
    mixer.setTime(time);
    scene.updateMatrixWorld(true);
    const places = {};
    scene.traverse((node) => {
      const place = new THREE.Vector3().setFromMatrixPosition(node.matrixWorld);
      // The loader takes characters out of names; what the file states is kept in userData.
      places[node.userData.originalName ?? node.name] = place.toArray();
    });
    return places;
  });
}

const answers = {};
for (const [name, job] of Object.entries(JSON.parse(readFileSync(jobs, "utf8")))) {
  answers[name] = positions(job);
}
writeFileSync(out, JSON.stringify(answers));
