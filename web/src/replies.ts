/** Finds forms of what came out in a reply, as it comes in, and puts originals there: one engine for all replies. */

import { ActiveContentDetector } from "./active.js";
import { Chunk, isAddressLike } from "./chunks.js";
import { MOST_BLANKS } from "./constants.js";
import { InputError } from "./errors.js";
import { BARE_TAG, BEHIND, type Form, folded, originalOf, type Pair, wordBefore } from "./forms.js";
import type { RestorePolicy, SkipReason } from "./policy.js";
import { type Region, type Role, Scanner } from "./regions.js";
import { type NotRestored, RestoreReport } from "./restored.js";
import type { Cutter } from "./segments.js";
import { AHEAD, cutBefore, firstOf, lastOf, type QuotationIndex, standsAlone } from "./surroundings.js";
import { NumberFinder } from "./unknownNumbers.js";
import { isLower, WHITE } from "./words.js";

/** Where a form may begin: at a word, or at a mark. */
const START = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[nrt])(?<!\\\\\\\\[nrt]))[\\p{L}\\p{N}]|[^\\p{L}\\p{N}_${WHITE}]`,
  "gu",
);
/** What begins as JSON does: a reply, or a block of code of it; so much of it tells. */
const JSON_BEGINS = new RegExp(`^[${WHITE}]*(?:json[${WHITE}]+)?(?:\\{[${WHITE}]*["}]|\\[[${WHITE}]*[\\[{"])`, "iu");
const FENCE = "```";
const HEAD = 80;
const WHITE_ALONE = new RegExp(`^[${WHITE}]$`);
const BLANKS = new RegExp(`[${WHITE}][${WHITE}>]*`, "g");
/** What ends a chunk: no other blank ends an address for every reader of Markdown. */
const SEPARATORS = /[ \t\r\n](?:.*[ \t\r\n])?/s;
/** Marks of math that are no part of words. */
const MATH_MARKS = "{}[]^=\\&<>";
/** What an address has that takes in the strings of JSON behind it, for a reader of text. */
const ADDRESS_START = /\/\/$|www\.$/;
const LETTERS = /^\p{L}+$/u;

const sizeAt = (text: string, place: number): number => ((text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1);
const charAt = (text: string, place: number): string => text.slice(place, place + sizeAt(text, place));

/** A surrogate whose chunk is not closed yet. */
interface Candidate {
  readonly written: string;
  readonly original: string;
  /** Why its place keeps it, if it does. */
  readonly reason: SkipReason | undefined;
  /** Whether the rest of its chunk decides too. */
  readonly inChunk: boolean;
  /** Code points of the chunk before it. */
  readonly place: number;
}

interface Found {
  readonly form: Form | undefined;
  readonly end: number;
  /** The pair whose surroundings the reply repeats. */
  readonly quoted: Pair | undefined;
}

/** @internal All that a stream looks for. */
export interface FormIndex {
  readonly forms: ReadonlyMap<string, Form | undefined>;
  /** The beginnings of the forms. */
  readonly begins: ReadonlySet<string>;
  readonly quotations: QuotationIndex;
  /** Whether some forms are numbers that stand for other numbers. */
  readonly hasNumbers: boolean;
}

/**
 * Puts originals into one reply that comes in parts. The result is the same however it is cut; but active content
 * keeps only surrogates that are not out yet when it comes.
 */
export class RestoreStream {
  readonly #restored: string[] = [];
  readonly #notRestored: NotRestored[] = [];
  readonly #numbers: NumberFinder | undefined;
  readonly #index: FormIndex;
  readonly #cutter: Cutter;
  readonly #policy: RestorePolicy;
  readonly #scanner = new Scanner();
  readonly #active = new ActiveContentDetector();
  #chunk = new Chunk();
  #pending: (string | Candidate)[] = [];
  #out: string[] = [];
  #held = "";
  #behind = "";
  #block = "";
  #region: Region | undefined;
  #run = "";
  #inAddress = false;
  /** Whether the beginning of the reply is no longer remembered. */
  #isCut = false;
  /** Half of a character, whose other half comes next. */
  #half = "";

  /** @internal */
  constructor(index: FormIndex, cutter: Cutter, policy: RestorePolicy, sanitized = "") {
    this.#numbers = index.hasNumbers ? new NumberFinder(sanitized) : undefined;
    this.#index = index;
    this.#cutter = cutter;
    this.#policy = policy;
  }

  /** What became of the surrogates so far. */
  get report(): RestoreReport {
    return new RestoreReport([...this.#restored], [...this.#notRestored], this.#numbers?.findUnknown() ?? []);
  }

  /** Takes the next part of a reply; returns what is decided of it. */
  feed(delta: string): string {
    if (typeof delta !== "string") throw new InputError("the reply is not a string");
    const text = this.#half + delta;
    const whole = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#half = text.slice(whole);
    return this.#read(text.slice(0, whole), false);
  }

  /** Returns the rest. */
  close(): string {
    const half = this.#half;
    this.#half = "";
    return this.#read(half, true);
  }

  #read(delta: string, final: boolean): string {
    if (!this.#policy.everywhere) this.#active.feed(delta);
    const text = this.#behind + this.#held + delta;
    const start = this.#behind.length;
    let [done, position, place] = [start, start, text.length];
    for (;;) {
      START.lastIndex = position;
      place = START.exec(text)?.index ?? text.length;
      if (place === text.length) break;
      const found = this.#longest(text, place, final);
      if (found === "more") break;
      position = place + sizeAt(text, place);
      if (found !== undefined) {
        this.#readText(text.slice(done, place));
        this.#readForm(text, place, found);
        done = position = found.end;
      }
    }
    this.#readText(text.slice(done, place));
    if (final) {
      this.#numbers?.end();
      this.#endChunk();
    }
    this.#block = this.#blockUntil(text.slice(start, place));
    const behind = lastOf(text.slice(0, place), BEHIND).join("");
    this.#isCut ||= behind.length < place;
    this.#behind = behind;
    this.#held = text.slice(place);
    const out = this.#out.join("");
    this.#out = [];
    return out;
  }

  /** Reads text that is no surrogate. */
  #readText(text: string): void {
    this.#numbers?.feed(text);
    const blank = this.#scanner.awaitsOutcome ? SEPARATORS.exec(text) : null;
    const end = blank === null ? 0 : blank.index + 1; // a blank ends the chunk, which decides on its tags
    if (end > 0) this.#readParts(text.slice(0, end));
    this.#readParts(text.slice(end));
  }

  /** Reads text without a surrogate, all of it by one view of the regions. */
  #readParts(text: string): void {
    if (this.#policy.everywhere) {
      this.#out.push(text);
    } else if (this.#policy.places.size > 0) {
      for (const character of text) {
        const region = this.#scanner.step(character);
        const mark = region === "math" ? MATH_MARKS.includes(character) : region === "code" && character === "`";
        this.#noteAddress(character);
        this.#readCharacter(character, mark ? "ignored" : this.#scanner.role);
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
      this.#out.push(blanks[0]);
      this.#chunk.behindTab = blanks[0].endsWith("\t");
      this.#addToChunk(text.slice(blanks.index + blanks[0].length));
    }
  }

  /** Notes whether the characters since the last blank have begun an address for a reader of text. */
  #noteAddress(character: string): void {
    if (SEPARATORS.test(character)) {
      this.#run = "";
      this.#inAddress = false;
    } else if (character !== "\\") {
      this.#run = (this.#run + character.toLowerCase()).slice(-4);
      this.#inAddress ||= ADDRESS_START.test(this.#run);
    }
  }

  /** Reads one character where marks of JSON end chunks. */
  #readCharacter(character: string, role: Role): void {
    if (role === "separator" || SEPARATORS.test(character)) {
      this.#endChunk();
      this.#chunk.behindTab = character === "\t";
      this.#out.push(character);
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
    this.#chunk.add(text);
    if (this.#chunk.spoiled) this.#giveUpChunk();
  }

  #append(text: string): void {
    if (this.#policy.hosts.size > 0) this.#chunk.remember(text);
    (this.#pending.length > 0 ? this.#pending : this.#out).push(text);
  }

  /** Lets out a chunk that holds no original, unless it may be an address that may have one. */
  #giveUpChunk(): void {
    this.#settleTags(false);
    if (this.#pending.length > 0 && (this.#policy.hosts.size === 0 || this.#chunk.tooLong)) this.#flush();
  }

  /** Informs the scanner whether the chunk restores its tags. */
  #settleTags(isReplaced: boolean): void {
    if (this.#scanner.awaitsOutcome) this.#scanner.settleTag(isReplaced);
  }

  #endChunk(): void {
    if (this.#chunk.length === 0) return;
    this.#chunk.end();
    if (this.#pending.length > 0) this.#flush();
    else this.#settleTags(!this.#chunk.spoiled);
    this.#chunk = new Chunk();
  }

  #flush(): void {
    const known = this.#policy.hosts.size > 0 && !this.#chunk.tooLong;
    const path = known ? this.#policy.findBarePath(this.#chunk.text) : undefined;
    const address = this.#findAddress();
    const kept = this.#notRestored.length;
    for (const part of this.#pending) {
      const joined = address !== undefined && part !== address;
      this.#out.push(typeof part === "string" ? part : this.#settle(part, path, joined));
    }
    this.#pending = [];
    this.#settleTags(this.#notRestored.length === kept);
  }

  /** The surrogate whose original looks like an address, if there is one: it stands alone in its chunk. */
  #findAddress(): string | Candidate | undefined {
    if (this.#chunk.spoiled) return undefined;
    return this.#pending.find(
      (part) => typeof part !== "string" && part.reason === undefined && part.inChunk && isAddressLike(part.original),
    );
  }

  /** Returns the original, or the surrogate and keeps the reason. */
  #settle(
    { written, original, reason, inChunk, place }: Candidate,
    path: readonly [number, number] | undefined,
    joined: boolean,
  ): string {
    let found: SkipReason | undefined = this.#active.detected ? "active" : reason;
    const inPath = path !== undefined && place >= path[0] && place < path[1];
    if (found === undefined && inChunk && (joined || (this.#chunk.spoiled && !inPath))) found = "chunk";
    if (found !== undefined) {
      this.#notRestored.push({ written, reason: found });
      return written;
    }
    this.#restored.push(written);
    return original;
  }

  /** Reads a form of a surrogate. */
  #readForm(text: string, place: number, found: Found): void {
    const { end } = found;
    const written = text.slice(place, end);
    this.#numbers?.end();
    if (this.#policy.everywhere) {
      const original = this.#put(text, place, found);
      if (original !== undefined) this.#restored.push(written);
      this.#out.push(original ?? written);
      return;
    }
    const scanner = this.#scanner;
    const characters = [...written];
    const enclosure = scanner.enclosure;
    let roles: Role[] = [];
    let first: Region = "prose";
    let reason: SkipReason | undefined;
    if (scanner.readProse(written)) {
      this.#region = "prose";
      reason = enclosure;
    } else {
      let opened = false;
      if (written.startsWith("[")) scanner.beginTag();
      for (const [at, character] of characters.entries()) {
        const region = scanner.step(character);
        if (at === 0) {
          first = region;
          opened = region === "link" && this.#policy.allowsLink(before(scanner.destination, character));
          this.#region = first;
        }
        roles.push(scanner.role);
        const open = this.#policy.places.has(region) && !scanner.isSealed;
        if (region !== "prose" && !open && reason === undefined) {
          this.#region = reason = region;
        }
      }
      reason = opened ? undefined : (reason ?? enclosure);
    }
    scanner.markSurrogate();
    const original = this.#put(text, place, found);
    if (original === undefined) {
      if (roles.length === 0) roles = characters.map(() => "text");
      for (const [at, character] of characters.entries()) this.#readCharacter(character, roles[at] ?? "text");
      return;
    }
    const certain = first === "code" && scanner.inCertainFence;
    const inChunk = !certain && !(first === "link" && reason === undefined);
    this.#pending.push({ written, original, reason, inChunk, place: this.#chunk.length });
    if (this.#policy.hosts.size > 0) this.#chunk.remember(written);
    this.#chunk.addSurrogate(characters.length);
    if (roles.includes("spoiler") || (this.#inAddress && first === "json")) this.#chunk.spoiled = true;
    if (this.#chunk.spoiled) this.#giveUpChunk();
    else if (reason === undefined && first === "prose" && written.endsWith("]") && !original.endsWith("]"))
      scanner.markTag();
  }

  /** The longest form that begins at a place and ends where a word does; `more` where it is not known yet. */
  #longest(text: string, place: number, final: boolean): Found | "more" | undefined {
    const { forms, quotations } = this.#index;
    const found: { form: Form | undefined; end: number; read: string }[] = [];
    let [read, blanks, at] = ["", 0, place];
    for (;;) {
      if (at >= text.length) {
        if (!final) return "more";
        break;
      }
      const character = charAt(text, at);
      const white = WHITE_ALONE.test(character);
      if (blanks > 0 && (white || character === ">")) {
        if (++blanks > MOST_BLANKS) break;
        at += character.length;
        continue;
      }
      blanks = white ? 1 : 0;
      read += white ? " " : folded(character);
      if (!this.#index.begins.has(read)) break;
      at += character.length;
      if (forms.has(read)) found.push({ form: forms.get(read), end: at, read });
    }
    let alone: Found | undefined;
    for (const { form, end, read } of found.reverse()) {
      // What follows a mark is not known.
      if (!final && end + sizeAt(text, end) >= text.length) return "more";
      const isAlone = standsAlone(text, place, end);
      if (quotations.has(read)) {
        const quoted = this.#findQuotation(read, text, place, end, final, isAlone);
        if (quoted === "more") return "more";
        if (quoted !== undefined) return { form, end, quoted };
      }
      if (alone === undefined && isAlone) {
        const { output, lead = 0, weak = false } = form?.pair ?? { output: "" };
        const lastOfIt = lead > 0 ? endOf(text, place, folded(firstOf(output, lead).join(""))) : end;
        alone = { form, end: lastOfIt, quoted: undefined };
        if (form !== undefined && lead === 0 && !weak) break;
      }
    }
    return alone;
  }

  /** Looks up what stands before and behind a surrogate of the reply. */
  #findQuotation(read: string, text: string, place: number, end: number, final: boolean, isAlone: boolean) {
    const behind = text.slice(Math.max(0, place - 2 * BEHIND), place);
    const near = lastOf(behind, BEHIND).join("");
    const isStart = !this.#isCut && near.length === place;
    const rest = firstOf(text.slice(end, end + 2 * AHEAD + 2), AHEAD + 1).join("");
    return this.#index.quotations.find(read, cutBefore(near, isStart), rest, final, isAlone);
  }

  /** How the block of code, or what is outside of one, began that a text ends in. */
  #blockUntil(text: string): string {
    if (this.#block.length > HEAD && !text.includes("`") && !this.#block.endsWith("`")) return this.#block;
    const all = this.#block + text;
    const fence = all.lastIndexOf(FENCE);
    const block = (fence < 0 ? all : all.slice(fence + FENCE.length)).replace(/^`+/, "");
    return block.length <= HEAD ? block : `${block.slice(0, HEAD)}\0${block.slice(-FENCE.length)}`;
  }

  /** The original in the form of a surrogate; nothing where that may be a word of the reply, or is ambiguous. */
  #put(text: string, place: number, { form: known, end, quoted }: Found): string | undefined {
    const written = text.slice(place, end);
    const form = quoted === undefined ? known : { text: written, pair: quoted, way: "" };
    if (form === undefined) {
      this.#notRestored.push({ written, reason: "ambiguous" });
      return undefined;
    }
    const { output, weak = false, before = "" } = form.pair;
    const ordinary = form.way === BARE_TAG || (LETTERS.test(written) && isLower(written) && !isLower(output));
    const isKept = quoted === undefined;
    if (isKept && (ordinary || (weak && (before === "" || before !== wordBefore(text.slice(0, place)))))) {
      this.#notRestored.push({ written, reason: "word" });
      return undefined;
    }
    let original = originalOf(form, written.replace(BLANKS, " "), this.#cutter);
    if (/["\\]/.test(original) && this.#isInJson(text.slice(this.#behind.length, place))) {
      original = original.replace(/["\\\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1));
    }
    const blanks = written.match(BLANKS) ?? [];
    const words = original.split(" ");
    if (words.length !== 1 + blanks.length) return original;
    return words.map((word, place) => word + (blanks[place] ?? "")).join("");
  }

  /** Whether the last surrogate stands in JSON, or in a block of code that begins as JSON does. */
  #isInJson(before: string): boolean {
    if (this.#region === undefined || this.#region === "code") return JSON_BEGINS.test(this.#blockUntil(before));
    return this.#region === "json";
  }
}

/** Where a folded text that a text has at a place ends in it. */
function endOf(text: string, place: number, part: string): number {
  let [read, at] = ["", place];
  while (read.length < part.length && at < text.length) {
    const character = charAt(text, at);
    read += WHITE_ALONE.test(character) ? " " : folded(character);
    at += character.length;
  }
  return at;
}

/** A destination without the first character of a surrogate, which the scanner has read already. */
function before(destination: string | undefined, first: string): string | undefined {
  return destination?.endsWith(first) ? destination.slice(0, -first.length) : destination;
}
