/** Word lists of a bundle, an entry a line. */

import { inOrder } from "../characters.js";
import { BYTES_OF_A_BYTE, BYTES_OF_AN_ENTRY, MAX_ENTRIES, MAX_LINE_BYTES, MAX_LIST_BYTES } from "../constants.js";
import { thousands } from "../decimal.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { isAscii } from "../words.js";
import { decoded } from "./json.js";
import type { Opened } from "./open.js";

const [LINE_FEED, TAB] = [10, 9];
/** What a terminal obeys instead of printing: but for line feeds, and tabs. UTF-8 has no halves of characters. */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const UNPRINTABLE_OR_TAB = new RegExp(`\\t|${UNPRINTABLE.source}`);
const SURROGATES = /[\ud800-\udfff]/;

/** Refuses lists that would take too much memory, by their bytes. */
export function countLists(opened: Opened, names: readonly string[]): void {
  const mostBytes = MAX_LIST_BYTES + Math.floor(opened.bytes / BYTES_OF_A_BYTE);
  const most = MAX_ENTRIES + Math.floor(opened.bytes / BYTES_OF_AN_ENTRY);
  let [bytes, entries] = [0, 0];
  for (const name of names) {
    const content = opened.file(name);
    bytes += content.length;
    let start = 0;
    for (let at = 0; at <= content.length; at++) {
      const byte = content[at];
      if (byte === TAB) entries++;
      if (byte !== LINE_FEED && byte !== undefined) continue;
      if (at - start >= MAX_LINE_BYTES) {
        throw new BundleTooLarge(`${name}: a line has more than ${thousands(MAX_LINE_BYTES)} bytes`);
      }
      start = at + 1;
      if (byte === LINE_FEED) entries++;
    }
  }
  if (bytes > mostBytes) {
    throw new BundleTooLarge(`the word lists of this bundle have more than ${thousands(mostBytes)} bytes`);
  }
  if (entries > most) {
    throw new BundleTooLarge(`the word lists of this bundle have more than ${thousands(most)} entries`);
  }
}

/** The lines of a list. Tabs are in it where they part off marks. */
export function linesOf(opened: Opened, name: string, tabs: boolean): string[] {
  const text = decoded(opened.file(name), name);
  if ((tabs ? UNPRINTABLE : UNPRINTABLE_OR_TAB).test(text)) {
    throw new BundleDamaged(`${name}: holds control characters`);
  }
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length === 0) {
    throw new BundleDamaged(`${name}: is empty, or the last line is incomplete`);
  }
  return lines;
}

/** Entries with their marks as bits, in the order of a list. */
export function marked(opened: Opened, name: string, known: readonly string[]): { entries: string[]; marks: number[] } {
  const bits = new Map<string, number>();
  const lines = linesOf(opened, name, true);
  const entries: string[] = [];
  const marks: number[] = [];
  lines.forEach((line, place) => {
    const tab = line.indexOf("\t");
    if (tab < 0) {
      entries.push(line);
      marks.push(0);
      return;
    }
    const said = line.slice(tab + 1);
    let found = bits.get(said);
    if (found === undefined) {
      const names = said.split(",");
      if (new Set(names).size < names.length || !names.every((one) => known.includes(one))) {
        throw lineDamaged(name, place, "has an unknown mark");
      }
      found = names.reduce((sum, one) => sum | (1 << known.indexOf(one)), 0);
      bits.set(said, found);
    }
    entries.push(line.slice(0, tab));
    marks.push(found);
  });
  const empty = entries.indexOf("");
  if (empty >= 0) throw lineDamaged(name, empty, "is empty, or holds what cannot be printed");
  if (new Set(entries).size < entries.length) throw new BundleDamaged(`${name}: an entry is there twice`);
  return { entries, marks };
}

export function lineDamaged(name: string, place: number, what: string): BundleDamaged {
  return new BundleDamaged(`${name}: line ${place + 1} ${what}`);
}

/** Refuses entries that are not in order of code points, or are their own neighbors. */
export function requireOrder(name: string, entries: readonly string[]): void {
  // By code units unless there are characters of two.
  const pairs = entries.some((entry) => SURROGATES.test(entry));
  let before = entries[0] ?? "";
  for (let place = 1; place < entries.length; place++) {
    const entry = entries[place] ?? "";
    if (pairs ? inOrder(before, entry) >= 0 : before >= entry) {
      throw lineDamaged(name, place, "is there twice, or out of order");
    }
    before = entry;
  }
}

/** Refuses entries that are not their own keys, or have blanks at their ends. */
export function requireFolded(name: string, entries: readonly string[]): void {
  const together = entries.join("\n");
  const folded = isAscii(together) ? together : together.normalize("NFKC").replaceAll("\u2019", "'");
  const wrong = folded.toLowerCase() === together ? -1 : entries.findIndex((entry) => !isFolded(entry));
  if (wrong >= 0) throw lineDamaged(name, wrong, "is not in lower case, or not as words are looked up");
  requireTrimmed(name, entries);
}

export function requireTrimmed(name: string, entries: readonly string[]): void {
  const wrong = entries.findIndex((entry) => entry === "" || entry.startsWith(" ") || entry.endsWith(" "));
  if (wrong >= 0) throw lineDamaged(name, wrong, "is empty, or holds what cannot be printed");
}

const isFolded = (entry: string): boolean => entry.normalize("NFKC").replaceAll("\u2019", "'").toLowerCase() === entry;
