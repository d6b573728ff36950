// browser.mjs PLAYWRIGHT CHROMIUM DIR: looks at pages in a browser as a user does. DIR has the pages
// of tests/page/runs.py as NAME.html. Prints "ok NAME", "FAIL NAME: why" or a figure on each line.
import { pathToFileURL } from "node:url";

const [playwright, executablePath, dir] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(playwright));
// The root user of a test machine has no sandbox.
const patience = 120_000; // ms, as long as anything may take on a loaded machine
const browser = await chromium.launch({ executablePath, timeout: patience, args: ["--no-sandbox","--disable-dev-shm-usage"] });

function is(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}

// Opens a page, and fails at each error of it and each request that leaves the file.
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && page.faults.push(`console: ${message.text()}`));
  page.on("request", (request) => request.url().startsWith("file:") || page.faults.push(`request: ${request.url()}`));
  await page.goto(pathToFileURL(`${dir}/${name}.html`).href);
  await page.waitForSelector("footer");
  await page.waitForSelector("#jobs .jobs");
  return page;
}

const text = (page, selector) => page.locator(selector).first().innerText();

// What the toolbar says of the time shown, once it says something else than `before`.
async function rangeAfter(page, before) {
  await page.waitForFunction((old) => document.querySelector(".range").textContent !== old, before);
  return text(page, ".range");
}

const cases = {
  async "an empty run says so"(page) {
    is(await text(page, "#time p"), "No job of this run has started.", "timeline");
    is(await text(page, "#jobs .none"), "No job of this run is recorded.", "table");
  },
  async "one job is shown with its figures"(page) {
    is(await page.locator(".jobs tbody tr:not(.space)").count(), 1, "rows");
    is(await page.locator(".chart canvas").count(), 4, "charts");
  },
  async "one job has a time axis whose labels are as far apart as they say"(page) {
    const written = await page.evaluate(async () => {
      const context = CanvasRenderingContext2D.prototype, { fillText } = context, texts = [];
      context.fillText = function (text, ...rest) {
        texts.push(text);
        fillText.call(this, text, ...rest);
      };
      dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
      for (let frames = 0; frames < 3; frames++) await new Promise((done) => requestAnimationFrame(done));
      return texts;
    });
    const times = written.map((label) => /^(\d+):([\d.]+)$/.exec(label)).filter(Boolean).map(([, minutes, rest]) => minutes * 60 + Number(rest));
    const gaps = new Set(times.slice(1).map((time, i) => (time - times[i]).toFixed(6)));
    is(times.length > 3, true, written.join(" "));
    is(gaps.size, 1, `gaps of ${times.join(" ")}`);
  },
  async "the head tells the run in a sentence"(page) {
    is(await text(page, ".outcome"), "60 jobs in 59.9 s: 57 ok, 3 failed, 5 pauses, 4 evictions, none killed by the kernel.", "sentence");
  },
  async "a command is text, never markup"(page) {
    await page.fill("input[type=search]", "</script>");
    is(await text(page, ".count"), "1 of 60", "found");
    await page.click(".jobs tbody tr:not(.space)");
    is(await text(page, "aside pre"), "echo '</script><img src=x onerror=document.title=\"harmed\">' <!-- & \u202e", "command");
    is(await page.locator("img").count(), 0, "images");
    is(await page.title(), "plimsoll batch jobs.txt – Plimsoll", "title");
  },
  async "zoom by drag, double-click and keys"(page) {
    const whole = await text(page, ".range"), lanes = await page.locator(".lanes canvas").boundingBox();
    await page.mouse.move(lanes.x + 300, lanes.y + 20);
    await page.mouse.down();
    await page.mouse.move(lanes.x + 600, lanes.y + 20);
    await page.mouse.up();
    const part = await rangeAfter(page, whole);
    await page.mouse.dblclick(lanes.x + 300, lanes.y + lanes.height - 2);
    is(await rangeAfter(page, part), whole, "after double-click");
    await page.keyboard.press("+");
    const near = await rangeAfter(page, whole);
    await page.keyboard.press("Shift+ArrowRight");
    const later = await rangeAfter(page, near);
    await page.keyboard.press("0");
    is(await rangeAfter(page, later), whole, "after 0");
  },
  async "a chart zooms by drag too"(page) {
    const whole = await text(page, ".range"), plot = await page.locator(".u-over").nth(1).boundingBox();
    await page.mouse.move(plot.x + 200, plot.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + 400, plot.y + 20, { steps: 4 });
    await page.mouse.up();
    is((await rangeAfter(page, whole)) === whole, false, "zoomed");
  },
  async "the cursor reads all values at a moment"(page) {
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(".readout .of");
    const told = await text(page, ".readout");
    for (const word of ["Memory", "line", "Cores", "used by jobs", "Jobs", "waiting", "running"]) is(told.includes(word), true, word);
  },
  async "keys choose, search and close"(page) {
    await page.keyboard.press("j");
    await page.waitForSelector("aside:not([hidden])");
    is(await text(page, "aside h2"), "1", "first job");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector("aside h2").textContent === "2");
    await page.keyboard.press("Escape");
    await page.waitForSelector("aside", { state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("evict");
    is(await text(page, ".count"), "0 of 60", "found");
  },
  async "a click on a bar opens its job"(page) {
    await page.locator(".lanes canvas").click({ position: { x: 110, y: 8 } });
    await page.waitForSelector("aside:not([hidden])");
    is(await page.locator("aside .story li").count() > 3, true, "story");
    const name = await text(page, "aside h2");
    is(await text(page, "aside .output dd"), `/builds/out/${name}/stdout`, "place of its output");
  },
  async "an evicted job shows its attempts beside each other"(page) {
    await page.fill("input[type=search]", "src/part-5.in");
    await page.click(".jobs tbody tr:not(.space)");
    await page.waitForSelector(".attempts"); // in the next frame
    is(await page.locator(".attempts thead th").count(), 2, "attempts");
    is(await text(page, ".attempts tbody td"), "evicted", "outcome");
    is(await page.locator("aside .curve canvas").count(), 1, "curve");
  },
  async "classes have a request, and other machines a time"(page) {
    is(await page.locator(".advice tbody tr").count(), 10, "requests");
    is(await text(page, ".advice tbody td"), "640 MiB", "the largest");
    is(await page.locator(".grid tbody td").count(), 9, "answers");
    is((await text(page, ".grid .same")).includes("as it was"), true, "the run's own");
  },
  async "1,000 jobs are not replayed unless asked"(page) {
    is((await text(page, "#whatif p")).includes("--whatif"), true, "told");
    is(await page.locator(".grid").count(), 0, "grids");
  },
  async "asked for, more jobs are replayed"(page) {
    is(await page.locator(".grid tbody td").count(), 9, "answers");
  },
  async "a column sorts, both ways"(page) {
    await page.click("th.of-wall button");
    is(await page.getAttribute("th.of-wall", "aria-sort"), "descending", "first");
    const long = await text(page, ".jobs tbody tr:not(.space) .of-wall");
    await page.click("th.of-wall button");
    is(await page.getAttribute("th.of-wall", "aria-sort"), "ascending", "second");
    is((await text(page, ".jobs tbody tr:not(.space) .of-wall")) === long, false, "another first");
  },
  async "a narrow page does not scroll sideways"(page) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForFunction(() => document.querySelector(".charts canvas").clientWidth < 390);
    await page.waitForFunction(() => document.documentElement.scrollWidth === 390); // all have their new size
  },
  async "dark and light have colours of their own"(page) {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    is((await ground()) === light, false, "dark");
    await page.click(".theme");
    is(await ground(), light, "light by choice");
    await page.emulateMedia({ media: "print" });
    is(await ground(), "rgb(255, 255, 255)", "print");
  },
  async "two runs show what changed beyond noise"(page) {
    const rows = await page.locator(".changes tbody tr").allInnerTexts();
    const told = (cls, figure) => rows.find((row) => row.startsWith(cls) && row.includes(figure)) ?? "";
    is(/▲ \+2[0-9.]+ %/.test(told("compile", "Peak memory")), true, "compile is bigger");
    is(/▼ −4[0-9.]+ %/.test(told("link", "Time")), true, "link is quicker");
    is(told("docs", "Peak memory"), "", "docs did not change");
    is(await page.locator(".beside tbody tr").count(), 10, "classes");
  },
  async "two runs are shown one after the other"(page) {
    is(await text(page, ".switch [aria-pressed=true]"), "Run B", "first");
    const after = await text(page, ".one .outcome");
    await page.keyboard.press("j");
    await page.waitForSelector("aside:not([hidden])");
    await page.click(".switch button");
    is(await text(page, ".switch [aria-pressed=true]"), "Run A", "second");
    is((await text(page, ".one .outcome")) === after, false, "another run");
    is(await page.locator("aside").count(), 1, "panels");
    await page.waitForSelector("#jobs .jobs"); // from then on keys are heard
    await page.keyboard.press("j");
    is(await text(page, "aside h2"), "1", "its job");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector("aside h2").textContent === "2");
  },
  async "two runs have one time axis"(page) {
    const range = (part) => text(page, `${part} .range`);
    is(await page.locator("#both .lanes canvas").count(), 2, "lanes");
    is(await page.locator("#both .chart").count(), 2, "charts of memory");
    is(await page.locator("#time .chart").count(), 3, "the others, of one run");
    is((await range("#both")).startsWith("0:00"), true, "from the start of both");
    const whole = await range("#both");
    await page.click("#both .tools button >> nth=1");
    await page.waitForFunction((whole) => document.querySelector("#time .range").textContent !== whole, whole);
    is(await range("#time"), await range("#both"), "one zoom");
    await page.hover("#both .lanes canvas >> nth=1");
    await page.waitForSelector("#both .readout b");
    is(/A Memory.*B Memory/s.test(await text(page, "#both .readout")), true, "values of both");
    await page.waitForFunction(() => document.querySelector("#time .readout b")); // one cursor
    await page.waitForSelector("#jobs .jobs"); // from then on keys are heard
    await page.keyboard.press("0");
    await page.waitForFunction((whole) => document.querySelector("#both .range").textContent === whole, whole);
  },
  async "two runs: a bar shows the run that it is of"(page) {
    is(await text(page, ".switch [aria-pressed=true]"), "Run B", "first");
    const lanes = page.locator("#both .lanes canvas").first();
    const { width } = await lanes.boundingBox();
    // What is shown a little later may move it from below a click.
    for (let left = 10; left > 0 && await page.locator("aside:not([hidden])").count() === 0; left--) {
      await lanes.click({ position: { x: width / 3, y: 9 } });
      await page.waitForTimeout(200);
    }
    await page.waitForSelector("aside:not([hidden])");
    is(await text(page, ".switch [aria-pressed=true]"), "Run A", "its run");
    is(await page.locator("aside").count(), 1, "panels");
    await page.click(".switch button >> nth=1");
    is(await text(page, ".switch [aria-pressed=true]"), "Run B", "the other");
    is(await page.locator("aside:not([hidden])").count(), 0, "a job of A beside run B");
  },
  async "10,000 jobs have only the rows in sight"(page) {
    is(await page.locator(".jobs tbody tr").count() < 100, true, "rows");
    await page.fill("input[type=search]", "part-9999.in");
    is(await text(page, ".count"), "1 of 10000", "found");
    await figures(page);
  },
};

// Times are told, not judged: the machine may be busy.
async function figures(page) {
  const drawn = await page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime);
  const frame = await page.evaluate(async () => {
    const next = () => new Promise((done) => requestAnimationFrame(() => done()));
    const times = [];
    for (let i = 0; i < 20; i++) {
      await next();
      const before = performance.now();
      dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "-" : "+" }));
      await next();
      await new Promise((done) => setTimeout(done));
      times.push(performance.now() - before);
    }
    return times.sort((a, b) => a - b)[10];
  });
  console.log(`figure: 10,000 jobs: drawn after ${Math.round(drawn)} ms, a zoom frame in ${Math.round(frame)} ms`);
}

const pages = { "an empty run": "empty", "one job": "one", "10,000 jobs": "many", "two runs": "pair", "1,000 jobs": "thousand",
  "asked for": "asked" };
for (const [name, check] of Object.entries(cases)) {
  const which = Object.entries(pages).find(([start]) => name.startsWith(start))?.[1] ?? "mixed";
  const page = await open(which);
  try {
    await check(page);
    is(page.faults.join("; "), "", "faults");
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.message.split("\n").slice(0, 3).join(" ")}`);
  }
  await page.context().close();
}
await browser.close();
