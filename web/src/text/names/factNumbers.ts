/** Numbers for the rules of `facts`: counts, measures, ages, years, months, amounts and small numbers. */

import type { FactWords } from "../../bundle/rules.js";
import { IS_TITLE, isLower, TITLE } from "../segmentation/words.js";
import { CAPITALIZED_RUN } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";
import type { CodeFacts } from "./factCodes.js";
import { followsUnit, isListedNumber, isListMarker, isOperand } from "./factFormulas.js";
import { followsNamedSentence, isPlaceholder } from "./factLabels.js";
import { type LinePlaces, NUMERIC_TYPES } from "./factPlaces.js";
import type { FactStrings } from "./factStrings.js";

const splitWords = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const DAYS = splitWords("day ordinal date");
const DATES = splitWords("month day date year year-range season");
const DAYS_AND_CARDS = splitWords("day ordinal date account card iban");
/** A temperature in one string; a sign of degrees between a number and its unit. */
const TEMPERATURE = /^[0-9]{1,3}(?:[.,][0-9]{1,2})?\u00b0[CF]$/;
const DEGREES = /^ *\u00b0 *$/;
/** Pattern of a month with a year, and words before the expiry of a card. */
const MONTH_YEAR = /^(?:0?[1-9]|1[0-2])\/(?:19|20)[0-9]{2}$/;
const EXPIRY_WORDS = splitWords("exp expiration expire expires expiry thru until valid");
const COUNTED_TYPES = splitWords("number year digits phone");
const [MAX_BARE, MAX_AGE] = [89, 89];
const ASCII_DIGITS = /^[0-9]+$/;
/** Numbers that count or measure, with a full stop before decimals, and with a comma before decimals. */
const COUNTED = /^(?:[0-9]{1,4}|[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,4}\.[0-9]{1,2})$/;
const COUNTED_COMMA = /^(?:[0-9]{1,4}|[0-9]{1,3}(?:\.[0-9]{3}){1,3}|[0-9]{1,4},[0-9]{1,2})$/;
/** A number that may be a day and a month, words before such a date, and the gap behind it inside a sentence. */
const DAY_MONTH = /^(?:0?[1-9]|[12][0-9]|3[01])\.(?:0?[1-9]|1[0-2])$/;
const DAY_LEAD = /^(?:am|ab|bis|on|since|until|vom|zum)$/;
const INSIDE_SENTENCE = /^\.[,;:)-]/;

/** Return whether *on* precedes a number, or a full stop that ends no sentence follows it: *by 15.11. or later*. */
function isDayPlace(place: LinePlaces, index: number): boolean {
  const [gap, after] = [place.getGap(index + 1), place.getWord(index + 1)];
  if (DAY_LEAD.test(place.getWord(index - 1).toLowerCase()) || INSIDE_SENTENCE.test(gap)) return true;
  return gap === ". " && isLower(after);
}

const DECIMAL = /^[0-9]{1,3}\.[0-9]{1,4}$/;
/** Numbers of an amount of money. */
const AMOUNT = /^(?:[0-9]{1,9}(?:[.,][0-9]{1,2})?|[0-9]{1,3}(?:[,.][0-9]{3}){1,3}(?:[.,][0-9]{1,2})?)$/;
/** Number of items before a bare number that must include no word for a secret or an address. */
const FAR = 5;
/** Number of items before a number of a formula that must include no word for a secret; the largest marker of a list. */
const [FAR_SECRET, MAX_MARKER] = [16, 20];
/** Words for addresses and accounts that also precede a list of numbers. */
const LIST_LEADS = splitWords("numbers sort");
/** Bare numbers above 89 that are kept, because they are neither ages nor dates. */
const ROUND = splitWords("200 256 500 512 1000 1024");
/** Time stamp of a recording, as in subtitles. */
const TIMESTAMP = /^[0-9]{2}:[0-5][0-9]:[0-5][0-9][.,][0-9]{3}$/;
const RANGE = /^[0-9]{1,3}(?:\.[0-9]{1,2})?[-\u2013][0-9]{1,3}(?:\.[0-9]{1,2})?$/;
const RATING = /^[0-9]{1,2}(?:\.5)?\/(?:5|10|100)$/;
const ROUND_RANGE = /^([0-9]{1,4})[-\u2013]([0-9]{1,4})$/;
/** A score or a blood pressure, words before it, and a version that could also be a date. */
const SCORE = /^[0-9]{1,3}\/[0-9]{2,3}$/;
const SCORE_WORDS = splitWords("bp grade marks points pressure score scored scores");
const SHORT_VERSION = /^[0-9]{1,2}(?:\.[0-9]{1,2}){2}$/;
/** Types of the numbers of a size; and a gap between the label of a telephone number and the number. */
const MEASURES = splitWords("number year");
const LABEL_GAP = /^\.?:? ?[(+]?$/;
/** Signs of units with a blank before them, which are letters or short strings otherwise. */
const SYMBOLS = splitWords("L V W cm2 cm3 d g h km2 l m m2 m3 mm2 mm3 s");
const ENDS_IN_CURRENCY = /[$\u20ac\u00a3\u00a5\u20b9] *$/;
const BEGINS_WITH_CURRENCY = /^ *[$\u20ac\u00a3\u00a5\u20b9]/;

/** Rules of the option `facts` that keep numbers. */
export class NumberFacts {
  readonly #words: FactWords;
  readonly #beforeValues: ReadonlySet<string>;
  readonly #beforeLists: ReadonlySet<string>;
  readonly #counted: RegExp;

  constructor(
    readonly strings: FactStrings,
    readonly codes: CodeFacts,
  ) {
    this.#words = strings.words;
    this.#beforeValues = new Set([...strings.words.secretWords, ...strings.words.addressWords]);
    this.#beforeLists = new Set([...this.#beforeValues].filter((word) => !LIST_LEADS.has(word)));
    this.#counted = strings.words.decimalMarks.has(",") ? COUNTED_COMMA : COUNTED;
  }

  /** Return whether a rule keeps a number. */
  isKept(place: LinePlaces, index: number, mention: EntityMention): boolean {
    const { entityType, text } = mention.span;
    const { isUseful } = this.strings;
    if (entityType === "month") {
      const isPlace = isUseful && (place.isMonthPlace(index) || place.isMonthRange(index));
      return isPlace && !place.hasInSentence(index, DAYS);
    }
    if (entityType === "key") {
      if (TEMPERATURE.test(text)) return !place.follows(index, this.#beforeValues);
      return isUseful && TIMESTAMP.test(text) && this.#isTimePlace(place, index);
    }
    if (!NUMERIC_TYPES.has(entityType)) return false;
    if (entityType === "age") return isUseful && isAtMost(text, MAX_AGE);
    const isClosed = /^[,:;.)]/.test(place.getGap(index + 1)) && this.#followsCounter(place, index);
    if (place.getGap(index).endsWith("#") || (place.precedesCapital(index) && !isClosed)) return false;
    if (place.hasLetter(index) && place.isHidden(index + 2, index + 2)) return false;
    if (entityType === "number" && this.#isInFormula(place, index, text)) return true;
    const neighbors = place.countNeighbors(index);
    if (neighbors > 1) return false;
    if (entityType === "number-word") {
      const isShown = isUseful || this.strings.onlyTags;
      return isShown && neighbors === 0 && this.#isNumberWord(place, index, mention);
    }
    if (MONTH_YEAR.test(text)) return isUseful && this.#isMonthYear(place, index);
    if (COUNTED_TYPES.has(entityType) && this.#isCounted(place, index, entityType, text)) return true;
    const mayBeVersion = COUNTED_TYPES.has(entityType) || SHORT_VERSION.test(text);
    if (isUseful && mayBeVersion && this.codes.isKeptNumber(place, index, text)) return true;
    if (place.follows(index, this.#beforeValues)) return false;
    const isScore = SCORE.test(text) && place.follows(index, SCORE_WORDS);
    if (entityType === "digits" && neighbors === 0 && (isScore || RATING.test(text))) return true;
    const otherDays = new Set([...DAYS].filter((day) => day !== entityType));
    if (!isUseful || place.hasCapitalBeside(index) || place.hasInSentence(index, otherDays)) return false;
    if (entityType === "year" || mention.entityType === "year-range")
      return neighbors === 0 || place.hasOnlyYearsBeside(index);
    if (neighbors > 0 || place.hasInSentence(index, DATES)) return false;
    if (entityType === "number") {
      const isBare = isBareNumber(text) || DECIMAL.test(text);
      if (place.hasLetter(index) && place.getClass(index + 2) !== "") return false;
      if (DAY_MONTH.test(text) && isDayPlace(place, index)) return false;
      return isBare && place.isBarePlace(index) && !place.follows(index, this.#beforeValues, FAR);
    }
    if (entityType === "ordinal") {
      const [digits, word] = [text.slice(0, -2), place.getWord(index + 1)];
      if (place.getGap(index + 1) !== " " || !ASCII_DIGITS.test(digits)) return false;
      return Number(digits) > MAX_AGE ? /^percentiles?$/.test(word) : this.strings.isAdjective(word);
    }
    return entityType === "time" || entityType === "decade";
  }

  /** Return whether a letter or a short string is the sign of a unit behind a number: `500 g`, `12 V`, `9 m2`. */
  isKeptUnit(place: LinePlaces, index: number, { span: { entityType, text } }: EntityMention): boolean {
    const { units } = this.#words;
    const [next, after] = [index + 1, place.getGap(index + 1)];
    if (entityType === CAPITALIZED_RUN || !SYMBOLS.has(text) || place.follows(index, this.#beforeValues, 4))
      return false;
    if ((text < "a" || after === " ") && place.isHidden(next, next)) return false;
    if (text === "L" && followsUnit(place, index, units)) return true;
    if (place.getGap(index) !== " " || !COUNTED_TYPES.has(place.getClass(index - 1))) return false;
    if (after === " " && NUMERIC_TYPES.has(place.getClass(next))) return units.has(place.getWord(index + 2));
    return place.getWord(index - 2).toLowerCase() !== "at" && !place.isHidden(index - 2, index - 1);
  }

  /** Return whether a small number is a part of a formula, of source code, or of a list of numbers. */
  #isInFormula(place: LinePlaces, index: number, text: string): boolean {
    if (!isBareNumber(text)) return false;
    const isMarker = Number(text) <= MAX_MARKER && isListMarker(place, index);
    if (!isMarker && !(this.strings.isUseful && (isOperand(place, index) || isListedNumber(place, index))))
      return false;
    if (place.follows(index, this.#words.secretWords, FAR_SECRET) || place.follows(index, this.#beforeLists))
      return false;
    return !place.hasCapitalBeside(index) && !place.hasInSentence(index, DAYS);
  }

  /** Return whether a time stamp of a recording, as in subtitles, may be kept in its context. */
  #isTimePlace(place: LinePlaces, index: number): boolean {
    const isNearDate = [-3, -2, -1, 0, 1, 2, 3].some((step) => DATES.has(place.getClass(index + step)));
    return !isNearDate && !place.follows(index, this.#beforeValues);
  }

  /** Return whether a number word counts something, or begins a clause with a capital: *First of all*. */
  #isNumberWord(place: LinePlaces, index: number, { span }: EntityMention): boolean {
    const isAge = place.getGap(index + 1) === "-" && span.text.toLowerCase() === "ninety"; // ninety-fifth birthday
    if (isAge || place.follows(index, this.#beforeValues)) return false;
    if (this.#counts(place, index)) return true;
    if (span.case !== TITLE) return false;
    const isNoun = place.getGap(index + 1) === " " && IS_TITLE.test(place.getWord(index + 1));
    const begins = place.beginsClause(index, undefined) || place.beginsSentence(index, new Set());
    const isBehindName = followsNamedSentence(place, index) && isLower(place.getWord(index + 1));
    return isNoun || begins || isBehindName || isPlaceholder(place, index);
  }

  /** Return whether the context permits the rule to keep a month with its year. */
  #isMonthYear(place: LinePlaces, index: number): boolean {
    const words = new Set([...this.#beforeValues, ...EXPIRY_WORDS]);
    return !place.follows(index, words, FAR) && !place.hasInSentence(index, DAYS_AND_CARDS);
  }

  /** Return whether a number counts or measures something, is money, or begins a range: `20 to 35 hours`. */
  #isCounted(place: LinePlaces, index: number, entityType: string, text: string): boolean {
    const { isUseful } = this.strings;
    if (place.follows(index, this.#words.secretWords)) return false;
    if (this.#beforeValues.has(place.getWord(index - 1).toLowerCase())) return false;
    if (isUseful && AMOUNT.test(text) && this.#isAmount(place, index)) return true;
    if (place.follows(index, this.#beforeValues) && !this.#hasUnit(place, index)) return false;
    if (place.hasLetter(index) && this.#mayBeHouse(place, index)) return false;
    if (entityType === "phone") return isRoundRange(text) && this.#hasUnit(place, index);
    if (!(entityType === "digits" ? RANGE : this.#counted).test(text)) return false;
    if (this.#counts(place, index) || this.#beginsSize(place, index)) return true;
    return (
      this.#words.rangeWords.has(place.getWord(index + 1)) &&
      ["number", "year"].includes(place.getClass(index + 2)) &&
      this.#counts(place, index + 2)
    );
  }

  /** Return whether `x` and one or two numbers follow a number, and a unit the last one: `220 x 95 cm`. */
  #beginsSize(place: LinePlaces, index: number): boolean {
    for (const at of [index, index + 2]) {
      if (place.getWord(at + 1) !== "x" || place.getGap(at + 1) !== " " || place.getGap(at + 2) !== " ") return false;
      if (!MEASURES.has(place.getClass(at + 2))) return false;
      if (this.#hasUnit(place, at + 2)) return true;
    }
    return false;
  }

  /** Return whether a number and its letter may belong to an address: `Flat 14d`, `we live at 14d`. */
  #mayBeHouse(place: LinePlaces, index: number): boolean {
    if (place.getWord(index - 1).toLowerCase() === "at" || place.isHidden(index - 1, index)) return true;
    return place.follows(index, this.#beforeValues);
  }

  /** Return whether a unit or a plural follows a number, or a word such as *version* precedes it. */
  #counts(place: LinePlaces, index: number): boolean {
    return this.#hasUnit(place, index) || this.#followsCounter(place, index);
  }

  /** Return whether a word such as *step* precedes a number, or also another number and *of*: `step 4 of 10`. */
  #followsCounter(place: LinePlaces, index: number): boolean {
    if ([-2, 2].some((step) => place.getClass(index + step) === "day")) return false; // between 2 and 4 March
    const isPart = place.getWord(index - 1) === "of" && place.getClass(index - 2) === "number";
    const at = isPart ? index - 2 : index;
    if (place.getGap(index) !== " " || place.getGap(at) !== " ") return false;
    return this.#words.counters.has(place.getWord(at - 1).toLowerCase());
  }

  /** Return whether a unit or a plural follows a number. */
  #hasUnit(place: LinePlaces, index: number): boolean {
    const { units, currencies } = this.#words;
    const [gap, after] = [place.getGap(index + 1), place.getWord(index + 1)];
    if (/^ *%/.test(gap) || (DEGREES.test(gap) && (after === "C" || after === "F"))) return true;
    if (["", " ", "-"].includes(gap) && (units.has(after) || units.has(after.toLowerCase())))
      return !place.isAge(index + 1);
    if (gap === "-" && this.strings.isAdjective(after)) return !place.isAge(index + 1); // `2-bedroom flat`
    if ((gap === " " || gap === "-") && !currencies.has(after)) {
      if (this.strings.isPlural(after) && !place.isAge(index + 1)) return true;
      const second = place.getWord(index + 2);
      if (
        place.getGap(index + 2) === " " &&
        this.strings.isAdjective(after) &&
        this.strings.isPlural(second) &&
        !currencies.has(second)
      )
        return !place.isAge(index + 2);
    }
    return false;
  }

  /** Return whether a currency sign is next to a number, or a word for money follows it. */
  #isAmount(place: LinePlaces, index: number): boolean {
    const [before, after] = [place.getGap(index), place.getGap(index + 1)];
    if (ENDS_IN_CURRENCY.test(before) || BEGINS_WITH_CURRENCY.test(after)) return true;
    const isMoney = (at: number): boolean => this.#words.currencies.has(place.getWord(at).toLowerCase());
    return (after === " " && isMoney(index + 1)) || (before === " " && isMoney(index - 1));
  }
}

/** Return whether a string is a small or a round number. */
const isBareNumber = (text: string): boolean => ROUND.has(text) || (text.length <= 2 && isAtMost(text, MAX_BARE));

/** Return whether a letter is between two numbers, with blanks between, as in `220 x 95 cm`. */
export function isTimesSign(place: LinePlaces, index: number): boolean {
  const isBetween = MEASURES.has(place.getClass(index - 1)) && MEASURES.has(place.getClass(index + 1));
  return isBetween && place.getGap(index) === " " && place.getGap(index + 1) === " ";
}

/** Return whether a number directly follows a mention, as in `Tel. 020 7946 0958`. */
export const precedesTelephone = (place: LinePlaces, index: number): boolean =>
  NUMERIC_TYPES.has(place.getClass(index + 1)) && LABEL_GAP.test(place.getGap(index + 1));

const isAtMost = (digits: string, most: number): boolean => ASCII_DIGITS.test(digits) && Number(digits) <= most;

/** Return whether a string is a range of multiples of 50, such as `500-1000`. */
function isRoundRange(text: string): boolean {
  const [, first, last] = ROUND_RANGE.exec(text) ?? [];
  return first !== undefined && Number(first) < Number(last) && Number(first) % 50 === 0 && Number(last) % 50 === 0;
}
