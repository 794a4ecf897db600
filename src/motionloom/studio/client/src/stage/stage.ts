// The stage: actors on one floor, each in a pane of its own or all in one. It knows no store and no
// server, so that it can be bundled alone into a page that plays a motion.

import { Scene, WebGLRenderer } from "three";
import type { Palette } from "../theme";
import { Actor, type Role } from "./actor";
import { createEye, type ViewName } from "./camera";
import { createFloor } from "./ground";
import { rgb } from "./layer";

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
  private still: [number, number, number][] = [];
  private palette: Palette | null = null;
  private drawn = ""; // what the canvas shows

  constructor(private readonly canvas: HTMLCanvasElement) {
    // What was drawn stays: a stage at rest is shown again without being drawn again.
    this.renderer = new WebGLRenderer({
      canvas, antialias: true, alpha: true, powerPreference: "low-power", preserveDrawingBuffer: true,
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
      actor.dispose();
    }
    this.actors = roles.map((role) => new Actor(role));
    for (const actor of this.actors) this.scene.add(actor.group);
    this.still = [];
    this.drawn = "";
    if (this.palette) this.paint(this.palette);
  }

  paint(palette: Palette): void {
    this.palette = palette;
    this.drawn = "";
    this.floor.paint(rgb(palette.grid));
    for (const actor of this.actors) {
      actor.paint({
        body: rgb(palette[actor.role.colour]),
        planted: rgb(palette.planted),
        sliding: rgb(palette.sliding),
        shadow: rgb(palette.shadow),
      });
    }
  }

  look(name: ViewName): void {
    const first = this.actors.find((actor) => actor.role.colour === "ink") ?? this.actors[0];
    this.eye.look(name, first ? first.role.motion.looks.heading : 0);
  }

  // Draw every actor at its frame; one whose frame is no number stays where it was, out of sight.
  draw(frames: number[]): void {
    const begun = performance.now();
    // A stage at rest is not drawn again: a laptop keeps cool while one reads.
    const now = JSON.stringify([
      frames, this.eye.yaw, this.eye.pitch, this.eye.zoom, this.eye.pan, this.overlaid, this.follow,
      this.canvas.clientWidth, this.canvas.clientHeight,
    ]);
    if (now === this.drawn) return;
    this.drawn = now;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width || !height || !this.actors.length) {
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
    const panes = this.overlaid ? [this.actors.map((_, k) => k)] : this.actors.map((_, k) => [k]);
    const wide = width / panes.length;
    panes.forEach((pane, n) => {
      this.actors.forEach((actor, k) => (actor.group.visible = shown[k] && pane.includes(k)));
      const main = pane.find((k) => this.actors[k].role.colour === "ink") ?? pane[0];
      this.drawPane(main, n * wide, wide, height);
    });
    this.actors.forEach((actor, k) => (actor.group.visible = shown[k]));
    this.figures.calls = this.renderer.info.render.calls;
    this.figures.script = performance.now() - begun;
  }

  private drawPane(main: number, left: number, wide: number, height: number): void {
    const { looks } = this.actors[main].role.motion;
    const [x, , z] = this.still[main];
    this.eye.aim([x, looks.floor + 0.52 * looks.height, z], looks.height, wide / height, this.overlaid ? 1.2 : 0);
    this.floor.place(Math.round(x), looks.floor, Math.round(z));
    this.renderer.setViewport(left, 0, wide, height);
    this.renderer.setScissor(left, 0, wide, height);
    this.renderer.render(this.scene, this.eye.camera);
  }

  private listen(): void {
    let held: { x: number; y: number; pan: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, pan: event.shiftKey || event.button === 2 };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (held.pan) this.pan(dx, dy);
      else this.eye.orbit(dx, dy);
      [held.x, held.y] = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointerup", () => (held = null));
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.eye.zoomBy(Math.exp(-event.deltaY * 0.0012));
    }, { passive: false });
  }

  private pan(dx: number, dy: number): void {
    const metres = 0.004 / this.eye.zoom;
    const [s, c] = [Math.sin(this.eye.yaw), Math.cos(this.eye.yaw)];
    this.eye.pan[0] += -c * dx * metres;
    this.eye.pan[1] += dy * metres;
    this.eye.pan[2] += s * dx * metres;
  }
}
