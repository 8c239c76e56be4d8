// Builds the extension into a folder: `node examples/extension/build.mjs [FOLDER]`, by default `dist` here. Run `npm run build` first.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { packed } from "../../demo/bundle.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Writes the extension: its sources, the library in its worker, and the bundle. */
export async function extension(target) {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const { name, bytes, identity } = await packed();
  await build({
    absWorkingDir: here,
    entryPoints: ["background.js"],
    outdir: target,
    bundle: true,
    format: "iife",
    target: "es2022",
    define: { BUNDLE: JSON.stringify(name), IDENTITY: JSON.stringify(identity) },
  });
  for (const file of ["manifest.json", "content.js"]) await cp(join(here, file), join(target, file));
  await writeFile(join(target, name), bytes);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = resolve(process.argv[2] ?? join(here, "dist"));
  await extension(target);
  console.log(target);
}
