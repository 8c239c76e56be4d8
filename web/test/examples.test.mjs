/** Examples, the demo page and the code of the guides use the library as its declarations describe it. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import typescript from "typescript";

const root = fileURLToPath(new URL("../", import.meta.url));
const declared = [
  ...readFileSync(`${root}dist/index.d.ts`, "utf8").matchAll(/^export (?:declare )?(?:abstract )?\w+ (\w+)/gm),
].map(([, name]) => name);
// Of a library without types, such as `chrome`, nothing is known: errors count if they name one of these.
const ofLibrary = new RegExp(`\\b(?:${declared.join("|")})\\b|textveil`);

// Code of a guide without an import has an open sanitizer.
const OPENED = 'import { Sanitizer } from "textveil";\nconst sanitizer = await Sanitizer.load("bundle");\n';

/** Sources by their path in this package: files of examples and of the demo page, and code of guides. */
function sources() {
  const found = new Map();
  for (const folder of ["examples", "demo"])
    for (const name of readdirSync(root + folder, { recursive: true }))
      if (/\.(js|mjs|ts)$/.test(name)) found.set(`${root}${folder}/${name}`, undefined);
  const guides = new URL("../docs/", `file://${root}`);
  for (const name of readdirSync(guides, { recursive: true }).filter((name) => name.endsWith(".md"))) {
    const blocks = readFileSync(new URL(name, guides), "utf8").matchAll(/^```js\n(.*?)^```/gms);
    for (const [place, [, code]] of [...blocks].entries())
      found.set(`${root}examples/${basename(name)}.${place}.mjs`, code.includes("import ") ? code : OPENED + code);
  }
  return found;
}

/** The errors of types that concern the library, after `change` of every source: file name and message. */
function errors(change = (source) => source) {
  const found = sources();
  const options = {
    allowJs: true,
    allowImportingTsExtensions: true,
    checkJs: true,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: typescript.ModuleKind.NodeNext,
    moduleResolution: typescript.ModuleResolutionKind.NodeNext,
    noEmit: true,
    skipLibCheck: true,
    strictNullChecks: true,
    target: typescript.ScriptTarget.ES2022,
    typeRoots: [`${root}node_modules/@types`],
    types: ["node"],
  };
  const host = typescript.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (name) => found.get(name) !== undefined || fileExists(name);
  host.readFile = (name) => (found.has(name) ? change(found.get(name) ?? readFile(name)) : readFile(name));
  const program = typescript.createProgram([...found.keys()], options, host);
  return typescript
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => [
      basename(file?.fileName ?? ""),
      typescript.flattenDiagnosticMessageText(messageText, " "),
    ])
    .filter(([, message]) => ofLibrary.test(message));
}

test("examples, the demo page and guides use only what the library has", () => {
  assert.deepEqual(errors(), []);
});

test("a method, an export and an option that the library does not have are found", () => {
  const renames = { "formatLine()": "line()", "protect:": "mode:", TextveilError: "RewriteError" };
  const found = errors((source) => Object.entries(renames).reduce((text, pair) => text.replaceAll(...pair), source));
  const planted = [
    ["background.js", "'line'"],
    ["app.js", "'line'"],
    ["rewrite.mjs", "'line'"],
    ["sanitize.ts", "'line'"],
    ["web.md.0.mjs", "'mode'"],
    ["app.js", "'RewriteError'"],
  ];
  for (const [name, word] of planted)
    assert.ok(
      found.some(([file, message]) => file === name && message.includes(word)),
      `${name} ${word}`,
    );
});
