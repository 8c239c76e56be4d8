/** Names of persons in lower case after words such as *my name is*, which are replaced also if they are common words. */

import type { FactWords } from "../../bundle/rules.js";
import { LOWER } from "../segmentation/words.js";
import {
  CAPITALIZED,
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
const VERBS: ReadonlySet<string> = new Set(["is", "was", "'s", "\u2019s"]);
/** Words before a kinship word, as in `my wife grace`. */
const OWNER = /^(my|his|her|our|your|their)$/;

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

/** Finder of common words of a line that are names because of a cue (the words before them), as in *hi mark*. */
export class CuedNames {
  constructor(
    readonly line: Line,
    readonly hidden: Uint8Array,
    readonly hasCapitals: boolean,
    readonly rules: FactWords,
  ) {}

  /** Mark the common words that are names. */
  hide(): void {
    const { words, gaps, start, end } = this.line;
    let nameEnd = -1;
    for (let index = start; index < end; index++) {
      const word = words[index] as NamesToken;
      const isUnlisted = this.#isUnlisted(word);
      const isName = isUnlisted || isListedName(word);
      const mayBegin = isUnlisted || (word.flags & FIRST_NAME) !== 0;
      if (word.case !== LOWER || !(isName || mayBegin)) continue;
      let stop = index;
      if (gaps[index] === " " && ((isName && index === nameEnd) || this.#followsVerb(index)))
        stop = nameEnd = index + 1;
      else if (mayBegin) stop = this.#findNameEnd(index);
      for (let at = index; at < stop; at++) {
        const { tokenClass } = words[at] as NamesToken;
        if (tokenClass === KEPT || tokenClass === KEPT_WITH_CAPITALS) this.hidden[at] = 1;
      }
    }
  }

  /** Return whether a lower-case word is replaced at any position of the document. */
  #isUnlisted({ tokenClass, entityType }: NamesToken): boolean {
    if (tokenClass === KEPT_WITH_CAPITALS) return !this.hasCapitals;
    return tokenClass === REPLACED && entityType === "word";
  }

  /** Return whether a word such as *name* and a verb are before an index, and no rule replaces these two words. */
  #followsVerb(index: number): boolean {
    const { words, gaps } = this.line;
    const [lead, verb, gap] = [words[index - 2], words[index - 1], gaps[index - 1] ?? "-"];
    if (verb?.tokenClass !== KEPT || lead?.tokenClass !== KEPT || (gap !== "" && gap !== " ")) return false;
    return VERBS.has(verb.key) && this.rules.nameLeads.has(lead.key) && this.#isInNoName(index - 2);
  }

  /** Return whether no lower-case name is before a common word, of which the word is a part (`martin short`). */
  #isInNoName(index: number): boolean {
    const before = this.line.words[index - 1];
    if (this.hasCapitals || before === undefined || this.line.gaps[index] !== " ") return true;
    return before.tokenClass === KEPT && before.entityType !== NAME_ROLE;
  }

  /** Return the index after the name that a cue announces at an index; the index itself if there is none. */
  #findNameEnd(index: number): number {
    const cue = this.#findCue(index);
    if (!cue) return index;
    const { words, gaps, end } = this.line;
    let stop = index + 1;
    while (stop < end && gaps[stop] === " " && this.#mayContinue(words[stop] as NamesToken)) stop++;
    if (stop === end) return stop;
    const first = words[index] as NamesToken;
    const isOneVerb = stop === index + 1 && first.tokenClass === KEPT && !isListedName(first);
    if (cue === "," || (cue === "kin" && isOneVerb)) return index;
    const gap = gaps[stop] as string;
    if (gap !== "" && gap !== " ") return /^[,.;:!?)"*]/.test(gap) ? stop : index;
    const isEnd = !words[stop]?.entityType && (gap ? this.rules.nameFollowers : VERBS).has(this.#readKey(stop));
    return isEnd ? stop : index;
  }

  #mayContinue(word: NamesToken): boolean {
    return word.case === LOWER && (this.#isUnlisted(word) || isListedName(word) || word.entityType === "group");
  }

  /** Return the kind of the cue before a word: a mark, a blank, or `kin`; empty for none. */
  #findCue(index: number): string {
    const { gaps, start, words } = this.line;
    const { nameCues, kin } = this.rules;
    let first = index - 1;
    const [key, gap] = [this.#readKey(first), gaps[index] as string];
    if (!key) return "";
    let kind = "";
    if (nameCues.has(`${key},`) && (gap.includes(",") || index === start)) kind = ",";
    else if (nameCues.has(`${key}:`) && gap.includes(":")) kind = ":";
    else if (gap === " ") {
      if (nameCues.has(key)) kind = " ";
      else if (first > start && gaps[first] === " ") {
        const lead = this.#readKey(--first);
        if (nameCues.has(`${lead} ${key}`)) kind = " ";
        else if (OWNER.test(lead) && kin.has(key)) kind = "kin";
      }
    }
    const isFinal = index === start || (words[first] as NamesToken).entityType === "";
    return isFinal || this.#isInNoName(first) ? kind : "";
  }

  /** Return the key of a word that stays unchanged; empty for other words, and for those that may begin a name. */
  #readKey(index: number): string {
    const word = this.line.words[index];
    if (word === undefined || this.hidden[index]) return "";
    if (word.tokenClass === KEPT) return word.flags ? "" : word.key;
    return word.tokenClass === CAPITALIZED && !(word.flags & SURNAME) ? word.key : "";
  }
}
