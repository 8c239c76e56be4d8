/**
 * Writes a bundle as one file, a zip archive that `Sanitizer.load` reads.
 *
 *     node scripts/pack.mjs FOLDER OUTPUT [--names]
 *
 * With --names it is another bundle: the lists of the mode names alone, with an identity of its own, which is printed.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zipped } from "./zip.mjs";

const sha256 = (content) => createHash("sha256").update(content).digest("hex");
const [folder, output, ...flags] = process.argv.slice(2);
if (output === undefined || flags.some((flag) => flag !== "--names")) {
  console.error("node scripts/pack.mjs FOLDER OUTPUT [--names]");
  process.exit(2);
}
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
const packed = flags.length > 0 ? namesAlone(files) : listed(files);
writeFileSync(`${output}.part`, zipped(packed));
renameSync(`${output}.part`, output);
console.log(`${output}: bundle ${sha256(packed.get("manifest.json"))}`);

/** The files that the manifest lists, and the manifest. */
function listed(found) {
  const manifest = JSON.parse(found.get("manifest.json").toString("utf8"));
  return new Map(["manifest.json", ...Object.keys(manifest.files)].map((name) => [name, found.get(name)]));
}

/** The bundle that has the lists of the mode names, and what text is cut by, alone. */
function namesAlone(found) {
  const law = JSON.parse(found.get("mechanism.json").toString("utf8"));
  const manifest = JSON.parse(found.get("manifest.json").toString("utf8"));
  const kept = Object.keys(law.files).filter((name) => /^(?:names\.|common-|kept-|characters)/.test(name));
  const lawAlone = {
    vocabulary_size: 0,
    santext: null,
    staircase: null,
    template: null,
    names: law.names,
    defaults: { mechanism: null },
    files: Object.fromEntries(kept.map((name) => [name, law.files[name]])),
  };
  const contents = new Map(kept.map((name) => [name, found.get(name)]));
  contents.set("mechanism.json", Buffer.from(`${JSON.stringify(lawAlone, null, 2)}\n`));
  const { name, license, attribution, provenance } = manifest;
  const entries = [...contents].map(([file, content]) => [file, { sha256: sha256(content), bytes: content.length }]);
  const manifestAlone = {
    format: manifest.format,
    format_version: manifest.format_version,
    bundle_type: "text",
    name: `${name}: the lists of the mode names`,
    epsilon_notion: manifest.epsilon_notion,
    license,
    attribution,
    levels: {},
    provenance,
    files: Object.fromEntries(entries),
  };
  contents.set("manifest.json", Buffer.from(`${JSON.stringify(manifestAlone, null, 2)}\n`));
  return contents;
}
