/** The rule of the staircase: what is visible, a member of a kind, or drawn (docs/format-staircase.md, "The skeleton"). */

import { BLANK } from "./characters.js";
import { SHAPES } from "./constants.js";
import { characters } from "./data.js";
import { BundleDamaged } from "./errors.js";
import { ENGLISH, has } from "./rules.js";
import { type Cutter, GAP, STRING, WORD } from "./segments.js";
import { shapeOf } from "./shapes.js";
import {
  casePattern,
  foldApostrophes,
  inCase,
  isAscii,
  isLong,
  keyOf,
  LOWER,
  placeOfLast,
  TITLE,
  UPPER,
  WHITE,
} from "./words.js";

export const VISIBLE = 0;
export const MEMBER = 1;
export const MENTION = 2;

const { negation: NOT, negation_stems: auxiliaries } = ENGLISH.data.clitics;
const { clitics } = ENGLISH;
const APOSTROPHES = "'\u2019\u2018\u02bc\uff07";
const ENDS = new RegExp(`[${characters.marks.sentence_ends}]`);
const LETTERS = /^[A-Za-z]+$/;
const STRIPPED = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "g");

/** One token: its role and case pattern, and what the role needs. */
export interface Token {
  readonly role: number;
  readonly case: number;
  /** What is printed of a visible one; what is looked up of a drawn one, unless its input is `<unk>`. */
  readonly key: string | undefined;
  /** The kind of a member. */
  readonly kind: number;
  readonly spelled: string;
}

/** One kind of the skeleton. */
export interface Kind {
  readonly name: string;
  readonly shape: string | null;
  readonly outputs: readonly string[];
}

/** The public lists of a bundle, in their order. */
export class Lists {
  readonly kinds: readonly Kind[];
  readonly #ofShape = new Map<string, number>();
  /** Of each listed word its kind; and where lists have it with a capital only, that in lower case. */
  readonly #ofWord = new Map<string, number>();
  readonly #ofLower = new Map<string, number>();

  constructor(
    readonly functionWords: ReadonlyMap<string, boolean>,
    kinds: readonly { name: string; shape: string | null; entries: readonly string[]; marks: readonly number[] }[],
    readonly cutter: Cutter,
  ) {
    const made: Kind[] = [];
    kinds.forEach(({ name, shape, entries, marks }, number) => {
      made.push({ name, shape, outputs: entries.filter((_, place) => !((marks[place] ?? 0) & MEMBER_ONLY)) });
      if (shape !== null) {
        this.#ofShape.set(shape, number);
        return;
      }
      entries.forEach((entry, place) => {
        const capital = ((marks[place] ?? 0) & CAPITALIZED) !== 0;
        const first = this.#ofWord.get(entry);
        if (first === undefined) {
          this.#ofWord.set(entry, number);
          if (capital) this.#ofLower.set(entry, NONE);
        } else if (!capital && this.#ofLower.get(entry) === NONE) {
          this.#ofLower.set(entry, number);
        }
      });
    });
    this.kinds = made;
    if (
      this.#ofShape.size > 0 &&
      (this.#ofShape.size !== SHAPES.length || !SHAPES.every((s) => this.#ofShape.has(s)))
    ) {
      throw new BundleDamaged("the kinds by shape are not those of the format");
    }
  }

  /** The kind of a string; -1 if there are no kinds by shape. */
  ofString(string: string): number {
    return this.#ofShape.size > 0 ? (this.#ofShape.get(shapeOf(string, this.cutter)) ?? NONE) : NONE;
  }

  /** The first kind that lists a word; -1 if none does. */
  ofWord(key: string, pattern: number): number {
    if (pattern === LOWER) {
      const found = this.#ofLower.get(key);
      if (found !== undefined) return found;
    }
    return this.#ofWord.get(key) ?? NONE;
  }
}

export const CAPITALIZED = 1;
export const MEMBER_ONLY = 2;
const NONE = -1;

/** The rule of one request. */
export class Rule {
  readonly denied: ReadonlySet<string>;

  constructor(
    readonly lists: Lists,
    readonly visible: boolean,
    deny: Iterable<string>,
  ) {
    this.denied = new Set([...deny].flatMap((entry) => this.#deniedKeys(entry)));
  }

  /** The tokens of a segment that is not a gap, each with its spelling. */
  tokens(kind: number, segment: string, starts: boolean): Token[] {
    const found = this.#classified(kind, segment, starts);
    if (this.denied.size === 0) return found;
    const [first, ...cut] = found as [Token, ...Token[]];
    const keys = cut.map((token) => keyOf(token.spelled));
    let whole = this.denied.has(keyOf(segment)) || keys.some((key) => this.denied.has(key));
    const stem = this.denied.has(keyOf(first.spelled));
    whole ||= stem && keys.includes(NOT);
    if (whole) return [mention(first.case, undefined, segment)];
    return stem ? [mention(first.case, undefined, first.spelled), ...cut] : found;
  }

  #classified(kind: number, segment: string, starts: boolean): Token[] {
    if (kind === WORD && LETTERS.test(segment)) return [this.#stem(segment, starts)];
    if (isLong(segment)) return [mention(LOWER, undefined, segment)];
    if (kind === STRING) {
      const number = this.lists.ofString(segment);
      return [number < 0 ? mention(LOWER, undefined, segment) : member(LOWER, number, segment)];
    }
    const lone = keyOf(segment);
    if (this.visible && (segment.startsWith("'") || segment.startsWith("\u2019")) && has(clitics, lone)) {
      // Behind a blank: no other word begins with an apostrophe.
      return [{ role: VISIBLE, case: LOWER, key: lone, kind: NONE, spelled: segment }];
    }
    const cut: string[] = [];
    let stem = segment;
    for (let place = cliticPlace(stem); place > 0; place = cliticPlace(stem)) {
      cut.unshift(stem.slice(place));
      stem = stem.slice(0, place);
    }
    let first = this.#stem(stem, starts);
    const place = this.visible ? placeOfLast(stem, NOT.length) : 0;
    if (place > 0 && keyOf(stem.slice(place)) === NOT && has(auxiliaries, keyOf(stem.slice(0, place)))) {
      const auxiliary = this.#stem(stem.slice(0, place), starts);
      if (auxiliary.role === VISIBLE) {
        first = auxiliary;
        cut.unshift(stem.slice(place));
      } else {
        first = mention(first.case, undefined, stem);
      }
    }
    const pattern = first.case === UPPER ? UPPER : LOWER;
    const role = this.visible ? VISIBLE : MENTION;
    return [first, ...cut.map((spelled) => ({ role, case: pattern, key: keyOf(spelled), kind: NONE, spelled }))];
  }

  #stem(stem: string, starts: boolean): Token {
    const key = keyOf(stem);
    const pattern = casePattern(stem);
    const { lists } = this;
    const kind = lists.ofWord(key, pattern);
    if (kind >= 0) return member(pattern, kind, stem);
    const nameLike = this.visible ? lists.functionWords.get(key) : undefined;
    if (nameLike === undefined) return mention(pattern, key, stem);
    const spelled = isAscii(stem) ? stem : foldApostrophes(stem.normalize("NFKC"));
    const capital = key === "i" || (starts && !nameLike);
    if (spelled === key || (capital && spelled === inCase(key, TITLE))) {
      return { role: VISIBLE, case: pattern, key, kind: NONE, spelled: stem };
    }
    return mention(pattern, undefined, stem);
  }

  /** The kind of marks, where punctuation is sanitized. */
  get markKind(): number {
    return this.lists.kinds.length;
  }

  /** The outputs of a kind. */
  outputs(kind: number): readonly string[] {
    return this.lists.kinds[kind]?.outputs ?? characters.marks.punctuation;
  }

  /** The name of a kind. */
  nameOf(kind: number): string {
    return this.lists.kinds[kind]?.name ?? "punctuation mark";
  }

  #deniedKeys(entry: string): string[] {
    const bare = entry.replace(/^\ufeff/, "").replace(STRIPPED, "");
    const { cutter } = this.lists;
    const words = cutter.segments(bare).filter(([kind]) => kind !== GAP);
    return words.length === 0 ? [] : [keyOf(bare), ...words.map(([, segment]) => keyOf(segment))];
  }
}

/** The token of a mark, where punctuation is sanitized. */
export function markOf(rule: Rule, mark: string): Token {
  return member(LOWER, rule.markKind, mark);
}

/** The marks of a gap. */
export function marksOf(gap: string, cutter: Cutter): string[] {
  return [...gap].filter((character) => !cutter.characters.is(character.codePointAt(0) ?? 0, BLANK));
}

/** Whether a gap ends a sentence. */
export function endsSentence(gap: string): boolean {
  return ENDS.test(gap);
}

const mention = (pattern: number, key: string | undefined, spelled: string): Token => ({
  role: MENTION,
  case: pattern,
  key,
  kind: NONE,
  spelled,
});

const member = (pattern: number, kind: number, spelled: string): Token => ({
  role: MEMBER,
  case: pattern,
  key: undefined,
  kind,
  spelled,
});

/** Where the clitic begins that may be cut off the end of a word; 0 if there is none. */
function cliticPlace(word: string): number {
  for (const length of [2, 3]) {
    const place = placeOfLast(word, length);
    if (place > 0 && APOSTROPHES.includes(word.charAt(place)) && has(clitics, keyOf(word.slice(place)))) return place;
  }
  return 0;
}
