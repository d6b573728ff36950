// All jobs as a table, of which only the rows in sight are elements.
import { bytes, seconds } from "./format";
import { el } from "./dom";
import { estimateOf, succeeded, type Job, type Run } from "./data";
import { className, type Theme } from "./theme";
import type { View } from "./view";

const rowHeight = 28, rowsAround = 8, rowsPrinted = 400;

interface Row {
  job: Job;
  start: number | null;
  wall: number | null;
  peak: number | null;
  estimate: number | null;
  cpu: number | null;
  text: string; // that is searched
}

interface Column {
  name: string;
  id: string;
  key: (row: Row) => number | string | null;
  text: (row: Row) => string;
}

const columns: Column[] = [
  { name: "Job", id: "job", key: (row) => row.job.number ?? row.job.id, text: (row) => row.job.id },
  { name: "Class", id: "class", key: (row) => row.job.cls, text: (row) => className(row.job.cls) },
  { name: "Outcome", id: "outcome", key: (row) => outcomeText(row.job), text: (row) => outcomeText(row.job) },
  { name: "Start", id: "start", key: (row) => row.start, text: (row) => seconds(row.start) },
  { name: "Time", id: "wall", key: (row) => row.wall, text: (row) => seconds(row.wall) },
  { name: "Waited", id: "held", key: (row) => row.job.held, text: (row) => seconds(row.job.held) },
  { name: "Paused", id: "paused", key: (row) => row.job.paused, text: (row) => (row.job.paused ? seconds(row.job.paused) : "") },
  { name: "CPU", id: "cpu", key: (row) => row.cpu, text: (row) => seconds(row.cpu) },
  { name: "Peak", id: "peak", key: (row) => row.peak, text: (row) => bytes(row.peak) },
  { name: "Expected", id: "estimate", key: (row) => row.estimate, text: (row) => bytes(row.estimate) },
  { name: "Command", id: "command", key: (row) => row.job.command, text: (row) => row.job.command },
];

export function outcomeText(job: Job): string {
  if (job.outcome === "") return job.attempts.length > 0 ? "running" : "waiting";
  if (job.outcome === "exited") return job.status === 0 ? "ok" : `exit ${job.status}`;
  if (job.outcome === "signalled") return `signal ${job.status ?? ""}`.trim();
  return job.outcome.replaceAll("_", " ");
}

export class JobTable {
  readonly element: HTMLElement;
  readonly search = el("input", { type: "search", placeholder: "Search jobs, classes, outcomes, commands",
    "aria-label": "Search jobs", spellcheck: "false" });
  private readonly rows: Row[];
  private shown: Row[];
  private sort = { column: columns[0], falling: false };
  private readonly body = el("tbody");
  private readonly scroller: HTMLElement;
  private readonly count = el("span", { class: "count", role: "status" });
  private readonly heads: HTMLTableCellElement[];
  private printing = false;

  constructor(run: Run, private readonly view: View, private readonly theme: Theme) {
    this.rows = run.jobs.map((job) => {
      const last = job.attempts.at(-1);
      return { job, start: job.attempts[0]?.start ?? null, wall: last ? last.end - last.start : null,
        peak: last?.peak ?? null, cpu: last?.cpu ?? null, estimate: last ? estimateOf(last) : null,
        text: `${job.id} ${job.cls} ${outcomeText(job)} ${job.command}`.toLowerCase() };
    });
    this.shown = this.rows;
    this.heads = columns.map((column) => this.head(column));
    const table = el("table", { class: "jobs" }, el("thead", {}, el("tr", {}, ...this.heads)), this.body);
    table.setAttribute("aria-rowcount", String(run.jobs.length + 1));
    this.scroller = el("div", { class: "scroller", tabindex: 0, "aria-label": "Jobs; arrow keys choose one" }, table);
    this.element = el("div", {}, el("div", { class: "tools" }, this.search, this.count), this.scroller);
    this.listen();
    this.order();
  }

  // The next of those shown, or the one before.
  step(by: 1 | -1): void {
    const at = this.shown.findIndex((row) => row.job === this.view.job);
    const next = this.shown[at < 0 ? (by > 0 ? 0 : this.shown.length - 1) : at + by];
    if (!next) return;
    this.view.select(next.job);
    this.reveal(next);
  }

  private reveal(row: Row): void {
    const top = this.shown.indexOf(row) * rowHeight, { scroller } = this;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const room = scroller.clientHeight - rowHeight * 2;
    if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
  }

  private head(column: Column): HTMLTableCellElement {
    const press = el("button", { type: "button" }, column.name);
    press.addEventListener("click", () => {
      const again = this.sort.column === column;
      const isNumber = typeof column.key(this.rows[0]) === "number" && column.id !== "job" && column.id !== "start";
      this.sort = { column, falling: again ? !this.sort.falling : isNumber };
      this.order();
    });
    return el("th", { scope: "col", class: `of-${column.id}` }, press);
  }

  private listen(): void {
    const { scroller, view } = this;
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    scroller.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      this.step(event.key === "ArrowDown" ? 1 : -1);
    });
    this.search.addEventListener("input", () => this.order());
    view.on("job", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(scroller);
    for (const [event, printing] of [["beforeprint", true], ["afterprint", false]] as const) {
      addEventListener(event, () => {
        this.printing = printing;
        this.draw();
      }, { signal: view.signal });
    }
  }

  private order(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { column, falling } = this.sort;
    this.shown = this.rows.filter((row) => words.every((word) => row.text.includes(word)));
    this.shown.sort((a, b) => compared(column.key(a), column.key(b)) * (falling ? -1 : 1) || a.job.index - b.job.index);
    this.heads.forEach((head, i) => head.setAttribute("aria-sort",
      columns[i] === column ? (falling ? "descending" : "ascending") : "none"));
    this.count.textContent = words.length > 0 ? `${this.shown.length} of ${this.rows.length}` : "";
    this.scroller.scrollTop = 0;
    this.draw();
  }

  private draw(): void {
    const { scroller } = this;
    const first = this.printing ? 0 : Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - rowsAround);
    const room = this.printing ? rowsPrinted : Math.ceil(Math.max(scroller.clientHeight, rowHeight) / rowHeight) + 2 * rowsAround;
    const last = Math.min(this.shown.length, first + room);
    const space = (rows: number) => el("tr", { class: "space", "aria-hidden": "true", "data-rows": rows },
      el("td", { colspan: columns.length }));
    const top = space(first), bottom = space(this.printing ? 0 : this.shown.length - last);
    top.style.height = `${first * rowHeight}px`;
    bottom.style.height = `${(this.printing ? 0 : this.shown.length - last) * rowHeight}px`;
    const rows = this.shown.slice(first, last).map((row, i) => this.row(row, first + i));
    const none = this.shown.length === 0 && el("tr", {}, el("td", { colspan: columns.length, class: "none" },
      this.rows.length === 0 ? "No job of this run is recorded." : "No job matches."));
    this.body.replaceChildren(top, ...rows, ...(none ? [none] : []), bottom);
  }

  private row(row: Row, place: number): HTMLTableRowElement {
    const { job } = row;
    const isBad = job.outcome !== "" && !succeeded(job);
    const line = el("tr", { class: isBad ? "bad" : "", "aria-rowindex": place + 2,
      "aria-selected": String(job === this.view.job) });
    for (const column of columns) {
      const cell = el("td", { class: `of-${column.id}` });
      if (column.id === "class") {
        const swatch = el("i", { class: "swatch" });
        swatch.style.background = this.theme.colour(job.cls);
        cell.append(swatch);
      }
      if (column.id === "outcome" && isBad) cell.append(el("b", { "aria-hidden": "true" }, "✕ "));
      cell.append(column.text(row).slice(0, 300));
      line.append(cell);
    }
    line.addEventListener("click", () => this.view.select(job));
    return line;
  }
}

// What is not known comes last when rising.
function compared(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
