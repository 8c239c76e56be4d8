/**
 * Rules of `facts` for the codes of errors and the numbers of versions: `error 404`, `v4.2.1`. A code is kept only behind
 * a word such as *error*, and a version number only behind a word such as *version*.
 */

import type { FactWords } from "../../bundle/rules.js";
import type { LinePlaces } from "./factPlaces.js";

const [FAR, NEAR] = [5, 3];
/** A code of an error of Windows, and the name of an error: `0x80070057`, `ERR_CONNECTION_RESET`. */
const ERROR_CODE = /^(?:0[xX](?:80[0-9A-Fa-f]{2}|[Cc]000|0000)[0-9A-Fa-f]{4}|[A-Z]{2,}(?:_[A-Z]{2,})+)$/;
/** First and last status codes of HTTP, exit codes of processes, and small numbers. */
const STATUS_RANGES = [
  ...[0, 89, 100, 103, 126, 159, 200, 208, 226, 226, 255, 255, 300, 308, 400, 418, 421, 426, 428, 429, 431, 431],
  ...[451, 451, 500, 508, 510, 511],
];
const STATUS_CODE = /^(?:0|[1-9][0-9]{0,2})$/;
const LETTER_VERSION = /^[vV][0-9]{1,3}(?:\.[0-9]{1,3}){1,2}$/;
/** A version of three or four numbers. The second has fewer digits than in a telephone number. */
const VERSION = /^[0-9]{1,3}\.[0-9]{1,2}(?:\.[0-9]{1,5}){1,2}$/;

/** Rules that keep the codes of errors, and the numbers of versions. */
export class CodeFacts {
  readonly #beforeValues: ReadonlySet<string>;

  constructor(readonly words: FactWords) {
    this.#beforeValues = new Set([...words.secretWords, ...words.addressWords]);
  }

  /** Return whether a rule keeps a string. The words of the name of an error must be public, which the caller checks. */
  isKeptString(place: LinePlaces, index: number, text: string): boolean {
    if (LETTER_VERSION.test(text)) return !place.follows(index, this.#beforeValues);
    return ERROR_CODE.test(text) && this.#followsError(place, index);
  }

  /** Return whether a rule keeps a number: a listed code behind a word such as *error*, or a version. */
  isKeptNumber(place: LinePlaces, index: number, text: string): boolean {
    if (isStatusCode(text)) return this.#followsError(place, index);
    const before = place
      .getWord(index - 1)
      .toLowerCase()
      .split(" ")
      .at(-1) as string;
    const gap = place.getGap(index);
    const isPlace = (gap === " " && this.words.versionWords.has(before)) || (gap === ": " && before === "version");
    return isPlace && VERSION.test(text) && !place.follows(index, this.#beforeValues);
  }

  /** Return whether a word such as *error* precedes a code, and no word for a secret or an address is near. */
  #followsError(place: LinePlaces, index: number): boolean {
    const [words, { errorWords }] = [place.listWordsBefore(index, FAR + 1), this.words];
    if (!words[0] || !words.slice(0, NEAR).some((word) => errorWords.has(word))) return false;
    return !words.slice(0, FAR).some((word, at) => {
      const isErrorCode = (word === "code" || word === "codes") && errorWords.has(words[at + 1] ?? "");
      return this.#beforeValues.has(word) && !isErrorCode;
    });
  }
}

function isStatusCode(text: string): boolean {
  if (!STATUS_CODE.test(text)) return false;
  const code = Number(text);
  return STATUS_RANGES.some((first, at) => at % 2 === 0 && first <= code && code <= (STATUS_RANGES[at + 1] ?? 0));
}
