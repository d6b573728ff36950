// The page: reads the run that the program has put into it, and shows it.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { comparisonOf, pairHead, switchOf } from "./compare";
import { readRun, unpack, type Comparison, type Run } from "./data";
import { el, section } from "./dom";
import { count } from "./format";
import { idleRoom } from "./idle";
import { JobPanel } from "./panel";
import { planOf } from "./plan";
import { classesOf, headOf, idleOf } from "./sections";
import { knownOf, type Known } from "./series";
import { JobTable } from "./table";
import { Theme } from "./theme";
import { besideEachOther, restOf, Timeline, wholeOf } from "./timeline";
import { View } from "./view";

const keys: [string, string][] = [["+ −", "zoom"], ["← →", "move the cursor"], ["shift ← →", "move in time"], ["0", "the whole run"],
  ["j k", "next and previous job"], ["/", "search"], ["esc", "close the job"]];

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

// A run whose timeline is drawn, and the parts of the page that follow it.
interface Shown {
  run: Run;
  known: Known;
  view: View;
  theme: Theme;
}

// Shows one run in `host`, and what is chosen of it beside the page.
function showRun({ run, known, view, theme }: Shown, timeline: Timeline, host: HTMLElement): void {
  const panel = new JobPanel(view, theme);
  host.replaceChildren(headOf(run), timeline.element);
  document.body.append(panel.element);
  view.signal.addEventListener("abort", () => panel.close());
  timeline.build();
  performance.mark("drawn"); // which the tests measure
  // What nobody sees at first may come a little later.
  setTimeout(() => view.signal.aborted || showTables({ run, known, view, theme }, host));
}

// What stands below the timeline.
function showTables({ run, known, view, theme }: Shown, host: HTMLElement): void {
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

function showOne(run: Run, page: HTMLElement): void {
  const host = el("div", { class: "one" }), view = new View(run.end), theme = new Theme([run], view), known = knownOf(run);
  page.replaceChildren(host, footer());
  showRun({ run, known, view, theme }, new Timeline("time", "Over time", [wholeOf(run, known)], view, theme), host);
}

// Two runs: how they compare, both on one time axis, and below either of them. All that is shown of
// either follows the same zoom and cursor; a bar that is clicked shows the run that it is of.
function showPair(runs: Run[], comparison: Comparison, page: HTMLElement): void {
  const host = el("div", { class: "one" }), known = runs.map(knownOf);
  const both = new View(Math.max(...runs.map(({ end }) => end))), theme = new Theme(runs, both);
  const beside = new Timeline("both", "Both runs over time", besideEachOther(runs, known), both, theme);
  let one: View | null = null;
  const has = (run: Run) => !both.job || run.jobs[both.job.index] === both.job;
  const show = (place: number) => {
    const run = runs[place], view = new View(both.end);
    one?.close();
    one = view;
    if (!has(run)) both.select(null);
    const title = `Run ${"AB"[place]} over time: cores, stalls and jobs`;
    showRun({ run, known: known[place], view, theme }, new Timeline("time", title, [restOf(run, known[place])], view, theme), host);
    for (const change of ["range", "cursor", "job"] as const) view.on(change, () => both.like(view));
    view.like(both);
  };
  const choice = switchOf(show, 1);
  page.replaceChildren(pairHead(runs), ...comparisonOf(comparison), beside.element, choice.element, host, footer());
  beside.build();
  choice.choose(1);
  for (const change of ["range", "cursor"] as const) both.on(change, () => one?.like(both));
  both.on("theme", () => one?.note("theme"));
  both.on("job", () => {
    const { job } = both, place = runs.findIndex(has);
    if (job && place !== choice.chosen()) choice.choose(place);
    both.select(job);
    one?.like(both);
  });
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
    showOne(run, page);
  }
} catch (error) {
  page.replaceChildren(el("p", { class: "outcome" }, `The run in this page can't be read: ${String(error)}`));
}
