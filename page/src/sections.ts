// The parts of the page that are text: head, legend, classes, idle room.
import { button, el } from "./dom";
import { bytes, clock, count, digits, seconds } from "./format";
import { estimateOf, succeeded, type Attempt, type Job, type Run } from "./data";
import type { Idle } from "./idle";
import { className, otherClasses, type Theme } from "./theme";
import type { View } from "./view";

// The run in one sentence.
export function sentence({ head, jobs, end }: Run): string {
  if (head.state !== "finished") {
    const ended = jobs.filter((job) => job.outcome !== "").length;
    const state = head.state === "died" ? "died" : "is still running";
    return `The run ${state}: ${ended} of ${count(head.jobs, "job")} had ended after ${seconds(end)}.`;
  }
  const parts = [head.outcomes_text && head.outcomes_text !== "-" ? head.outcomes_text : "none of them started"];
  if (head.pauses) parts.push(count(head.pauses, "pause"));
  if (head.evictions) parts.push(count(head.evictions, "eviction"));
  if (head.oom_kills !== undefined) parts.push(`${head.oom_kills || "none"} killed by the kernel`);
  if (head.jobs === 0) return "No job was run.";
  return `${count(head.jobs, "job")} in ${seconds((head.makespan_ns ?? head.end_ns) / 1e9)}: ${parts.join(", ")}.`;
}

export function headOf(run: Run): HTMLElement {
  const { head } = run, facts: [string, string][] = [["started", head.started]];
  const { host } = head;
  if (host?.name) facts.push(["host", `${host.name}${host.cpus ? `, ${count(host.cpus, "core")}` : ""}${host.memory_bytes ? `, ${bytes(host.memory_bytes)}` : ""}`]);
  if (host?.kernel) facts.push(["kernel", `${host.kernel}${host.hierarchy ? `, ${host.hierarchy === "process" ? "no cgroups" : `cgroup ${host.hierarchy}`}` : ""}`]);
  if (head.line_bytes) facts.push(["line", `${bytes(head.line_bytes)}${head.used_peak_bytes ? `, used at most ${bytes(head.used_peak_bytes)}` : ""}`]);
  if (head.cpu_usage_ns !== undefined) facts.push(["CPU time", `${seconds(head.cpu_usage_ns / 1e9)}${head.lost_cpu_ns ? `, ${seconds(head.lost_cpu_ns / 1e9)} of it lost` : ""}`]);
  if (head.cores_of_others !== undefined) facts.push(["other programs", `${digits(head.cores_of_others)} of ${head.cores_of_machine ?? "?"} cores`]);
  facts.push(["run", head.id]);
  const outcomes = run.jobs.some((job) => job.outcome !== "" && !succeeded(job));
  return el("header", { class: "head" },
    el("p", { class: "brand" }, "Plimsoll"),
    el("h1", {}, head.command || head.id),
    el("p", { class: outcomes ? "outcome some-failed" : "outcome" }, sentence(run)),
    head.left_out ? el("p", { class: "quiet" }, `The record is incomplete: ${count(head.left_out, "event or report", "events and reports")} missing.`) : null,
    el("dl", { class: "facts" }, ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
}

export function legendOf(theme: Theme): HTMLElement {
  const swatch = (group: string) => {
    const canvas = el("canvas", { class: "swatch", width: 28, height: 28, "aria-hidden": "true" });
    const draw = () => {
      const context = canvas.getContext("2d")!;
      context.fillStyle = theme.pattern(group);
      context.fillRect(0, 0, 28, 28);
    };
    draw();
    return canvas;
  };
  const sign = (kind: string, text: string) => el("li", {}, el("i", { class: `sign ${kind}`, "aria-hidden": "true" }), text);
  return el("ul", { class: "legend", "aria-label": "Legend" },
    ...theme.groups.map((group) => el("li", {}, swatch(group), group === otherClasses ? group : className(group))),
    sign("paused", "paused"), sign("evicted", "evicted"), sign("failed", "failed"), sign("alarm", "memory needed attention"));
}

interface ClassRow {
  name: string;
  jobs: Job[];
  last: Attempt[];
  wrong: number;
}

const quantile = (values: number[], part: number): number | null =>
  values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(part * values.length) - 1)];

function known(values: (number | null | undefined)[]): number[] {
  return values.filter((value): value is number => value !== null && value !== undefined);
}

export function classesOf(run: Run, theme: Theme, choose: (cls: string) => void): HTMLElement {
  if (run.jobs.length === 0) return el("p", { class: "quiet" }, "No job of this run is recorded.");
  const rows = new Map<string, ClassRow>();
  for (const job of run.jobs) {
    const row = rows.get(job.cls) ?? { name: job.cls, jobs: [], last: [], wrong: 0 };
    rows.set(job.cls, row);
    row.jobs.push(job);
    if (job.outcome !== "" && !succeeded(job)) row.wrong++;
    if (job.attempts.length > 0) row.last.push(job.attempts.at(-1)!);
  }
  const sum = (row: ClassRow, of: (job: Job) => number | null) => known(row.jobs.map(of)).reduce((a, b) => a + b, 0);
  const weight = (row: ClassRow) => row.last.reduce((a, one) => a + (one.peak ?? 0) * (one.end - one.start), 0);
  const heads = ["Class", "Jobs", "Not ok", "Time p50", "p95", "Peak p50", "p95", "max", "Expected p50", "Unused p50", "Waited", "Paused", "CPU"];
  const line = (row: ClassRow) => {
    const peaks = known(row.last.map((one) => one.peak)), walls = row.last.map((one) => one.end - one.start);
    const swatch = el("i", { class: "swatch" });
    swatch.style.background = theme.colour(row.name);
    const unused = known(row.last.map((one) => {
      const estimate = estimateOf(one);
      return estimate === null || one.peak === null ? null : estimate - one.peak;
    }));
    const cells = [String(row.jobs.length), row.wrong ? String(row.wrong) : "", seconds(quantile(walls, 0.5)), seconds(quantile(walls, 0.95)),
      bytes(quantile(peaks, 0.5)), bytes(quantile(peaks, 0.95)), bytes(quantile(peaks, 1)),
      bytes(quantile(known(row.last.map((one) => estimateOf(one))), 0.5)), bytes(quantile(unused, 0.5)),
      seconds(sum(row, (job) => job.held)), seconds(sum(row, (job) => job.paused)),
      seconds(row.jobs.flatMap((job) => job.attempts).reduce((a, one) => a + (one.cpu ?? 0), 0))];
    return el("tr", {}, el("th", { scope: "row" }, swatch, button(className(row.name), { title: "Show the jobs of this class" }, () => choose(row.name))),
      ...cells.map((text) => el("td", {}, text)));
  };
  return el("div", { class: "wide" }, el("table", { class: "classes" },
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...[...rows.values()].sort((a, b) => weight(b) - weight(a)).slice(0, 200).map(line))));
}

const stretchesMax = 15;

export function idleOf(idle: Idle[], view: View): HTMLElement {
  if (idle.length === 0) return el("p", { class: "quiet" }, "No core idled while jobs waited.");
  const causes = new Map<string, { lost: number; times: number }>();
  for (const { cause, lost } of idle) {
    const sum = causes.get(cause) ?? { lost: 0, times: 0 };
    causes.set(cause, { lost: sum.lost + lost, times: sum.times + 1 });
  }
  const all = idle.reduce((sum, { lost }) => sum + lost, 0);
  const list = el("ul", { class: "causes" }, ...[...causes].sort((a, b) => b[1].lost - a[1].lost).slice(0, 6).map(([cause, { lost, times }]) => {
    const bar = el("i", { "aria-hidden": "true" });
    bar.style.width = `${(lost / all) * 100}%`;
    return el("li", {}, el("span", { class: "amount" }, `${seconds(lost)} × core`), el("span", { class: "bar" }, bar),
      el("span", {}, `${cause} `, el("span", { class: "quiet" }, times > 1 ? `(and alike; ${times} stretches)` : "")));
  }));
  const row = (one: Idle) => el("tr", {},
    el("td", {}, button(clock(one.start, view.end / 1000), { title: "Show this time" }, () => view.show(one.start - (one.end - one.start) / 2, one.end + (one.end - one.start) / 2))),
    el("td", {}, seconds(one.end - one.start)), el("td", {}, digits(one.cores)), el("td", {}, `${seconds(one.lost)}`), el("td", { class: "of-cause" }, one.cause));
  return el("div", {}, el("p", {}, `${seconds(all)} of core time was idle while jobs waited.`), list,
    el("div", { class: "wide" }, el("table", { class: "idle" },
      el("thead", {}, el("tr", {}, ...["At", "For", "Idle cores", "Core time", "Why the next job waited"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...idle.slice(0, stretchesMax).map(row)))),
    idle.length > stretchesMax && el("p", { class: "quiet" }, `and ${idle.length - stretchesMax} shorter ones`));
}
