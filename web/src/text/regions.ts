/**
 * Scanner that distinguishes running text from code, math, JSON, links and markup, character by character
 * (docs/restoring.md). If programs that display Markdown disagree on a character, it does not count as running text.
 * Each character gets its region when it is read, so the result does not depend on how a stream is split.
 */

import { countTilde, readFence, readInline, resolveRuns } from "./codeRegions.js";
import { beginsBlock } from "./harmlessTags.js";
import { endDefinition, endsDefinition, openMath, readAngle, readCommand, readEnd, readLink } from "./linkRegions.js";
import {
  BLOCK_MATH,
  BLOCKS,
  BODY,
  FENCE_LENGTH,
  isBlank,
  isLinkKind,
  MATH,
  MAX_DESTINATION_LENGTH,
  NO_FENCE,
  NONE,
  type OpenRegion,
  opensMarkup,
  type Region,
  RegionState,
  START,
  TITLE,
} from "./regionState.js";

/** Runs of characters in which no region begins or ends. */
const PLAIN = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`$\\[\]{}<]+/y;
const PLAIN_CODE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`<|\\[\]{}]+/y;
const PLAIN_LINE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]+/y;
/** Characters that some Markdown programs remove or treat as a line end (see regions.py). */
const DISPUTED = /^[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]$/;
/** Characters of an address, in any scheme, that programs detect in text. */
const IN_ADDRESS = /[.:@]|\/\//;
const HEX = /^[0-9a-fA-F]$/;
const ESCAPED_BLANKS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const OUTSIDE_STRINGS = /^[{}[\],:"+\-.0-9A-Za-z \t\r\n]$/;

/** Assigns a region to each character of a text that arrives in parts. */
export class RegionScanner extends RegionState {
  /** Region that open brackets or the line give to a word at this position; `undefined` for running text. */
  get enclosure(): "link" | "markup" | "code" | undefined {
    if (this.openBrackets > 0) return "link";
    if (this.classMarks >= FENCE_LENGTH) return "markup";
    if (this.openBraces > 0 && (this.templateBraces > 0 || this.inAttributes || !this.bracesSpanLines)) return "markup";
    const beginsLine = this.phase === START && this.isEmptyLine && this.column <= (this.quotes > 0 ? 1 : 0);
    if (this.lines.isMarkup(beginsLine)) return "markup";
    if (this.lines.isCode) return "code";
    const openRegion = this.topRegion;
    return openRegion?.kind === "inline" && openRegion.depth > 0 ? "link" : openRegion?.inner?.enclosure;
  }

  /** Whether Markdown treats the line as code because of its indentation; also within a JSON string. */
  get isIndented(): boolean {
    return this.lines.isIndented || (this.topRegion?.inner?.isIndented ?? false);
  }

  /** Whether the last character is in a fenced block that every CommonMark viewer treats as code. */
  get isInCertainFence(): boolean {
    const openRegion = this.topRegion;
    return openRegion?.kind === "fence" && openRegion.started && !openRegion.uncertain;
  }

  /**
   * Whether no option permits the current region: the opening line of a fenced block, a block that programs display as
   * a picture, and text on which programs disagree.
   */
  get isSealed(): boolean {
    const openRegion = this.topRegion;
    if (openRegion?.inner !== undefined) return openRegion.inner.isSealed;
    if (openRegion?.kind === "fence") return !openRegion.started || openRegion.isPicture;
    return openRegion?.kind === "unknown";
  }

  /** The part of the open link's address that was read; `undefined` outside links or above 2,048 characters. */
  get destination(): string | undefined {
    const openRegion = this.topRegion;
    if (openRegion?.inner !== undefined) return openRegion.inner.destination;
    if (openRegion === undefined || !(isLinkKind(openRegion.kind) || openRegion.kind === "angle")) return undefined;
    return openRegion.length <= MAX_DESTINATION_LENGTH ? openRegion.destination : undefined;
  }

  /** Read more text. Afterward `region` and `role` describe its last character. */
  feed(text: string): void {
    this.#recordTagLink(text);
    let at = 0;
    while (at < text.length) {
      if (this.isTainted && this.openRegions.length === 0) {
        this.region = "markup";
        this.role = "text";
        return;
      }
      const pattern = this.phase === BODY ? this.#findSkippable() : undefined;
      if (pattern !== undefined) pattern.lastIndex = at;
      if (pattern?.test(text)) {
        if (this.openRegions.length === 0) {
          this.#noteAddress(text.slice(at, pattern.lastIndex));
          this.lines.readText(text.slice(at, pattern.lastIndex));
        }
        at = pattern.lastIndex;
        this.lastCharacter = text.charAt(at - 1);
        this.afterOddBackslashes = this.afterTag = false;
        this.role = "text";
        this.region = this.topRegion?.region ?? "prose";
        continue;
      }
      const character = (text.codePointAt(at) ?? 0) > 0xffff ? text.slice(at, at + 2) : text.charAt(at);
      this.#classifyCharacter(character);
      at += character.length;
    }
  }

  /** Read `text` if it is all prose and changes no state. Return whether it was read. */
  readProse(text: string): boolean {
    if (this.phase !== BODY || this.openRegions.length > 0 || this.isTainted || this.#findSkippable() === undefined)
      return false;
    PLAIN.lastIndex = 0;
    if (!PLAIN.test(text) || PLAIN.lastIndex < text.length) return false;
    this.feed(text);
    return true;
  }

  /** Prepare for a tag such as `[city 1]`, so that its bracket does not count as the start of JSON. */
  beginTag(): void {
    this.opener = "";
  }

  /**
   * Declare that the text so far ends with a tag that may be replaced, so that `[person 1]: ` and `[person 1](` begin no
   * link. At the end of the chunk, or earlier, the caller must pass to `settleTag` whether the tag was replaced.
   */
  markTag(): void {
    this.tag = true;
    this.bracketClosed = false;
  }

  /** Whether `settleTag` must be called, since regions depend on the replacement of the last tag. */
  get awaitsOutcome(): boolean {
    return this.tag || this.tagLink !== "";
  }

  /** Update the regions after the decision whether the last tag was replaced by its original. */
  settleTag(isReplaced: boolean): void {
    const text = this.tagLink;
    this.tagLink = "";
    if (isReplaced) return;
    this.bracketClosed ||= this.afterTag;
    this.tag = this.afterTag = false;
    if (text === "") return;
    // For a viewer that treats the text as a link, no region begins in it.
    if (this.openRegions.length > 0 || this.isTainted || text.includes("](")) {
      if (this.topRegion?.kind !== "unknown") this.giveUp("link");
    } else {
      this.#reopenLink([...text]);
    }
  }

  /** Open a link at the first character, and read all other characters inside the link. */
  #reopenLink(text: readonly string[]): void {
    const [state, opener, dollar, last] = [this.commandState, this.opener, this.dollar, this.lastCharacter];
    const openRegion = this.pushRegion("link", "link");
    for (const [at, character] of text.entries()) {
      if (at > 0) readLink(this, openRegion, character, false);
      if (this.topRegion !== openRegion) break;
      this.lastCharacter = character;
    }
    this.lastCharacter = last;
    if (this.openRegions.length > 0) return;
    this.commandState = state;
    this.opener = opener;
    this.dollar = dollar;
  }

  /** Store the text since a round bracket directly after a tag, for `settleTag`. */
  #recordTagLink(text: string): void {
    if (this.tagLink !== "" || (this.tag && text.startsWith("(") && this.openRegions.length === 0))
      this.tagLink += text;
  }

  /** Record that the text so far ends with a surrogate, whose original may be an address. */
  markSurrogate(): void {
    this.mayBeAddress = true;
    this.lines.endSurrogate();
  }

  /** Return a pattern of the characters that do not change this state; `undefined` if any may change it. */
  #findSkippable(): RegExp | undefined {
    const openRegion = this.topRegion;
    const last = this.lastCharacter;
    if (last === "\r" || this.escapedAngles > 0 || this.template > 0) return undefined;
    if (openRegion === undefined) {
      const busy = this.commandState || this.opener || this.dollar || this.tildes || this.tagColon;
      const line = this.bracketClosed || this.classMark;
      return busy || line || last === "]" || last === "<" || last === "" ? undefined : PLAIN;
    }
    if (openRegion.opening || openRegion.closing || this.tildes) return undefined;
    if (openRegion.kind === "inline" || (openRegion.kind === "fence" && openRegion.started)) {
      const busy =
        last === "<" || last === "]" || last === "\\" || last === "" || openRegion.tag !== "" || openRegion.escaped;
      return busy || (openRegion.kind === "fence" && (openRegion.depth || openRegion.quote)) ? undefined : PLAIN_CODE;
    }
    return openRegion.kind === "unknown" ? PLAIN_LINE : undefined;
  }

  /** Read one character and return its region. */
  readCharacter(character: string): Region {
    this.#recordTagLink(character);
    return this.#classifyCharacter(character);
  }

  #classifyCharacter(character: string): Region {
    this.role = "text";
    if (this.isTainted && this.openRegions.length === 0) {
      this.region = "markup";
      return this.region;
    }
    this.afterTag = this.tag;
    this.tag = false;
    if (this.tagColon) {
      this.tagColon = false;
      if (!isBlank(character)) this.pushRegion("definition", "link"); // its chunk may keep the tag, which defines a link
    }
    const atStart = this.phase === START && !isBlank(character) && character !== ">";
    this.readLineStart(character, atStart);
    resolveRuns(this, character);
    const loneReturn = this.lastCharacter === "\r" && character !== "\n"; // a line end for Markdown viewers
    if ((loneReturn || DISPUTED.test(character)) && this.topRegion?.kind !== "unknown") this.giveUp("markup");
    this.advanceLine(character);
    this.#countMarks(character);
    this.countClassMarks(character, atStart);
    this.countEscapedAngles(character);
    this.readTemplate(character);
    this.region = this.#readInRegion(character, atStart);
    const closed = character === "]" && !this.afterOddBackslashes;
    this.bracketClosed = closed || (this.bracketClosed && (character === " " || character === "\t"));
    if (character === "\n") this.#endLine();
    else if (this.phase === BODY) this.readInLine(character);
    else if (this.phase !== START) this.lines.readMark(character);
    // For a viewer that pairs that backtick, other text is code.
    if (this.hasStrayBacktick && this.openRegions.length === 0) this.giveUp("markup");
    if ((this.isTainted && this.openRegions.length === 0) || (this.template > 0 && this.region !== "code")) {
      this.region = "markup";
    }
    this.lastCharacter = character;
    this.afterOddBackslashes = character === "\\" && !this.afterOddBackslashes;
    return this.region;
  }

  // Marks of the paragraph

  /** Count open brackets, and record whether the current chunk may be an address. */
  #countMarks(character: string): void {
    const openRegion = this.topRegion;
    const kind = openRegion?.kind;
    if (openRegion?.kind === "inline") {
      if (character === "[" || character === "{") openRegion.depth++;
      else if (character === "]" || character === "}") openRegion.depth = Math.max(0, openRegion.depth - 1);
    }
    if (kind === "inline" || kind === "fence" || kind === "unknown" || kind === "json") return;
    if (character === "[" && !this.afterOddBackslashes) {
      this.isImage = this.lastCharacter === "!" || (this.isImage && this.openBrackets > 0);
      this.openBrackets++;
    } else if (character === "%" && this.lastCharacter === "[") {
      this.isImage = true; // a template tag such as [% NAME %] may have empty lines too
    } else if (character === "]" && !this.afterOddBackslashes) {
      // In math or an address a viewer may ignore this bracket.
      const goesOn = this.dollar || kind === "angle" || MATH.has(kind ?? "");
      if (!goesOn) this.openBrackets = Math.max(0, this.openBrackets - 1);
    }
    this.#noteAddress(character);
  }

  #noteAddress(text: string): void {
    const open = this.openBraces > 0;
    this.bracesSpanLines = open && (this.bracesSpanLines || text.includes("\n"));
    this.inAttributes = open && (this.inAttributes || /[=#]/.test(text));
    const blank = Math.max(...[" ", "\t", "\r", "\n"].map((character) => text.lastIndexOf(character)));
    if (blank >= 0) this.mayBeAddress = IN_ADDRESS.test(text.slice(blank + 1));
    else this.mayBeAddress ||= IN_ADDRESS.test(this.lastCharacter + text);
  }

  // Lines and paragraphs

  #endLine(): void {
    this.lines.endLine(this.isEmptyLine);
    const openRegion = this.topRegion;
    if (this.isEmptyLine) this.#endParagraph();
    else if (openRegion?.kind === "definition" && openRegion.started && !openRegion.angle && openRegion.quote === "") {
      if (openRegion.opening || openRegion.closing >= TITLE) endDefinition(this, openRegion);
      else openRegion.opening = true; // a title may stand in the next line
    }
    this.phase = START;
    this.quotes = this.column = 0;
    this.isListItem = false;
    this.isEmptyLine = true;
  }

  #endParagraph(): void {
    const top = this.topRegion;
    if (this.quotes > 0 && top !== undefined && ["inline", "link", "definition", "angle"].includes(top.kind)) {
      this.giveUp(top.region); // behind four blanks the mark of a quotation is text, and the paragraph goes on
      return;
    }
    if (this.quotes > 0 && (this.openBrackets > 0 || this.openBraces > 0)) return;
    this.openLabel ||= this.openBrackets > 0; // some viewers support labels with empty lines
    this.lineLabel = this.abbreviation = false;
    if (this.templateBraces === 0) this.openBraces = 0;
    if (!this.isImage) this.openBrackets = 0; // the text of an image may have empty lines
    if (top?.kind === "fence") {
      if (!`'"`.includes(top.tag) && !beginsBlock(top.destination)) top.tag = "";
      top.depth = 0;
      top.torn ||= top.tainted;
      if (top.nested && this.quotes > top.quotes) this.giveUp("code"); // a quotation, which ends the list
    } else if (top?.kind === "definition" && (top.quote !== "" || top.torn || !top.started)) {
      this.giveUp("link"); // a title may have empty lines, and for some viewers a definition too
    } else if ((top?.kind === "link" && !top.nested) || (top?.kind === "inline" && top.hazard)) {
      this.giveUp("link"); // some viewers continue to the next bracket
    } else if (top?.kind === "dollar" && top.hazard && top.count > 1) {
      this.giveUp("math"); // a program that fills in templates goes on to the brace
    }
    if (this.openRegions.some(({ kind }) => kind === "fence" || BLOCK_MATH.has(kind))) return;
    // Code that no mark closes is text for a Markdown viewer.
    this.isTainted ||= this.openRegions.some(
      ({ kind, lost, tainted }) => (kind === "angle" && !lost) || (kind === "inline" && tainted),
    );
    this.openRegions = this.openRegions.filter(({ kind }) => BLOCKS.has(kind));
    this.commandState = NONE;
    this.dollar = false;
    this.isHtml &&= this.quotes > 0; // an empty quotation ends no block of HTML before it
  }

  // Everything else

  #readInRegion(character: string, atStart: boolean): Region {
    let openRegion = this.topRegion;
    if (openRegion?.kind === "unknown") return openRegion.region;
    if (openRegion?.kind === "angle") return readAngle(this, openRegion, character);
    if (openRegion?.kind === "fence") return readFence(this, openRegion, character, atStart);
    if (openRegion?.kind === "inline") return readInline(this, openRegion, character, atStart);
    if (character === "~" && (atStart || this.tildes > 0)) {
      countTilde(this);
      return openRegion?.region ?? "prose";
    }
    if (openRegion?.kind === "definition" && endsDefinition(this, openRegion, character, atStart)) {
      endDefinition(this, openRegion);
      openRegion = this.topRegion;
      if (openRegion?.kind === "unknown") return openRegion.region;
    }
    let escaped = false;
    if (openRegion?.kind === "json") this.#readJson(openRegion, character);
    else escaped = this.afterOddBackslashes;
    if (this.dollar && openMath(this, character)) return "math";
    openRegion ??= this.topRegion;
    if (readCommand(this, openRegion, character)) return this.#findRegion(openRegion);
    if (openRegion !== undefined && readEnd(this, openRegion, character, escaped)) return openRegion.region;
    this.#readOpenings(openRegion, character, atStart, escaped);
    return this.#findRegion(openRegion);
  }

  #findRegion(openRegion: OpenRegion | undefined): Region {
    if (openRegion === undefined) return this.topRegion?.region ?? "prose";
    const inner = openRegion.kind === "json" ? (openRegion.inner?.region ?? "prose") : "prose";
    if (inner === "json") this.role = "spoiler";
    else if (inner !== "prose") return inner;
    return openRegion.region;
  }

  #readOpenings(openRegion: OpenRegion | undefined, character: string, atStart: boolean, escaped: boolean): void {
    const kind = openRegion?.kind;
    const last = this.lastCharacter;
    // Some viewers remove the backslash.
    if (last === "<" && (opensMarkup(character) || (character === "\\" && openRegion === undefined))) {
      if (openRegion === undefined) {
        const openRegion = this.pushRegion("angle", "markup");
        openRegion.destination = character;
        openRegion.length = 1;
        openRegion.nested = this.angleAtStart;
        return;
      }
      this.giveUp("markup"); // for some viewer the tag begins here, and this region does not exist
      return;
    }
    if (character === "`" && !escaped) {
      if (atStart || !NO_FENCE.has(kind ?? "")) {
        const openRegion = this.pushRegion("inline", "code");
        openRegion.opening = true;
        openRegion.runAtStart = atStart;
        this.isHtml ||= this.mayBeAddress || kind !== undefined; // the address or region may have this backtick
        openRegion.uncertain = this.isHtml || this.isDisputed;
        this.runColumn = this.column - 1;
      } else {
        this.hasStrayBacktick = true;
      }
      return;
    }
    const opensLink = (last === "]" || this.bracketClosed) && character === "(" && !isLinkKind(kind);
    // Else the outcome of the tag decides.
    if (opensLink && !(this.afterTag && this.tagLink !== "")) {
      this.pushRegion("link", "link").nested = last !== "]";
      return;
    }
    if (last === "]" && character === ":" && (this.lineLabel || this.openLabel) && !isLinkKind(kind)) {
      this.tagColon = this.afterTag;
      if (!this.afterTag) this.pushRegion("definition", "link").hazard = this.abbreviation;
      return;
    }
    this.abbreviation ||= character === "[" && last === "*"; // all its line is an attribute
    this.lineLabel ||= this.abbreviation;
    this.lineLabel ||= character === "[" && (atStart || this.isDisputed);
    if (openRegion !== undefined) return;
    if (this.opener !== "" && !isBlank(character)) {
      const opener = this.opener;
      this.opener = "";
      if ((opener === "{" ? '"}' : '[{"').includes(character)) {
        const opening = opener + character;
        this.openBrackets = Math.max(0, this.openBrackets - (opening.split("[").length - 1));
        if (opener === "{") this.openBraces = Math.max(0, this.openBraces - 1);
        this.#readJson(this.pushRegion("json", "json"), character);
        return;
      }
    }
    if (character === "{" || character === "[") this.opener = character;
    this.countBraces(character);
    this.dollar = character === "$" && !escaped;
  }

  // Markup

  // JSON

  #readJson(openRegion: OpenRegion, character: string): void {
    if (!openRegion.string) {
      if (!OUTSIDE_STRINGS.test(character)) {
        this.giveUp("json"); // no JSON, so other viewers may see attributes here
        return;
      }
      this.role = '{}[],:"'.includes(character) ? "separator" : "text";
      if (character === '"') {
        openRegion.string = true;
        openRegion.inner = this.isInsideString ? undefined : new RegionScanner(true);
      } else if (character === "{" || character === "[") {
        openRegion.count++;
      } else if ((character === "}" || character === "]") && --openRegion.count === 0) {
        this.openRegions = this.openRegions.filter((other) => other !== openRegion);
      }
      return;
    }
    let decodedCharacter = character;
    if (openRegion.unicode !== "") {
      this.role = "spoiler";
      openRegion.unicode = HEX.test(character) ? openRegion.unicode + character : "";
      if (openRegion.unicode.length <= 4) return;
      decodedCharacter = String.fromCharCode(Number.parseInt(openRegion.unicode.slice(1), 16));
      openRegion.unicode = "";
    } else if (openRegion.escaped) {
      openRegion.escaped = false;
      decodedCharacter = ESCAPED_BLANKS[character] ?? character;
      if (decodedCharacter !== character) {
        this.role = "separator";
      } else {
        this.role = character === '"' ? "ignored" : "spoiler";
        if (character === "u") {
          openRegion.unicode = "u";
          return;
        }
      }
    } else if (character === "\\") {
      openRegion.escaped = true;
      this.role = "ignored";
      return;
    } else if (character === '"') {
      this.role = "separator";
      openRegion.string = false;
      openRegion.inner = undefined;
      return;
    }
    openRegion.inner?.readCharacter(decodedCharacter);
  }
}
