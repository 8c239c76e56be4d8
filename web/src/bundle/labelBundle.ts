/** Bundles whose devices release a class label, with a static extractor (docs/encoder-format.md, "An index"). */

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
  "codes.safetensors",
  "channels.safetensors",
  "words.txt",
  "sentences.txt",
];
const EPSILON = /^[0-9]{1,2}(\.[0-9]{1,9})?$/;
const RANDOMIZER_NAME = /^[a-z]{1,8}$/;
const OUTER_WHITE = new RegExp(`^[${WHITE}]|[${WHITE}]$`);
const DECIMALS = /^\p{Nd}+$/u;

/** An opened bundle of class labels, checked. */
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
    return new LabelBundle(await openBundle(source, "index", expected));
  }

  private constructor(opened: BundleBase) {
    this.contentHash = opened.contentHash;
    const release = parseRecord(
      opened.manifest.get("release"),
      ["kind", "codes", "extractor", "channels", "default"],
      MANIFEST,
    );
    parseChoice(release.get("kind"), ["decision", "codebook"], MANIFEST);
    const labelCount = parseInteger(release.get("codes"), 2, MAX_LABELS, MANIFEST);
    this.labels = parseArray(opened.manifest.get("labels"), MANIFEST).map((label) => parseText(label, MANIFEST));
    if (this.labels.length !== labelCount || new Set(this.labels).size < labelCount) {
      throw new BundleDamaged(`${MANIFEST}: labels are not one text for each code`);
    }
    const extractor = parseObject(release.get("extractor"), MANIFEST);
    if (parseChoice(extractor.get("kind"), ["static", "onnx"], MANIFEST) === "onnx") {
      throw new EncoderUnavailable("this bundle runs a model, which this package does not: take a static one");
    }
    parseRecord(extractor, ["kind", "dimension", "pairs", "max_characters"], MANIFEST);
    this.dimension = parseInteger(extractor.get("dimension"), 1, MAX_DIMENSION, MANIFEST);
    this.pairBuckets = parseInteger(extractor.get("pairs"), 0, MAX_PAIRS, MANIFEST);
    this.maxCharacters = parseInteger(extractor.get("max_characters"), 1, MAX_CHARACTERS, MANIFEST);
    if (this.pairBuckets & (this.pairBuckets - 1)) {
      throw new BundleDamaged(`${MANIFEST}: the number of pairs is not a power of two`);
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
    this.randomizers = parseRandomizers(opened, release.get("channels"), labelCount);
    this.sentences = opened.hashes.has(SENTENCES as string) ? parseSentences(opened, labelCount) : [];
    const defaults = parseRecord(release.get("default"), ["channel", "epsilon"], MANIFEST);
    const namedLevels =
      this.randomizers.get(parseChoice(defaults.get("channel"), [...this.randomizers.keys()], MANIFEST)) ?? [];
    const level = namedLevels.find((level) => level.epsilonText === defaults.get("epsilon"));
    if (level === undefined) throw new BundleDamaged(`${MANIFEST}: the default level is not one of its channel`);
    this.#defaultRandomizer = level;
  }

  /** Return the mechanism of a randomizer and an epsilon per text; the bundle's default where one is left out. */
  getRandomizer(randomizer: string | undefined, epsilon: string | number | undefined): LabelStaircase {
    const levels = this.randomizers.get(randomizer ?? this.#defaultRandomizer.randomizer);
    if (levels === undefined) {
      throw new UnknownLevel(`no such channel; this bundle has ${[...this.randomizers.keys()].join(", ")}`);
    }
    const requested = Decimal.parse(String(epsilon ?? this.#defaultRandomizer.epsilonText));
    const level = levels.find((level) => requested !== undefined && level.epsilon.equals(requested));
    if (level === undefined) {
      const available = levels.map((level) => level.epsilonText).join(", ");
      throw new UnknownLevel(`no such level; this channel has the levels (epsilon of the whole text) ${available}`);
    }
    return level;
  }
}

/** Read a file with exactly these arrays. */
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
      throw new BundleDamaged(`${MANIFEST}: levels of a channel are out of order, or there is none`);
    }
    return [parseText(randomizer, MANIFEST, RANDOMIZER_NAME), epsilons];
  });
  if (epsilonsByName.length === 0)
    throw new BundleDamaged(`${name}: does not have the channels that the manifest lists`);
  const names = epsilonsByName.flatMap(([randomizer, epsilons]) =>
    epsilons.flatMap((epsilon) => [`${randomizer}.${epsilon}.base`, `${randomizer}.${epsilon}.dealt`]),
  );
  const tensors = readTensors(opened, name, ["I64"], names);
  return new Map(
    epsilonsByName.map(([randomizer, epsilons]) => [
      randomizer,
      epsilons.map((epsilon) => {
        const base = tensors.get(`${randomizer}.${epsilon}.base`, "I64", [labelCount]);
        const budgetMatrix = tensors.get(`${randomizer}.${epsilon}.dealt`, "I64", [labelCount, labelCount]);
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
    throw new BundleDamaged(`${name}: does not have as many sentences of one code as of another`);
  }
  const unfit = (sentence: string): boolean =>
    countCodePoints(sentence) > MAX_SENTENCE ||
    sentence.startsWith("#") ||
    OUTER_WHITE.test(sentence) ||
    DECIMALS.test(sentence);
  if (sentences.some((sentence) => unfit(sentence) || sentence.normalize("NFC") !== sentence)) {
    throw new BundleDamaged(`${name}: a sentence is too long, a number, not in NFC, or begins or ends as it may not`);
  }
  return Array.from({ length: labelCount }, (_, code) => sentences.slice(code * each, (code + 1) * each));
}
