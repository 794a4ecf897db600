// The live character: a stream of the table, and the body that the stage draws of it.

import { liveMotion, type ShownMotion } from "../motion";
import type { Goal, Place, Pose, Stream, Table } from "../runtime";
import type { PlayData } from "./play_data";

const MOST_STEPS = 30; // at once: a slow display keeps up; a page that was hidden goes on where it was

export class Character {
  // Two frames, the last two: displays are not as fast as the table, and what is between is blended.
  readonly motion: ShownMotion;
  steps = 0;
  // Frames to the one that is shown last, 0 to 1.
  part = 1;
  // Where it arrived last.
  arrived: Place | null = null;
  private begun = true; // whether the transition of the last order was seen to begin
  private readonly stream: Stream;

  constructor(
    private readonly table: Table,
    private readonly data: PlayData,
  ) {
    this.stream = table.stream(data.start);
    this.motion = liveMotion({ fps: table.fps, looks: data.looks }, 2);
    this.take(this.stream.step());
    this.take(this.stream.step());
  }

  // Go to a frame, or hold a label; go to one whose pieces are too short to stay in.
  go(goal: Goal): void {
    if ("label" in goal && this.table.canHold(goal.label)) this.stream.hold(goal.label);
    else this.stream.go(goal);
    this.begun = false;
  }

  // Whether it is on its way to a goal.
  get ordered(): boolean {
    return this.stream.doing === "going to";
  }

  // Advance by a time. Whether another frame is shown. However slow the display, each transition of an order
  // is seen to begin before it is seen to end: it may go on elsewhere before it gets to its goal.
  advance(seconds: number): boolean {
    const owed = Math.min(this.part + seconds * this.table.fps, this.begun ? MOST_STEPS : 2);
    const whole = Math.floor(owed - 1e-9); // at 1 the last frame is shown, and no other is needed
    this.part = owed - whole;
    for (let k = 0; k < whole; k++) {
      const { ordered } = this;
      const { inTransition, framesLeft } = this.stream;
      this.take(this.stream.step());
      this.begun = this.stream.inTransition || !this.ordered;
      if (ordered && !this.ordered) this.arrived = this.stream.now;
      const begins = this.stream.inTransition && !(inTransition && framesLeft > this.stream.framesLeft);
      if (ordered && begins) break;
    }
    return whole > 0;
  }

  // The frame that is shown; null in a transition.
  get now(): Place | null {
    return this.stream.inTransition ? null : this.stream.now;
  }

  // Where the transition arrives, and in how many frames; null outside of one.
  get next(): (Place & { frames: number }) | null {
    return this.stream.inTransition ? { ...this.stream.now, frames: this.stream.framesLeft } : null;
  }

  // Where the root is on the ground.
  get ground(): [number, number] {
    const at = 3 * (this.data.looks.points + this.data.looks.root);
    return [this.motion.points[at], this.motion.points[at + 2]];
  }

  labelsAt({ clip, frame }: Place): string[] {
    const spans = Object.hasOwn(this.data.labels, clip) ? this.data.labels[clip] : [];
    return [...new Set(spans.filter(([, first, last]) => frame >= first && frame <= last).map(([label]) => label))];
  }

  private take(pose: Pose): void {
    const { points, planted } = this.motion;
    const size = points.length / 2;
    points.copyWithin(0, size);
    planted!.copyWithin(0, 4);
    planted!.set(pose.planted, 4);
    const { positions, rotations } = this.table.world(pose);
    this.data.joints.forEach((joint, k) => {
      const [w, x, y, z] = rotations.subarray(4 * joint, 4 * joint + 4);
      const [a, b, c] = this.data.offsets.slice(3 * k, 3 * k + 3);
      // v + 2 u x (u x v + w v), for the quaternion (w, u)
      const [p, q, r] = [y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c];
      points[size + 3 * k] = positions[3 * joint] + a + 2 * (y * r - z * q);
      points[size + 3 * k + 1] = positions[3 * joint + 1] + b + 2 * (z * p - x * r);
      points[size + 3 * k + 2] = positions[3 * joint + 2] + c + 2 * (x * q - y * p);
    });
    this.steps++;
  }
}
