/** Entity spans, and the gaps that decide on them. */

import { characters } from "../../data.js";
import { WHITE } from "../segmentation/words.js";
import type { NamesToken } from "./tokens.js";

/** Of runs and of digits that blanks join pass 3 tells the kind. */
export const CAPITALIZED_RUN = "run";
export const DIGIT_GROUP = "digits-group";
export const LONE_INITIAL = "initial";

/** What is replaced as one. */
export interface EntitySpan {
  readonly entityType: string;
  readonly case: number;
  readonly layout: string;
  readonly tokens: readonly NamesToken[];
  text: string;
  /** How the text has it, where escapes of JSON differ. */
  readonly escapedText?: string;
  /** Of a run: the key of the shown word before it. */
  readonly precedingWord: string;
  /** How many words in Title case a run has, in lines without small talk. */
  readonly titleCaseWords: number;
  readonly endsInInitial: boolean;
}

/** What is shown, and slots, in turn. */
export type TextElement = string | EntitySpan;

const makeClass = (characters: string): RegExp => new RegExp(`[${characters.replace(/[\]\\^-]/g, "\\$&")}]`);
const { gaps: data } = characters;
export const LINE_BREAK = makeClass(data.line_breaks);
export const SENTENCE_END = makeClass(data.ends_sentence);
export const OPENING_MARKS = makeClass(data.opens);
export const ENDS_IN_BLANK = new RegExp(`[${WHITE}]$`);
export const ENDS_BEFORE_WORD = new RegExp(`[${WHITE}"'\u201c\u2018(]$`);
export const TYPES_WITH_PLUS = new Set([DIGIT_GROUP, "phone", "account"]);
export const SHORT_NUMBER_LAYOUTS = new Set(["1", "2", "3"]);
export const CLOSING_BRACKETS = new Set([")", ") "]);
export const OPENING_BRACKET = " (";
export const LIST_NUMBER_PREFIX = new RegExp(`${makeClass(data.before_listed).source}+$`);
export const LIST_NUMBER_BLANKS = makeClass(data.blanks_listed);
