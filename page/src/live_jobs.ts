// The jobs that have begun and are not over. Rows stay while their jobs do, so that text can be selected.
import { button, el } from "./dom";
import { bytes, clock, digits } from "./format";
import type { Job, Status } from "./live";

// More than anybody reads; the filter finds the others.
const rowsMax = 500;

interface Row {
  job: Job;
  io: number | undefined; // bytes a second
}

interface Column {
  id: string;
  name: string;
  key: (row: Row) => number | string | undefined;
  text: (row: Row) => string;
}

const stateText = ({ job }: Row) => (job.paused_for ? `${job.state} (${job.paused_for})` : job.state ?? "");
const age = ({ job }: Row) => (job.ran_ns + job.paused_ns) / 1e9;
const perSecond = (rate: number | undefined) => (rate === undefined ? "" : `${rate > 0 ? "+" : ""}${bytes(rate)}`);
const known = (value: number | undefined, text: (value: number) => string) => (value === undefined ? "" : text(value));

const columns: Column[] = [
  { id: "job", name: "Job", key: ({ job }) => job.job, text: ({ job }) => job.job },
  { id: "state", name: "State", key: stateText, text: stateText },
  { id: "age", name: "Age", key: age, text: (row) => clock(age(row)) },
  { id: "used", name: "Used", key: ({ job }) => job.used_bytes, text: ({ job }) => known(job.used_bytes, bytes) },
  { id: "estimate", name: "Estimate", key: ({ job }) => job.estimate_bytes, text: ({ job }) => known(job.estimate_bytes, bytes) },
  { id: "growth", name: "Growth/s", key: ({ job }) => job.growth_bytes_per_second, text: ({ job }) => perSecond(job.growth_bytes_per_second) },
  { id: "cores", name: "Cores", key: ({ job }) => job.cores, text: ({ job }) => known(job.cores, digits) },
  { id: "io", name: "I/O/s", key: ({ io }) => io, text: ({ io }) => known(io, bytes) },
  { id: "command", name: "Command", key: ({ job }) => job.command, text: ({ job }) => job.command },
];

export class LiveJobs {
  readonly element: HTMLElement;
  private readonly filter = el("input", { type: "search", placeholder: "Filter by name, command or state", "aria-label": "Filter jobs" });
  private readonly count = el("span", { class: "count" });
  private readonly body = el("tbody");
  private readonly heads: HTMLElement[];
  private readonly lines = new Map<string, HTMLTableRowElement>();
  private sort = { column: columns[2], falling: true }; // oldest first
  private rows: Row[] = [];
  private before = { at: 0, io: new Map<string, number>() };

  constructor() {
    this.heads = columns.map((column) => el("th", { scope: "col", class: `of-${column.id}` }, button(column.name, {}, () => {
      const isText = ["job", "state", "command"].includes(column.id);
      this.sort = { column, falling: this.sort.column === column ? !this.sort.falling : !isText };
      this.show();
    })));
    this.filter.addEventListener("input", () => this.show());
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/" && event.target !== this.filter) {
        event.preventDefault();
        this.filter.focus();
      } else if (event.key === "Escape" && event.target === this.filter) {
        this.filter.value = "";
        this.show();
      }
    });
    this.element = el("div", {}, el("div", { class: "tools" }, this.filter, this.count),
      el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Jobs" },
        el("table", { class: "jobs live" }, el("thead", {}, el("tr", {}, ...this.heads)), this.body)));
  }

  heard(status: Status, at: number): void {
    const passed = at - this.before.at, io = new Map<string, number>();
    this.rows = status.running.map((job) => {
      const key = keyOf(job), then = this.before.io.get(key);
      if (job.io_bytes !== undefined) io.set(key, job.io_bytes);
      return { job, io: job.io_bytes !== undefined && then !== undefined && passed > 0 ? Math.max(0, job.io_bytes - then) / passed : undefined };
    });
    this.before = { at, io };
    this.show();
  }

  private show(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean), { column, falling } = this.sort;
    const found = this.rows.filter((row) => {
      const text = `${row.job.job} ${row.job.command} ${stateText(row)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    found.sort((a, b) => compared(column.key(a), column.key(b)) * (falling ? -1 : 1) || a.job.number - b.job.number);
    const shown = found.slice(0, rowsMax);
    this.heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i] === column ? (falling ? "descending" : "ascending") : "none"));
    this.count.textContent = words.length > 0 ? `${found.length} of ${this.rows.length}`
      : found.length > rowsMax ? `the first ${rowsMax} of ${found.length}` : "";
    const lines = shown.map((row) => this.line(row));
    const alive = new Set(this.rows.map(({ job }) => keyOf(job)));
    for (const key of this.lines.keys()) if (!alive.has(key)) this.lines.delete(key);
    if (lines.length === 0) {
      lines.push(el("tr", {}, el("td", { colspan: columns.length, class: "none" }, this.rows.length === 0 ? "No job runs." : "No job matches.")));
    }
    const isSame = lines.length === this.body.children.length && lines.every((line, i) => line === this.body.children[i]);
    if (!isSame) this.body.replaceChildren(...lines);
  }

  private line(row: Row): HTMLTableRowElement {
    const key = keyOf(row.job);
    let line = this.lines.get(key);
    if (!line) {
      line = el("tr", {}, ...columns.map(({ id }) => el("td", { class: `of-${id}` })));
      this.lines.set(key, line);
    }
    line.className = row.job.state ?? "";
    columns.forEach((column, i) => {
      const cell = line.cells[i], text = column.text(row);
      if (cell.textContent !== text) cell.textContent = text;
    });
    const why = row.job.reason ?? "";
    if (line.title !== why) line.title = why;
    return line;
  }
}

const keyOf = (job: Job) => `${job.number}.${job.attempt}`;

// What is not known comes last when falling.
function compared(a: number | string | undefined, b: number | string | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
