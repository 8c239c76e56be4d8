// The bundle that the page and the examples carry: the built-in one as one file, and its identity.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { zipped } from "../scripts/zip.mjs";

const FOLDER = new URL("../../artifacts/english-v4/", import.meta.url);

/** Returns the name of the archive, its bytes, and the identity of the bundle in it. */
export async function packed() {
  const read = async (name) => [name, await readFile(new URL(name, FOLDER))];
  const [, manifest] = await read("manifest.json");
  const files = await Promise.all(Object.keys(JSON.parse(manifest).files).map(read));
  const bytes = Buffer.from(zipped(new Map([["manifest.json", manifest], ...files])));
  return { name: "english-v4.zip", bytes, identity: createHash("sha256").update(manifest).digest("hex") };
}
