/** What a reply may mention of a text that went out: pairs of what came out and what stood there. */

import { KEYCAP } from "../constants.js";
import { type Pair, wordBefore } from "../forms.js";
import { ENGLISH } from "../rules.js";
import { cutAfter, cutBefore, lastOf, standsAlone } from "../surroundings.js";
import { isDigit, isUpper } from "../words.js";
import type { Mention } from "./kinds.js";
import { JSON_NUMBER } from "./surrogates.js";

/** A part of a text: what came out, what stood there, its mention, and what came out for each part of that. */
export interface Piece {
  readonly output: string;
  readonly original: string;
  readonly mention?: Mention;
  readonly parts: readonly string[];
}

/** Kinds that only surroundings tell from a reply's own. */
const quotedKinds: ReadonlySet<string> = new Set(["initial", "letter", "symbol", "other"]);
/** Kinds of so few surrogates that long texts repeat them for other originals. */
const repeated: ReadonlySet<string> = new Set(
  "weekday month state the-country day age ordinal decade year time".split(" "),
);
/** Parts before and behind a mention that its surroundings are taken from, and pairs with surroundings of one text. */
const BEFORE = 24;
const AFTER = 16;
const MOST_QUOTED = 512;
/** Surrogates of one text of which the first spelling is kept. */
const MOST_SPELLED = 1024;
const blank: ReadonlySet<string> = new Set(["", " ", "\n"]);
const weakKinds: ReadonlySet<string> = new Set(["title", "number-word", "unit", "office", KEYCAP]);
const months: ReadonlySet<string> = new Set(ENGLISH.data.months.also_words);
const dates = ["day month year", "month day year", "day month", "month day"];
const inDates = [" ", ", ", ". "];
const WORD_AFTER =
  /^(?:[%\u20ac]|-?[\p{L}\p{N}_][\p{L}\p{N}_'\u2019]+| ?\p{L}[\p{L}\p{N}_'\u2019]{3,}|\.? \p{L}[\p{L}\p{N}_]+)/u;
const SIGNS = "$\u20ac\u00a3\u00a5#";
const SHORT = 3;
const NEAR = 40;

/** Yields what may be mentioned of a text. */
export function* findPairs(pieces: readonly Piece[]): Generator<Pair> {
  const spelled = new Map<string, string>();
  const seen = new Set<string>();
  for (const pair of findAll(pieces, spelled)) {
    if (pair.after !== undefined) {
      const entry = JSON.stringify([pair.output, pair.original, pair.weak, pair.before, pair.after]);
      if (seen.size >= MOST_QUOTED || seen.has(entry)) continue;
      seen.add(entry);
    }
    yield pair;
  }
}

function* findAll(pieces: readonly Piece[], spelled: Map<string, string>): Generator<Pair> {
  for (const [place, piece] of pieces.entries()) {
    const { output: whole, mention, parts } = piece;
    if (mention === undefined || whole === "") continue;
    if (parts.length !== 1) yield { output: whole, original: mention.named };
    const isOther = isSpelledOtherwise(piece, spelled) || mention.named !== mention.slot.text;
    if (parts.length === 0) {
      if (mention.case === JSON_NUMBER) {
        yield { output: whole.slice(1, -1), original: mention.named };
        if (whole[1] === "-") yield { output: whole.slice(2, -1), original: mention.named.slice(1) };
      }
      if (isOther) yield quoted(pieces, place, false);
      continue;
    }
    const date = findDate(pieces, place);
    let isWeak = false;
    for (const [number, output] of parts.entries()) {
      const part = mention.parts[number];
      if (part === undefined) continue;
      const { kind, text: original } = part;
      const weak = weakKinds.has(kind) || (kind === "month" && months.has(output.toLowerCase()));
      if (weak || ([...output].length === 1 && isDigit(output))) {
        for (const pair of inContext(pieces, place, output, original)) if (pair.output !== date?.output) yield pair;
        isWeak = parts.length === 1;
      } else if (quotedKinds.has(kind)) {
        if (parts.length === 1) {
          yield { output, original, weak: true, before: "" };
          isWeak = true;
        }
      } else if (kind !== "particle") {
        yield { output, original };
        if (kind === "year-range") yield* years(output, original);
        else if (kind === "season") yield* seasons(output, original);
        else if (kind === "account") yield { output: output.replace(/^0+/, ""), original };
        else if (kind === "organization") yield* outer(output.split(/\s+/), original.split(/\s+/));
        else if (kind === "number" && output.endsWith("0") && output.includes(".")) {
          yield { output: output.replace(/0+$/, "").replace(/\.+$/, ""), original };
        }
      }
    }
    if (date !== undefined) yield date;
    const isQuoted = isWeak || isOther || repeated.has(mention.kind) || isJoined(pieces, place);
    // Values are restored as a whole.
    if (isQuoted && !(pieces.length === 1 && mention.case === JSON_NUMBER)) yield quoted(pieces, place, !isOther);
  }
}

/** Whether the same surrogate may be restored in another spelling, that of another place. */
function isSpelledOtherwise({ output, original }: Piece, spelled: Map<string, string>): boolean {
  const key = output.toLowerCase();
  const first = spelled.get(key) ?? original;
  if (spelled.size < MOST_SPELLED) spelled.set(key, first);
  const showsNoCase = output.startsWith("[") || [...output].some(isDigit);
  return first !== original || (showsNoCase && isUpper(original)); // a later one that is not in capitals counts
}

const join = (pieces: readonly Piece[], from: number, to: number): string =>
  pieces
    .slice(Math.max(0, from), to)
    .map((piece) => piece.output)
    .join("");

/** Whether a surrogate is a part of a longer word or number. */
function isJoined(pieces: readonly Piece[], place: number): boolean {
  const before = lastOf(join(pieces, place - 2, place), 3).join("");
  const after = [...join(pieces, place + 1, place + 3)].slice(0, 2).join("");
  if (blank.has(lastOf(before, 1).join("")) && blank.has([...after].slice(0, 1).join(""))) return false;
  const output = pieces[place]?.output ?? "";
  return !standsAlone(before + output + after, before.length, before.length + output.length);
}

/** The pair of a whole mention with what stands before and behind it. */
function quoted(pieces: readonly Piece[], place: number, weak: boolean): Pair {
  const { output, original } = pieces[place] as Piece;
  return {
    output,
    original,
    weak,
    before: cutBefore(join(pieces, place - BEFORE, place), place <= BEFORE),
    after: cutAfter(join(pieces, place + 1, place + 1 + AFTER), place + 1 + AFTER >= pieces.length),
  };
}

/** The first word of a firm, and the last: replies call it by one of them. */
function* outer(output: readonly string[], original: readonly string[]): Generator<Pair> {
  if (output.length < 2 || original.length < 2) return;
  yield { output: output[0] ?? "", original: original[0] ?? "" };
  if (output.length === original.length) yield { output: output.at(-1) ?? "", original: original.at(-1) ?? "" };
}

/** A range of years with either dash, and each year of it alone. */
function* years(output: string, original: string): Generator<Pair> {
  const [ours, theirs] = [output, original].map((range) => range.match(/[0-9]+/g) ?? []);
  if (ours === undefined || theirs === undefined) return;
  for (const mark of ["-", "\u2013"]) {
    if (mark !== output.charAt(4)) yield { output: ours.join(mark), original: theirs.join(mark) };
  }
  for (const [place, year] of ours.entries()) yield { output: year, original: theirs[place] ?? "" };
}

/** A season with the other marks, and the year that it begins in. */
function* seasons(output: string, original: string): Generator<Pair> {
  for (const mark of ["/", "-", "\u2013"]) {
    if (mark !== output.charAt(4)) yield { output: output.slice(0, 4) + mark + output.slice(5), original };
  }
  yield { output: output.slice(0, 4), original: original.slice(0, 4) };
}

function* inContext(pieces: readonly Piece[], place: number, output: string, original: string): Generator<Pair> {
  const joined = (from: number, to: number): string =>
    pieces
      .slice(from, to)
      .map((piece) => piece.output)
      .join("");
  const before = wordBefore(joined(Math.max(0, place - 3), place));
  const tells = [...before].length > SHORT || (before !== "" && SIGNS.includes(before));
  yield { output, original, weak: true, before: tells ? before : "" };
  const after = WORD_AFTER.exec([...joined(place + 1, place + 4)].slice(0, NEAR).join(""))?.[0];
  if (after === undefined) return;
  for (const follows of new Set([after, after.replace(/^\.+/, "")])) {
    yield { output: output + follows, original, lead: [...output].length };
  }
}

/** A date of several mentions that begins at a place. */
function findDate(pieces: readonly Piece[], place: number): Pair | undefined {
  for (const length of [5, 3]) {
    const found = pieces.slice(place, place + length);
    const kinds = found.filter((_, at) => at % 2 === 0).map((piece) => piece.mention?.kind ?? "");
    const between = found.filter((_, at) => at % 2 === 1).every((piece) => inDates.includes(piece.output));
    if (found.length === length && dates.includes(kinds.join(" ")) && between) {
      return {
        output: found.map((piece) => piece.output).join(""),
        original: found.map((piece) => piece.original).join(""),
      };
    }
  }
  return undefined;
}
