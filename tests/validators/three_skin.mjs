// Where every point of the meshes of GLB and FBX files is, by the loaders of three.js.
//
// node three_skin.mjs THREE_FOLDER JOBS.json OUT.json
//
// A job has `file` and `times`, in seconds; answers are in the file's unit, with the bytes of each
// image that the loader was given.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [three, jobs, out] = process.argv.slice(2);
// What a browser has and Node lacks. Images are not decoded: their bytes are counted.
const images = [];
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.document = {
  createElementNS: () => ({ style: {}, addEventListener() {}, removeEventListener() {} }),
};
globalThis.URL.createObjectURL = (blob) => {
  images.push(blob.size);
  return `blob:${images.length}`;
};
globalThis.URL.revokeObjectURL = () => {};

const at = (path) => pathToFileURL(`${three}/${path}`).href;
const THREE = await import(at("build/three.module.js"));
const { FBXLoader } = await import(at("examples/jsm/loaders/FBXLoader.js"));
const { GLTFLoader } = await import(at("examples/jsm/loaders/GLTFLoader.js"));

// A texture stands for each image, so that loading ends.
THREE.TextureLoader.prototype.load = function load(_, onLoad) {
  const texture = new THREE.Texture();
  if (onLoad) setTimeout(() => onLoad(texture));
  return texture;
};

async function opened(file) {
  const bytes = readFileSync(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  if (file.endsWith(".fbx")) {
    const scene = new FBXLoader().parse(data, "");
    return { scene, animations: scene.animations };
  }
  const found = await new GLTFLoader().parseAsync(data, "");
  return { scene: found.scene, animations: found.animations };
}

async function points(job) {
  images.length = 0;
  const { scene, animations } = await opened(job.file);
  const mixer = new THREE.AnimationMixer(scene);
  const action = mixer.clipAction(animations[0]);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const frames = job.times.map((time) => {
    mixer.setTime(time);
    scene.updateMatrixWorld(true);
    const places = [];
    scene.traverse((node) => {
      if (!node.isSkinnedMesh) return;
      const position = node.geometry.getAttribute("position");
      for (let v = 0; v < position.count; v += 1) {
        const place = new THREE.Vector3().fromBufferAttribute(position, v);
        node.applyBoneTransform(v, place);
        places.push(place.applyMatrix4(node.matrixWorld).toArray());
      }
    });
    return places;
  });
  return { frames, images: [...images] };
}

const answers = {};
for (const [name, job] of Object.entries(JSON.parse(readFileSync(jobs, "utf8")))) {
  answers[name] = await points(job);
}
writeFileSync(out, JSON.stringify(answers));
