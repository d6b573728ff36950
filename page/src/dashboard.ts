// The dashboard: the daemon as it goes on, and the runs that are recorded.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./dashboard.css";
import { el, section } from "./dom";
import { bytes, count, digits, seconds } from "./format";
import type { Found } from "./identity";
import { Feed, oldAfter, type Status } from "./live";
import { LiveChart } from "./live_chart";
import { LiveJobs } from "./live_jobs";
import { LiveRuns } from "./live_runs";
import { themeButton } from "./theme_button";

const state = el("p", { class: "state", role: "status" }, "asking …");
const outcome = el("p", { class: "outcome" });
const next = el("p", { class: "next" });
const facts = el("dl", { class: "facts" });
const jobsTitle = el("span", {}, "Jobs");
const memory = new LiveChart("Memory", bytes, [
  { label: "used", colour: "accent", fill: true, value: (s) => s.used_bytes },
  { label: "estimate", colour: "dim", dash: [4, 3], value: (s) => s.estimate_bytes },
  { label: "line", colour: "line", width: 3, value: (s) => s.line_bytes },
]);
const cores = new LiveChart("Cores", digits, [
  { label: "used", colour: "accent", fill: true, value: (s) => s.cores_used },
  { label: "wanted", colour: "dim", dash: [4, 3], value: (s) => s.cores_wanted },
  { label: "by other programs", colour: "good", value: (s) => s.cores_of_others },
  { label: "of", colour: "line", width: 3, value: (s) => s.cores },
]);
const jobs = new LiveJobs(), runs = new LiveRuns();

const fact = (name: string, text: string) => el("div", {}, el("dt", {}, name), el("dd", {}, text));
const percent = (share: number) => `${Math.round(Math.min(Math.max(share, 0), 1) * 100)} %`;

const whole = (time: number) => (time < 59.5 ? `${Math.round(time)} s` : seconds(time));

function stallText(stall: Status["stall"], someRun: boolean): string {
  if (!stall && !someRun) return "–"; // by no jobs
  const parts = ([["cpu", stall?.cpu_some], ["memory", stall?.memory_full], ["io", stall?.io_full]] as const)
    .flatMap(([name, share]) => (share === undefined ? [] : [`${name} ${percent(share)}`]));
  return parts.join(", ") || "not known on this host";
}

function show(status: Status): void {
  const { running, paused, waiting } = status.jobs;
  outcome.textContent = running + paused + waiting === 0 ? "No jobs."
    : `${count(running, "job")} running, ${paused.toLocaleString("en")} paused, ${waiting.toLocaleString("en")} waiting.`;
  document.title = `${running + paused > 0 ? `${running + paused} ▸ ` : ""}Plimsoll on ${location.host}`;
  next.textContent = status.holding ? `Next: ${status.holding.job} ${status.holding.reason}` : "";
  next.hidden = !status.holding;
  const { others } = status;
  facts.replaceChildren(
    fact("up", seconds(status.elapsed_ns / 1e9)),
    fact("most used", bytes(status.used_peak_bytes)),
    fact("at once", `${status.jobs_max.toLocaleString("en")} at most`),
    fact("pauses", status.pauses.toLocaleString("en")),
    fact("evictions", status.evictions.toLocaleString("en")),
    fact("stalled, of the time", stallText(status.stall, running > 0)),
    ...(others && others.runs > 0 ? [fact("other runs", `${count(others.runs, "run")}, ${count(others.jobs, "job")}, ${bytes(others.used_bytes)}`)] : []));
  jobsTitle.textContent = `${count(running, "job")} running${paused > 0 ? `, ${paused.toLocaleString("en")} paused` : ""}`;
}

function tellAge(silence: number | null, found: Found): void {
  const isOld = silence === null || silence > oldAfter;
  document.body.classList.toggle("old", isOld);
  const text = !isOld ? "live"
    : (silence === null ? "The daemon has not answered yet" : `Old: the daemon was last heard ${whole(silence / 1000)} ago`) +
      (found === "stranger" ? "; what answers here now is not known to this page. If it is the daemon, open its new address." : "; trying again.");
  if (state.textContent !== text) state.textContent = text;
}

const page = document.getElementById("page")!;
page.replaceChildren(
  el("header", { class: "top" }, el("div", {}, el("p", { class: "brand" }, "Plimsoll"), el("h1", {}, `Daemon on ${location.host}`)), state, themeButton()),
  el("div", { class: "live-part" }, outcome, next, facts, el("section", { class: "pair" }, memory.element, cores.element),
    section("jobs", "", jobs.element)),
  section("runs", "Recorded runs", runs.element),
  el("footer", {}, el("span", {}, "Nothing can be changed from here: ", el("code", {}, "plimsoll top"), " pauses, resumes and kills."),
    el("span", {}, el("kbd", {}, "/"), "filter"), el("span", {}, el("kbd", {}, "esc"), "show all")));
document.getElementById("jobs-title")!.append(jobsTitle);

new Feed({
  heard(status) {
    const at = Date.now() / 1000;
    show(status);
    memory.add(at, status);
    cores.add(at, status);
    jobs.heard(status, at);
    runs.refresh();
  },
  age: tellAge,
});
