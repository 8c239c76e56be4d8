/** Sources of a bundle's files: a folder, a zip archive, or bytes in memory. */

import { BundleDamaged, BundleError, BundleNotFound, BundleTooLarge, OptionError } from "../errors.js";
import { ZipArchive } from "./zipArchive.js";

/**
 * A bundle: a URL of its folder (which ends in `/`) or of a zip archive, the bytes of an archive, or its files by name.
 * In Node, a string that is not a URL is the path of a folder or an archive.
 */
export type BundleSource =
  | string
  | URL
  | ArrayBuffer
  | Uint8Array
  | ReadonlyMap<string, Uint8Array>
  | Readonly<Record<string, Uint8Array>>;

/** @internal Reader of one file of at most `maxBytes` bytes; `undefined` if the file is missing. */
export type ReadFile = (name: string, maxBytes: number) => Promise<Uint8Array | undefined>;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:/;

const isNode = (): boolean => typeof process !== "undefined" && process.versions?.node !== undefined;

/** Return a module of Node without an import statement, which bundlers for browsers could not resolve. */
function getNodeModule<Name extends "node:fs" | "node:fs/promises" | "node:path" | "node:url">(name: Name) {
  const module = process.getBuiltinModule?.(name);
  if (!module) throw new BundleError("reading a path needs process.getBuiltinModule: use Node 20.16 or newer");
  return module;
}

/** @internal Return a function that reads a file of a bundle. An archive may have at most `maxBytes` bytes. */
export async function openSource(source: BundleSource, maxBytes: number): Promise<ReadFile> {
  if (typeof source === "string" || (typeof URL !== "undefined" && source instanceof URL)) {
    const path = getNodePath(source);
    return path === undefined ? readUrl(source.toString(), maxBytes) : readPath(path, maxBytes);
  }
  if (source instanceof ArrayBuffer) return readArchive(new Uint8Array(source));
  if (ArrayBuffer.isView(source))
    return readArchive(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  // A Blob, a Response or a list has no files by name.
  if (!(source instanceof Map) && Object.prototype.toString.call(source) !== "[object Object]")
    throw new OptionError("a bundle must be a URL, bytes, or an object of files by name");
  const files = source instanceof Map ? source : new Map(Object.entries(source as Record<string, Uint8Array>));
  return async (name) => {
    const file = files.get(name);
    if (file !== undefined && !(file instanceof Uint8Array))
      throw new OptionError("a file of a bundle must be a Uint8Array");
    return file;
  };
}

function readArchive(content: Uint8Array): ReadFile {
  const zip = new ZipArchive(content);
  return (name, maxBytes) => zip.readFile(name, maxBytes);
}

/** Return the path of a bundle in Node; `undefined` if the bundle has to be fetched from a URL. */
function getNodePath(source: string | URL): string | undefined {
  if (!isNode()) return undefined;
  const text = source.toString();
  if (/^file:/i.test(text)) {
    const { fileURLToPath } = getNodeModule("node:url");
    try {
      return fileURLToPath(text);
    } catch {
      throw new OptionError("the file URL is not a path on this machine");
    }
  }
  return SCHEME.test(text) && !/^[A-Za-z]:[\\/]/.test(text) ? undefined : text;
}

async function readPath(path: string, maxBytes: number): Promise<ReadFile> {
  const { lstat, open, stat } = getNodeModule("node:fs/promises");
  const { constants } = getNodeModule("node:fs");
  const { join } = getNodeModule("node:path");
  const readFile = async (file: string, name: string, limit: number): Promise<Uint8Array | undefined> => {
    let plain: boolean;
    try {
      plain = (await lstat(file)).isFile();
    } catch {
      return undefined;
    }
    if (!plain) throw new BundleDamaged(`${name}: not a plain file (links are not followed)`);
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(() => {
      throw new BundleDamaged(`${name}: cannot be read`);
    });
    try {
      if ((await handle.stat()).size > limit) throw new BundleTooLarge(`${name}: is larger than allowed`);
      return new Uint8Array(await handle.readFile());
    } finally {
      await handle.close();
    }
  };
  const isFolder = await stat(path).then(
    (status) => status.isDirectory(),
    () => {
      throw new BundleNotFound(
        "no bundle at the given path (a bundle is a folder with a manifest.json, or an archive)",
      );
    },
  );
  if (isFolder) return (name, limit) => readFile(join(path, name), name, limit);
  const archive = await readFile(path, "the archive", maxBytes);
  return readArchive(archive ?? new Uint8Array());
}

async function readUrl(url: string, maxBytes: number): Promise<ReadFile> {
  if (url.endsWith("/")) return (name, limit) => fetchFile(url + name, name, limit);
  const archive = await fetchFile(url, "the archive", maxBytes);
  if (archive === undefined) throw new BundleNotFound("no bundle at the given URL");
  return readArchive(archive);
}

async function fetchFile(url: string, name: string, maxBytes: number): Promise<Uint8Array | undefined> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch {
    throw new BundleNotFound(`${name}: cannot be fetched`);
  }
  if (!response.ok) return undefined;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      parts.push(next.value);
      bytes += next.value.length;
      if (bytes > maxBytes) break;
    }
  } catch {
    throw new BundleDamaged(`${name}: cannot be read`);
  }
  if (bytes > maxBytes) {
    await reader?.cancel();
    throw new BundleTooLarge(`${name}: is larger than allowed`);
  }
  const content = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    content.set(part, at);
    at += part.length;
  }
  return content;
}
