/** `IndexEncoder`: turns a text into one index, or one public sentence, that says little of it. */

import { IndexBundle, type IndexStaircase } from "./bundle/index.js";
import type { Pins } from "./bundle/open.js";
import type { Source } from "./bundle/source.js";
import { IDENTITY_DIGITS, REFUSALS } from "./constants.js";
import { statements } from "./data.js";
import { largestOdds, thousands } from "./decimal.js";
import { randomWords, uniformBelowEach, type Words } from "./entropy.js";
import { InputError, OptionError } from "./errors.js";
import { epsilonOf, isMany, requireNumber } from "./options.js";
import { type Facts, filled, Statement } from "./statement.js";
import { isAscii, WHITE } from "./words.js";

/** The options of a release. All may be left out. */
export interface EncodeOptions {
  /** Loss of the whole text: exactly one of the channel's levels. */
  readonly epsilon?: string | number | undefined;
  /** Name of a channel. */
  readonly channel?: string | undefined;
  /** Whether one of the bundle's public sentences of the index is released in its place. */
  readonly asText?: boolean | undefined;
}

const KNOWN: readonly string[] = ["epsilon", "channel", "asText"];
const TOKEN = new RegExp(
  `[\\p{L}\\p{Nl}\\p{No}]+(?:'[\\p{L}\\p{Nl}\\p{No}]+)*|\\p{Nd}+|[^\\p{L}\\p{N}_${WHITE}]|_`,
  "gu",
);
const CLITIC = /^(.+?)(n't|'(?:s|m|d|re|ve|ll))$/s;
const BEGINS_NUMBER = /^\p{Nd}/u;
const [FIRST, SECOND] = [2_654_435_761, 2_246_822_519];
const BITS = 32;

/** What a released index promises: one epsilon, for any two texts. */
export class IndexStatement extends Statement {
  override readonly mechanism: string;
  override readonly notProtected = statements.index.not_protected;
  /** Name of the channel. */
  readonly channel: string;
  /** The level, as the bundle spells it: loss of the whole text. */
  readonly epsilon: string;
  readonly #gain: number;
  readonly #codes: number;

  /** @internal */
  constructor(
    staircase: IndexStaircase,
    bundle: string,
    /** Of how many public sentences one is released in the place of the index; 0 for the index itself. */
    readonly sentences: number,
  ) {
    super(bundle, 1);
    this.channel = staircase.channel;
    this.epsilon = staircase.spelled;
    this.#gain = staircase.guessGain;
    this.#codes = staircase.codes;
    this.mechanism = `index ${this.channel}`;
  }

  /** What a released sentence is, for whoever reads it. */
  get kindOfText(): string {
    return filled(statements.index.sentences, { sentences: String(this.sentences) });
  }

  override summary(): string {
    const { channel, epsilon } = this;
    const index = filled(statements.index.indices, { indices: String(this.#codes) });
    return filled(statements.index.summary, {
      released: this.sentences > 0 ? this.kindOfText : index,
      channel,
      epsilon,
      odds: thousands(largestOdds(epsilonOf(epsilon))),
    });
  }

  override line(): string {
    return this.summary();
  }

  protected override details(): string[] {
    const guess = filled(statements.index.guess, { gain: gainText(this.#gain) });
    return this.sentences > 0 ? [guess, statements.index.fixed] : [guess];
  }

  override toJSON(): Facts {
    return {
      ...(this.sentences > 0 ? { sentences: this.sentences, sentence_description: this.kindOfText } : {}),
      randomizer: this.channel,
      label_count: this.#codes,
      epsilon_text: Number(this.epsilon),
      delta_text: 0,
      guess_gain: this.#gain,
      bundle: this.bundle,
      not_protected: [...this.notProtected],
    };
  }
}

/** As Python writes a number that it rounded. */
const gainText = (gain: number): string => (Number.isInteger(gain) ? `${gain}.0` : String(gain));

/** A released index and what it promises. */
export class IndexRelease {
  /** @internal */
  constructor(
    readonly index: number,
    readonly statement: IndexStatement,
    /** The sentence that is released in the place of the index. */
    readonly sentence: string | undefined,
  ) {}

  /** Index or sentence, first digits of the bundle's identity, epsilon and channel, with tabs between. */
  get line(): string {
    const { bundle, epsilon, channel } = this.statement;
    const released = this.sentence ?? String(this.index);
    return [released, bundle.slice(0, IDENTITY_DIGITS), epsilon, channel].join("\t");
  }

  toJSON(): Facts {
    const sentence = this.sentence === undefined ? {} : { sentence: this.sentence };
    return { label_id: this.index, ...sentence, line: this.line, statement: this.statement.toJSON() };
  }
}

/** Turns text into indices under local differential privacy, offline, with a static extractor. It holds no random state. */
export class IndexEncoder {
  readonly #bundle: IndexBundle;
  readonly #take: Words;

  /** @internal */
  constructor(bundle: IndexBundle, take: Words = randomWords) {
    this.#bundle = bundle;
    this.#take = take;
  }

  /**
   * Opens a bundle: every file and every channel is checked first.
   *
   * @throws BundleError It cannot be used, or is not the one expected.
   * @throws EncoderUnavailable It runs a model.
   */
  static async load(source: Source, pins: Pins = {}): Promise<IndexEncoder> {
    return new IndexEncoder(await IndexBundle.load(source, pins));
  }

  /** Identity of the bundle: SHA-256 of its manifest. */
  get identity(): string {
    return this.#bundle.identity;
  }

  /** The name of every code. */
  get labels(): readonly string[] {
    return this.#bundle.labels;
  }

  /**
   * Releases one index for one text, whatever it is: for any two texts no index is more than `exp(epsilon)` times as
   * likely for one as for the other. Every call draws afresh, and epsilons add up.
   */
  encode(text: string, options: EncodeOptions = {}): IndexRelease {
    if (typeof text !== "string") throw new InputError("the text is not a string");
    const statement = this.statement(options);
    const index = this.#bundle.level(options.channel, options.epsilon).draw(this.secretCode(text), this.#take);
    return new IndexRelease(index, statement, statement.sentences > 0 ? this.#sentence(index) : undefined);
  }

  /** Releases an index for each of many texts, each on its own. */
  encodeBatch(texts: Iterable<string>, options: EncodeOptions = {}): IndexRelease[] {
    if (!isMany(texts)) throw new InputError(REFUSALS.noTexts);
    return [...texts].map((text) => this.encode(text, options));
  }

  /** Returns what a call with these options promises. Nothing is drawn. */
  statement(options: EncodeOptions = {}): IndexStatement {
    if (
      typeof options !== "object" ||
      options === null ||
      !Object.keys(options).every((name) => KNOWN.includes(name))
    ) {
      throw new OptionError(`unknown option; there are ${KNOWN.join(", ")}`);
    }
    const { epsilon, channel, asText = false } = options;
    requireNumber(epsilon ?? undefined);
    if (typeof asText !== "boolean") throw new OptionError("asText is true or false");
    const sentences = asText ? this.#bundle.sentences.reduce((sum, of) => sum + of.length, 0) : 0;
    const level = this.#bundle.level(channel, epsilon);
    if (asText && sentences === 0) throw new OptionError("this bundle has no sentences");
    return new IndexStatement(level, this.#bundle.identity, sentences);
  }

  /** Draws one of the sentences of an index. It sees nothing of the text. */
  #sentence(index: number): string {
    const sentences = this.#bundle.sentences[index] ?? [];
    return sentences[uniformBelowEach([sentences.length], this.#take)[0] ?? 0] ?? "";
  }

  /** Returns the code of a text before anything is drawn. It has no protection: for measurements on public text. */
  secretCode(text: string): number {
    const { dimension, wordRows, pairRows, scales, weight, bias, labels } = this.#bundle;
    const ids = this.#ids(text);
    const vector = means(wordRows, ids, dimension, scales[0] ?? 0);
    if (pairRows.length > 0) {
      const pairs = means(pairRows, this.#pairs(ids), dimension, scales[1] ?? 0);
      for (let at = 0; at < dimension; at++) vector[at] = (vector[at] ?? 0) + (pairs[at] ?? 0);
    }
    if (!vector.every(Number.isFinite)) vector.fill(0);
    let [best, most] = [0, Number.NEGATIVE_INFINITY];
    for (let code = 0; code < labels.length; code++) {
      let score = 0;
      for (let at = 0; at < dimension; at++) {
        score = Math.fround(score + Math.fround((weight[code * dimension + at] ?? 0) * (vector[at] ?? 0)));
      }
      score = Math.fround(score + (bias[code] ?? 0));
      if (score > most) [best, most] = [code, score];
    }
    return best;
  }

  /** The rows of the words of a text, in order. */
  #ids(text: string): number[] {
    const { words, maxCharacters } = this.#bundle;
    let read =
      text.length > maxCharacters ? [...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join("") : text;
    if (!isAscii(read)) read = read.normalize("NFKC").replaceAll("\u2019", "'");
    const [number, unknown] = [words.size, words.size + 1];
    return (read.toLowerCase().match(TOKEN) ?? []).flatMap((token) => {
      const row = words.get(token);
      if (row !== undefined) return [row];
      if (BEGINS_NUMBER.test(token)) return [number];
      const parts = CLITIC.exec(token);
      return parts === null ? [unknown] : [parts[1], parts[2]].map((part) => words.get(part ?? "") ?? unknown);
    });
  }

  #pairs(ids: readonly number[]): number[] {
    const bits = Math.log2(this.#bundle.pairs);
    return ids.slice(1).map((id, place) => {
      const mixed = (Math.imul(ids[place] ?? 0, FIRST) + Math.imul(id, SECOND)) >>> 0;
      return bits === 0 ? 0 : mixed >>> (BITS - bits);
    });
  }
}

/** The mean of some rows times a scale; of none it is 0. */
function means(rows: Int8Array, ids: readonly number[], dimension: number, scale: number): Float32Array {
  const sums = new Float64Array(dimension);
  for (const id of ids) {
    for (let at = 0; at < dimension; at++) sums[at] = (sums[at] ?? 0) + (rows[id * dimension + at] ?? 0);
  }
  const count = Math.max(1, ids.length);
  return Float32Array.from(sums, (sum) => Math.fround(Math.fround(sum / count) * scale));
}
