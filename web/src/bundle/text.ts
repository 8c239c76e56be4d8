/** A bundle for text: the staircase, the lists of the rung `names`, or both. Other mechanisms are hashed and left unread. */

import { Characters } from "../characters.js";
import { CHARACTER_CLASSES, MAX_EPSILON, MAX_KINDS, MAX_LEVELS, MAX_SYMBOLS, REFUSALS, SHAPES } from "../constants.js";
import { Decimal, factorOf, Ratio } from "../decimal.js";
import { BundleDamaged, UnknownMechanism } from "../errors.js";
import { ENGLISH } from "../rules.js";
import { Cutter, GAP, STRING, WORD } from "../segments.js";
import { shapeOf } from "../shapes.js";
import { Lists } from "../skeleton.js";
import { isAscii, keyOf } from "../words.js";
import { anArray, anObject, aText, integer, type Json, type JsonObject, oneOf, parseJson, record } from "./json.js";
import { countLists, lineDamaged, linesOf, marked } from "./lists.js";
import { type NamesEntry, NamesLists, namesFiles } from "./names.js";
import { MANIFEST, type Opened, openBundle, type Pins } from "./open.js";
import { RULES } from "./rules.js";
import { Tensors } from "./safetensors.js";
import type { Source } from "./source.js";

const LAW = "mechanism.json";
const VOCABULARY = "vocabulary.tsv";
const CHARACTERS = "characters.json";
const STAIRCASE = "staircase.safetensors";
const KEYS = ["token_type", "vocabulary_size", "santext", "staircase", "template", "defaults", "files"];
const DECIMAL = /^[0-9]{1,3}(\.[0-9]{1,9})?$/;
const RATIO = /^[0-9]{1,9}(\/[1-9][0-9]{0,8})?$/;
export const NAME = /^[a-z]+(-[a-z]+)*$/;
const UNICODE = /^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/;
const LETTERS = /^[a-z]+$/;
const SOLID = /^(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?$/;
const LAST_CODE_POINT = 0x10ffff;
const LARGEST_ROLE = 63;
const LOWER_ROLES = 48;
const WIDE = 65_536;
const MAX_TOTAL = 1n << 62n;
/** One unit of base is worth this many units of the draw. */
export const UNIT = 1n << 20n;

/** One level of the staircase. */
export interface Level {
  readonly name: string;
  readonly epsilon: Decimal;
  readonly share: Ratio;
  readonly ownShare: Ratio;
}

/** What the staircase draws from. */
export interface Table {
  readonly neighbors: Uint16Array | Uint32Array;
  readonly width: number;
  readonly base: Uint32Array;
  readonly roles: Uint8Array;
  readonly levels: readonly Level[];
  readonly defaultLevel: string;
  readonly defaultProtect: "words" | "all";
}

/** A bundle for text, opened and checked. */
export class TextBundle {
  readonly identity: string;
  readonly cutter: Cutter;
  readonly vocabulary: readonly string[];
  readonly ids: ReadonlyMap<string, number>;
  readonly #table: Table | undefined;
  readonly #opened: Opened;
  readonly #namesEntry: NamesEntry | undefined;
  readonly #hasSanText: boolean;
  readonly #skeleton: Json | undefined;
  #lists: Lists | undefined;
  #names: NamesLists | undefined;

  static async load(source: Source, pins?: Pins): Promise<TextBundle> {
    return new TextBundle(await openBundle(source, "text", pins));
  }

  private constructor(opened: Opened) {
    this.#opened = opened;
    this.identity = opened.identity;
    const found = parseJson(opened.file(LAW), LAW);
    const law = record(found, found.has("names") ? [...KEYS, "names"] : KEYS, LAW);
    oneOf(law.get("token_type"), ["word", "wordpiece"], LAW);
    const hasStaircase = law.get("staircase") !== null;
    const hasSanText = law.get("santext") !== null;
    const hasSymbols = hasStaircase || hasSanText;
    if (hasStaircase && law.get("token_type") !== "word") throw new BundleDamaged(`${LAW}: the staircase is for words`);
    const names = law.has("names") ? namesOf(law.get("names")) : undefined;
    const lists = hasStaircase ? [VOCABULARY, ...listFiles(law.get("template"))] : hasSanText ? [VOCABULARY] : [];
    if (!hasStaircase && law.get("template") !== null)
      throw new BundleDamaged(`${LAW}: a template without a staircase`);
    if (!hasSymbols && names === undefined) {
      throw new BundleDamaged(`${LAW}: neither a mechanism nor the lists of the rung names`);
    }
    const deciding = [...lists, CHARACTERS];
    if (hasSanText) deciding.push("table.safetensors", "embeddings.safetensors");
    if (hasStaircase) deciding.push(STAIRCASE);
    if (names !== undefined) {
      deciding.push(...namesFiles(names), ...(opened.hashes.has(RULES) ? [RULES] : []));
    } else if (opened.hashes.has(RULES)) {
      throw new BundleDamaged(`${MANIFEST}: lists rules without the lists of the rung names`);
    }
    checkDeciding(law.get("files"), deciding, opened);
    record(
      law.get("defaults"),
      ["mechanism", ...(hasSanText ? ["santext"] : []), ...(hasStaircase ? ["staircase"] : [])],
      LAW,
    );
    countLists(opened, lists);
    if (names !== undefined) countLists(opened, namesFiles(names));
    this.#namesEntry = names;
    this.cutter = new Cutter(readCharacters(opened.file(CHARACTERS)));
    [this.vocabulary, this.ids] = hasSymbols ? readVocabulary(opened) : [[], new Map()];
    if (integer(law.get("vocabulary_size"), 0, MAX_SYMBOLS, LAW) !== this.vocabulary.length) {
      throw new BundleDamaged(`${LAW}: does not fit the vocabulary`);
    }
    this.#hasSanText = hasSanText;
    this.#skeleton = law.get("template");
    if (hasStaircase) this.#table = readTable(opened, law, this.vocabulary.length);
  }

  get symbols(): number {
    return this.vocabulary.length;
  }

  get hasStaircase(): boolean {
    return this.#table !== undefined;
  }

  get hasNames(): boolean {
    return this.#namesEntry !== undefined;
  }

  /** What the staircase draws from. */
  get table(): Table {
    if (this.#table === undefined) {
      const foreign =
        "this package does not draw from santext, and this bundle has no staircase; the built-in one has it";
      throw new UnknownMechanism(this.#hasSanText ? foreign : REFUSALS.noMechanism);
    }
    return this.#table;
  }

  /** The lists of the skeleton, read at the first use. */
  get lists(): Lists {
    this.#lists ??= readLists(this.#opened, this.#skeleton as JsonObject, this.cutter);
    return this.#lists;
  }

  /** The lists of the rung names, read at the first use. */
  get names(): NamesLists {
    if (this.#namesEntry === undefined) throw new UnknownMechanism(REFUSALS.noNames);
    this.#names ??= new NamesLists(this.#opened, this.#namesEntry, this.cutter);
    return this.#names;
  }
}

function namesOf(entry: Json | undefined): NamesEntry {
  const keys = ["entity_types", "surrogate_pools", "facts"];
  const named = record(new Map([["facts", []], ...anObject(entry, LAW)]), keys, LAW);
  const [kinds = [], pools = [], facts = []] = keys.map((key) => {
    const names = anArray(named.get(key), LAW, MAX_KINDS).map((name) => aText(name, LAW, NAME));
    if (new Set(names).size < names.length) throw new BundleDamaged(`${LAW}: an entity type occurs twice`);
    return names;
  });
  return { kinds, pools, facts };
}

function listFiles(skeleton: Json | undefined): string[] {
  const entry = record(skeleton, ["function_words", "entity_types"], LAW);
  const kinds = anArray(entry.get("entity_types"), LAW, MAX_KINDS).map((kind) =>
    record(kind, ["name", "shape", "file"], LAW),
  );
  return [entry.get("function_words"), ...kinds.map((kind) => kind.get("file"))].map((name) => aText(name, LAW));
}

/** Refuses a law whose files are not those that the manifest lists with their hashes. */
function checkDeciding(files: Json | undefined, deciding: readonly string[], opened: Opened): void {
  for (const name of deciding) opened.file(name);
  const said = record(files, [...new Set(deciding)], LAW);
  const differ = deciding.some((name) => said.get(name) !== opened.hashes.get(name));
  if (differ || new Set(deciding).size < deciding.length) {
    throw new BundleDamaged(`${LAW}: does not belong to the files beside it`);
  }
}

function readCharacters(content: Uint8Array): Characters {
  const found = record(parseJson(content, CHARACTERS), ["unicode", "classes"], CHARACTERS);
  aText(found.get("unicode"), CHARACTERS, UNICODE);
  const classes = record(found.get("classes"), CHARACTER_CLASSES, CHARACTERS);
  const ranges: Record<string, number[]> = {};
  for (const [name, value] of classes) {
    const numbers = anArray(value, CHARACTERS).map((number) => integer(number, 0, LAST_CODE_POINT, CHARACTERS));
    if (numbers.length === 0 || numbers.length % 2) {
      throw new BundleDamaged(`${CHARACTERS}: a class is empty, or a range has no end`);
    }
    let before = -2;
    numbers.forEach((number, place) => {
      if (place % 2 ? number < before : number <= before + 1) {
        throw new BundleDamaged(`${CHARACTERS}: ranges of a class are out of order, or touch`);
      }
      before = number;
    });
    ranges[name] = numbers;
  }
  return new Characters(ranges);
}

function readVocabulary(opened: Opened): [string[], Map<string, number>] {
  const lines = linesOf(opened, VOCABULARY, true);
  const ids = new Map<string, number>();
  let spellings = 0;
  const printed = lines.map((line, id) => {
    const found = line.split("\t");
    spellings += found.length;
    for (const spelling of found) ids.set(spelling, id);
    return found[0] ?? "";
  });
  if (ids.size !== spellings || ids.has("")) {
    throw new BundleDamaged(`${VOCABULARY}: a spelling is empty or occurs twice`);
  }
  return [printed, ids];
}

function readTable(opened: Opened, law: JsonObject, symbols: number): Table {
  const tensors = new Tensors(opened.file(STAIRCASE), STAIRCASE, ["U8", "I8", "U16", "U32", "I64"]);
  const neighbors = tensors.get("neighbors", symbols > WIDE ? "U32" : "U16", [symbols, -1]) as
    | Uint16Array
    | Uint32Array;
  const base = tensors.get("base", "U32", [symbols]);
  const roles = tensors.get("roles", "U8", [symbols]);
  const width = tensors.shape("neighbors")[1] ?? 0;
  const broken = (what: string): BundleDamaged => new BundleDamaged(`${STAIRCASE}: ${what}`);
  if (width < 1) throw broken("shapes or types do not fit the vocabulary");
  const seen = new Uint32Array(symbols);
  for (let x = 0; x < symbols; x++) {
    for (let place = x * width, end = place + width; place < end; place++) {
      const y = neighbors[place] ?? 0;
      if (y >= symbols || seen[y] === x + 1) throw broken("a row stores a neighbor twice, or leaves the vocabulary");
      seen[y] = x + 1;
    }
    if (neighbors[x * width] !== x) throw broken("a row does not begin with its own word");
  }
  let sum = 0n;
  for (let y = 0; y < symbols; y++) {
    if ((base[y] ?? 0) < 1) throw broken("the base has a zero");
    if ((roles[y] ?? 0) > LARGEST_ROLE) throw broken("a symbol has an unknown role");
    sum += BigInt(base[y] ?? 0);
  }
  const levels = readLevels(law.get("staircase"), sum);
  const defaults = record((law.get("defaults") as JsonObject).get("staircase"), ["level", "mode"], LAW);
  const mode = oneOf(defaults.get("mode"), ["words", "all"], LAW);
  return {
    neighbors,
    width,
    base,
    roles,
    levels,
    defaultLevel: oneOf(
      defaults.get("level"),
      levels.map((level) => level.name),
      LAW,
    ),
    defaultProtect: mode === "all" ? "all" : "words",
  };
}

function readLevels(entry: Json | undefined, sum: bigint): Level[] {
  const levels = anArray(record(entry, ["levels"], LAW).get("levels"), LAW, MAX_LEVELS).map((value): Level => {
    const level = record(value, ["name", "epsilon", "share", "own_share"], LAW);
    const epsilon = Decimal.parse(aText(level.get("epsilon"), LAW, DECIMAL)) as Decimal;
    const share = Ratio.parse(aText(level.get("share"), LAW, RATIO));
    const ownShare = Ratio.parse(aText(level.get("own_share"), LAW, RATIO));
    if (
      epsilon.units < 1n ||
      epsilon.toNumber() > MAX_EPSILON ||
      share.over < 1n ||
      share.isAboveOne ||
      ownShare.isAboveOne
    ) {
      throw new BundleDamaged(`${LAW}: a level of the staircase is out of range`);
    }
    const budget = share.of(sum);
    if (UNIT * sum + factorOf(epsilon, UNIT) * (budget > 1n ? budget : 1n) >= MAX_TOTAL) {
      throw new BundleDamaged(`${STAIRCASE}: the totals of a level are too large`);
    }
    return { name: aText(level.get("name"), LAW), epsilon, share, ownShare };
  });
  const ascending = levels.every(
    (level, place) => place === 0 || level.epsilon.isAbove((levels[place - 1] as Level).epsilon),
  );
  if (levels.length === 0 || !ascending) throw new BundleDamaged(`${LAW}: levels of the staircase are out of order`);
  if (new Set(levels.map((level) => level.name)).size < levels.length) {
    throw new BundleDamaged(`${LAW}: a level occurs twice`);
  }
  return levels;
}

function readLists(opened: Opened, skeleton: JsonObject, cutter: Cutter): Lists {
  const name = skeleton.get("function_words") as string;
  const words = marked(opened, name, ["name-like"]);
  words.entries.forEach((word, place) => {
    if (!(ENGLISH.clitics as readonly string[]).includes(word) && !isWord(word, cutter)) {
      throw lineDamaged(name, place, "is not a word");
    }
  });
  const kinds = (skeleton.get("entity_types") as JsonObject[]).map((entry) => {
    const file = entry.get("file") as string;
    const shape = entry.get("shape") === null ? null : aText(entry.get("shape"), LAW, NAME);
    if (shape !== null && !(SHAPES as readonly string[]).includes(shape)) {
      throw new BundleDamaged("a kind has an unknown shape");
    }
    const { entries, marks } = marked(opened, file, shape === null ? ["capitalized", "member-only"] : []);
    const wrong = entries.findIndex((one) =>
      shape === null ? !isListable(one, cutter) : !isOutput(one, shape, cutter),
    );
    if (wrong >= 0) throw lineDamaged(file, wrong, "is not an entry of its kind (entries are in lower case)");
    if (marks.every((mark) => mark & 2)) throw new BundleDamaged("a kind has no outputs");
    return { name: aText(entry.get("name"), LAW, NAME), shape, entries, marks };
  });
  const shapes = kinds.flatMap((kind) => (kind.shape === null ? [] : [kind.shape]));
  if (new Set(kinds.map((kind) => kind.name)).size < kinds.length || new Set(shapes).size < shapes.length) {
    throw new BundleDamaged(`${LAW}: a kind or a shape occurs twice`);
  }
  return new Lists(new Map(words.entries.map((word, place) => [word, words.marks[place] === 1])), kinds, cutter);
}

function isWord(entry: string, cutter: Cutter): boolean {
  return LETTERS.test(entry) || isOne(entry, WORD, cutter);
}

function isOne(entry: string, kind: number, cutter: Cutter): boolean {
  if (keyOf(entry) !== entry) return false;
  const found = cutter.segments(entry);
  return found.length === 1 && found[0]?.[0] === kind && found[0][0] !== GAP;
}

function isListable(entry: string, cutter: Cutter): boolean {
  if (LETTERS.test(entry)) return true;
  return isOne(entry, WORD, cutter) && !ENGLISH.clitics.some((clitic) => entry.endsWith(clitic) && entry !== clitic);
}

function isOutput(entry: string, shape: string, cutter: Cutter): boolean {
  if (!(isAscii(entry) && SOLID.test(entry))) {
    if (!isOne(entry, STRING, cutter) || entry.startsWith(":") || entry.startsWith(";")) return false;
  }
  return shapeOf(entry, cutter) === shape;
}

/** Whether some symbols have roles of their own in slots of lower case. */
export function hasLowerRoles(table: Table): boolean {
  return table.roles.some((role) => role & LOWER_ROLES);
}
