/** Entity spans, and the gaps that decide on them. */

import { characters } from "../../data.js";
import { WHITE } from "../segmentation/words.js";
import type { NamesToken } from "./tokens.js";

/** Provisional types of spans whose entity type `EntityClassifier` decides. */
export const CAPITALIZED_RUN = "run";
export const DIGIT_GROUP = "digits-group";
export const LONE_INITIAL = "initial";
/** Span type of a listed person, whose layout is the form of the spelling. */
export const KNOWN_PERSON = "known-person";
/** @internal Span type of a hidden word inside an identifier of source code, which is a tag in every style. */
export const IDENTIFIER_PIECE = "identifier-piece";

/** Span of tokens that are replaced together. */
export interface EntitySpan {
  readonly entityType: string;
  readonly case: number;
  readonly layout: string;
  readonly tokens: readonly NamesToken[];
  text: string;
  /** Text with its original JSON escapes, where it has any. */
  readonly escapedText?: string;
  /** Key of the kept word before a run. */
  readonly precedingWord: string;
  /** Number of title-case words of a run, in lines without other lower-case words. */
  readonly titleCaseWords: number;
  readonly endsInInitial: boolean;
}

/** Kept text or an entity span. */
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
