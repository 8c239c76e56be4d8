/** Pass 2 of the rung `names`: what is shown where it stands, and what is one slot. It reads classes, cases and gaps. */

import { LONG_HEADLINE, MOST_CONNECTORS, SPELLED_LETTERS, TITLE_BEFORE } from "../constants.js";
import { characters, types } from "../data.js";
import { has, type Rules } from "../rules.js";
import { LOWER, TITLE, UPPER, WHITE } from "../words.js";
import { APOSTROPHE } from "./spelled.js";
import { INWARD_HALF, OUTWARD_HALF } from "./strings.js";
import {
  ALONE,
  AT_SENTENCE,
  AT_START,
  CAPITAL,
  CLITIC,
  DIGITS,
  DOTTED,
  EMPHATIC,
  FIRST,
  FORM,
  INITIAL,
  INITIALS,
  LOOSE,
  mayBeLed,
  NAME,
  NAMED,
  NO_TITLE,
  NUMBER,
  SHOWN,
  type Token,
  UNIT,
} from "./tokens.js";

/** Of runs and of digits that blanks join pass 3 tells the kind. */
export const RUN = "run";
export const GROUP = "digits-group";
export const LONE_INITIAL = "initial";

/** What is replaced as one. */
export interface Slot {
  readonly kind: string;
  readonly case: number;
  readonly layout: string;
  readonly tokens: readonly Token[];
  text: string;
  /** How the text has it, where escapes of JSON differ. */
  readonly source?: string;
  /** Of a run: the key of the shown word before it. */
  readonly before: string;
  /** How many words in Title case a run has, in lines without small talk. */
  readonly titles: number;
  readonly endsInInitial: boolean;
}

/** What is shown, and slots, in turn. */
export type Entry = string | Slot;

const inClass = (characters: string): RegExp => new RegExp(`[${characters.replace(/[\]\\^-]/g, "\\$&")}]`);
const { gaps: data } = characters;
const lineBreak = inClass(data.line_breaks);
const ends = inClass(data.ends_sentence);
const opens = inClass(data.opens);
const white = new RegExp(`[${WHITE}]$`);
const mayStand = new RegExp(`[${WHITE}"'\u201c\u2018(]$`);
const withPlus = new Set([GROUP, "phone", "account"]);
const shortNumbers = new Set(["1", "2", "3"]);
const closesBracket = new Set([")", ") "]);
const OPENS_BRACKET = " (";
const beforeListed = new RegExp(`${inClass(data.before_listed).source}+$`);
const blanksListed = inClass(data.blanks_listed);

/** One text: its words, the gap before each, and that at its end. */
export class Places {
  shown = 0;
  #start = 0;
  #end = 0;
  #small = false;
  /** The first word behind the last slot. */
  #free = 0;
  #capitals = false;
  /** The last number of a list that is kept. */
  #counted = 0;
  readonly #hidden: Uint8Array;
  /** Words before this place begin no part of an address that is longer: they were looked at. */
  #plainStart = 0;
  #plainEnd = 0;

  constructor(
    readonly words: Token[],
    readonly gaps: string[],
    readonly isLetter: (text: string) => boolean,
    readonly rules: Rules,
  ) {
    this.#hidden = new Uint8Array(words.length);
  }

  /** What is shown and the slots of the text; `capitals` says whether any text of the document has a capital. */
  entries(capitals: boolean): Entry[] {
    this.#capitals = capitals;
    const found: Entry[] = [""];
    const { words, gaps } = this;
    for (this.#start = 0; this.#start < words.length; this.#start = this.#end) {
      this.#end = this.#start + 1;
      while (this.#end < words.length && !lineBreak.test(gaps[this.#end] ?? "")) this.#end++;
      this.#line(found);
    }
    found[found.length - 1] = (found[found.length - 1] as string) + (gaps[words.length] ?? "");
    return found;
  }

  #word(place: number): Token {
    return this.words[place] as Token;
  }

  #gap(place: number): string {
    return this.gaps[place] ?? "";
  }

  #line(found: Entry[]): void {
    const { gaps } = this;
    const capitals = this.#lead();
    this.#small = false;
    for (let place = this.#start; place < this.#end && !this.#small; place++) {
      this.#small = gaps[place] !== "-" && this.#isSmall(this.#word(place));
    }
    if (capitals.length > 0) this.#hide(capitals);
    let written = found.pop() as string;
    for (let place = this.#start; place < this.#end; ) {
      const word = this.#word(place);
      written += gaps[place] ?? "";
      let slot: Slot;
      if ((place === this.#start && this.#countsOn(place)) || this.#isShown(place)) {
        this.shown++;
        written += word.text;
        place++;
        continue;
      }
      if (word.cls === SHOWN && this.#hidden[place] && !this.#capitals) {
        slot = this.#slot("word", place, place + 1);
      } else if (word.cls === SHOWN && !this.#hidden[place]) {
        const end = this.#addressEnd(place);
        slot = this.#slot(word.bits & UNIT && end === place + 1 ? "unit" : "word", place, end);
      } else if (this.#hidden[place]) {
        slot = this.#run(place);
      } else if (word.bits & OUTWARD_HALF && this.#isCode(place + 1)) {
        slot = this.#slot("postcode", place, place + 2);
      } else if (word.cls === DIGITS) {
        slot = this.#number(place);
        const sign = written.slice(-1);
        if (slot.text.startsWith("\0")) {
          slot.text = sign + slot.text.slice(1);
          written = written.slice(0, -1);
        }
      } else {
        slot = this.#slot(word.kind, place, place + 1, word.case, word.layout);
      }
      if (slot.tokens.length === 1 && slot.kind === "word" && !this.#capitals) this.#hideBehind(place);
      found.push(written, slot);
      written = "";
      place += slot.tokens.length;
      this.#free = place;
    }
    found.push(written);
  }

  #slot(
    kind: string,
    start: number,
    end: number,
    pattern = LOWER,
    layout = "",
    more: Partial<Pick<Slot, "before" | "titles" | "endsInInitial">> = {},
  ): Slot {
    let text = this.#word(start).text;
    for (let place = start + 1; place < end; place++) text += this.#gap(place) + this.#word(place).text;
    const tokens = this.words.slice(start, end);
    return { kind, case: pattern, layout, tokens, text, before: "", titles: 0, endsInInitial: false, ...more };
  }

  /** The capitals of the line. A particle that leads to one is one of them; others are words on no list. */
  #lead(): number[] {
    const found: number[] = [];
    for (let place = this.#end - 1; place >= this.#start; place--) {
      let word = this.#word(place);
      if (word.cls === ALONE && word.kind === "particle") {
        const leads =
          place + 1 < this.#end && this.#word(place + 1).cls >= CAPITAL && has(data.joins, this.#gap(place + 1));
        word = leads ? { ...word, cls: CAPITAL } : { ...word, kind: "word" };
        this.words[place] = word;
      }
      if (word.cls >= CAPITAL) found.push(place);
      if (word.cls === CAPITAL && word.bits & FORM) this.#takeStop(place);
    }
    return found.reverse();
  }

  /** Gives the form of a firm the full stop behind it, where no sentence ends there: it is of the slot. */
  #takeStop(place: number): void {
    const gap = this.#gap(place + 1);
    const after = this.words[place + 1];
    const inside = after !== undefined && after.case === LOWER && after.cls !== DIGITS && after.cls !== CAPITAL;
    if (gap === ". " ? !inside : !/^\.[,)]/.test(gap)) return;
    const word = this.#word(place);
    this.words[place] = { ...word, text: `${word.text}.` };
    this.gaps[place + 1] = gap.slice(1);
  }

  /** Hides the word behind a name in lower case, which is taken for a part of it (`martin short`). */
  #hideBehind(place: number): void {
    const { bits, kind } = this.#word(place);
    const after = place + 1;
    if (!(bits & NAMED || kind === NAME) || after >= this.#end || this.gaps[after] !== " ") return;
    const word = this.#word(after);
    if (word.cls === SHOWN && word.case === LOWER && (word.bits & ~NUMBER) === 0 && word.kind !== "") {
      this.#hidden[after] = 1;
    }
  }

  /** Whether a word of the line is the second half of a postal code, behind a blank. */
  #isCode(place: number): boolean {
    return place < this.#end && this.gaps[place] === " " && (this.#word(place).bits & INWARD_HALF) !== 0;
  }

  /** Whether a word is one in lower case that no headline has. */
  #isSmall(word: Token): boolean {
    if (word.case !== LOWER) return false;
    if (word.cls === SHOWN) return !has(this.rules.data.sentences.headline_words, word.key) && this.isLetter(word.key);
    return word.cls === LOOSE || (word.cls === ALONE && has(types.headline, word.kind));
  }

  /** Whether a word is shown where it stands. */
  #isShown(place: number): boolean {
    const word = this.#word(place);
    if (this.#hidden[place]) return false;
    if (word.cls === SHOWN) return word.bits === 0 || this.#addressEnd(place) === place;
    if (word.cls === ALONE) return word.bits !== 0 && this.#isShownAlone(place);
    return word.cls >= CAPITAL || (word.cls === LOOSE && this.#capitals);
  }

  /** Whether a word is listed and shown, so that its key may be read. */
  #isSeen(place: number): boolean {
    if (place < this.#start || place >= this.#end) return false;
    return this.#word(place).cls === SHOWN && !this.#hidden[place] && this.#addressEnd(place) === place;
  }

  /** Whether a word of a closed kind is a common word here: a title with no name behind it, a lost clitic. */
  #isShownAlone(place: number): boolean {
    const word = this.#word(place);
    if (word.bits & CLITIC) return APOSTROPHE.test(this.#gap(place));
    if ((word.kind !== "title" && word.kind !== "office") || !(word.bits & AT_SENTENCE)) return false;
    if (!this.#startsSentence(place)) return false;
    const after = place + 1;
    return after === this.words.length || this.#gap(after) !== " " || this.#word(after).cls < CAPITAL;
  }

  #opens(place: number): boolean {
    if (place === 0) return true;
    const gap = this.#gap(place);
    const named = this.#word(place).bits & NO_TITLE && this.#word(place - 1).kind === "title" && gap.includes(".");
    return !named && (gap.includes(" - ") || opens.test(gap));
  }

  #startsSentence(place: number): boolean {
    if (place === 0) return true;
    const gap = this.#gap(place);
    const before = this.#word(place - 1);
    if (!mayStand.test(gap)) return false;
    if (!ends.test(gap)) {
      const feeds = gap.split("\n").length - 1;
      return feeds > 1 || (feeds === 1 && this.#gap(place + 1).startsWith(":"));
    }
    const listed = before.cls === SHOWN || (before.cls === LOOSE && this.#capitals);
    if (!this.#hidden[place - 1] && listed)
      return [...before.key].length >= 2 && !has(this.rules.data.sentences.abbreviations, before.key);
    return (
      !gap.includes(".") || (before.cls !== INITIAL && !["title", "letter", SPELLED_LETTERS].includes(before.kind))
    );
  }

  #isTitle(place: number): boolean {
    return this.#word(place).cls === CAPITAL && this.#word(place).case === TITLE;
  }

  #isLoud(place: number): boolean {
    return this.#word(place).case === UPPER && (this.#word(place).bits & EMPHATIC) !== 0;
  }

  /** Marks words with a capital that are not shown, with the lower-case words that hyphens join to them. */
  #hide(capitals: readonly number[]): void {
    const titles = capitals.filter((place) => this.#isTitle(place)).length;
    if (!this.#small && (titles === 0 || titles >= LONG_HEADLINE)) {
      for (const place of capitals) {
        if (this.#isLed(place) || !(this.#word(place).bits & (AT_START | AT_SENTENCE))) this.#hideMember(place);
      }
      return;
    }
    let first = 0;
    for (let last = 1; last <= capitals.length; last++) {
      const [begin = 0, before = 0, next = 0] = [capitals[first], capitals[last - 1], capitals[last]];
      const together = last < capitals.length && this.#memberEnd(before) === next && this.#joins(next, begin);
      if (!together) {
        this.#hideTogether(capitals.slice(first, last));
        first = last;
      }
    }
  }

  /** Whether a particle or initials lead to a word with a capital: then it is no word of a headline. */
  #isLed(place: number): boolean {
    if (place === 0) return false;
    const before = this.#word(place - 1);
    const gap = this.#gap(place);
    if (before.bits & INITIALS || (before.cls === INITIAL && before.bits === 0)) {
      return (has(data.joins_initials, gap) || (gap === " " && before.bits !== 0)) && mayBeLed(this.#word(place));
    }
    return before.kind === "particle" && before.cls === CAPITAL;
  }

  #hideMember(place: number): void {
    this.#hidden.fill(1, place, this.#memberEnd(place));
  }

  #hideTogether(together: readonly number[]): void {
    const first = together[0] ?? 0;
    const word = this.#word(first);
    let places = together;
    if (word.bits & AT_START && this.#opens(first)) {
      places = together.slice(1);
    } else if (word.bits & AT_SENTENCE && word.case === TITLE && this.#startsSentence(first)) {
      places = together.slice(1).every((place) => this.#isLoud(place)) ? [] : together;
    }
    if (!places.every((place) => this.#isLoud(place))) for (const place of places) this.#hideMember(place);
  }

  /** Whether the gap before a word joins it to the word before, in what begins with another word. */
  #joins(after: number, first: number): boolean {
    const gap = this.#gap(after);
    const before = this.#word(after - 1);
    if (has(data.joins, gap) || (before.cls === INITIAL && has(data.joins_initials, gap))) return true;
    if (has(data.joins_forms, gap) && this.#word(after).bits & FORM) return true;
    if (gap === ". " && before.bits & INITIALS && mayBeLed(this.#word(after))) return true;
    return gap === ". " && after - 1 === first && (before.bits & DOTTED) !== 0;
  }

  /** Where a member of a run ends, with the lower-case words that a hyphen joins to it. */
  #memberEnd(start: number): number {
    let place = start + 1;
    for (; place < this.#end && this.gaps[place] === "-"; place++) {
      const word = this.#word(place);
      if (word.case !== LOWER || (word.cls !== SHOWN && word.cls !== LOOSE && word.cls !== ALONE)) break;
      if (word.cls === SHOWN && has(this.rules.data.names.suffixes, word.key)) break;
      if (word.cls === ALONE && word.kind !== "word") break;
    }
    return place;
  }

  /** The slot of the run that begins at a place. */
  #run(start: number): Slot {
    let end = this.#memberEnd(start);
    let first = start; // what stands together begins anew behind connectors
    for (let after = this.#nextMember(end, first); after >= 0; after = this.#nextMember(end, first)) {
      first = after === end ? first : after;
      end = this.#memberEnd(after);
    }
    const tokens = this.words.slice(start, end);
    const members = tokens.filter((word) => word.cls >= CAPITAL && word.kind !== "particle");
    const upper = members.every((word) => word.case === UPPER || word.cls === INITIAL);
    const last = tokens[tokens.length - 1] as Token;
    const lone = tokens.length === 1 && last.cls === INITIAL;
    let titles = 0;
    if (!this.#small) for (let place = start; place < end; place++) if (this.#isTitle(place)) titles++;
    return this.#slot(lone ? LONE_INITIAL : RUN, start, end, upper ? UPPER : TITLE, "", {
      before: this.#before(start),
      titles,
      endsInInitial: last.cls === INITIAL && !lone,
    });
  }

  /** What is read of the word before a run. */
  #before(start: number): string {
    if (start === 0) return "";
    const last = this.#word(start - 1);
    const gap = this.#gap(start);
    if (last.cls === SHOWN && gap === " " && start > this.#free) return last.key;
    return last.kind === "title" && (gap === " " || gap === ". ") ? TITLE_BEFORE : "";
  }

  /** The next member of a run whose last member ends at a place; -1 where the run ends. */
  #nextMember(place: number, start: number): number {
    if (place >= this.#end || !this.#joins(place, start)) return -1;
    if (this.#hidden[place]) return place;
    if (this.gaps[place] !== " ") return -1;
    let after = place;
    while (after < this.#end && after - place < MOST_CONNECTORS && this.gaps[after] === " ") {
      const word = this.#word(after);
      if (word.cls !== SHOWN || word.case !== LOWER || !has(this.rules.data.names.connectors, word.key)) break;
      after++;
    }
    if (after === place || after >= this.#end || this.gaps[after] !== " ") return -1;
    return this.#hidden[after] ? after : -1;
  }

  /** Where the part of an address ends that begins with a shown word; the place itself where it begins none. */
  #addressEnd(place: number): number {
    const { bits } = this.#word(place);
    let after = place + 1;
    if (bits === 0 || after >= this.#end) return place;
    if (this.#word(after).cls === DIGITS && bits & UNIT) {
      const gap = this.#shortGap(after);
      return gap === " " || has(data.joins_initials, gap) ? after : place;
    }
    if (this.#capitals || (place >= this.#plainStart && place < this.#plainEnd)) return place;
    while (this.#word(after - 1).bits & FIRST && after < this.#end && this.gaps[after] === " ") {
      const word = this.#word(after);
      if (word.cls === LOOSE || (word.cls === ALONE && word.kind === "word")) return after + 1;
      after++;
    }
    [this.#plainStart, this.#plainEnd] = [place, after];
    return place;
  }

  /** The gap before digits, less what may be replaced with them. */
  #shortGap(place: number): string {
    return this.#gap(place).replace(/[+(]+$/, "");
  }

  #besideMonth(place: number): boolean {
    if (place > this.#start && this.#word(place - 1).kind === "month") {
      const gap = this.#shortGap(place);
      if (gap === " " || gap === ". ") return true;
    }
    return place + 1 < this.#end && this.#word(place + 1).kind === "month" && this.gaps[place + 1] === " ";
  }

  #isAge(place: number): boolean {
    if (this.#isSeen(place - 1) && has(this.rules.data.ages.before, this.#word(place - 1).key)) {
      return this.#shortGap(place) === " ";
    }
    if (!this.#isSeen(place + 1) || ![" ", "-", ""].includes(this.#gap(place + 1))) return false;
    const unit = this.#word(place + 1).key;
    if (has(this.rules.data.ages.short, unit)) return true;
    if (!has(this.rules.data.ages.units, unit) || !this.#isSeen(place + 2)) return false;
    return has(this.rules.data.ages.behind, this.#word(place + 2).key) && [" ", "-"].includes(this.#gap(place + 2));
  }

  /** The slot of the digits at a place; its text begins with U+0000 where the sign before it belongs to it. */
  #number(place: number): Slot {
    const word = this.#word(place);
    if (word.kind === "number" && shortNumbers.has(word.layout) && this.#isAge(place)) {
      return this.#slot("age", place, place + 1);
    }
    if (this.#besideMonth(place)) {
      const day = word.kind === "number" && (word.layout === "1" || word.layout === "2");
      return this.#slot(day ? "day" : word.kind, place, place + 1, LOWER, day ? "" : word.layout);
    }
    const end = this.#digitsEnd(place);
    const alone = end === place + 1;
    const slot = this.#slot(alone ? word.kind : GROUP, place, end, LOWER, alone ? word.layout : "");
    const sign = this.#gap(place).slice(-1);
    const belongs = (sign === "+" && withPlus.has(slot.kind)) || (sign === "(" && slot.text.includes(")"));
    if (belongs && this.#isApart(place)) slot.text = `\0${slot.text}`;
    return slot;
  }

  /** Whether the gap before digits joins nothing without the sign at its end. */
  #isApart(place: number): boolean {
    const rest = this.#gap(place).slice(0, -1);
    const first = place === this.#start;
    if (!(rest === "" ? first : white.test(rest))) return false;
    return first || this.#word(place - 1).cls !== DIGITS || !has(data.joins_digits, rest);
  }

  /** Where the digits end that are one slot with those at a place. A bracket opens before them, or behind short ones. */
  #digitsEnd(place: number): number {
    let isOpen = this.#gap(place).endsWith("(") && this.#isApart(place);
    let end = place + 1;
    for (; this.#isJoined(end); end++) {
      const gap = this.#gap(end);
      if (gap === OPENS_BRACKET) {
        if (isOpen || end > place + 1 || !this.#opensCode(place)) break;
        isOpen = true;
      } else if (closesBracket.has(gap)) {
        if (!isOpen) break;
        isOpen = false;
      }
    }
    return end;
  }

  /** Whether digits are short, and a bracket behind them has digits in it and behind it. */
  #opensCode(place: number): boolean {
    const word = this.#word(place);
    if (word.kind !== "number" || !shortNumbers.has(word.layout)) return false;
    let end = place + 2;
    for (; this.#isJoined(end) && !closesBracket.has(this.#gap(end)); end++) {
      if (this.#gap(end) === OPENS_BRACKET) return false;
    }
    return this.#isJoined(end);
  }

  /** Whether digits without a month beside them are at a place, and a gap that may join them is before it. */
  #isJoined(place: number): boolean {
    if (place >= this.#end || this.#word(place).cls !== DIGITS || !has(data.joins_digits, this.#gap(place)))
      return false;
    return !this.#besideMonth(place);
  }

  /** Whether the first word of a line is the next number of a list, or 1; it is kept then. */
  #countsOn(place: number): boolean {
    const { cls, text } = this.#word(place);
    if (cls !== DIGITS || text.length > 2 || (text !== "1" && text !== String(this.#counted + 1))) return false;
    const before = this.#gap(place).replace(beforeListed, "");
    const gap = this.#gap(place + 1);
    if (!/^[.)]/.test(gap) || !blanksListed.test(gap) || !(before === "" || lineBreak.test(before.slice(-1))))
      return false;
    if (this.#digitsEnd(place) > place + 1) return false;
    this.#counted = Number(text);
    return true;
  }
}
