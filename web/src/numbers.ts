/** Numbers that single blanks or round brackets hold together: `D = E (blank? E)*`, `E = number | "(" D ")"`. */

import { BREAK, type Characters, END, IN_NUMBERS, ND, type Points } from "./characters.js";
import { characters } from "./data.js";
import type { Cutter } from "./segments.js";

/** Start and end of strings, one behind the other. */
export type Spans = number[];

const code = (character: string): number => character.charCodeAt(0);
const [OPENS, CLOSES] = [code("("), code(")")];
const BLANKS = new Set(
  [...characters.gaps.between_numbers].map(code).filter((point) => point !== OPENS && point !== CLOSES),
);
const CLOSING = new Set([...")]}"].map(code));
const OPENING = new Set([..."([{"].map(code));

/** What waits inside one open bracket, or inside none: the start of a D, where its strings begin, perhaps a blank. */
interface Level {
  bracket: number;
  start: number;
  first: number;
  blank: boolean;
}

/** The strings of a text with numbers in groups, in order. */
export function joined(text: Points, strings: Spans, cutter: Cutter): Spans {
  const { characters } = cutter;
  const found: Spans = [];
  const waiting: Spans = [];
  let levels: Level[] = [{ bracket: -1, start: -1, first: 0, blank: false }];
  const top = (): Level => levels[levels.length - 1] as Level;
  const endAll = (): void => {
    for (const place of waiting) found.push(place);
    waiting.length = 0;
    levels = [{ bracket: -1, start: -1, first: 0, blank: false }];
  };
  const mark = (place: number): void => {
    const point = text.at(place);
    const last = top();
    const waits = levels.length > 1 || last.start >= 0;
    if (point === OPENS) {
      if (waits || !touches(text, place, cutter)) {
        levels.push({ bracket: place, start: -1, first: waiting.length, blank: false });
      }
      return;
    }
    if (!waits) return;
    const goesOn = last.start >= 0 && !last.blank;
    if (BLANKS.has(point) && goesOn) {
      last.blank = true;
    } else if (point === CLOSES && goesOn && levels.length > 1) {
      levels.pop();
      const outer = top();
      if (outer.start < 0) outer.start = last.bracket;
      outer.blank = false;
    } else {
      endAll();
    }
  };
  let position = 0;
  for (let i = 0; i < strings.length; i += 2) {
    const start = strings[i] ?? 0;
    const end = strings[i + 1] ?? 0;
    for (; position < start; position++) mark(position);
    if (isNumber(text, start, end, characters)) {
      const last = top();
      if (last.start < 0) last.start = start;
      waiting.length = last.first;
      waiting.push(last.start, end);
      last.blank = false;
    } else {
      endAll();
      found.push(start, end);
    }
    position = end;
  }
  endAll();
  return found;
}

/** Whether a span is of digits and what stands in numbers, with a digit among them. */
function isNumber(text: Points, start: number, end: number, characters: Characters): boolean {
  let digit = false;
  for (let at = start; at < end; at++) {
    const flags = characters.of(text.at(at));
    if (!(flags & IN_NUMBERS)) return false;
    digit ||= (flags & ND) !== 0;
  }
  return digit;
}

/** Whether a number at this place would touch what ends here, or be part of it. */
function touches(text: Points, end: number, cutter: Cutter): boolean {
  const { characters } = cutter;
  if (CLOSING.has(text.at(end - 1))) {
    let start = end - 1;
    while (start > 0 && !characters.is(text.at(start - 1), BREAK)) start--;
    const isWord = start < end - 1 && cutter.wordEnd(text, start) === end - 1;
    return isWord && OPENING.has(text.at(start - 1)) && cutter.isSolid(text.at(start - 2));
  }
  let at = end;
  while (characters.is(text.at(at - 1), END)) at--;
  return cutter.isSolid(text.at(at - 1));
}
