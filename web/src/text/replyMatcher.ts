/** Search for surrogates in a reply that arrives in parts, and replacement of the surrogates by originals. */

import type { ReplyRules } from "../bundle/replyRules.js";
import { MAX_BLANKS } from "../constants.js";
import { InputError } from "../errors.js";
import { ActiveContentDetector } from "./activeContent.js";
import {
  BARE_TAG,
  findWordBefore,
  foldText,
  inflectOriginal,
  isElision,
  isInflection,
  LOOKBEHIND_CHARACTERS,
  type SurrogateForm,
  type SurrogatePair,
  splitElision,
} from "./inflections.js";
import {
  cutBefore,
  getFirst,
  getLast,
  isSeparateWord,
  LOOKAHEAD_CHARACTERS,
  type QuotationIndex,
} from "./quotations.js";
import type { JsonRole, Region } from "./regionState.js";
import { RegionScanner } from "./regions.js";
import { isAddressLike, ReplyChunk } from "./replyChunk.js";
import { NumberFinder } from "./replyNumbers.js";
import { TagFinder } from "./replyTags.js";
import { type NotRestored, RestoreReport } from "./restored.js";
import type { RestorePolicy, SkipReason } from "./restorePolicy.js";
import type { Segmenter } from "./segmentation/segments.js";
import { isLower, WHITE } from "./segmentation/words.js";

/** Positions at which a form may begin: a word, or a mark. */
const START = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[nrt])(?<!\\\\\\\\[nrt]))[\\p{L}\\p{N}]|[^\\p{L}\\p{N}_${WHITE}]`,
  "gu",
);
/** Start of JSON in a reply or in a block of code; `HEAD_CHARACTERS` of it decide. */
const JSON_START = new RegExp(`^[${WHITE}]*(?:json[${WHITE}]+)?(?:\\{[${WHITE}]*["}]|\\[[${WHITE}]*[\\[{"])`, "iu");
const FENCE = "```";
const HEAD_CHARACTERS = 80;
const WHITE_CHARACTER = new RegExp(`^[${WHITE}]$`);
const BLANKS = new RegExp(`[${WHITE}][${WHITE}>]*`, "g");
/** Blanks that end a chunk. No other blank ends an address for every Markdown viewer. */
const SEPARATORS = /[ \t\r\n](?:.*[ \t\r\n])?/s;
/** Marks of math that are no part of words. */
const MATH_MARKS = "{}[]^=\\&<>";
/** Start of an address that includes later strings of JSON for a program that treats JSON as plain text. */
const ADDRESS_START = /\/\/$|www\.$/;
const LETTERS = /^\p{L}+$/u;
const FIRST_LETTER = /^\p{L}/u;

const getSizeAt = (text: string, index: number): number => ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1);
const getCharacterAt = (text: string, index: number): string => text.slice(index, index + getSizeAt(text, index));

/** Surrogate in a chunk that has not ended yet. */
interface PendingSurrogate {
  readonly written: string;
  readonly original: string;
  /** Reason for which its region forbids restoring it. */
  readonly reason: SkipReason | undefined;
  /** Whether the rest of its chunk may forbid restoring it. */
  readonly inChunk: boolean;
  /** Number of code points of the chunk before it. */
  readonly index: number;
}

interface FormMatch {
  readonly form: SurrogateForm | undefined;
  readonly end: number;
  /** Pair whose surroundings the reply repeats. */
  readonly quotedPair: SurrogatePair | undefined;
}

/** @internal Index of all forms of all surrogates. */
export interface FormIndex {
  readonly forms: ReadonlyMap<string, SurrogateForm | undefined>;
  /** Prefixes of the forms. */
  readonly prefixes: ReadonlySet<string>;
  readonly quotations: QuotationIndex;
  /** Rules of the language. */
  readonly rules: ReplyRules;
  /** Whether some forms are numbers that replace other numbers. */
  readonly hasNumbers: boolean;
  /** Whether some surrogates are tags, such as `[person 1]`. */
  readonly hasTags: boolean;
}

/**
 * Restoring of one reply that arrives in parts. The result does not depend on the split; but active content blocks
 * only surrogates that were not yet written when it was detected.
 */
export class StreamRestorer {
  readonly #restored: string[] = [];
  readonly #notRestored: NotRestored[] = [];
  readonly #numbers: NumberFinder | undefined;
  readonly #tags: TagFinder | undefined;
  readonly #index: FormIndex;
  readonly #segmenter: Segmenter;
  readonly #policy: RestorePolicy;
  readonly #scanner = new RegionScanner();
  readonly #active = new ActiveContentDetector();
  #chunk = new ReplyChunk();
  #pending: (string | PendingSurrogate)[] = [];
  #output: string[] = [];
  #undecided = "";
  #lookbehind = "";
  #codeBlock = "";
  #region: Region | undefined;
  #lastCharacters = "";
  #inAddress = false;
  /** Whether the beginning of the reply is no longer stored. */
  #isCut = false;
  /** First half of a character whose second half is in the next part. */
  #highSurrogate = "";

  /** @internal */
  constructor(index: FormIndex, segmenter: Segmenter, policy: RestorePolicy, sanitized?: string) {
    this.#numbers = index.hasNumbers && sanitized !== undefined ? new NumberFinder(sanitized) : undefined;
    this.#tags = index.hasTags ? new TagFinder() : undefined;
    this.#index = index;
    this.#segmenter = segmenter;
    this.#policy = policy;
  }

  /** Report on the surrogates that were found in the text so far. */
  get report(): RestoreReport {
    const numbers = this.#numbers?.findUnknown() ?? [];
    return new RestoreReport([...this.#restored], [...this.#notRestored], numbers, [...(this.#tags?.tags ?? [])]);
  }

  /** Read the next part of a reply, and return the text that is ready. `close` returns the rest. */
  feed(delta: string): string {
    if (typeof delta !== "string") throw new InputError("the reply must be a string");
    const text = this.#highSurrogate + delta;
    const whole = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#highSurrogate = text.slice(whole);
    return this.#releaseDecided(text.slice(0, whole), false);
  }

  /** End the reply and return the rest of its text. */
  close(): string {
    const half = this.#highSurrogate;
    this.#highSurrogate = "";
    return this.#releaseDecided(half, true);
  }

  #releaseDecided(delta: string, isFinal: boolean): string {
    if (!this.#policy.permitsEverything) this.#active.feed(delta);
    const text = this.#lookbehind + this.#undecided + delta;
    const start = this.#lookbehind.length;
    let [done, position, index] = [start, start, text.length];
    for (;;) {
      START.lastIndex = position;
      index = START.exec(text)?.index ?? text.length;
      if (index === text.length) break;
      const formMatch = this.#findLongestForm(text, index, isFinal);
      if (formMatch === "more") break;
      position = index + getSizeAt(text, index);
      if (formMatch !== undefined) {
        this.#readText(text.slice(done, index));
        this.#readForm(text, index, formMatch);
        done = position = formMatch.end;
      }
    }
    this.#readText(text.slice(done, index));
    if (isFinal) {
      this.#numbers?.endText();
      this.#endChunk();
    }
    this.#codeBlock = this.#findCodeBlock(text.slice(start, index));
    const lookbehind = getLast(text.slice(0, index), LOOKBEHIND_CHARACTERS).join("");
    this.#isCut ||= lookbehind.length < index;
    this.#lookbehind = lookbehind;
    this.#undecided = text.slice(index);
    const out = this.#output.join("");
    this.#output = [];
    return out;
  }

  /** Read text that contains no surrogate. */
  #readText(text: string): void {
    this.#numbers?.feed(text);
    this.#tags?.feed(text);
    const blank = this.#scanner.awaitsOutcome ? SEPARATORS.exec(text) : null;
    const end = blank === null ? 0 : blank.index + 1; // a blank ends the chunk, which decides on its tags
    if (end > 0) this.#readParts(text.slice(0, end));
    this.#readParts(text.slice(end));
  }

  /** Add text without surrogates to the chunk and to the output, and update the regions. */
  #readParts(text: string): void {
    if (this.#policy.permitsEverything) {
      this.#output.push(text);
    } else if (this.#policy.places.size > 0) {
      for (const character of text) {
        const region = this.#scanner.readCharacter(character);
        const isMark = region === "math" ? MATH_MARKS.includes(character) : region === "code" && character === "`";
        this.#noteAddress(character);
        this.#readCharacter(character, isMark ? "ignored" : this.#scanner.role);
      }
    } else if (text !== "") {
      this.#scanner.feed(text);
      const blanks = SEPARATORS.exec(text);
      if (blanks === null) {
        this.#addToChunk(text);
        return;
      }
      this.#addToChunk(text.slice(0, blanks.index));
      this.#endChunk();
      this.#output.push(blanks[0]);
      this.#chunk.followsTab = blanks[0].endsWith("\t");
      this.#addToChunk(text.slice(blanks.index + blanks[0].length));
    }
  }

  /** Record whether this chunk contains the start of an address for programs that treat JSON as plain text. */
  #noteAddress(character: string): void {
    if (SEPARATORS.test(character)) {
      this.#lastCharacters = "";
      this.#inAddress = false;
    } else if (character !== "\\") {
      this.#lastCharacters = (this.#lastCharacters + character.toLowerCase()).slice(-4);
      this.#inAddress ||= ADDRESS_START.test(this.#lastCharacters);
    }
  }

  /** Add one character to the chunk, or end the chunk. Marks of JSON end a chunk like blanks. */
  #readCharacter(character: string, role: JsonRole): void {
    if (role === "separator" || SEPARATORS.test(character)) {
      this.#endChunk();
      this.#chunk.followsTab = character === "\t";
      this.#output.push(character);
    } else if (role === "ignored") {
      this.#append(character);
    } else {
      this.#addToChunk(character);
      if (role === "spoiler") this.#chunk.spoiled = true;
    }
    if (this.#chunk.spoiled) this.#giveUpChunk();
  }

  #addToChunk(text: string): void {
    if (text === "") return;
    this.#append(text);
    this.#chunk.addText(text);
    if (this.#chunk.spoiled) this.#giveUpChunk();
  }

  #append(text: string): void {
    if (this.#policy.hosts.size > 0) this.#chunk.storeText(text);
    (this.#pending.length > 0 ? this.#pending : this.#output).push(text);
  }

  /** Write out a chunk in which nothing can be restored, unless it may be an address of a permitted host. */
  #giveUpChunk(): void {
    this.#settleTags(false);
    if (this.#pending.length > 0 && (this.#policy.hosts.size === 0 || this.#chunk.isTooLong)) this.#flushChunk();
  }

  /** Inform the region scanners whether the tags of the chunk, such as `[city 1]`, were replaced. */
  #settleTags(isReplaced: boolean): void {
    if (this.#scanner.awaitsOutcome) this.#scanner.settleTag(isReplaced);
  }

  #endChunk(): void {
    if (this.#chunk.length === 0) return;
    this.#chunk.end();
    if (this.#pending.length > 0) this.#flushChunk();
    else this.#settleTags(!this.#chunk.spoiled);
    this.#chunk = new ReplyChunk();
  }

  #flushChunk(): void {
    const isComplete = this.#policy.hosts.size > 0 && !this.#chunk.isTooLong;
    const path = isComplete ? this.#policy.findBarePath(this.#chunk.text) : undefined;
    const address = this.#findAddress();
    const keptCount = this.#notRestored.length;
    for (const part of this.#pending) {
      const isBlocked = address !== undefined && part !== address;
      this.#output.push(typeof part === "string" ? part : this.#settleSurrogate(part, path, isBlocked));
    }
    this.#pending = [];
    this.#settleTags(this.#notRestored.length === keptCount);
  }

  /** Return the pending surrogate whose original looks like an address; it must be the only original of its chunk. */
  #findAddress(): string | PendingSurrogate | undefined {
    if (this.#chunk.spoiled) return undefined;
    return this.#pending.find(
      (part) => typeof part !== "string" && part.reason === undefined && part.inChunk && isAddressLike(part.original),
    );
  }

  /** Return the original of a pending surrogate; or the surrogate, after recording why it is not restored. */
  #settleSurrogate(
    { written, original, reason, inChunk, index }: PendingSurrogate,
    path: readonly [number, number] | undefined,
    isBlocked: boolean,
  ): string {
    let skipReason: SkipReason | undefined = this.#active.detected ? "active" : reason;
    const inPath = path !== undefined && index >= path[0] && index < path[1];
    if (skipReason === undefined && inChunk && (isBlocked || (this.#chunk.spoiled && !inPath))) skipReason = "chunk";
    if (skipReason !== undefined) {
      this.#notRestored.push({ written, reason: skipReason });
      return written;
    }
    this.#restored.push(written);
    return original;
  }

  /** Restore the form of a surrogate at `index`, or hold it back until its chunk ends. */
  #readForm(text: string, index: number, formMatch: FormMatch): void {
    const { end } = formMatch;
    const written = text.slice(index, end);
    this.#numbers?.endText();
    this.#tags?.endText();
    if (this.#policy.permitsEverything) {
      const original = this.#makeOriginal(text, index, formMatch);
      if (original !== undefined) this.#restored.push(written);
      this.#output.push(original ?? written);
      return;
    }
    const scanner = this.#scanner;
    const characters = [...written];
    let enclosure = scanner.enclosure;
    scanner.lines.beginSurrogate();
    let roles: JsonRole[] = [];
    let firstRegion: Region = "prose";
    let reason: SkipReason | undefined;
    if (scanner.readProse(written)) {
      this.#region = "prose";
      if (enclosure !== undefined && !this.#policy.places.has(enclosure)) reason = enclosure;
    } else {
      let isPermittedLink = false;
      if (written.startsWith("[")) scanner.beginTag();
      for (const [at, character] of characters.entries()) {
        const region = scanner.readCharacter(character);
        if (at === 0) {
          firstRegion = region;
          isPermittedLink =
            region === "link" && this.#policy.allowsLink(removeLastCharacter(scanner.destination, character));
          this.#region = firstRegion;
          if (scanner.isIndented) enclosure ??= "code"; // known from the first character of a line on
        }
        roles.push(scanner.role);
        const isPermitted = this.#policy.places.has(region) && !scanner.isSealed;
        if (region !== "prose" && !isPermitted && reason === undefined) {
          this.#region = reason = region;
        }
      }
      if (enclosure !== undefined && !this.#policy.places.has(enclosure)) reason ??= enclosure;
      if (isPermittedLink) reason = undefined;
    }
    scanner.markSurrogate();
    const original = this.#makeOriginal(text, index, formMatch);
    if (original === undefined) {
      if (roles.length === 0) roles = characters.map(() => "text");
      for (const [at, character] of characters.entries()) this.#readCharacter(character, roles[at] ?? "text");
      return;
    }
    const isCertainCode = firstRegion === "code" && scanner.isInCertainFence;
    const inChunk = !isCertainCode && !(firstRegion === "link" && reason === undefined);
    this.#pending.push({ written, original, reason, inChunk, index: this.#chunk.length });
    if (this.#policy.hosts.size > 0) this.#chunk.storeText(written);
    this.#chunk.addSurrogate(characters.length);
    if (roles.includes("spoiler") || (this.#inAddress && firstRegion === "json")) this.#chunk.spoiled = true;
    if (this.#chunk.spoiled) this.#giveUpChunk();
    else if (reason === undefined && firstRegion === "prose" && written.endsWith("]") && !original.endsWith("]"))
      scanner.markTag();
  }

  /** Return the longest form that begins at an index and ends at the end of a word; `more` if later text decides. */
  #findLongestForm(text: string, index: number, isFinal: boolean): FormMatch | "more" | undefined {
    const { forms, quotations, rules } = this.#index;
    const matches: { form: SurrogateForm | undefined; end: number; folded: string }[] = [];
    let [folded, blanks, at] = ["", 0, index];
    for (;;) {
      if (at >= text.length) {
        if (!isFinal) return "more";
        break;
      }
      const character = getCharacterAt(text, at);
      const isWhite = WHITE_CHARACTER.test(character);
      if (blanks > 0 && (isWhite || character === ">")) {
        if (++blanks > MAX_BLANKS) break;
        at += character.length;
        continue;
      }
      blanks = isWhite ? 1 : 0;
      folded += isWhite ? " " : foldText(character);
      if (!this.#index.prefixes.has(folded)) break;
      at += character.length;
      if (forms.has(folded)) matches.push({ form: forms.get(folded), end: at, folded });
    }
    let separateMatch: FormMatch | undefined;
    for (const { form, end, folded } of matches.reverse()) {
      // What follows a mark is not known.
      if (!isFinal && end + getSizeAt(text, end) >= text.length) return "more";
      if (form && folded.endsWith("'") && isInflection(form) && !precedesWord(text, index, end)) continue;
      const isSeparate = isSeparateWord(text, index, end, rules.clitics);
      if (quotations.has(folded)) {
        const quotedPair = this.#findQuotation(folded, text, index, end, isFinal, isSeparate);
        if (quotedPair === "more") return "more";
        if (quotedPair !== undefined) return { form, end, quotedPair };
      }
      if (separateMatch === undefined && isSeparate) {
        const { output, lead = 0, weak = false } = form?.pair ?? { output: "" };
        const matchEnd = lead > 0 ? findEnd(text, index, foldText(getFirst(output, lead).join(""))) : end;
        separateMatch = { form, end: matchEnd, quotedPair: undefined };
        if (form !== undefined && lead === 0 && !weak) break;
      }
    }
    return separateMatch;
  }

  /** Look up the surroundings of a surrogate of the reply. */
  #findQuotation(folded: string, text: string, index: number, end: number, isFinal: boolean, isSeparate: boolean) {
    const preceding = text.slice(Math.max(0, index - 2 * LOOKBEHIND_CHARACTERS), index);
    const nearText = getLast(preceding, LOOKBEHIND_CHARACTERS).join("");
    const isStart = !this.#isCut && nearText.length === index;
    const following = getFirst(text.slice(end, end + 2 * LOOKAHEAD_CHARACTERS + 2), LOOKAHEAD_CHARACTERS + 1).join("");
    return this.#index.quotations.findQuotation(folded, cutBefore(nearText, isStart), following, isFinal, isSeparate);
  }

  /** Return the first characters after the last code fence, which show whether a block of code is JSON. */
  #findCodeBlock(text: string): string {
    if (this.#codeBlock.length > HEAD_CHARACTERS && !text.includes("`") && !this.#codeBlock.endsWith("`"))
      return this.#codeBlock;
    const all = this.#codeBlock + text;
    const fence = all.lastIndexOf(FENCE);
    const block = (fence < 0 ? all : all.slice(fence + FENCE.length)).replace(/^`+/, "");
    return block.length <= HEAD_CHARACTERS
      ? block
      : `${block.slice(0, HEAD_CHARACTERS)}\0${block.slice(-FENCE.length)}`;
  }

  /** Return the original in the same form as the surrogate in the reply. */
  #makeOriginal(text: string, index: number, { form: matchedForm, end, quotedPair }: FormMatch): string | undefined {
    const written = text.slice(index, end);
    const form: SurrogateForm | undefined =
      quotedPair === undefined ? matchedForm : { text: written, pair: quotedPair, notation: "" };
    if (form === undefined) {
      this.#notRestored.push({ written, reason: "ambiguous" });
      return undefined;
    }
    const { output, weak = false, before = "" } = form.pair;
    const spaced = written.replace(BLANKS, " ");
    const name = isElision(form) ? splitElision(spaced)[1] : written;
    const isOrdinaryWord = form.notation === BARE_TAG || (LETTERS.test(name) && isLower(name) && !isLower(output));
    const isUnquoted = quotedPair === undefined;
    if (
      isUnquoted &&
      (isOrdinaryWord || (weak && (before === "" || before !== findWordBefore(text.slice(0, index)))))
    ) {
      this.#notRestored.push({ written, reason: "word" });
      return undefined;
    }
    let original = inflectOriginal(form, spaced, this.#segmenter, this.#index.rules);
    if (/["\\\u0000-\u001f]/.test(original) && this.#isInJson(text.slice(this.#lookbehind.length, index))) {
      original = original.replace(/["\\\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1));
    }
    const blanks = written.match(BLANKS) ?? [];
    const words = original.split(" ");
    if (words.length !== 1 + blanks.length) return original;
    return words.map((word, index) => word + (blanks[index] ?? "")).join("");
  }

  /** Return whether the surrogate at `index` is in JSON, or in a block of code that begins like JSON. */
  #isInJson(before: string): boolean {
    if (this.#region === undefined || this.#region === "code") return JSON_START.test(this.#findCodeBlock(before));
    return this.#region === "json";
  }
}

/** Return whether the apostrophe at the end of a form is no closing quotation mark: `Hans' Antrag`. */
const precedesWord = (text: string, index: number, end: number): boolean =>
  WHITE_CHARACTER.test(getCharacterAt(text, end)) &&
  FIRST_LETTER.test(text.slice(end + 1, end + 3)) &&
  !/['\u2018\u2019\u201a\u201b]/.test(text.charAt(index - 1));

/** Return the end of the text whose folded form is `part`. */
function findEnd(text: string, index: number, part: string): number {
  let [folded, at] = ["", index];
  while (folded.length < part.length && at < text.length) {
    const character = getCharacterAt(text, at);
    folded += WHITE_CHARACTER.test(character) ? " " : foldText(character);
    at += character.length;
  }
  return at;
}

/** Return a link destination without the first character of a surrogate at its end. */
function removeLastCharacter(destination: string | undefined, first: string): string | undefined {
  return destination?.endsWith(first) ? destination.slice(0, -first.length) : destination;
}
