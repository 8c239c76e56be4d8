/** Word lists of a bundle, an entry a line. */

import { inOrder } from "../characters.js";
import { thousands } from "../decimal.js";
import {
  BundleDamaged,
  BundleTooLarge,
  BYTES_OF_A_BYTE,
  BYTES_OF_AN_ENTRY,
  MAX_ENTRIES,
  MAX_LINE_BYTES,
  MAX_LIST_BYTES,
} from "../generated.js";
import { isAscii } from "../words.js";
import { decoded, isPrintable } from "./json.js";
import type { Opened } from "./open.js";

const [LINE_FEED, TAB] = [10, 9];

/** Refuses lists that would take too much memory, by their bytes. */
export function countLists(opened: Opened, names: readonly string[]): void {
  const mostBytes = MAX_LIST_BYTES + Math.floor(opened.bytes / BYTES_OF_A_BYTE);
  const most = MAX_ENTRIES + Math.floor(opened.bytes / BYTES_OF_AN_ENTRY);
  let [bytes, entries] = [0, 0];
  for (const name of names) {
    const content = opened.file(name);
    bytes += content.length;
    let line = 0;
    for (const byte of content) {
      line++;
      if (byte === LINE_FEED || byte === TAB) entries++;
      if (byte === LINE_FEED) line = 0;
      if (line > MAX_LINE_BYTES) {
        throw new BundleTooLarge(`${name}: a line has more than ${thousands(MAX_LINE_BYTES)} bytes`);
      }
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
  const printed = text.replaceAll("\n", "");
  if (!isPrintable(tabs ? printed.replaceAll("\t", "") : printed)) {
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
  const bits = new Map([["", 0]]);
  const lines = linesOf(opened, name, true);
  const entries: string[] = [];
  const marks: number[] = [];
  lines.forEach((line, place) => {
    const tab = line.indexOf("\t");
    const entry = tab < 0 ? line : line.slice(0, tab);
    const said = tab < 0 ? "" : line.slice(tab + 1);
    let found = tab < 0 ? 0 : said === "" ? undefined : bits.get(said);
    if (found === undefined) {
      const names = said.split(",");
      if (new Set(names).size < names.length || !names.every((one) => known.includes(one))) {
        throw lineDamaged(name, place, "has an unknown mark");
      }
      found = names.reduce((sum, one) => sum | (1 << known.indexOf(one)), 0);
      bits.set(said, found);
    }
    if (entry === "") throw lineDamaged(name, place, "is empty, or holds what cannot be printed");
    entries.push(entry);
    marks.push(found);
  });
  if (new Set(entries).size < entries.length) throw new BundleDamaged(`${name}: an entry is there twice`);
  return { entries, marks };
}

export function lineDamaged(name: string, place: number, what: string): BundleDamaged {
  return new BundleDamaged(`${name}: line ${place + 1} ${what}`);
}

/** Refuses entries that are not in order of code points, or are their own neighbors. */
export function requireOrder(name: string, entries: readonly string[]): void {
  for (let place = 1; place < entries.length; place++) {
    if (inOrder(entries[place - 1] ?? "", entries[place] ?? "") >= 0) {
      throw lineDamaged(name, place, "is there twice, or out of order");
    }
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
