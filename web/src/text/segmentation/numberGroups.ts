/**
 * Joining of numbers between which only single blanks or round brackets are: `D = E (blank? E)*`, `E = number | "("
 * D ")"`.
 */

import { characters } from "../../data.js";
import { BREAK, type CharacterClasses, type CodePoints, END, IN_NUMBERS, ND } from "./characterClasses.js";
import type { Segmenter } from "./segments.js";

/** Start and end of strings, in turn. */
export type StringSpans = number[];

const getCode = (character: string): number => character.charCodeAt(0);
const [OPENS, CLOSES] = [getCode("("), getCode(")")];
const BLANKS = new Set(
  [...characters.gaps.between_numbers].map(getCode).filter((point) => point !== OPENS && point !== CLOSES),
);
const CLOSING = new Set([...")]}"].map(getCode));
const OPENING = new Set([..."([{"].map(getCode));

/** State inside one open bracket, or outside all: start of a D, index of its strings, and whether a blank follows. */
interface BracketLevel {
  bracket: number;
  start: number;
  first: number;
  blank: boolean;
}

/** Return the strings of a text with joined number groups, in order. */
export function joinNumbers(text: CodePoints, strings: StringSpans, segmenter: Segmenter): StringSpans {
  const { characters } = segmenter;
  const spans: StringSpans = [];
  const pending: StringSpans = [];
  let levels: BracketLevel[] = [{ bracket: -1, start: -1, first: 0, blank: false }];
  const getTop = (): BracketLevel => levels[levels.length - 1] as BracketLevel;
  const releasePending = (): void => {
    for (const index of pending) spans.push(index);
    pending.length = 0;
    levels = [{ bracket: -1, start: -1, first: 0, blank: false }];
  };
  const readMark = (index: number): void => {
    const point = text.at(index);
    const last = getTop();
    const isPending = levels.length > 1 || last.start >= 0;
    if (point === OPENS) {
      if (isPending || !wouldTouch(text, index, segmenter)) {
        levels.push({ bracket: index, start: -1, first: pending.length, blank: false });
      }
      return;
    }
    if (!isPending) return;
    const followsNumber = last.start >= 0 && !last.blank;
    if (BLANKS.has(point) && followsNumber) {
      last.blank = true;
    } else if (point === CLOSES && followsNumber && levels.length > 1) {
      levels.pop();
      const outer = getTop();
      if (outer.start < 0) outer.start = last.bracket;
      outer.blank = false;
    } else {
      releasePending();
    }
  };
  let position = 0;
  for (let i = 0; i < strings.length; i += 2) {
    const start = strings[i] ?? 0;
    const end = strings[i + 1] ?? 0;
    for (; position < start; position++) readMark(position);
    if (isNumber(text, start, end, characters)) {
      const last = getTop();
      if (last.start < 0) last.start = start;
      pending.length = last.first;
      pending.push(last.start, end);
      last.blank = false;
    } else {
      releasePending();
      spans.push(start, end);
    }
    position = end;
  }
  releasePending();
  return spans;
}

/** Return whether a span has only characters of numbers, with at least one digit. */
function isNumber(text: CodePoints, start: number, end: number, characters: CharacterClasses): boolean {
  let hasDigit = false;
  for (let at = start; at < end; at++) {
    const flags = characters.getFlags(text.at(at));
    if (!(flags & IN_NUMBERS)) return false;
    hasDigit ||= (flags & ND) !== 0;
  }
  return hasDigit;
}

/** Return whether the text up to an index would touch a number after it. */
function wouldTouch(text: CodePoints, end: number, segmenter: Segmenter): boolean {
  const { characters } = segmenter;
  if (CLOSING.has(text.at(end - 1))) {
    let start = end - 1;
    while (start > 0 && !characters.matches(text.at(start - 1), BREAK)) start--;
    const isWord = start < end - 1 && segmenter.findWordEnd(text, start) === end - 1;
    return isWord && OPENING.has(text.at(start - 1)) && segmenter.isSolid(text.at(start - 2));
  }
  let at = end;
  while (characters.matches(text.at(at - 1), END)) at--;
  return segmenter.isSolid(text.at(at - 1));
}
