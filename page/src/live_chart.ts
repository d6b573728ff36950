// A chart of the last minutes, as long as this page has been open.
import uPlot from "uplot";
import { byteTicks } from "./charts";
import { el } from "./dom";
import { bytes } from "./format";
import type { Status } from "./live";

const shownMost = 600, shownLeast = 60; // s
const gapAfter = 3; // s: nothing is known of the time between

export interface LiveLine {
  label: string;
  colour: string; // a name of the style's
  fill?: boolean;
  width?: number;
  dash?: number[];
  value: (status: Status) => number | undefined;
}

const moment = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export class LiveChart {
  readonly element = el("div", { class: "live-chart" });
  private readonly values: (number | null)[][];
  private readonly texts: HTMLElement[] = [];
  private plot: uPlot | null = null;

  constructor(private readonly title: string, private readonly text: (value: number) => string, private readonly lines: LiveLine[]) {
    this.values = [[], ...lines.map(() => [])];
    const legend = el("ul", { class: "legend" });
    for (const line of lines) {
      const value = el("b", {}, "–"), sign = el("i", { class: "rule" });
      sign.style.borderTop = `${Math.max(2, line.width ?? 2)}px ${line.dash ? "dashed" : "solid"} var(--${line.colour})`;
      this.texts.push(value);
      legend.append(el("li", {}, sign, el("span", {}, `${line.label} `, value)));
    }
    this.element.append(el("h2", {}, title), legend);
    addEventListener("theme", () => this.plot?.redraw(false, true));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot?.redraw(false, true));
    new ResizeObserver(() => this.plot?.setSize({ width: this.width, height: this.height })).observe(this.element);
  }

  add(at: number, status: Status): void {
    const [times] = this.values;
    // A clock that was set back is right now, and was not before.
    const early = times.findIndex((t) => t! >= at);
    if (early >= 0) for (const column of this.values) column.splice(early);
    const before = times.at(-1);
    if (before !== undefined && before !== null && at - before > gapAfter) this.push(before + 0.5, () => null);
    this.push(at, (line) => line.value(status) ?? null);
    const first = times.findIndex((t) => t! >= at - shownMost);
    for (const column of this.values) column.splice(0, first);
    this.lines.forEach((line, i) => {
      const value = line.value(status);
      this.texts[i].textContent = value === undefined ? "–" : this.text(value);
    });
    if (this.plot) this.plot.setData(this.values as uPlot.AlignedData);
    else this.plot = new uPlot(this.options(), this.values as uPlot.AlignedData, this.host());
  }

  private push(at: number, value: (line: LiveLine) => number | null): void {
    this.values[0].push(at);
    this.lines.forEach((line, i) => this.values[i + 1].push(value(line)));
  }

  private host(): HTMLElement {
    const host = el("div", { role: "img", "aria-label": `${this.title} of the last minutes` });
    this.element.append(host);
    return host;
  }

  private get width(): number {
    return Math.max(this.element.clientWidth, 1);
  }

  private readonly height = 170;

  private options(): uPlot.Options {
    const axis = { stroke: () => colourOf("dim"), font: "11px system-ui, sans-serif", ticks: { show: false },
      grid: { stroke: () => colourOf("faint"), width: 1 } };
    return {
      width: this.width, height: this.height, padding: [8, 30, 0, 0], legend: { show: false },
      cursor: { show: false },
      scales: { x: { range: (_plot, low, high) => [Math.min(low, high - shownLeast), high] },
        y: { range: (_plot, _low, high) => [0, Math.max(high ?? 0, 1e-9) * 1.05] } },
      axes: [{ ...axis, size: 26, space: 80, values: (_plot, at) => at.map((t) => moment.format(t * 1000)) }, { ...axis, size: 64, space: 28, values: (_plot, at) => at.map(this.text),
        ...(this.text === bytes && { splits: (_plot: uPlot, _axis: number, low: number, high: number) => byteTicks(low, high) }) }],
      series: [{}, ...this.lines.map((line): uPlot.Series => ({ label: line.label, stroke: () => colourOf(line.colour),
        fill: line.fill ? () => `color-mix(in srgb, ${colourOf(line.colour)} 22%, transparent)` : undefined,
        width: line.width ?? 1.5, dash: line.dash, points: { show: false } }))],
    };
  }
}
