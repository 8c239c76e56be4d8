/**
 * Sanitizing of documents in the modes `words` and `all`: classifies tokens, samples outputs, and writes the texts.
 */

import type { TextBundle } from "../bundle/textBundle.js";
import { MAX_BATCH_CHARACTERS, MAX_WHOLE_CHARACTERS } from "../constants.js";
import { DocumentTooLong } from "../errors.js";
import { formatThousands } from "../mechanisms/decimal.js";
import { drawUniformBelowEach, type RandomUint64 } from "../mechanisms/entropy.js";
import type { SlotStaircases } from "../mechanisms/slots.js";
import type { SurrogatePair } from "./inflections.js";
import { countCodePoints } from "./segmentation/characterClasses.js";
import { GAP, STRING } from "./segmentation/segments.js";
import { applyCase, foldWord, LOWER } from "./segmentation/words.js";
import {
  type ClassifiedToken,
  endsSentence,
  KEPT,
  listMarks,
  makeMarkToken,
  RANDOMIZED,
  REPLACED,
  type TemplateRule,
} from "./tokenRules/rule.js";

/** Plan for all texts under one set of options. */
export interface SanitizingPlan {
  readonly bundle: TextBundle;
  readonly rule: TemplateRule;
  readonly mechanism: SlotStaircases;
  readonly keepsCase: boolean;
  readonly sanitizesPunctuation: boolean;
  readonly consistent: boolean;
  readonly cap: number;
}

/**
 * Sanitized document: its texts, the number of tokens that count toward the spend, and pairs of output and original.
 */
export interface RewrittenDocument {
  readonly texts: string[];
  readonly tokens: number;
  /** In the mode `names`: number of replaced words that are on no list. */
  readonly replacedWords?: number;
  /** In the mode `names`: number of kept words that belong to other languages. */
  readonly foreignWords?: number;
  readonly pairs: readonly (SurrogatePair | readonly [string, string])[];
}

/** Segments of a text: gaps, and the tokens of each word or string. */
type SegmentTokens = (string | readonly ClassifiedToken[])[];

/** One draw: its first token, and whether all of its slots are in lower case. */
interface TokenDraw {
  readonly token: ClassifiedToken;
  readonly document: number;
  lower: boolean;
  word: string;
}

/** Yield batches of documents that are sampled together, which bounds memory. */
export function* iterateBatches(
  documents: readonly (readonly string[])[],
  maxCharacters = MAX_BATCH_CHARACTERS,
): Generator<(readonly string[])[]> {
  let batch: (readonly string[])[] = [];
  let characters = 0;
  for (const document of documents) {
    const characterCount = document.reduce((sum, text) => sum + countCodePoints(text), 0);
    if (batch.length > 0 && (characters + characterCount > maxCharacters || characterCount > MAX_WHOLE_CHARACTERS)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(document);
    characters += characterCount;
    if (characterCount > MAX_WHOLE_CHARACTERS) {
      yield batch;
      [batch, characters] = [[], 0];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Sanitizes the documents of one call. It holds private text and must not outlive the call. */
export class DocumentRewriter {
  readonly #tokensInside = new Map<string, readonly ClassifiedToken[]>();
  readonly #tokensAtStart = new Map<string, readonly ClassifiedToken[]>();
  readonly #marksByGap = new Map<string, readonly ClassifiedToken[]>();
  readonly #spellings = new Map<string, string>();

  constructor(
    readonly plan: SanitizingPlan,
    readonly randomUint64: RandomUint64,
  ) {}

  /** Sanitize documents of any number of texts, each of which begins a sentence. */
  rewrite(documents: readonly (readonly string[])[]): RewrittenDocument[] {
    const documentsOut: RewrittenDocument[] = [];
    for (const batch of iterateBatches(documents))
      for (const rewritten of this.#rewriteBatch(batch)) documentsOut.push(rewritten);
    return documentsOut;
  }

  /** Return each token and gap of a text with its treatment. */
  preview(text: string): [string, string][] {
    const { plan } = this;
    const treatments: [string, string][] = [];
    let [gap, isFirst] = ["", true];
    plan.rule.entityTypes.segmenter.iterateSegments(
      text,
      (segmentType, segment) => {
        if (segmentType === GAP) {
          const isMark = plan.sanitizesPunctuation && listMarks(segment, plan.rule.entityTypes.segmenter).length > 0;
          treatments.push([segment, isMark ? plan.rule.getTypeName(plan.rule.markType) : "gap"]);
          gap += segment;
          return;
        }
        const startsSentence = isFirst || (!plan.sanitizesPunctuation && endsSentence(gap));
        for (const token of plan.rule.classifyToken(segmentType, segment, startsSentence)) {
          treatments.push([token.spelling, this.#nameTreatment(token)]);
        }
        [gap, isFirst] = ["", false];
      },
      plan.rule.keepsFunctionWords && !plan.sanitizesPunctuation,
    );
    return treatments;
  }

  #nameTreatment(token: ClassifiedToken): string {
    if (token.role === KEPT) return "kept";
    if (token.role === REPLACED) return this.plan.rule.getTypeName(token.typeIndex);
    return this.#findSymbolId(token) < this.plan.bundle.symbolCount ? "randomized" : "unknown";
  }

  #findSymbolId(token: ClassifiedToken): number {
    const { bundle } = this.plan;
    return token.key === undefined ? bundle.symbolCount : (bundle.symbolIds.get(token.key) ?? bundle.symbolCount);
  }

  #splitAndClassify(text: string): SegmentTokens {
    const { plan } = this;
    const { rule } = plan;
    const segments: SegmentTokens = [];
    let [afterSentenceEnd, isFirst] = [false, true];
    rule.entityTypes.segmenter.iterateSegments(
      text,
      (segmentType, segment) => {
        if (segmentType !== GAP) {
          segments.push(
            this.#classifySegment(segmentType, segment, isFirst || (afterSentenceEnd && !plan.sanitizesPunctuation)),
          );
          [afterSentenceEnd, isFirst] = [false, false];
          return;
        }
        if (!plan.sanitizesPunctuation) {
          segments.push(segment);
          afterSentenceEnd ||= segment !== " " && endsSentence(segment);
          return;
        }
        let marks = this.#marksByGap.get(segment);
        if (marks === undefined) {
          marks = listMarks(segment, rule.entityTypes.segmenter).map((mark) => makeMarkToken(rule, mark));
          this.#marksByGap.set(segment, marks);
        }
        if (marks.length > 0) segments.push(marks);
      },
      rule.keepsFunctionWords && !plan.sanitizesPunctuation,
    );
    return segments;
  }

  #classifySegment(segmentType: number, segment: string, startsSentence: boolean): readonly ClassifiedToken[] {
    const cacheKey = segmentType === STRING ? ` ${segment}` : segment; // no segment begins with a blank
    const cached = (startsSentence ? this.#tokensAtStart : this.#tokensInside).get(cacheKey);
    if (cached !== undefined) return cached;
    const { rule } = this.plan;
    const inside = rule.classifyToken(segmentType, segment, false);
    const first = inside[0] as ClassifiedToken;
    // Only an unknown word inside a sentence may be classified differently at the start of a sentence.
    const starting =
      first.role === RANDOMIZED && first.key === undefined ? rule.classifyToken(segmentType, segment, true) : inside;
    this.#tokensInside.set(cacheKey, inside);
    this.#tokensAtStart.set(cacheKey, starting);
    if (this.plan.consistent) {
      for (const token of starting === inside ? inside : [...inside, ...starting]) {
        const identity = this.#findIdentity(token);
        if (identity !== undefined && !this.#spellings.has(identity)) this.#spellings.set(identity, token.spelling);
      }
    }
    return startsSentence ? starting : inside;
  }

  /** Return a key that equal tokens share; `undefined` for a token that is equal to no other. */
  #findIdentity(token: ClassifiedToken): string | undefined {
    if (token.role === KEPT || token.typeIndex === this.plan.rule.markType) return undefined;
    if (token.role === REPLACED) return `${token.typeIndex} ${foldWord(token.spelling)}`;
    const symbol = this.#findSymbolId(token);
    return symbol < this.plan.bundle.symbolCount ? `# ${symbol}` : `? ${foldWord(token.spelling)}`;
  }

  #rewriteBatch(batch: readonly (readonly string[])[]): RewrittenDocument[] {
    const { plan, randomUint64 } = this;
    const segmentedTexts = batch.map((texts) => texts.map((text) => this.#splitAndClassify(text)));
    const [drawByToken, draws] = this.#planDraws(segmentedTexts);
    const randomized = draws.filter((draw) => draw.token.role === RANDOMIZED);
    const replaced = draws.filter((draw) => draw.token.role === REPLACED);
    const symbols = plan.mechanism.drawSymbols(
      randomized.map((draw) => this.#findSymbolId(draw.token)),
      randomized.map((draw) => draw.lower),
      randomUint64,
    );
    randomized.forEach((draw, position) => {
      draw.word = plan.bundle.vocabulary[symbols[position] ?? 0] ?? "";
    });
    const surrogateLists = replaced.map((draw) => plan.rule.listSurrogates(draw.token.typeIndex));
    const choices = drawUniformBelowEach(
      surrogateLists.map((words) => words.length),
      randomUint64,
    );
    replaced.forEach((draw, position) => {
      draw.word = surrogateLists[position]?.[choices[position] ?? 0] ?? "";
    });
    const tokens = new Array<number>(batch.length).fill(0);
    for (const draw of randomized) tokens[draw.document] = (tokens[draw.document] ?? 0) + 1;
    let index = 0;
    return segmentedTexts.map((texts, document) => {
      const pairs: [string, string][] = [];
      const outputTexts = texts.map((items) => {
        const parts: string[] = [];
        for (const item of items) {
          if (typeof item === "string") {
            parts.push(item);
            continue;
          }
          for (let position = 0; position < item.length; position++) {
            const token = item[position] as ClassifiedToken;
            const draw = drawByToken[index++];
            const word = draw === undefined ? (token.key ?? "") : draw.word;
            const printed = plan.keepsCase ? applyCase(word, token.case) : word;
            if (plan.sanitizesPunctuation ? parts.length > 0 : position > 0 && token.role !== KEPT) parts.push(" ");
            parts.push(printed);
            const identity = plan.consistent && draw !== undefined ? this.#findIdentity(token) : undefined;
            if (identity !== undefined)
              pairs.push([foldWord(printed), this.#spellings.get(identity) ?? token.spelling]);
          }
        }
        return parts.join("");
      });
      return { texts: outputTexts, tokens: tokens[document] ?? 0, pairs };
    });
  }

  /** Return the draw of every token, in order (`undefined` for kept tokens), and all draws, by their first tokens. */
  #planDraws(segmentedTexts: readonly (readonly SegmentTokens[])[]): [(TokenDraw | undefined)[], TokenDraw[]] {
    const { plan } = this;
    const drawByToken: (TokenDraw | undefined)[] = [];
    const draws: TokenDraw[] = [];
    segmentedTexts.forEach((texts, document) => {
      let countedTokens = 0;
      const drawByIdentity = new Map<string, TokenDraw>();
      for (const items of texts) {
        for (const item of items) {
          if (typeof item === "string") continue;
          for (const token of item) {
            if (token.role === KEPT) {
              drawByToken.push(undefined);
              continue;
            }
            const isLower = !plan.keepsCase || token.case === LOWER;
            const identity = plan.consistent ? this.#findIdentity(token) : undefined;
            if (identity !== undefined && ++countedTokens > plan.cap) throw makeTooLongError(plan.cap);
            let draw = identity === undefined ? undefined : drawByIdentity.get(identity);
            if (draw === undefined) {
              draw = { token, document, lower: true, word: "" };
              draws.push(draw);
              if (identity !== undefined) drawByIdentity.set(identity, draw);
            }
            draw.lower &&= isLower;
            drawByToken.push(draw);
          }
        }
      }
    });
    return [drawByToken, draws];
  }
}

const makeTooLongError = (cap: number): DocumentTooLong =>
  new DocumentTooLong(
    `a document has more randomized words, names and numbers than ${formatThousands(cap)}: divide the document, or ` +
      "raise the cap",
  );
