/** A bundle whose devices release an index, with a static extractor (docs/encoder-format.md, "An index"). */

import { size } from "../characters.js";
import {
  MAX_CHARACTERS,
  MAX_CODES,
  MAX_DIMENSION,
  MAX_EPSILON,
  MAX_LEVELS,
  MAX_PAIRS,
  MAX_SENTENCE,
} from "../constants.js";
import { Decimal, factorOf, quotient } from "../decimal.js";
import { uniformBelow, uniformBelowEach, type Words } from "../entropy.js";
import { BundleDamaged, EncoderUnavailable, UnknownLevel } from "../errors.js";
import { WHITE } from "../words.js";
import { anArray, anObject, aText, integer, type Json, oneOf, record } from "./json.js";
import { countLists, linesOf } from "./lists.js";
import { MANIFEST, type Opened, openBundle, type Pins } from "./open.js";
import { Tensors } from "./safetensors.js";
import type { Source } from "./source.js";
import { UNIT } from "./text.js";

const [ROWS, CODES, CHANNELS, WORDS, SENTENCES] = [
  "rows.safetensors",
  "label-classifier.safetensors",
  "randomizers.safetensors",
  "words.txt",
  "sentences.txt",
];
const EPSILON = /^[0-9]{1,2}(\.[0-9]{1,9})?$/;
const CHANNEL = /^[a-z]{1,8}$/;
const OUTER_WHITE = new RegExp(`^[${WHITE}]|[${WHITE}]$`);
const DECIMALS = /^\p{Nd}+$/u;
const MAX_TOTAL = 1n << 62n;

/** The staircase of one channel and level, from codes to indices. */
export class IndexStaircase {
  readonly epsilon: Decimal;
  readonly total: bigint;
  readonly #mass: bigint;
  readonly #budget: bigint;
  readonly #factor: bigint;

  /** Checks all conditions of the theorem on the integers that are drawn with. */
  constructor(
    readonly channel: string,
    /** The level as the bundle spells it. */
    readonly spelled: string,
    readonly base: BigInt64Array,
    readonly dealt: BigInt64Array,
  ) {
    const codes = base.length;
    const damaged = (what: string): BundleDamaged => new BundleDamaged(`a randomizer: ${what}`);
    this.epsilon = Decimal.parse(spelled) as Decimal;
    if (this.epsilon.units < 1n || this.epsilon.toNumber() > MAX_EPSILON) throw damaged("epsilon is out of range");
    this.#mass = base.reduce((sum, weight) => sum + weight, 0n);
    if (base.some((weight) => weight < 0n) || this.#mass < 1n) throw damaged("the base is negative, zero or too large");
    if (dealt.some((share, place) => share < 0n || share > (base[place % codes] ?? 0n))) {
      throw damaged("a budget exceeds its base");
    }
    const budgets = Array.from({ length: codes }, (_, code) => this.#row(code).reduce((sum, share) => sum + share, 0n));
    this.#budget = budgets[0] ?? 0n;
    if (budgets.some((budget) => budget !== this.#budget) || this.#budget < 1n) {
      throw damaged("rows have different budgets, or none");
    }
    this.#factor = factorOf(this.epsilon, UNIT);
    this.total = UNIT * this.#mass + this.#factor * this.#budget;
    if (this.total >= MAX_TOTAL) throw damaged("its numbers are too large");
  }

  get codes(): number {
    return this.base.length;
  }

  /** How much likelier a right guess gets at most, rounded up to a hundredth. */
  get guessGain(): number {
    return Math.ceil(quotient((UNIT + this.#factor) * this.#mass, this.total) * 100) / 100;
  }

  #row(code: number): BigInt64Array {
    return this.dealt.subarray(code * this.codes, (code + 1) * this.codes);
  }

  /** Draws an index for a code. Both ways to one are gone, all of each, and one is taken. */
  draw(code: number, take: Words): number {
    const u = uniformBelow(this.total, 1, take)[0] ?? 0n;
    uniformBelowEach([Math.max(1, Number(this.#mass - this.#budget))], take); // always drawn, and never used
    const near = UNIT * this.#mass;
    const ofBase = placeOf(this.base, u / UNIT);
    const ofBudget = placeOf(this.#row(code), this.#factor > 0n && u >= near ? (u - near) / this.#factor : 0n);
    return u < near ? ofBase : ofBudget;
  }
}

/** Where the running sums of weights first exceed a number. */
function placeOf(weights: BigInt64Array, number: bigint): number {
  let [sum, place] = [0n, 0];
  for (const weight of weights) {
    sum += weight;
    place += sum <= number ? 1 : 0;
  }
  return place;
}

/** A bundle of an index, opened and checked. */
export class IndexBundle {
  readonly identity: string;
  readonly labels: readonly string[];
  readonly words: ReadonlyMap<string, number>;
  readonly dimension: number;
  readonly pairs: number;
  readonly maxCharacters: number;
  readonly wordRows: Int8Array;
  readonly pairRows: Int8Array;
  readonly scales: Float32Array;
  readonly weight: Float32Array;
  readonly bias: Float32Array;
  readonly channels: ReadonlyMap<string, readonly IndexStaircase[]>;
  readonly sentences: readonly (readonly string[])[];
  readonly #default: IndexStaircase;

  static async load(source: Source, pins?: Pins): Promise<IndexBundle> {
    return new IndexBundle(await openBundle(source, "labels", pins));
  }

  private constructor(opened: Opened) {
    this.identity = opened.identity;
    const release = record(
      opened.manifest.get("release"),
      ["label_type", "label_count", "extractor", "randomizers", "default"],
      MANIFEST,
    );
    oneOf(release.get("label_type"), ["class", "cluster"], MANIFEST);
    const codes = integer(release.get("label_count"), 2, MAX_CODES, MANIFEST);
    this.labels = anArray(opened.manifest.get("labels"), MANIFEST).map((label) => aText(label, MANIFEST));
    if (this.labels.length !== codes || new Set(this.labels).size < codes) {
      throw new BundleDamaged(`${MANIFEST}: each label needs a name`);
    }
    const extractor = anObject(release.get("extractor"), MANIFEST);
    if (oneOf(extractor.get("extractor_type"), ["static", "onnx"], MANIFEST) === "onnx") {
      throw new EncoderUnavailable("this bundle runs a model, which this package does not: take a static one");
    }
    record(extractor, ["extractor_type", "dimension", "pairs", "max_characters"], MANIFEST);
    this.dimension = integer(extractor.get("dimension"), 1, MAX_DIMENSION, MANIFEST);
    this.pairs = integer(extractor.get("pairs"), 0, MAX_PAIRS, MANIFEST);
    this.maxCharacters = integer(extractor.get("max_characters"), 1, MAX_CHARACTERS, MANIFEST);
    if (this.pairs & (this.pairs - 1)) {
      throw new BundleDamaged(`${MANIFEST}: the number of pairs is not a power of two`);
    }
    this.words = idsOf(opened, WORDS as string);
    const rows = tensors(opened, ROWS as string, ["I8", "F32"], ["words", "pairs", "scales"]);
    this.wordRows = rows.get("words", "I8", [this.words.size + 2, this.dimension]);
    this.pairRows = rows.get("pairs", "I8", [this.pairs, this.dimension]);
    this.scales = rows.get("scales", "F32", [2]);
    const found = tensors(opened, CODES as string, ["F32"], ["weight", "bias"]);
    this.weight = found.get("weight", "F32", [codes, this.dimension]);
    this.bias = found.get("bias", "F32", [codes]);
    for (const numbers of [this.scales, this.weight, this.bias]) {
      if (!numbers.every(Number.isFinite)) throw new BundleDamaged(`${CODES}: a number is not finite`);
    }
    this.channels = readChannels(opened, release.get("randomizers"), codes);
    this.sentences = opened.hashes.has(SENTENCES as string) ? readSentences(opened, codes) : [];
    const given = record(release.get("default"), ["randomizer", "epsilon"], MANIFEST);
    const named = this.channels.get(oneOf(given.get("randomizer"), [...this.channels.keys()], MANIFEST)) ?? [];
    const level = named.find((one) => one.spelled === given.get("epsilon"));
    if (level === undefined) throw new BundleDamaged(`${MANIFEST}: the default epsilon is missing`);
    this.#default = level;
  }

  /** The mechanism of a channel and an epsilon; the bundle's default for what is left out. */
  level(channel: string | undefined, epsilon: string | number | undefined): IndexStaircase {
    const levels = this.channels.get(channel ?? this.#default.channel);
    if (levels === undefined) {
      throw new UnknownLevel(`no such randomizer; this bundle has ${[...this.channels.keys()].join(", ")}`);
    }
    const wanted = Decimal.parse(String(epsilon ?? this.#default.spelled));
    const level = levels.find((one) => wanted !== undefined && one.epsilon.equals(wanted));
    if (level === undefined) {
      const spelled = levels.map((one) => one.spelled).join(", ");
      throw new UnknownLevel(`no such epsilon; this randomizer has (per text) ${spelled}`);
    }
    return level;
  }
}

/** The arrays of a file, which has exactly these. */
function tensors(opened: Opened, name: string, types: readonly ("I8" | "F32" | "I64")[], names: string[]): Tensors {
  const found = new Tensors(opened.file(name), name, types);
  if (found.names.sort().join() !== names.sort().join()) {
    throw new BundleDamaged(`${name}: does not have the arrays of this format`);
  }
  return found;
}

function readChannels(opened: Opened, listed: Json | undefined, codes: number): Map<string, IndexStaircase[]> {
  const name = CHANNELS as string;
  const levels = [...anObject(listed, MANIFEST)].map(([channel, value]): [string, string[]] => {
    const epsilons = anArray(value, MANIFEST, MAX_LEVELS).map((epsilon) => aText(epsilon, MANIFEST, EPSILON));
    const exact = epsilons.map((epsilon) => Decimal.parse(epsilon) as Decimal);
    const ascending = exact.every((one, place) => place === 0 || one.isAbove(exact[place - 1] as Decimal));
    if (epsilons.length === 0 || !ascending) {
      throw new BundleDamaged(`${MANIFEST}: epsilons of a randomizer are missing or out of order`);
    }
    return [aText(channel, MANIFEST, CHANNEL), epsilons];
  });
  if (levels.length === 0) throw new BundleDamaged(`${name}: lacks a randomizer`);
  const names = levels.flatMap(([channel, epsilons]) =>
    epsilons.flatMap((epsilon) => [`${channel}.${epsilon}.base`, `${channel}.${epsilon}.budget`]),
  );
  const found = tensors(opened, name, ["I64"], names);
  return new Map(
    levels.map(([channel, epsilons]) => [
      channel,
      epsilons.map((epsilon) => {
        const base = found.get(`${channel}.${epsilon}.base`, "I64", [codes]);
        const dealt = found.get(`${channel}.${epsilon}.budget`, "I64", [codes, codes]);
        return new IndexStaircase(channel, epsilon, base, dealt);
      }),
    ]),
  );
}

function idsOf(opened: Opened, name: string): Map<string, number> {
  countLists(opened, [name]);
  const lines = linesOf(opened, name, false);
  const ids = new Map(lines.map((line, place) => [line, place]));
  if (ids.size < lines.length || ids.has("")) throw new BundleDamaged(`${name}: an entry is empty or occurs twice`);
  return ids;
}

function readSentences(opened: Opened, codes: number): string[][] {
  const name = SENTENCES as string;
  const sentences = [...idsOf(opened, name).keys()];
  const each = sentences.length / codes;
  if (!Number.isInteger(each)) {
    throw new BundleDamaged(`${name}: labels need equal numbers of sentences`);
  }
  const unfit = (sentence: string): boolean =>
    size(sentence) > MAX_SENTENCE || sentence.startsWith("#") || OUTER_WHITE.test(sentence) || DECIMALS.test(sentence);
  if (sentences.some((sentence) => unfit(sentence) || sentence.normalize("NFC") !== sentence)) {
    throw new BundleDamaged(`${name}: a sentence is malformed`);
  }
  return Array.from({ length: codes }, (_, code) => sentences.slice(code * each, (code + 1) * each));
}
