/** Companies and products that a text uses or discusses, for the rules of `facts`. */

import { isLower } from "../segmentation/words.js";
import { CAPITALIZED_RUN } from "./entitySpans.js";
import type { LinePlaces } from "./factPlaces.js";
import type { FactStrings } from "./factStrings.js";
import type { NamesToken } from "./tokens.js";

/** Number of words before and after a name in which a word such as *job* shows that the name is an employer. */
const [WORK_BEFORE, WORK_AFTER] = [10, 4];
/** Number of words before *for the* in which an occupation shows that the name after it is an employer. */
const ROLE_BEFORE = 3;
/** Words between a word such as *live* or *employer* and a name: *live in Fresh Start*. */
const JOINS = new Set(["called", "for", "in", "is", "of", "to", "was"]);
/** Gaps between the names of a list, and the largest number of names that are read before one. */
const [LIST_GAPS, MAX_NAMES] = [new Set([", ", "/"]), 16];

/** Rules that keep listed companies and products, but not where they may be somebody's employer. */
export class ProductFacts {
  constructor(readonly strings: FactStrings) {}

  /** Return whether a word in lower case is kept as a program or website: *a youtube video*. */
  isKeptWord(place: LinePlaces, index: number, text: string): boolean {
    return this.strings.words.platforms.has(text) && this.#isPublic(text) && this.#isProductPlace(place, index);
  }

  /** Return whether words with capitals are kept: a listed name, then listed names or common words. */
  isKeptRun(place: LinePlaces, index: number, tokens: readonly NamesToken[]): boolean {
    const { lists, words } = this.strings;
    const isKept = tokens.every(({ text, key }, at) => {
      const isListed = lists.factLists.company.has(text) || words.platforms.has(key);
      return (isListed || (at > 0 && this.strings.isPlainWord(key))) && this.#isPublic(key);
    });
    return isKept && tokens.length > 0 && this.#isProductPlace(place, index);
  }

  /** Return whether words beside common words, such as *Fresh Start*, show that they may name a party. */
  isPartyPlace(place: LinePlaces, index: number, isPhrase: boolean): boolean {
    const { partyWords, firmLeads, determiners, workWords } = this.strings.words;
    const after = place.getGap(index + 1) === " " ? place.getWord(index + 1) : "";
    if (isPhrase && (after.endsWith("ed") || partyWords.has(`-${after}`))) return true;
    if (this.isAddressed(place, index) || this.#actsOnWriter(place, index)) return true;
    const first = place.getClass(index - 1) === "number-word" ? index - 1 : index;
    const [gap, before] = [place.getGap(first), place.getWord(first - 1)];
    if (gap === " " && JOINS.has(before)) return place.follows(first - 1, before === "for" ? workWords : partyWords, 2);
    if (gap === " " && firmLeads.has(before)) return true;
    if (gap === ", " && !determiners.has(place.getWord(first - 2).toLowerCase())) return false;
    return [" ", ": ", ", "].includes(gap) && partyWords.has(before.toLowerCase());
  }

  /** Return whether the word before or behind a name shows a person: *Dear Django*, *Suzuki cried*. */
  isAddressed(place: LinePlaces, index: number): boolean {
    const { partyWords } = this.strings.words;
    return (
      partyWords.has(`-${place.getWord(index + 1)}-`) || partyWords.has(`${place.getWord(index - 1).toLowerCase()}-`)
    );
  }

  /** Return whether another word and then *me* follow a name: *IBM let me go*. */
  #actsOnWriter(place: LinePlaces, index: number): boolean {
    for (let at = index + 1; at <= index + WORK_AFTER && at < place.mentions.length && !place.hasBreak(at); at++)
      if (at > index + 1 && this.strings.words.workWords.has(`-${place.getWord(at).toLowerCase()}`)) return true;
    return false;
  }

  #isPublic(key: string): boolean {
    return this.strings.isUseful && this.strings.isShared(key) && !this.strings.isPerson(key);
  }

  /** Return whether the kept words near a name show that a text uses or discusses it. */
  #isProductPlace(place: LinePlaces, index: number): boolean {
    const { workWords, firmLeads, roles, determiners } = this.strings.words;
    const [gap, after] = [place.getGap(index + 1), place.getWord(index + 1)];
    if (place.follows(index, workWords, WORK_BEFORE) || roles.has(after.toLowerCase())) return false;
    for (let at = index + 1; at <= index + WORK_AFTER && at < place.mentions.length && !place.hasBreak(at); at++)
      if (workWords.has(place.getWord(at).toLowerCase())) return false;
    if (this.#actsOnWriter(place, index)) return false;
    let first = index;
    while (LIST_GAPS.has(place.getGap(first)) && place.getClass(first - 1) === CAPITALIZED_RUN)
      if (index - --first > MAX_NAMES) return false;
    const before = place.getGap(first) === " " ? place.getWord(first - 1) : "";
    // an occupation, a word such as "for", and an article: *a nurse for the*
    const isOfRole = determiners.has(before) && first > 1 && place.getGap(first - 1) === " ";
    const lead = isOfRole && place.follows(first - 2, roles, ROLE_BEFORE) ? place.getWord(first - 2) : before;
    if (firmLeads.has(lead.toLowerCase())) return false;
    return isLower(before) || (gap === " " ? isLower(after) : /^['\u2019]$/.test(gap) && after === "s");
  }
}
