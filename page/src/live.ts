// The daemon as it goes on: what it tells (docs/formats/control.md, "Progress"), and how old that is.
import { type Found, Identity } from "./identity";

export interface Job {
  number: number;
  job: string;
  command: string;
  state: "running" | "paused" | "waiting" | null;
  attempt: number;
  ran_ns: number;
  paused_ns: number;
  used_bytes?: number;
  cores?: number;
  estimate_bytes?: number;
  growth_bytes_per_second?: number;
  io_bytes?: number;
  paused_for?: "memory" | "cores" | "user" | null;
  reason?: string;
}

export interface Status {
  elapsed_ns: number;
  jobs: { running: number; paused: number; waiting: number };
  line_bytes?: number;
  used_bytes: number;
  estimate_bytes?: number;
  used_peak_bytes: number;
  cores: number;
  cores_used: number;
  cores_wanted?: number;
  cores_of_others?: number;
  stall?: { cpu_some?: number; memory_full?: number; io_full?: number };
  jobs_max: number;
  pauses: number;
  evictions: number;
  holding?: { job: string; reason: string };
  others?: { runs: number; jobs: number; used_bytes: number; cores_used: number };
  running: Job[];
}

export interface Listener {
  heard(status: Status): void;
  // Each second: ms since the daemon was heard last; null: not yet. And who answered when it was looked for.
  age(silence: number | null, found: Found): void;
}

// A second passes between two events: what is older than this is told to be old.
export const oldAfter = 4000; // ms
// As long as a connection may be silent, or an answer may take; then the daemon is looked for. It is at once
// that a laptop finds itself so late that has slept.
const patience = 8000; // ms

// Milliseconds by the clock that goes on while a laptop sleeps, but never back.
export class Clock {
  private passed = 0;
  private seen = Date.now();

  now(): number {
    const seen = Date.now();
    this.passed += Math.max(seen - this.seen, 0);
    this.seen = seen;
    return this.passed;
  }
}

export class Feed {
  private readonly identity = new Identity();
  private readonly clock = new Clock();
  private source: EventSource | null = null;
  private opened = 0;
  private last: number | null = null;
  private found: Found = "daemon";
  private isLooking = false;

  constructor(private readonly listener: Listener) {
    this.open();
    setInterval(() => this.look(), 1000);
    for (const event of ["online", "pageshow"]) addEventListener(event, () => this.look());
    document.addEventListener("visibilitychange", () => this.look());
  }

  private open(): void {
    this.opened = this.clock.now();
    const source = new EventSource("events");
    this.source = source;
    source.addEventListener("message", ({ data }) => {
      const { kind, status } = JSON.parse(data) as { kind: string; status?: Status };
      if (kind !== "status" || !status) return;
      this.last = this.clock.now();
      this.listener.heard(status);
      this.listener.age(0, "daemon");
      void this.identity.learn().catch(() => undefined); // with the next event, then
    });
    // A browser would come again by itself, and tell the address to whoever is there.
    source.addEventListener("error", () => source === this.source && this.close());
  }

  private close(): void {
    this.source?.close();
    this.source = null;
  }

  private look(): void {
    const now = this.clock.now(), silence = this.last === null ? null : now - this.last;
    this.listener.age(silence, this.found);
    if (this.source && now - Math.max(this.last ?? 0, this.opened) < patience) return;
    this.close();
    void this.find();
  }

  private async find(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    this.found = await this.identity.find(patience);
    this.isLooking = false;
    if (this.found === "daemon") this.open();
  }
}
