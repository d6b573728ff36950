// What is shown of the run: which time, where the cursor is, which job. All parts of the page follow
// it; they hear of a change once a frame at most.
import type { Job } from "./data";

export type Change = "range" | "cursor" | "job" | "theme";

export class View {
  from = 0;
  to: number;
  cursor: number | null = null;
  job: Job | null = null;
  private readonly listeners: [Change, () => void][] = [];
  private readonly changed = new Set<Change>();
  private frame = 0;
  private readonly closing = new AbortController();

  constructor(readonly end: number) {
    this.to = end;
  }

  // Ends what listens beyond the view's own elements.
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  close(): void {
    this.closing.abort();
    this.listeners.length = 0;
  }

  on(change: Change, listener: () => void): void {
    this.listeners.push([change, listener]);
  }

  get span(): number {
    return this.to - this.from;
  }

  // Never beyond the run, and never below what the record can tell apart.
  show(from: number, to: number): void {
    const span = Math.min(Math.max(to - from, this.end * 1e-5, 1e-5), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - span);
    this.to = this.from + span;
    this.note("range");
  }

  zoom(factor: number, around = this.cursor ?? (this.from + this.to) / 2): void {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(share: number): void {
    const step = this.span * share;
    const from = Math.min(Math.max(this.from + step, 0), this.end - this.span);
    this.show(from, from + this.span);
  }

  all(): void {
    this.show(0, this.end);
  }

  point(t: number | null): void {
    if (t === this.cursor) return;
    this.cursor = t === null ? null : Math.min(Math.max(t, 0), this.end);
    this.note("cursor");
  }

  select(job: Job | null): void {
    if (job === this.job) return;
    this.job = job;
    this.note("job");
  }

  // Shows what another view shows, whose time is as long.
  like(other: View): void {
    if (other.from !== this.from || other.to !== this.to) this.show(other.from, other.to);
    this.point(other.cursor);
    this.select(other.job);
  }

  note(change: Change): void {
    this.changed.add(change);
    this.frame ||= requestAnimationFrame(() => this.tell());
  }

  // At once: a printer does not wait for a frame.
  tell(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const now = new Set(this.changed);
    this.changed.clear();
    for (const [change, listener] of this.listeners) if (now.has(change)) listener();
  }
}
