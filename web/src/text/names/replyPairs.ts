/** Pairs of surrogates and originals that a reply may mention. */

import { ENGLISH } from "../../bundle/rules.js";
import { KEYCAP } from "../../constants.js";
import { findWordBefore, type SurrogatePair } from "../inflections.js";
import { cutAfter, cutBefore, getLast, isSeparateWord } from "../quotations.js";
import { isDigit, isUpper } from "../segmentation/words.js";
import type { EntityMention } from "./entityTypes.js";
import { JSON_NUMBER_CASE } from "./surrogates.js";

/** Element of a sanitized text: its output, its original, its mention, and the surrogate of each part. */
export interface RewrittenElement {
  readonly output: string;
  readonly original: string;
  readonly mention?: EntityMention;
  readonly parts: readonly string[];
}

/** Entity types whose surrogates look like words of the reply. Only their surroundings distinguish them. */
const QUOTED_TYPES: ReadonlySet<string> = new Set(["initial", "letter", "symbol", "other"]);
/** Entity types with few surrogates, which long texts reuse for other originals. */
const REUSED_TYPES: ReadonlySet<string> = new Set(
  "weekday month state the-country day age ordinal decade year time".split(" "),
);
/** Number of elements before and after a mention that form its surroundings; and maximum number of quoted pairs. */
const ELEMENTS_BEFORE = 24;
const ELEMENTS_AFTER = 16;
const MAX_QUOTED_PAIRS = 512;
/** Maximum number of surrogates of one text whose first spelling is stored. */
const MAX_SPELLINGS = 1024;
const BLANK_OR_NONE: ReadonlySet<string> = new Set(["", " ", "\n"]);
const WEAK_TYPES: ReadonlySet<string> = new Set(["title", "number-word", "unit", "office", KEYCAP]);
const WORD_MONTHS: ReadonlySet<string> = new Set(ENGLISH.data.months.also_words);
const DATE_TYPES = ["day month year", "month day year", "day month", "month day"];
const DATE_JOINS = [" ", ", ", ". "];
const WORD_AFTER =
  /^(?:[%\u20ac]|-?[\p{L}\p{N}_][\p{L}\p{N}_'\u2019]+| ?\p{L}[\p{L}\p{N}_'\u2019]{3,}|\.? \p{L}[\p{L}\p{N}_]+)/u;
const SIGNS = "$\u20ac\u00a3\u00a5#";
const MAX_SHORT_WORD = 3;
const CONTEXT_CHARACTERS = 40;

/** Yield the pairs of one text. */
export function* iteratePairs(elements: readonly RewrittenElement[]): Generator<SurrogatePair> {
  const spellings = new Map<string, string>();
  const knownPairs = new Set<string>();
  const shortForms = new Map<string, Set<string>>();
  for (const element of elements) {
    for (const { output } of iterateShortForms(element)) {
      const wholes = shortForms.get(output.toLowerCase()) ?? new Set();
      shortForms.set(output.toLowerCase(), wholes.add(element.output.toLowerCase()));
    }
  }
  for (const pair of iterateAllPairs(elements, spellings)) {
    if (pair.after !== undefined) {
      const entry = JSON.stringify([pair.output, pair.original, pair.weak, pair.before, pair.after]);
      if (knownPairs.size >= MAX_QUOTED_PAIRS || knownPairs.has(entry)) continue;
      knownPairs.add(entry);
    }
    yield pair;
  }
  yield* iterateKeptShortForms(elements, shortForms);
}

/** Yield pairs for the short forms of an element's organization; none for any other element. */
function* iterateShortForms({ parts, mention }: RewrittenElement): Generator<SurrogatePair> {
  const part = mention?.parts[0];
  const [output, ...others] = parts;
  if (output !== undefined && others.length === 0 && part?.entityType === "organization")
    yield* iterateOrganizationPairs(output.split(/\s+/), part.text.split(/\s+/));
}

/**
 * Yield a pair for each short form of an organization that the text also contains as a separate kept word. The original
 * is the word itself. So the word has two possible originals, and is not restored.
 */
function* iterateKeptShortForms(
  elements: readonly RewrittenElement[],
  shortForms: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<SurrogatePair> {
  if (shortForms.size === 0) return;
  const text = elements.map(({ output }) => output).join("");
  const kept = new Set<string>();
  for (const { 0: word, index } of text.matchAll(/\p{L}+/gu)) {
    const folded = word.toLowerCase();
    const wholes = shortForms.get(folded);
    if (wholes === undefined || kept.has(folded)) continue;
    const end = index + word.length;
    const isInside = [...wholes].some(({ length }) => {
      const [behind, before] = [text.slice(index, index + length), text.slice(Math.max(0, end - length), end)];
      return wholes.has(behind.toLowerCase()) || wholes.has(before.toLowerCase());
    });
    if (isInside) continue;
    kept.add(folded);
    yield { output: word, original: word };
  }
}

function* iterateAllPairs(
  elements: readonly RewrittenElement[],
  spellings: Map<string, string>,
): Generator<SurrogatePair> {
  for (const [index, element] of elements.entries()) {
    const { output: whole, mention, parts } = element;
    if (mention === undefined || whole === "") continue;
    if (parts.length !== 1) yield { output: whole, original: mention.nameText };
    const hasOther = hasOtherSpelling(element, spellings) || mention.nameText !== mention.span.text;
    if (parts.length === 0) {
      if (mention.case === JSON_NUMBER_CASE) {
        yield { output: whole.slice(1, -1), original: mention.nameText };
        if (whole[1] === "-") yield { output: whole.slice(2, -1), original: mention.nameText.slice(1) };
      }
      if (hasOther) yield makeQuotedPair(elements, index, false);
      continue;
    }
    const date = makeDatePair(elements, index);
    let isWeak = false;
    if (parts.length > 1 && spellings.size < MAX_SPELLINGS) {
      for (const [number, output] of parts.entries()) {
        const key = output.toLowerCase();
        spellings.set(key, spellings.get(key) ?? mention.parts[number]?.text ?? "");
      }
    }
    for (const [number, output] of parts.entries()) {
      const part = mention.parts[number];
      if (part === undefined) continue;
      const { entityType, text: original } = part;
      const weak = WEAK_TYPES.has(entityType) || (entityType === "month" && WORD_MONTHS.has(output.toLowerCase()));
      if (weak || ([...output].length === 1 && isDigit(output))) {
        for (const pair of iterateContextPairs(elements, index, output, original))
          if (pair.output !== date?.output) yield pair;
        isWeak = parts.length === 1;
      } else if (QUOTED_TYPES.has(entityType)) {
        if (parts.length === 1) {
          yield { output, original, weak: true, before: "" };
          isWeak = true;
        }
      } else if (entityType !== "particle") {
        yield { output, original };
        if (entityType === "year-range") yield* iterateYearPairs(output, original);
        else if (entityType === "season") yield* iterateSeasonPairs(output, original);
        else if (entityType === "account") yield { output: output.replace(/^0+/, ""), original };
        else if (entityType === "organization")
          yield* iterateOrganizationPairs(output.split(/\s+/), original.split(/\s+/));
        else if (entityType === "number" && output.endsWith("0") && output.includes(".")) {
          yield { output: output.replace(/0+$/, "").replace(/\.+$/, ""), original };
        }
      }
    }
    if (date !== undefined) yield date;
    const isQuoted = isWeak || hasOther || REUSED_TYPES.has(mention.entityType) || isInsideWord(elements, index);
    // Values are restored as a whole.
    if (isQuoted && !(elements.length === 1 && mention.case === JSON_NUMBER_CASE))
      yield makeQuotedPair(elements, index, !hasOther);
  }
}

/** Return whether a surrogate also replaces another spelling of its original. */
function hasOtherSpelling({ output, original }: RewrittenElement, spellings: Map<string, string>): boolean {
  const key = output.toLowerCase();
  const first = spellings.get(key) ?? original;
  if (spellings.size < MAX_SPELLINGS) spellings.set(key, first);
  const showsNoCase = output.startsWith("[") || [...output].some(isDigit);
  return first !== original || (showsNoCase && isUpper(original)); // a later one that is not in capitals counts
}

const joinOutputs = (elements: readonly RewrittenElement[], from: number, to: number): string =>
  elements
    .slice(Math.max(0, from), to)
    .map((element) => element.output)
    .join("");

/** Return whether a surrogate is a part of a longer word or number in the output. */
function isInsideWord(elements: readonly RewrittenElement[], index: number): boolean {
  const before = getLast(joinOutputs(elements, index - 2, index), 3).join("");
  const after = [...joinOutputs(elements, index + 1, index + 3)].slice(0, 2).join("");
  if (BLANK_OR_NONE.has(getLast(before, 1).join("")) && BLANK_OR_NONE.has([...after].slice(0, 1).join("")))
    return false;
  const output = elements[index]?.output ?? "";
  return !isSeparateWord(before + output + after, before.length, before.length + output.length);
}

/** Return the pair of a whole mention, with the texts before and after it. */
function makeQuotedPair(elements: readonly RewrittenElement[], index: number, weak: boolean): SurrogatePair {
  const { output, original } = elements[index] as RewrittenElement;
  return {
    output,
    original,
    weak,
    before: cutBefore(joinOutputs(elements, index - ELEMENTS_BEFORE, index), index <= ELEMENTS_BEFORE),
    after: cutAfter(
      joinOutputs(elements, index + 1, index + 1 + ELEMENTS_AFTER),
      index + 1 + ELEMENTS_AFTER >= elements.length,
    ),
  };
}

/** Yield pairs for the first and the last word of an organization, since a reply may use one word. */
function* iterateOrganizationPairs(output: readonly string[], original: readonly string[]): Generator<SurrogatePair> {
  if (output.length < 2 || original.length < 2) return;
  yield { output: output[0] ?? "", original: original[0] ?? "" };
  if (output.length === original.length) yield { output: output.at(-1) ?? "", original: original.at(-1) ?? "" };
}

/** Yield pairs for a range of years: for the range with the other kind of dash, and for each year. */
function* iterateYearPairs(output: string, original: string): Generator<SurrogatePair> {
  const [outputYears, originalYears] = [output, original].map((range) => range.match(/[0-9]+/g) ?? []);
  if (outputYears === undefined || originalYears === undefined) return;
  for (const mark of ["-", "\u2013"]) {
    if (mark !== output.charAt(4)) yield { output: outputYears.join(mark), original: originalYears.join(mark) };
  }
  for (const [index, year] of outputYears.entries()) yield { output: year, original: originalYears[index] ?? "" };
}

/** Yield pairs for a season such as `2023/24`: with the other marks, and for the year in which it begins. */
function* iterateSeasonPairs(output: string, original: string): Generator<SurrogatePair> {
  for (const mark of ["/", "-", "\u2013"]) {
    if (mark !== output.charAt(4)) yield { output: output.slice(0, 4) + mark + output.slice(5), original };
  }
  yield { output: output.slice(0, 4), original: original.slice(0, 4) };
}

function* iterateContextPairs(
  elements: readonly RewrittenElement[],
  index: number,
  output: string,
  original: string,
): Generator<SurrogatePair> {
  const joinRange = (from: number, to: number): string =>
    elements
      .slice(from, to)
      .map((element) => element.output)
      .join("");
  const before = findWordBefore(joinRange(Math.max(0, index - 3), index));
  const isIndicative = [...before].length > MAX_SHORT_WORD || (before !== "" && SIGNS.includes(before));
  yield { output, original, weak: true, before: isIndicative ? before : "" };
  const after = WORD_AFTER.exec([...joinRange(index + 1, index + 4)].slice(0, CONTEXT_CHARACTERS).join(""))?.[0];
  if (after === undefined) return;
  for (const following of new Set([after, after.replace(/^\.+/, "")])) {
    yield { output: output + following, original, lead: [...output].length };
  }
}

/** Return the pair of a date of several mentions that begins at an index. */
function makeDatePair(elements: readonly RewrittenElement[], index: number): SurrogatePair | undefined {
  for (const length of [5, 3]) {
    const dateElements = elements.slice(index, index + length);
    const entityTypes = dateElements
      .filter((_, at) => at % 2 === 0)
      .map((element) => element.mention?.entityType ?? "");
    const between = dateElements
      .filter((_, at) => at % 2 === 1)
      .every((element) => DATE_JOINS.includes(element.output));
    if (dateElements.length === length && DATE_TYPES.includes(entityTypes.join(" ")) && between) {
      return {
        output: dateElements.map((element) => element.output).join(""),
        original: dateElements.map((element) => element.original).join(""),
      };
    }
  }
  return undefined;
}
