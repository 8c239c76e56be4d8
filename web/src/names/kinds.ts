/** Pass 3 of the rung `names`: the kind of a slot from its own string, and its parts. */

import type { NamesLists } from "../bundle/names.js";
import { TITLE_BEFORE } from "../constants.js";
import { types } from "../data.js";
import { has } from "../rules.js";
import { UPPER } from "../words.js";
import { GROUP, LONE_INITIAL, RUN, type Slot } from "./places.js";
import { numberKind } from "./strings.js";
import { AT_SENTENCE, DOTTED, endingOf, INITIAL, INITIALS, type Token } from "./tokens.js";

/** A part of a slot that is drawn by itself. */
export interface Part {
  readonly kind: string;
  readonly layout: string;
  readonly folded: string;
  readonly text: string;
}

/** A slot with its kind, its parts, and its string less the common words before the name of a person. */
export interface Mention {
  readonly kind: string;
  readonly case: number;
  readonly parts: readonly Part[];
  readonly slot: Slot;
  readonly named: string;
}

const LONGEST_ACRONYM = 5;
const SHORTEST_WORD = 4;
/** Lists of whole names that say of a word in a run that the run names no person. */
/** What is drawn for a body and a place in a document without a capital. */
const smallKinds = new Map<string, string>(Object.entries(types.without_capitals));
const names = new Map<string, string>(Object.entries(types.called));

/** What a kind is called in options, tags and statements. */
export const called = (kind: string): string => names.get(kind) ?? kind;

/** What all parts of a mention have in common with those that are equal to it. */
export const equalOf = (part: Part): string => `${part.kind}\0${part.layout}\0${part.folded}`;

/** Whether a word of a run is an initial, or several with dots. */
const isInitial = (word: Token): boolean => word.cls === INITIAL || (word.bits & INITIALS) !== 0;

/** Links names that stand alone to the first names of persons earlier in a document. */
export class FirstNames {
  readonly #given = new Set<string>();
  readonly #family = new Set<string>();

  /** An entry; a family name alone as a first name if it was one, and no family name, before it. */
  link(entry: string | Mention): string | Mention {
    if (typeof entry === "string" || !["person", "given", "family"].includes(entry.kind)) return entry;
    const part = entry.parts[0] as Part;
    const linked = entry.kind === "family" && this.#given.has(part.folded) && !this.#family.has(part.folded);
    const found = linked ? { ...entry, kind: "given", parts: [{ ...part, kind: "given" }] } : entry;
    for (const { kind, folded } of found.parts) {
      if (kind !== "initial") (kind === "given" ? this.#given : this.#family).add(folded);
    }
    return found;
  }
}

/** Names the kinds of slots. */
export class Kinds {
  constructor(
    readonly lists: NamesLists,
    readonly denied: ReadonlySet<string>,
    readonly keep: ReadonlySet<string>,
    readonly told: ReadonlySet<string>,
  ) {}

  /** What is shown and mentions, in turn, with the mentions that are kept as a part of what is shown. */
  kept(entries: readonly (string | Mention)[]): (string | Mention)[] {
    const found: (string | Mention)[] = [];
    let shown: string[] = [];
    for (const entry of entries) {
      if (typeof entry === "string") shown.push(entry);
      else if (this.#isKept(entry)) shown.push(entry.slot.text);
      else {
        found.push(shown.join(""), entry);
        shown = [];
      }
    }
    return [...found, shown.join("")];
  }

  /** Whether the string of a mention is of a kind that is kept by a list or its shape, and is nobody's name. */
  #isKept({ kind, slot }: Mention): boolean {
    const { tokens } = slot;
    const [phrase, name] = [keysFrom(slot, 0), called(kind)];
    if (!this.keep.has(name) || tokens.some((word) => this.denied.has(word.key))) return false;
    if (kind === "person" || kind === "given" || kind === "family") {
      return tokens.slice(this.#name(slot)).every((word) => isInitial(word) || this.#isKeptName(word.key));
    }
    if (!types.whole.includes(kind)) return kind !== "word" || this.lists.common.has(phrase);
    const [first, last] = [tokens[0], tokens[tokens.length - 1]].map((word) => this.#ofPhrase(word?.key ?? ""));
    const persons = tokens.length > 1 && first === "given" && (last === "given" || last === "family");
    if (slot.before === TITLE_BEFORE || (persons && !this.keep.has("person"))) return false;
    return this.#isKeptName(phrase);
  }

  /** Whether a name is on lists, all of them of kinds that are kept. */
  #isKeptName(phrase: string): boolean {
    const kinds = types.whole.filter((kind) => this.lists.kind(kind).has(phrase)).map(called);
    if (this.lists.kind("particle").has(phrase) || has(this.lists.rules.data.names.also_persons, phrase))
      kinds.push("person");
    return kinds.length > 0 && kinds.every((kind) => this.keep.has(kind));
  }

  /** A slot with its kind; `capitals` says whether the document has a capital. */
  mention(slot: Slot, capitals: boolean): Mention {
    if (slot.kind === GROUP) {
      const [kind, layout] = numberKind(
        slot.text.replace(/^[+(]+|[+(]+$/g, "").replace(/[^0-9]+/g, "-"),
        this.lists.rules,
      );
      return one(slot, kind, layout);
    }
    if (slot.kind === LONE_INITIAL) return one(slot, "initial", "");
    const phrase = keysFrom(slot, 0);
    if (slot.kind !== RUN) {
      const listed = !capitals && slot.kind === "word" ? this.#ofPhrase(phrase) : "";
      if (listed === "") return one(slot, slot.kind, slot.layout);
      return one(slot, this.told.has(listed) ? listed : (smallKinds.get(listed) ?? listed), "");
    }
    let kind = this.#ofPhrase(phrase);
    if (kind === "") kind = slot.tokens.length > 1 ? this.#ofSeveral(slot) : this.#ofOne(slot, phrase);
    if (kind === "family" && has(this.lists.rules.data.names.place_prepositions, slot.before)) kind = "city";
    const isName = kind === "person" || kind === "given" || kind === "family";
    if (!isName) return one(slot, kind, kind === "word" ? endingOf(phrase, this.lists.rules) : "", phrase);
    const first = this.#name(slot);
    const parts = kind === "person" ? this.#persons(slot, first) : [partFrom(slot, kind, first)];
    const spelling = parts.every((part) => part.kind === "initial") ? UPPER : slot.case; // a word may be left out
    return { kind, case: spelling, parts, slot, named: spelledFrom(slot, first) };
  }

  /** The first list of whole names that has a phrase; nothing if none has. */
  #ofPhrase(phrase: string): string {
    return types.whole.find((kind) => this.lists.kind(kind).has(phrase)) ?? "";
  }

  #ofOne(slot: Slot, key: string): string {
    const person = this.#isAbroad(key) ? "given" : "family";
    if (slot.before === TITLE_BEFORE) return person;
    const length = [...key].length;
    const common = this.lists.common.has(key) && !this.denied.has(key);
    if (common && length >= SHORTEST_WORD && !key.includes("'")) return "word";
    return slot.case === UPPER && length <= LONGEST_ACRONYM ? "acronym" : person;
  }

  #ofSeveral(slot: Slot): string {
    const first = slot.tokens[0] as Token;
    const last = slot.tokens[slot.tokens.length - 1] as Token;
    if (first.kind === "particle") return "family";
    const name = this.#name(slot);
    const person = name < slot.tokens.length - 1 ? "person" : "given";
    if (slot.before === TITLE_BEFORE) return person;
    const kind = this.#ofEnd(last.key) || (first.bits & DOTTED ? "place" : this.#ofEnd(first.key));
    if (kind !== "") return kind;
    const begin = slot.tokens[name] as Token;
    if (isInitial(begin) || this.lists.kind("given").has(begin.key)) return person;
    const two = slot.tokens.length - name === 2 && this.#ofPhrase(last.key) === "family";
    if (two && ["", "family"].includes(this.#ofPhrase(begin.key))) return "person";
    const listed = this.#isAbroad(begin.key);
    if (!listed && has(this.lists.rules.data.names.place_prepositions, slot.before)) return "city";
    if (this.#isBody(slot, name)) return "organization";
    return listed || person === "person" ? person : "family";
  }

  /** Whether a run, from one of its words on, has a word that no name of a person has. */
  #isBody(slot: Slot, name: number): boolean {
    const tokens = slot.tokens.slice(name);
    const kinds = tokens.map((word) => this.#ofPhrase(word.key));
    if (slot.text.includes("&") || (tokens.length === 1 && kinds[0] === "city")) return true;
    const listed = this.#isAbroad((tokens[0] as Token).key);
    // Behind a first name that is no place, one common word may be a family name.
    const mayBeCommon = listed && tokens.length === 2 && ["", "family"].includes(kinds[0] ?? "");
    return tokens.some((word, place) => {
      const kind = kinds[place] ?? "";
      if ((listed && place === 0) || word.kind === "particle" || isInitial(word)) return false;
      const acronym = word.case === UPPER && slot.case !== UPPER;
      if (this.#ofEnd(word.key) !== "" || has(types.no_persons, kind) || acronym) return true;
      const common = this.lists.common.has(word.key) && !this.denied.has(word.key);
      return common && kind !== "given" && kind !== "family" && !mayBeCommon;
    });
  }

  #ofEnd(key: string): string {
    return types.last.find(([list]) => this.lists.kind(list).has(key))?.[1] ?? "";
  }

  #isAbroad(key: string): boolean {
    return this.lists.kind(types.first_names_only).has(key);
  }

  #isGiven(word: Token): boolean {
    return this.lists.kind("given").has(word.key) || this.#isAbroad(word.key);
  }

  /** Where a person's name begins behind words that may start sentences; else 0. */
  #name(slot: Slot): number {
    for (let place = 0; place < slot.tokens.length; place++) {
      const word = slot.tokens[place] as Token;
      const initial = isInitial(word);
      if (this.#isGiven(word) || (initial && place < slot.tokens.length - 1)) return place;
      if (!(word.bits & AT_SENTENCE)) return initial || slot.before === TITLE_BEFORE ? 0 : place;
    }
    return 0;
  }

  /** Initials, given names and one family name at the end, particles with it. */
  #persons(slot: Slot, first: number): Part[] {
    const found: Part[] = [];
    for (let place = first; place < slot.tokens.length; place++) {
      const word = slot.tokens[place] as Token;
      if (word.cls === INITIAL || (isInitial(word) && place < slot.tokens.length - 1)) {
        found.push({ kind: "initial", layout: "", folded: word.key, text: word.text });
      } else if (place === slot.tokens.length - 1 || (place > first && !this.#isGiven(word))) {
        found.push(partFrom(slot, "family", place));
        break;
      } else {
        found.push({ kind: "given", layout: "", folded: word.key, text: word.text });
      }
    }
    return found;
  }
}

function one(slot: Slot, kind: string, layout: string, folded?: string): Mention {
  const own = slot.tokens.length === 1 ? (slot.tokens[0] as Token).key : slot.text.toLowerCase();
  const part: Part = { kind, layout, folded: folded ?? own, text: slot.text };
  return { kind, case: slot.case, parts: [part], slot, named: slot.text };
}

const keysFrom = (slot: Slot, first: number): string =>
  slot.tokens
    .slice(first)
    .map((word) => word.key)
    .join(" ");

/** The part of a run from one of its words to its end. */
const partFrom = (slot: Slot, kind: string, first: number): Part => ({
  kind,
  layout: "",
  folded: keysFrom(slot, first),
  text: spelledFrom(slot, first),
});

/** What a slot has from one of its words on. */
function spelledFrom(slot: Slot, first: number): string {
  let end = 0;
  for (const word of slot.tokens.slice(0, first)) end = slot.text.indexOf(word.text, end) + word.text.length;
  return slot.text.slice(slot.text.indexOf((slot.tokens[first] as Token).text, end));
}
