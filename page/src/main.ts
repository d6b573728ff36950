// The page: reads the run that the program has put into it, and shows it.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Charts } from "./charts";
import { comparisonOf, pairHead, switchOf } from "./compare";
import { readRun, unpack, type Comparison, type Run } from "./data";
import { button, el, section } from "./dom";
import { clock, count } from "./format";
import { idleRoom } from "./idle";
import { Lanes } from "./lanes";
import { JobPanel } from "./panel";
import { planOf } from "./plan";
import { classesOf, headOf, idleOf, legendOf } from "./sections";
import { knownOf, type Known } from "./series";
import { JobTable } from "./table";
import { className, Theme } from "./theme";
import { themeButton } from "./theme_button";
import { View } from "./view";

const keys: [string, string][] = [["+ −", "zoom"], ["← →", "move the cursor"], ["shift ← →", "move in time"], ["0", "the whole run"],
  ["j k", "next and previous job"], ["/", "search"], ["esc", "close the job"]];

function toolbar(view: View): HTMLElement {
  const range = el("output", { class: "range" });
  const tell = () => {
    const step = view.span / 200;
    range.textContent = `${clock(view.from, step)} – ${clock(view.to, step)}`;
  };
  view.on("range", tell);
  tell();
  return el("div", { class: "tools", role: "toolbar", "aria-label": "Time shown" },
    button("−", { "aria-label": "Zoom out" }, () => view.zoom(2)), button("+", { "aria-label": "Zoom in" }, () => view.zoom(0.5)),
    button("◂", { "aria-label": "Earlier" }, () => view.pan(-0.5)), button("▸", { "aria-label": "Later" }, () => view.pan(0.5)),
    button("Whole run", {}, () => view.all()), range, el("span", { class: "hint" }, "Drag to zoom, double-click for the whole run, ctrl + wheel too"), themeButton());
}

// All values at the cursor.
function readout(view: View, charts: Charts, theme: Theme): HTMLElement {
  const element = el("div", { class: "readout", "aria-live": "polite" });
  const tell = () => {
    if (view.cursor === null) {
      element.replaceChildren(el("span", { class: "quiet" }, "Point at a time to read all values there."));
      return;
    }
    element.replaceChildren(el("b", {}, clock(view.cursor, view.span / 500)), ...charts.readings().map(({ title, readings }) =>
      el("span", { class: "of" }, el("em", {}, title), ...readings.map(({ label, text, group }) => {
        const swatch = group && el("i", { class: "swatch" });
        if (swatch) swatch.style.background = theme.colour(group === className("") ? "" : group);
        return el("span", {}, swatch || null, `${label} `, el("b", {}, text));
      }))));
  };
  view.on("cursor", tell);
  view.on("range", tell);
  tell();
  return element;
}

function listenToKeys(view: View, table: JobTable): void {
  const does: Record<string, () => void> = {
    "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2), "0": () => view.all(),
    j: () => table.step(1), k: () => table.step(-1), "/": () => table.search.focus(), Escape: () => view.select(null),
  };
  addEventListener("keydown", (event) => {
    const isTyping = event.target === table.search;
    if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== "Escape")) return;
    const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (way !== 0 && event.shiftKey) view.pan(way * 0.2);
    else if (way !== 0) view.point((view.cursor ?? (view.from + view.to) / 2) + (way * view.span) / 100);
    else if (does[event.key]) does[event.key]();
    else return;
    event.preventDefault();
  }, { signal: view.signal });
}

function listenToWheel(element: HTMLElement, view: View, lanes: Lanes): void {
  element.addEventListener("wheel", (event) => {
    const left = event.clientX - lanes.canvas.getBoundingClientRect().left;
    if (event.ctrlKey || event.metaKey) view.zoom(1.0015 ** event.deltaY, lanes.timeAt(left));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / element.clientWidth);
    else return;
    event.preventDefault();
  }, { passive: false });
}

// Shows one run in `host`, and what is chosen of it beside the page.
function showRun(run: Run, host: HTMLElement): View {
  const view = new View(run.end), theme = new Theme(run, view), known = knownOf(run);
  const lanes = new Lanes(run, view, theme), charts = new Charts(run, known, view, theme);
  const panel = new JobPanel(view, theme);
  const hasTime = run.end > 0 && run.attempts.length > 0;
  const timeline = section("time", "Over time", ...(hasTime
    ? [toolbar(view), legendOf(theme), lanes.element, charts.element, readout(view, charts, theme)]
    : [el("p", { class: "quiet" }, "No job of this run has started.")]));
  host.replaceChildren(headOf(run), timeline);
  document.body.append(panel.element);
  view.signal.addEventListener("abort", () => panel.close());
  if (hasTime) {
    charts.build();
    if (charts.curveless > 0) {
      timeline.append(el("p", { class: "quiet" }, `The record has no samples of ${count(charts.curveless, "attempt")}: the stack lacks their memory, the line “in use” has it.`));
    }
    lanes.draw();
    new ResizeObserver(() => lanes.draw()).observe(lanes.element);
    listenToWheel(timeline, view, lanes);
  }
  performance.mark("drawn"); // which the tests measure
  // What nobody sees at first may come a little later.
  setTimeout(() => view.signal.aborted || showTables(run, host, { view, theme, known }));
  return view;
}

interface Parts {
  view: View;
  theme: Theme;
  known: Known;
}

// What stands below the timeline.
function showTables(run: Run, host: HTMLElement, { view, theme, known }: Parts): void {
  const table = new JobTable(run, view, theme);
  const choose = (cls: string) => {
    table.search.value = cls;
    table.search.dispatchEvent(new Event("input"));
    table.element.scrollIntoView({ block: "start" });
  };
  host.append(section("classes", "Classes", classesOf(run, theme, choose)),
    section("idle", "Idle room", idleOf(run.attempts.length > 0 ? idleRoom(run, known) : [], view)),
    ...planOf(run).map(({ id, title, content }) => section(id, title, content(theme))),
    section("jobs", count(run.jobs.length, "job"), table.element));
  listenToKeys(view, table);
}

// Two runs: how they compare, and below either of them.
function showPair(runs: Run[], comparison: Comparison, page: HTMLElement): void {
  const host = el("div", { class: "one" });
  let view: View | null = null;
  const choose = (place: number) => {
    view?.close();
    view = showRun(runs[place], host);
  };
  page.replaceChildren(pairHead(runs), ...comparisonOf(comparison), switchOf(choose, 1), host, footer());
  choose(1);
}

const footer = (): HTMLElement =>
  el("footer", {}, ...keys.map(([key, text]) => el("span", {}, el("kbd", {}, key), text)));

const page = document.getElementById("page")!;
try {
  const { runs, comparison } = await unpack(document.getElementById("run")!.textContent ?? "");
  const read = runs.map(readRun), [run] = read;
  document.title = `${read.map(({ head }) => head.command || head.id).join(" | ")} – Plimsoll`;
  if (comparison) {
    showPair(read, comparison, page);
  } else {
    const host = el("div", { class: "one" });
    page.replaceChildren(host, footer());
    showRun(run, host);
  }
} catch (error) {
  page.replaceChildren(el("p", { class: "outcome" }, `The run in this page can't be read: ${String(error)}`));
}
