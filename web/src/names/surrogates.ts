/** What may come out for a slot on the rung `names` (docs/names-rule.md, "What may come out"). */

import { EMOJI, KEYCAP, MOST_LISTED, SMALLEST_CONSISTENT, SPELLED_LETTERS, SPELLED_NUMBER } from "../constants.js";
import { types } from "../data.js";
import { has, type Rules } from "../rules.js";
import { capitalized, LOWER, UPPER } from "../words.js";
import { emojiMember, emojiSize } from "./emoji.js";
import { sizeOf, writeTemplate } from "./templates.js";

const [FIRST_YEAR, YEARS, LONGEST_RANGE] = [1950, 80, 10];
const TWO_TIMES = /^([0:.apm]+)([^0:.apm])(.+)$/i;
const PAIR = /^([0-9]+)([^0-9]+)([0-9]+)$/;
const LAYOUT = /^(\d+)(g?)(?:([.,])(\d))?$/;
/** By number of digits: the least integer part, and the number of integer parts. Four digits exclude years. */
const wholes: Readonly<Record<string, readonly [number, number]>> = {
  "0": [0, 1],
  "1": [1, 9],
  "2": [10, 90],
  "3": [100, 900],
  "4": [2100, 7900],
  "5": [10_000, 90_000],
  "7": [1_000_000, 9_000_000],
  "10": [10 ** 9, 9 * 10 ** 9],
};

const padded = (value: number, length: number): string => String(value).padStart(length, "0");
const grouped = (value: number): string => String(value).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
const pooled = (kind: string, layout: string): string =>
  layout !== "" && (kind === "word" || kind === "title") ? `${kind}-${layout}` : kind;

/** The outputs of every kind. */
/** The case pattern of a number of JSON: its substitute is written as such. */
export const JSON_NUMBER = 3;

export class Surrogates {
  readonly #sizes: Readonly<Record<string, number>>;
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
    this.#sizes = {
      ...Object.fromEntries(Object.entries(templates).map(([kind, text]) => [kind, sizeOf(text, this.#choices)])),
      season: YEARS,
      "year-range": (YEARS - LONGEST_RANGE) * LONGEST_RANGE,
      card: 10 ** 9,
      [KEYCAP]: 10,
      symbol: emojiSize(""),
    };
  }

  /** All kinds that something may come out for. */
  get kinds(): string[] {
    const listed = [...this.pools.keys()].filter((name) => !/^(?:word|title)-/.test(name));
    return [
      ...listed,
      ...Object.keys(this.#sizes),
      "number",
      "digits",
      "time",
      "person",
      EMOJI,
      SPELLED_NUMBER,
      SPELLED_LETTERS,
    ];
  }

  /** How many outputs a kind of a layout has. */
  size(kind: string, layout: string): number {
    const pool = this.pools.get(pooled(kind, layout));
    if (pool !== undefined) return pool.length;
    if (kind === "number") {
      const [, size = "0", , , decimals = "0"] = LAYOUT.exec(layout) ?? [];
      return (wholes[size]?.[1] ?? 0) * 10 ** Number(decimals);
    }
    if (kind === "digits") {
      return (layout.match(/0+/g) ?? []).reduce((product, group) => product * 9 * 10 ** (group.length - 1), 1);
    }
    if (kind === "time") return timeSize(layout);
    if (kind === EMOJI) return emojiSize(layout);
    const lists = this.#spelledFrom(kind, layout);
    if (lists !== undefined) return lists.reduce((product, words) => product * words.length, 1);
    return this.#sizes[kind] ?? 0;
  }

  /** Whether equal strings of a kind become equal outputs. */
  isConsistent(kind: string, layout: string): boolean {
    return !has(types.never_consistent, kind) && this.size(kind, layout) >= SMALLEST_CONSISTENT;
  }

  /** An output, by its number, as it is printed in a case pattern. */
  spelled(kind: string, layout: string, index: number, pattern: number): string {
    if (pattern === JSON_NUMBER) {
      const found = this.spelled(kind, layout, index, LOWER);
      if (/^[0-9]*\.[0-9]+$/.test(found)) return found.replace(/^\./, "0.");
      return found.replace(/[^0-9]/g, "").replace(/^0+/, "") || "0";
    }
    const pool = this.pools.get(pooled(kind, layout));
    if (pool !== undefined) {
      const found = pool[index] ?? "";
      if (pattern === UPPER) return found.toUpperCase();
      if (pattern === LOWER) return found.toLowerCase();
      return has(types.lower_pools, kind) ? capitalized(found) : found;
    }
    if (kind === "number") return number(layout, index);
    if (kind === "digits") return digits(layout, index);
    if (kind === "time") return time(layout, index);
    if (kind === "year-range") return yearRange(layout, index);
    if (kind === "season") {
      return `${FIRST_YEAR + index}${layout}${String((FIRST_YEAR + index + 1) % 100).padStart(2, "0")}`;
    }
    if (kind === EMOJI) return emojiMember(layout, index);
    const lists = this.#spelledFrom(kind, layout);
    if (lists !== undefined) {
      let rest = index;
      const words = lists.map((entries) => {
        const chosen = rest % entries.length;
        rest = Math.floor(rest / entries.length);
        return entries[chosen] ?? "";
      });
      const found = words.join(" ");
      return pattern === UPPER ? found.toUpperCase() : pattern === LOWER ? found : capitalized(found);
    }
    return this.#made(kind, index);
  }

  /** What each element of a number in words, or of spelled letters, is written as; nothing for other kinds. */
  #spelledFrom(kind: string, layout: string): readonly (readonly string[])[] | undefined {
    if (kind === SPELLED_LETTERS) return Array<readonly string[]>(Number(layout)).fill(this.#letters);
    if (kind !== SPELLED_NUMBER) return undefined;
    const listed = (this.pools.get("number-word") ?? []).slice(0, MOST_LISTED);
    return [...layout].map((of) => this.rules.spelled[of] ?? listed);
  }

  #made(kind: string, index: number): string {
    if (kind === "card") return card(index);
    if (kind === KEYCAP) return `${index}\ufe0f\u20e3`;
    if (kind === "symbol") return emojiMember("", index);
    return writeTemplate(this.rules.data.surrogates.templates[kind] ?? "", this.#choices, index);
  }
}

function number(layout: string, index: number): string {
  const [, size = "0", group = "", mark = "", places = "0"] = LAYOUT.exec(layout) ?? [];
  const scale = 10 ** Number(places);
  const value = (wholes[size]?.[0] ?? 0) + Math.floor(index / scale);
  const whole = size === "0" ? "" : group === "" ? String(value) : grouped(value);
  return whole + (places === "0" ? "" : mark + padded(index % scale, Number(places)));
}

/** Digits in the places of a layout; no group of them begins with a zero. */
function digits(layout: string, index: number): string {
  let left = index;
  const written = layout.replace(/0+/g, (group) => {
    const first = 1 + (left % 9);
    left = Math.floor(left / 9);
    const scale = 10 ** (group.length - 1);
    const rest = left % scale;
    left = Math.floor(left / scale);
    return first + (group.length > 1 ? padded(rest, group.length - 1) : "");
  });
  const [, first = "", mark = "", second = ""] = PAIR.exec(written) ?? [];
  return first.length === second.length && first > second ? second + mark + first : written; // at most its scale
}

/** Two years, the earlier one first, with the mark of the layout between them. */
function yearRange(layout: string, index: number): string {
  const start = FIRST_YEAR + Math.floor(index / LONGEST_RANGE);
  return `${start}${layout}${start + 1 + (index % LONGEST_RANGE)}`;
}

const groupsOf = (layout: string): string[] => layout.match(/0+/g) ?? [];
/** 9 where an hour of one digit has minutes behind it, else 12. */
const hoursOf = (layout: string): number => (/^0[:.]/.test(layout) ? 9 : 12);

/** How many times a layout has: every fifth minute, or every second where it shows seconds. */
function timeSize(layout: string): number {
  const two = TWO_TIMES.exec(layout);
  if (two !== null) return timeSize(two[1] ?? "") * timeSize(two[3] ?? "");
  return hoursOf(layout) * ([1, 1, 12, 3600][groupsOf(layout).length] ?? 1) * (layout.endsWith("0") ? 1 : 2);
}

/** A time that is one of a clock of 12 hours, and of one of 24. */
function time(layout: string, index: number): string {
  const two = TWO_TIMES.exec(layout);
  if (two !== null) {
    const size = timeSize(two[1] ?? "");
    return time(two[1] ?? "", index % size) + (two[2] ?? "") + time(two[3] ?? "", Math.floor(index / size));
  }
  let left = index;
  const take = (size: number): number => {
    const value = left % size;
    left = Math.floor(left / size);
    return value;
  };
  const count = groupsOf(layout).length;
  const values = [1 + take(hoursOf(layout))];
  if (count === 2) values.push(5 * take(12));
  if (count > 2) values.push(take(60), take(60));
  const ending = layout.replace(/^[0:.]+/, "");
  const clock = layout
    .slice(0, layout.length - ending.length)
    .replace(/0+/g, (group) => padded(values.shift() ?? 0, group.length));
  const isMorning = left === 0;
  return clock + (isMorning ? ending.replace("p", "a").replace("P", "A") : ending);
}

/** Sixteen digits whose last one is not the check digit. */
function card(index: number): string {
  const body = `400000${padded(index, 9)}`;
  const total = [...body].reduce((sum, digit, place) => {
    const value = Number(digit) * (2 - (place % 2));
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  const whole = body + String((10 - (total % 10) + 5) % 10);
  return [0, 4, 8, 12].map((start) => whole.slice(start, start + 4)).join("-");
}
