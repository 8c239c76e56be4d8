/** Correction of typing errors for the rules of `facts`: a similar common word replaces an unlisted word. */

import { CENSUS, NAME, RARE, START } from "../../bundle/namesFiles.js";
import type { FactStrings } from "./factStrings.js";

/** Words in lower case of these lengths are corrected: shorter ones are too often names. */
const WORD = /^[a-z]{7,24}$/;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/**
 * Return the only common word from which an unlisted word differs by one typing error, or an empty string. A typing
 * error swaps two letters inside the word, omits a letter inside it, or doubles a letter.
 */
export function correctWord(word: string, strings: FactStrings): string {
  const { lists, denied } = strings;
  if (!WORD.test(word) || lists.commonWords.has(word) || denied.has(word) || strings.isListedName(word)) return "";
  if (strings.isSurrogate(word) || strings.isTerm(word)) return "";
  let found = "";
  for (const target of listNeighbors(word)) {
    const flags = strings.getFlags(target);
    if (target === found || !(flags & START) || flags & (NAME | RARE | CENSUS) || denied.has(target)) continue;
    if (found !== "") return "";
    found = target;
  }
  return found;
}

/** Return all strings that turn into `word` by one typing error. Most of them are not words. */
function listNeighbors(word: string): string[] {
  const neighbors: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    if (at < word.length - 2 && tail[0] !== tail[1]) neighbors.push(`${head}${tail[1]}${tail[0]}${tail.slice(2)}`);
    for (const letter of LETTERS) neighbors.push(head + letter + tail);
    if (head.endsWith(tail.charAt(0))) neighbors.push(head + tail.slice(1));
  }
  return neighbors;
}
