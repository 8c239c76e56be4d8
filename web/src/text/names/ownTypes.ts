/**
 * Entity types of the user's own: strings that a pattern matches, and spellings of listed persons.
 *
 * Before pass 1, a made-up word (placeholder) replaces each match. No list has this word, so the rules treat it like any
 * unlisted word and never read the match. Afterward the token of the placeholder becomes the token of the match. If a
 * match is part of a longer string, such as an address, the whole string is replaced.
 */

import type { NamesLists } from "../../bundle/namesFiles.js";
import { MIN_CONSISTENT_POOL } from "../../constants.js";
import { types } from "../../data.js";
import { foldWord, LOWER } from "../segmentation/words.js";
import { KNOWN_PERSON } from "./entitySpans.js";
import { type KnownMatch, KnownPersons, makeKnownToken } from "./knownPersons.js";
import {
  countLayoutSurrogates,
  getCharacterAt,
  getCharacterBefore,
  type PatternMatch,
  PatternMatcher,
  spellLayoutSurrogate,
} from "./ownPatterns.js";
import { JSON_NUMBER_CASE, SurrogatePools } from "./surrogates.js";
import { GAP, HOLDS_OWN, makeToken, type NamesToken, REPLACED } from "./tokens.js";

/** Placeholder of a match. No list has this word, and it has no ending that the rules list. */
const PLACEHOLDER = "qxzjvk";
/** Names that the user's own types must not have, besides the names of the types with surrogates. */
const OTHER_NAMES = ["run", "digits-group", "initial", KNOWN_PERSON, "json", "known", "randomized"];

type Match = PatternMatch | KnownMatch;

/** A text in which `PLACEHOLDER` replaces each match of the user's own types. */
export class MaskedText {
  readonly text: string;
  readonly #masked: (readonly [string, Match | undefined])[] = [];
  #used = 0;

  constructor(text: string, matches: readonly Match[]) {
    let [masked, position] = ["", 0];
    const addKept = (kept: string): void => {
      for (let at = kept.split(PLACEHOLDER).length; at > 1; at--) this.#masked.push([PLACEHOLDER, undefined]);
      masked += kept;
    };
    for (const match of matches) {
      addKept(text.slice(position, match.start));
      this.#masked.push([text.slice(match.start, match.end), match]);
      masked += PLACEHOLDER;
      position = match.end;
    }
    addKept(text.slice(position));
    this.text = masked;
  }

  /** Replace the placeholders in a token by their matches. The result is usually one token. */
  fillToken(token: NamesToken, tokenizeChunk: (chunk: string) => readonly NamesToken[]): readonly NamesToken[] {
    if (!token.text.includes(PLACEHOLDER)) return [token];
    // A `#` directly before a match is a gap, as it is before a number.
    if (token.entityType === "hashtag" && token.text.startsWith(`#${PLACEHOLDER}`) && this.#masked[this.#used]?.[1]) {
      const filled = tokenizeChunk(token.text.slice(1)).flatMap((part) => this.fillToken(part, tokenizeChunk));
      return [makeToken(GAP, "#", "#"), ...filled];
    }
    const pieces = token.text.split(PLACEHOLDER);
    const masked = this.#masked.slice(this.#used, this.#used + pieces.length - 1);
    this.#used += masked.length;
    if (masked.every(([, match]) => match === undefined)) return [token];
    if (token.tokenClass >= REPLACED && pieces.some((piece) => piece !== "")) {
      const originals = masked.map(([original]) => original);
      const text = fillPlaceholders(token.text, originals);
      return [{ ...token, text, key: fillPlaceholders(token.key, originals.map(foldWord)), flags: HOLDS_OWN }];
    }
    // A placeholder alone, or in a gap or a kept string, which stays as it is around the match.
    const makeGap = (piece: string): NamesToken[] => (piece === "" ? [] : [makeToken(GAP, piece, piece)]);
    const filled = masked.flatMap(([original, match], index) => [
      ...makeGap(pieces[index] ?? ""),
      makeOwnToken(original, match),
    ]);
    return [...filled, ...makeGap(pieces.at(-1) ?? "")];
  }
}

/** Replace the placeholders of a text by values, in order. Placeholders without a value remain. */
function fillPlaceholders(text: string, values: readonly string[]): string {
  return text.split(PLACEHOLDER).reduce((filled, piece, index) => filled + (values[index - 1] ?? PLACEHOLDER) + piece);
}

function makeOwnToken(original: string, match: Match | undefined): NamesToken {
  if (match === undefined) return makeToken(REPLACED, original, original, LOWER, "word");
  if ("spelling" in match) return makeKnownToken(match, original);
  return makeToken(REPLACED, original, original, LOWER, match.entityType, match.layout, HOLDS_OWN);
}

/** The entity types of the options `patterns` and `known`. */
export class OwnTypes {
  readonly names: ReadonlySet<string>;
  readonly hasPersons: boolean;
  readonly #patterns: PatternMatcher | undefined;
  readonly #persons: KnownPersons | undefined;

  constructor(
    patterns: ReadonlyMap<string, string>,
    known: readonly string[],
    lists: NamesLists,
    builtIn: Iterable<string>,
  ) {
    const reserved = new Set([
      ...builtIn,
      ...Object.keys(types.called),
      ...Object.values(types.called),
      ...types.lists,
      ...OTHER_NAMES,
    ]);
    this.#patterns = patterns.size > 0 ? new PatternMatcher(patterns, reserved) : undefined;
    this.#persons = known.length > 0 ? new KnownPersons(known, lists) : undefined;
    this.hasPersons = this.#persons !== undefined;
    this.names = new Set(patterns.keys());
  }

  /**
   * Return a text in which a placeholder replaces each match; `undefined` if there is no match. Of overlapping matches,
   * the first one counts; of those that begin together, the longest; of equally long ones, a listed person.
   */
  maskText(text: string, isLetter: (text: string) => boolean): MaskedText | undefined {
    const matches: Match[] = [];
    const persons = this.#persons?.findCandidates(text);
    let [position, isFirst] = [0, true];
    let [person, pattern]: [KnownMatch | undefined, PatternMatch | undefined] = [undefined, undefined];
    for (;;) {
      if (isFirst || (person !== undefined && person.start < position)) person = persons?.findNext(position);
      if (isFirst || (pattern !== undefined && pattern.start < position))
        pattern = this.#patterns?.findNext(text, position);
      isFirst = false;
      let match: Match | undefined = person;
      if (
        pattern !== undefined &&
        (match === undefined ||
          pattern.start < match.start ||
          (pattern.start === match.start && pattern.end > match.end))
      )
        match = pattern;
      if (match === undefined) break;
      position = match.end;
      // Letters of newer Unicode versions, by the tables of the bundle, make a match a part of a longer word.
      const beside = [getCharacterBefore(text, match.start), getCharacterAt(text, match.end)];
      if (!beside.some((character) => character !== "" && isLetter(character))) matches.push(match);
    }
    return matches.length > 0 ? new MaskedText(text, matches) : undefined;
  }
}

/** Surrogate pools of the bundle and of the user's own types. */
export class OwnSurrogatePools extends SurrogatePools {
  constructor(
    lists: NamesLists,
    readonly ownNames: ReadonlySet<string>,
  ) {
    super(lists.surrogatePools, lists.rules);
  }

  override getSize(entityType: string, layout: string): number {
    return this.ownNames.has(entityType) ? countLayoutSurrogates(layout) : super.getSize(entityType, layout);
  }

  override needsTag(entityType: string, layout: string): boolean {
    return this.ownNames.has(entityType) && countLayoutSurrogates(layout) < MIN_CONSISTENT_POOL;
  }

  override spellSurrogate(entityType: string, layout: string, index: number, pattern: number): string {
    if (!this.ownNames.has(entityType)) return super.spellSurrogate(entityType, layout, index, pattern);
    const surrogate = spellLayoutSurrogate(layout, index);
    if (pattern !== JSON_NUMBER_CASE) return surrogate;
    const point = surrogate.indexOf(".");
    const [whole, decimals] = (
      point < 0 ? [surrogate, ""] : [surrogate.slice(0, point), surrogate.slice(point + 1)]
    ).map((part) => part.replace(/[^0-9]/g, "")) as [string, string];
    return (whole.replace(/^0+/, "") || "0") + (decimals === "" ? "" : `.${decimals}`);
  }
}
