/** Readers of word lists, one entry per line. */

import {
  BYTES_PER_ENTRY,
  BYTES_PER_LIST_BYTE,
  MAX_LINE_BYTES,
  MAX_LIST_BYTES,
  MAX_LIST_ENTRIES,
} from "../constants.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { formatThousands } from "../mechanisms/decimal.js";
import { compareCodePoints } from "../text/segmentation/characterClasses.js";
import { foldApostrophes, foldWord, isAscii } from "../text/segmentation/words.js";
import { decodeUtf8 } from "./json.js";
import type { BundleBase } from "./open.js";

const [LINE_FEED, TAB] = [10, 9];
/** Characters that a terminal executes instead of printing, except line feeds and tabs. */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const UNPRINTABLE_OR_TAB = new RegExp(`\\t|${UNPRINTABLE.source}`);
const SURROGATES = /[\ud800-\udfff]/;

/** Check that the lists of a bundle do not take too much memory. */
export function checkListSizes(opened: BundleBase, names: readonly string[]): void {
  const maxBytes = MAX_LIST_BYTES + Math.floor(opened.bytes / BYTES_PER_LIST_BYTE);
  const maxEntries = MAX_LIST_ENTRIES + Math.floor(opened.bytes / BYTES_PER_ENTRY);
  let [bytes, entries] = [0, 0];
  for (const name of names) {
    const content = opened.getFile(name);
    bytes += content.length;
    let start = 0;
    for (let at = 0; at <= content.length; at++) {
      const byte = content[at];
      if (byte === TAB) entries++;
      if (byte !== LINE_FEED && byte !== undefined) continue;
      if (at - start >= MAX_LINE_BYTES) {
        throw new BundleTooLarge(`${name}: a line has more than ${formatThousands(MAX_LINE_BYTES)} bytes`);
      }
      start = at + 1;
      if (byte === LINE_FEED) entries++;
    }
  }
  if (bytes > maxBytes) {
    throw new BundleTooLarge(`the word lists of this bundle have more than ${formatThousands(maxBytes)} bytes`);
  }
  if (entries > maxEntries) {
    throw new BundleTooLarge(`the word lists of this bundle have more than ${formatThousands(maxEntries)} entries`);
  }
}

/** Return the lines of a list. The lines may contain tabs only if `allowTabs` is true. */
export function readLines(opened: BundleBase, name: string, allowTabs: boolean): string[] {
  const text = decodeUtf8(opened.getFile(name), name);
  if ((allowTabs ? UNPRINTABLE : UNPRINTABLE_OR_TAB).test(text)) {
    throw new BundleDamaged(`${name}: contains control characters`);
  }
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length === 0) {
    throw new BundleDamaged(`${name}: the file is empty, or its last line does not end in a line feed`);
  }
  return lines;
}

/** Flags of a member of an entity type, in the order of their spelling in a list and of their bits. */
export const MEMBER_FLAGS: readonly string[] = ["capitalized", "member-only"];
export const CAPITALIZED = 1;
export const RECOGNIZED_ONLY = 2;

/** Parse a list with flags, and return each entry with its flags as bits. */
export function parseFlagged(
  opened: BundleBase,
  name: string,
  allowedFlags: readonly string[],
): { entries: string[]; flags: number[] } {
  const flagsByText = new Map<string, number>();
  const lines = readLines(opened, name, true);
  const entries: string[] = [];
  const flags: number[] = [];
  lines.forEach((line, index) => {
    const tab = line.indexOf("\t");
    if (tab < 0) {
      entries.push(line);
      flags.push(0);
      return;
    }
    const flagText = line.slice(tab + 1);
    let flagSet = flagsByText.get(flagText);
    if (flagSet === undefined) {
      const names = flagText.split(",");
      const isUnordered =
        allowedFlags === MEMBER_FLAGS && names.join() !== MEMBER_FLAGS.filter((flag) => names.includes(flag)).join();
      if (isUnordered || new Set(names).size < names.length || !names.every((name) => allowedFlags.includes(name))) {
        throw makeLineError(name, index, "has an unknown flag");
      }
      flagSet = names.reduce((sum, name) => sum | (1 << allowedFlags.indexOf(name)), 0);
      flagsByText.set(flagText, flagSet);
    }
    entries.push(line.slice(0, tab));
    flags.push(flagSet);
  });
  const empty = entries.indexOf("");
  if (empty >= 0) throw makeLineError(name, empty, "is empty, has a blank at an end, or cannot be printed");
  if (new Set(entries).size < entries.length) throw new BundleDamaged(`${name}: an entry occurs twice`);
  return { entries, flags };
}

/** Create the error for a malformed line of a list. */
export function makeLineError(name: string, index: number, problem: string): BundleDamaged {
  return new BundleDamaged(`${name}: line ${index + 1} ${problem}`);
}

/** Check that entries are distinct and in the order of code points. */
export function checkOrder(name: string, entries: readonly string[]): void {
  // By code units unless there are characters of two.
  const hasPairs = entries.some((entry) => SURROGATES.test(entry));
  let previous = entries[0] ?? "";
  for (let index = 1; index < entries.length; index++) {
    const entry = entries[index] ?? "";
    if (hasPairs ? compareCodePoints(previous, entry) >= 0 : previous >= entry) {
      throw makeLineError(name, index, "occurs twice, or is not in alphabetical order");
    }
    previous = entry;
  }
}

/** Check that every entry equals its lookup key and has no blanks at its ends. */
export function checkFolded(name: string, entries: readonly string[]): void {
  const joined = entries.join("\n");
  const folded = isAscii(joined) ? joined : foldApostrophes(joined.normalize("NFKC"));
  const invalid = folded.toLowerCase() === joined ? -1 : entries.findIndex((entry) => !isFolded(entry));
  if (invalid >= 0) throw makeLineError(name, invalid, "must be in lower case, with straight apostrophes and in NFKC");
  checkTrimmed(name, entries);
}

/** Check that no entry is empty or has blanks at its ends. */
export function checkTrimmed(name: string, entries: readonly string[]): void {
  const invalid = entries.findIndex((entry) => entry === "" || entry.startsWith(" ") || entry.endsWith(" "));
  if (invalid >= 0) throw makeLineError(name, invalid, "is empty, has a blank at an end, or cannot be printed");
}

const isFolded = (entry: string): boolean => foldWord(entry) === entry;
