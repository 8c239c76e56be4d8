/** The lists of the rung `names`, read and checked. */

import { M, N } from "../characters.js";
import { NAMES_MARKS } from "../constants.js";
import { types } from "../data.js";
import { BundleDamaged } from "../errors.js";
import { ENGLISH, type Rules } from "../rules.js";
import type { Cutter } from "../segments.js";
import { lineDamaged, linesOf, marked, requireFolded, requireOrder, requireTrimmed } from "./lists.js";
import type { Opened } from "./open.js";
import { RULES, readRules } from "./rules.js";

const COMMON = "common-words.txt";
const CAPITALS = "kept-capitals.txt";
const SYMBOLS = "kept-symbols.txt";
const kindFile = (kind: string): string => `names.entity.${kind}.txt`;
const poolFile = (kind: string): string => `names.surrogates.${kind}.txt`;
const NO_SYMBOL = /[\p{L}\p{M}\p{N}\p{Z}\p{Cc}\p{Cf}\p{Co}\u{1F1E6}-\u{1F1FF}\u{1F3FB}-\u{1F3FF}]/u;

const mark = (name: (typeof NAMES_MARKS)[number]): number => 1 << NAMES_MARKS.indexOf(name);
export const STRICT = mark("strict");
export const START = mark("start");
export const EMPHASIS = mark("emphasis");
export const RARE = mark("rare");
export const OPENER = mark("opener");
export const FUNCTION = mark("function");

/** Entity types with listed words, entity types with surrogates, and names of optional lists, which are not used. */
export interface NamesEntry {
  readonly kinds: readonly string[];
  readonly pools: readonly string[];
  readonly facts: readonly string[];
}

/** The files that `names` in `mechanism.json` implies. */
export function namesFiles({ kinds, pools, facts }: NamesEntry): string[] {
  const factFiles = facts.map((name) => `names.facts.${name}.txt`);
  return [COMMON, CAPITALS, SYMBOLS, ...kinds.map(kindFile), ...pools.map(poolFile), ...factFiles];
}

/** All lists. */
export class NamesLists {
  /** Common words with their marks as bits. */
  readonly common: ReadonlyMap<string, number>;
  readonly capitals: ReadonlySet<string>;
  readonly symbols: ReadonlySet<string>;
  readonly #kinds = new Map<string, ReadonlySet<string>>();
  readonly pools: ReadonlyMap<string, readonly string[]>;
  /** Rules of the bundle's language, or of English. */
  readonly rules: Rules;

  constructor(
    opened: Opened,
    entry: NamesEntry,
    readonly cutter: Cutter,
  ) {
    this.rules = opened.hashes.has(RULES) ? readRules(opened.file(RULES)) : ENGLISH;
    const common = marked(opened, COMMON, NAMES_MARKS);
    requireOrder(COMMON, common.entries);
    requireFolded(COMMON, common.entries);
    this.common = new Map(common.entries.map((word, place) => [word, common.marks[place] ?? 0]));
    for (const kind of entry.kinds) {
      const name = kindFile(kind);
      const { entries, marks } = marked(opened, name, ["capitalized", "common"]);
      requireOrder(name, entries);
      requireFolded(name, entries);
      this.#kinds.set(kind, new Set(entries));
      const closed = types.closed.includes(kind);
      if (closed && entries.some((word, place) => marks[place] === 0 && this.common.has(word))) {
        throw new BundleDamaged(`${COMMON}: a word is a ${kind}, which is never shown`);
      }
    }
    this.capitals = new Set(sorted(opened, CAPITALS));
    const symbols = sorted(opened, SYMBOLS);
    symbols.forEach((symbol, place) => {
      const one = [...symbol].length === 1 && !NO_SYMBOL.test(symbol);
      if (!one || cutter.characters.all(symbol, M | N)) throw lineDamaged(SYMBOLS, place, "is not a single symbol");
    });
    this.symbols = new Set(symbols);
    this.pools = new Map(
      entry.pools.map((kind) => {
        const lines = linesOf(opened, poolFile(kind), false);
        requireTrimmed(poolFile(kind), lines);
        if (new Set(lines).size < lines.length) throw new BundleDamaged(`${poolFile(kind)}: an entry occurs twice`);
        return [kind, lines];
      }),
    );
    for (const [needed, there] of [
      [types.lists, this.#kinds],
      [[...types.pools, ...this.rules.data.endings.kept.map((ending) => `word-${ending}`)].sort(), this.pools],
    ] as const) {
      const missing = needed.find((kind) => !there.has(kind));
      if (missing !== undefined) throw new BundleDamaged(`mechanism.json: the mode names lacks the list ${missing}`);
    }
  }

  /** The members of a kind. */
  kind(name: string): ReadonlySet<string> {
    return this.#kinds.get(name) ?? new Set();
  }
}

function sorted(opened: Opened, name: string): string[] {
  const lines = linesOf(opened, name, false);
  requireOrder(name, lines);
  requireTrimmed(name, lines);
  return lines;
}
