/**
 * Reasons for the treatment of words in the mode `names`, for explained previews.
 *
 * The reasons are determined after reading a text, by looking up words in the lists of the plan. To find words that are
 * kept only because of the option `keep` or `facts`, the text is read a second time without these options.
 */

import { FUNCTION, type NamesLists } from "../../bundle/namesFiles.js";
import { includesWord } from "../../bundle/rules.js";
import { AFTER_TITLE } from "../../constants.js";
import { types } from "../../data.js";
import { type ExplainedPiece, FUNCTION_WORD } from "../explanation.js";
import { foldApostrophes, foldWord, UPPER } from "../segmentation/words.js";
import { CAPITALIZED_RUN, KNOWN_PERSON, LONE_INITIAL } from "./entitySpans.js";
import { type EntityMention, getPublicType } from "./entityTypes.js";
import type { FactRules } from "./facts.js";
import type { Lexicon } from "./lexicon.js";
import { CAPITALIZED, INITIAL, KEPT_FOR_EMPHASIS } from "./tokens.js";

/** A piece of a preview: its text, its treatment, and its mention if it is replaced. */
export type PreviewPiece = readonly [text: string, state: string, mention: EntityMention | undefined];

/** Data on which the reasons depend. */
export interface ReasonSources {
  readonly lexicon: Lexicon;
  readonly facts: FactRules;
  readonly keptTypes: ReadonlySet<string>;
  /** Names of the user's own patterns. */
  readonly ownNames: ReadonlySet<string>;
}

/** Entity types that follow from the last or the first word of a name. */
const END_WORD_TYPES = new Set(types.last.map(([, entityType]) => entityType));
/** Provisional types of spans whose words have a capital. */
const CAPITALIZED_TYPES = new Set([CAPITALIZED_RUN, LONE_INITIAL]);
/** Types of lower-case words and letters that have no other type. */
const WORD_TYPES = new Set(["word", "letter"]);
/** Gap between a word such as *order* and its number. */
const NUMBER_GAP = /^[ #:.]+$/;
const NO_WORDS: ReadonlySet<string> = new Set();
/** Types of strings that may be made of words. */
const STRING_TYPES = new Set(["file", "path", "key", "id", "url"]);

/**
 * Return the pieces of a text with their positions and reasons.
 *
 * @param pieces Pieces with the options of the call.
 * @param piecesWithoutOptions Pieces without the options `keep` and `facts`.
 */
export function explainPieces(
  pieces: readonly PreviewPiece[],
  piecesWithoutOptions: readonly PreviewPiece[],
  sources: ReasonSources,
): ExplainedPiece[] {
  const optionReasons = new OptionReasons(piecesWithoutOptions, sources);
  const identifying = sources.facts.level === "none" ? NO_WORDS : sources.facts.strings.words.addressWords;
  let start = 0;
  let wordBefore = "";
  return pieces.map(([text, state, mention]) => {
    const end = start + text.length;
    let reason = "";
    if (mention !== undefined) {
      reason = explainMention(mention, sources);
      const isNumber = reason === "pattern" && /[0-9]/.test(text);
      if (isNumber && identifying.has(wordBefore)) reason = `pattern: beside ${wordBefore}`;
    } else if (state !== "gap") reason = optionReasons.findReason(start, text) || explainKept(text, sources.lexicon);
    const explained = { text, state, start, end, reason };
    if (state !== "gap") wordBefore = mention === undefined ? foldWord(text) : "";
    else if (!NUMBER_GAP.test(text)) wordBefore = "";
    start = end;
    return explained;
  });
}

/** Return the reason why a word is kept, from the class of its tokens and the lists that contain the word. */
function explainKept(word: string, lexicon: Lexicon): string {
  const { allowed, lists } = lexicon;
  const tokens = lexicon.classifyWord(word);
  const token = tokens[0];
  if (token === undefined) return "expression";
  const folded = foldWord(tokens.map(({ text }) => text).join(""));
  const flags = lists.commonWords.get(folded) || lists.commonWords.get(token.key);
  if (allowed.has(folded) || allowed.has(token.key)) return "allow";
  if (lists.keptCapitals.has(foldApostrophes(token.text))) return "kept-capital";
  if (flags === undefined) return "expression";
  if (flags & FUNCTION) return FUNCTION_WORD;
  if (token.tokenClass !== CAPITALIZED && token.tokenClass !== INITIAL) return "common-word";
  const isEmphatic = token.case === UPPER && (token.flags & KEPT_FOR_EMPHASIS) !== 0;
  return isEmphatic ? "common-word-in-capitals" : "common-word-at-start";
}

/** Return the reason for the entity type of a replaced span, such as `list: given`. */
function explainMention(mention: EntityMention, { lexicon, ownNames }: ReasonSources): string {
  const { lists, denied } = lexicon;
  const { entityType, parts, span } = mention;
  if (span.entityType === KNOWN_PERSON) return "known";
  if (ownNames.has(entityType)) return "patterns";
  if (span.tokens.some(({ key }) => denied.has(key) || key.split("-").some((part) => denied.has(part)))) return "deny";
  if (span.precedingWord === AFTER_TITLE) return "title-before";
  const folded = parts[0]?.folded ?? "";
  let names = parts.map((part) => findList(part.entityType, part.folded, lists)).filter((name) => name !== "");
  if (names.length === 0 && span.entityType === "word" && entityType !== "word") {
    names = types.whole.filter((name) => lists.getMembers(name).has(folded)).slice(0, 1); // no capitals in the text
  }
  if (names.length === 0 && END_WORD_TYPES.has(entityType)) {
    names = [span.tokens.at(-1), span.tokens[0]].flatMap((token) => {
      const found = types.last.filter(([name]) => token !== undefined && lists.getMembers(name).has(token.key));
      return found.map(([name]) => name);
    });
    names = names.slice(0, 1);
  }
  if (names.length > 0) return `list: ${[...new Set(names)].join(", ")}`;
  if (entityType === "city" && includesWord(lists.rules.data.names.place_prepositions, span.precedingWord))
    return "word-before";
  if (CAPITALIZED_TYPES.has(span.entityType)) return "capital";
  if (WORD_TYPES.has(entityType)) return lists.commonWords.has(folded) ? "perhaps-a-name" : "not-common";
  return "pattern";
}

/** Return the name of the list that gives a string its entity type; empty if no list does. */
function findList(entityType: string, folded: string, lists: NamesLists): string {
  const names = entityType === "given" ? [entityType, types.first_names_only] : [entityType];
  return names.find((name) => lists.getMembers(name).has(folded)) ?? "";
}

/** Finder of the words of a text that only the options `keep` and `facts` keep. */
class OptionReasons {
  readonly #mentions: { readonly start: number; readonly end: number; readonly mention: EntityMention }[] = [];

  constructor(
    pieces: readonly PreviewPiece[],
    readonly sources: ReasonSources,
  ) {
    let start = 0;
    for (const [text, , mention] of pieces) {
      if (mention !== undefined) this.#mentions.push({ start, end: start + text.length, mention });
      start += text.length;
    }
  }

  /** Return the reason for a kept word; empty if it is kept without these options too. */
  findReason(start: number, word: string): string {
    const last = start + word.length - 1;
    let [low, high] = [0, this.#mentions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#mentions[middle]?.start ?? 0) <= last) low = middle + 1;
      else high = middle;
    }
    const found = this.#mentions[low - 1];
    if (found === undefined || found.end <= start) return "";
    const publicType = getPublicType(found.mention.entityType);
    if (this.sources.keptTypes.has(publicType)) return `keep: ${publicType}`;
    return `facts: ${this.#nameFact(word, publicType, found.mention)}`;
  }

  #nameFact(word: string, publicType: string, mention: EntityMention): string {
    const { facts, lexicon } = this.sources;
    if (STRING_TYPES.has(publicType)) return "identifier";
    const folded = foldWord(word);
    const lists = Object.entries(lexicon.lists.factLists);
    for (const key of [word, folded]) {
      const list = lists.find(([, entries]) => entries.has(key)); // the spelling first: some lists have capitals
      if (list !== undefined) return list[0];
    }
    if (publicType === "word" && facts.corrects(folded)) return "typing-error";
    if (!CAPITALIZED_TYPES.has(mention.span.entityType)) return publicType;
    if (facts.strings.isCasedUnit(word)) return "unit";
    if (facts.strings.isCamel(word) || facts.strings.isCodeConstant(word)) return "identifier";
    return lexicon.lists.commonWords.has(folded) ? "heading" : publicType;
  }
}
