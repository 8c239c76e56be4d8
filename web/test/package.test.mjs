/** What is published is complete: declarations name no file that stays behind, and data is that of the Python package. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import typescript from "typescript";
import { english } from "./files.mjs";

const root = new URL("../", import.meta.url);
const { files } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

test("the one file of declarations is complete, and exports what the module exports", async () => {
  assert.deepEqual(files, ["dist/textveil.js", "dist/index.d.ts"]);
  const source = readFileSync(new URL("dist/index.d.ts", root), "utf8");
  assert.doesNotMatch(source, /from "/);
  const program = typescript.createProgram([fileURLToPath(new URL("dist/index.d.ts", root))], {
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    noEmit: true,
    strict: true,
    target: typescript.ScriptTarget.ES2022,
    types: [],
  });
  const found = typescript.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
  assert.deepEqual(found, []);
  const classes = [...source.matchAll(/^export declare (?:abstract )?(?:class|const|function) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const exported = Object.keys(await import("../dist/textveil.js"));
  assert.deepEqual(
    exported.filter((name) => !classes.includes(name)),
    [],
  );
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
    assert.equal((await Sanitizer.load(english)).modes.length, 3); // in Node it reads paths
  });
}

test("the data is that of the Python package, byte for byte, without statements of mechanisms of Python alone", async () => {
  for (const name of readdirSync(new URL("dist/data", root))) {
    const source = readFileSync(new URL(`../runtime/src/textveil/data/${name}`, root), "utf8");
    const shared = name === "statements.json" ? source.replace(/^ {2}"(tokens|vector)": .*?^ {2}\},\n/gms, "") : source;
    assert.equal(readFileSync(new URL(`dist/data/${name}`, root), "utf8"), shared, name);
  }
  const files = { characters: "character_tables", rules: "rules", statements: "statements", types: "entity_types" };
  const data = { ...(await import("../dist/data.js")) };
  for (const [name, file] of Object.entries(files)) {
    assert.deepEqual(data[name], JSON.parse(readFileSync(new URL(`dist/data/${file}.json`, root), "utf8")));
  }
});

test("the package is as small as the README says", () => {
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ size }] = JSON.parse(told);
  const [, said] = /says ([0-9.]+) kB/.exec(readFileSync(new URL("README.md", root), "utf8"));
  // Rules of facts, own entity types and explained previews, which Python has too, take 1.5, 7 and 1.4 kB, joined language packs 1.2, inflections of replies 1.8, lines that are code .9, names that are words .7, names of languages .9, surnames in headlines .5, surnames before commas, words beside names and account numbers in groups 1.2, paths of addresses with ranges of dates 1.2, codes of errors, versions, sizes and persons before places 1.3, warnings of other languages, invented tags and attributes of table heads 1.3, formulas, lists of numbers and labels 1.5, markers of lists, placeholders and greetings 1.5, directives of other markup languages 1.8, ends of values of JSON, constants of code, indexed variables and platforms 1.2, titles that are family names .4, companies under discussion .6, names behind greetings .6, and words of requests in languages without blanks 4.
  assert.ok(Math.abs(size / 1000 - said) < 0.3 && size < 132_000, `${size} bytes`);
});
