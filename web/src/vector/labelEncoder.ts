/** `IndexEncoder`: turns a text into one index, or one public sentence, that says little of it. */

import { LabelBundle } from "../bundle/labelBundle.js";
import type { ExpectedBundle } from "../bundle/open.js";
import type { BundleSource } from "../bundle/source.js";
import { IDENTITY_DIGITS, REFUSALS } from "../constants.js";
import { InputError, OptionError } from "../errors.js";
import { drawUniformBelowEach, type RandomUint64, readRandomUint64 } from "../mechanisms/entropy.js";
import { checkEpsilonType, isCollection } from "../text/options.js";
import { isAscii, WHITE } from "../text/segmentation/words.js";
import type { PlainObject } from "../text/statement.js";
import { LabelStatement } from "./labelStatement.js";

/** The options of a release. All may be left out. */
export interface EncodeOptions {
  /** Loss of the whole text: exactly one of the channel's levels. */
  readonly epsilon?: string | number | undefined;
  /** Name of a channel. */
  readonly randomizer?: string | undefined;
  /** Whether one of the bundle's public sentences of the index is released in its place. */
  readonly asText?: boolean | undefined;
}

const OPTION_NAMES: readonly string[] = ["epsilon", "randomizer", "asText"];
const TOKEN = new RegExp(
  `[\\p{L}\\p{Nl}\\p{No}]+(?:'[\\p{L}\\p{Nl}\\p{No}]+)*|\\p{Nd}+|[^\\p{L}\\p{N}_${WHITE}]|_`,
  "gu",
);
const CLITIC = /^(.+?)(n't|'(?:s|m|d|re|ve|ll))$/s;
const STARTS_WITH_DIGIT = /^\p{Nd}/u;
const [FIRST_MULTIPLIER, SECOND_MULTIPLIER] = [2_654_435_761, 2_246_822_519];
const BITS = 32;

/** A released index and what it promises. */
export class LabelRelease {
  /** @internal */
  constructor(
    readonly labelId: number,
    readonly statement: LabelStatement,
    /** The sentence that is released in the place of the index. */
    readonly sentence: string | undefined,
  ) {}

  /** Index or sentence, first digits of the bundle's identity, epsilon and channel, with tabs between. */
  get line(): string {
    const { bundleHash: bundle, epsilon, randomizer } = this.statement;
    const released = this.sentence ?? String(this.labelId);
    return [released, bundle.slice(0, IDENTITY_DIGITS), epsilon, randomizer].join("\t");
  }

  toJSON(): PlainObject {
    const sentence = this.sentence === undefined ? {} : { sentence: this.sentence };
    return { index: this.labelId, ...sentence, line: this.line, statement: this.statement.toJSON() };
  }
}

/** Turns text into indices under local differential privacy, offline, with a static extractor. It holds no random state. */
export class TextLabelEncoder {
  readonly #bundle: LabelBundle;
  readonly #randomUint64: RandomUint64;

  /** @internal */
  constructor(bundle: LabelBundle, randomUint64: RandomUint64 = readRandomUint64) {
    this.#bundle = bundle;
    this.#randomUint64 = randomUint64;
  }

  /**
   * Opens a bundle: every file and every channel is checked first.
   *
   * @throws BundleError It cannot be used, or is not the one expected.
   * @throws EncoderUnavailable It runs a model.
   */
  static async load(source: BundleSource, expected: ExpectedBundle = {}): Promise<TextLabelEncoder> {
    return new TextLabelEncoder(await LabelBundle.load(source, expected));
  }

  /** Identity of the bundle: SHA-256 of its manifest. */
  get bundleHash(): string {
    return this.#bundle.contentHash;
  }

  /** The name of every code. */
  get labels(): readonly string[] {
    return this.#bundle.labels;
  }

  /**
   * Releases one index for one text, whatever it is: for any two texts no index is more than `exp(epsilon)` times as
   * likely for one as for the other. Every call draws afresh, and epsilons add up.
   */
  encode(text: string, options: EncodeOptions = {}): LabelRelease {
    if (typeof text !== "string") throw new InputError("the text is not a string");
    const statement = this.statement(options);
    const labelId = this.#bundle
      .getRandomizer(options.randomizer, options.epsilon)
      .drawLabel(this.computeTrueLabel(text), this.#randomUint64);
    return new LabelRelease(labelId, statement, statement.sentences > 0 ? this.#drawSentence(labelId) : undefined);
  }

  /** Releases an index for each of many texts, each on its own. */
  encodeBatch(texts: Iterable<string>, options: EncodeOptions = {}): LabelRelease[] {
    if (!isCollection(texts)) throw new InputError(REFUSALS.noTexts);
    return [...texts].map((text) => this.encode(text, options));
  }

  /** Returns what a call with these options promises. Nothing is drawn. */
  statement(options: EncodeOptions = {}): LabelStatement {
    if (
      typeof options !== "object" ||
      options === null ||
      !Object.keys(options).every((name) => OPTION_NAMES.includes(name))
    ) {
      throw new OptionError(`unknown option; there are ${OPTION_NAMES.join(", ")}`);
    }
    const { epsilon, randomizer, asText = false } = options;
    checkEpsilonType(epsilon ?? undefined);
    if (typeof asText !== "boolean") throw new OptionError("asText is true or false");
    const sentences = asText ? this.#bundle.sentences.reduce((sum, entries) => sum + entries.length, 0) : 0;
    const level = this.#bundle.getRandomizer(randomizer, epsilon);
    if (asText && sentences === 0) throw new OptionError("this bundle has no sentences");
    return new LabelStatement(level, this.#bundle.contentHash, sentences);
  }

  /** Draws one of the sentences of an index. It sees nothing of the text. */
  #drawSentence(labelId: number): string {
    const sentences = this.#bundle.sentences[labelId] ?? [];
    return sentences[drawUniformBelowEach([sentences.length], this.#randomUint64)[0] ?? 0] ?? "";
  }

  /** Returns the code of a text before anything is drawn. It has no protection: for measurements on public text. */
  computeTrueLabel(text: string): number {
    const { dimension, wordRows, pairRows, scales, weight, bias, labels } = this.#bundle;
    const ids = this.#computeIds(text);
    const vector = computeMean(wordRows, ids, dimension, scales[0] ?? 0);
    if (pairRows.length > 0) {
      const pairs = computeMean(pairRows, this.#computePairBuckets(ids), dimension, scales[1] ?? 0);
      for (let dimensionIndex = 0; dimensionIndex < dimension; dimensionIndex++)
        vector[dimensionIndex] = (vector[dimensionIndex] ?? 0) + (pairs[dimensionIndex] ?? 0);
    }
    if (!vector.every(Number.isFinite)) vector.fill(0);
    let [bestLabel, bestScore] = [0, Number.NEGATIVE_INFINITY];
    for (let labelId = 0; labelId < labels.length; labelId++) {
      let score = 0;
      for (let dimensionIndex = 0; dimensionIndex < dimension; dimensionIndex++) {
        score = Math.fround(
          score + Math.fround((weight[labelId * dimension + dimensionIndex] ?? 0) * (vector[dimensionIndex] ?? 0)),
        );
      }
      score = Math.fround(score + (bias[labelId] ?? 0));
      if (score > bestScore) [bestLabel, bestScore] = [labelId, score];
    }
    return bestLabel;
  }

  /** The rows of the words of a text, in order. */
  #computeIds(fullText: string): number[] {
    const { words, maxCharacters } = this.#bundle;
    let text =
      fullText.length > maxCharacters
        ? [...fullText.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join("")
        : fullText;
    if (!isAscii(text)) text = text.normalize("NFKC").replaceAll("\u2019", "'");
    const [numberId, unknownId] = [words.size, words.size + 1];
    return (text.toLowerCase().match(TOKEN) ?? []).flatMap((token) => {
      const row = words.get(token);
      if (row !== undefined) return [row];
      if (STARTS_WITH_DIGIT.test(token)) return [numberId];
      const parts = CLITIC.exec(token);
      return parts === null ? [unknownId] : [parts[1], parts[2]].map((part) => words.get(part ?? "") ?? unknownId);
    });
  }

  #computePairBuckets(ids: readonly number[]): number[] {
    const bucketBits = Math.log2(this.#bundle.pairBuckets);
    return ids.slice(1).map((id, index) => {
      const mixed = (Math.imul(ids[index] ?? 0, FIRST_MULTIPLIER) + Math.imul(id, SECOND_MULTIPLIER)) >>> 0;
      return bucketBits === 0 ? 0 : mixed >>> (BITS - bucketBits);
    });
  }
}

/** The mean of some rows times a scale; of none it is 0. */
function computeMean(rows: Int8Array, ids: readonly number[], dimension: number, scale: number): Float32Array {
  const sums = new Float64Array(dimension);
  for (const id of ids) {
    for (let column = 0; column < dimension; column++)
      sums[column] = (sums[column] ?? 0) + (rows[id * dimension + column] ?? 0);
  }
  const count = Math.max(1, ids.length);
  return Float32Array.from(sums, (sum) => Math.fround(Math.fround(sum / count) * scale));
}
