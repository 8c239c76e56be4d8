/** How texts are rewritten on the rung `names`, under one set of options. */

import type { TextBundle } from "../bundle/text.js";
import { L as LETTER, size } from "../characters.js";
import { NAMES_BATCH } from "../constants.js";
import { types } from "../data.js";
import { uniformBelowEach, type Words } from "../entropy.js";
import { OptionError } from "../errors.js";
import type { Pair } from "../forms.js";
import { capOf, type Given } from "../options.js";
import { notATag } from "../restore.js";
import type { Rewritten } from "../rewrite.js";
import { NamesStatement, type Statement, type Style } from "../statement.js";
import { LOWER } from "../words.js";
import { COPIED, type JsonPart, NUMBER, splitJson, writeEscapes } from "./json.js";
import { called, equalOf, FirstNames, Kinds, type Mention, type Part } from "./kinds.js";
import { findPairs, type Piece } from "./pairs.js";
import { Places } from "./places.js";
import { joinSpelled } from "./spelled.js";
import { JSON_NUMBER, Surrogates } from "./surrogates.js";
import { GAP, keysOf, Reader, type Token } from "./tokens.js";

/** The largest pool that is dealt without replacement though equal strings do not become equal. */
const LARGEST_DEALT = 1 << 20;
const PIECES = /[\p{L}\p{N}_]+(?:['\u2019][\p{L}\p{N}_]+)*|[^\p{L}\p{N}_]+/gu;
const BEGINS_WORD = /^[\p{L}\p{N}]/u;

/** A text that was read: what is shown, and mentions, in order. */
interface Read {
  readonly entries: readonly (string | Mention)[];
  readonly shown: number;
}

/** A text of whose parts all but the copied ones were read. */
function joinParts(parts: readonly JsonPart[], next: () => Read): Read {
  const entries: (string | Mention)[] = [];
  let [kept, shown] = ["", 0];
  for (const part of parts) {
    if (part.kind === COPIED) {
      kept += part.text;
      continue;
    }
    const read = next();
    shown += read.shown;
    let start = 0;
    for (const entry of read.entries) {
      const text = typeof entry === "string" ? entry : entry.slot.text;
      const source = writeEscapes(text, part.escapes, start);
      start += text.length;
      if (typeof entry === "string") {
        kept += source;
      } else {
        const slot = source === text ? entry.slot : { ...entry.slot, source };
        entries.push(kept, part.kind === NUMBER ? { ...entry, slot, case: JSON_NUMBER } : { ...entry, slot });
        kept = "";
      }
    }
  }
  return { entries: [...entries, kept], shown };
}

/** The members of one kind that no other string of the document has yet: a shuffle, as far as it was dealt. */
class Deck {
  free: number;
  #left: number;
  readonly #moved = new Map<number, number>();

  constructor(members: number) {
    this.free = members;
    this.#left = members;
  }

  /** The member at a place of those that are left; it is taken out. */
  deal(place: number): number {
    this.#left--;
    const found = this.#moved.get(place) ?? place;
    this.#moved.set(place, this.#moved.get(this.#left) ?? this.#left);
    return found;
  }
}

/** One integer: below how many, the deck that it is dealt from, and the member that it is. */
interface Draw {
  readonly below: number;
  readonly deck: Deck | undefined;
  member: number;
}

/** The draws of one document, and which of its mentions share one. */
class Document {
  readonly draws: Draw[] = [];
  readonly #decks = new Map<string, Deck>();
  readonly #consistent = new Map<string, Draw>();
  readonly #tags = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #planned: (string | Draw[])[][];

  constructor(
    readonly read: readonly Read[],
    readonly style: Style,
    readonly surrogates: Surrogates,
  ) {
    this.#planned = read.map((text) =>
      text.entries.flatMap((entry) => (typeof entry === "string" ? [] : [this.#mention(entry)])),
    );
  }

  #mention(mention: Mention): string | Draw[] {
    const { style } = this;
    const name = called(mention.kind);
    if (style.drop.has(name)) return "";
    if (!style.tags && !style.tag.has(name)) {
      const draws = mention.parts.map((part) => this.#draw(part));
      if (!draws.includes(undefined)) return draws as Draw[];
    }
    // A number of JSON has another tag than the same digits in a text: it comes back without quotation marks.
    const equal = [mention.case === JSON_NUMBER ? "json" : "", name, ...mention.parts.map(equalOf)].join("\x01");
    let found = this.#tags.get(equal);
    if (found === undefined) {
      const number = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, number);
      found = `[${name} ${number}]`;
      this.#tags.set(equal, found);
    }
    return found;
  }

  /** The draw of a part; nothing if no member is left, or the document has too many strings. */
  #draw(part: Part): Draw | undefined {
    const { kind, layout } = part;
    const members = this.surrogates.size(kind, layout);
    if (!this.style.consistent) return this.#new(members, undefined);
    if (!this.surrogates.isConsistent(kind, layout)) {
      // A surrogate that comes twice for two originals cannot be restored.
      const dealt = members <= LARGEST_DEALT ? this.#deal(`${kind} ${layout}`, members) : undefined;
      return dealt ?? this.#new(members, undefined);
    }
    const equal = equalOf(part);
    let draw = this.#consistent.get(equal);
    if (draw === undefined) {
      if (this.#consistent.size >= this.style.cap) return undefined;
      draw = this.#deal(`${kind} ${layout}`, members);
      if (draw !== undefined) this.#consistent.set(equal, draw);
    }
    return draw;
  }

  /** The draw of a member that no other draw of the document has; nothing if none is left. */
  #deal(pool: string, members: number): Draw | undefined {
    let deck = this.#decks.get(pool);
    if (deck === undefined) {
      deck = new Deck(members);
      this.#decks.set(pool, deck);
    }
    if (deck.free === 0) return undefined;
    const draw = this.#new(deck.free, deck);
    deck.free--;
    return draw;
  }

  #new(below: number, deck: Deck | undefined): Draw {
    const draw = { below, deck, member: 0 };
    this.draws.push(draw);
    return draw;
  }

  /** The texts with what was drawn, and what replies may mention of them. */
  written(): { texts: string[]; pairs: Pair[] } {
    for (const draw of this.draws) if (draw.deck !== undefined) draw.member = draw.deck.deal(draw.member);
    const pairs: Pair[] = [];
    const texts = this.read.map((text, number) => {
      const planned = this.#planned[number] ?? [];
      let place = 0;
      const pieces = quoteTagsOfJson(
        text.entries.map(
          (entry): Piece =>
            typeof entry === "string"
              ? { output: entry, original: entry, parts: [] }
              : this.#spelled(entry, planned[place++] ?? ""),
        ),
      );
      for (const pair of findPairs(pieces)) pairs.push(pair);
      const parts = [""];
      for (const { output, mention } of pieces) {
        if (mention === undefined || !/^(?:\[|"-?\[)/.test(output)) parts[parts.length - 1] += output;
        else parts.push(output, "");
      }
      // What else looks like a tag is somebody else's, and must not be restored.
      return parts.length === 1 ? (parts[0] ?? "") : parts.map((part, at) => (at % 2 ? part : notATag(part))).join("");
    });
    return { texts, pairs };
  }

  #spelled(mention: Mention, planned: string | Draw[]): Piece {
    const original = mention.slot.text;
    if (typeof planned === "string") return { output: planned, original, mention, parts: [] };
    const parts = mention.parts.map((part, place) =>
      this.surrogates.spelled(part.kind, part.layout, (planned[place] as Draw).member, mention.case),
    );
    const last = parts.length - 1;
    const output = parts.map((part, at) => (mention.parts[at]?.kind === "initial" && at < last ? `${part}.` : part));
    return { output: output.join(" "), original, mention, parts };
  }
}

/**
 * Pieces with a string of JSON for each tag of a number of JSON, and `null` for a dropped one. A sign that is shown
 * before the number goes into the string.
 */
function quoteTagsOfJson(pieces: readonly Piece[]): Piece[] {
  const found: Piece[] = [];
  for (const piece of pieces) {
    const { output, mention, parts } = piece;
    if (mention === undefined || mention.case !== JSON_NUMBER || parts.length > 0) {
      found.push(piece);
      continue;
    }
    const before = found.at(-1);
    const sign = before !== undefined && before.mention === undefined && before.output.endsWith("-") ? "-" : "";
    if (before !== undefined && sign !== "") {
      const cut = (text: string): string => text.slice(0, -1);
      found[found.length - 1] = { ...before, output: cut(before.output), original: cut(before.original) };
    }
    const original = sign + piece.original;
    if (output === "") found.push({ output: "null", original, parts: [] });
    else
      found.push({
        output: `"${sign}${output}"`,
        original,
        mention: { ...mention, named: sign + mention.named },
        parts: [],
      });
  }
  return found;
}

/** How texts are rewritten. */
export class NamesPlan {
  readonly style: Style;
  readonly #bundle: TextBundle;
  readonly #surrogates: Surrogates;
  readonly #allowed: ReadonlySet<string>;
  readonly #denied: ReadonlySet<string>;

  constructor(bundle: TextBundle, given: Given) {
    const lists = bundle.names;
    this.#bundle = bundle;
    this.#surrogates = new Surrogates(lists.pools, lists.rules);
    this.#allowed = keysOf(given.allow ?? [], lists);
    this.#denied = keysOf(given.deny ?? [], lists);
    const known = new Set(this.#surrogates.kinds.map(called));
    const [keep, tag, drop] = [given.keep, given.tag, given.drop].map((kinds = []) => {
      if (!kinds.every((kind) => known.has(kind))) {
        throw new OptionError(`there is no such kind; there are ${[...known].sort().join(", ")}`);
      }
      return new Set(kinds);
    }) as [Set<string>, Set<string>, Set<string>];
    if (new Set([...keep, ...tag, ...drop]).size < keep.size + tag.size + drop.size) {
      throw new OptionError("a kind is kept, tagged or dropped: one of them");
    }
    const never = [...keep].filter((kind) => types.unlisted.includes(kind)).sort();
    if (never.length > 0) {
      throw new OptionError(
        `kinds that are kept are told by a list or a shape, and ${never.join(", ")} is not: use allow`,
      );
    }
    this.style = {
      tags: given.style === "tag",
      consistent: given.consistent ?? true,
      cap: capOf(given),
      keep,
      tag,
      drop,
    };
  }

  statement(tokens: number): Statement {
    const { style } = this;
    const [allow, deny] = [this.#allowed.size > 0, this.#denied.size > 0];
    return new NamesStatement({ bundle: this.#bundle.identity, style, allow, deny }, tokens);
  }

  #kinds(): Kinds {
    const { keep, tag, drop, tags } = this.style;
    const told = new Set([...keep, ...tag, ...drop, ...(tags ? Object.keys(types.without_capitals) : [])]);
    return new Kinds(this.#bundle.names, this.#denied, keep, told);
  }

  #reader(): Reader {
    return new Reader(this.#bundle.names, this.#allowed, this.#denied);
  }

  /** Rewrites the documents of one call. */
  rewrite(documents: readonly (readonly string[])[], take: Words): Rewritten[] {
    const reader = this.#reader();
    const kinds = this.#kinds();
    const found: Rewritten[] = [];
    let batch: Document[] = [];
    let characters = 0;
    const drawAll = (): void => {
      const draws = batch.flatMap((document) => document.draws);
      const drawn = uniformBelowEach(
        draws.map((draw) => draw.below),
        take,
      );
      draws.forEach((draw, place) => {
        draw.member = drawn[place] ?? 0;
      });
      for (const document of batch) {
        const tokens = document.read.reduce((sum, text) => sum + text.shown, 0);
        const mentions = document.read.flatMap(({ entries }) => entries.filter((entry) => typeof entry !== "string"));
        const replaced = mentions.filter(({ kind }) => kind === "word").length;
        found.push({ ...document.written(), tokens, replaced });
      }
      [batch, characters] = [[], 0];
    };
    for (const texts of documents) {
      const names = new FirstNames();
      const unlinked = this.#read(texts, reader, kinds);
      const link = (text: Read): Read => ({ ...text, entries: text.entries.map((entry) => names.link(entry)) });
      const read = this.style.consistent ? unlinked.map(link) : unlinked;
      batch.push(new Document(read, this.style, this.#surrogates));
      characters += texts.reduce((sum, text) => sum + size(text), 0);
      if (characters > NAMES_BATCH) drawAll();
    }
    drawAll();
    return found;
  }

  /** Reads the texts of a document: words that may be names are shown where any of them has a capital. */
  #read(texts: readonly string[], reader: Reader, kinds: Kinds): Read[] {
    const parts = texts.map(splitJson);
    const read = this.#readPlain(
      parts.flatMap((of) => of.filter((part) => part.kind !== COPIED).map((part) => part.text)),
      reader,
      kinds,
    );
    let place = 0;
    return parts.map((of) => (of.length === 1 ? (read[place++] as Read) : joinParts(of, () => read[place++] as Read)));
  }

  #readPlain(texts: readonly string[], reader: Reader, kinds: Kinds): Read[] {
    const { characters } = reader;
    const { rules } = reader.lists;
    const isLetter = (text: string): boolean =>
      characters.all(text.slice(0, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1), LETTER);
    let capitals = false;
    const cut = texts.map((text) => {
      const words: Token[] = [];
      const gaps = [""];
      reader.read(text, (token) => {
        if (token.cls === GAP) {
          gaps[gaps.length - 1] += token.text;
          return;
        }
        words.push(token);
        gaps.push("");
      });
      joinSpelled(words, gaps, rules);
      capitals ||= words.some((word) => word.case !== LOWER);
      return new Places(words, gaps, isLetter, rules);
    });
    return cut.map((places) => ({
      entries: kinds.kept(
        places.entries(capitals).map((entry) => (typeof entry === "string" ? entry : kinds.mention(entry, capitals))),
      ),
      shown: places.shown,
    }));
  }

  /** The skeleton of each text, as golden vectors have it. */
  skeletons(texts: readonly string[]): unknown[][] {
    const read = this.#read(texts, this.#reader(), this.#kinds());
    return read.map((text) =>
      text.entries.map((entry) =>
        typeof entry === "string"
          ? entry
          : [
              entry.kind,
              ["lower", "Title", "UPPER", "JSON"][entry.case],
              entry.slot.endsInInitial,
              entry.slot.titles,
              entry.slot.before,
              ...entry.parts.map((part) => [part.kind, part.layout]),
            ],
      ),
    );
  }

  /** Each piece of a text with what becomes of it. */
  preview(text: string): [string, string][] {
    const found: [string, string][] = [];
    for (const entry of this.#read([text], this.#reader(), this.#kinds())[0]?.entries ?? []) {
      if (typeof entry !== "string") {
        found.push([entry.slot.source ?? entry.slot.text, called(entry.kind)]);
        continue;
      }
      for (const [piece] of entry.matchAll(PIECES)) found.push([piece, BEGINS_WORD.test(piece) ? "kept" : "gap"]);
    }
    return found;
  }
}
