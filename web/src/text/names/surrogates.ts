/** Surrogates of the mode `names` (docs/names-rule.md, "Surrogates"). */

import { countSurrogates, includesWord, type Rules, writeTemplate } from "../../bundle/rules.js";
import {
  EMOJI,
  KEYCAP,
  MAX_LISTED_NUMBERS,
  MIN_CONSISTENT_POOL,
  SPELLED_LETTERS,
  SPELLED_NUMBER,
} from "../../constants.js";
import { types } from "../../data.js";
import { capitalizeFirst, LOWER, UPPER } from "../segmentation/words.js";
import { countEmojiSurrogates, makeEmojiSurrogate } from "./emoji.js";

const [FIRST_YEAR, YEAR_COUNT, MAX_YEAR_RANGE] = [1950, 80, 10];
const TIME_RANGE = /^([0:.apmh]+)([^0:.apmh])(.+)$/i;
const NUMBER_PAIR = /^([0-9]+)([^0-9]+)([0-9]+)$/;
const LAYOUT = /^(\d+)([gp]?)(?:([.,])(\d))?$/;
/** Smallest integer part and number of integer parts, by number of digits. Four digits exclude years. */
const INTEGER_PARTS: Readonly<Record<string, readonly [number, number]>> = {
  "0": [0, 1],
  "1": [1, 9],
  "2": [10, 90],
  "3": [100, 900],
  "4": [2100, 7900],
  "5": [10_000, 90_000],
  "7": [1_000_000, 9_000_000],
  "10": [10 ** 9, 9 * 10 ** 9],
};

const padNumber = (value: number, length: number): string => String(value).padStart(length, "0");
const groupDigits = (value: number): string => String(value).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
const namePool = (entityType: string, layout: string): string =>
  layout !== "" && (entityType === "word" || entityType === "title") ? `${entityType}-${layout}` : entityType;

/** Case pattern of a JSON number, whose surrogate is a JSON number too. */
export const JSON_NUMBER_CASE = 3;

/** The surrogate pools of all entity types of a bundle. */
export class SurrogatePools {
  readonly #generatedSizes: Readonly<Record<string, number>>;
  readonly #choices: Readonly<Record<string, readonly string[]>>;
  readonly #letters: readonly string[];

  readonly pools: ReadonlyMap<string, readonly string[]>;

  constructor(
    pools: ReadonlyMap<string, readonly string[]>,
    readonly rules: Rules,
  ) {
    const titles = pools.get("title") ?? [];
    const others = titles.filter((title) => !rules.titleLayouts.has(title.toLowerCase()));
    const byLayout = Object.entries(rules.data.names.titles).map(([layout, title]): [string, string[]] => [
      `title-${layout}`,
      [title.surrogate],
    ]);
    this.pools = new Map([...pools, ["title", others.length > 0 ? others : titles], ...byLayout]);
    const { choices, templates } = rules.data.surrogates;
    this.#choices = { ...choices, given: pools.get("given") ?? [], family: pools.get("family") ?? [] };
    this.#letters = choices.letter ?? [];
    this.#generatedSizes = {
      ...Object.fromEntries(
        Object.entries(templates).map(([entityType, text]) => [entityType, countSurrogates(text, this.#choices)]),
      ),
      season: YEAR_COUNT,
      "year-range": (YEAR_COUNT - MAX_YEAR_RANGE) * MAX_YEAR_RANGE,
      card: 10 ** 9,
      [KEYCAP]: 10,
      symbol: countEmojiSurrogates(""),
    };
  }

  /** Names of all entity types that have surrogates. */
  get entityTypes(): string[] {
    const poolTypes = [...this.pools.keys()].filter((name) => !/^(?:word|title)-/.test(name));
    return [
      ...poolTypes,
      ...Object.keys(this.#generatedSizes),
      "number",
      "digits",
      "time",
      "person",
      EMOJI,
      SPELLED_NUMBER,
      SPELLED_LETTERS,
    ];
  }

  /** Return the number of surrogates of an entity type with a layout. */
  getSize(entityType: string, layout: string): number {
    const pool = this.pools.get(namePool(entityType, layout));
    if (pool !== undefined) return pool.length;
    if (entityType === "number") {
      const [, size = "0", , , decimals = "0"] = LAYOUT.exec(layout) ?? [];
      return (INTEGER_PARTS[size]?.[1] ?? 0) * 10 ** Number(decimals);
    }
    if (entityType === "digits") {
      return (layout.match(/0+/g) ?? []).reduce((product, group) => product * 9 * 10 ** (group.length - 1), 1);
    }
    if (entityType === "time") return countTimes(layout);
    if (entityType === EMOJI) return countEmojiSurrogates(layout);
    const lists = this.#listElements(entityType, layout);
    if (lists !== undefined) return lists.reduce((product, words) => product * words.length, 1);
    return this.#generatedSizes[entityType] ?? 0;
  }

  /** Return whether equal strings of a type and layout get equal surrogates. */
  isConsistent(entityType: string, layout: string): boolean {
    return !includesWord(types.never_consistent, entityType) && this.getSize(entityType, layout) >= MIN_CONSISTENT_POOL;
  }

  /** Return whether mentions of a type and layout always become tags. In a bundle, no type does. */
  needsTag(_entityType: string, _layout: string): boolean {
    return false;
  }

  /** Return a surrogate as text. In place of a JSON number it is a valid JSON number. */
  spellSurrogate(entityType: string, layout: string, index: number, pattern: number): string {
    if (pattern === JSON_NUMBER_CASE) {
      const surrogate = this.spellSurrogate(entityType, layout, index, LOWER);
      if (/^[0-9]*\.[0-9]+$/.test(surrogate)) return surrogate.replace(/^\./, "0.");
      return surrogate.replace(/[^0-9]/g, "").replace(/^0+/, "") || "0";
    }
    const pool = this.pools.get(namePool(entityType, layout));
    if (pool !== undefined) {
      const surrogate = pool[index] ?? "";
      if (pattern === UPPER) return surrogate.toUpperCase();
      if (pattern === LOWER) return surrogate.toLowerCase();
      return includesWord(types.lower_pools, entityType) ? capitalizeFirst(surrogate) : surrogate;
    }
    if (entityType === "number") return formatNumber(layout, index);
    if (entityType === "digits") return formatDigits(layout, index);
    if (entityType === "time") return formatTime(layout, index);
    if (entityType === "year-range") return formatYearRange(layout, index);
    if (entityType === "season") {
      return `${FIRST_YEAR + index}${layout}${String((FIRST_YEAR + index + 1) % 100).padStart(2, "0")}`;
    }
    if (entityType === EMOJI) return makeEmojiSurrogate(layout, index);
    const lists = this.#listElements(entityType, layout);
    if (lists !== undefined) {
      let rest = index;
      const words = lists.map((entries) => {
        const chosen = rest % entries.length;
        rest = Math.floor(rest / entries.length);
        return entries[chosen] ?? "";
      });
      const surrogate = words.join(" ");
      return pattern === UPPER ? surrogate.toUpperCase() : pattern === LOWER ? surrogate : capitalizeFirst(surrogate);
    }
    return this.#generate(entityType, index);
  }

  /** Return the surrogates of each element of a number in words or of spelled letters; `undefined` for other types. */
  #listElements(entityType: string, layout: string): readonly (readonly string[])[] | undefined {
    if (entityType === SPELLED_LETTERS) return Array<readonly string[]>(Number(layout)).fill(this.#letters);
    if (entityType !== SPELLED_NUMBER) return undefined;
    const listedNumbers = (this.pools.get("number-word") ?? []).slice(0, MAX_LISTED_NUMBERS);
    return [...layout].map((elementClass) => this.rules.spelled[elementClass] ?? listedNumbers);
  }

  #generate(entityType: string, index: number): string {
    if (entityType === "card") return formatCard(index);
    if (entityType === KEYCAP) return `${index}\ufe0f\u20e3`;
    if (entityType === "symbol") return makeEmojiSurrogate("", index);
    return writeTemplate(this.rules.data.surrogates.templates[entityType] ?? "", this.#choices, index);
  }
}

function formatNumber(layout: string, index: number): string {
  const [, size = "0", group = "", mark = "", indices = "0"] = LAYOUT.exec(layout) ?? [];
  const scale = 10 ** Number(indices);
  const value = (INTEGER_PARTS[size]?.[0] ?? 0) + Math.floor(index / scale);
  const mark3 = group === "p" ? "." : ",";
  const whole = size === "0" ? "" : group === "" ? String(value) : groupDigits(value).replaceAll(",", mark3);
  return whole + (indices === "0" ? "" : mark + padNumber(index % scale, Number(indices)));
}

/** Return the surrogate of a layout of digits. No group of digits begins with a zero. */
function formatDigits(layout: string, index: number): string {
  let left = index;
  const formatted = layout.replace(/0+/g, (group) => {
    const first = 1 + (left % 9);
    left = Math.floor(left / 9);
    const scale = 10 ** (group.length - 1);
    const rest = left % scale;
    left = Math.floor(left / scale);
    return first + (group.length > 1 ? padNumber(rest, group.length - 1) : "");
  });
  const [, first = "", mark = "", second = ""] = NUMBER_PAIR.exec(formatted) ?? [];
  return first.length === second.length && first > second ? second + mark + first : formatted; // at most its scale
}

/** Return a range of two years, the earlier one first, with the mark of the layout between them. */
function formatYearRange(layout: string, index: number): string {
  const start = FIRST_YEAR + Math.floor(index / MAX_YEAR_RANGE);
  return `${start}${layout}${start + 1 + (index % MAX_YEAR_RANGE)}`;
}

const findDigitGroups = (layout: string): string[] => layout.match(/0+/g) ?? [];
/** Return the last hour of the surrogates of a layout. */
const findLastHour = (layout: string): number => (/^0(?:[:.]|[hH]0)/.test(layout) ? 9 : 12);

/** Return the number of different clock times that are surrogates of a layout. */
function countTimes(layout: string): number {
  const times = TIME_RANGE.exec(layout);
  if (times !== null) return countTimes(times[1] ?? "") * countTimes(times[3] ?? "");
  return findLastHour(layout) * ([1, 1, 12, 3600][findDigitGroups(layout).length] ?? 1) * (/m$/i.test(layout) ? 2 : 1);
}

/** Return the clock time with an index. It is valid on a 12-hour and on a 24-hour clock. */
function formatTime(layout: string, index: number): string {
  const times = TIME_RANGE.exec(layout);
  if (times !== null) {
    const size = countTimes(times[1] ?? "");
    return (
      formatTime(times[1] ?? "", index % size) + (times[2] ?? "") + formatTime(times[3] ?? "", Math.floor(index / size))
    );
  }
  let left = index;
  const takeField = (size: number): number => {
    const value = left % size;
    left = Math.floor(left / size);
    return value;
  };
  const count = findDigitGroups(layout).length;
  const values = [1 + takeField(findLastHour(layout))];
  if (count === 2) values.push(5 * takeField(12));
  if (count > 2) values.push(takeField(60), takeField(60));
  const ending = layout.replace(/^[0:.h]+/i, "");
  const clock = layout
    .slice(0, layout.length - ending.length)
    .replace(/0+/g, (group) => padNumber(values.shift() ?? 0, group.length));
  const isMorning = left === 0;
  return clock + (isMorning ? ending.replace("p", "a").replace("P", "A") : ending);
}

/** Return a 16-digit card number whose check digit is wrong. */
function formatCard(index: number): string {
  const body = `400000${padNumber(index, 9)}`;
  const total = [...body].reduce((sum, digit, index) => {
    const value = Number(digit) * (2 - (index % 2));
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  const whole = body + String((10 - (total % 10) + 5) % 10);
  return [0, 4, 8, 12].map((start) => whole.slice(start, start + 4)).join("-");
}
