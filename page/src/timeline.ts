// What is drawn over time: lanes and charts of one run, or of two below each other, with one zoom and one
// cursor for all of them.
import { allCharts, Charts, gutter, type MemoryScale, type Title } from "./charts";
import { button, el, section } from "./dom";
import { clock, count } from "./format";
import { Lanes } from "./lanes";
import { legendOf } from "./sections";
import type { Run } from "./data";
import type { Known } from "./series";
import { className, type Theme } from "./theme";
import { themeButton } from "./theme_button";
import type { View } from "./view";

export interface Track {
  name: string; // of a run beside another; else empty
  run: Run;
  known: Known;
  lanesHeight: number; // at most; 0: it has no lanes
  titles: Title[];
  memory: MemoryScale;
}

export const wholeOf = (run: Run, known: Known): Track => ({ name: "", run, known, lanesHeight: 460, titles: allCharts, memory: { height: 190, top: 0 } });

// Lanes and memory of both on the same scales, so that a whole screen shows them.
export function besideEachOther(runs: Run[], known: Known[]): Track[] {
  const top = Math.max(...known.flatMap(({ line, used }) => [...line.value, ...used.value]).concat(0));
  return runs.map((run, place) => ({ name: "AB"[place], run, known: known[place], lanesHeight: 180, titles: ["Memory"],
    memory: { height: 130, top } }));
}

// What besideEachOther() leaves out of a run.
export const restOf = (run: Run, known: Known): Track =>
  ({ name: "", run, known, lanesHeight: 0, titles: allCharts.filter((title) => title !== "Memory"), memory: { height: 0, top: 0 } });

interface Drawn {
  track: Track;
  lanes: Lanes | null;
  charts: Charts;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly drawn: Drawn[];

  constructor(id: string, title: string, tracks: Track[], private readonly view: View, theme: Theme) {
    const begun = tracks.filter(({ run }) => run.end > 0 && run.attempts.length > 0);
    this.drawn = begun.map((track) => ({ track,
      lanes: track.lanesHeight > 0 ? new Lanes(track.run, view, theme, track.lanesHeight) : null,
      charts: new Charts(track.run, track.known, view, theme, track.titles, track.memory) }));
    const idle = tracks.filter((track) => !begun.includes(track))
      .map(({ name }) => el("p", { class: "quiet" }, `No job of ${name ? `run ${name}` : "this run"} has started.`));
    const hasLanes = this.drawn.some(({ lanes }) => lanes);
    this.element = section(id, title, ...(this.drawn.length === 0 ? idle : [toolbar(view, tracks.length), hasLanes && legendOf(theme),
      ...this.drawn.flatMap((one) => partOf(one, tracks.length > 1)), ...idle, readout(view, this.drawn, theme)]));
  }

  // Once the element has a width.
  build(): void {
    let curveless = 0;
    for (const { charts, lanes, track } of this.drawn) {
      charts.build();
      if (track.titles.includes("Memory")) curveless += charts.curveless;
      lanes?.draw();
      if (lanes) new ResizeObserver(() => lanes.draw()).observe(lanes.element);
    }
    if (curveless > 0) this.element.append(el("p", { class: "quiet" },
      `${count(curveless, "attempt has", "attempts have")} no samples in the record: the stack lacks their memory, the line “in use” has it.`));
    if (this.drawn.length > 0) this.listenToWheel();
  }

  private listenToWheel(): void {
    const { element, view } = this;
    element.addEventListener("wheel", (event) => {
      const { left, width } = element.getBoundingClientRect();
      const at = view.from + ((event.clientX - left - gutter) / Math.max(width - gutter, 1)) * view.span;
      if (event.ctrlKey || event.metaKey) view.zoom(1.0015 ** event.deltaY, at);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / element.clientWidth);
      else return;
      event.preventDefault();
    }, { passive: false });
  }
}

function partOf({ track, lanes, charts }: Drawn, isNamed: boolean): HTMLElement[] {
  const parts = lanes ? [lanes.element, charts.element] : [charts.element];
  return isNamed ? [el("h3", { class: "of-run" }, el("b", { class: "side" }, track.name), track.run.head.id), ...parts] : parts;
}

function toolbar(view: View, runs: number): HTMLElement {
  const range = el("output", { class: "range" });
  const tell = () => {
    const step = view.span / 200;
    range.textContent = `${clock(view.from, step)} – ${clock(view.to, step)}`;
  };
  view.on("range", tell);
  tell();
  const all = runs > 1 ? "the whole runs" : "the whole run";
  return el("div", { class: "tools", role: "toolbar", "aria-label": "Time shown" },
    button("−", { "aria-label": "Zoom out" }, () => view.zoom(2)), button("+", { "aria-label": "Zoom in" }, () => view.zoom(0.5)),
    button("◂", { "aria-label": "Earlier" }, () => view.pan(-0.5)), button("▸", { "aria-label": "Later" }, () => view.pan(0.5)),
    button(runs > 1 ? "Whole runs" : "Whole run", {}, () => view.all()), range,
    el("span", { class: "hint" }, `Drag to zoom, double-click for ${all}, ctrl + wheel too`), themeButton());
}

// All values at the cursor.
function readout(view: View, drawn: Drawn[], theme: Theme): HTMLElement {
  const element = el("div", { class: "readout", "aria-live": "polite" });
  const valuesOf = ({ charts, track }: Drawn) => charts.readings().map(({ title, readings }) =>
    el("span", { class: "of" }, el("em", {}, track.name ? `${track.name} ${title}` : title), ...readings.map(({ label, text, group }) => {
      const swatch = group && el("i", { class: "swatch" });
      if (swatch) swatch.style.background = theme.colour(group === className("") ? "" : group);
      return el("span", {}, swatch || null, `${label} `, el("b", {}, text));
    })));
  const tell = () => {
    if (view.cursor === null) {
      element.replaceChildren(el("span", { class: "quiet" }, "Point at a time to read all values there."));
      return;
    }
    element.replaceChildren(el("b", {}, clock(view.cursor, view.span / 500)), ...drawn.flatMap(valuesOf));
  };
  view.on("cursor", tell);
  view.on("range", tell);
  tell();
  return element;
}
