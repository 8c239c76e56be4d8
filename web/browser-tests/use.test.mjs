// The page does what it says: modes, promises, marks, restoring, without a network, with the keys, for those who hear it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Sanitizer } from "textveil";
import { page as build } from "../demo/build.mjs";
import { packed } from "../demo/bundle.mjs";
import { serving } from "../demo/serve.mjs";
import { browser, folder, mode, open, served, server, settled, skip, write } from "./harness.mjs";

/** A script as another build of the page has it. */
const another = (bytes) => `${bytes}`.replace(/build [0-9a-f]{16}/g, "build 1111111111111111");

const TEXT =
  "Anna Novak paid the invoice in Boston, but my doctor in Boston did not see the zorbix. Call 617-555-0143.";

test("each mode has the promise of the library, word for word, and its marks", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  const { bytes, identity } = await packed();
  const sanitizer = await Sanitizer.load(bytes, { expectId: identity });
  await write(page, TEXT);
  for (const protect of ["names", "words", "all"]) {
    const shown = await mode(page, protect);
    assert.equal(shown.promise, sanitizer.sanitize(TEXT, { protect }).statement.formatLine());
    const what = sanitizer.preview(TEXT, { protect }).map(([, found]) => found);
    const stay = what.filter((found) => found === "kept").length;
    const drawn = what.filter((found) => found === "randomized" || found === "unknown").length;
    const replaced = what.filter((found) => found !== "gap").length - stay - drawn;
    assert.equal(shown.counts, `${stay} kept, ${replaced} replaced, ${drawn} randomized`);
    assert.ok(!shown.out.includes("Novak") && shown.out !== "");
  }
  assert.match((await mode(page, "names")).out, /paid the invoice in/);
});

test("draw again draws anew; options hold for the next draw", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  await write(page, TEXT.repeat(3));
  const first = (await mode(page, "all")).out;
  await page.click("#again");
  await settled(page);
  assert.notEqual((await mode(page, "all")).out, first);
  await page.selectOption("#style", "tag");
  await settled(page);
  assert.match((await mode(page, "names")).out, /\[city 1\]/);
  await page.selectOption("#epsilon", "4");
  await settled(page);
  assert.match((await mode(page, "words")).promise, /epsilon 4 per word/);
  await page.fill("#deny", "invoice, doctor");
  await page.waitForFunction(() => !document.querySelector("[data-mode=names] .out").textContent.includes("invoice"));
  await settled(page);
  assert.doesNotMatch((await mode(page, "names")).out, /invoice|doctor/);
});

test("a reply gets the user's words back, of the text that was copied", { skip }, async () => {
  const context = await browser();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const { address } = await served();
  const page = await open(context, address);
  await write(page, TEXT);
  await page.click("[data-mode=names] button");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, (await mode(page, "names")).out);
  await write(page, "Something else of Peter Smith.");
  await page.fill("#reply", `They wrote: ${copied}`);
  await page.waitForFunction(() => document.getElementById("restored").textContent !== "");
  assert.match(await page.textContent("#restored"), /Anna Novak paid the invoice in Boston/);
});

test("after the first load it starts and works without a network", { skip }, async () => {
  const context = await browser();
  const { address, close } = await served();
  const page = await open(context, address);
  assert.equal(await page.getAttribute("#state", "data-state"), "offline");
  await page.close();
  await close();
  const later = await open(context, address);
  assert.equal(await later.getAttribute("#state", "data-state"), "offline");
  await write(later, TEXT);
  assert.notEqual((await mode(later, "words")).out, "");
});

test("a new build takes over, keeps the bundle of the old one, and works without a network", { skip }, async () => {
  const context = await browser();
  let anew = false;
  const { seen, address, close } = await served((path, bytes) => {
    if (anew && /(?:page|load|offline)\.js$/.test(path)) return another(bytes);
  });
  const page = await open(context, address);
  const bundles = () => seen.filter((path) => path.endsWith(".zip")).length;
  assert.equal(bundles(), 1);
  await settled(page);
  anew = true;
  const taken = () => page.evaluate(() => caches.has("textveil / build 1111111111111111"));
  for (let tries = 0; tries < 20 && !(await taken()); tries++) {
    await page.reload(); // a browser looks for a new build when a page of the old one is opened
    await page.waitForSelector("#state[data-state=offline]");
    await page.waitForTimeout(1500);
  }
  await page.goto("about:blank");
  await close();
  await open(context, address);
  const later = await open(context, address);
  assert.equal(await later.getAttribute("#state", "data-state"), "offline");
  assert.deepEqual(await later.evaluate(() => caches.keys()), ["textveil / build 1111111111111111"]);
  assert.equal(bundles(), 1);
});

test("versions of the page on one origin leave each other's files alone", { skip }, async () => {
  const context = await browser();
  const built = await folder();
  await build(built);
  const versions = {
    v1: serving(built),
    v2: serving(built, (path, bytes) => (/\.js$/.test(path) ? another(bytes) : undefined)),
  };
  const { close, address } = await server((request, response) => {
    const [, version, rest] = /^\/(v[12])(\/.*)$/.exec(request.url) ?? [];
    if (version === undefined) return response.writeHead(404).end();
    request.url = rest;
    return versions[version](request, response);
  });
  for (const version of ["v1/", "v2/"]) {
    const page = await open(context, address + version);
    assert.equal(await page.getAttribute("#state", "data-state"), "offline");
    await page.close();
  }
  await close();
  for (const version of ["v1/", "v2/"]) {
    const page = await open(context, address + version);
    assert.equal(await page.getAttribute("#state", "data-state"), "offline", version);
  }
});

test("nothing of the text is stored", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  await write(page, `${TEXT} Qwyzzle`);
  const stored = await page.evaluate(async () => {
    const kept = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie];
    kept.push(JSON.stringify(await indexedDB.databases()));
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const { url } of await cache.keys()) kept.push(url, await (await cache.match(url)).text());
    }
    return kept.join("\n").includes("Qwyzzle");
  });
  assert.equal(stored, false);
  await page.reload();
  await page.waitForSelector("#state[data-state=offline]");
  assert.ok(!(await page.inputValue("#text")).includes("Qwyzzle"));
});

test("everything is reached with the keys, in the order of the page", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  await settled(page);
  const reached = [];
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const { id, tagName, textContent } = document.activeElement;
      const of = document.activeElement.closest("[data-mode]")?.dataset.mode;
      return tagName === "BODY" ? "" : id || `${of}: ${document.activeElement.ariaLabel ?? textContent}`;
    });
    if (at === "" || reached.includes(at)) break;
    reached.push(at);
  }
  const expected = [
    "sample",
    "clear",
    "text",
    "style",
    "facts",
    "epsilon",
    "deny",
    "known",
    "patterns",
    "again",
    "example",
    "reply",
    "restored",
  ];
  assert.deepEqual(
    reached.filter((id) => expected.includes(id)),
    expected,
  );
  for (const name of ["names", "words", "all"])
    assert.equal(reached.filter((at) => at.startsWith(`${name}:`)).length, 4);
});

test("it fits phones, in both color schemes, and axe finds nothing", { skip }, async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  await page.click("#example");
  await page.click("details summary");
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [320, 360, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} px too wide at ${width}`);
      const found = await page.evaluate(
        `${axe}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)]))`,
      );
      assert.deepEqual(found, [], `${colorScheme} ${width}`);
    }
  }
});

test("the language of a pack is chosen in the page, has its one mode, and needs no connection", { skip }, async () => {
  const context = await browser();
  const built = await folder();
  const pack = fileURLToPath(new URL("../../docs/golden/names-qaa/", import.meta.url));
  await build(built, [pack]);
  const { address, seen } = await server(serving(built));
  const page = await open(context, address);
  const before = seen.length;
  assert.equal(await page.isVisible("#language"), true);
  await page.selectOption("#language", "qaa");
  await page.waitForFunction(() => document.querySelector("#bundle").textContent.includes("pack-qaa"));
  await write(page, "qalq l'qapfu Vrobelix");
  const { out, promise } = await mode(page, "names");
  assert.match(out, /^qalq l'qapfu (?!Vrobelix)\w+$/);
  assert.match(promise, /^Kept: common words from a public list, /);
  assert.deepEqual(await page.$$eval("[data-mode]", (cards) => cards.map((card) => card.hidden)), [false, true, true]);
  await page.fill("#reply", `${out.split(" ").at(-1)}m`);
  await page.waitForFunction(() => document.querySelector("#restored").textContent !== "");
  assert.equal(await page.textContent("#restored"), "Vrobelixm");
  await page.selectOption("#language", "en");
  await page.waitForFunction(() => document.querySelector("#bundle").textContent.includes("english"));
  await write(page, TEXT);
  assert.match((await mode(page, "names")).out, /paid the invoice in/);
  assert.equal(seen.length, before);
});
