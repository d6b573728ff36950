// Two runs beside each other, as `plimsoll compare` has them: what changed, and by how much.
import { button, el, section } from "./dom";
import { bytes, count, seconds, share } from "./format";
import type { Change, ClassComparison, Comparison, Run } from "./data";
import { sentence } from "./sections";
import { className } from "./theme";

type Child = Node | string | null;

// The figures of a class; of each, more is worse.
const figures = ["peak", "time", "cpu"] as const;
type Figure = (typeof figures)[number];
const titles: Record<Figure, string> = { peak: "Peak memory", time: "Time", cpu: "CPU time" };
const unit = (figure: Figure) => (figure === "peak" ? bytes : seconds);
export const median = (change: Change, side: "before" | "after"): number | null =>
  change[`${side}_median_bytes`] ?? change[`${side}_median_s`] ?? null;

interface Found {
  cls: string | null; // null: all jobs that are in both
  figure: Figure;
  change: Change;
}

function changesOf({ all, classes }: Comparison): Found[] {
  const of = (cls: string | null, compared: ClassComparison) =>
    figures.flatMap((figure): Found[] => (compared[figure] ? [{ cls, figure, change: compared[figure] }] : []));
  return [...of(null, all), ...classes.flatMap((one) => of(one.class ?? "", one))];
}

const named = (cls: string | null): string => (cls === null ? "all jobs that are in both" : className(cls));
const logOf = (part: number): number => Math.log1p(Math.max(part, -0.999));

// Worse and better have a sign and a word each beside their colour.
function changeText(part: number): HTMLElement {
  const kind = part === 0 ? "same" : part > 0 ? "worse" : "better";
  return el("b", { class: `change ${kind}` }, part === 0 ? "±0" : `${part > 0 ? "▲" : "▼"} ${share(part)}`);
}

// The change as a dot on a scale of ratios, its range as a bar.
function rangeOf({ change_share: part, change_share_low: low, change_share_high: high }: Change, reach: number): HTMLElement {
  const place = (value: number) => `${Math.min(100, Math.max(0, 50 + (50 * logOf(value)) / reach))}%`;
  const dot = el("i", { class: "dot" }), track = el("span", { class: `track ${part > 0 ? "worse" : "better"}` }, el("i", { class: "zero" }));
  dot.style.left = place(part);
  if (low !== undefined && high !== undefined) {
    const bar = el("i", { class: "bar" });
    bar.style.left = place(low);
    bar.style.width = `calc(${place(high)} - ${place(low)})`;
    track.append(bar);
    track.title = `95 %: ${share(low)} to ${share(high)}`;
  }
  track.append(dot);
  return track;
}

function changesList(found: Found[]): HTMLElement {
  const real = found.filter(({ change }) => change.beyond_noise)
    .sort((a, b) => Math.abs(logOf(b.change.change_share)) - Math.abs(logOf(a.change.change_share)));
  const within = found.length - real.length, unsure = found.filter(({ change }) => change.change_share_low === undefined).length;
  const notes = [within > 0 && `${count(within, "figure")} of classes with no change beyond noise.`,
    unsure > 0 && `${count(unsure, "figure rests", "figures rest")} on too few jobs to tell a change from noise.`].filter(Boolean).join(" ");
  const note = el("p", { class: "quiet" }, notes);
  if (real.length === 0) return el("div", {}, el("p", {}, "No figure of a class has changed beyond noise."), note);
  const ends = real.flatMap(({ change }) => [change.change_share, change.change_share_low, change.change_share_high]);
  const reach = Math.max(Math.log(1.1), ...ends.map((end) => Math.abs(logOf(end ?? 0))));
  const row = ({ cls, figure, change }: Found) => el("tr", {},
    el("th", { scope: "row" }, named(cls)), el("td", { class: "of-figure" }, titles[figure]),
    el("td", {}, changeText(change.change_share)), el("td", {}, unit(figure)(median(change, "before"))),
    el("td", {}, unit(figure)(median(change, "after"))), el("td", { class: "of-track" }, rangeOf(change, reach)),
    el("td", {}, String(change.count)), el("td", {}, change.adjusted_p < 0.0001 ? "< 0.0001" : String(Number(change.adjusted_p.toPrecision(2)))));
  const scale = el("span", { class: "scale" }, ...[share(Math.expm1(-reach)), "0", share(Math.expm1(reach))].map((end) => el("span", {}, end)));
  const head = (text: Child, kind = "") => el("th", { scope: "col", class: kind }, text);
  return el("div", {}, el("div", { class: "wide" }, el("table", { class: "changes" },
    el("thead", {}, el("tr", {}, head("Class"), head("Figure", "of-figure"), head("Change"), head("A"), head("B"), head(scale, "of-track"), head("Jobs"), head("P"))),
    el("tbody", {}, ...real.map(row)))), note);
}

function classesTable({ classes, only_before, only_after }: Comparison): HTMLElement {
  const cells = (figure: Figure, change?: Change): HTMLElement[] => {
    if (!change) return [el("td", { class: "first" }, "–"), el("td", {}, "–"), el("td")];
    const { change_share: part } = change;
    return [el("td", { class: "first" }, unit(figure)(median(change, "before"))), el("td", {}, unit(figure)(median(change, "after"))),
      el("td", {}, change.beyond_noise ? changeText(part) : el("span", { class: "quiet", title: "within noise" }, share(part)))];
  };
  const row = (one: ClassComparison) => el("tr", {}, el("th", { scope: "row" }, className(one.class ?? "")),
    el("td", {}, String(one.before_jobs)), el("td", {}, String(one.after_jobs)), ...figures.flatMap((figure) => cells(figure, one[figure])));
  const only = (side: string, names: string[]) => names.length > 0 && el("p", { class: "quiet" }, `Only in ${side}: ${names.map(className).join(", ")}`);
  return el("div", {}, el("div", { class: "wide" }, el("table", { class: "classes beside" },
    el("thead", {},
      el("tr", {}, el("th", { rowspan: 2, scope: "col" }, "Class"), el("th", { colspan: 2, scope: "colgroup" }, "Jobs that succeeded"),
        ...figures.map((figure) => el("th", { colspan: 3, scope: "colgroup" }, `${titles[figure]}, median`))),
      el("tr", {}, ...["A", "B", ...figures.flatMap(() => ["A", "B", "Change"])].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...classes.map(row)))), only("A", only_before), only("B", only_after));
}

const runFigures: [string, string, (value: number | null | undefined) => string][] = [["makespan_s", "makespan", seconds],
  ["used_bytes", "memory used", bytes], ["lost_s", "CPU time lost", seconds], ["failed", "jobs failed", String], ["pauses", "pauses", String], ["evictions", "evictions", String]];

function figuresTable({ run }: Comparison): HTMLElement {
  const value = (text: (of: number | null | undefined) => string, of?: number) => (of === undefined ? "–" : text(of));
  const rows = runFigures.filter(([key]) => run[key]).map(([key, label, text]) => {
    const { before, after } = run[key], known = before !== undefined && after !== undefined;
    return el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, value(text, before)), el("td", {}, value(text, after)),
      el("td", {}, known && before > 0 ? changeText(after / before - 1) : known && after > before ? el("b", { class: "change worse" }, "▲") : ""));
  });
  return el("table", { class: "figures" },
    el("thead", {}, el("tr", {}, ...["The whole run", "A", "B", "Change"].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...rows));
}

export function pairHead(runs: Run[]): HTMLElement {
  const one = (name: string, run: Run) => el("div", {}, el("b", { class: "side" }, name), el("div", {},
    el("h1", {}, run.head.command || run.head.id), el("p", { class: "outcome" }, sentence(run)),
    el("p", { class: "quiet" }, `${run.head.started}, run ${run.head.id}`)));
  return el("header", { class: "head pair" }, el("p", { class: "brand" }, "Plimsoll"),
    el("div", { class: "sides" }, one("A", runs[0]), one("B", runs[1])));
}

export function comparisonOf(comparison: Comparison): HTMLElement[] {
  return [
    section("changes", "Changed beyond noise", changesList(changesOf(comparison)), figuresTable(comparison),
      el("p", { class: "quiet" }, "Figures of the whole run exist once in each run: whether their change is chance can't be told.")),
    section("beside", "Classes beside each other", classesTable(comparison)),
  ];
}

// Chooses which of the two runs is shown below.
export function switchOf(show: (place: number) => void, first: number): { element: HTMLElement; choose: (place: number) => void; chosen: () => number } {
  let chosen = first;
  const choose = (place: number) => {
    chosen = place;
    buttons.forEach((other, i) => other.setAttribute("aria-pressed", String(i === place)));
    show(place);
  };
  const buttons = ["Run A", "Run B"].map((name, place) => button(name, { "aria-pressed": String(place === first) }, () => choose(place)));
  return { element: el("div", { class: "switch", role: "group", "aria-label": "The run shown below" }, ...buttons), choose, chosen: () => chosen };
}
