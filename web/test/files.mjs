/** Bundles for tests: their files in memory, changed, with a manifest that fits or does not. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const golden = fileURLToPath(new URL("../../docs/golden/", import.meta.url));
export const english = fileURLToPath(new URL("../../artifacts/english-v4/", import.meta.url));
const sha256 = (content) => createHash("sha256").update(content).digest("hex");

/** The files of a folder, by name. */
export function filesOf(folder) {
  return new Map(readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(`${folder}/${name}`))]));
}

/** JSON as bytes. */
export const bytes = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
export const json = (files, name) => JSON.parse(new TextDecoder().decode(files.get(name)));

/** Files of which one is another, with hashes that fit: what is wrong is inside. */
export function changed(files, name, content) {
  const found = new Map(files).set(name, content);
  const manifest = json(found, "manifest.json");
  const said = (of) => ({ sha256: sha256(found.get(of)), bytes: found.get(of).length });
  if (name !== "mechanism.json" && found.has("mechanism.json")) {
    const law = json(found, "mechanism.json");
    if (name in law.files) law.files[name] = sha256(content);
    found.set("mechanism.json", bytes(law));
    manifest.files["mechanism.json"] = said("mechanism.json");
  }
  if (name !== "manifest.json") manifest.files[name] = said(name);
  return found.set("manifest.json", name === "manifest.json" ? content : bytes(manifest));
}
