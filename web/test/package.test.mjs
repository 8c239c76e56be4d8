/** What is published is all that it refers to: declarations name no file that stays behind. */

import assert from "node:assert/strict";
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
