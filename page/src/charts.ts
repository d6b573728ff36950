// The charts below the lanes, on the same time axis: memory, cores, stalls, and how many jobs wait.
import uPlot from "uplot";
import { el } from "./dom";
import { bytes, clock, digits } from "./format";
import { className, type Theme } from "./theme";
import { gridOf, rateOf, sampled, type Grid, type Known, type Steps } from "./series";
import type { Run } from "./data";
import type { View } from "./view";

// The lanes and all charts begin at the same pixel.
export const gutter = 64;
// Two for three pixels of a wide screen: each counts the highest between it and its neighbours.
const points = 800;

interface Line {
  label: string;
  colour: () => string;
  width?: number;
  dash?: number[];
  fill?: () => string | CanvasPattern;
  values: (grid: Grid) => (number | null)[];
  told?: (grid: Grid) => (number | null)[]; // where the values are sums, the part
}

export interface Reading {
  label: string;
  text: string;
  group?: string; // class, for a swatch
}

export type Title = "Memory" | "Cores" | "Stalled (PSI)" | "Jobs";
export const allCharts: Title[] = ["Memory", "Cores", "Stalled (PSI)", "Jobs"];

export interface MemoryScale {
  height: number; // of the chart
  top: number; // it reaches so far at least
}

interface Panel {
  title: Title;
  text: (value: number) => string;
  lines: Line[];
  height: number;
  least?: number; // of the top of the scale
  draw?: (plot: uPlot) => void;
  plot?: uPlot;
}

export class Charts {
  readonly element = el("div", { class: "charts" });
  private readonly panels: Panel[];
  private grid!: Grid;

  constructor(private readonly run: Run, known: Known, private readonly view: View, private readonly theme: Theme,
    titles: Title[], memory: MemoryScale) {
    this.panels = this.describe(known, memory).filter(({ title, lines }) => titles.includes(title) && lines.length > 0);
    view.on("range", () => this.fill());
    view.on("cursor", () => this.follow());
    view.on("theme", () => this.rebuild());
  }

  // Once the element has a width.
  build(): void {
    this.reckon();
    for (const [place, panel] of this.panels.entries()) {
      const host = el("div", { class: "chart", role: "img", "aria-label": `${panel.title} over time` },
        el("h3", {}, panel.title));
      this.element.append(host);
      panel.plot = new uPlot(this.options(panel, place === this.panels.length - 1), this.data(panel), host);
    }
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  get curveless(): number {
    return this.grid.curveless;
  }

  // What each line has at the cursor, by panel.
  readings(): { title: string; readings: Reading[] }[] {
    const { cursor } = this.view, { t } = this.grid;
    if (cursor === null) return [];
    const at = Math.round(((cursor - t[0]) / (t.at(-1)! - t[0])) * (t.length - 1));
    return this.panels.map((panel) => ({ title: panel.title, readings: panel.lines.flatMap((line) => {
      const value = (line.told ?? line.values)(this.grid)[at];
      if (value === null || value === undefined || (line.told && value === 0)) return [];
      return [{ label: line.label, text: panel.text(value), group: line.told && line.label }];
    }) }));
  }

  private describe(known: Known, memory: MemoryScale): Panel[] {
    const { run, theme } = this, ink = () => theme.colours.ink, dim = () => theme.colours.dim;
    const steps = (data: Steps) => (grid: Grid) => sampled(data, grid.t).map((value, i) => (grid.t[i] > run.end ? null : value));
    const line = (label: string, data: Steps, colour: () => string, more: Partial<Line> = {}): Line[] =>
      data.t.length > 0 ? [{ label, colour, values: steps(data), ...more }] : [];
    const blue = () => "#3f8fc4", amber = () => "#c07f00", plum = () => "#b8629a";
    const { system } = run;
    const percent = (counter: (number | null)[]): Steps => {
      const rate = rateOf(system.t, counter);
      return { t: rate.t, value: rate.value.map((value) => Math.min(100, value * 100)) };
    };
    return [
      { title: "Memory", text: bytes, height: memory.height, least: Math.max(memory.top, ...known.line.value) * 1.05, lines: [
        ...this.stack(),
        ...line("in use", known.used, ink, { width: 1 }),
        ...line("line", known.line, () => theme.colours.line, { width: 3 }),
      ], draw: (plot) => this.drawAlarms(plot, known.alarms) },
      { title: "Cores", text: digits, height: 120, least: Math.max(1, ...known.cores.value) * 1.1, lines: [
        { label: "used by jobs", colour: blue, fill: () => "#3f8fc455", values: (grid) => Array.from(grid.jobCores) },
        ...line("machine busy", rateOf(system.t, system.busy), dim),
        ...line("expected of running jobs", known.expected, amber, { dash: [4, 3] }),
        ...line("jobs may use", known.cores, () => theme.colours.line, { width: 2 }),
      ] },
      { title: "Stalled (PSI)", text: (value) => `${digits(value)} %`, height: 90, least: 10, lines: [
        ...line("cpu", percent(system.cpu_stall), blue),
        ...line("memory", percent(system.memory_stall), plum, { width: 2 }),
        ...line("io", percent(system.io_stall), amber, { dash: [4, 3] }),
      ] },
      { title: "Jobs", text: (value) => String(value), height: 110, least: 4, lines: [
        ...line("waiting", known.waiting, amber, { fill: () => "#c07f0033" }),
        ...line("running", known.running, blue, { width: 2 }),
        ...line("paused", known.paused, plum, { width: 2, dash: [4, 3] }),
      ] },
    ];
  }

  // Sums, the whole first, so that each class paints over what is above it.
  private stack(): Line[] {
    const { groups } = this.theme;
    return groups.map((group, place) => ({
      label: className(group),
      colour: () => this.theme.colour(group),
      fill: () => this.theme.pattern(group),
      values: (grid: Grid) => {
        const sums = new Float64Array(grid.t.length);
        for (const below of groups.slice(place)) grid.memory.get(below)?.forEach((value, i) => (sums[i] += value));
        return Array.from(sums);
      },
      told: (grid: Grid) => Array.from(grid.memory.get(group) ?? new Float64Array(grid.t.length)),
    }));
  }

  private options(panel: Panel, isLast: boolean): uPlot.Options {
    const { theme } = this, axis = { stroke: () => theme.colours.dim, font: "11px system-ui, sans-serif",
      grid: { stroke: () => theme.colours.faint, width: 1 }, ticks: { show: false } };
    return {
      width: Math.max(this.element.clientWidth, 1),
      height: panel.height + (isLast ? 26 : 6),
      padding: [6, 1, isLast ? 0 : 6, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, sync: { key: "run" } },
      scales: { x: { time: false, range: () => [this.view.from, this.view.to] },
        y: { range: (_plot, _low, high) => [0, Math.max(high ?? 0, panel.least ?? 0, 1e-9) * 1.02] } },
      axes: [
        isLast ? { ...axis, ...clockAxis, size: 26 } : { ...axis, incrs: clockSteps, size: 0, values: () => [] },
        { ...axis, size: gutter, space: 28, values: (_plot, at) => at.map(panel.text),
          ...(panel.text === bytes && { splits: (_plot: uPlot, _axis: number, low: number, high: number) => byteTicks(low, high) }) },
      ],
      series: [{}, ...panel.lines.map((line): uPlot.Series => ({ label: line.label, stroke: line.colour, fill: line.fill,
        width: line.told ? 0 : line.width ?? 1.25, dash: line.dash, points: { show: false }, spanGaps: true }))],
      hooks: {
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          if (width > 4) this.view.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
          if (width > 0) plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(plot) => {
          if (plot.cursor.event) this.view.point((plot.cursor.left ?? -1) >= 0 ? plot.posToVal(plot.cursor.left!, "x") : null);
        }],
        draw: panel.draw ? [panel.draw] : [],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => this.view.all())],
      },
    };
  }

  // Where memory needed attention.
  private drawAlarms(plot: uPlot, alarms: number[]): void {
    const { ctx: context, bbox } = plot, size = 5 * devicePixelRatio;
    context.save();
    context.fillStyle = this.theme.colours.bad;
    for (const t of alarms) {
      if (t < this.view.from || t > this.view.to) continue;
      const x = plot.valToPos(t, "x", true);
      context.beginPath();
      context.moveTo(x - size, bbox.top);
      context.lineTo(x + size, bbox.top);
      context.lineTo(x, bbox.top + size * 1.4);
      context.fill();
    }
    context.restore();
  }

  private reckon(): void {
    this.grid = gridOf(this.run, this.view.from, this.view.to, points, (cls) => this.theme.groupOf(cls));
  }

  private data(panel: Panel): uPlot.AlignedData {
    return [this.grid.t, ...panel.lines.map((line) => line.values(this.grid))] as uPlot.AlignedData;
  }

  private fill(): void {
    this.reckon();
    for (const panel of this.panels) panel.plot?.setData(this.data(panel));
  }

  private follow(): void {
    const { cursor } = this.view;
    for (const { plot } of this.panels) {
      if (!plot) continue;
      const left = cursor === null ? -10 : plot.valToPos(cursor, "x");
      if (Math.abs((plot.cursor.left ?? -10) - left) > 0.5) plot.setCursor({ left, top: cursor === null ? -10 : 1 }, false);
    }
  }

  private resize(): void {
    const width = this.element.clientWidth;
    for (const { plot } of this.panels) if (plot && plot.width !== width && width > 0) plot.setSize({ width, height: plot.height });
  }

  private rebuild(): void {
    this.resize(); // paper has another width
    for (const { plot } of this.panels) plot?.redraw(false, true);
  }
}

// Steps that a clock has, so that no label is rounded: 10 ms, 20 ms, 50 ms ... 30 s, a minute ...
const powers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => 10 ** (from + i));
const clockSteps = [...powers(-7, 1).flatMap((power) => [1, 2, 5].map((factor) => Number((factor * power).toPrecision(1)))),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1800], ...powers(0, 5).flatMap((power) => [1, 2, 5].map((factor) => factor * power * 3600))];
const labelHalf = 16; // px; a label that would be cut at the end is left out

export const clockAxis: Pick<uPlot.Axis, "incrs" | "values"> = {
  incrs: clockSteps,
  values: (plot, at, _axis, _space, step) =>
    at.map((t) => (plot.valToPos(t, "x") > plot.bbox.width / devicePixelRatio - labelHalf ? null : clock(t, step))),
};

// Even numbers of the unit that bytes() shows.
export function byteTicks(low: number, high: number): number[] {
  const unit = 1024 ** Math.floor(Math.log2(Math.max(high, 1)) / 10);
  const rough = (high - low) / unit / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power * unit;
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) ticks.push(at);
  return ticks;
}
