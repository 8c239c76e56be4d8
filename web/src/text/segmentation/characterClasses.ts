/** Character classes of a bundle, by which text is segmented: flags of every code point. */

import { CHARACTER_CLASSES } from "../../constants.js";
import { characters as data } from "../../data.js";

const getClassFlag = (name: (typeof CHARACTER_CLASSES)[number]): number => 1 << CHARACTER_CLASSES.indexOf(name);

export const BLANK = getClassFlag("blank");
export const MARK = getClassFlag("mark");
export const LETTER = getClassFlag("letter");
export const FOLLOWER = getClassFlag("follower");
export const MIDDLE = getClassFlag("middle");
export const CONNECTOR = getClassFlag("connector");
export const L = getClassFlag("L");
export const M = getClassFlag("M");
export const N = getClassFlag("N");
export const ND = getClassFlag("Nd");
export const SC = getClassFlag("Sc");
/** Hard breaks: blanks and quotation marks. */
export const HARD_BREAK = 1 << 11;
export const BREAK = 1 << 12;
export const END = 1 << 13;
/** Characters of numbers. */
export const IN_NUMBERS = 1 << 14;
const CODE_POINTS = 0x110000;
/** Further flags of the characters of a class. */
const IMPLIED: Readonly<Record<string, number>> = { blank: HARD_BREAK | BREAK, Nd: IN_NUMBERS, Sc: IN_NUMBERS };

/** A string with access by code point. */
export class CodePoints {
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
      for (let index = 0, at = 0; index < length; index++) {
        at += (points[index] ?? 0) > 0xffff ? 2 : 1;
        offsets[index + 1] = at;
      }
      this.#offsets = offsets;
    }
  }

  /** Return the code point at an index; -1 outside. */
  at(index: number): number {
    return index >= 0 && index < this.length ? (this.#points[index] ?? -1) : -1;
  }

  slice(start: number, end: number): string {
    const offsets = this.#offsets;
    return offsets === undefined ? this.text.slice(start, end) : this.text.slice(offsets[start], offsets[end]);
  }
}

/** Flags of all code points in one bundle. */
export class CharacterClasses {
  readonly #flags = new Uint16Array(CODE_POINTS);

  /** Set the flags from checked ranges of each class: first and last code point in turn. */
  constructor(readonly ranges: Readonly<Record<string, readonly number[]>>) {
    const flags = this.#flags;
    CHARACTER_CLASSES.forEach((name, index) => {
      const numbers = ranges[name] ?? [];
      const flagsOfClass = (1 << index) | (IMPLIED[name] ?? 0);
      for (let i = 0; i < numbers.length; i += 2) {
        for (let point = numbers[i] ?? 0, last = numbers[i + 1] ?? -1; point <= last; point++) {
          flags[point] = (flags[point] ?? 0) | flagsOfClass;
        }
      }
    });
    const addFlags = (characters: string, addedFlags: number): void => {
      for (const character of characters) {
        const point = character.codePointAt(0) ?? 0;
        flags[point] = (flags[point] ?? 0) | addedFlags;
      }
    };
    addFlags(data.marks.hard, HARD_BREAK | BREAK);
    addFlags(data.marks.soft, BREAK);
    addFlags(data.marks.trimmed, END);
    addFlags("'", MIDDLE);
    addFlags("+-‐‑–−.,/%#", IN_NUMBERS);
  }

  /** Return the flags of a code point; 0 for -1. */
  getFlags(point: number): number {
    return point < 0 ? 0 : (this.#flags[point] ?? 0);
  }

  /** Return whether a code point is in one of the classes. */
  matches(point: number, classes: number): boolean {
    return (this.getFlags(point) & classes) !== 0;
  }

  /** Return whether all characters of a text are in one of the classes. */
  allMatch(text: string, classes: number): boolean {
    for (let at = 0; at < text.length; ) {
      const point = text.codePointAt(at) ?? 0;
      if (((this.#flags[point] ?? 0) & classes) === 0) return false;
      at += point > 0xffff ? 2 : 1;
    }
    return true;
  }
}

/** Return the number of code points of a text. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

/** Compare two texts by code points, the order of lists. */
export function compareCodePoints(first: string, second: string): number {
  const end = Math.min(first.length, second.length);
  for (let at = 0; at < end; at++) {
    const a = first.charCodeAt(at);
    const b = second.charCodeAt(at);
    if (a !== b) {
      const pairs = Number((a & 0xf800) === 0xd800) - Number((b & 0xf800) === 0xd800);
      return pairs || a - b;
    }
  }
  return first.length - second.length;
}
