// A transition table in the browser or in Node: transitions between any of its frames, and live
// characters that go wherever they are sent. The work is done by the C core as WebAssembly; the same
// file gives the same bits on every platform.
//
//     const table = await open(wasmBytes, fileBytes); // motionloom.wasm, and a file of `motionloom table export`
//     const character = table.stream({ clip: table.clips[0].name, frame: 0 });
//     character.hold("run");
//     const { root, quats, planted } = character.step(); // the next frame: table.fps of them a second
//
// Metres, +Y up, right-handed. Quaternions are (w, x, y, z), each relative to the joint's parent.

export interface Place {
  clip: string;
  frame: number;
}

export type Goal = Place | { label: string };

export interface Joint {
  readonly name: string;
  readonly parent: number; // -1 for the root; parents come before their children
  readonly offset: readonly [number, number, number]; // in the parent
}

export interface Clip {
  readonly name: string;
  readonly frames: number;
}

// One frame of a character.
export interface Pose {
  readonly root: Float64Array; // (3) in the world
  readonly quats: Float64Array; // (joints, 4)
  readonly planted: Uint8Array; // (4) 1 where it stands: left heel, left ball, right heel, right ball
}

export interface World {
  readonly positions: Float64Array; // (joints, 3)
  readonly rotations: Float64Array; // (joints, 4)
}

// One captured frame that a pose is made of, and its share.
export interface Share extends Place {
  weight: number;
}

// What a character is doing. Playing: it has no order. Going to: it is on its way. In: it is in the
// label that it holds, and at least half of what the shown frame is made of carries it; or it is in
// the piece that it acts. Arrived: it has been where it was sent, and
// plays on. Continuing badly: its clip was over, and every transition to a motion like it fails the
// quality check; it plays the one that fails least.
export type Doing = "playing" | "going to" | "in" | "arrived" | "continuing badly";

export interface StreamOptions {
  // Seconds that an order waits for a transition that passes the quality check, 2 where it is not
  // given. After that the transition that fails least is taken.
  patience?: number;
}

// Frames one after another.
export interface Frames {
  readonly frames: number;
  readonly root: Float64Array; // (frames, 3)
  readonly quats: Float64Array; // (frames, joints, 4)
  readonly planted: Uint8Array; // (frames, 4)
}

export interface Table {
  readonly clips: readonly Clip[];
  readonly labels: readonly string[];
  readonly joints: readonly Joint[];
  readonly fps: number;
  readonly length: number; // frames of a transition
  // Whether a piece of a label is long enough for a character to stay in it.
  canHold(label: string): boolean;
  // The motion that leaves one frame and arrives at another, or at the frame with a label that is
  // reached most easily; it starts where the first frame stands in its clip.
  transition(from: Place, to: Goal): Frames;
  // Where the joints of a pose are and how they are turned, in the world. The arrays are the table's
  // own, and the next call writes over them.
  world(pose: Pose): World;
  // A live character, which begins at a frame, where that stands in its clip.
  stream(from: Place, options?: StreamOptions): Stream;
  // Gives the memory back; table and streams are of no use afterwards.
  close(): void;
}

export interface Stream {
  // Orders: the last one counts, and the same one again changes nothing.
  // Arrive at a frame, or in any frame with a label, and play on.
  go(goal: Goal): void;
  // Arrive in a label, and stay in frames that carry it. Throws for a label whose pieces are too short.
  hold(label: string): void;
  // Arrive at the first frame of a piece with a label, and play it to its last one. After that the
  // same order acts once more.
  act(label: string): void;
  // Move it: what it shows faces (sin heading, cos heading) on the ground, its root over (x, z).
  place(heading: number, x: number, z: number): void;
  // Think about the next transition now, in up to `budget` pieces; a step does one.
  think(budget: number): void;
  // The next frame. The arrays are the stream's own, and the next step writes over them.
  step(): Pose;
  // The frame of a clip that is shown, or that the present transition arrives at.
  readonly now: Place;
  readonly doing: Doing;
  // Whether a transition is played; whether that fails the quality check; frames until it arrives, 0
  // outside of one.
  readonly inTransition: boolean;
  readonly flawed: boolean;
  readonly framesLeft: number;
  // The captured frames that the frame shown last is made of.
  madeOf(): Share[];
  // Gives its memory to the table's next stream.
  close(): void;
}

export class MotionloomError extends Error {
  override readonly name = "MotionloomError";
}

// The functions of motionloom.h, in its order. Addresses are numbers, 64-bit integers are bigint.
interface Core {
  memory: WebAssembly.Memory;
  __heap_base: WebAssembly.Global<"i32">;
  _initialize?(): void;
  ml_version(): number;
  ml_version_number(): number;
  ml_status_text(status: number): number;
  ml_table_size(): bigint;
  ml_stream_size(): bigint;
  ml_frames_size(): bigint;
  ml_table_memory(bytes: bigint, file: number): bigint;
  ml_table_open(bytes: bigint, file: number, memoryBytes: bigint, memory: number, table: number): number;
  ml_table_share_memory(table: number): bigint;
  ml_table_share(table: number, memoryBytes: bigint, memory: number, out: number): number;
  ml_table_fps(table: number): number;
  ml_table_length(table: number): bigint;
  ml_table_n_joints(table: number): bigint;
  ml_table_n_clips(table: number): bigint;
  ml_table_n_labels(table: number): bigint;
  ml_table_joint_name(table: number, joint: bigint): number;
  ml_table_clip_name(table: number, clip: bigint): number;
  ml_table_label_name(table: number, label: bigint): number;
  ml_table_find_joint(table: number, nameBytes: bigint, name: number): bigint;
  ml_table_find_clip(table: number, nameBytes: bigint, name: number): bigint;
  ml_table_find_label(table: number, nameBytes: bigint, name: number): bigint;
  ml_table_clip_frames(table: number, clip: bigint): bigint;
  ml_table_label_longest(table: number, label: bigint): bigint;
  ml_table_hold_frames(table: number): bigint;
  ml_table_row(table: number, clip: bigint, frame: bigint): bigint;
  ml_table_row_clip(table: number, row: bigint): bigint;
  ml_table_row_frame(table: number, row: bigint): bigint;
  ml_table_joint_parent(table: number, joint: bigint): bigint;
  ml_table_joint_offset(table: number, joint: bigint, offset: number): void;
  ml_table_pose(table: number, row: bigint, root: number, quats: number, planted: number): number;
  ml_table_world(table: number, root: number, quats: number, positions: number, rotations: number): number;
  ml_frames_memory(table: number): bigint;
  ml_frames_open(table: number, memoryBytes: bigint, memory: number, frames: number): number;
  ml_table_transition(table: number, from: bigint, to: bigint, frames: number): number;
  ml_table_transition_to_label(table: number, from: bigint, label: bigint, frames: number): number;
  ml_frames_pose(frames: number, frame: bigint, root: number, quats: number, planted: number): number;
  ml_stream_memory(table: number): bigint;
  ml_stream_open(table: number, row: bigint, memoryBytes: bigint, memory: number, stream: number): number;
  ml_stream_place(stream: number, heading: number, x: number, z: number): number;
  ml_stream_go_to_row(stream: number, row: bigint): number;
  ml_stream_go_to_label(stream: number, label: bigint): number;
  ml_stream_hold_label(stream: number, label: bigint): number;
  ml_stream_act_label(stream: number, label: bigint): number;
  ml_stream_set_patience(stream: number, seconds: number): number;
  ml_stream_step(stream: number, root: number, quats: number, planted: number): number;
  ml_stream_think(stream: number, budget: bigint): number;
  ml_stream_doing(stream: number): number;
  ml_stream_now(stream: number): bigint;
  ml_stream_in_transition(stream: number): number;
  ml_stream_is_flawed(stream: number): number;
  ml_stream_frames_left(stream: number): bigint;
  ml_stream_made_of(stream: number, rows: number, weights: number, changed: number): bigint;
}

const PAGE = 65536;
const MOST = 2 ** 31; // bytes that a table may take
const DAMAGED = 3; // ML_DAMAGED
const TOO_SHORT = 8; // ML_TOO_SHORT
const DOING: readonly Doing[] = ["playing", "going to", "in", "arrived", "continuing badly"]; // ml_stream_state
const MOST_SHARES = 16; // ML_MOST_SHARES

// Open a file of `motionloom table export` with the core, motionloom.wasm (bytes, or compiled).
export async function open(
  wasm: BufferSource | WebAssembly.Module, file: ArrayBuffer | Uint8Array<ArrayBuffer>,
): Promise<Table> {
  let core: Core;
  try {
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    core = (await WebAssembly.instantiate(module, {})).exports as unknown as Core;
    core._initialize?.();
  } catch (fault) {
    throw new MotionloomError(`The core could not be started: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
  return new OpenTable(core, file instanceof Uint8Array ? file : new Uint8Array(file));
}

function aligned(at: number): number {
  return Math.ceil(at / 16) * 16;
}

// Memory of the core from its heap on: taken piece by piece, and given back as a whole.
class Memory {
  private top: number;

  constructor(readonly core: Core) {
    this.top = core.__heap_base.value;
  }

  take(bytes: number): number {
    const at = aligned(this.top);
    const end = at + bytes;
    const missing = end - this.core.memory.buffer.byteLength;
    if (!(end < MOST)) throw new MotionloomError(`The table needs ${Math.round(end / 1e6)} MB, which is too much.`);
    try {
      if (missing > 0) this.core.memory.grow(Math.ceil(missing / PAGE));
    } catch {
      throw new MotionloomError(`The table needs ${Math.round(bytes / 1e6)} MB of memory, and so much is not available.`);
    }
    this.top = end;
    return at;
  }

  check(status: number): void {
    if (status === DAMAGED) throw new MotionloomError("The file is damaged, or it is none of `motionloom table export`.");
    if (status) throw new MotionloomError(`The core refused: ${this.text(this.core.ml_status_text(status))}.`);
  }

  // Views are created each time: memory that grows moves away under older ones.
  numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.core.memory.buffer, at, count);
  }

  bytes(at: number, count: number): Uint8Array {
    return new Uint8Array(this.core.memory.buffer, at, count);
  }

  text(at: number): string {
    const all = new Uint8Array(this.core.memory.buffer);
    return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
  }
}

// Where a pose of the core's lies: root and rotations, then which feet are planted.
class PoseBlock {
  private readonly flags: number;

  constructor(private readonly memory: Memory, private readonly at: number, private readonly joints: number) {
    this.flags = at + 24 + 32 * joints;
  }

  static size(joints: number): number {
    return 24 + 32 * joints + 16;
  }

  get places(): [root: number, quats: number, planted: number] {
    return [this.at, this.at + 24, this.flags];
  }

  write({ root, quats }: Pose): void {
    this.memory.numbers(this.at, 3).set(root);
    this.memory.numbers(this.at + 24, 4 * this.joints).set(quats);
  }

  read({ root, quats, planted }: Pose): void {
    root.set(this.memory.numbers(this.at, 3));
    quats.set(this.memory.numbers(this.at + 24, 4 * this.joints));
    planted.set(this.memory.bytes(this.flags, 4));
  }
}

class OpenTable implements Table {
  readonly clips: readonly Clip[];
  readonly labels: readonly string[];
  readonly joints: readonly Joint[];
  readonly fps: number;
  readonly length: number;
  private readonly clipNumbers: Map<string, number>;
  private readonly labelNumbers: Map<string, number>;
  private open: { memory: Memory; at: number } | null;
  private readonly frames: number;
  private readonly pose: PoseBlock;
  private readonly worldAt: number;
  private readonly worldNow: World;
  private readonly unused: number[] = []; // blocks of streams that are closed

  constructor(core: Core, file: Uint8Array) {
    const memory = new Memory(core);
    const source = memory.take(file.length);
    memory.bytes(source, file.length).set(file);
    const needs = core.ml_table_memory(BigInt(file.length), source);
    if (needs < 0n) memory.check(-Number(needs));
    const block = memory.take(Number(needs));
    const at = memory.take(Number(core.ml_table_size()));
    memory.check(core.ml_table_open(BigInt(file.length), source, needs, block, at));
    this.open = { memory, at };
    this.fps = core.ml_table_fps(at);
    this.length = Number(core.ml_table_length(at));
    const all = <T>(count: bigint, each: (k: bigint) => T): T[] => Array.from({ length: Number(count) }, (_, k) => each(BigInt(k)));
    const offset = memory.take(24);
    this.joints = all(core.ml_table_n_joints(at), (k) => {
      core.ml_table_joint_offset(at, k, offset);
      const [x, y, z] = memory.numbers(offset, 3);
      return {
        name: memory.text(core.ml_table_joint_name(at, k)), parent: Number(core.ml_table_joint_parent(at, k)), offset: [x, y, z],
      };
    });
    this.clips = all(core.ml_table_n_clips(at), (k) => ({
      name: memory.text(core.ml_table_clip_name(at, k)), frames: Number(core.ml_table_clip_frames(at, k)),
    }));
    this.labels = all(core.ml_table_n_labels(at), (k) => memory.text(core.ml_table_label_name(at, k)));
    this.clipNumbers = new Map(this.clips.map(({ name }, k) => [name, k]));
    this.labelNumbers = new Map(this.labels.map((name, k) => [name, k]));
    const joints = this.joints.length;
    const made = core.ml_frames_memory(at);
    this.frames = memory.take(Number(core.ml_frames_size()));
    memory.check(core.ml_frames_open(at, made, memory.take(Number(made)), this.frames));
    this.pose = new PoseBlock(memory, memory.take(PoseBlock.size(joints)), joints);
    this.worldAt = memory.take(56 * joints);
    this.worldNow = { positions: new Float64Array(3 * joints), rotations: new Float64Array(4 * joints) };
  }

  canHold(label: string): boolean {
    const { memory: { core }, at } = this.opened();
    return core.ml_table_label_longest(at, this.label(label)) >= core.ml_table_hold_frames(at);
  }

  // Why a label cannot be held.
  tooShort(label: string): string {
    const { memory: { core }, at } = this.opened();
    const longest = Number(core.ml_table_label_longest(at, this.label(label)));
    const least = Number(core.ml_table_hold_frames(at));
    const seconds = (frames: number): string => `${(frames / this.fps).toFixed(2)} s`;
    return `${JSON.stringify(label)} cannot be held: its longest piece that a transition arrives in has ${longest} frames `
      + `(${seconds(longest)}), and a character stays only in pieces of ${least} (${seconds(least)}) or more. `
      + "Label longer pieces, or use `act` or `go`.";
  }

  transition(from: Place, to: Goal): Frames {
    const { memory, at } = this.opened();
    const { core } = memory;
    memory.check("label" in to
      ? core.ml_table_transition_to_label(at, this.row(from), this.label(to.label), this.frames)
      : core.ml_table_transition(at, this.row(from), this.row(to), this.frames));
    const [n, joints] = [this.length, this.joints.length];
    const made = { frames: n, root: new Float64Array(3 * n), quats: new Float64Array(4 * n * joints), planted: new Uint8Array(4 * n) };
    for (let k = 0; k < n; k++) {
      memory.check(core.ml_frames_pose(this.frames, BigInt(k), ...this.pose.places));
      this.pose.read({
        root: made.root.subarray(3 * k, 3 * k + 3),
        quats: made.quats.subarray(4 * joints * k, 4 * joints * (k + 1)),
        planted: made.planted.subarray(4 * k, 4 * k + 4),
      });
    }
    return made;
  }

  world(pose: Pose): World {
    const { memory, at } = this.opened();
    const { positions, rotations } = this.worldNow;
    const turns = this.worldAt + 8 * positions.length;
    this.pose.write(pose);
    const [root, quats] = this.pose.places;
    memory.check(memory.core.ml_table_world(at, root, quats, this.worldAt, turns));
    positions.set(memory.numbers(this.worldAt, positions.length));
    rotations.set(memory.numbers(turns, rotations.length));
    return this.worldNow;
  }

  stream(from: Place, { patience }: StreamOptions = {}): Stream {
    const { memory, at } = this.opened();
    const { core } = memory;
    const row = this.row(from);
    const needs = core.ml_stream_memory(at);
    // The struct, where a pose and its shares go, and the stream's own memory.
    const pose = aligned(Number(core.ml_stream_size()));
    const shares = aligned(pose + PoseBlock.size(this.joints.length));
    const own = shares + 16 * MOST_SHARES + 16;
    const block = this.unused.pop() ?? memory.take(own + Number(needs));
    const opened = core.ml_stream_open(at, row, needs, block + own, block)
      || (patience === undefined ? 0 : core.ml_stream_set_patience(block, patience));
    if (opened) this.unused.push(block);
    memory.check(opened);
    return new OpenStream(
      this, block, new PoseBlock(memory, block + pose, this.joints.length), block + shares, () => this.unused.push(block),
    );
  }

  close(): void {
    this.open = null; // the core and its memory go with the last one who knows them
  }

  opened(): { memory: Memory; at: number } {
    if (!this.open) throw new MotionloomError("The table is closed.");
    return this.open;
  }

  row({ clip, frame }: Place): bigint {
    const number = this.clipNumbers.get(clip);
    if (number === undefined) throw new MotionloomError(`The table has no clip ${JSON.stringify(clip)}.`);
    const last = this.clips[number].frames - 1;
    if (!Number.isInteger(frame) || frame < 0 || frame > last) {
      throw new MotionloomError(`Clip ${JSON.stringify(clip)} has the frames 0 to ${last}, and ${frame} is none of them.`);
    }
    const { memory, at } = this.opened();
    return memory.core.ml_table_row(at, BigInt(number), BigInt(frame));
  }

  label(name: string): bigint {
    const number = this.labelNumbers.get(name);
    if (number === undefined) {
      const labels = this.labels.length ? `Its labels are ${this.labels.join(", ")}.` : "It has no labels.";
      throw new MotionloomError(`The table has no label ${JSON.stringify(name)}. ${labels}`);
    }
    return BigInt(number);
  }

  place(row: bigint): Place {
    const { memory: { core }, at } = this.opened();
    const clip = Number(core.ml_table_row_clip(at, row));
    return { clip: this.clips[clip].name, frame: Number(core.ml_table_row_frame(at, row)) };
  }
}

class OpenStream implements Stream {
  private readonly pose: Pose;
  private closed = false;

  constructor(
    private readonly table: OpenTable, private readonly at: number, private readonly block: PoseBlock,
    private readonly shares: number, private readonly giveBack: () => void,
  ) {
    this.pose = {
      root: new Float64Array(3), quats: new Float64Array(4 * table.joints.length), planted: new Uint8Array(4),
    };
  }

  go(goal: Goal): void {
    const memory = this.memory();
    memory.check("label" in goal
      ? memory.core.ml_stream_go_to_label(this.at, this.table.label(goal.label))
      : memory.core.ml_stream_go_to_row(this.at, this.table.row(goal)));
  }

  hold(label: string): void {
    const memory = this.memory();
    const status = memory.core.ml_stream_hold_label(this.at, this.table.label(label));
    if (status === TOO_SHORT) throw new MotionloomError(this.table.tooShort(label));
    memory.check(status);
  }

  act(label: string): void {
    const memory = this.memory();
    memory.check(memory.core.ml_stream_act_label(this.at, this.table.label(label)));
  }

  think(budget: number): void {
    if (!Number.isSafeInteger(budget) || budget < 0) throw new MotionloomError("A budget must be a number of pieces, 0 or more.");
    const memory = this.memory();
    memory.check(memory.core.ml_stream_think(this.at, BigInt(budget)));
  }

  place(heading: number, x: number, z: number): void {
    if (![heading, x, z].every(Number.isFinite)) throw new MotionloomError("A heading and a place on the ground must be numbers.");
    const memory = this.memory();
    memory.check(memory.core.ml_stream_place(this.at, heading, x, z));
  }

  step(): Pose {
    const memory = this.memory();
    memory.check(memory.core.ml_stream_step(this.at, ...this.block.places));
    this.block.read(this.pose);
    return this.pose;
  }

  get now(): Place {
    return this.table.place(this.memory().core.ml_stream_now(this.at));
  }

  get doing(): Doing {
    return DOING[this.memory().core.ml_stream_doing(this.at)];
  }

  get inTransition(): boolean {
    return this.memory().core.ml_stream_in_transition(this.at) === 1;
  }

  get flawed(): boolean {
    return this.memory().core.ml_stream_is_flawed(this.at) === 1;
  }

  get framesLeft(): number {
    return Number(this.memory().core.ml_stream_frames_left(this.at));
  }

  madeOf(): Share[] {
    const memory = this.memory();
    const [rows, weights, changed] = [this.shares, this.shares + 8 * MOST_SHARES, this.shares + 16 * MOST_SHARES];
    const count = Number(memory.core.ml_stream_made_of(this.at, rows, weights, changed));
    const at = new BigInt64Array(memory.core.memory.buffer, rows, count);
    return Array.from(memory.numbers(weights, count), (weight, k) => ({ ...this.table.place(at[k]), weight }));
  }

  close(): void {
    if (!this.closed) this.giveBack();
    this.closed = true;
  }

  private memory(): Memory {
    if (this.closed) throw new MotionloomError("The stream is closed.");
    return this.table.opened().memory;
  }
}
