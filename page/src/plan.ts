// What the run says about the next one: what to ask a scheduler for, and how long it would take on
// other machines.
import { el } from "./dom";
import { bytes, count, digits, seconds, share } from "./format";
import type { Advice, Answer, ClassAdvice, Run, Whatif } from "./data";
import { className, type Theme } from "./theme";

const classesMax = 200;

const percent = (part: number): string => `${Math.floor(part * 100)} %`;

// How sure the request is, and why not.
function ground({ basis, confidence, count: attempts }: ClassAdvice): string {
  if (basis === "cut_short") return "may need more: one was ended before its peak";
  return basis === "bound" ? `${percent(confidence)} sure` : `${percent(confidence)} sure, of ${count(attempts, "attempt")} only`;
}

// Median and largest peak, and the request, on a scale for all classes.
function peaksOf(one: ClassAdvice, most: number, theme: Theme): HTMLElement {
  const at = (value: number) => `${(value / most) * 100}%`;
  const bar = el("i", { class: "bar" }), middle = el("i", { class: "tick" }), request = el("i", { class: "request" });
  bar.style.width = at(one.max_bytes);
  bar.style.background = theme.colour(one.class);
  middle.style.left = at(one.median_bytes);
  request.style.left = at(one.memory_bytes);
  return el("span", { class: "peaks", title: `median ${bytes(one.median_bytes)}, largest ${bytes(one.max_bytes)}, request ${bytes(one.memory_bytes)}` },
    bar, middle, request);
}

function savedText({ asked }: ClassAdvice): string {
  if (!asked || asked.reserved_byte_s <= 0) return "–";
  return share(-asked.saved_byte_s / asked.reserved_byte_s);
}

export function adviceOf({ classes, quantile, confidence, one_for_all }: Advice, theme: Theme): HTMLElement {
  if (classes.length === 0) return el("p", { class: "quiet" }, "No job was executed whose peak is known.");
  const most = Math.max(...classes.map((one) => Math.max(one.memory_bytes, one.max_bytes)));
  const wasAsked = classes.some((one) => one.asked);
  const heads = ["Class", "Memory", "Cores", "Time limit", "Peaks, and the request", "Why so much", ...(wasAsked ? ["Asked", "Reserves"] : [])];
  const kinds: Record<string, string> = { "Peaks, and the request": "of-peaks", "Why so much": "of-ground" };
  const row = (one: ClassAdvice) => el("tr", {}, el("th", { scope: "row" }, className(one.class)),
    el("td", {}, el("b", {}, bytes(one.memory_bytes))), el("td", {}, String(one.cores)), el("td", {}, seconds(one.time_limit_ns / 1e9)),
    el("td", { class: "of-peaks" }, peaksOf(one, most, theme)), el("td", { class: "of-ground quiet" }, ground(one)),
    ...(wasAsked ? [el("td", {}, bytes(one.asked?.max_bytes)), el("td", {}, savedText(one))] : []));
  const notes = [`Requests are to be enough for ${percent(quantile)} of further attempts, with a certainty of ${percent(confidence)}.`,
    one_for_all >= 1.05 && `One request for all classes would have reserved ${digits(one_for_all)} times as much memory.`,
    classes.length > classesMax && `${classes.length - classesMax} classes with smaller requests are left out.`].filter(Boolean);
  return el("div", {}, el("div", { class: "wide" }, el("table", { class: "advice" },
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col", class: kinds[head] ?? "" }, head)))),
    el("tbody", {}, ...classes.slice(0, classesMax).map(row)))), el("p", { class: "quiet" }, notes.join(" ")));
}

// Longer than the replay is red, shorter green, each by how much.
function answerCell(answer: Answer, replay: Answer): HTMLElement {
  const isSame = answer.cores === replay.cores && answer.line_bytes === replay.line_bytes;
  if (!answer.finished) return el("td", {}, el("b", {}, "does not finish"));
  const change = replay.finished && replay.makespan_s > 0 ? answer.makespan_s / replay.makespan_s - 1 : 0;
  const cell = el("td", { class: isSame ? "same" : "" }, el("b", {}, seconds(answer.makespan_s)),
    el("span", {}, isSame ? "as it was" : share(change)),
    el("small", {}, [answer.pauses > 0 && count(answer.pauses, "pause"), answer.evictions > 0 && count(answer.evictions, "eviction")].filter(Boolean).join(", ")));
  const depth = Math.round(Math.min(Math.abs(Math.log1p(change)) / Math.LN2, 1) * 22);
  cell.style.background = `color-mix(in srgb, var(${change > 0 ? "--bad" : "--good"}) ${depth}%, var(--paper))`;
  cell.title = `${seconds(answer.makespan_low_s)} to ${seconds(answer.makespan_high_s)}; no schedule is below ${seconds(answer.lower_bound_s)}`;
  return cell;
}

export function whatifOf({ answers, replay, makespan_s }: Whatif): HTMLElement {
  const cores = [...new Set(answers.map((answer) => answer.cores))], lines = [...new Set(answers.map((answer) => answer.line_bytes))];
  const at = (line: number, count: number) => answers.find((answer) => answer.line_bytes === line && answer.cores === count);
  const error = replay.error_share === undefined ? "" :
    `, and replaying the run on its own machine gives ${seconds(replay.makespan_s)} where ${seconds(makespan_s)} was recorded (${share(replay.error_share)}): expect no less an error of the others`;
  return el("div", {}, el("div", { class: "wide" }, el("table", { class: "grid" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Line"), ...cores.map((n) => el("th", { scope: "col" }, count(n, "core"))))),
    el("tbody", {}, ...lines.map((line) => el("tr", {}, el("th", { scope: "row" }, bytes(line)), ...cores.map((n) => {
      const answer = at(line, n);
      return answer ? answerCell(answer, replay) : el("td");
    })))))),
    el("p", { class: "quiet" }, `The same governor runs the recorded jobs on simulated machines${error}. Disks, networks and page cache are not simulated.`));
}

// The sections that there is something for.
export function planOf(run: Run): { title: string; id: string; content: (theme: Theme) => HTMLElement }[] {
  const { advice, whatif } = run, parts = [];
  if (advice) parts.push({ id: "advice", title: "What to ask a scheduler for", content: (theme: Theme) => adviceOf(advice, theme) });
  const missing = "The times on other machines were not reckoned when this page was written, as that takes long for a run of this size; plimsoll report --html --whatif does.";
  if (run.attempts.length > 0) {
    parts.push({ id: "whatif", title: "On other machines", content: () => (whatif ? whatifOf(whatif) : el("p", { class: "quiet" }, missing)) });
  }
  return parts;
}
