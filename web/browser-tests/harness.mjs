// What the browser tests share: a Chromium, the built page, a server that notes each request.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";
import { page as build } from "../demo/build.mjs";
import { serving } from "../demo/serve.mjs";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Why the tests of a file are left out, or `false`. */
export const skip = existsSync(CHROMIUM)
  ? false
  : `there is no ${CHROMIUM}: install Debian's chromium, or name one in CHROMIUM`;

const FLAGS = [
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update",
  "--disable-sync --disable-dev-shm-usage",
]
  .join(" ")
  .split(" ");

/** Undone when the tests of a file are through, the last one first. */
const undo = [];
after(async () => {
  for (const step of undo.reverse()) await step();
});

/** Returns a folder that is removed afterwards. */
export async function folder() {
  const made = await mkdtemp(join(tmpdir(), "textveil-browser-"));
  undo.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** Starts a browser with a profile of its own, that knows no host but this machine. */
export async function browser(...flags) {
  const context = await chromium.launchPersistentContext(await folder(), {
    executablePath: CHROMIUM,
    args: [...FLAGS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", ...flags],
    viewport: { width: 1280, height: 900 },
    colorScheme: "light",
  });
  undo.push(() => context.close());
  return context;
}

/** Listens on this machine; notes the path of each request in `seen`. */
export async function server(answer) {
  const seen = [];
  const listening = createServer((request, response) => {
    seen.push(request.url);
    answer(request, response);
  });
  await new Promise((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise((resolve) => {
      listening.close(resolve);
      listening.closeAllConnections();
    });
  undo.push(close);
  return { seen, close, address: `http://127.0.0.1:${listening.address().port}/` };
}

let built;
/** Serves the page, built once; `changed` may give other bytes for a path. */
export async function served(changed) {
  built ??= folder().then(async (target) => {
    await build(target);
    return target;
  });
  return server(serving(await built, changed));
}

/** Opens the page and waits until it is ready, or has failed. */
export async function open(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector("#state:not([data-state=loading])");
  return page;
}

/** Waits until every mode shows the draw of the text as it is. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelectorAll("[data-mode]:not([aria-busy])").length === 3);
}

/** Writes a text in place of what is in the field, and waits for its draws. */
export async function write(page, text) {
  await page.evaluate((value) => {
    const field = document.getElementById("text");
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
  await settled(page);
}

/** What a mode shows. */
export async function mode(page, name) {
  return page.evaluate((which) => {
    const card = document.querySelector(`[data-mode=${which}]`);
    const of = (selector) => card.querySelector(selector).textContent;
    return { promise: of(".promise"), out: of(".out"), counts: of(".counts"), marked: of(".marked") };
  }, name);
}
