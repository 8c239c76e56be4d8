/** Names of persons in lower case after words such as *my name is*, which are replaced also if they are common words. */

import { LOWER } from "../segmentation/words.js";
import { KEPT, KEPT_WITH_CAPITALS, LISTED_PERSON, NAME_ROLE, type NamesToken } from "./tokens.js";

/** Verbs between a word such as *name* and the name. */
const VERBS: ReadonlySet<string> = new Set(["is", "was", "'s", "\u2019s"]);

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

/** Return the indices of common words of a line that are names after a cue, as in *my name is hope price*. */
export function findCuedNames(line: Line, leads: ReadonlySet<string>, hasCapitals: boolean): number[] {
  const found: number[] = [];
  let nameEnd = -1;
  for (let index = line.start; index < line.end; index++) {
    const word = line.words[index] as NamesToken;
    if (word.case !== LOWER || line.gaps[index] !== " ") continue;
    if (index !== nameEnd && !followsCue(line, index, leads)) continue;
    if ((word.tokenClass === KEPT || word.tokenClass === KEPT_WITH_CAPITALS) && isListedName(word)) found.push(index);
    else if (word.entityType !== "word" || (word.tokenClass === KEPT_WITH_CAPITALS && hasCapitals)) continue;
    nameEnd = index + 1;
  }
  return found;
}

/** Return whether a word such as *name* and a verb are before an index, and no rule replaces these two words. */
function followsCue({ words, gaps }: Line, index: number, leads: ReadonlySet<string>): boolean {
  const [before, lead, verb] = [words[index - 3], words[index - 2], words[index - 1]];
  const gap = gaps[index - 1] ?? "-";
  if (verb?.tokenClass !== KEPT || lead?.tokenClass !== KEPT || (gap !== "" && gap !== " ")) return false;
  if (!VERBS.has(verb.key) || !leads.has(lead.key)) return false;
  if (before === undefined || gaps[index - 2] !== " ") return true;
  return before.tokenClass === KEPT && before.entityType !== NAME_ROLE;
}
