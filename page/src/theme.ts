// Colours. Those of classes differ in lightness and have no red, which is kept for what went wrong;
// patterns tell them apart without colour.
import type { Run } from "./data";
import type { View } from "./view";

// On white and on near-black each has a contrast of 3:1 or more.
const palette = ["#2f6db3", "#c07f00", "#1b9482", "#b8629a", "#6f8a2c", "#7b5fb5", "#3f8fc4", "#94683c"];
const restColour = "#83898f";
export const otherClasses = "other classes";

export interface Colours {
  ink: string;
  dim: string;
  faint: string;
  paper: string;
  bad: string;
  line: string;
}

export class Theme {
  colours!: Colours;
  private readonly slots = new Map<string, number>();
  private patterns = new Map<string, CanvasPattern>();

  constructor(run: Run, view: View) {
    for (const [place, cls] of heaviest(run).entries()) this.slots.set(cls, place);
    const follow = () => {
      this.read();
      view.note("theme");
    };
    const { signal } = view;
    for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", follow, { signal });
    addEventListener("theme", follow, { signal });
    this.read();
  }

  // The style has the colours; a canvas must be told.
  read(): void {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
    this.colours = { ink: of("ink"), dim: of("dim"), faint: of("faint"), paper: of("paper"), bad: of("bad"), line: of("line") };
    this.patterns = new Map();
  }

  // Classes with a colour of their own, heaviest first; if there are others, they come last as one.
  get groups(): string[] {
    const named = [...this.slots].filter(([, slot]) => slot < palette.length).map(([cls]) => cls);
    return this.slots.size > palette.length ? [...named, otherClasses] : named;
  }

  groupOf(cls: string): string {
    return (this.slots.get(cls) ?? palette.length) < palette.length ? cls : otherClasses;
  }

  colour(cls: string): string {
    return palette[this.slots.get(cls) ?? palette.length] ?? restColour;
  }

  // The class's colour with thin strokes in a direction of its own.
  pattern(cls: string): string | CanvasPattern {
    const slot = this.slots.get(cls) ?? palette.length, colour = this.colour(cls);
    if (slot === 0 || slot >= palette.length) return colour;
    const known = this.patterns.get(cls);
    if (known) return known;
    const size = Math.round(8 * devicePixelRatio);
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const context = tile.getContext("2d")!;
    context.fillStyle = colour;
    context.fillRect(0, 0, size, size);
    context.strokeStyle = context.fillStyle = "rgb(255 255 255 / 38%)";
    context.lineWidth = devicePixelRatio;
    strokes[slot % strokes.length](context, size);
    const pattern = context.createPattern(tile, "repeat")!;
    this.patterns.set(cls, pattern);
    return pattern;
  }
}

type Stroke = (context: CanvasRenderingContext2D, size: number) => void;
const lines = (...ends: [number, number, number, number][]): Stroke => (context, size) => {
  context.beginPath();
  for (const [x, y, u, v] of ends) {
    context.moveTo(x * size, y * size);
    context.lineTo(u * size, v * size);
  }
  context.stroke();
};
const rising = lines([-0.5, 0.5, 0.5, -0.5], [0, 1, 1, 0], [0.5, 1.5, 1.5, 0.5]);
const falling = lines([-0.5, 0.5, 0.5, 1.5], [0, 0, 1, 1], [0.5, -0.5, 1.5, 0.5]);
const upright = lines([0.5, 0, 0.5, 1]);
const level = lines([0, 0.5, 1, 0.5]);
const dot: Stroke = (context, size) => context.fillRect(size * 0.375, size * 0.375, size / 4, size / 4);
const strokes: Stroke[] = [
  dot, rising, falling, upright, level, dot,
  (context, size) => { rising(context, size); falling(context, size); },
  (context, size) => { upright(context, size); level(context, size); },
];

// Classes by memory x time, most first; of equals by name.
function heaviest(run: Run): string[] {
  const weights = new Map<string, number>();
  for (const job of run.jobs) weights.set(job.cls, weights.get(job.cls) ?? 0);
  for (const { job, peak, start, end } of run.attempts) {
    weights.set(job.cls, weights.get(job.cls)! + ((peak ?? 0) + 1) * (end - start));
  }
  return [...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([cls]) => cls);
}

export const className = (cls: string): string => cls || "class not known";
