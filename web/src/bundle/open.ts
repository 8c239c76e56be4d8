/** Entry point for bundles, which reads the manifest and every listed file, and checks all hashes before parsing. */

import { FORMAT, FORMAT_VERSION, MAX_BUNDLE_BYTES, MAX_JSON_BYTES } from "../constants.js";
import {
  BundleDamaged,
  BundleError,
  BundleNotFound,
  BundleTooLarge,
  BundleVersion,
  ContentHashMismatch,
  OptionError,
  WrongBundle,
} from "../errors.js";
import { formatThousands } from "../mechanisms/decimal.js";
import { type JsonObject, parseInteger, parseJson, parseObject, parseRecord, parseText } from "./json.js";
import { type BundleSource, openSource } from "./source.js";

/** @internal */
export const MANIFEST = "manifest.json";
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const SHA256 = /^[0-9a-f]{64}$/;
const WRONG_BUNDLE_MESSAGES = new Map([
  ["text", "this bundle sanitizes text: Sanitizer.load"],
  ["vectors", "this bundle releases vectors: this package cannot"],
  ["labels", "this bundle releases class labels: TextLabelEncoder.load"],
]);

/** Requirements on a bundle, all optional. A bundle that does not meet them is refused. */
export interface ExpectedBundle {
  /** Required content hash: 64 hexadecimal digits. */
  readonly expectId?: string | undefined;
  /** Maximum total size of its files in bytes; 256 MB by default. */
  readonly maxBytes?: number | undefined;
  /** Language of a text bundle, such as `es`. For several bundles, the languages in the same order, such as `es+en`. */
  readonly language?: string | undefined;
}

/** @internal A bundle with verified hashes. */
export interface BundleBase {
  readonly contentHash: string;
  readonly manifest: JsonObject;
  readonly hashes: ReadonlyMap<string, string>;
  /** Return the bytes of a file. Throw `BundleDamaged` if the manifest does not list the file. */
  readonly getFile: (name: string) => Uint8Array;
  /** Total size of all files in bytes. */
  readonly bytes: number;
}

/** @internal Open a bundle of one type. */
export async function openBundle(
  source: BundleSource,
  bundleType: "text" | "labels",
  expected: ExpectedBundle = {},
): Promise<BundleBase> {
  const isKnown = (name: string): boolean => ["expectId", "maxBytes", "language"].includes(name);
  if (typeof expected !== "object" || expected === null || !Object.keys(expected).every(isKnown)) {
    throw new OptionError("unknown requirement on a bundle: supported are expectId, maxBytes, language");
  }
  const { expectId, maxBytes = MAX_BUNDLE_BYTES } = expected;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new OptionError("maxBytes must be an integer, at least 1");
  }
  const readFile = await openSource(source, maxBytes);
  const content = await readFile(MANIFEST, MAX_JSON_BYTES);
  if (content === undefined) {
    throw new BundleNotFound("no bundle at the given path (a bundle is a folder with a manifest.json)");
  }
  const manifest = parseJson(content, MANIFEST);
  const format = manifest.get("format");
  if (typeof format !== "string" || !format.startsWith("textveil-")) {
    throw new BundleDamaged(`${MANIFEST}: this file is not the manifest of a bundle`);
  }
  if (format !== FORMAT || manifest.get("format_version") !== FORMAT_VERSION) {
    throw new BundleVersion(`${MANIFEST}: ${explainVersion(manifest)}`);
  }
  const foundType = manifest.get("bundle_type");
  const wrongBundleMessage = typeof foundType === "string" ? WRONG_BUNDLE_MESSAGES.get(foundType) : undefined;
  if (wrongBundleMessage === undefined)
    throw new BundleDamaged(`${MANIFEST}: bundle_type is not one of text, vectors, labels`);
  if (foundType !== bundleType) throw new WrongBundle(wrongBundleMessage);
  const contentHash = await computeSha256(content);
  checkContentHash(contentHash, expectId);
  const manifestFiles = parseObject(manifest.get("files"), MANIFEST);
  const entries = [...manifestFiles].map(([name, value]) => {
    if (!FILE_NAME.test(name) || name === MANIFEST)
      throw new BundleDamaged(`${MANIFEST}: lists a file outside the bundle`);
    const entry = parseRecord(value, ["bytes", "sha256"], MANIFEST);
    return {
      name,
      bytes: parseInteger(entry.get("bytes"), 0, Number.MAX_SAFE_INTEGER, MANIFEST),
      sha256: parseText(entry.get("sha256"), MANIFEST, SHA256),
    };
  });
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (bytes > maxBytes) {
    throw new BundleTooLarge(
      `the files of this bundle have more than ${formatThousands(maxBytes)} bytes: if you trust the bundle, raise maxBytes`,
    );
  }
  const contents = new Map<string, Uint8Array>();
  await Promise.all(
    entries.map(async (entry) => {
      const file = await readFile(entry.name, entry.bytes).catch((error: unknown) => {
        if (error instanceof BundleTooLarge) throw new BundleDamaged(describeSize(entry.name));
        throw error;
      });
      if (file === undefined) throw new BundleDamaged(`${entry.name}: cannot be read`);
      const copy = Uint8Array.from(file); // what is used is what was hashed
      if (copy.length !== entry.bytes) throw new BundleDamaged(describeSize(entry.name));
      if ((await computeSha256(copy)) !== entry.sha256)
        throw new BundleDamaged(`${entry.name}: its hash differs from the hash in manifest.json`);
      contents.set(entry.name, copy);
    }),
  );
  return {
    contentHash,
    manifest,
    bytes,
    hashes: new Map(entries.map((entry) => [entry.name, entry.sha256])),
    getFile: (name) => {
      const file = contents.get(name);
      if (file === undefined) throw new BundleDamaged(`${MANIFEST}: does not list '${name}'`);
      return file;
    },
  };
}

/** @internal Check that a content hash is the expected one. */
export function checkContentHash(contentHash: string, expectId: unknown): void {
  if (expectId === undefined) return;
  if (typeof expectId !== "string") {
    throw new OptionError("expectId must be a string of 64 hexadecimal digits (textveil info prints the content hash)");
  }
  if (expectId.trim().toLowerCase() !== contentHash) {
    throw new ContentHashMismatch(
      `the bundle has the content hash ${contentHash}, not the expected one: get the expected bundle, or correct expectId`,
    );
  }
}

/** Return an error message for a manifest of another format version. For an older one, it has the rebuild command. */
function explainVersion(manifest: JsonObject): string {
  const supported = `this release reads format version ${FORMAT_VERSION}`;
  if (!(Number(manifest.get("format_version")) < FORMAT_VERSION)) return `${supported} only`;
  const command = manifest.get("kind") === "index" ? "train encoder" : "export";
  return `${supported}: rebuild the bundle with textveil-${command}`;
}

const describeSize = (name: string): string => `${name}: its size differs from the size in manifest.json`;

/** @internal */
export async function computeSha256(content: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined)
    throw new BundleError("hashes cannot be checked, since crypto.subtle is missing: use https");
  const digest = new Uint8Array(await subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
