/** Classes of characters as a bundle carries them, and what text is cut by: flags of every code point. */

import { CHARACTER_CLASSES } from "./constants.js";
import { characters as data } from "./data.js";

const bit = (name: (typeof CHARACTER_CLASSES)[number]): number => 1 << CHARACTER_CLASSES.indexOf(name);

export const BLANK = bit("blank");
export const MARK = bit("mark");
export const LETTER = bit("letter");
export const FOLLOWER = bit("follower");
export const MIDDLE = bit("middle");
export const CONNECTOR = bit("connector");
export const L = bit("L");
export const M = bit("M");
export const N = bit("N");
export const ND = bit("Nd");
export const SC = bit("Sc");
/** Hard breaks: blanks and quotation marks. */
export const HARD_BREAK = 1 << 11;
export const BREAK = 1 << 12;
export const END = 1 << 13;
/** What a number is of. */
export const IN_NUMBERS = 1 << 14;
const CODE_POINTS = 0x110000;
/** What characters of a class are as well. */
const IMPLIED: Readonly<Record<string, number>> = { blank: HARD_BREAK | BREAK, Nd: IN_NUMBERS, Sc: IN_NUMBERS };

/** A string by its code points, and where each of them is in the string. */
export class Points {
  readonly length: number;
  readonly #points: ArrayLike<number>;
  readonly #offsets: Uint32Array | undefined;

  constructor(readonly text: string) {
    const points = new Uint32Array(text.length);
    let length = 0;
    for (let at = 0; at < text.length; length++) {
      const point = text.codePointAt(at) ?? 0;
      points[length] = point;
      at += point > 0xffff ? 2 : 1;
    }
    this.length = length;
    this.#points = points;
    if (length < text.length) {
      const offsets = new Uint32Array(length + 1);
      for (let place = 0, at = 0; place < length; place++) {
        at += (points[place] ?? 0) > 0xffff ? 2 : 1;
        offsets[place + 1] = at;
      }
      this.#offsets = offsets;
    }
  }

  /** The code point at a place; -1 outside. */
  at(place: number): number {
    return place >= 0 && place < this.length ? (this.#points[place] ?? -1) : -1;
  }

  slice(start: number, end: number): string {
    const offsets = this.#offsets;
    return offsets === undefined ? this.text.slice(start, end) : this.text.slice(offsets[start], offsets[end]);
  }
}

/** Flags of all code points, of one bundle. */
export class Characters {
  readonly #flags = new Uint16Array(CODE_POINTS);

  /** Takes the ranges of each class, checked: first and last of each in turn. */
  constructor(readonly ranges: Readonly<Record<string, readonly number[]>>) {
    const flags = this.#flags;
    CHARACTER_CLASSES.forEach((name, place) => {
      const numbers = ranges[name] ?? [];
      const more = (1 << place) | (IMPLIED[name] ?? 0);
      for (let i = 0; i < numbers.length; i += 2) {
        for (let point = numbers[i] ?? 0, last = numbers[i + 1] ?? -1; point <= last; point++) {
          flags[point] = (flags[point] ?? 0) | more;
        }
      }
    });
    const add = (characters: string, more: number): void => {
      for (const character of characters) {
        const point = character.codePointAt(0) ?? 0;
        flags[point] = (flags[point] ?? 0) | more;
      }
    };
    add(data.marks.hard, HARD_BREAK | BREAK);
    add(data.marks.soft, BREAK);
    add(data.marks.trimmed, END);
    add("'", MIDDLE);
    add("+-‐‑–−.,/%#", IN_NUMBERS);
  }

  /** The flags of a code point; none of -1. */
  of(point: number): number {
    return point < 0 ? 0 : (this.#flags[point] ?? 0);
  }

  /** Whether a code point is of one of the classes. */
  is(point: number, classes: number): boolean {
    return (this.of(point) & classes) !== 0;
  }

  /** Whether all characters of a text are of one of the classes. */
  all(text: string, classes: number): boolean {
    for (let at = 0; at < text.length; ) {
      const point = text.codePointAt(at) ?? 0;
      if (((this.#flags[point] ?? 0) & classes) === 0) return false;
      at += point > 0xffff ? 2 : 1;
    }
    return true;
  }
}

/** How many code points a text has. */
export function size(text: string): number {
  let found = text.length;
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      found--;
      at++;
    }
  }
  return found;
}

/** Compares two texts by their code points, as lists are sorted. */
export function inOrder(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  for (let at = 0; at < end; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a !== b) {
      const pairs = Number((a & 0xf800) === 0xd800) - Number((b & 0xf800) === 0xd800);
      return pairs || a - b;
    }
  }
  return one.length - other.length;
}
