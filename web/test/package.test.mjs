/** What is published is all that it refers to: declarations name no file that stays behind. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";

const root = new URL("../", import.meta.url);
const { files } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

test("declarations refer to declarations that are published, and each is referred to", () => {
  const referred = new Set(["dist/index.d.ts"]);
  for (const file of files.filter((name) => name.endsWith(".d.ts"))) {
    assert.ok(existsSync(new URL(file, root)), file);
    for (const [, path] of readFileSync(new URL(file, root), "utf8").matchAll(/from "(\..*?)\.js"/g)) {
      const other = `${posix.join(posix.dirname(file), path)}.d.ts`;
      assert.ok(files.includes(other), `${file} refers to ${other}`);
      referred.add(other);
    }
  }
  assert.deepEqual([...referred].sort(), files.filter((name) => name.endsWith(".d.ts")).sort());
});

test("the module needs nothing but Node's own, and that in Node alone", () => {
  const module = readFileSync(new URL("dist/textveil.js", root), "utf8");
  const imported = [...module.matchAll(/import\("(.*?)"\)|^import .*? from "(.*?)"/gm)].map(
    ([, one, other]) => one ?? other,
  );
  assert.ok(imported.length > 0 && imported.every((name) => name.startsWith("node:")), `${imported}`);
});
