// The stage: actors on one floor, each in a separate pane or all in one. It uses no store and no
// server, so that it can be bundled alone into a page that plays a motion.

import { Scene, WebGLRenderer } from "three";
import type { Palette } from "../theme";
import { Actor, type Role } from "./actor";
import { createEye, type ViewName } from "./camera";
import { createFloor } from "./ground";
import { ALL_ON, rgb, type Switches } from "./layer";
import { layPanes, type Pane } from "./panes";

const AIM = 0.46; // of a body's height: a little below its middle, so that no button covers the feet

export interface StageFigures {
  calls: number; // draw calls of the last frame
  script: number; // milliseconds of script of the last frame
}

export class Stage {
  readonly eye = createEye();
  readonly figures: StageFigures = { calls: 0, script: 0 };
  overlaid = false;
  follow = true;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly floor = createFloor();
  private actors: Actor[] = [];
  private leaving: Actor[] = []; // no longer on stage; their programs last until others have drawn with them
  private still: [number, number, number][] = [];
  private palette: Palette | null = null;
  private switches: Switches = ALL_ON;
  private light: [number, number, number] = [-0.42, 0.81, 0.41];
  private drawn = ""; // what the canvas shows
  private touched = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {
    // The drawn image stays: a stage at rest need not be drawn again.
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: true,
      alpha: true,
      stencil: true,
      powerPreference: "low-power",
      preserveDrawingBuffer: true,
    });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.info.autoReset = false;
    this.renderer.autoClear = false;
    this.renderer.setClearAlpha(0);
    this.scene.add(this.floor.mesh);
    this.listen();
  }

  show(roles: Role[]): void {
    for (const actor of this.actors) {
      this.scene.remove(actor.group);
      if (this.still.length) this.leaving.push(actor);
      else actor.dispose(); // never drawn, for example on a hidden page
    }
    this.actors = roles.map((role) => new Actor(role, this.switches));
    for (const actor of this.actors) this.scene.add(actor.group);
    this.still = [];
    this.redraw();
    if (this.palette) this.paint(this.palette);
  }

  // Which layers show.
  turn(switches: Switches): void {
    this.switches = switches;
    for (const actor of this.actors) actor.turn(switches);
    this.redraw();
  }

  paint(palette: Palette): void {
    this.palette = palette;
    this.floor.paint(rgb(palette.grid));
    for (const actor of this.actors) {
      actor.paint({
        body: rgb(palette[actor.role.colour]),
        planted: rgb(palette.planted),
        sliding: rgb(palette.sliding),
        warning: rgb(palette.warning),
        shadow: rgb(palette.shadow),
        toLight: this.light,
      });
    }
    this.redraw();
  }

  look(name: ViewName): void {
    const first = this.actors[this.main()];
    this.eye.look(name, first ? first.role.motion.looks.heading : 0);
    // The key light stands up and to the left of the viewer; it stays there while they walk around.
    const azimuth = this.eye.yaw - 0.5;
    this.light = [0.58 * Math.sin(azimuth), 0.81, 0.58 * Math.cos(azimuth)];
    if (this.palette) this.paint(this.palette);
  }

  // Draw again, for example after points were overwritten.
  redraw(): void {
    this.touched++;
  }

  panes(): Pane[] {
    return layPanes(this.actors.length, this.main(), this.overlaid);
  }

  // Draw every actor at its frame; one whose frame is no number stays where it was, out of sight.
  draw(frames: number[]): void {
    const begun = performance.now();
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    // A stage at rest is not drawn again: a laptop keeps cool while one reads.
    const { yaw, pitch, zoom, pan } = this.eye;
    const now = [frames, yaw, pitch, zoom, pan, this.overlaid, this.follow, width, height, this.touched].join();
    if (now === this.drawn) return;
    this.drawn = now;
    if (!width || !height || !this.actors.length) {
      this.renderer.setScissorTest(false); // the last pane drawn is not the whole canvas
      this.renderer.clear();
      return;
    }
    const size = this.renderer.getPixelRatio();
    if (this.canvas.width !== Math.floor(width * size) || this.canvas.height !== Math.floor(height * size)) {
      this.renderer.setSize(width, height, false);
    }
    this.renderer.info.reset();
    this.actors.forEach((actor, k) => {
      const frame = frames[k];
      actor.group.visible = Number.isFinite(frame);
      if (actor.group.visible || !this.still[k]) actor.update(Number.isFinite(frame) ? frame : 0);
      if (actor.group.visible && (this.follow || !this.still[k])) this.still[k] = actor.root();
      this.still[k] ??= actor.root();
    });
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    const shown = this.actors.map((actor) => actor.group.visible);
    const main = this.main();
    for (const pane of this.panes()) {
      this.actors.forEach((actor, k) => (actor.group.visible = shown[k] && pane.actors.includes(k)));
      this.drawPane(pane.actors.includes(main) ? main : pane.actors[0], pane, width, height);
    }
    this.actors.forEach((actor, k) => (actor.group.visible = shown[k]));
    this.disposeLeaving();
    this.figures.calls = this.renderer.info.render.calls;
    this.figures.script = performance.now() - begun;
  }

  dispose(): void {
    this.show([]);
    this.disposeLeaving();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  // A program that no material uses is deleted: new actors draw before old ones are disposed of, so that
  // nothing is compiled again (half a second each without a graphics card).
  private disposeLeaving(): void {
    for (const actor of this.leaving) actor.dispose();
    this.leaving = [];
  }

  private main(): number {
    return Math.max(
      0,
      this.actors.findIndex((actor) => actor.role.colour === "ink"),
    );
  }

  private drawPane(main: number, pane: Pane, width: number, height: number): void {
    const { looks } = this.actors[main].role.motion;
    const [x, , z] = this.still[main];
    const box = [
      pane.left * width,
      (1 - pane.top - pane.height) * height,
      pane.width * width,
      pane.height * height,
    ] as const;
    this.eye.aim([x, looks.floor + AIM * looks.height, z], looks.height, box[2] / box[3], this.overlaid ? 1.2 : 0);
    this.floor.place(Math.round(x), looks.floor, Math.round(z));
    this.renderer.setViewport(...box);
    this.renderer.setScissor(...box);
    this.renderer.render(this.scene, this.eye.camera);
  }

  private listen(): void {
    const held = new Map<number, [number, number]>(); // fingers on the canvas
    this.canvas.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, [event.clientX, event.clientY]);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const was = held.get(event.pointerId);
      if (!was) return;
      const [dx, dy] = [event.clientX - was[0], event.clientY - was[1]];
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const reach = (x: number, y: number): number => Math.hypot(x - other[0], y - other[1]);
        this.eye.zoomBy(reach(event.clientX, event.clientY) / Math.max(reach(...was), 1));
      } else if (event.shiftKey || event.buttons & 6) this.pan(dx, dy);
      else this.eye.orbit(dx, dy);
      held.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const end of ["pointerup", "pointercancel"] as const) {
      this.canvas.addEventListener(end, (event) => held.delete(event.pointerId));
    }
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.eye.zoomBy(Math.exp(-event.deltaY * 0.0012));
      },
      { passive: false },
    );
  }

  private pan(dx: number, dy: number): void {
    const metres = 0.004 / this.eye.zoom;
    const [s, c] = [Math.sin(this.eye.yaw), Math.cos(this.eye.yaw)];
    this.eye.pan[0] += -c * dx * metres;
    this.eye.pan[1] += dy * metres;
    this.eye.pan[2] += s * dx * metres;
  }
}
