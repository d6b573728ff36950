// Colours. Those of classes come with the run, heaviest class first; a class that is in two runs has
// the same in both. Patterns tell them apart without colour.
import type { Run } from "./data";
import type { View } from "./view";

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

  private readonly palette: string[];
  private readonly otherColour: string;
  private readonly hasOthers: boolean;

  constructor(runs: Run[], view: View) {
    this.palette = runs[0].palette;
    this.otherColour = runs[0].otherColour;
    const heaviest = new Set(runs.flatMap(({ coloured }) => coloured));
    [...heaviest].slice(0, this.palette.length).forEach((cls, place) => this.slots.set(cls, place));
    this.hasOthers = runs.some(({ jobs }) => jobs.some(({ cls }) => !this.slots.has(cls)));
    const follow = () => {
      this.read();
      view.note("theme");
    };
    const { signal } = view;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow, { signal });
    matchMedia("print").addEventListener("change", () => {
      follow();
      view.tell();
    }, { signal });
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
    const named = [...this.slots.keys()];
    return this.hasOthers ? [...named, otherClasses] : named;
  }

  groupOf(cls: string): string {
    return this.slots.has(cls) ? cls : otherClasses;
  }

  colour(cls: string): string {
    return this.palette[this.slots.get(cls) ?? -1] ?? this.otherColour;
  }

  // Black or white, whichever can be read on the class's colour.
  textOn(cls: string): string {
    const channels = this.colour(cls).match(/\w\w/g)!.map((digits) => {
      const part = parseInt(digits, 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2];
    return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 ? "#fff" : "#000";
  }

  // The class's colour with thin strokes in a direction of its own.
  pattern(cls: string): string | CanvasPattern {
    const slot = this.slots.get(cls), colour = this.colour(cls);
    if (!slot) return colour; // the first, and the others
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

export const className = (cls: string): string => cls || "class not known";
