/** The encoder that releases one randomized class label, or one public sentence, for a text. */

import { LabelBundle } from "../bundle/labelBundle.js";
import type { ExpectedBundle } from "../bundle/open.js";
import type { BundleSource } from "../bundle/source.js";
import { HASH_DIGITS, SHARED_MESSAGES } from "../constants.js";
import { InputError, OptionError } from "../errors.js";
import { drawUniformBelowEach, type RandomUint64, readRandomUint64 } from "../mechanisms/entropy.js";
import { checkEpsilonType, isCollection, refuseUnknownOptions } from "../text/options.js";
import { isAscii, WHITE } from "../text/segmentation/words.js";
import type { PlainObject } from "../text/statement.js";
import { LabelStatement } from "./labelStatement.js";

/** Options of a release. All are optional. */
export interface EncodeOptions {
  /** Epsilon per text, which must be one of the randomizer's epsilons. */
  readonly epsilon?: string | number | undefined;
  /** Name of a randomizer. */
  readonly randomizer?: string | undefined;
  /** Whether to release a public sentence of the label in place of the label. */
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

/** A released class label with its privacy statement. */
export class LabelRelease {
  /** @internal */
  constructor(
    readonly labelId: number,
    readonly statement: LabelStatement,
    /** Sentence that is released in place of the label. */
    readonly sentence: string | undefined,
  ) {}

  /**
   * Line to send: label id or sentence, first digits of the content hash, epsilon and randomizer, separated by tabs.
   */
  get line(): string {
    const { bundleHash: bundle, epsilon, randomizer } = this.statement;
    const released = this.sentence ?? String(this.labelId);
    return [released, bundle.slice(0, HASH_DIGITS), epsilon, randomizer].join("\t");
  }

  toJSON(): PlainObject {
    const sentence = this.sentence === undefined ? {} : { sentence: this.sentence };
    return { label_id: this.labelId, ...sentence, line: this.line, statement: this.statement.toJSON() };
  }
}

/** Offline encoder that releases a class label for a text under local differential privacy. It has no random state. */
export class TextLabelEncoder {
  readonly #bundle: LabelBundle;
  readonly #randomUint64: RandomUint64;

  /** @internal */
  constructor(bundle: LabelBundle, randomUint64: RandomUint64 = readRandomUint64) {
    this.#bundle = bundle;
    this.#randomUint64 = randomUint64;
  }

  /**
   * Open a label bundle, and check every file and every randomizer.
   *
   * @throws BundleError The bundle cannot be used, or is not the expected bundle.
   * @throws EncoderUnavailable The bundle has a model, which this package cannot run.
   */
  static async load(source: BundleSource, expected: ExpectedBundle = {}): Promise<TextLabelEncoder> {
    return new TextLabelEncoder(await LabelBundle.load(source, expected));
  }

  /** Content hash of the bundle: SHA-256 of its manifest. */
  get bundleHash(): string {
    return this.#bundle.contentHash;
  }

  /** Names of the class labels. */
  get labels(): readonly string[] {
    return this.#bundle.labels;
  }

  /**
   * Release one randomized class label for one text. Every call samples a new label, and the epsilons of several calls add up.
   */
  encode(text: string, options: EncodeOptions = {}): LabelRelease {
    if (typeof text !== "string") throw new InputError("the text must be a string");
    const statement = this.statement(options);
    const labelId = this.#bundle
      .getRandomizer(options.randomizer, options.epsilon)
      .drawLabel(this.computeTrueLabel(text), this.#randomUint64);
    return new LabelRelease(labelId, statement, statement.sentences > 0 ? this.#drawSentence(labelId) : undefined);
  }

  /** Release one label for each text independently. */
  encodeBatch(texts: Iterable<string>, options: EncodeOptions = {}): LabelRelease[] {
    if (!isCollection(texts)) throw new InputError(SHARED_MESSAGES.noTexts);
    return [...texts].map((text) => this.encode(text, options));
  }

  /** Return the privacy statement for calls of `encode` with these options, without encoding a text. */
  statement(options: EncodeOptions = {}): LabelStatement {
    refuseUnknownOptions(options, OPTION_NAMES);
    const { epsilon, randomizer, asText = false } = options;
    checkEpsilonType(epsilon ?? undefined);
    if (typeof asText !== "boolean") throw new OptionError("asText must be true or false");
    const sentences = asText ? this.#bundle.sentences.reduce((sum, entries) => sum + entries.length, 0) : 0;
    const level = this.#bundle.getRandomizer(randomizer, epsilon);
    if (asText && sentences === 0)
      throw new OptionError("this bundle has no sentences: add them with textveil-export sentences");
    return new LabelStatement(level, this.#bundle.contentHash, sentences);
  }

  /** Sample one of the public sentences of a released label, independently of the text. */
  #drawSentence(labelId: number): string {
    const sentences = this.#bundle.sentences[labelId] ?? [];
    return sentences[drawUniformBelowEach([sentences.length], this.#randomUint64)[0] ?? 0] ?? "";
  }

  /** Return the class label of a text before randomization, for measurements on public text. */
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

  /** Return the row number of each word of a text, in order. */
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

/** Return the mean of the rows `ids`, multiplied by `scale`. Without rows, return the vector 0. */
function computeMean(rows: Int8Array, ids: readonly number[], dimension: number, scale: number): Float32Array {
  const sums = new Float64Array(dimension);
  for (const id of ids) {
    for (let column = 0; column < dimension; column++)
      sums[column] = (sums[column] ?? 0) + (rows[id * dimension + column] ?? 0);
  }
  const count = Math.max(1, ids.length);
  return Float32Array.from(sums, (sum) => Math.fround(Math.fround(sum / count) * scale));
}
