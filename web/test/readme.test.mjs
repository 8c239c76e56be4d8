/** The examples of the README run, each as it stands there, with the module that is published. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { english } from "./files.mjs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/^(<!-- run -->\n)?```js\n(.*?)^```/gms)];
const module = new URL("../dist/textveil.js", import.meta.url).href;
const root = english.replace(/artifacts\/english-v4\/$/, "");

test("every example is marked", () => {
  assert.equal(blocks.filter(([, marker]) => marker !== undefined).length, blocks.length);
  assert.ok(blocks.length >= 5);
});

for (const [place, [, , code]] of blocks.entries()) {
  test(`example ${place + 1}`, async (t) => {
    const said = [];
    t.mock.method(console, "log", (...values) => said.push(values));
    const script = code
      .replaceAll('"textveil"', JSON.stringify(module))
      .replaceAll('"artifacts/', `"${root}artifacts/`);
    await import(`data:text/javascript,${encodeURIComponent(script)}`);
    assert.ok(said.length > 0);
    if (place === 0) assert.match(said[2][0], /^Tell Anna to rest\.$/);
    if (code.includes("UnknownLevel")) assert.deepEqual(said[0].slice(0, 3), [true, true, "unknown-epsilon"]);
  });
}
