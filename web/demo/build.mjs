// Builds the page into a folder: `node demo/build.mjs [FOLDER]`, by default `demo/dist`. Run `npm run build` first.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { packed } from "./bundle.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const STILL = ["index.html", "style.css", "icon.svg"];
const SCRIPTS = {
  page: "src/page.ts",
  load: "workers/load.ts",
  sanitize: "workers/sanitize.ts",
  offline: "workers/offline.ts",
};
/** Stands in the scripts for the hash of all that was built, which is known only afterwards. */
const HASH = "0000000000000000";

/** Writes the page; returns the names of its files. */
export async function page(target) {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const { bytes, identity, ...bundle } = await packed();
  const name = bundle.name.replace(".zip", `-${identity.slice(0, HASH.length)}.zip`); // a new build may keep the bundle of an old one
  const files = [...STILL, "page.js", "load.js", "sanitize.js", name];
  const define = { BUILD: `build ${HASH}`, BUNDLE: name, IDENTITY: identity, FILES: files };
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: SCRIPTS,
    outdir: target,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    write: false,
    define: Object.fromEntries(Object.entries(define).map(([key, value]) => [key, JSON.stringify(value)])),
  });
  const still = await Promise.all(STILL.map(async (file) => [join(target, file), await readFile(join(here, file))]));
  const hash = createHash("sha256").update(bytes);
  for (const [, contents] of [...still, ...outputFiles.map(({ path, contents }) => [path, contents])])
    hash.update(contents);
  const digest = hash.digest("hex").slice(0, HASH.length);
  for (const { path, text } of outputFiles) await writeFile(path, text.replaceAll(HASH, digest));
  for (const [path, contents] of still) await writeFile(path, contents);
  await writeFile(join(target, name), bytes);
  return [...files, "offline.js"];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = resolve(process.argv[2] ?? join(here, "dist"));
  const files = await page(target);
  console.log(`${target}: ${files.join(", ")}`);
}
