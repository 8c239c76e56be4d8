/**
 * Prints how long a bundle takes to open in Node and in Chromium, in turn in one run: a new process and a new browser
 * profile each time, medians. The first text of a mode, which reads its lists, is told beside it.
 *
 *     npm run build && node bench/load.mjs [ROUNDS]
 */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const run = promisify(execFile);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 9);
const MODULE = here("../dist/textveil.js");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const BUNDLES = { "names.zip": "names", "all.zip": "words" };

/** What is timed, one after the other, in both. */
const steps = (module, source, protect) => [
  `import(${JSON.stringify(module)}).then((found) => { globalThis.library = found; })`,
  `library.Sanitizer.load(${JSON.stringify(source)}).then((found) => { globalThis.sanitizer = found; })`,
  `Promise.resolve(sanitizer.sanitize("Anna saw the doctor in Boston.", { protect: ${JSON.stringify(protect)} })).then(() => {})`,
];

const folder = await mkdtemp(join(tmpdir(), "textveil-load-"));
for (const [name, protect] of Object.entries(BUNDLES)) {
  const flags = protect === "names" ? ["--names"] : [];
  await run(process.execPath, [
    here("../scripts/pack.mjs"),
    here("../../artifacts/english-v4"),
    join(folder, name),
    ...flags,
  ]);
}
const files = Object.fromEntries(Object.keys(BUNDLES).map((name) => [`/${name}`, readFileSync(join(folder, name))]));
files["/textveil.js"] = readFileSync(MODULE);
const server = createServer(({ url }, response) => {
  const type = url.endsWith(".js") ? "text/javascript" : url.endsWith(".zip") ? "application/zip" : "text/html";
  response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(files[url] ?? "<!doctype html>");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}`;

/** Milliseconds by the clock and of the processor, of each step: Node's of all threads, Chromium's of the page's process. */
const ways = {
  Node: async (name, protect) => {
    const script = `(async () => {
      const found = [];
      for (const step of ${JSON.stringify(steps(MODULE, join(folder, name), protect))}) {
        const [clock, processor] = [performance.now(), process.cpuUsage()];
        await (0, eval)(step);
        const { user, system } = process.cpuUsage(processor);
        found.push([performance.now() - clock, (user + system) / 1000]);
      }
      console.log(JSON.stringify(found));
    })()`;
    return JSON.parse((await run(process.execPath, ["-e", script])).stdout);
  },
  Chromium: async (name, protect) => {
    const profile = await mkdtemp(join(folder, "profile-"));
    const args = ["--no-sandbox", "--disable-gpu"];
    const context = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM, args });
    const page = await context.newPage();
    await page.goto(address);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Performance.enable");
    const processor = async () => {
      const { metrics } = await devtools.send("Performance.getMetrics");
      return 1000 * metrics.find((metric) => metric.name === "ProcessTime").value;
    };
    const found = [];
    for (const step of steps("/textveil.js", `${address}/${name}`, protect)) {
      const before = await processor();
      const clock = await page.evaluate(
        `(async (start) => { await ${step}; return performance.now() - start })(performance.now())`,
      );
      found.push([clock, (await processor()) - before]);
    }
    await context.close();
    return found;
  },
};
const median = (values) => values.sort((one, other) => one - other)[values.length >> 1];
const all = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, protect] of Object.entries(BUNDLES)) {
    for (const [way, measure] of Object.entries(ways)) {
      const what = `${way}, ${name}`;
      all[what] = [...(all[what] ?? []), await measure(name, protect)];
    }
  }
}
server.close();
await rm(folder, { recursive: true });
console.log(`${ROUNDS} rounds; medians in ms, by the clock / of the processor; in brackets the least`);
for (const [what, rows] of Object.entries(all)) {
  const told = ["module", "bundle", "first text"].map((step, place) => {
    const [clock, processor] = [0, 1].map((which) => rows.map((row) => row[place][which]));
    const [usual, used] = [median(clock), median(processor)].map(Math.round);
    return `${step} ${usual} / ${used} (${Math.round(clock[0])} / ${Math.round(processor[0])})`;
  });
  console.log(`${what}: ${told.join(", ")}`);
}
