/** Random choices of the surrogates of a document, and the text with these surrogates. */

import type { SurrogatePair } from "../inflections.js";
import { escapeTags } from "../restore.js";
import type { ReplacementStyle } from "../statement.js";
import { IDENTIFIER_PIECE, KNOWN_PERSON } from "./entitySpans.js";
import { type EntityMention, getPublicType, type MentionPart, makeEqualityKey } from "./entityTypes.js";
import { describeKnownTag, joinKnownSurrogates } from "./knownPersons.js";
import { iteratePairs, type RewrittenElement } from "./replyPairs.js";
import { JSON_NUMBER_CASE, type SurrogatePools } from "./surrogates.js";

/** Maximum size of a pool from which surrogates are sampled without replacement if equal strings may differ. */
const MAX_DEALT_POOL = 1 << 20;
/** Layouts of plain numbers of five digits or more, none of which the option `facts` keeps. */
const LONG_NUMBERS: ReadonlySet<string | undefined> = new Set(["5", "7", "10"]);

/** Return whether a mention becomes a tag. */
function isTagged(style: ReplacementStyle, publicType: string, { entityType, parts, span }: EntityMention): boolean {
  if (style.usesTags || style.taggedTypes.has(publicType) || span.entityType === IDENTIFIER_PIECE) return true;
  return style.valueTypes.has(entityType) && !LONG_NUMBERS.has(parts[0]?.layout);
}

/** Elements of a text after pass 3: kept texts and mentions, in order. */
export interface ReadText {
  readonly elements: readonly (string | EntityMention)[];
  readonly keptCount: number;
}

/** Unused surrogates of one type in a document: a partial Fisher-Yates shuffle. */
class SurrogateDeck {
  free: number;
  #remaining: number;
  readonly #moved = new Map<number, number>();

  constructor(size: number) {
    this.free = size;
    this.#remaining = size;
  }

  /** Remove the unused surrogate at an index and return its number in the pool. */
  dealIndex(index: number): number {
    this.#remaining--;
    const dealt = this.#moved.get(index) ?? index;
    this.#moved.set(index, this.#moved.get(this.#remaining) ?? this.#remaining);
    return dealt;
  }
}

/** One random integer: its upper bound, its deck, and the number of the chosen surrogate. */
interface SurrogateDraw {
  readonly bound: number;
  readonly deck: SurrogateDeck | undefined;
  surrogateIndex: number;
}

/** Draws of one document, and the mentions that share them. */
export class DocumentDraws {
  readonly draws: SurrogateDraw[] = [];
  readonly #decks = new Map<string, SurrogateDeck>();
  readonly #drawsByKey = new Map<string, SurrogateDraw>();
  readonly #tags = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #planned: (string | SurrogateDraw[])[][];

  constructor(
    readonly readTexts: readonly ReadText[],
    readonly style: ReplacementStyle,
    readonly surrogates: SurrogatePools,
  ) {
    this.#planned = readTexts.map((text) =>
      text.elements.flatMap((element) => (typeof element === "string" ? [] : [this.#planMention(element)])),
    );
  }

  #planMention(mention: EntityMention): string | SurrogateDraw[] {
    const { style } = this;
    const publicType = getPublicType(mention.entityType);
    if (style.droppedTypes.has(publicType)) return "";
    const { entityType = "", layout = "" } = mention.parts[0] ?? {};
    if (!isTagged(style, publicType, mention) && !this.surrogates.needsTag(entityType, layout)) {
      const draws = mention.parts.map((part) => this.#drawPart(part));
      if (!draws.includes(undefined)) return draws as SurrogateDraw[];
    }
    // A JSON number and the same digits in a text get different tags, because a restored JSON number has no quotes.
    const known = mention.span.entityType === KNOWN_PERSON ? describeKnownTag(mention) : undefined;
    const [tagType = "", ...key] = known ?? [publicType, ...mention.parts.map(makeEqualityKey)];
    const equalityKey = [mention.case === JSON_NUMBER_CASE ? "json" : "", tagType, ...key].join("\x01");
    let tag = this.#tags.get(equalityKey);
    if (tag === undefined) {
      const nextNumber = (this.#counts.get(tagType) ?? 0) + 1;
      this.#counts.set(tagType, nextNumber);
      tag = `[${tagType} ${nextNumber}]`;
      this.#tags.set(equalityKey, tag);
    }
    return tag;
  }

  /** Return the random choice for a part; `undefined` if no surrogate is left or the document has too many strings. */
  #drawPart(part: MentionPart): SurrogateDraw | undefined {
    const { entityType, layout } = part;
    const poolSize = this.surrogates.getSize(entityType, layout);
    if (!this.style.consistent) return this.#addDraw(poolSize, undefined);
    if (!this.surrogates.isConsistent(entityType, layout)) {
      // A surrogate of two different originals cannot be restored.
      const dealt = poolSize <= MAX_DEALT_POOL ? this.#planDeal(`${entityType} ${layout}`, poolSize) : undefined;
      return dealt ?? this.#addDraw(poolSize, undefined);
    }
    const equalityKey = makeEqualityKey(part);
    let draw = this.#drawsByKey.get(equalityKey);
    if (draw === undefined) {
      if (this.#drawsByKey.size >= this.style.cap) return undefined;
      draw = this.#planDeal(`${entityType} ${layout}`, poolSize);
      if (draw !== undefined) this.#drawsByKey.set(equalityKey, draw);
    }
    return draw;
  }

  /** Add the draw of a surrogate that the document has not used; `undefined` if none is left. */
  #planDeal(pool: string, poolSize: number): SurrogateDraw | undefined {
    let deck = this.#decks.get(pool);
    if (deck === undefined) {
      deck = new SurrogateDeck(poolSize);
      this.#decks.set(pool, deck);
    }
    if (deck.free === 0) return undefined;
    const draw = this.#addDraw(deck.free, deck);
    deck.free--;
    return draw;
  }

  #addDraw(bound: number, deck: SurrogateDeck | undefined): SurrogateDraw {
    const draw: SurrogateDraw = { bound, deck, surrogateIndex: 0 };
    this.draws.push(draw);
    return draw;
  }

  /** Return the sanitized texts, and the pairs of surrogates and originals. */
  writeTexts(): { texts: string[]; pairs: SurrogatePair[] } {
    for (const draw of this.draws)
      if (draw.deck !== undefined) draw.surrogateIndex = draw.deck.dealIndex(draw.surrogateIndex);
    const pairs: SurrogatePair[] = [];
    const texts = this.readTexts.map((text, number) => {
      const planned = this.#planned[number] ?? [];
      let index = 0;
      const elements = quoteJsonTags(
        text.elements.map(
          (element): RewrittenElement =>
            typeof element === "string"
              ? { output: element, original: element, parts: [] }
              : this.#spellMention(element, planned[index++] ?? ""),
        ),
      );
      for (const pair of iteratePairs(elements)) pairs.push(pair);
      const parts = [""];
      for (const { output, mention } of elements) {
        if (mention === undefined || !/^(?:\[|"-?\[)/.test(output)) parts[parts.length - 1] += output;
        else parts.push(output, "");
      }
      // Other text that looks like a tag belongs to the user, and must not be restored.
      return parts.length === 1
        ? (parts[0] ?? "")
        : parts.map((part, at) => (at % 2 ? part : escapeTags(part))).join("");
    });
    return { texts, pairs };
  }

  #spellMention(mention: EntityMention, planned: string | SurrogateDraw[]): RewrittenElement {
    const original = mention.span.text;
    if (typeof planned === "string") return { output: planned, original, mention, parts: [] };
    const surrogates = mention.parts.map((part, index) =>
      this.surrogates.spellSurrogate(
        part.entityType,
        part.layout,
        (planned[index] as SurrogateDraw).surrogateIndex,
        mention.case,
      ),
    );
    if (mention.span.entityType === KNOWN_PERSON) return joinKnownSurrogates(mention, surrogates);
    const last = surrogates.length - 1;
    const output = surrogates.map((part, at) =>
      mention.parts[at]?.entityType === "initial" && at < last ? `${part}.` : part,
    );
    return { output: output.join(" "), original, mention, parts: surrogates };
  }
}

/**
 * Write a JSON string for each tag of a JSON number, and `null` for each removed number. A kept sign before the number
 * moves into the string.
 */
function quoteJsonTags(elements: readonly RewrittenElement[]): RewrittenElement[] {
  const quoted: RewrittenElement[] = [];
  for (const element of elements) {
    const { output, mention, parts } = element;
    if (mention === undefined || mention.case !== JSON_NUMBER_CASE || parts.length > 0) {
      quoted.push(element);
      continue;
    }
    const previous = quoted.at(-1);
    const sign = previous !== undefined && previous.mention === undefined && previous.output.endsWith("-") ? "-" : "";
    if (previous !== undefined && sign !== "") {
      const removeSign = (text: string): string => text.slice(0, -1);
      quoted[quoted.length - 1] = {
        ...previous,
        output: removeSign(previous.output),
        original: removeSign(previous.original),
      };
    }
    const original = sign + element.original;
    if (output === "") quoted.push({ output: "null", original, parts: [] });
    else
      quoted.push({
        output: `"${sign}${output}"`,
        original,
        mention: { ...mention, nameText: sign + mention.nameText },
        parts: [],
      });
  }
  return quoted;
}
