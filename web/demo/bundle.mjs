// The bundles that the page and the examples carry: the built-in one as one file, or a language pack, and its identity.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { zipped } from "../scripts/zip.mjs";

const BUILT_IN = fileURLToPath(new URL("../../artifacts/english-v4/", import.meta.url));

/** Returns the name of the archive, its bytes, the identity of the bundle in it, and its language. */
export async function packed(folder = BUILT_IN) {
  const read = async (name) => [name, await readFile(join(folder, name))];
  const [, manifest] = await read("manifest.json");
  const files = await Promise.all(Object.keys(JSON.parse(manifest).files).map(read));
  const bytes = Buffer.from(zipped(new Map([["manifest.json", manifest], ...files])));
  const rules = files.find(([name]) => name === "rules.json")?.[1];
  const language = rules === undefined ? "en" : JSON.parse(rules).language;
  const name = folder === BUILT_IN ? "english-v4.zip" : `pack-${language}.zip`;
  return { name, bytes, identity: createHash("sha256").update(manifest).digest("hex"), language };
}
