/** Opens a bundle: its manifest first, then every file that it lists, hashed before anything is made of it. */

import { FORMAT, FORMAT_VERSION, MAX_BUNDLE_BYTES, MAX_JSON_BYTES } from "../constants.js";
import { thousands } from "../decimal.js";
import {
  BundleDamaged,
  BundleError,
  BundleNotFound,
  BundleTooLarge,
  BundleVersion,
  IdentityMismatch,
  OptionError,
  WrongBundle,
} from "../errors.js";
import { anObject, aText, integer, type JsonObject, parseJson, record } from "./json.js";
import { filesOf, type Source } from "./source.js";

/** @internal */
export const MANIFEST = "manifest.json";
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const SHA256 = /^[0-9a-f]{64}$/;
const PURPOSES = new Map([
  ["text", "this bundle sanitizes text: Sanitizer.load"],
  ["vectors", "this bundle releases vectors: this package cannot"],
  ["labels", "this bundle releases class labels: IndexEncoder.load"],
]);
/** What a bundle must be, or it is refused. What is left out is not demanded. */
export interface Pins {
  /** The identity that it must have: 64 hexadecimal digits. */
  readonly expectId?: string | undefined;
  /** Most bytes of all its files together; 256 MB if left out. */
  readonly maxBytes?: number | undefined;
}

/** @internal A bundle whose hashes were checked. */
export interface Opened {
  readonly identity: string;
  readonly manifest: JsonObject;
  readonly hashes: ReadonlyMap<string, string>;
  /** A file; damaged if the manifest does not list it. */
  readonly file: (name: string) => Uint8Array;
  /** How many bytes all files have. */
  readonly bytes: number;
}

/** @internal Opens a bundle of one kind. */
export async function openBundle(source: Source, kind: "text" | "labels", pins: Pins = {}): Promise<Opened> {
  const known = (name: string): boolean => name === "expectId" || name === "maxBytes";
  if (typeof pins !== "object" || pins === null || !Object.keys(pins).every(known)) {
    throw new OptionError("expected properties of a bundle are expectId, maxBytes");
  }
  const { expectId, maxBytes = MAX_BUNDLE_BYTES } = pins;
  if (expectId !== undefined && typeof expectId !== "string") {
    throw new OptionError("an expected content hash is a string of 64 hexadecimal digits");
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new OptionError("maxBytes is a whole number of bytes, at least 1");
  }
  const read = await filesOf(source, maxBytes);
  const content = await read(MANIFEST, MAX_JSON_BYTES);
  if (content === undefined) {
    throw new BundleNotFound("no bundle at the given path (a bundle is a folder with a manifest.json)");
  }
  const manifest = parseJson(content, MANIFEST);
  const format = manifest.get("format");
  if (typeof format !== "string" || !format.startsWith("textveil-")) {
    throw new BundleDamaged(`${MANIFEST}: not that of a bundle`);
  }
  if (format !== FORMAT || manifest.get("format_version") !== FORMAT_VERSION) {
    throw new BundleVersion(`${MANIFEST}: ${explainVersion(manifest)}`);
  }
  const found = manifest.get("bundle_type");
  const purpose = typeof found === "string" ? PURPOSES.get(found) : undefined;
  if (purpose === undefined) throw new BundleDamaged(`${MANIFEST}: bundle_type is not one of text, vectors, labels`);
  if (found !== kind) throw new WrongBundle(purpose);
  const identity = await sha256(content);
  if (expectId !== undefined && expectId.trim().toLowerCase() !== identity) {
    throw new IdentityMismatch(`the bundle has another content hash: ${identity}`);
  }
  const listed = anObject(manifest.get("files"), MANIFEST);
  const entries = [...listed].map(([name, value]) => {
    if (!FILE_NAME.test(name) || name === MANIFEST)
      throw new BundleDamaged(`${MANIFEST}: lists a file outside the bundle`);
    const entry = record(value, ["bytes", "sha256"], MANIFEST);
    return {
      name,
      bytes: integer(entry.get("bytes"), 0, Number.MAX_SAFE_INTEGER, MANIFEST),
      sha256: aText(entry.get("sha256"), MANIFEST, SHA256),
    };
  });
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (bytes > maxBytes) {
    throw new BundleTooLarge(
      `the files of this bundle have more than ${thousands(maxBytes)} bytes (maxBytes allows more)`,
    );
  }
  const contents = new Map<string, Uint8Array>();
  await Promise.all(
    entries.map(async (entry) => {
      const file = await read(entry.name, entry.bytes).catch((error: unknown) => {
        if (error instanceof BundleTooLarge) throw new BundleDamaged(otherSize(entry.name));
        throw error;
      });
      if (file === undefined) throw new BundleDamaged(`${entry.name}: cannot be read`);
      const copy = Uint8Array.from(file); // what is used is what was hashed
      if (copy.length !== entry.bytes) throw new BundleDamaged(otherSize(entry.name));
      if ((await sha256(copy)) !== entry.sha256) throw new BundleDamaged(`${entry.name}: does not match its hash`);
      contents.set(entry.name, copy);
    }),
  );
  return {
    identity,
    manifest,
    bytes,
    hashes: new Map(entries.map((entry) => [entry.name, entry.sha256])),
    file: (name) => {
      const file = contents.get(name);
      if (file === undefined) throw new BundleDamaged(`${MANIFEST}: does not list '${name}'`);
      return file;
    },
  };
}

/** Returns a message for a manifest of another format version: the command that rebuilds an older bundle. */
function explainVersion(manifest: JsonObject): string {
  const reads = `this release reads format version ${FORMAT_VERSION}`;
  if (!(Number(manifest.get("format_version")) < FORMAT_VERSION)) return `${reads} only`;
  return `${reads}: rebuild the bundle with textveil-${manifest.get("kind") === "index" ? "train encoder" : "export"}`;
}

const otherSize = (name: string): string => `${name}: has another size than the manifest says`;

async function sha256(content: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) throw new BundleError("hashes cannot be checked: crypto.subtle is missing (use https)");
  const digest = new Uint8Array(await subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
