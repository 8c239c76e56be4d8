/** What is published is all that it refers to: declarations name no file that stays behind. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { english } from "./files.mjs";

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

for (const platform of ["browser", "neutral", "node"]) {
  test(`a bundler resolves the module without a setting: ${platform}`, async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: 'export { Sanitizer } from "textveil";', resolveDir: fileURLToPath(root) },
      bundle: true,
      format: "esm",
      platform,
      write: false,
      metafile: true,
    });
    assert.deepEqual(Object.values(metafile.outputs)[0].imports, []);
    const { Sanitizer } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
    assert.equal((await Sanitizer.load(english)).rungs.length, 3); // in Node it reads paths
  });
}

test("the package is as small as the README says", () => {
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ size }] = JSON.parse(told);
  const [, said] = /says ([0-9.]+) kB/.exec(readFileSync(new URL("README.md", root), "utf8"));
  assert.ok(Math.abs(size / 1000 - said) < 0.3 && size < 80_000, `${size} bytes`);
});
