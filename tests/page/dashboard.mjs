// dashboard.mjs PLAYWRIGHT CHROMIUM ADDRESS: looks at a dashboard as a user does. It has a job named
// `before`; where this prints "end it", the daemon is to end and impostor.py to take its port, where it prints
// "begin again", the daemon to begin again with a job named `after`. Prints "ok NAME" or "FAIL NAME: why" on a
// line for each case.
import { connect, createServer } from "node:net";
import { pathToFileURL } from "node:url";

const [playwright, executablePath, address] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(playwright));
const patience = 120_000; // ms, as long as anything may take on a loaded machine
// The root user of a test machine has no sandbox.
const browser = await chromium.launch({ executablePath, timeout: patience, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

function is(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}

const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(patience);
const { origin } = new URL(address);
const faults = [];
let isDown = false;
context.on("page", (page) => {
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && !isDown && faults.push(`console: ${message.text()}`));
});
context.on("request", (request) => request.url().startsWith(origin) || /^(data|blob):/.test(request.url()) || faults.push(`request: ${request.url()}`));
const page = await context.newPage();
await page.goto(address);

// Between browser and daemon: connections that break() has met stay open, but nothing comes through them
// any more, as when a laptop has slept or a router has forgotten them.
async function line() {
  const { hostname, port } = new URL(address), ends = new Set();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      ends.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { address: address.replace(`:${port}/`, `:${server.address().port}/`),
    break() {
      for (const end of ends) end.unpipe().resume();
      ends.clear();
    },
    close: () => server.close() };
}

// Another browser, for a page that somebody else leads astray.
const planted = await (await browser.newContext()).newPage();
planted.setDefaultTimeout(patience);

// Whether the page has been given the key, by what it has loaded.
const keyed = (page) => page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name, responseEnd }) => name.endsWith("/key") && responseEnd > 0));

const text = (selector) => page.locator(selector).first().innerText();
const job = (name) => page.waitForFunction((name) => [...document.querySelectorAll("td.of-job")].some((cell) => cell.textContent === name), name);

const cases = {
  async "the first paint has the jobs"() {
    await job("before");
    is(await text(".state"), "live", "state");
    is(await page.locator(".live-chart canvas").count(), 2, "charts");
  },
  async "a command is text, never markup"() {
    is((await text("td.of-command")).includes('</script><img src=x onerror=document.title="harmed">'), true, "command");
    is(await page.locator("img").count(), 0, "images");
    is((await page.title()).includes("harmed"), false, "title");
  },
  async "it goes on"() {
    const before = await text("td.of-age");
    await page.waitForFunction((before) => document.querySelector("td.of-age").textContent !== before, before);
  },
  async "the filter finds"() {
    await page.keyboard.press("/");
    await page.keyboard.type("nothing");
    is(await text(".jobs .none"), "No job matches.", "jobs");
    await page.keyboard.press("Escape");
    await job("before");
  },
  async "a recorded run has its page"() {
    const [run] = await Promise.all([context.waitForEvent("page"), page.click(".runs tbody a")]);
    await run.waitForSelector("#jobs .jobs");
    is((await run.locator(".outcome").innerText()).startsWith("2 jobs in"), true, "outcome");
    await run.close();
  },
  async "a connection that has died in silence is made anew"() {
    const wire = await line(), other = await browser.newPage();
    other.setDefaultTimeout(patience);
    await other.goto(wire.address);
    await other.waitForFunction(() => document.querySelector(".state")?.textContent === "live");
    const opened = other.waitForRequest(/\/events$/);
    wire.break();
    await other.waitForSelector("body.old");
    await opened;
    await other.waitForSelector("body:not(.old)");
    await other.close();
    wire.close();
  },
  async "a clock that is set back hides no silence"() {
    const wire = await line(), other = await browser.newPage();
    other.setDefaultTimeout(patience);
    await other.goto(wire.address);
    await other.waitForFunction(() => document.querySelector(".state")?.textContent === "live");
    await other.evaluate(() => {
      const { now } = Date;
      Date.now = () => now.call(Date) - 3600_000;
    });
    const before = await other.locator("td.of-age").first().innerText();
    await other.waitForFunction((before) => document.querySelector("td.of-age").textContent !== before, before);
    wire.break();
    await other.waitForSelector("body.old");
    await other.waitForSelector("body:not(.old)");
    await other.close();
    wire.close();
  },
  async "it says when it is old"() {
    isDown = true; // a browser complains of each connection that it can't make
    await keyed(page);
    await planted.goto(address);
    await keyed(planted);
    console.log("end it");
    await page.waitForSelector("body.old");
    is(/^Old: the daemon was last heard \d+ s ago/.test(await text(".state")), true, "state");
    await job("before"); // what was last known
  },
  async "it does not believe whoever is at the port meanwhile"() {
    await page.waitForFunction(() => document.querySelector(".state").textContent.includes("not known to this page"));
    is(await text(".next"), "", "next");
    is(page.url(), address, "address");
    const other = await planted.context().newPage();
    await other.goto(`${origin}/plant`);
    await planted.waitForFunction(() => navigator.serviceWorker.controller);
  },
  async "it is live again when the daemon is, at its new address"() {
    console.log("begin again");
    await job("after");
    await page.waitForSelector("body:not(.old)");
    is(await page.locator("td.of-job").count(), 1, "jobs");
    is(page.url() === address, false, "the address is the old one");
    await page.reload();
    await job("after");
  },
  async "whoever has left a service worker does not hear the new address"() {
    const says = () => planted.locator(".state").innerText();
    for (let looks = 0; looks < 3; looks++) { // it looks for the daemon each time
      const before = await says();
      is(before.includes("not known to this page"), true, before);
      await planted.waitForFunction((before) => document.querySelector(".state").textContent !== before, before);
    }
    is(planted.url(), address, "address");
  },
};

for (const [name, check] of Object.entries(cases)) {
  try {
    await check();
    is(faults.splice(0).join("; "), "", "faults");
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.message.split("\n").slice(0, 3).join(" ")}`);
  }
}
await browser.close();
