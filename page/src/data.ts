// The runs, as src/page/document.cc of the program has written it: `plimsoll.page/1`. Times become
// seconds since the run's start, memory bytes. What was not recorded is null.

export interface NumberName {
  name: string;
  label: string;
  meaning?: string;
}

// What the texts of all events are made of.
interface EventTexts {
  frames: string[];
  words: string[];
  values: string[];
}

// The names of an event's numbers, and where each of them stands.
interface NumberList {
  names: NumberName[];
  places: Map<string, number>;
}

// There are many more events than are ever read: their texts are made when they are.
export class RunEvent {
  constructor(readonly t: number, readonly kind: string, readonly job: Job | null,
    readonly frame: number, // reasons with the same frame differ in their numbers alone
    private readonly texts: EventTexts, private readonly word: number,
    private readonly list: NumberList, private readonly value: number) {}

  get reason(): string {
    let word = this.word;
    return this.texts.frames[this.frame].replace(/\n/g, () => this.texts.words[word++]);
  }

  get numbers(): [NumberName, number][] {
    return this.list.names.map((name, i) => [name, Number(this.texts.values[this.value + i])]);
  }

  number(name: string): number | null {
    const place = this.list.places.get(name);
    return place === undefined ? null : Number(this.texts.values[this.value + place]);
  }
}

export interface Pause {
  start: number;
  end: number;
  reason: string;
}

export interface Attempt {
  job: Job;
  index: number; // from 0
  outcome: string; // empty: it has not ended
  start: number;
  end: number; // of one that has not ended: the last that is known of the run
  cpu: number | null;
  peak: number | null;
  pauses: Pause[];
  lane: number;
  isBad: boolean; // it failed, was ended, or was evicted
}

export interface Curve {
  t: number[]; // since the run's start
  used: (number | null)[];
  cpu: (number | null)[]; // seconds in all
}

export interface Job {
  index: number;
  id: string;
  number: number | null;
  cls: string;
  command: string;
  stdout: string; // the file that it is in; empty: in none that is known
  stderr: string;
  outcome: string;
  status: number | string | null; // exit code, or name of the signal
  reason: string;
  held: number | null;
  paused: number | null;
  limit: number | null;
  attempts: Attempt[];
  curve: Curve; // of the last attempt
  events: RunEvent[];
}

export interface System {
  t: number[];
  busy: (number | null)[];
  idle: (number | null)[];
  cpu_stall: (number | null)[];
  memory_stall: (number | null)[];
  io_stall: (number | null)[];
}

export interface RunHead {
  id: string;
  state: string;
  command: string;
  started: string;
  jobs: number;
  end_ns: number;
  line_bytes?: number;
  cores?: number;
  cores_of_others?: number;
  cores_of_machine?: number;
  oom_kills?: number;
  cpu_usage_ns?: number;
  makespan_ns?: number;
  outcomes_text?: string;
  holds?: number;
  pauses?: number;
  evictions?: number;
  succeeded?: number;
  lost_cpu_ns?: number;
  used_peak_bytes?: number;
  left_out?: number;
  host?: { name?: string; kernel?: string; hierarchy?: string; cpus?: number; memory_bytes?: number };
}

export interface Run {
  head: RunHead;
  end: number;
  jobs: Job[];
  attempts: Attempt[]; // by their start
  lanes: number;
  events: RunEvent[];
  system: System;
  coloured: string[]; // the heaviest classes, heaviest first
  palette: string[]; // a colour for so many classes
  otherColour: string;
  advice: Advice | null;
  whatif: Whatif | null;
}

// One figure of a class in two runs: see `plimsoll.comparison/1` in docs/compare.md.
export interface Change {
  before_median_bytes?: number;
  before_median_s?: number;
  after_median_bytes?: number;
  after_median_s?: number;
  change_share: number;
  change_share_low?: number;
  change_share_high?: number;
  count: number;
  adjusted_p: number;
  beyond_noise: boolean;
}

export interface ClassComparison {
  class?: string;
  before_jobs: number;
  after_jobs: number;
  peak?: Change;
  time?: Change;
  cpu?: Change;
}

export interface Comparison {
  run: Record<string, { before?: number; after?: number }>;
  all: ClassComparison;
  classes: ClassComparison[];
  only_before: string[];
  only_after: string[];
}

// A class in `plimsoll.advice/1`, of docs/advise.md.
export interface ClassAdvice {
  class: string;
  memory_bytes: number;
  cores: number;
  time_limit_ns: number;
  basis: "bound" | "most_seen" | "cut_short";
  confidence: number;
  count: number;
  median_bytes: number;
  max_bytes: number;
  asked?: { max_bytes: number; reserved_byte_s: number; saved_byte_s: number };
}

export interface Advice {
  quantile: number;
  confidence: number;
  one_for_all: number;
  classes: ClassAdvice[];
}

// An answer in `plimsoll.whatif/1`, of docs/whatif.md.
export interface Answer {
  cores: number;
  line_bytes: number;
  finished: boolean;
  makespan_s: number;
  makespan_low_s: number;
  makespan_high_s: number;
  lower_bound_s: number;
  pauses: number;
  evictions: number;
}

export interface Whatif {
  makespan_s?: number;
  replay: Answer & { error_share?: number };
  answers: Answer[];
}

export interface Document {
  schema: string;
  runs: RunDocument[];
  comparison?: Comparison;
}

type Column = (number | null)[];
interface RunDocument {
  tick_ns: number;
  run: RunHead;
  jobs: { id: (string | null)[]; number: Column; class: number[]; command: string[]; stdout: string[]; stderr: string[]; outcome: number[];
    status: (number | string | null)[]; reason: string[]; held: Column; paused: Column; limit: Column };
  attempts: { job: Column; index: Column; outcome: number[]; start: Column; wall: Column; cpu: Column; peak: Column; lane: Column; bad: number[] };
  lanes: number;
  pauses: { attempt: Column; start: Column; end: Column; event: Column };
  colours: { classes: number[]; colours: string[]; others: string };
  curves: { points: number[]; t: Column; used: Column; cpu: Column };
  events: { t: Column; kind: number[]; job: Column; frame: number[]; words: string; list: number[]; values: string };
  system: Record<keyof System, Column>;
  classes: string[];
  outcomes: string[];
  frames: string[];
  lists: string[];
  numbers: NumberName[];
  kinds: string[];
  advice?: Advice;
  whatif?: Whatif;
}

// What `text` has packed: base64 of gzip.
export async function unpack(text: string): Promise<Document> {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as Document;
}

// Differences become values, in units of `scale`.
function undelta(column: Column, scale = 1): (number | null)[] {
  let last = 0;
  return column.map((step) => (step === null ? null : (last += step) * scale));
}

const whole = (column: (number | null)[]): number[] => column.map((value) => value ?? 0);

function readJobs(doc: RunDocument, tick: number): Job[] {
  const { jobs } = doc;
  const numbers = undelta(jobs.number);
  const held = undelta(jobs.held, tick), paused = undelta(jobs.paused, tick), limit = undelta(jobs.limit, 1024);
  return jobs.command.map((command, index) => ({
    index,
    id: jobs.id[index] ?? String(numbers[index]),
    number: numbers[index],
    cls: doc.classes[jobs.class[index]],
    command,
    stdout: jobs.stdout[index],
    stderr: jobs.stderr[index],
    outcome: doc.outcomes[jobs.outcome[index]],
    status: jobs.status[index],
    reason: jobs.reason[index],
    held: held[index],
    paused: paused[index],
    limit: limit[index],
    attempts: [],
    curve: { t: [], used: [], cpu: [] },
    events: [],
  }));
}

function readAttempts(doc: RunDocument, tick: number, jobs: Job[], end: number): Attempt[] {
  const { attempts } = doc;
  const owner = whole(undelta(attempts.job)), index = whole(undelta(attempts.index)), start = whole(undelta(attempts.start, tick));
  const wall = undelta(attempts.wall, tick), cpu = undelta(attempts.cpu, tick), peak = undelta(attempts.peak, 1024);
  const lane = whole(undelta(attempts.lane));
  return owner.map((place, i) => {
    const job = jobs[place];
    return job.attempts[index[i]] = { job, index: index[i], outcome: doc.outcomes[attempts.outcome[i]],
      start: start[i], end: wall[i] === null ? end : start[i] + (wall[i] as number),
      cpu: cpu[i], peak: peak[i], pauses: [], lane: lane[i], isBad: attempts.bad[i] === 1 };
  });
}

function readCurves(doc: RunDocument, tick: number, jobs: Job[]): void {
  const { curves } = doc;
  const t = whole(undelta(curves.t, tick)), used = undelta(curves.used, 1024), cpu = undelta(curves.cpu, tick);
  let from = 0;
  jobs.forEach((job, i) => {
    const to = from + curves.points[i];
    const begun = job.attempts.at(-1)?.start ?? 0;
    job.curve = { t: t.slice(from, to).map((at) => at + begun), used: used.slice(from, to), cpu: cpu.slice(from, to) };
    from = to;
  });
}

function readEvents(doc: RunDocument, tick: number, jobs: Job[]): RunEvent[] {
  const { events } = doc;
  const times = whole(undelta(events.t, tick)), owners = undelta(events.job);
  const texts = { frames: doc.frames, words: events.words.split(" "), values: events.values.split(" ") };
  const wordsOf = doc.frames.map((frame) => frame.split("\n").length - 1);
  const lists = doc.lists.map((list): NumberList => {
    const names = list === "" ? [] : list.split(" ").map((place) => doc.numbers[Number(place)]);
    return { names, places: new Map(names.map(({ name }, place) => [name, place])) };
  });
  let word = 0, value = 0;
  return times.map((t, i) => {
    const owner = owners[i], frame = events.frame[i], list = lists[events.list[i]];
    const event = new RunEvent(t, doc.kinds[events.kind[i]], owner === null ? null : jobs[owner], frame, texts, word, list, value);
    word += wordsOf[frame];
    value += list.names.length;
    event.job?.events.push(event);
    return event;
  });
}

function readPauses(doc: RunDocument, tick: number, attempts: Attempt[], events: RunEvent[]): void {
  const { pauses } = doc;
  const owner = whole(undelta(pauses.attempt)), start = whole(undelta(pauses.start, tick)), end = whole(undelta(pauses.end, tick));
  whole(undelta(pauses.event)).forEach((event, i) =>
    attempts[owner[i]].pauses.push({ start: start[i], end: end[i], reason: events[event].reason }));
}

export function readRun(doc: RunDocument): Run {
  const tick = doc.tick_ns / 1e9, end = doc.run.end_ns / 1e9;
  const jobs = readJobs(doc, tick);
  const attempts = readAttempts(doc, tick, jobs, end);
  readCurves(doc, tick, jobs);
  const events = readEvents(doc, tick, jobs);
  readPauses(doc, tick, attempts, events);
  const system = Object.fromEntries(Object.entries(doc.system).map(([name, column]) => [name, undelta(column, tick)]));
  return { head: doc.run, end, jobs, attempts, lanes: doc.lanes, events, system: system as unknown as System,
    coloured: doc.colours.classes.map((cls) => doc.classes[cls]), palette: doc.colours.colours,
    otherColour: doc.colours.others, advice: doc.advice ?? null, whatif: doc.whatif ?? null };
}

export const estimateOf = (attempt: Attempt, name = "estimate_bytes"): number | null => {
  const admitted = attempt.job.events.findLast((event) => event.kind === "admitted" && event.t <= attempt.start + 1e-3);
  return admitted ? admitted.number(name) : null;
};

export const succeeded = (job: Job): boolean => job.outcome === "exited" && job.status === 0;
