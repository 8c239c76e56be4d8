/**
 * Text bundles: the staircase mechanism, the lists of the mode `names`, or both. Of files for other mechanisms, this
 * module checks only the hashes.
 */

import {
  CHARACTER_CLASSES,
  MAX_ENTITY_TYPES,
  MAX_EPSILON,
  MAX_LEVELS,
  MAX_SYMBOLS,
  SHAPES,
  SHARED_MESSAGES,
} from "../constants.js";
import { BundleDamaged, UnknownMechanism } from "../errors.js";
import { computeFactor, Decimal, Ratio } from "../mechanisms/decimal.js";
import { type StaircaseLevel, type StaircaseTable, UNIT } from "../mechanisms/staircase.js";
import { CharacterClasses } from "../text/segmentation/characterClasses.js";
import { GAP, Segmenter, STRING, WORD } from "../text/segmentation/segments.js";
import { foldWord, isAscii } from "../text/segmentation/words.js";
import { EntityTypes } from "../text/tokenRules/rule.js";
import { classifyShape } from "../text/tokenRules/shapes.js";
import {
  type Json,
  type JsonObject,
  parseArray,
  parseChoice,
  parseInteger,
  parseJson,
  parseObject,
  parseRecord,
  parseText,
} from "./json.js";
import { checkLanguage, hashJoined, joinLists, splitLanguages } from "./languages.js";
import { listNamesFiles, type NamesEntry, NamesLists } from "./namesFiles.js";
import { type BundleBase, checkContentHash, type ExpectedBundle, MANIFEST, openBundle } from "./open.js";
import { ENGLISH, RULES_FILE, readRules } from "./rules.js";
import { TensorFile } from "./safetensors.js";
import type { BundleSource } from "./source.js";
import { checkListSizes, MEMBER_FLAGS, makeLineError, parseFlagged, RECOGNIZED_ONLY, readLines } from "./wordLists.js";

const MECHANISM_FILE = "mechanism.json";
const VOCABULARY = "vocabulary.tsv";
const CHARACTERS = "characters.json";
const STAIRCASE = "staircase.safetensors";
const MECHANISM_KEYS = ["vocabulary_size", "santext", "staircase", "template", "defaults", "files"];
const DECIMAL = /^[0-9]{1,3}(\.[0-9]{1,9})?$/;
const RATIO = /^[0-9]{1,9}(\/[1-9][0-9]{0,8})?$/;
export const NAME = /^[a-z]+(-[a-z]+)*$/;
const UNICODE = /^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/;
const LETTERS = /^[a-z]+$/;
const SOLID = /^(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?$/;
const LAST_CODE_POINT = 0x10ffff;
const MAX_ROLE = 63;
const MAX_NARROW_SYMBOLS = 65_536;
const MAX_TOTAL = 1n << 62n;

/** An opened text bundle with the data of its mechanisms. */
export class TextBundle {
  readonly contentHash: string;
  readonly segmenter: Segmenter;
  readonly vocabulary: readonly string[];
  readonly symbolIds: ReadonlyMap<string, number>;
  readonly #table: StaircaseTable | undefined;
  readonly #opened: BundleBase;
  readonly #namesEntry: NamesEntry | undefined;
  readonly #hasSanText: boolean;
  readonly #templateEntry: Json | undefined;
  #entityTypes: EntityTypes | undefined;
  #namesLists: NamesLists | undefined;

  /** Open a bundle, or the packs of several languages in the order of `expected.language`. */
  static async load(
    source: BundleSource | readonly BundleSource[],
    expected: ExpectedBundle = {},
  ): Promise<TextBundle> {
    if (!Array.isArray(source)) {
      const bundle = new TextBundle(await openBundle(source as BundleSource, "text", expected));
      if (expected.language !== undefined) checkLanguage(bundle, expected.language);
      return bundle;
    }
    const languages = splitLanguages(expected.language, source.length);
    const { maxBytes } = expected;
    const bundles = await Promise.all(
      source.map((one, index) => TextBundle.load(one, { maxBytes, language: languages[index] })),
    );
    const contentHash = await hashJoined(bundles);
    checkContentHash(contentHash, expected.expectId);
    const first = bundles.find((_, index) => languages[index] !== "en") as TextBundle;
    return new TextBundle({ ...first.#opened, contentHash }, joinLists(bundles.map((one) => one.namesLists)));
  }

  private constructor(opened: BundleBase, joined?: NamesLists) {
    this.#opened = opened;
    this.#namesLists = joined;
    this.contentHash = opened.contentHash;
    const parsed = parseJson(opened.getFile(MECHANISM_FILE), MECHANISM_FILE);
    const definition = parseRecord(
      parsed,
      parsed.has("names") ? [...MECHANISM_KEYS, "names"] : MECHANISM_KEYS,
      MECHANISM_FILE,
    );
    const hasStaircase = definition.get("staircase") !== null;
    const hasSanText = definition.get("santext") !== null;
    const hasSymbols = hasStaircase || hasSanText;
    const namesEntry = definition.has("names") ? parseNamesEntry(definition.get("names")) : undefined;
    const wordFiles = hasStaircase
      ? [VOCABULARY, ...listTemplateFiles(definition.get("template"))]
      : hasSanText
        ? [VOCABULARY]
        : [];
    if (!hasStaircase && definition.get("template") !== null)
      throw new BundleDamaged(`${MECHANISM_FILE}: has a template but no staircase`);
    if (!hasSymbols && namesEntry === undefined) {
      throw new BundleDamaged(`${MECHANISM_FILE}: the bundle has neither a mechanism nor lists of the mode names`);
    }
    const mechanismFiles = [...wordFiles, CHARACTERS];
    if (hasSanText) mechanismFiles.push("table.safetensors", "embeddings.safetensors");
    if (hasStaircase) mechanismFiles.push(STAIRCASE);
    if (namesEntry !== undefined) {
      // A list of an entity type may also belong to the template.
      mechanismFiles.push(...listNamesFiles(namesEntry).filter((name) => !wordFiles.includes(name)));
      if (opened.hashes.has(RULES_FILE)) mechanismFiles.push(RULES_FILE);
    } else if (opened.hashes.has(RULES_FILE)) {
      throw new BundleDamaged(
        `${MANIFEST}: has an entry for rules.json, but none for the word lists of the mode 'names'`,
      );
    }
    checkMechanismFiles(definition.get("files"), mechanismFiles, opened);
    parseRecord(
      definition.get("defaults"),
      ["mechanism", ...(hasSanText ? ["santext"] : []), ...(hasStaircase ? ["staircase"] : [])],
      MECHANISM_FILE,
    );
    checkListSizes(opened, wordFiles);
    if (namesEntry !== undefined) checkListSizes(opened, listNamesFiles(namesEntry));
    this.#namesEntry = namesEntry;
    this.segmenter = new Segmenter(parseCharacterClasses(opened.getFile(CHARACTERS)));
    [this.vocabulary, this.symbolIds] = hasSymbols ? parseVocabulary(opened) : [[], new Map()];
    if (parseInteger(definition.get("vocabulary_size"), 0, MAX_SYMBOLS, MECHANISM_FILE) !== this.vocabulary.length) {
      throw new BundleDamaged(`${MECHANISM_FILE}: its sizes do not match the vocabulary`);
    }
    this.#hasSanText = hasSanText;
    this.#templateEntry = definition.get("template");
    if (hasStaircase && joined === undefined)
      this.#table = parseStaircaseTable(opened, definition, this.vocabulary.length);
  }

  get symbolCount(): number {
    return this.vocabulary.length;
  }

  get hasStaircase(): boolean {
    return this.#table !== undefined;
  }

  get hasNames(): boolean {
    return this.#namesEntry !== undefined;
  }

  /** Neighbors, base weights and roles of the staircase mechanism. */
  get table(): StaircaseTable {
    if (this.#table === undefined) {
      const message =
        "this package does not support santext, and this bundle has no staircase: use the built-in bundle";
      throw new UnknownMechanism(this.#hasSanText ? message : SHARED_MESSAGES.noMechanism);
    }
    return this.#table;
  }

  /** Language of the rules file; English if the bundle has no rules file. */
  get language(): string {
    return this.#opened.hashes.has(RULES_FILE) ? readRules(this.#opened.getFile(RULES_FILE)).data.language : "en";
  }

  /** Entity types of the template, parsed at the first use. */
  get entityTypes(): EntityTypes {
    this.#entityTypes ??= parseTemplateLists(this.#opened, this.#templateEntry as JsonObject, this.segmenter);
    return this.#entityTypes;
  }

  /** Lists of the mode `names`, parsed at the first use. */
  get namesLists(): NamesLists {
    if (this.#namesEntry === undefined) throw new UnknownMechanism(SHARED_MESSAGES.noNames);
    this.#namesLists ??= new NamesLists(this.#opened, this.#namesEntry, this.segmenter);
    return this.#namesLists;
  }
}

function parseNamesEntry(entry: Json | undefined): NamesEntry {
  const keys = ["entity_types", "surrogate_pools", "facts"];
  const lists = parseRecord(new Map([["facts", []], ...parseObject(entry, MECHANISM_FILE)]), keys, MECHANISM_FILE);
  const [entityTypes = [], poolTypes = [], facts = []] = keys.map((key) => {
    const listed = parseArray(lists.get(key), MECHANISM_FILE, MAX_ENTITY_TYPES);
    const names = listed.map((name) => parseText(name, MECHANISM_FILE, NAME));
    if (new Set(names).size < names.length)
      throw new BundleDamaged(`${MECHANISM_FILE}: two entity types have the same name or shape`);
    return names;
  });
  return { entityTypes, poolTypes, facts };
}

function listTemplateFiles(template: Json | undefined): string[] {
  const entry = parseRecord(template, ["function_words", "entity_types"], MECHANISM_FILE);
  const files = parseArray(entry.get("entity_types"), MECHANISM_FILE, MAX_ENTITY_TYPES).flatMap((entityType) => {
    const names = parseRecord(entityType, ["name", "shape", "files"], MECHANISM_FILE).get("files");
    const listed = parseArray(names, MECHANISM_FILE, MAX_ENTITY_TYPES);
    if (listed.length === 0) throw new BundleDamaged(`${MECHANISM_FILE}: an entity type has no file`);
    return listed;
  });
  return [entry.get("function_words"), ...files].map((name) => parseText(name, MECHANISM_FILE));
}

/** Check that `mechanism.json` and the manifest list the same files of mechanisms with the same hashes. */
function checkMechanismFiles(files: Json | undefined, mechanismFiles: readonly string[], opened: BundleBase): void {
  for (const name of mechanismFiles) opened.getFile(name);
  const listedHashes = parseRecord(files, [...new Set(mechanismFiles)], MECHANISM_FILE);
  const isDifferent = mechanismFiles.some((name) => listedHashes.get(name) !== opened.hashes.get(name));
  if (isDifferent || new Set(mechanismFiles).size < mechanismFiles.length) {
    throw new BundleDamaged(`${MECHANISM_FILE}: the file hashes differ from the files of this bundle`);
  }
}

function parseCharacterClasses(content: Uint8Array): CharacterClasses {
  const entries = parseRecord(parseJson(content, CHARACTERS), ["unicode", "classes"], CHARACTERS);
  parseText(entries.get("unicode"), CHARACTERS, UNICODE);
  const classes = parseRecord(entries.get("classes"), CHARACTER_CLASSES, CHARACTERS);
  const ranges: Record<string, number[]> = {};
  for (const [name, value] of classes) {
    const numbers = parseArray(value, CHARACTERS).map((number) => parseInteger(number, 0, LAST_CODE_POINT, CHARACTERS));
    if (numbers.length === 0 || numbers.length % 2) {
      throw new BundleDamaged(`${CHARACTERS}: a character class is empty, or has a range without an end`);
    }
    let previous = -2;
    numbers.forEach((number, index) => {
      if (index % 2 ? number < previous : number <= previous + 1) {
        throw new BundleDamaged(
          `${CHARACTERS}: the ranges of a character class are not in ascending order, or two ranges are adjacent`,
        );
      }
      previous = number;
    });
    ranges[name] = numbers;
  }
  return new CharacterClasses(ranges);
}

function parseVocabulary(opened: BundleBase): [string[], Map<string, number>] {
  const lines = readLines(opened, VOCABULARY, true);
  const ids = new Map<string, number>();
  let spellings = 0;
  const symbols = lines.map((line, id) => {
    const spellingsOfSymbol = line.split("\t");
    spellings += spellingsOfSymbol.length;
    for (const spelling of spellingsOfSymbol) ids.set(spelling, id);
    return spellingsOfSymbol[0] ?? "";
  });
  if (ids.size !== spellings || ids.has("")) {
    throw new BundleDamaged(`${VOCABULARY}: a spelling is empty or occurs twice`);
  }
  return [symbols, ids];
}

function parseStaircaseTable(opened: BundleBase, definition: JsonObject, symbols: number): StaircaseTable {
  const tensors = new TensorFile(opened.getFile(STAIRCASE), STAIRCASE, ["U8", "I8", "U16", "U32", "I64"]);
  const neighbors = tensors.get("neighbors", symbols > MAX_NARROW_SYMBOLS ? "U32" : "U16", [symbols, -1]) as
    | Uint16Array
    | Uint32Array;
  const base = tensors.get("base", "U32", [symbols]);
  const roles = tensors.get("roles", "U8", [symbols]);
  const width = tensors.shape("neighbors")[1] ?? 0;
  const makeError = (problem: string): BundleDamaged => new BundleDamaged(`${STAIRCASE}: ${problem}`);
  if (width < 1) throw makeError("shapes or types do not match the vocabulary");
  const lastRow = new Uint32Array(symbols);
  for (let x = 0; x < symbols; x++) {
    for (let index = x * width, end = index + width; index < end; index++) {
      const y = neighbors[index] ?? 0;
      if (y >= symbols || lastRow[y] === x + 1)
        throw makeError("a row has the same neighbor twice, or leaves the vocabulary");
      lastRow[y] = x + 1;
    }
    if (neighbors[x * width] !== x) throw makeError("a row must begin with its own word");
  }
  let sum = 0n;
  for (let y = 0; y < symbols; y++) {
    if ((base[y] ?? 0) < 1) throw makeError("a base weight is zero");
    if ((roles[y] ?? 0) > MAX_ROLE) throw makeError("a word has an unknown role");
    sum += BigInt(base[y] ?? 0);
  }
  const levels = parseStaircaseLevels(definition.get("staircase"), sum);
  const defaults = parseRecord(
    (definition.get("defaults") as JsonObject).get("staircase"),
    ["level", "mode"],
    MECHANISM_FILE,
  );
  const mode = parseChoice(defaults.get("mode"), ["words", "all"], MECHANISM_FILE);
  return {
    neighbors,
    width,
    base,
    roles,
    levels,
    defaultLevel: parseChoice(
      defaults.get("level"),
      levels.map((level) => level.name),
      MECHANISM_FILE,
    ),
    defaultMode: mode === "all" ? "all" : "words",
  };
}

function parseStaircaseLevels(entry: Json | undefined, sum: bigint): StaircaseLevel[] {
  const levels = parseArray(
    parseRecord(entry, ["levels"], MECHANISM_FILE).get("levels"),
    MECHANISM_FILE,
    MAX_LEVELS,
  ).map((value): StaircaseLevel => {
    const level = parseRecord(value, ["name", "epsilon", "share"], MECHANISM_FILE);
    const epsilon = Decimal.parse(parseText(level.get("epsilon"), MECHANISM_FILE, DECIMAL)) as Decimal;
    const share = Ratio.parse(parseText(level.get("share"), MECHANISM_FILE, RATIO));
    if (epsilon.units < 1n || epsilon.toNumber() > MAX_EPSILON || share.numerator < 1n || share.exceedsOne) {
      throw new BundleDamaged(`${MECHANISM_FILE}: a level of the staircase is out of range`);
    }
    const budget = share.multiplyDown(sum);
    if (UNIT * sum + computeFactor(epsilon, UNIT) * (budget > 1n ? budget : 1n) >= MAX_TOTAL) {
      throw new BundleDamaged(`${STAIRCASE}: the sum of the weights of a level is too large`);
    }
    return { name: parseText(level.get("name"), MECHANISM_FILE), epsilon, share };
  });
  const isAscending = levels.every(
    (level, index) => index === 0 || level.epsilon.exceeds((levels[index - 1] as StaircaseLevel).epsilon),
  );
  if (levels.length === 0 || !isAscending)
    throw new BundleDamaged(`${MECHANISM_FILE}: the levels of the staircase must ascend`);
  if (new Set(levels.map((level) => level.name)).size < levels.length) {
    throw new BundleDamaged(`${MECHANISM_FILE}: a level occurs twice`);
  }
  return levels;
}

function parseTemplateLists(opened: BundleBase, template: JsonObject, segmenter: Segmenter): EntityTypes {
  const functionWords = template.get("function_words") as string;
  const words = parseFlagged(opened, functionWords, ["name-like"]);
  words.entries.forEach((word, index) => {
    if (!(ENGLISH.clitics as readonly string[]).includes(word) && !isFunctionWord(word, segmenter)) {
      throw makeLineError(functionWords, index, "is not a word");
    }
  });
  const listedTypes = (template.get("entity_types") as JsonObject[]).map((entry) => {
    const name = parseText(entry.get("name"), MECHANISM_FILE, NAME);
    const shape = entry.get("shape") === null ? null : parseText(entry.get("shape"), MECHANISM_FILE, NAME);
    if (shape !== null && !(SHAPES as readonly string[]).includes(shape)) {
      throw new BundleDamaged("an entity type has a shape that the format does not define");
    }
    const entries: string[] = [];
    const flags: number[] = [];
    for (const file of entry.get("files") as string[]) {
      const list = parseFlagged(opened, file, shape === null ? MEMBER_FLAGS : []);
      const invalid = list.entries.findIndex((listed, index) => {
        if (shape !== null) return !isSurrogate(listed, shape, segmenter);
        // A phrase, which only the mode `names` finds, must not be a surrogate.
        const isPhrase = listed.includes(" ") && (list.flags[index] as number) & RECOGNIZED_ONLY;
        return isPhrase ? !isPhraseOfWords(listed) : !isListable(listed, segmenter);
      });
      if (invalid >= 0) throw makeLineError(file, invalid, "is not a valid entry (entries must be in lower case)");
      for (const listed of list.entries) entries.push(listed);
      for (const flag of list.flags) flags.push(flag);
    }
    if (new Set(entries).size < entries.length) throw new BundleDamaged(`an entry of ${name} occurs twice`);
    if (flags.every((flag) => flag & RECOGNIZED_ONLY)) throw new BundleDamaged("an entity type has no surrogates");
    return { name, shape, entries, flags };
  });
  const shapes = listedTypes.flatMap((entityType) => (entityType.shape === null ? [] : [entityType.shape]));
  if (
    new Set(listedTypes.map((entityType) => entityType.name)).size < listedTypes.length ||
    new Set(shapes).size < shapes.length
  ) {
    throw new BundleDamaged(`${MECHANISM_FILE}: an entity type or a pattern occurs twice`);
  }
  return new EntityTypes(
    new Map(words.entries.map((word, index) => [word, words.flags[index] === 1])),
    listedTypes,
    segmenter,
  );
}

function isFunctionWord(entry: string, segmenter: Segmenter): boolean {
  return LETTERS.test(entry) || isSingleSegment(entry, WORD, segmenter);
}

function isSingleSegment(entry: string, segmentType: number, segmenter: Segmenter): boolean {
  if (foldWord(entry) !== entry) return false;
  const segments = segmenter.splitText(entry);
  return segments.length === 1 && segments[0]?.[0] === segmentType && segments[0][0] !== GAP;
}

function isListable(entry: string, segmenter: Segmenter): boolean {
  if (LETTERS.test(entry)) return true;
  return (
    isSingleSegment(entry, WORD, segmenter) &&
    !ENGLISH.clitics.some((clitic) => entry.endsWith(clitic) && entry !== clitic)
  );
}

function isPhraseOfWords(entry: string): boolean {
  return entry.split(" ").every((word) => word !== "") && foldWord(entry) === entry;
}

function isSurrogate(entry: string, shape: string, segmenter: Segmenter): boolean {
  if (!(isAscii(entry) && SOLID.test(entry))) {
    if (!isSingleSegment(entry, STRING, segmenter) || entry.startsWith(":") || entry.startsWith(";")) return false;
  }
  return classifyShape(entry, segmenter) === shape;
}
