// Builds the page into a folder: `node demo/build.mjs [FOLDER [PACK ...]]`, by default `demo/dist`. Run `npm run build`
// first. A PACK is the folder of a bundle of another language; the page lets its user choose among them.
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

/** Writes the page with the built-in bundle and those of language packs; returns the names of its files. */
export async function page(target, packs = []) {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const archives = await Promise.all([packed(), ...packs.map((folder) => packed(folder))]);
  const bundles = archives.map(({ name, identity, language }) => ({
    name: name.replace(".zip", `-${identity.slice(0, HASH.length)}.zip`), // a new build may keep the bundle of an old one
    identity,
    language,
  }));
  const files = [...STILL, "page.js", "load.js", "sanitize.js", ...bundles.map(({ name }) => name)];
  const define = { BUILD: `build ${HASH}`, BUNDLES: bundles, FILES: files };
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
  const hash = createHash("sha256");
  for (const { bytes } of archives) hash.update(bytes);
  for (const [, contents] of [...still, ...outputFiles.map(({ path, contents }) => [path, contents])])
    hash.update(contents);
  const digest = hash.digest("hex").slice(0, HASH.length);
  for (const { path, text } of outputFiles) await writeFile(path, text.replaceAll(HASH, digest));
  for (const [path, contents] of still) await writeFile(path, contents);
  for (const [place, { bytes }] of archives.entries()) await writeFile(join(target, bundles[place].name), bytes);
  return [...files, "offline.js"];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = resolve(process.argv[2] ?? join(here, "dist"));
  const files = await page(target, process.argv.slice(3));
  console.log(`${target}: ${files.join(", ")}`);
}
