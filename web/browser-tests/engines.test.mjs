// The library gives the same output in other engines than Node's: JavaScriptCore, which is what runs on iOS.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { folder } from "./harness.mjs";

const JSC = process.env.JSC ?? "/usr/bin/jsc";
const skip = existsSync(JSC)
  ? false
  : `there is no ${JSC}: install Debian's libjavascriptcoregtk-4.0-bin, or name one in JSC`;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const HARD = [
  "My name is Anna Novak. I can’t pay 617-555-0143, ça va? Größe ＡＢＣ 😀 naïve İstanbul ΣΑΣ ﬁne",
  "NASA and O'Brien's dog; e-mail anna@example.com at 5 pm on 12/05/2024, user=anna, \ud800 x\u0000y \u202eabc",
];
const OPTIONS = [
  { protect: "names" },
  { protect: "names", style: "tag" },
  { protect: "words" },
  { protect: "all", epsilon: 8 },
];
const RUN = `
  import { Sanitizer } from "textveil";
  globalThis.run = async (files, texts, options) => {
    const sanitizer = await Sanitizer.load(files);
    return options.flatMap((chosen) => sanitizer.sanitizeBatch(texts, chosen).map(({ text, statement }) => [text, statement.line()]));
  };`;

/** The library in one script without modules; files of a disk are not there. */
async function library() {
  const none = { contents: "export {};" };
  const nowhere = {
    name: "nowhere",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "nowhere" }));
      onLoad({ filter: /./, namespace: "nowhere" }, () => none);
    },
  };
  const stdin = { contents: RUN, resolveDir: here(".") };
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    format: "iife",
    write: false,
    plugins: [nowhere],
    logLevel: "error",
  });
  return outputFiles[0].text;
}

/** Bytes as a script that makes them again; each character of the text is a byte. */
const spelled = (bytes) => `bytes(${JSON.stringify(bytes.toString("latin1"))})`;

test("JavaScriptCore writes what V8 writes from the same random bytes", { skip }, async () => {
  const bundle = here("../../artifacts/english-v4/");
  const files = await Promise.all(
    (await readdir(bundle)).map(async (name) => [name, await readFile(join(bundle, name))]),
  );
  const examples = ["notes.txt", "headlines.tsv", "tickets.csv", "chats.jsonl"].map((name) =>
    here(`../../docs/examples/${name}`),
  );
  const lines = (await Promise.all(examples.map((name) => readFile(name, "utf8")))).flatMap((text) => text.split("\n"));
  const script = `
    ${await readFile(here("stand-ins.js"), "utf8")}
    ${await library()}
    const bytes = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
    const files = {${files.map(([name, content]) => `${JSON.stringify(name)}: ${spelled(content)}`).join(",\n")}};
    run(files, ${JSON.stringify([...HARD, ...lines])}, ${JSON.stringify(OPTIONS)})
      .then((outputs) => print(encodeURIComponent(JSON.stringify(outputs))), (error) => print("failed " + error.stack));`;
  const path = join(await folder(), "run.js");
  await writeFile(path, script);
  const { stdout } = await promisify(execFile)(JSC, [path], { maxBuffer: 2 ** 28 });
  const said = await new Promise((resolve) => runInContext(script, createContext({ print: resolve })));
  const outputs = JSON.parse(decodeURIComponent(said));
  assert.equal(outputs.length, OPTIONS.length * (HARD.length + lines.length));
  assert.deepEqual(JSON.parse(decodeURIComponent(stdout)), outputs);
  assert.doesNotMatch(outputs[0][0], /Novak/);
});
