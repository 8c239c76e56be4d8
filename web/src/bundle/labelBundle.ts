/** Label bundles with a static extractor, for releasing the class label of a text (docs/encoder-format.md). */

import { MAX_CHARACTERS, MAX_DIMENSION, MAX_LABELS, MAX_LEVELS, MAX_PAIRS, MAX_SENTENCE } from "../constants.js";
import { BundleDamaged, EncoderUnavailable, UnknownLevel } from "../errors.js";
import { Decimal } from "../mechanisms/decimal.js";
import { LabelStaircase } from "../mechanisms/labelStaircase.js";
import { countCodePoints } from "../text/segmentation/characterClasses.js";
import { WHITE } from "../text/segmentation/words.js";
import { type Json, parseArray, parseChoice, parseInteger, parseObject, parseRecord, parseText } from "./json.js";
import { type BundleBase, type ExpectedBundle, MANIFEST, openBundle } from "./open.js";
import { TensorFile } from "./safetensors.js";
import type { BundleSource } from "./source.js";
import { checkListSizes, readLines } from "./wordLists.js";

const [ROWS, CLASSIFIER, RANDOMIZERS, WORDS, SENTENCES] = [
  "rows.safetensors",
  "label-classifier.safetensors",
  "randomizers.safetensors",
  "words.txt",
  "sentences.txt",
];
const EPSILON = /^[0-9]{1,2}(\.[0-9]{1,9})?$/;
const RANDOMIZER_NAME = /^[a-z]{1,8}$/;
const OUTER_WHITE = new RegExp(`^[${WHITE}]|[${WHITE}]$`);
const DECIMALS = /^\p{Nd}+$/u;

/** An opened and checked label bundle. */
export class LabelBundle {
  readonly contentHash: string;
  readonly labels: readonly string[];
  readonly words: ReadonlyMap<string, number>;
  readonly dimension: number;
  readonly pairBuckets: number;
  readonly maxCharacters: number;
  readonly wordRows: Int8Array;
  readonly pairRows: Int8Array;
  readonly scales: Float32Array;
  readonly weight: Float32Array;
  readonly bias: Float32Array;
  readonly randomizers: ReadonlyMap<string, readonly LabelStaircase[]>;
  readonly sentences: readonly (readonly string[])[];
  readonly #defaultRandomizer: LabelStaircase;

  static async load(source: BundleSource, expected?: ExpectedBundle): Promise<LabelBundle> {
    return new LabelBundle(await openBundle(source, "labels", expected));
  }

  private constructor(opened: BundleBase) {
    this.contentHash = opened.contentHash;
    const release = parseRecord(
      opened.manifest.get("release"),
      ["label_type", "label_count", "extractor", "randomizers", "default"],
      MANIFEST,
    );
    parseChoice(release.get("label_type"), ["class", "cluster"], MANIFEST);
    const labelCount = parseInteger(release.get("label_count"), 2, MAX_LABELS, MANIFEST);
    this.labels = parseArray(opened.manifest.get("labels"), MANIFEST).map((label) => parseText(label, MANIFEST));
    if (this.labels.length !== labelCount || new Set(this.labels).size < labelCount) {
      throw new BundleDamaged(`${MANIFEST}: each label needs a name`);
    }
    const extractor = parseObject(release.get("extractor"), MANIFEST);
    if (parseChoice(extractor.get("extractor_type"), ["static", "onnx"], MANIFEST) === "onnx") {
      throw new EncoderUnavailable(
        "this bundle has a model, which this package cannot run: use a bundle with a static extractor",
      );
    }
    parseRecord(extractor, ["extractor_type", "dimension", "pairs", "max_characters"], MANIFEST);
    this.dimension = parseInteger(extractor.get("dimension"), 1, MAX_DIMENSION, MANIFEST);
    this.pairBuckets = parseInteger(extractor.get("pairs"), 0, MAX_PAIRS, MANIFEST);
    this.maxCharacters = parseInteger(extractor.get("max_characters"), 1, MAX_CHARACTERS, MANIFEST);
    if (this.pairBuckets & (this.pairBuckets - 1)) {
      throw new BundleDamaged(`${MANIFEST}: the number of rows for word pairs must be a power of two`);
    }
    this.words = parseEntryIds(opened, WORDS as string);
    const rows = readTensors(opened, ROWS as string, ["I8", "F32"], ["words", "pairs", "scales"]);
    this.wordRows = rows.get("words", "I8", [this.words.size + 2, this.dimension]);
    this.pairRows = rows.get("pairs", "I8", [this.pairBuckets, this.dimension]);
    this.scales = rows.get("scales", "F32", [2]);
    const classifier = readTensors(opened, CLASSIFIER as string, ["F32"], ["weight", "bias"]);
    this.weight = classifier.get("weight", "F32", [labelCount, this.dimension]);
    this.bias = classifier.get("bias", "F32", [labelCount]);
    for (const numbers of [this.scales, this.weight, this.bias]) {
      if (!numbers.every(Number.isFinite)) throw new BundleDamaged(`${CLASSIFIER}: a number is not finite`);
    }
    this.randomizers = parseRandomizers(opened, release.get("randomizers"), labelCount);
    this.sentences = opened.hashes.has(SENTENCES as string) ? parseSentences(opened, labelCount) : [];
    const defaults = parseRecord(release.get("default"), ["randomizer", "epsilon"], MANIFEST);
    const namedLevels =
      this.randomizers.get(parseChoice(defaults.get("randomizer"), [...this.randomizers.keys()], MANIFEST)) ?? [];
    const level = namedLevels.find((level) => level.epsilonText === defaults.get("epsilon"));
    if (level === undefined) throw new BundleDamaged(`${MANIFEST}: the default epsilon is missing`);
    this.#defaultRandomizer = level;
  }

  /** Return the mechanism for a randomizer and an epsilon per text. Defaults of the bundle replace `undefined`. */
  getRandomizer(randomizer: string | undefined, epsilon: string | number | undefined): LabelStaircase {
    const levels = this.randomizers.get(randomizer ?? this.#defaultRandomizer.randomizer);
    if (levels === undefined) {
      throw new UnknownLevel(`no such randomizer; this bundle has ${[...this.randomizers.keys()].join(", ")}`);
    }
    const requested = Decimal.parse(String(epsilon ?? this.#defaultRandomizer.epsilonText));
    const level = levels.find((level) => requested !== undefined && level.epsilon.equals(requested));
    if (level === undefined) {
      const available = levels.map((level) => level.epsilonText).join(", ");
      throw new UnknownLevel(`no such epsilon; this randomizer has (per text) ${available}`);
    }
    return level;
  }
}

/** Read a safetensors file, and check that it has exactly the given arrays. */
function readTensors(
  opened: BundleBase,
  name: string,
  types: readonly ("I8" | "F32" | "I64")[],
  names: string[],
): TensorFile {
  const tensors = new TensorFile(opened.getFile(name), name, types);
  if (tensors.names.sort().join() !== names.sort().join()) {
    throw new BundleDamaged(`${name}: does not have the arrays of this format`);
  }
  return tensors;
}

function parseRandomizers(
  opened: BundleBase,
  manifestEntry: Json | undefined,
  labelCount: number,
): Map<string, LabelStaircase[]> {
  const name = RANDOMIZERS as string;
  const epsilonsByName = [...parseObject(manifestEntry, MANIFEST)].map(([randomizer, value]): [string, string[]] => {
    const epsilons = parseArray(value, MANIFEST, MAX_LEVELS).map((epsilon) => parseText(epsilon, MANIFEST, EPSILON));
    const exact = epsilons.map((epsilon) => Decimal.parse(epsilon) as Decimal);
    const isAscending = exact.every((epsilon, index) => index === 0 || epsilon.exceeds(exact[index - 1] as Decimal));
    if (epsilons.length === 0 || !isAscending) {
      throw new BundleDamaged(`${MANIFEST}: epsilons of a randomizer are missing or out of order`);
    }
    return [parseText(randomizer, MANIFEST, RANDOMIZER_NAME), epsilons];
  });
  if (epsilonsByName.length === 0) throw new BundleDamaged(`${name}: lacks a randomizer`);
  const names = epsilonsByName.flatMap(([randomizer, epsilons]) =>
    epsilons.flatMap((epsilon) => [`${randomizer}.${epsilon}.base`, `${randomizer}.${epsilon}.budget`]),
  );
  const tensors = readTensors(opened, name, ["I64"], names);
  return new Map(
    epsilonsByName.map(([randomizer, epsilons]) => [
      randomizer,
      epsilons.map((epsilon) => {
        const base = tensors.get(`${randomizer}.${epsilon}.base`, "I64", [labelCount]);
        const budgetMatrix = tensors.get(`${randomizer}.${epsilon}.budget`, "I64", [labelCount, labelCount]);
        return new LabelStaircase(randomizer, epsilon, base, budgetMatrix);
      }),
    ]),
  );
}

function parseEntryIds(opened: BundleBase, name: string): Map<string, number> {
  checkListSizes(opened, [name]);
  const lines = readLines(opened, name, false);
  const ids = new Map(lines.map((line, index) => [line, index]));
  if (ids.size < lines.length || ids.has("")) throw new BundleDamaged(`${name}: an entry is empty or occurs twice`);
  return ids;
}

function parseSentences(opened: BundleBase, labelCount: number): string[][] {
  const name = SENTENCES as string;
  const sentences = [...parseEntryIds(opened, name).keys()];
  const each = sentences.length / labelCount;
  if (!Number.isInteger(each)) {
    throw new BundleDamaged(`${name}: every label must have the same number of sentences`);
  }
  const unfit = (sentence: string): boolean =>
    countCodePoints(sentence) > MAX_SENTENCE ||
    sentence.startsWith("#") ||
    OUTER_WHITE.test(sentence) ||
    DECIMALS.test(sentence);
  if (sentences.some((sentence) => unfit(sentence) || sentence.normalize("NFC") !== sentence)) {
    throw new BundleDamaged(`${name}: a sentence is malformed`);
  }
  return Array.from({ length: labelCount }, (_, code) => sentences.slice(code * each, (code + 1) * each));
}
