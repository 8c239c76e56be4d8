/**
 * Scanner that separates running text from code, math, JSON, links and markup, character by character
 * (docs/restoring.md). Where readers of Markdown disagree, a character is not prose. Each character gets its region
 * when it is read, so the result does not depend on the split of a stream.
 */

import { beginsBlock, consumesText, isHarmlessTag, MAX_TAG_LENGTH } from "./harmlessTags.js";
import {
  BLOCK_MATH,
  BLOCKS,
  type JsonRole,
  MATH,
  NO_FENCE,
  OpenRegion,
  type Region,
  type RegionKind,
  splitWords,
} from "./openRegion.js";

/** Math commands whose arguments are displayed and never fetched. */
const DISPLAYED_COMMANDS = splitWords(
  "text textbf textit textrm textsf texttt mathrm mathbf mathit mathsf mathcal mathbb operatorname frac dfrac tfrac " +
    "sqrt boxed overline underline hat bar vec tilde begin end",
);
const MAX_NAME_LENGTH = MAX_TAG_LENGTH;
const MAX_DESTINATION_LENGTH = 2048;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{1,31}$/;
/** Runs of characters in which no region begins or ends. */
const PLAIN = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`$\\[\]{}<]+/y;
const PLAIN_CODE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`<|\\[\]{}]+/y;
const PLAIN_LINE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]+/y;
/** Characters that some readers of Markdown drop or treat as a line end; regions.py has the reason. */
const DISPUTED = /^[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]$/;
/** Characters of an address that readers detect in text, in any scheme. */
const IN_ADDRESS = /[.:@]|\/\//;
const LETTER = /^[A-Za-z]$/;
const HEX = /^[0-9a-fA-F]$/;
const ESCAPED_BLANKS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const MAX_DEPTH = 64;
const OUTSIDE_STRINGS = /^[{}[\],:"+\-.0-9A-Za-z \t\r\n]$/;
/** An info string with which every reader takes a line for the opening of a fence. */
const INFO = /^ *[A-Za-z0-9_#.+-]* *\r?$/;
const WORD_IN_TAG = /^[A-Za-z0-9_/]$/;
/** Characters that open a region, or may, within what may be a tag. */
const REGION_OPENERS = "<`$\\[]{}~\"'=";
/** Characters after which a blank and a word cannot belong to a link destination. */
const NO_DESTINATION = /^[\0-\x08\x0b\x0c\x0e-\x1f"-)/:->@[-^`{-\x7f]$/;
/** Characters that no destination and no title of a plain inline link has; with them readers disagree on its end. */
const UNLIKE_LINK = "<>[]{}()`|\\\"'\n\r";
const TITLE = 2;
const FENCE_LENGTH = 3;
const NESTED_INDENT = 2;
const CODE_INDENT = 4;
const TAB = 4;

/** Progress through the marks at the start of a line: quotation marks and blanks, digits, a list mark, the text. */
const START = 0;
const DIGITS = 1;
const MARK = 2;
const BODY = 3;
/** Progress of a TeX command: none, after the backslash, in its name, after its name or an argument, in a comment. */
const NONE = 0;
const SLASH = 1;
const NAME = 2;
const ARGUMENTS = 3;
const COMMENT = 4;

const isBlank = (character: string): boolean =>
  character === " " || character === "\t" || character === "\r" || character === "\n";
const isNumeral = (character: string): boolean => character >= "0" && character <= "9" && character.length === 1;
const opensMarkup = (character: string): boolean =>
  LETTER.test(character) || character === "/" || character === "!" || character === "?";
const isLinkKind = (kind: RegionKind | undefined): boolean => kind === "link" || kind === "definition";

/** Assignment of a region to each character of a text that arrives in parts. */
export class RegionScanner {
  /** The region of the last character. */
  region: Region = "prose";
  /** The role of the last character in JSON; `text` elsewhere. */
  role: JsonRole = "text";
  #openRegions: OpenRegion[] = [];
  #isTainted = false;
  #isHtml = false;
  /** Whether readers disagree until the end of the reply on what is code, or what is HTML. */
  #isDisputed = false;
  #angleAtStart = false;
  #abbreviation = false;
  #tag = false;
  #afterTag = false;
  #tagColon = false;
  /** Text that begins with a bracket directly after a tag, until the tag is settled; else empty. */
  #tagLink = "";
  #phase = START;
  #quotes = 0;
  #column = 0;
  #isListItem = false;
  #isEmptyLine = true;
  #lastCharacter = "";
  #lineLabel = false;
  #commandState = NONE;
  #commandName = "";
  #isDoubledBackslash = false;
  /** Whether the number of backslashes right before is odd. */
  #afterOddBackslashes = false;
  #opener = "";
  #dollar = false;
  #tildes = 0;
  #runColumn = 0;
  #openBrackets = 0;
  #openBraces = 0;
  /** Whether open braces have a line end, and a sign of attributes. */
  #bracesSpanLines = false;
  #inAttributes = false;
  #mayBeAddress = false;
  #hasStrayBacktick = false;
  /** A bracket closed before, with nothing but blanks between; a bracket that no paragraph closed. */
  #bracketClosed = false;
  #openLabel = false;
  #isImage = false;
  #classMark = "";
  #classMarks = 0;

  constructor(private readonly insideString = false) {}

  get #topRegion(): OpenRegion | undefined {
    return this.#openRegions[this.#openRegions.length - 1];
  }

  /** The region for which open brackets or braces of the paragraph count; undefined outside them. */
  get enclosure(): "link" | "markup" | undefined {
    if (this.#openBrackets > 0) return "link";
    if (this.#classMarks >= FENCE_LENGTH) return "markup";
    if (this.#openBraces > 0 && (this.#inAttributes || !this.#bracesSpanLines)) return "markup";
    const openRegion = this.#topRegion;
    return openRegion?.kind === "inline" && openRegion.depth > 0 ? "link" : openRegion?.inner?.enclosure;
  }

  /** Whether the last character is in a fence that every reader of CommonMark treats as code. */
  get isInCertainFence(): boolean {
    const openRegion = this.#topRegion;
    return openRegion?.kind === "fence" && openRegion.started && !openRegion.uncertain;
  }

  /** Whether no option permits the current region: the opening line of a fence, and text on which readers disagree. */
  get isSealed(): boolean {
    const openRegion = this.#topRegion;
    return openRegion?.kind === "unknown" || (openRegion?.kind === "fence" && !openRegion.started);
  }

  /** The destination of the open link as far as it was read; undefined outside links, or beyond 2,048 characters. */
  get destination(): string | undefined {
    const openRegion = this.#topRegion;
    if (openRegion?.inner !== undefined) return openRegion.inner.destination;
    if (openRegion === undefined || !(isLinkKind(openRegion.kind) || openRegion.kind === "angle")) return undefined;
    return openRegion.length <= MAX_DESTINATION_LENGTH ? openRegion.destination : undefined;
  }

  /** Read the next part of the text. */
  feed(text: string): void {
    this.#recordTagLink(text);
    let at = 0;
    while (at < text.length) {
      if (this.#isTainted && this.#openRegions.length === 0) {
        this.region = "markup";
        this.role = "text";
        return;
      }
      const pattern = this.#phase === BODY ? this.#findSkippable() : undefined;
      if (pattern !== undefined) pattern.lastIndex = at;
      if (pattern?.test(text)) {
        if (this.#openRegions.length === 0) this.#noteAddress(text.slice(at, pattern.lastIndex));
        at = pattern.lastIndex;
        this.#lastCharacter = text.charAt(at - 1);
        this.#afterOddBackslashes = this.#afterTag = false;
        this.role = "text";
        this.region = this.#topRegion?.region ?? "prose";
        continue;
      }
      const character = (text.codePointAt(at) ?? 0) > 0xffff ? text.slice(at, at + 2) : text.charAt(at);
      this.#classifyCharacter(character);
      at += character.length;
    }
  }

  /** Read a text if all of it is prose in the present state and changes none; returns whether it was read. */
  readProse(text: string): boolean {
    if (this.#phase !== BODY || this.#openRegions.length > 0 || this.#isTainted || this.#findSkippable() === undefined)
      return false;
    PLAIN.lastIndex = 0;
    if (!PLAIN.test(text) || PLAIN.lastIndex < text.length) return false;
    this.feed(text);
    return true;
  }

  /** Register that the next bracket begins a tag, so that the bracket before it begins no JSON. */
  beginTag(): void {
    this.#opener = "";
  }

  /**
   * Mark the end of the text as a tag to replace, so that `[person 1]: ` and `[person 1](` begin no link. The caller
   * passes the outcome to `settleTag` where the chunk ends, or once it keeps its surrogates.
   */
  markTag(): void {
    this.#tag = true;
    this.#bracketClosed = false;
  }

  /** Whether the region of the text depends on the outcome of the chunk of the last tag. */
  get awaitsOutcome(): boolean {
    return this.#tag || this.#tagLink !== "";
  }

  /** Apply the outcome of the chunk of the last tag: a tag that stays makes a link of a bracket directly after it. */
  settleTag(isReplaced: boolean): void {
    const text = this.#tagLink;
    this.#tagLink = "";
    if (isReplaced) return;
    this.#bracketClosed ||= this.#afterTag;
    this.#tag = this.#afterTag = false;
    if (text === "") return;
    // A reader of the link sees no region begin in it.
    if (this.#openRegions.length > 0 || this.#isTainted || text.includes("](")) {
      if (this.#topRegion?.kind !== "unknown") this.#giveUp("link");
    } else {
      this.#reopenLink([...text]);
    }
  }

  /** Open a link at the first character, and reads the others in it. */
  #reopenLink(text: readonly string[]): void {
    const [state, opener, dollar, last] = [this.#commandState, this.#opener, this.#dollar, this.#lastCharacter];
    const openRegion = this.#pushRegion("link", "link");
    for (const [at, character] of text.entries()) {
      if (at > 0) this.#readLink(openRegion, character, false);
      if (this.#topRegion !== openRegion) break;
      this.#lastCharacter = character;
    }
    this.#lastCharacter = last;
    if (this.#openRegions.length > 0) return;
    this.#commandState = state;
    this.#opener = opener;
    this.#dollar = dollar;
  }

  /** Record the text from a bracket directly after a tag on, for `settleTag`. */
  #recordTagLink(text: string): void {
    if (this.#tagLink !== "" || (this.#tag && text.startsWith("(") && this.#openRegions.length === 0))
      this.#tagLink += text;
  }

  /** Note that the text so far ends with a surrogate, whose original may be an address. */
  markSurrogate(): void {
    this.#mayBeAddress = true;
  }

  /** The pattern of the characters that change nothing in the present state. */
  #findSkippable(): RegExp | undefined {
    const openRegion = this.#topRegion;
    const last = this.#lastCharacter;
    if (last === "\r") return undefined;
    if (openRegion === undefined) {
      const busy = this.#commandState || this.#opener || this.#dollar || this.#tildes || this.#tagColon;
      const line = this.#bracketClosed || this.#classMark;
      return busy || line || last === "]" || last === "<" || last === "" ? undefined : PLAIN;
    }
    if (openRegion.opening || openRegion.closing || this.#tildes) return undefined;
    if (openRegion.kind === "inline" || (openRegion.kind === "fence" && openRegion.started)) {
      const busy =
        last === "<" || last === "]" || last === "\\" || last === "" || openRegion.tag !== "" || openRegion.escaped;
      return busy || (openRegion.kind === "fence" && (openRegion.depth || openRegion.quote)) ? undefined : PLAIN_CODE;
    }
    return openRegion.kind === "unknown" ? PLAIN_LINE : undefined;
  }

  /** Read one character; returns its region. */
  readCharacter(character: string): Region {
    this.#recordTagLink(character);
    return this.#classifyCharacter(character);
  }

  #classifyCharacter(character: string): Region {
    this.role = "text";
    if (this.#isTainted && this.#openRegions.length === 0) {
      this.region = "markup";
      return this.region;
    }
    this.#afterTag = this.#tag;
    this.#tag = false;
    if (this.#tagColon) {
      this.#tagColon = false;
      if (!isBlank(character)) this.#pushRegion("definition", "link"); // its chunk may keep the tag, which defines a link
    }
    const atStart = this.#phase === START && !isBlank(character) && character !== ">";
    if (character === "<") this.#angleAtStart = atStart;
    this.#resolveRuns(character);
    const loneReturn = this.#lastCharacter === "\r" && character !== "\n"; // a line end for readers of Markdown
    if ((loneReturn || DISPUTED.test(character)) && this.#topRegion?.kind !== "unknown") this.#giveUp("markup");
    this.#advanceLine(character);
    this.#countMarks(character);
    this.#countClassMarks(character, atStart);
    this.region = this.#readInRegion(character, atStart);
    const closed = character === "]" && !this.#afterOddBackslashes;
    this.#bracketClosed = closed || (this.#bracketClosed && (character === " " || character === "\t"));
    if (character === "\n") this.#endLine();
    // A reader who pairs that backtick sees other code behind.
    if (this.#hasStrayBacktick && this.#openRegions.length === 0) this.#giveUp("markup");
    if (this.#isTainted && this.#openRegions.length === 0) this.region = "markup";
    this.#lastCharacter = character;
    this.#afterOddBackslashes = character === "\\" && !this.#afterOddBackslashes;
    return this.region;
  }

  // Marks of the paragraph

  /** Count open brackets, and notes whether the characters since the last blank may be an address. */
  #countMarks(character: string): void {
    const openRegion = this.#topRegion;
    const kind = openRegion?.kind;
    if (openRegion?.kind === "inline") {
      if (character === "[" || character === "{") openRegion.depth++;
      else if (character === "]" || character === "}") openRegion.depth = Math.max(0, openRegion.depth - 1);
    }
    if (kind === "inline" || kind === "fence" || kind === "unknown" || kind === "json") return;
    if (character === "[" && !this.#afterOddBackslashes) {
      this.#isImage = this.#lastCharacter === "!" || (this.#isImage && this.#openBrackets > 0);
      this.#openBrackets++;
    } else if (character === "]" && !this.#afterOddBackslashes) {
      // In math or an address a reader may see the bracket go on.
      const goesOn = this.#dollar || kind === "angle" || MATH.has(kind ?? "");
      if (!goesOn) this.#openBrackets = Math.max(0, this.#openBrackets - 1);
    }
    this.#noteAddress(character);
  }

  /** Treat a line that begins with three marks, such as `!!! note`, as a class name. */
  #countClassMarks(character: string, atStart: boolean): void {
    if (atStart && "!?:".includes(character)) {
      this.#classMark = character;
      this.#classMarks = 1;
    } else if (character === "\n") {
      this.#classMark = "";
      this.#classMarks = 0;
    } else if (this.#classMark !== "" && character === this.#classMark) {
      this.#classMarks++;
    } else {
      this.#classMark = "";
      if (this.#classMarks < FENCE_LENGTH) this.#classMarks = 0;
    }
  }

  #noteAddress(text: string): void {
    const open = this.#openBraces > 0;
    this.#bracesSpanLines = open && (this.#bracesSpanLines || text.includes("\n"));
    this.#inAttributes = open && (this.#inAttributes || /[=#]/.test(text));
    const blank = Math.max(...[" ", "\t", "\r", "\n"].map((character) => text.lastIndexOf(character)));
    if (blank >= 0) this.#mayBeAddress = IN_ADDRESS.test(text.slice(blank + 1));
    else this.#mayBeAddress ||= IN_ADDRESS.test(this.#lastCharacter + text);
  }

  // Lines and paragraphs

  #advanceLine(character: string): void {
    const phase = this.#phase;
    if (phase === BODY || character === "\n") return;
    this.#column += character === "\t" ? TAB - (this.#column % TAB) : 1;
    if (phase === START) {
      if (character === ">") {
        this.#quotes++;
        this.#column = 0;
      } else if ("-+*:".includes(character)) this.#phase = MARK;
      else if (isNumeral(character)) this.#phase = DIGITS;
      else if (!isBlank(character)) this.#phase = BODY;
    } else if (phase === DIGITS) {
      this.#phase = isNumeral(character) ? DIGITS : character === "." || character === ")" ? MARK : BODY;
    } else {
      this.#phase = isBlank(character) ? START : BODY;
      this.#isListItem ||= this.#phase === START;
    }
    if (!isBlank(character) && character !== ">") this.#isEmptyLine = false;
  }

  #endLine(): void {
    const openRegion = this.#topRegion;
    if (this.#isEmptyLine) this.#endParagraph();
    else if (openRegion?.kind === "definition" && openRegion.started && !openRegion.angle && openRegion.quote === "") {
      if (openRegion.opening || openRegion.closing >= TITLE) this.#popRegion();
      else openRegion.opening = true; // a title may stand in the next line
    }
    this.#phase = START;
    this.#quotes = this.#column = 0;
    this.#isListItem = false;
    this.#isEmptyLine = true;
  }

  #endParagraph(): void {
    const top = this.#topRegion;
    if (this.#quotes > 0 && top !== undefined && ["inline", "link", "definition", "angle"].includes(top.kind)) {
      this.#giveUp(top.region); // behind four blanks the mark of a quotation is text, and the paragraph goes on
      return;
    }
    if (this.#quotes > 0 && (this.#openBrackets > 0 || this.#openBraces > 0)) return;
    this.#openLabel ||= this.#openBrackets > 0; // some readers know labels with empty lines
    this.#lineLabel = this.#abbreviation = false;
    this.#openBraces = 0;
    if (!this.#isImage) this.#openBrackets = 0; // the text of an image may have empty lines
    if (top?.kind === "fence") {
      if (!`'"`.includes(top.tag) && !beginsBlock(top.destination)) top.tag = "";
      top.depth = 0;
      top.torn ||= top.tainted;
      if (top.nested && this.#quotes > top.quotes) this.#giveUp("code"); // a quotation, which ends the list
    } else if (top?.kind === "definition" && (top.quote !== "" || !top.started)) {
      this.#giveUp("link"); // a title may have empty lines, and for some readers a definition too
    } else if (top?.kind === "link" && !top.nested) {
      this.#giveUp("link"); // some readers go on to the next bracket
    }
    if (this.#openRegions.some(({ kind }) => kind === "fence" || BLOCK_MATH.has(kind))) return;
    // Code that no mark closes is text for a reader of Markdown.
    this.#isTainted ||= this.#openRegions.some(
      ({ kind, lost, tainted }) => (kind === "angle" && !lost) || (kind === "inline" && tainted),
    );
    this.#openRegions = this.#openRegions.filter(({ kind }) => BLOCKS.has(kind));
    this.#commandState = NONE;
    this.#dollar = false;
    this.#isHtml &&= this.#quotes > 0; // an empty quotation ends no block of HTML before it
  }

  // Code

  /** End a run of backticks or tildes before the first other character. */
  #resolveRuns(character: string): void {
    if (this.#tildes > 0 && character !== "~") {
      const count = this.#tildes;
      this.#tildes = 0;
      if (count >= FENCE_LENGTH) {
        if (this.#topRegion?.kind === "inline") this.#isTainted = this.#openRegions.pop()?.tainted || this.#isTainted;
        this.#openFence("~", count);
      }
    }
    const openRegion = this.#topRegion;
    if (openRegion?.kind !== "inline" || character === "`") return;
    if (openRegion.opening) {
      openRegion.opening = false;
      if (openRegion.runAtStart && openRegion.count >= FENCE_LENGTH) {
        this.#openRegions.pop();
        this.#openFence("`", openRegion.count);
      } else if (NO_FENCE.has(this.#openRegions.at(-2)?.kind ?? "")) {
        this.#openRegions.pop();
        this.#hasStrayBacktick = true;
      }
    } else if (openRegion.closing > 0) {
      const count = openRegion.closing;
      openRegion.closing = 0;
      if (openRegion.runAtStart && count >= FENCE_LENGTH) {
        this.#openRegions.pop();
        this.#isTainted ||= openRegion.tainted;
        this.#openFence("`", count).torn = count === openRegion.count; // the run closes code for some readers
      } else if (count === openRegion.count) {
        this.#closeCode(openRegion);
      }
    }
  }

  #openFence(mark: string, count: number): OpenRegion {
    const openRegion = new OpenRegion("fence", "code");
    openRegion.mark = mark;
    openRegion.count = count;
    openRegion.quotes = this.#quotes;
    openRegion.column = this.#runColumn;
    openRegion.nested = this.#isListItem || openRegion.column >= NESTED_INDENT;
    openRegion.exact = !this.#isListItem && this.#quotes === 0 && openRegion.column === 0;
    openRegion.uncertain = !openRegion.exact || this.#isHtml || this.#isDisputed || this.#openRegions.length > 0;
    openRegion.tainted = this.#isHtml; // an empty line ends the HTML, and with it the reading without a fence
    this.#openRegions.push(openRegion);
    return openRegion;
  }

  /** Close code; if a reader may treat it as text that opens a region, no later text is prose. */
  #closeCode(openRegion: OpenRegion): void {
    this.#popRegion();
    const open = openRegion.hazard || openRegion.depth > 0 || openRegion.tag !== "";
    // A reader who knows no fences sees a link or tag go on behind this one.
    const tag =
      openRegion.tag === "'" ||
      openRegion.tag === '"' ||
      (openRegion.tag !== "" && beginsBlock(openRegion.destination));
    const goesOn = openRegion.kind === "fence" && (openRegion.depth > 0 || openRegion.quote !== "" || tag);
    if (openRegion.shifted || openRegion.torn || goesOn || (openRegion.uncertain && open)) this.#giveUp("code");
    else if (openRegion.kind === "fence" && openRegion.tag !== "") this.#pushRegion("angle", "markup").lost = true;
    // A reader may pair its marks with others of the paragraph.
    else if (openRegion.kind === "fence" && openRegion.uncertain) this.#isHtml = true;
  }

  /** Close a fence; Python-Markdown recognizes only fences whose two lines are alike and not indented. */
  #closeFence(openRegion: OpenRegion): void {
    const exact = openRegion.opening && openRegion.closing === openRegion.count;
    openRegion.torn ||= exact !== openRegion.exact;
    this.#closeCode(openRegion);
  }

  /** Register markup, a command or a link for a reader without this code: later code is uncertain. */
  #noteHazard(openRegion: OpenRegion, character: string): void {
    const last = this.#lastCharacter;
    let region: Region;
    if (openRegion.tag !== "") this.#readTagInCode(openRegion, character);
    if (last === "<" && opensMarkup(character)) {
      region = "markup";
      openRegion.hazard ||= character === "!" || character === "?";
      openRegion.tag = "name";
      openRegion.destination = character;
    } else if (last === "]" && (character === "(" || character === ":")) {
      region = "link";
      openRegion.hazard = true;
    } else if (last === "\\" && LETTER.test(character)) {
      openRegion.escaped = true; // one letter alone is no command
      return;
    } else if (openRegion.escaped && (LETTER.test(character) || "{[*%".includes(character))) {
      region = "link";
      openRegion.hazard = true;
      openRegion.escaped = false;
    } else {
      openRegion.escaped &&= isBlank(character);
      return;
    }
    if (openRegion.kind === "inline" || openRegion.uncertain) openRegion.region = region; // a run may close it, or none
  }

  /** Follow a tag until it ends; what readers may read in two ways is a hazard. */
  #readTagInCode(openRegion: OpenRegion, character: string): void {
    const part = openRegion.tag;
    if (character === "<" || character === "`" || (character === ">" && this.#phase === START)) {
      openRegion.hazard = true; // or the mark of a quotation
    } else if (part === "'" || part === '"') {
      if (character === part) openRegion.tag = "attributes";
    } else if (character === ">") {
      openRegion.hazard ||= openRegion.kind === "inline" && beginsBlock(openRegion.destination);
      openRegion.hazard ||= consumesText(openRegion.destination);
      openRegion.tag = "";
    } else if ("'\"=".includes(character)) {
      openRegion.hazard ||= part === "value" || (part === "=") === (character === "=");
      openRegion.tag = character;
    } else if (isBlank(character)) {
      if (part !== "=") openRegion.tag = "attributes";
    } else if (part === "=") {
      openRegion.tag = "value";
    } else if (part === "name" && openRegion.destination.length < MAX_NAME_LENGTH) {
      openRegion.destination += character;
    }
  }

  #readFence(openRegion: OpenRegion, character: string, atStart: boolean): Region {
    this.#noteHazard(openRegion, character);
    if (!openRegion.started) {
      if (character === "\n") {
        openRegion.started = true;
        openRegion.exact &&= INFO.test(openRegion.info);
        openRegion.uncertain ||= !openRegion.exact;
      } else if (character === "`" && openRegion.mark === "`") {
        openRegion.kind = "inline"; // code in a line
        openRegion.closing = 1;
        openRegion.runAtStart = openRegion.opening = false;
      } else if (openRegion.info.length <= MAX_NAME_LENGTH) {
        openRegion.info += character;
      }
      return openRegion.region;
    }
    this.#followLinkInFence(openRegion, character, atStart);
    if (atStart) {
      const column = this.#column - 1;
      const leftList = openRegion.nested && this.#quotes === openRegion.quotes && column < openRegion.column;
      if (this.#quotes < openRegion.quotes || leftList) {
        this.#openRegions = [new OpenRegion("unknown", "code")]; // readers disagree on where it ends
        return "code";
      }
      const deep = column >= openRegion.column + CODE_INDENT || this.#quotes !== openRegion.quotes || this.#isListItem;
      openRegion.closing = deep || character !== openRegion.mark ? 0 : 1;
      openRegion.opening = column === 0;
      openRegion.shifted = column !== openRegion.column && Math.max(column, openRegion.column) >= CODE_INDENT;
    } else if (openRegion.closing > 0 && character === openRegion.mark && this.#lastCharacter === openRegion.mark) {
      openRegion.closing++;
    } else if (openRegion.closing > 0 && !isBlank(character)) {
      openRegion.closing = 0;
    } else if (character === "\n" && openRegion.closing > 0) {
      if (openRegion.closing >= openRegion.count) this.#closeFence(openRegion);
      openRegion.closing = 0;
    }
    return openRegion.region;
  }

  /** Follow a link or definition that a reader without fences sees; `depth` and `quote` keep it open. */
  #followLinkInFence(openRegion: OpenRegion, character: string, atStart: boolean): void {
    if (this.#lastCharacter === "]" && character === "(") openRegion.depth = 1;
    else if (openRegion.depth > 0 && character === "(") openRegion.depth++;
    else if (openRegion.depth > 0 && character === ")") openRegion.depth--;
    if (this.#lastCharacter === "]" && character === ":") openRegion.quote = character;
    else if (!isBlank(character) && !openRegion.closing && !(atStart && character === openRegion.mark))
      openRegion.quote = "";
  }

  #readInline(openRegion: OpenRegion, character: string, atStart: boolean): Region {
    if ((atStart && !LETTER.test(character) && character < "\x80") || (character === ">" && this.#phase === START))
      openRegion.torn ||= openRegion.info.includes("\n"); // another block may begin with this line
    if (character === "\n") openRegion.info = character;
    if (character === "`") {
      if (openRegion.opening) {
        openRegion.count++;
      } else {
        if (openRegion.closing === 0) {
          openRegion.runAtStart = atStart;
          this.#runColumn = this.#column - 1;
        }
        openRegion.closing++;
      }
    } else if (character === "~" && (atStart || this.#tildes > 0)) {
      this.#countTilde();
    } else {
      openRegion.tainted ||= this.#lastCharacter === "<" && opensMarkup(character);
      this.#noteHazard(openRegion, character);
      openRegion.uncertain ||= character === "\n" || character === "|"; // another block or cell may begin there
    }
    return openRegion.region;
  }

  #countTilde(): void {
    if (this.#tildes === 0) this.#runColumn = this.#column - 1;
    this.#tildes++;
  }

  // Everything else

  #pushRegion(kind: RegionKind, region: Region): OpenRegion {
    const openRegion = new OpenRegion(kind, region);
    if (this.#openRegions.length < MAX_DEPTH) this.#openRegions.push(openRegion);
    else this.#openRegions = [new OpenRegion("unknown", "markup")]; // the cost of a blank line grows with the depth
    this.#resetMarks();
    return openRegion;
  }

  #popRegion(): void {
    this.#openRegions.pop();
    this.#resetMarks();
  }

  /** Assign one region to all later text. */
  #giveUp(region: Region): void {
    this.#openRegions = [new OpenRegion("unknown", region)];
    this.#resetMarks();
  }

  #resetMarks(): void {
    this.#commandState = NONE;
    this.#opener = "";
    this.#dollar = false;
  }

  #readInRegion(character: string, atStart: boolean): Region {
    let openRegion = this.#topRegion;
    if (openRegion?.kind === "unknown") return openRegion.region;
    if (openRegion?.kind === "angle") return this.#readAngle(openRegion, character);
    if (openRegion?.kind === "fence") return this.#readFence(openRegion, character, atStart);
    if (openRegion?.kind === "inline") return this.#readInline(openRegion, character, atStart);
    if (character === "~" && (atStart || this.#tildes > 0)) {
      this.#countTilde();
      return openRegion?.region ?? "prose";
    }
    if (openRegion?.kind === "definition" && this.#endsDefinition(openRegion, character, atStart)) {
      this.#popRegion();
      openRegion = this.#topRegion;
    }
    let escaped = false;
    if (openRegion?.kind === "json") this.#readJson(openRegion, character);
    else escaped = this.#afterOddBackslashes;
    if (this.#dollar && this.#openMath(character)) return "math";
    openRegion ??= this.#topRegion;
    if (this.#readCommand(openRegion, character)) return this.#findRegion(openRegion);
    if (openRegion !== undefined && this.#readEnd(openRegion, character, escaped)) return openRegion.region;
    this.#readOpenings(openRegion, character, atStart, escaped);
    return this.#findRegion(openRegion);
  }

  #findRegion(openRegion: OpenRegion | undefined): Region {
    if (openRegion === undefined) return this.#topRegion?.region ?? "prose";
    const inner = openRegion.kind === "json" ? (openRegion.inner?.region ?? "prose") : "prose";
    if (inner === "json") this.role = "spoiler";
    else if (inner !== "prose") return inner;
    return openRegion.region;
  }

  /** Follow a TeX command; return whether the character is consumed. */
  #readCommand(openRegion: OpenRegion | undefined, character: string): boolean {
    const kind = openRegion?.kind;
    const state = this.#commandState;
    const opensMath =
      (character === "(" || character === "[") && !(MATH.has(kind ?? "") || isLinkKind(kind) || kind === "json");
    if (state === NONE) {
      if (character !== "\\") return false;
      this.#commandState = SLASH;
      this.#isDoubledBackslash = false;
      return !isLinkKind(kind);
    }
    if (state === SLASH) {
      this.#commandState = NONE;
      if (character === "\\") {
        this.#commandState = SLASH; // a reader may take it for an escape, another for the same as one
        this.#isDoubledBackslash = !this.#isDoubledBackslash;
      } else if (LETTER.test(character)) {
        this.#commandState = NAME;
        this.#commandName = character;
      } else if ((kind === "paren" && character === ")") || (kind === "bracket" && character === "]")) {
        if (openRegion?.count === 1) this.#popRegion();
      } else if (opensMath) {
        this.#pushRegion(character === "(" ? "paren" : "bracket", "math");
      } else {
        return "{}$`".includes(character) && !this.#isDoubledBackslash && !isLinkKind(kind);
      }
      return !isLinkKind(kind);
    }
    if (state === NAME && LETTER.test(character)) {
      if (this.#commandName.length < MAX_NAME_LENGTH) this.#commandName += character;
      return false;
    }
    if (state === NAME && this.#commandName.endsWith("def")) {
      this.#giveUp("link"); // its macros may take what stands without braces
      return true;
    }
    if (character === "\\" && state !== COMMENT) {
      this.#commandState = SLASH;
      this.#isDoubledBackslash = false;
      return !isLinkKind(kind);
    }
    if (state === COMMENT && this.#afterOddBackslashes && opensMath) {
      this.#pushRegion(character === "(" ? "paren" : "bracket", "math"); // text has no comments
      return true;
    }
    if (state === NAME && character === "*") return false;
    if (state === COMMENT || isBlank(character) || character === "%") {
      this.#commandState = character === "%" || (state === COMMENT && character !== "\n") ? COMMENT : ARGUMENTS;
      return false;
    }
    this.#commandState = NONE;
    if (character === "{" && !isLinkKind(kind)) {
      const name = this.#commandName;
      const inherited = openRegion?.region === "link";
      if (name === "begin" && !inherited) this.#pushRegion("begin", "math");
      this.#pushRegion("command", DISPLAYED_COMMANDS.has(name) && !inherited ? "math" : "link");
      this.#commandName = name;
      return true;
    }
    if (character === "[" && state === NAME && !isLinkKind(kind) && kind !== "json") {
      this.#pushRegion("option", "link");
      return true;
    }
    return false;
  }

  /** Follow the end of a region; return whether the character is consumed. */
  #readEnd(openRegion: OpenRegion, character: string, escaped: boolean): boolean {
    const { kind } = openRegion;
    if (isLinkKind(kind)) return this.#readLink(openRegion, character, escaped);
    if (escaped || this.#commandState === SLASH) return false;
    if (BLOCK_MATH.has(kind) || kind === "dollar" || kind === "paren") {
      if (character === "{") openRegion.count++;
      else if (character === "}" && openRegion.count > 1) openRegion.count--;
    }
    if (kind === "dollar" && character === "$" && openRegion.count === 1) {
      this.#popRegion();
      return true;
    }
    if (kind === "dollars" && character === "$" && openRegion.count === 1) {
      if (++openRegion.closing === 2) this.#popRegion();
      return true;
    }
    if (kind === "command" && (character === "{" || character === "}")) {
      openRegion.count += character === "{" ? 1 : -1;
      if (openRegion.count === 0) this.#closeCommand();
      return true;
    }
    if (kind === "option" && character === "]") {
      this.#popRegion();
      this.#commandState = ARGUMENTS;
      return true;
    }
    if (kind === "dollars") openRegion.closing = 0;
    return false;
  }

  #closeCommand(): void {
    this.#popRegion();
    if (this.#commandName === "end" && this.#topRegion?.kind === "begin") this.#popRegion();
    this.#commandState = ARGUMENTS;
    if (this.#commandName === "begin" || this.#commandName === "end") this.#commandName = "";
  }

  #readLink(openRegion: OpenRegion, character: string, escaped: boolean): boolean {
    if (
      openRegion.length <= MAX_DESTINATION_LENGTH &&
      (openRegion.length > 0 || !(isBlank(character) || character === "<"))
    ) {
      openRegion.destination += character;
      openRegion.length++;
    }
    const last = this.#lastCharacter;
    if ((last === "]" && (character === "(" || character === ":")) || (last === "\\" && LETTER.test(character))) {
      this.#giveUp("link"); // no link has this, so a reader may see another one begin
      return true;
    }
    if (openRegion.kind === "link" && !openRegion.nested) {
      this.#readPlainLink(openRegion, character);
      return true;
    }
    const goesOn = escaped || (openRegion.escaped && character === "\n");
    openRegion.escaped = escaped && character === "\r";
    if (goesOn || character === "\\") {
      openRegion.started = true;
      return false;
    }
    if (!openRegion.started) {
      if (isBlank(character) || (character === ">" && this.#phase === START)) {
        openRegion.hazard ||= character === "\n";
        return false;
      }
      openRegion.started = true;
      if (character === "<") {
        openRegion.angle = openRegion.hazard = true;
        return true;
      }
    }
    if (openRegion.angle) {
      if (character === ">" && this.#phase !== START) openRegion.angle = false;
      else if (isBlank(character) || UNLIKE_LINK.includes(character) || character === "~" || character === ">")
        this.#giveUp("link");
      return true;
    }
    if (openRegion.kind === "definition") {
      // For a reader who sees no definition, these open something.
      if (character === "`" || character === "$" || character === "<") this.#giveUp("link");
      return false;
    }
    // Few readers take such brackets for a link.
    if (character === "(") openRegion.count++;
    else if (character === ")" && --openRegion.count === 0) this.#popRegion();
    return character === "(" || character === ")";
  }

  /** Read `(address "title")`; readers disagree on the end of any other form. */
  #readPlainLink(openRegion: OpenRegion, character: string): void {
    const unlikeLink = UNLIKE_LINK.includes(character);
    const blank = character === " " || character === "\t";
    let unlike: boolean;
    if (openRegion.angle) {
      openRegion.angle = character !== ">";
      openRegion.closing = openRegion.angle ? 0 : 1;
      unlike = isBlank(character) || (openRegion.angle && unlikeLink);
    } else if (openRegion.quote !== "") {
      if (character === openRegion.quote) {
        openRegion.quote = "";
        openRegion.closing++;
      }
      unlike = openRegion.quote !== "" && unlikeLink;
    } else if (character === ")") {
      openRegion.count--;
      unlike = openRegion.count > 0 && openRegion.closing > 0;
      if (openRegion.count === 0) this.#popRegion();
    } else if (blank) {
      if (openRegion.started) openRegion.closing ||= 1;
      unlike = openRegion.count > 1;
    } else if (!openRegion.started) {
      openRegion.started = true;
      openRegion.angle = character === "<";
      unlike = !openRegion.angle && unlikeLink;
    } else if (
      openRegion.closing === 1 &&
      (character === '"' || character === "'") &&
      " \t".includes(this.#lastCharacter)
    ) {
      openRegion.quote = character;
      unlike = false;
    } else {
      if (character === "(") openRegion.count++;
      unlike = openRegion.closing > 0 || (character !== "(" && unlikeLink);
    }
    if (unlike) this.#giveUp("link");
  }

  /** Follow destination and title; returns whether the character cannot belong to a definition. */
  #endsDefinition(openRegion: OpenRegion, character: string, atStart: boolean): boolean {
    if (!openRegion.started || openRegion.angle) return false;
    if (openRegion.quote !== "") {
      if (character === openRegion.quote && !this.#afterOddBackslashes) openRegion.quote = "";
      return false;
    }
    if (openRegion.opening && !atStart) return false; // between two lines
    if (!openRegion.opening) {
      if (isBlank(character)) openRegion.closing ||= 1;
      if (isBlank(character) || openRegion.closing === 0) {
        openRegion.hazard ||= NO_DESTINATION.test(character);
        return false;
      }
    }
    if ("\"'(".includes(character) && openRegion.closing < TITLE) {
      openRegion.quote = character === "(" ? ")" : character;
      openRegion.closing = TITLE;
      openRegion.opening = false;
      return false;
    }
    return openRegion.opening || (openRegion.closing === 1 && !openRegion.hazard && this.#openRegions.length === 1);
  }

  #readOpenings(openRegion: OpenRegion | undefined, character: string, atStart: boolean, escaped: boolean): void {
    const kind = openRegion?.kind;
    const last = this.#lastCharacter;
    // Some readers drop the backslash.
    if (last === "<" && (opensMarkup(character) || (character === "\\" && openRegion === undefined))) {
      if (openRegion === undefined) {
        const openRegion = this.#pushRegion("angle", "markup");
        openRegion.destination = character;
        openRegion.length = 1;
        openRegion.nested = this.#angleAtStart;
        return;
      }
      this.#giveUp("markup"); // a reader may see no such region, but the tag
      return;
    }
    if (character === "`" && !escaped) {
      if (atStart || !NO_FENCE.has(kind ?? "")) {
        const openRegion = this.#pushRegion("inline", "code");
        openRegion.opening = true;
        openRegion.runAtStart = atStart;
        this.#isHtml ||= this.#mayBeAddress || kind !== undefined; // the address or region may have this backtick
        openRegion.uncertain = this.#isHtml || this.#isDisputed;
        this.#runColumn = this.#column - 1;
      } else {
        this.#hasStrayBacktick = true;
      }
      return;
    }
    const opensLink = (last === "]" || this.#bracketClosed) && character === "(" && !isLinkKind(kind);
    // Else the outcome of the tag decides.
    if (opensLink && !(this.#afterTag && this.#tagLink !== "")) {
      this.#pushRegion("link", "link").nested = last !== "]";
      return;
    }
    if (last === "]" && character === ":" && (this.#lineLabel || this.#openLabel) && !isLinkKind(kind)) {
      this.#tagColon = this.#afterTag;
      if (!this.#afterTag) this.#pushRegion("definition", "link").hazard = this.#abbreviation;
      return;
    }
    this.#abbreviation ||= character === "[" && last === "*"; // all its line is an attribute
    this.#lineLabel ||= this.#abbreviation;
    this.#lineLabel ||= character === "[" && (atStart || this.#isDisputed);
    if (openRegion !== undefined) return;
    if (this.#opener !== "" && !isBlank(character)) {
      const opener = this.#opener;
      this.#opener = "";
      if ((opener === "{" ? '"}' : '[{"').includes(character)) {
        const opening = opener + character;
        this.#openBrackets = Math.max(0, this.#openBrackets - (opening.split("[").length - 1));
        if (opener === "{") this.#openBraces = Math.max(0, this.#openBraces - 1);
        this.#readJson(this.#pushRegion("json", "json"), character);
        return;
      }
    }
    if (character === "{" || character === "[") this.#opener = character;
    if (character === "{") this.#openBraces++;
    else if (character === "}") this.#openBraces = Math.max(0, this.#openBraces - 1);
    this.#dollar = character === "$" && !escaped;
  }

  /** Open math after a dollar sign; return whether the character is consumed. */
  #openMath(character: string): boolean {
    this.#dollar = false;
    if (character === "$") {
      this.#pushRegion("dollars", "math");
      return true;
    }
    // $[number 1] is an amount.
    if (!isBlank(character) && !isNumeral(character) && character !== "[") this.#pushRegion("dollar", "math");
    return false;
  }

  // Markup

  #readAngle(openRegion: OpenRegion, character: string): Region {
    const name = openRegion.destination;
    const quotation = character === ">" && this.#phase === START; // which ends no tag
    if (openRegion.lost || quotation) {
      if (quotation || REGION_OPENERS.includes(character)) this.#giveUpTag();
      return "markup";
    }
    if (character === ">" && name.endsWith(" ") && !openRegion.started) {
      this.#giveUpTag(); // markdown2 ends no tag here
      return "markup";
    }
    if (character === ">") {
      this.#openRegions.pop();
      if (!openRegion.started) {
        this.#isHtml = true;
        this.#isDisputed ||= beginsBlock(name);
        this.#isTainted ||= !isHarmlessTag(name);
      }
      return openRegion.region;
    }
    if (isBlank(character)) {
      openRegion.angle = true; // only words and a slash may follow, and behind a second blank a slash
      openRegion.quote = character === " " && openRegion.quote === "" ? "" : "\n";
      if (openRegion.started) {
        this.#loseTag(openRegion, character);
      } else if (openRegion.length <= MAX_NAME_LENGTH) {
        openRegion.destination += " ";
        openRegion.length++;
      }
      return "markup";
    }
    const unlike = "<\"'=`".includes(character) && (character !== "=" || openRegion.region !== "link");
    const behind = openRegion.angle && (!WORD_IN_TAG.test(character) || (openRegion.quote !== "" && character !== "/"));
    if (unlike || behind || (!openRegion.started && openRegion.length > MAX_NAME_LENGTH)) {
      this.#loseTag(openRegion, character);
      return "markup";
    }
    if (character === ":" && !openRegion.started && SCHEME.test(name)) {
      openRegion.started = true;
      openRegion.region = "link";
    } else if (character === "@" && !"/!?".includes(name.charAt(0))) {
      openRegion.started = true;
    }
    if (openRegion.length <= MAX_DESTINATION_LENGTH) {
      openRegion.destination += character;
      openRegion.length++;
    }
    return openRegion.region;
  }

  /** Read a tag that is not plain: within a line it is a tag or text, up to the end of the paragraph. */
  #loseTag(openRegion: OpenRegion, character: string): void {
    const name = openRegion.destination.split(" ")[0] ?? "";
    openRegion.lost = !(
      openRegion.nested ||
      this.#isHtml ||
      this.#isDisputed ||
      beginsBlock(name) ||
      !isHarmlessTag(name) ||
      REGION_OPENERS.includes(character)
    );
    if (!openRegion.lost) this.#giveUpTag();
  }

  #giveUpTag(): void {
    this.#openRegions = [];
    this.#isTainted = true;
  }

  // JSON

  #readJson(openRegion: OpenRegion, character: string): void {
    if (!openRegion.string) {
      if (!OUTSIDE_STRINGS.test(character)) {
        this.#giveUp("json"); // no JSON, so other readers may see attributes here
        return;
      }
      this.role = '{}[],:"'.includes(character) ? "separator" : "text";
      if (character === '"') {
        openRegion.string = true;
        openRegion.inner = this.insideString ? undefined : new RegionScanner(true);
      } else if (character === "{" || character === "[") {
        openRegion.count++;
      } else if ((character === "}" || character === "]") && --openRegion.count === 0) {
        this.#openRegions = this.#openRegions.filter((other) => other !== openRegion);
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
