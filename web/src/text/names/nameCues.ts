/** Names of persons in lower case after words such as *my name is*, which are replaced also if they are common words. */

import type { FactWords } from "../../bundle/rules.js";
import { splitIdentifier } from "../identifiers.js";
import { LOWER } from "../segmentation/words.js";
import {
  CAPITALIZED,
  DIGITS,
  FIRST_NAME,
  KEPT,
  KEPT_WITH_CAPITALS,
  LISTED_PERSON,
  NAME_ROLE,
  type NamesToken,
  REPLACED,
  SURNAME,
} from "./tokens.js";

/** Verbs between a word such as *name* and the name. */
const VERB = /^(is|was|['\u2019]s)$/;
/** Words before a kinship word, as in `my wife grace`. */
const OWNER = /^(my|his|her|our|your|their)$/;
/** Marks that end a name if they follow it directly. */
const END_MARK = /^(?:[,.;:!?)"'*|<\]}\t]| [<\-\u2013\u2014&])/;
/** Gaps in a list of names; and those between a word such as *wife* and a name. */
const IN_LIST = /^(?:, ?| & |\/|; )$/;
const AFTER_KIN = /^(?: |, | \()$/;
/** Types of words that may be family names. */
const LATER_TYPE = /^(group|title|office)$/;
/** Gaps between a label and the value of its field; and those behind a replaced word that is a label. */
const AFTER_LABEL = /^,$|[:=|>(\t]/;
const AFTER_REPLACED = /^["'*)\]]*(?: ?[:=] ?|>)["'*]*$/;

/** Return whether a word, or the last word of an identifier such as *first_name*, is a label before a name. */
function isLabel(key: string, { nameCues, nameLeads, roles, kin }: FactWords): boolean {
  const word = key.slice(key.lastIndexOf("_") + 1);
  const single = word.replace(/s$/, "");
  return (
    nameCues.has(`${word}:`) || nameLeads.has(word) || [word, single].some((one) => roles.has(one) || kin.has(one))
  );
}

/** Return the kind of the cue that a key of JSON is for its value: a colon, `=` if it has a hidden word, or nothing. */
export function findValueCue(key: readonly unknown[], words: FactWords): string {
  if (key.some((element) => typeof element !== "string")) return "=";
  const last = splitIdentifier(key.join("")).at(-1);
  return last !== undefined && isLabel(last.toLowerCase(), words) ? ":" : "";
}

/** The tokens of a line, with the gap before each of them. */
interface Line {
  readonly words: readonly NamesToken[];
  readonly gaps: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Return whether a lower-case word, unchanged or replaced, is on a list of names of persons. */
export function isListedName({ flags, entityType }: NamesToken): boolean {
  return (flags & LISTED_PERSON) !== 0 || entityType === NAME_ROLE;
}

/** Mark common words of a line that are names because of a cue (the words before them), as in *hi mark*. */
export function hideCuedNames(
  { words, gaps, start, end }: Line,
  hidden: Uint8Array,
  hasCapitals: boolean,
  facts: FactWords,
  firstCue: string,
): void {
  const { kin, nameCues, nameFollowers, nameLeads } = facts;
  /** Return whether a lower-case word is replaced at any position of the document. */
  const isUnlisted = ({ tokenClass, entityType }: NamesToken): boolean =>
    tokenClass === KEPT_WITH_CAPITALS ? !hasCapitals : tokenClass === REPLACED && entityType === "word";

  /** Return whether no lower-case name is before a common word, of which the word is a part (`martin short`). */
  const isInNoName = (index: number): boolean => {
    const before = words[index - 1];
    if (hasCapitals || before === undefined || gaps[index] !== " ") return true;
    return before.tokenClass === KEPT && before.entityType !== NAME_ROLE && !hidden[index - 1];
  };

  /** Return the key of a word that stays unchanged; empty for other words, and for those that may begin a name. */
  const readKey = (index: number): string => {
    const word = words[index];
    if (word === undefined || hidden[index]) return "";
    const { tokenClass, flags, key } = word;
    return (tokenClass === KEPT && !flags) || (tokenClass === CAPITALIZED && !(flags & SURNAME)) ? key : "";
  };

  /** Return whether a word such as *name* and a verb are before an index, and no rule replaces these two words. */
  const followsVerb = (index: number): boolean => {
    const [lead, verb] = [words[index - 2], words[index - 1]];
    if (verb?.tokenClass !== KEPT || lead?.tokenClass !== KEPT || !/^ ?$/.test(gaps[index - 1] as string)) return false;
    return VERB.test(verb.key) && nameLeads.has(lead.key) && isInNoName(index - 2);
  };

  /** Return whether a word is replaced, or may be a noun that is replaced after a lower-case name. */
  const isReplaced = (index: number): boolean => {
    const { tokenClass, entityType } = words[index] as NamesToken;
    if (hidden[index] || tokenClass === REPLACED || tokenClass === DIGITS) return true;
    return tokenClass === KEPT
      ? entityType !== "" && !isInNoName(index)
      : tokenClass === KEPT_WITH_CAPITALS && !hasCapitals;
  };

  /** Return the kind of the cue before a word: a mark, a blank, or `kin`; empty for none. */
  const findCue = (index: number): string => {
    if (index === 0) return firstCue;
    let first = index - 1;
    const [key, gap] = [readKey(first), gaps[index] as string];
    if (AFTER_REPLACED.test(gap) && isReplaced(first)) return "=";
    const { tokenClass, entityType } = words[first] as NamesToken;
    const isOther = tokenClass === DIGITS || (tokenClass === REPLACED && entityType !== "word");
    if (IN_LIST.test(gap) && !isOther && isReplaced(first)) return "=";
    if (/^\.? $/.test(gap) && entityType === "title") return " ";
    if (!key) return "";
    let kind = "";
    if (nameCues.has(`${key},`) && (gap.includes(",") || index === start)) kind = ",";
    else if (AFTER_LABEL.test(gap) && isLabel(key, facts)) kind = ":";
    else if (gap === " " && nameCues.has(key)) kind = " ";
    else if (AFTER_KIN.test(gap)) {
      const lead = first > start && gaps[first] === " " ? readKey(first - 1) : "";
      if (kin.has(key) && (OWNER.test(lead) || (gap === " " && !facts.determiners.has(lead))))
        kind = OWNER.test(lead) ? "kin" : " ";
      else if (lead && gap === " " && nameCues.has(`${lead} ${key}`)) kind = " ";
      if (lead) first--;
    }
    return index === start || !words[first]?.entityType || isInNoName(first) ? kind : "";
  };

  /** Return the index after the name that a cue announces at an index; the index itself if there is none. */
  const findNameEnd = (index: number): number => {
    const cue = findCue(index);
    const first = words[index] as NamesToken;
    if (!cue || !(cue === ":" || first.flags & FIRST_NAME || isUnlisted(first))) return index;
    let stop = index + 1;
    for (; stop < end && gaps[stop] === " "; stop++) {
      const word = words[stop] as NamesToken;
      if (word.case !== LOWER || !(isUnlisted(word) || isListedName(word) || LATER_TYPE.test(word.entityType))) break;
    }
    if (stop === end) return stop;
    const isOneVerb = stop === index + 1 && first.tokenClass === KEPT && !isListedName(first);
    if (cue === "," || (cue === "kin" && isOneVerb)) return index;
    const [key, gap] = [readKey(stop), gaps[stop] as string];
    let isEnd = END_MARK.test(gap);
    if (gap === " ") isEnd = nameFollowers.has(key);
    else if (!gap) isEnd = VERB.test(key);
    return isEnd && !(/^ ?$/.test(gap) && words[stop]?.entityType) ? stop : index;
  };

  let nameEnd = -1;
  for (let index = start; index < end; index++) {
    const word = words[index] as NamesToken;
    const isName = isUnlisted(word) || isListedName(word);
    if (word.case !== LOWER || !(isName || word.flags & FIRST_NAME)) continue;
    let stop: number;
    if (gaps[index] === " " && ((isName && index === nameEnd) || followsVerb(index))) stop = nameEnd = index + 1;
    else stop = findNameEnd(index);
    for (let at = index; at < stop; at++) {
      const { tokenClass } = words[at] as NamesToken;
      if (tokenClass === KEPT || tokenClass === KEPT_WITH_CAPITALS) hidden[at] = 1;
    }
  }
}
