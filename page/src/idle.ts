// Idle room: when cores idled although jobs waited, and why.
import type { Run } from "./data";
import { gridOf, rateOf, sampled, type Known } from "./series";

export interface Idle {
  start: number;
  end: number;
  cores: number; // that idled, on average
  lost: number; // core-seconds
  cause: string;
}

// Less than this is noise of sampling.
const coresMin = 0.25;
const points = 4000;

export function idleRoom(run: Run, known: Known): Idle[] {
  if (run.end <= 0 || known.cores.t.length === 0) return [];
  const grid = gridOf(run, 0, run.end, points, (cls) => cls);
  const waiting = sampled(known.waiting, grid.t), cores = sampled(known.cores, grid.t);
  const machine = sampled(rateOf(run.system.t, run.system.idle), grid.t);
  const causes = causesAt(run, grid.t);
  const step = run.end / (points - 1);
  const found: Idle[] = [];
  let open: Idle | null = null;
  grid.t.forEach((t, i) => {
    // What others use is not idle.
    const idle = Math.min((cores[i] ?? 0) - grid.jobCores[i], machine[i] ?? Infinity);
    const cause = causes[i];
    if (!((waiting[i] ?? 0) > 0 && idle >= coresMin)) {
      open = null;
      return;
    }
    if (!open || open.cause !== cause.reason) {
      open = { start: t, end: t, cores: 0, lost: 0, cause: cause.reason };
      found.push(open);
    }
    open.end = Math.min(t + step, run.end);
    open.lost += idle * step;
    open.cores = open.lost / (open.end - open.start);
  });
  return found.sort((a, b) => b.lost - a.lost);
}

// Why the first waiting job was not started, at each of `times`. A reason stands until another is
// given; the first wording of reasons that differ in numbers alone stands for all.
function causesAt(run: Run, times: number[]): { reason: string }[] {
  const unknown = { reason: "no reason is recorded: jobs waited for others that they need, or to be looked at" };
  const wordings = new Map<number, { reason: string }>();
  let next = 0, now = unknown;
  return times.map((t) => {
    for (; next < run.events.length && run.events[next].t <= t; next++) {
      const event = run.events[next], { kind, frame } = event;
      if (kind === "admitted") now = unknown;
      if (kind !== "held") continue;
      if (!wordings.has(frame)) wordings.set(frame, { reason: event.reason });
      now = wordings.get(frame)!;
    }
    return now;
  });
}
