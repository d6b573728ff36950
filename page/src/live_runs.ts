// Runs that the daemon's user has recorded, each with its page.
import { el } from "./dom";
import { bytes, seconds } from "./format";
import { Clock } from "./live";

interface RecordedRun {
  run: string;
  state: "running" | "finished" | "died";
  started_unix_ns: number;
  command_line: string[];
  jobs?: number;
  line_bytes?: number;
  makespan_ns?: number;
  succeeded?: number;
  pauses?: number;
  evictions?: number;
}

const listedAgainAfter = 30_000; // ms

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function line(run: RecordedRun): HTMLTableRowElement {
  const { jobs, succeeded } = run;
  const link = el("a", { href: `runs/${encodeURIComponent(run.run)}`, target: "_blank", rel: "noopener" }, moment.format(run.started_unix_ns / 1e6));
  const failed = jobs !== undefined && succeeded !== undefined ? jobs - succeeded : undefined;
  const count = (value: number | undefined) => (value === undefined ? "–" : String(value));
  return el("tr", {}, el("th", { scope: "row" }, link),
    el("td", {}, run.state === "finished" ? seconds(run.makespan_ns === undefined ? null : run.makespan_ns / 1e9) : run.state),
    el("td", {}, count(jobs)), el("td", { class: failed ? "bad" : "" }, count(failed)), el("td", {}, bytes(run.line_bytes)),
    el("td", {}, count(run.pauses)), el("td", {}, count(run.evictions)),
    el("td", { class: "of-command" }, run.command_line.slice(1).join(" ").slice(0, 300)));
}

export class LiveRuns {
  readonly element = el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Recorded runs" });
  private readonly clock = new Clock();
  private listed = -Infinity;

  // Asks again if it is time; the daemon has just been heard.
  refresh(): void {
    const now = this.clock.now();
    if (now < this.listed + listedAgainAfter) return;
    this.listed = now;
    void this.list();
  }

  private async list(): Promise<void> {
    try {
      const answer = await fetch("runs");
      if (!answer.ok) throw new Error(await answer.text());
      this.show(((await answer.json()) as { runs: RecordedRun[] }).runs);
    } catch (error) {
      this.element.replaceChildren(el("p", { class: "quiet" }, `The recorded runs can't be listed: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  private show(runs: RecordedRun[]): void {
    if (runs.length === 0) {
      return this.element.replaceChildren(el("p", { class: "quiet" }, "No run of the daemon's user is recorded. plimsoll batch and plimsoll govern record theirs."));
    }
    const heads = ["Started", "Took", "Jobs", "Not ok", "Line", "Pauses", "Evictions", "Command"];
    this.element.replaceChildren(el("table", { class: "runs" },
      el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col", class: name === "Command" ? "of-command" : "" }, name)))),
      el("tbody", {}, ...runs.map(line))));
  }
}
