// The run as values over time, on a grid of equal steps of any part of it.
import type { Attempt, Run } from "./data";

export interface Steps {
  t: number[];
  value: number[];
}

// What the record has of the run beside the curves, found once.
export interface Known {
  line: Steps;
  used: Steps; // of all jobs together, as decisions saw it
  cores: Steps; // that jobs may use
  expected: Steps; // cores that the running jobs were expected to use
  waiting: Steps;
  running: Steps;
  paused: Steps;
  alarms: number[];
}

export interface Grid {
  t: number[];
  memory: Map<string, Float64Array>; // by group of classes
  jobCores: Float64Array;
  curveless: number; // attempts without a curve, in this part of the run
}

// The value of `steps` at each of `times`, both rising; null before the first.
export function sampled(steps: Steps, times: number[]): (number | null)[] {
  let next = 0;
  return times.map((t) => {
    while (next < steps.t.length && steps.t[next] <= t) next++;
    return next === 0 ? null : steps.value[next - 1];
  });
}

export function knownOf(run: Run): Known {
  const series = (name: string): Steps => collect(run, name);
  const known: Known = { line: series("line_bytes"), used: series("used_bytes"), cores: series("cores"),
    expected: series("cores_predicted"), ...counts(run),
    alarms: run.events.filter((event) => event.kind === "alarm").map((event) => event.t) };
  if (known.line.t.length === 0 && run.head.line_bytes) known.line = { t: [0], value: [run.head.line_bytes] };
  if (known.cores.t.length === 0 && run.head.cores) known.cores = { t: [0], value: [run.head.cores] };
  for (const steps of [known.line, known.cores]) if (steps.t.length > 0) steps.t[0] = 0; // known from the first
  return known;
}

function collect(run: Run, name: string): Steps {
  const steps: Steps = { t: [], value: [] };
  for (const event of run.events) {
    const value = event.number(name);
    if (value === null || value === steps.value.at(-1)) continue;
    steps.t.push(event.t);
    steps.value.push(value);
  }
  return steps;
}

// How many jobs wait, run and are paused, by the events.
function counts(run: Run): { waiting: Steps; running: Steps; paused: Steps } {
  type State = "waiting" | "running" | "paused" | "none";
  const next: Record<string, State> = { queued: "waiting", requeued: "waiting", started: "running", frozen: "paused",
    thawed: "running", ended: "none" };
  const states = new Map<object, State>();
  const now = { waiting: 0, running: 0, paused: 0, none: 0 };
  const steps = { waiting: { t: [0], value: [0] }, running: { t: [0], value: [0] }, paused: { t: [0], value: [0] } };
  for (const { t, kind, job } of run.events) {
    const to = next[kind], from = job && (states.get(job) ?? "none");
    if (!job || !to || !from || to === from) continue;
    states.set(job, to);
    now[from]--;
    now[to]++;
    for (const state of [from, to]) {
      if (state === "none") continue;
      steps[state].t.push(t);
      steps[state].value.push(now[state]);
    }
  }
  return steps;
}

const hasCurve = (attempt: Attempt): boolean =>
  attempt === attempt.job.attempts.at(-1) && attempt.job.curve.t.length > 0;

// The cost is that of the curves in this part of the run, so each zoom reckons anew, and shows all.
export function gridOf(run: Run, from: number, to: number, points: number, groupOf: (cls: string) => string): Grid {
  const step = (to - from) / (points - 1);
  const t = Array.from({ length: points }, (_, i) => from + i * step);
  const grid: Grid = { t, memory: new Map(), jobCores: new Float64Array(points), curveless: 0 };
  for (const attempt of run.attempts) {
    if (attempt.start > to) break;
    if (attempt.end < from) continue;
    if (!hasCurve(attempt)) {
      grid.curveless++;
      addMeanCores(grid, attempt, from, step);
      continue;
    }
    const group = groupOf(attempt.job.cls);
    let sums = grid.memory.get(group);
    if (!sums) grid.memory.set(group, (sums = new Float64Array(points)));
    addMemory(sums, attempt, from, step);
    addCores(grid.jobCores, attempt, from, step);
  }
  return grid;
}

// Between samples a straight line; a peak between two grid points counts for the nearer.
function addMemory(sums: Float64Array, attempt: Attempt, from: number, step: number): void {
  const { t, used } = attempt.job.curve, last = sums.length - 1;
  const first = Math.max(0, Math.ceil((attempt.start - from) / step)), end = Math.min(last, Math.floor((attempt.end - from) / step));
  let place = 0;
  for (let i = first; i <= end; i++) {
    const at = from + i * step;
    while (place < t.length && t[place] < at) place++;
    const before = place > 0 ? used[place - 1] ?? 0 : 0, after = place < t.length ? used[place] ?? 0 : before;
    const width = place > 0 && place < t.length ? t[place] - t[place - 1] : 0;
    let value = width > 0 ? before + ((after - before) * (at - t[place - 1])) / width : after;
    for (let near = place - 1; near >= 0 && t[near] > at - step / 2; near--) value = Math.max(value, used[near] ?? 0);
    for (let near = place; near < t.length && t[near] < at + step / 2; near++) value = Math.max(value, used[near] ?? 0);
    sums[i] += value;
  }
}

function addCores(sums: Float64Array, attempt: Attempt, from: number, step: number): void {
  const { t, cpu } = attempt.job.curve;
  let at = attempt.start, total = 0;
  for (let i = 0; i < t.length; i++) {
    const now = cpu[i];
    if (now === null || t[i] <= at) continue;
    spread(sums, at, t[i], (now - total) / (t[i] - at), from, step);
    at = t[i];
    total = now;
  }
  if (attempt.cpu !== null && attempt.end > at) {
    spread(sums, at, attempt.end, Math.max(0, attempt.cpu - total) / (attempt.end - at), from, step);
  }
}

function addMeanCores(grid: Grid, attempt: Attempt, from: number, step: number): void {
  if (attempt.cpu === null || attempt.end <= attempt.start) return;
  spread(grid.jobCores, attempt.start, attempt.end, attempt.cpu / (attempt.end - attempt.start), from, step);
}

// Adds a rate that held from `begin` to `end` to the cells around the grid points, each by its part.
function spread(sums: Float64Array, begin: number, end: number, rate: number, from: number, step: number): void {
  if (rate <= 0) return;
  const first = Math.max(0, Math.round((begin - from) / step)), last = Math.min(sums.length - 1, Math.round((end - from) / step));
  for (let i = first; i <= last; i++) {
    const low = from + (i - 0.5) * step;
    const part = (Math.min(end, low + step) - Math.max(begin, low)) / step;
    if (part > 0) sums[i] += rate * part;
  }
}

// A counter's rise for each second, as steps.
export function rateOf(times: number[], counter: (number | null)[]): Steps {
  const steps: Steps = { t: [], value: [] };
  for (let i = 1; i < times.length; i++) {
    const a = counter[i - 1], b = counter[i], width = times[i] - times[i - 1];
    if (a === null || b === null || width <= 0) continue;
    steps.t.push(times[i - 1]);
    steps.value.push((b - a) / width);
  }
  if (steps.t.length > 0) {
    steps.t.push(times.at(-1)!);
    steps.value.push(steps.value.at(-1)!);
  }
  return steps;
}
