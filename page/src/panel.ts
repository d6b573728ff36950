// One job: what was decided of it and why, its attempts beside each other, its memory.
import uPlot from "uplot";
import { button, el } from "./dom";
import { bytes, numberText, seconds } from "./format";
import { byteTicks, clockAxis } from "./charts";
import { estimateOf, type Job, type RunEvent } from "./data";
import { outcomeText } from "./table";
import { className, type Theme } from "./theme";
import type { View } from "./view";

export class JobPanel {
  readonly element = el("aside", { id: "job", "aria-label": "The chosen job", tabindex: -1, hidden: "" });
  private plot: uPlot | null = null;

  constructor(private readonly view: View, private readonly theme: Theme) {
    view.on("job", () => this.draw());
    view.on("theme", () => this.plot?.redraw());
  }

  close(): void {
    this.plot?.destroy();
    this.element.remove();
    document.body.classList.remove("with-job");
  }

  private draw(): void {
    const { job } = this.view;
    this.plot?.destroy();
    this.plot = null;
    this.element.hidden = job === null;
    document.body.classList.toggle("with-job", job !== null);
    if (!job) return this.element.replaceChildren();
    const chart = el("div", { class: "curve", role: "img", "aria-label": "Memory of the job over time" });
    this.element.replaceChildren(
      el("header", {}, el("h2", {}, job.id), button("Close", { class: "close", "aria-keyshortcuts": "Escape" }, () => this.view.select(null))),
      el("p", { class: "facts" }, [className(job.cls), outcomeText(job), ...facts(job)].join(" · ")),
      el("pre", {}, job.command),
      ...outputs(job),
      ...(job.reason ? [el("p", { class: "reason" }, job.reason)] : []),
      chart,
      ...attemptsTable(job),
      el("h3", {}, "What happened, and why"),
      story(job),
    );
    this.element.scrollTop = 0;
    this.drawCurve(job, chart);
  }

  private drawCurve(job: Job, host: HTMLElement): void {
    const last = job.attempts.at(-1), { curve } = job, { theme } = this;
    if (!last || curve.t.length < 2) {
      host.replaceWith(el("p", { class: "quiet" }, last ? "No samples of this job are in the record." : "This job never started."));
      return;
    }
    const mean = estimateOf(last), spread = estimateOf(last, "spread_bytes") ?? 0;
    const high = Math.max(...curve.used.map((value) => value ?? 0), (mean ?? 0) + spread, job.limit ?? 0, last.peak ?? 0);
    const axis = { stroke: () => theme.colours.dim, font: "11px system-ui, sans-serif", ticks: { show: false },
      grid: { stroke: () => theme.colours.faint, width: 1 } };
    const level = (plot: uPlot, value: number, colour: string, dash: number[], name: string) => {
      const { ctx: context, bbox } = plot, y = plot.valToPos(value, "y", true);
      context.save();
      context.strokeStyle = context.fillStyle = colour;
      context.lineWidth = devicePixelRatio;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(bbox.left, y);
      context.lineTo(bbox.left + bbox.width, y);
      context.stroke();
      context.textAlign = "left";
      context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      context.fillText(name, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
      context.restore();
    };
    this.plot = new uPlot({
      width: host.clientWidth || 380, height: 170, legend: { show: false }, padding: [8, 8, 0, 0],
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [last.start, Math.max(last.end, last.start + 1e-6)] }, y: { range: [0, high * 1.12] } },
      axes: [{ ...axis, ...clockAxis, size: 24 },
        { ...axis, size: 62, values: (_plot, at) => at.map(bytes), splits: (_plot, _axis, low, top) => byteTicks(low, top) }],
      series: [{}, { stroke: () => theme.colour(job.cls), fill: () => `${theme.colour(job.cls)}33`, width: 2, points: { show: false }, spanGaps: true }],
      hooks: {
        drawClear: [(plot) => {
          if (mean === null) return;
          const { ctx: context, bbox } = plot, top = plot.valToPos(mean + spread, "y", true), bottom = plot.valToPos(Math.max(mean - spread, 0), "y", true);
          context.fillStyle = theme.colours.faint;
          context.fillRect(bbox.left, top, bbox.width, bottom - top);
        }],
        draw: [(plot) => {
          if (mean !== null) level(plot, mean, theme.colours.dim, [5, 4], `expected ${bytes(mean)} ± ${bytes(spread)}`);
          if (job.limit !== null) level(plot, job.limit, theme.colours.line, [], `its limit ${bytes(job.limit)}`);
        }],
      },
    }, [curve.t, curve.used] as uPlot.AlignedData, host);
  }
}

function facts(job: Job): string[] {
  const last = job.attempts.at(-1), told = [];
  if (job.held) told.push(`waited ${seconds(job.held)}`);
  if (last) told.push(`took ${seconds(last.end - last.start)}`);
  if (job.paused) told.push(`paused ${seconds(job.paused)}`);
  if (last?.peak) told.push(`peak ${bytes(last.peak)}`);
  return told;
}

function outputs(job: Job): HTMLElement[] {
  const files = [["stdout", job.stdout], ["stderr", job.stderr]].filter(([, path]) => path !== "");
  if (files.length === 0) return [];
  return [el("dl", { class: "output" }, ...files.flatMap(([name, path]) => [el("dt", {}, name), el("dd", {}, path)]))];
}

function attemptsTable(job: Job): HTMLElement[] {
  if (job.attempts.length < 2) return [];
  const row = (name: string, text: (i: number) => string) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...job.attempts.map((_, i) => el("td", {}, text(i))));
  const of = job.attempts;
  return [el("table", { class: "attempts" },
    el("thead", {}, el("tr", {}, el("td"), ...of.map((_, i) => el("th", { scope: "col" }, `Attempt ${i + 1}`)))),
    el("tbody", {},
      row("outcome", (i) => of[i].outcome.replaceAll("_", " ") || "not ended"),
      row("start", (i) => seconds(of[i].start)),
      row("time", (i) => seconds(of[i].end - of[i].start)),
      row("CPU", (i) => seconds(of[i].cpu)),
      row("peak", (i) => bytes(of[i].peak)),
      row("expected", (i) => bytes(estimateOf(of[i]))),
      row("pauses", (i) => String(of[i].pauses.length))))];
}

function story(job: Job): HTMLElement {
  if (job.events.length === 0) return el("p", { class: "quiet" }, "No event of this job is in the record.");
  return el("ol", { class: "story" }, ...job.events.map((event) => el("li", { class: `kind-${event.kind}` },
    el("time", {}, seconds(event.t)), el("b", {}, event.kind), el("div", {}, event.reason, numbers(event)))));
}

function numbers(event: RunEvent): HTMLElement | null {
  if (event.numbers.length === 0) return null;
  const list = el("dl", {}, ...event.numbers.flatMap(([name, value]) =>
    [el("dt", { title: name.meaning }, name.label), el("dd", {}, numberText(name.name, value))]));
  return el("details", {}, el("summary", {}, `${event.numbers.length} numbers`), list);
}
