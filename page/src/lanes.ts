// Attempts as bars, a lane for each that ran beside others. A pause is a gap with an outline; an
// eviction has a red end with a notch, a failure a dark one.
import { el } from "./dom";
import type { Attempt, Run } from "./data";
import { gutter } from "./charts";
import type { Theme } from "./theme";
import { className } from "./theme";
import type { View } from "./view";

const laneMax = 18, laneMin = 3, barGap = 0.14;

export class Lanes {
  readonly element: HTMLElement;
  readonly canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "Attempts of jobs over time" });
  private readonly byLane: Attempt[][];
  private readonly lane: number;
  private width = 1; // of the part behind the gutter, when last drawn

  constructor(private readonly run: Run, private readonly view: View, private readonly theme: Theme, heightMax = 460) {
    this.byLane = Array.from({ length: run.lanes }, () => []);
    for (const attempt of run.attempts) this.byLane[attempt.lane].push(attempt);
    this.lane = Math.max(laneMin, Math.min(laneMax, Math.floor(heightMax / Math.max(run.lanes, 1))));
    this.element = el("div", { class: "lanes" }, this.canvas);
    this.canvas.style.height = `${Math.max(this.lane * run.lanes, laneMax)}px`;
    this.listen();
    for (const change of ["range", "cursor", "job", "theme"] as const) view.on(change, () => this.draw());
  }

  timeAt(x: number): number {
    return this.view.from + ((x - gutter) / this.width) * this.view.span;
  }

  at(x: number, y: number): Attempt | null {
    const lane = this.byLane[Math.floor(y / this.lane)] ?? [], t = this.timeAt(x);
    const slack = (this.view.span / this.width) * 2;
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane[middle].start <= t + slack) low = middle + 1;
      else high = middle;
    }
    const found = lane[low - 1];
    return found && found.end >= t - slack ? found : null;
  }

  draw(): void {
    const { canvas, view } = this, scale = devicePixelRatio;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    this.width = Math.max(width - gutter, 1);
    if (canvas.width !== width * scale || canvas.height !== height * scale) {
      canvas.width = width * scale;
      canvas.height = height * scale;
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.drawLabel(context, height);
    context.save();
    context.beginPath();
    context.rect(gutter, 0, width - gutter, height);
    context.clip();
    for (const lane of this.byLane) this.drawLane(context, lane);
    if (view.job && this.run.jobs[view.job.index] === view.job) this.drawSelected(context, view.job.attempts);
    if (view.cursor !== null) {
      context.fillStyle = this.theme.colours.dim;
      context.fillRect(this.x(view.cursor), 0, 1, height);
    }
    context.restore();
  }

  private x(t: number): number {
    return gutter + ((t - this.view.from) / this.view.span) * this.width;
  }

  private drawLabel(context: CanvasRenderingContext2D, height: number): void {
    context.fillStyle = this.theme.colours.dim;
    context.textAlign = "right";
    const lanes = this.run.lanes;
    if (lanes > 0) context.fillText("1", gutter - 8, this.lane / 2);
    if (lanes > 2) context.fillText(String(lanes), gutter - 8, height - Math.max(this.lane / 2, 6));
    context.textAlign = "left";
  }

  // Bars below a pixel are drawn once for each pixel.
  private drawLane(context: CanvasRenderingContext2D, lane: Attempt[]): void {
    const { view } = this;
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane[middle].end < view.from) low = middle + 1;
      else high = middle;
    }
    let painted = -1;
    for (let i = low; i < lane.length && lane[i].start <= view.to; i++) {
      const attempt = lane[i], left = this.x(attempt.start), right = this.x(attempt.end);
      if (right - left < 1 && Math.floor(left) === painted && !attempt.isBad) continue;
      painted = Math.floor(right);
      this.drawBar(context, attempt, Math.max(left, gutter - 4), Math.max(right, left + 1));
    }
  }

  private drawBar(context: CanvasRenderingContext2D, attempt: Attempt, left: number, right: number): void {
    // Whole pixels are sharp, and drawn sooner.
    const scale = devicePixelRatio, snap = (at: number) => Math.round(at * scale) / scale;
    const top = snap(attempt.lane * this.lane + this.lane * barGap), height = snap(this.lane * (1 - 2 * barGap));
    left = snap(left);
    right = Math.max(snap(right), left + 1 / scale);
    const { colours } = this.theme, width = right - left;
    context.fillStyle = this.theme.colour(attempt.job.cls);
    context.fillRect(left, top, width > 3 ? width - 1 : width, height);
    for (const pause of attempt.pauses) this.drawPause(context, attempt, pause.start, pause.end, top, height);
    if (attempt.isBad) {
      const evicted = attempt.outcome === "evicted", mark = Math.min(4, Math.max(2, width));
      context.fillStyle = evicted ? colours.bad : colours.ink;
      context.fillRect(right - mark, top, mark, height);
      if (evicted && height > 8 && width > 12) {
        context.beginPath();
        context.moveTo(right - mark, top);
        context.lineTo(right - mark - 6, top + height / 2);
        context.lineTo(right - mark, top + height);
        context.fill();
      }
    }
    this.drawName(context, attempt, left, width, top + height / 2);
  }

  private drawPause(context: CanvasRenderingContext2D, attempt: Attempt, from: number, to: number, top: number, height: number): void {
    const left = this.x(from), width = this.x(to) - left;
    if (width < 0.5) return;
    context.fillStyle = this.theme.colours.paper;
    context.fillRect(left, top, width, height);
    context.strokeStyle = this.theme.colour(attempt.job.cls);
    if (width > 8 && height > 8) context.setLineDash([3, 2]); // smaller, dashes are dirt
    context.strokeRect(left + 0.5, top + 0.5, Math.max(width - 1, 0), height - 1);
    context.setLineDash([]);
  }

  private drawName(context: CanvasRenderingContext2D, attempt: Attempt, left: number, width: number, middle: number): void {
    if (this.lane < 14 || width < 28) return;
    const start = Math.max(left, gutter) + 4;
    // A name over a gap could not be read.
    const end = Math.min(left + width, ...attempt.pauses.map((pause) => this.x(pause.start)).filter((x) => x > start));
    const room = end - start - 6;
    const name = attempt.job.id.slice(0, Math.floor(room / 6.2));
    if (name.length < Math.min(attempt.job.id.length, 4)) return;
    context.fillStyle = this.theme.textOn(attempt.job.cls);
    context.fillText(name, start, middle);
  }

  // The job's bars with a frame, and how long it waited before each as a thin hatched bar.
  private drawSelected(context: CanvasRenderingContext2D, attempts: Attempt[]): void {
    const { ink } = this.theme.colours;
    context.strokeStyle = ink;
    let waited = attempts[0]?.job.events.find((event) => event.kind === "queued")?.t ?? attempts[0]?.start ?? 0;
    for (const attempt of attempts) {
      const top = attempt.lane * this.lane, left = this.x(attempt.start);
      context.lineWidth = 2;
      context.strokeRect(left - 1, top + 1, Math.max(this.x(attempt.end) - left, 2) + 1, this.lane - 2);
      context.lineWidth = Math.min(4, this.lane / 2);
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(this.x(waited), top + this.lane / 2);
      context.lineTo(left - 2, top + this.lane / 2);
      context.stroke();
      context.setLineDash([]);
      waited = attempt.end;
    }
    context.lineWidth = 1;
  }

  private listen(): void {
    let from: number | null = null;
    const { canvas, view } = this;
    canvas.addEventListener("pointerdown", (event) => {
      from = event.offsetX;
    });
    canvas.addEventListener("pointermove", (event) => {
      view.point(this.timeAt(event.offsetX));
      const attempt = this.at(event.offsetX, event.offsetY);
      canvas.style.cursor = attempt ? "pointer" : "crosshair";
      canvas.title = attempt ? told(attempt, this.timeAt(event.offsetX)) : "";
    });
    canvas.addEventListener("pointerleave", () => view.point(null));
    canvas.addEventListener("pointerup", (event) => {
      if (from !== null && Math.abs(event.offsetX - from) > 5) {
        const ends = [this.timeAt(from), this.timeAt(event.offsetX)].sort((a, b) => a - b);
        view.show(ends[0], ends[1]);
      } else {
        view.select(this.at(event.offsetX, event.offsetY)?.job ?? null);
      }
      from = null;
    });
    canvas.addEventListener("dblclick", () => view.all());
  }
}

function told(attempt: Attempt, t: number): string {
  const { job } = attempt, pause = attempt.pauses.find(({ start, end }) => start <= t && t <= end);
  const which = job.attempts.length > 1 ? `, attempt ${attempt.index + 1} of ${job.attempts.length}` : "";
  const state = pause ? `paused: ${pause.reason}` : attempt.outcome || "has not ended";
  return `${job.id} (${className(job.cls)})${which}\n${state}\n${job.command.slice(0, 200)}`;
}
