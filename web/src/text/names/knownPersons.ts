/**
 * Persons whose names the user lists: all spellings of one person get one surrogate person.
 *
 * One entry lists the spellings of one person: `Daniel Keller, D. Keller, Dan, keller@acme.example`. The *form* of a
 * spelling states which of its words are the first name, the family name or initials. The surrogate of a spelling is the
 * surrogate person in the same form.
 */

import type { NamesLists } from "../../bundle/namesFiles.js";
import { characters } from "../../data.js";
import { OptionError } from "../../errors.js";
import { countCodePoints } from "../segmentation/characterClasses.js";
import { decodeTable } from "../segmentation/codePointTables.js";
import { capitalizeFirst, foldWord, isLower, isUpper, LOWER, TITLE, UPPER } from "../segmentation/words.js";
import { type EntitySpan, KNOWN_PERSON } from "./entitySpans.js";
import type { EntityMention, MentionPart } from "./entityTypes.js";
import { getCharacterAt, getCharacterBefore, isPartOfWord } from "./ownPatterns.js";
import type { RewrittenElement } from "./replyPairs.js";
import { HOLDS_OWN, makeToken, type NamesToken, REPLACED } from "./tokens.js";

/** Largest number of persons, of spellings of a person, and of characters and words of a spelling. */
const [MAX_PERSONS, MAX_SPELLINGS, MAX_CHARACTERS, MAX_WORDS] = [100_000, 100, 100, 12];
/** Forms of spellings that are not split into names: email address, name of an account, two initials without a mark. */
const [ADDRESS, ACCOUNT, INITIALS] = ["E", "A", "I"];
/** Roles of words: first name, family name; an initial of each; an initial of the first name with a full stop. */
const [GIVEN, FAMILY, GIVEN_INITIAL, FAMILY_INITIAL, DOTTED_INITIAL] = ["G", "F", "g", "f", "d"];
/** Entity type of the surrogate of each role. Restoring depends on it. */
const PART_TYPES: Readonly<Record<string, string>> = { E: "email", A: "handle", I: "acronym", G: "given", F: "family" };

const escapeCodePoint = (code: number): string => `\\u{${code.toString(16)}}`;
const boundaries = decodeTable(characters.tables.word_characters);
const LETTERS = Array.from(
  { length: boundaries.length / 2 },
  (_, index) =>
    `${escapeCodePoint(boundaries[2 * index] ?? 0)}-${escapeCodePoint((boundaries[2 * index + 1] ?? 1) - 1)}`,
).join("");
/** A word, by the tables of characters that are the same in every language. */
const WORD = new RegExp(`[${LETTERS}]+`, "gu");
/** White space between the words of a name: blanks, and at most one line break. */
const BLANKS = /^(?:[ \t\u00a0]+|[ \t\u00a0]*(?:\r\n|[\n\r])[ \t\u00a0]*)$/;
const DOTTED = /^\.(?:[ \t\u00a0]*|[ \t\u00a0]*(?:\r\n|[\n\r])[ \t\u00a0]*)$/;
/** Digits and marks of accounts and addresses, and two words with a full stop between. */
const NOT_IN_NAMES = new RegExp(`[0-9@_/\\\\:+#]|[${LETTERS}]{2}\\.[${LETTERS}]`, "u");

/** Word of a text: position, lookup key, the gap before it, and whether the gap begins with a full stop. */
interface Word {
  readonly start: number;
  readonly end: number;
  readonly folded: string;
  readonly gap: string;
  readonly followsStop: boolean;
}

/** Words that hyphens and apostrophes join. */
interface Unit {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly isDotted: boolean;
}

/** Spelling of a listed person. */
export interface KnownSpelling {
  /** First spelling of the person. */
  readonly person: string;
  /** Role of each name in the spelling. */
  readonly form: string;
  /** Originals for restoring: the whole spelling, and its part for each role. */
  readonly originals: readonly string[];
  /** Whether the spelling is matched only with a capital letter, because it is also a common word. */
  readonly needsCapital: boolean;
}

/** Spelling of a listed person in a text. */
export interface KnownMatch {
  readonly start: number;
  readonly end: number;
  readonly spelling: KnownSpelling;
}

/** Node of the tree of spellings. */
interface TrieNode {
  readonly children: Map<string, TrieNode>;
  spelling: KnownSpelling | undefined;
  entry: number;
}

const makeNode = (): TrieNode => ({ children: new Map(), spelling: undefined, entry: 0 });
const makeChildKey = ({ gap, folded }: Word): string => `${gap}\0${folded}`;

/** Replace the apostrophe U+02BC, which Unicode regards as a letter, by U+0027. */
const foldLetterApostrophes = (text: string): string => text.replace(/\u02bc/g, "'");

/** Return the words of a text. A full stop after a single letter does not begin the next gap. */
function listWords(original: string): Word[] {
  const text = foldLetterApostrophes(original);
  const words: Word[] = [];
  let [before, isLetter] = [0, false];
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    let gap = text.slice(before, start);
    const followsStop = gap.startsWith(".");
    if (BLANKS.test(gap) || (isLetter && DOTTED.test(gap))) gap = " ";
    else gap = gap.replace(/[\u2019\u2018\u00b4]/g, "'").replace(/[\u2010\u2011]/g, "-");
    const end = start + word.length;
    words.push({ start, end, folded: foldWord(word), gap, followsStop });
    [before, isLetter] = [end, countCodePoints(word) === 1];
  }
  return words;
}

/** Group words that a hyphen or an apostrophe joins. */
function listUnits(words: readonly Word[]): Unit[] {
  const units: Unit[] = [];
  let start = 0;
  for (let end = 1; end <= words.length; end++) {
    if (["-", "'"].includes(words[end]?.gap ?? "")) continue;
    const key = words
      .slice(start, end)
      .map(({ gap, folded }, at) => (at === 0 ? folded : gap + folded))
      .join("");
    units.push({ key, start, end, isDotted: words[end]?.followsStop ?? false });
    start = end;
  }
  return units;
}

const isOneLetter = (key: string): boolean => countCodePoints(key) === 1;
const getRole = ({ key, isDotted }: Unit): string =>
  isOneLetter(key) ? ((isDotted ? DOTTED_INITIAL : GIVEN_INITIAL) as string) : (GIVEN as string);
const isPlainName = (spelling: string): boolean => !NOT_IN_NAMES.test(spelling);
const getFirst = (text: string): string => [...text][0] ?? "";
const foldLetters = (name: string): string => name.replace(/[^\p{L}]/gu, "").toLowerCase();

/** The form of a spelling, and the words of each role. */
interface SpellingForm {
  readonly form: string;
  readonly ranges: readonly (readonly [number, number])[];
}

/** Finds the spellings of listed persons in a text, in time linear in its length. */
export class KnownPersons {
  readonly #root = new Map<string, TrieNode>();
  #count = 0;

  constructor(
    entries: readonly string[],
    readonly lists: NamesLists,
  ) {
    entries.forEach((entry, index) => {
      const line = entry.replace(/^\ufeff/, "").trim();
      if (line !== "" && !line.startsWith("#")) this.#addPerson(line, index + 1);
    });
    if (entries.length > 0 && this.#count === 0) {
      throw new OptionError("known: the list has no person: write one person per line, with commas between spellings");
    }
  }

  #addPerson(line: string, number: number): void {
    this.#count++;
    if (this.#count > MAX_PERSONS) {
      throw new OptionError(`known: more than ${MAX_PERSONS.toLocaleString("en-US")} persons: use a shorter list`);
    }
    const spellings = line
      .split(/[,|]/)
      .map((spelling) => spelling.trim())
      .filter((spelling) => spelling !== "");
    if (spellings.length > MAX_SPELLINGS)
      throw new OptionError(`known: entry ${number} has more than ${MAX_SPELLINGS} spellings: remove some`);
    const parsed = spellings.map((spelling) => {
      const words = listWords(spelling);
      const letters = spelling.match(/\p{L}/gu)?.length ?? 0;
      if (countCodePoints(spelling) > MAX_CHARACTERS || words.length === 0 || words.length > MAX_WORDS || letters < 2) {
        throw new OptionError(
          `known: entry ${number} has a spelling that is not supported: use 2 letters or more, and at most` +
            ` ${MAX_CHARACTERS} characters and ${MAX_WORDS} words`,
        );
      }
      return { spelling, words: words.slice(this.#dropTitles(listUnits(words))[0]?.start) };
    });
    const person = spellings[0];
    if (person === undefined)
      throw new OptionError(`known: entry ${number} has no spelling: remove its line or write a name`);
    const [given, family] = this.#findFullName(parsed);
    const originals = new Map<string, string>();
    const setOriginal = (name: string, original: string): void => {
      if (!originals.has(name)) originals.set(name, original);
    };
    const forms = parsed.map(({ spelling, words }) => this.#findForm(spelling, words, given, family));
    const cut = (spelling: string, words: readonly Word[], start: number, end: number): string =>
      spelling.slice(words[start]?.start, words[end - 1]?.end);
    parsed.forEach(({ spelling, words }, index) => {
      const { form, ranges } = forms[index] as SpellingForm;
      [...form].forEach((role, at) => {
        const [start, end] = ranges[at] ?? [0, 0];
        setOriginal(role, cut(spelling, words, start, end));
      });
      setOriginal(form, cut(spelling, words, 0, words.length));
    });
    parsed.forEach(({ spelling, words }, index) => {
      const { form } = forms[index] as SpellingForm;
      const isCommon = words.length === 1 && this.lists.commonWords.has(words[0]?.folded ?? "");
      const found = [form, ...form].map((role) => originals.get(role) ?? "");
      this.#addSpelling(
        words,
        { person, form, originals: found, needsCapital: isCommon && !isLower(spelling) },
        number,
      );
    });
  }

  #addSpelling(words: readonly Word[], spelling: KnownSpelling, number: number): void {
    let children = this.#root;
    let node: TrieNode | undefined;
    for (const [index, word] of words.entries()) {
      const key = index === 0 ? word.folded : makeChildKey(word);
      node = children.get(key) ?? makeNode();
      children.set(key, node);
      children = node.children;
    }
    if (node === undefined) return;
    if (node.spelling === undefined) [node.spelling, node.entry] = [spelling, number];
    else if (node.entry === number) {
      if (!spelling.needsCapital) node.spelling = { ...node.spelling, needsCapital: false };
    } else {
      throw new OptionError(
        `known: entries ${node.entry} and ${number} have the same spelling: write all spellings of one person in one` +
          " entry, and omit spellings that two persons share",
      );
    }
  }

  /** Return a person's first name, and the words of the family name, as lookup keys. */
  #findFullName(parsed: readonly { spelling: string; words: readonly Word[] }[]): [string, readonly string[]] {
    let lone = "";
    let best: [string, readonly string[]] | undefined;
    const particles = this.lists.getMembers("particle");
    for (const { spelling, words } of parsed) {
      if (!isPlainName(spelling)) continue;
      const keys = listUnits(words).map(({ key }) => key);
      const [first = ""] = keys;
      if (keys.length === 1) {
        lone ||= first;
        continue;
      }
      const inside = keys.findIndex((key, at) => at > 0 && at < keys.length - 1 && particles.has(key));
      const last = inside < 0 ? keys.length - 1 : inside;
      if (best === undefined || (isOneLetter(best[0]) && !isOneLetter(first))) best = [first, keys.slice(last)];
    }
    if (best !== undefined) return best;
    if (lone === "") return ["", []];
    return this.lists.getMembers("given").has(lone) ? [lone, []] : ["", [lone]];
  }

  /** Return the words of a name without the titles before it, such as *Dr*. */
  #dropTitles(units: readonly Unit[]): readonly Unit[] {
    const titles = this.lists.getMembers("title");
    let rest = units;
    while (rest.length > 1 && titles.has(rest[0]?.key ?? "")) rest = rest.slice(1);
    return rest;
  }

  #findForm(spelling: string, words: readonly Word[], given: string, family: readonly string[]): SpellingForm {
    const whole = [[0, words.length]] as const;
    if (!isPlainName(spelling)) {
      const isAddress = spelling.slice(getFirst(spelling).length).includes("@");
      return { form: (isAddress ? ADDRESS : ACCOUNT) as string, ranges: whole };
    }
    const units = listUnits(words);
    const keys = units.map(({ key }) => key);
    const [first, last] = [units[0] as Unit, units.at(-1) as Unit];
    const [size, familyKey] = [family.length, family.join("\0")];
    const isFamily = (some: readonly string[]): boolean => size > 0 && some.join("\0") === familyKey;
    if (units.length === 1) {
      const initials = getFirst(given) + getFirst(family[0] ?? "");
      if (isUpper(spelling) && countCodePoints(first.key) === 2 && size > 0 && first.key === initials)
        return { form: INITIALS as string, ranges: whole };
      const isLast = size > 0 && (given === "" || first.key === family.at(-1));
      return { form: (isLast ? FAMILY : GIVEN) as string, ranges: [[first.start, first.end]] };
    }
    if (isFamily(keys)) return { form: FAMILY as string, ranges: [[first.start, last.end]] };
    if (isFamily(keys.slice(-size))) {
      const start = (units.at(-size) as Unit).start;
      return {
        form: getRole(first) + FAMILY,
        ranges: [
          [first.start, first.end],
          [start, last.end],
        ],
      };
    }
    if (isFamily(keys.slice(0, size))) {
      const next = units[size] as Unit;
      return {
        form: FAMILY + getRole(next),
        ranges: [
          [first.start, (units[size - 1] as Unit).end],
          [next.start, next.end],
        ],
      };
    }
    return {
      form: getRole(first) + (isOneLetter(last.key) ? FAMILY_INITIAL : FAMILY),
      ranges: [
        [first.start, first.end],
        [last.start, last.end],
      ],
    };
  }

  /** Return the places of a text at which a spelling may begin. */
  findCandidates(text: string): KnownCandidates {
    return new KnownCandidates(text, this.#root);
  }
}

/** Search for the spellings of listed persons in one text. */
export class KnownCandidates {
  readonly text: string;
  readonly #words: readonly Word[];
  #next = 0;

  constructor(
    text: string,
    readonly root: ReadonlyMap<string, TrieNode>,
  ) {
    this.text = foldLetterApostrophes(text);
    this.#words = listWords(text);
  }

  /** Return the next match that begins at `start` or later; `undefined` if there is none. */
  findNext(start: number): KnownMatch | undefined {
    for (; this.#next < this.#words.length; this.#next++) {
      const word = this.#words[this.#next] as Word;
      const node = word.start >= start ? this.root.get(word.folded) : undefined;
      const match = node === undefined ? undefined : this.#findLongest(this.#next, node);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  #findLongest(index: number, root: TrieNode): KnownMatch | undefined {
    const first = this.#words[index] as Word;
    if (first.start > 0 && isPartOfWord(getCharacterBefore(this.text, first.start))) return undefined;
    let [node, match]: [TrieNode, KnownMatch | undefined] = [root, undefined];
    for (let at = index; at < Math.min(this.#words.length, index + MAX_WORDS); at++) {
      const word = this.#words[at] as Word;
      if (at > index) {
        const child = node.children.get(makeChildKey(word));
        if (child === undefined) break;
        node = child;
      }
      const { spelling } = node;
      const following = getCharacterAt(this.text, word.end);
      if (spelling === undefined || (following !== "" && isPartOfWord(following))) continue;
      if (!spelling.needsCapital || isUpper(getCharacterAt(this.text, first.start)))
        match = { start: first.start, end: word.end, spelling };
    }
    return match;
  }
}

/** Return the case pattern of a spelling. If the spelling has longer words, its initials do not count. */
function findNameCase(text: string): number {
  const longer = (text.match(WORD) ?? []).filter((word) => countCodePoints(word) > 1);
  const words = longer.length > 0 ? longer : [text];
  if (words.every(isUpper)) return UPPER;
  return words.some((word) => [...word].some(isUpper)) ? TITLE : LOWER;
}

/** Create the token of a listed person in a text. */
export function makeKnownToken({ spelling: { person, form, originals } }: KnownMatch, text: string): NamesToken {
  const pattern = form === ADDRESS || form === ACCOUNT ? LOWER : findNameCase(text);
  return makeToken(REPLACED, text, ["", person, ...originals].join("\0"), pattern, KNOWN_PERSON, form, HOLDS_OWN);
}

/** Return the span of a listed person as a mention with a first name and a family name. */
export function makeKnownMention(span: EntitySpan): EntityMention {
  const person = span.tokens[0]?.key.split("\0")[1] ?? "";
  const folded = `\0${listWords(person)
    .map((word) => word.folded)
    .join(" ")}`;
  const parts = ["given", "family"].map((entityType) => ({ entityType, layout: "", folded, text: span.text }));
  const nameText = isTaggedAlone(span) ? span.text : writeCase(person, span.case);
  return { entityType: "person", case: span.case, parts, span, nameText };
}

/** Return whether a listed person's spelling is an address or the name of an account, which has a tag of its own. */
const isTaggedAlone = ({ layout }: EntitySpan): boolean => layout === ADDRESS || layout === ACCOUNT;

/** Return the type in the tag of a listed person, and the key of the tag; `undefined` for the tag of all names. */
export function describeKnownTag({ span, parts }: EntityMention): string[] | undefined {
  if (!isTaggedAlone(span)) return undefined;
  const words = listWords(span.text).map((word) => word.gap + word.folded);
  return [PART_TYPES[span.layout] as string, parts[0]?.folded ?? "", words.join("")];
}

/** Return a listed name as the user wrote it; a name without capitals in the case pattern of the text. */
function writeCase(original: string, pattern: number): string {
  if (pattern === LOWER || [...original].some(isUpper)) return original;
  return pattern === UPPER ? original.toUpperCase() : original.replace(WORD, capitalizeFirst);
}

/** Return the mention of a listed person with its output: the surrogate person in the form of the spelling. */
export function joinKnownSurrogates(mention: EntityMention, surrogates: readonly string[]): RewrittenElement {
  const { text, layout: form, tokens } = mention.span;
  const [given = "", family = ""] = surrogates;
  const [whole = "", ...ofRoles] = (tokens[0]?.key.split("\0").slice(2) ?? []).map((original) =>
    writeCase(original, mention.case),
  );
  const outputs: string[] = [];
  const parts: MentionPart[] = [];
  const name = `${foldLetters(given)}.${foldLetters(family)}`;
  for (const [index, role] of [...form].entries()) {
    const source = role === FAMILY || role === FAMILY_INITIAL ? family : given;
    const original = ofRoles[index] ?? "";
    if (role === ADDRESS) outputs.push(`${name}@example.com`);
    else if (role === ACCOUNT) outputs.push(name);
    else if (role === INITIALS) outputs.push(getFirst(given) + getFirst(family));
    else outputs.push(role === GIVEN || role === FAMILY ? source : getFirst(source));
    const entityType = PART_TYPES[role] ?? "initial";
    parts.push({ entityType, layout: "", folded: original, text: form.length === 1 ? whole : original });
  }
  const output = outputs.map((part, index) => (form[index] === DOTTED_INITIAL ? `${part}.` : part)).join(" ");
  return { output, original: text, mention: { ...mention, parts, nameText: whole }, parts: outputs };
}
