/**
 * Tells running text apart from code, math, JSON, links and markup, one character at a time (docs/restoring.md).
 *
 * Where readers of Markdown disagree, a character is not prose. Each character gets its region when it is read, so the
 * result does not depend on how a stream is cut.
 */

import { beginsBlock, isHarmlessTag, LONGEST_TAG, takesInText } from "./tags.js";

export type Region = "prose" | "code" | "math" | "json" | "link" | "markup";
/**
 * The part that a character of JSON plays in the text of a string: a separator ends a chunk, what is ignored counts as
 * nothing, and a spoiler spoils its chunk.
 */
export type Role = "text" | "separator" | "ignored" | "spoiler";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Commands of math whose arguments are shown and never fetched. */
const SHOWN = words(
  "text textbf textit textrm textsf texttt mathrm mathbf mathit mathsf mathcal mathbb operatorname frac dfrac tfrac " +
    "sqrt boxed overline underline hat bar vec tilde begin end",
);
const LONGEST_NAME = LONGEST_TAG;
const LONGEST_DESTINATION = 2048;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{1,31}$/;
/** Stretches in which nothing begins or ends. */
const PLAIN = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`$\\[\]{}<]+/y;
const PLAIN_CODE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`<|\\[\]{}]+/y;
const PLAIN_LINE = /[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]+/y;
/** Characters that some reader of Markdown drops or takes for a line end; regions.py has the reason. */
const DISPUTED = /^[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]$/;
/** What an address that readers find in text has, in whatever scheme. */
const IN_ADDRESS = /[.:@]|\/\//;
const LETTER = /^[A-Za-z]$/;
const HEX = /^[0-9a-fA-F]$/;
const ESCAPED_BLANKS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const DEEPEST = 64;
const OUTSIDE_STRINGS = /^[{}[\],:"+\-.0-9A-Za-z \t\r\n]$/;
/** An info string with which every reader takes a line for the opening of a fence. */
const INFO = /^ *[A-Za-z0-9_#.+-]* *\r?$/;
const WORD_IN_TAG = /^[A-Za-z0-9_/]$/;
/** Characters that open a region, or may, within what may be a tag. */
const NOT_LOST = "<`$\\[]{}~\"'=";
/** Characters of a destination behind which a blank and a word may still belong to a link. */
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

type Kind =
  | "fence"
  | "inline"
  | "dollar"
  | "dollars"
  | "paren"
  | "bracket"
  | "begin"
  | "command"
  | "option"
  | "json"
  | "link"
  | "definition"
  | "angle"
  | "unknown";
const BLOCK_MATH: ReadonlySet<string> = words("dollars bracket begin");
const BLOCKS: ReadonlySet<string> = words("fence dollars bracket begin json unknown");
const MATH: ReadonlySet<string> = words("dollars bracket begin dollar paren command option");
const NO_FENCE: ReadonlySet<string> = words("dollars bracket begin json");

const isBlank = (character: string): boolean =>
  character === " " || character === "\t" || character === "\r" || character === "\n";
const isNumeral = (character: string): boolean => character >= "0" && character <= "9" && character.length === 1;
const opensMarkup = (character: string): boolean =>
  LETTER.test(character) || character === "/" || character === "!" || character === "?";
const isLink = (kind: Kind | undefined): boolean => kind === "link" || kind === "definition";

/** Open region, and what has been read of it. */
class Frame {
  /** Depth of brackets, or length of a fence. */
  count = 1;
  opening = false;
  closing = 0;
  runAtStart = false;
  tainted = false;
  /**
   * Code that some readers take for text, something in it that would open a region there, an odd last line. A link is
   * uncertain if a line ends before its destination.
   */
  uncertain = false;
  hazard = false;
  shifted = false;
  /** Of brackets and braces in code. */
  depth = 0;
  /** The part of a tag in code that is being read, empty outside tags. */
  tag = "";
  /** Whether all readers see the fence; its info string. */
  exact = true;
  /** A tag if a reader finds its end in the paragraph, else text. */
  lost = false;
  /** By an empty line, of a fence that begins as HTML for some readers. */
  torn = false;
  info = "";
  mark = "`";
  quotes = 0;
  column = 0;
  nested = false;
  started = false;
  angle = false;
  quote = "";
  escaped = false;
  destination = "";
  length = 0;
  string = false;
  unicode = "";
  inner: Scanner | undefined;

  constructor(
    public kind: Kind,
    public region: Region,
  ) {}
}

/** Assigns a region to each character of a text that comes in parts. */
export class Scanner {
  /** The region of the last character. */
  region: Region = "prose";
  /** The role of the last character in JSON; `text` elsewhere. */
  role: Role = "text";
  #frames: Frame[] = [];
  #tainted = false;
  #html = false;
  /** Whether readers disagree until the end of the reply on what is code, or what is HTML. */
  #disputed = false;
  #angleAtStart = false;
  #abbreviation = false;
  #tag = false;
  #afterTag = false;
  #tagColon = false;
  /** Text from a bracket directly after a tag on, while it is open whether the tag is replaced; else empty. */
  #tagLink = "";
  #phase = START;
  #quotes = 0;
  #column = 0;
  #marked = false;
  #empty = true;
  #last = "";
  #lineLabel = false;
  #slash = NONE;
  #name = "";
  #doubled = false;
  /** Whether the number of backslashes right before is odd. */
  #odd = false;
  #opener = "";
  #dollar = false;
  #tildes = 0;
  #runColumn = 0;
  #brackets = 0;
  #braces = 0;
  /** Whether open braces have a line end, and a sign of attributes. */
  #bracesWentOn = false;
  #inAttributes = false;
  #address = false;
  #stray = false;
  /** A bracket closed before, with nothing but blanks between; a bracket that no paragraph closed. */
  #bracketClosed = false;
  #openLabel = false;
  #image = false;
  #classMark = "";
  #classMarks = 0;

  constructor(private readonly insideString = false) {}

  get #top(): Frame | undefined {
    return this.#frames[this.#frames.length - 1];
  }

  /** The region for which open brackets or braces of the paragraph count; undefined outside them. */
  get enclosure(): "link" | "markup" | undefined {
    if (this.#brackets > 0) return "link";
    if (this.#classMarks >= FENCE_LENGTH) return "markup";
    if (this.#braces > 0 && (this.#inAttributes || !this.#bracesWentOn)) return "markup";
    const frame = this.#top;
    return frame?.kind === "inline" && frame.depth > 0 ? "link" : frame?.inner?.enclosure;
  }

  /** Whether the last character stands in a fence that every reader of CommonMark takes for code. */
  get inCertainFence(): boolean {
    const frame = this.#top;
    return frame?.kind === "fence" && frame.started && !frame.uncertain;
  }

  /** Whether no option opens the place: the line that opens a fence, and all on which readers disagree. */
  get isSealed(): boolean {
    const frame = this.#top;
    return frame?.kind === "unknown" || (frame?.kind === "fence" && !frame.started);
  }

  /** The destination of the open link as far as it was read; undefined outside links, or beyond 2,048 characters. */
  get destination(): string | undefined {
    const frame = this.#top;
    if (frame?.inner !== undefined) return frame.inner.destination;
    if (frame === undefined || !(isLink(frame.kind) || frame.kind === "angle")) return undefined;
    return frame.length <= LONGEST_DESTINATION ? frame.destination : undefined;
  }

  /** Reads more text. */
  feed(text: string): void {
    this.#recordTagLink(text);
    let at = 0;
    while (at < text.length) {
      if (this.#tainted && this.#frames.length === 0) {
        this.region = "markup";
        this.role = "text";
        return;
      }
      const pattern = this.#phase === BODY ? this.#skippable() : undefined;
      if (pattern !== undefined) pattern.lastIndex = at;
      if (pattern?.test(text)) {
        if (this.#frames.length === 0) this.#noteAddress(text.slice(at, pattern.lastIndex));
        at = pattern.lastIndex;
        this.#last = text.charAt(at - 1);
        this.#odd = this.#afterTag = false;
        this.role = "text";
        this.region = this.#top?.region ?? "prose";
        continue;
      }
      const character = (text.codePointAt(at) ?? 0) > 0xffff ? text.slice(at, at + 2) : text.charAt(at);
      this.#step(character);
      at += character.length;
    }
  }

  /** Reads a text if all of it is prose in the present state and changes none; returns whether it was read. */
  readProse(text: string): boolean {
    if (this.#phase !== BODY || this.#frames.length > 0 || this.#tainted || this.#skippable() === undefined)
      return false;
    PLAIN.lastIndex = 0;
    if (!PLAIN.test(text) || PLAIN.lastIndex < text.length) return false;
    this.feed(text);
    return true;
  }

  /** Notes that a bracket comes that begins a tag, so that the bracket before it begins no JSON. */
  beginTag(): void {
    this.#opener = "";
  }

  /**
   * Marks the end of the text as a tag to replace, so that `[person 1]: ` and `[person 1](` begin no link. The caller
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

  /** Applies the outcome of the chunk of the last tag: a tag that stays makes a link of a bracket directly after it. */
  settleTag(isReplaced: boolean): void {
    const text = this.#tagLink;
    this.#tagLink = "";
    if (isReplaced) return;
    this.#bracketClosed ||= this.#afterTag;
    this.#tag = this.#afterTag = false;
    if (text === "") return;
    // A reader of the link sees no region begin in it.
    if (this.#frames.length > 0 || this.#tainted || text.includes("](")) {
      if (this.#top?.kind !== "unknown") this.#giveUp("link");
    } else {
      this.#reopenLink([...text]);
    }
  }

  /** Opens a link at the first character, and reads the others in it. */
  #reopenLink(text: readonly string[]): void {
    const [slash, opener, dollar, last] = [this.#slash, this.#opener, this.#dollar, this.#last];
    const frame = this.#push("link", "link");
    for (const [at, character] of text.entries()) {
      if (at > 0) this.#readLink(frame, character, false);
      if (this.#top !== frame) break;
      this.#last = character;
    }
    this.#last = last;
    if (this.#frames.length > 0) return;
    this.#slash = slash;
    this.#opener = opener;
    this.#dollar = dollar;
  }

  /** Records the text from a bracket directly after a tag on, for `settleTag`. */
  #recordTagLink(text: string): void {
    if (this.#tagLink !== "" || (this.#tag && text.startsWith("(") && this.#frames.length === 0)) this.#tagLink += text;
  }

  /** Notes that the text so far ends with a surrogate, whose original may be an address. */
  markSurrogate(): void {
    this.#address = true;
  }

  /** The pattern of the characters that change nothing in the present state. */
  #skippable(): RegExp | undefined {
    const frame = this.#top;
    const last = this.#last;
    if (last === "\r") return undefined;
    if (frame === undefined) {
      const busy = this.#slash || this.#opener || this.#dollar || this.#tildes || this.#tagColon;
      const line = this.#bracketClosed || this.#classMark;
      return busy || line || last === "]" || last === "<" || last === "" ? undefined : PLAIN;
    }
    if (frame.opening || frame.closing || this.#tildes) return undefined;
    if (frame.kind === "inline" || (frame.kind === "fence" && frame.started)) {
      const busy = last === "<" || last === "]" || last === "\\" || last === "" || frame.tag !== "" || frame.escaped;
      return busy || (frame.kind === "fence" && (frame.depth || frame.quote)) ? undefined : PLAIN_CODE;
    }
    return frame.kind === "unknown" ? PLAIN_LINE : undefined;
  }

  /** Reads one character; returns its region. */
  step(character: string): Region {
    this.#recordTagLink(character);
    return this.#step(character);
  }

  #step(character: string): Region {
    this.role = "text";
    if (this.#tainted && this.#frames.length === 0) {
      this.region = "markup";
      return this.region;
    }
    this.#afterTag = this.#tag;
    this.#tag = false;
    if (this.#tagColon) {
      this.#tagColon = false;
      if (!isBlank(character)) this.#push("definition", "link"); // its chunk may keep the tag, which defines a link
    }
    const atStart = this.#phase === START && !isBlank(character) && character !== ">";
    if (character === "<") this.#angleAtStart = atStart;
    this.#resolveRuns(character);
    const loneReturn = this.#last === "\r" && character !== "\n"; // a line end for readers of Markdown
    if ((loneReturn || DISPUTED.test(character)) && this.#top?.kind !== "unknown") this.#giveUp("markup");
    this.#advanceLine(character);
    this.#countMarks(character);
    this.#countClassMarks(character, atStart);
    this.region = this.#read(character, atStart);
    const closed = character === "]" && !this.#odd;
    this.#bracketClosed = closed || (this.#bracketClosed && (character === " " || character === "\t"));
    if (character === "\n") this.#endLine();
    // A reader who pairs that backtick sees other code behind.
    if (this.#stray && this.#frames.length === 0) this.#giveUp("markup");
    if (this.#tainted && this.#frames.length === 0) this.region = "markup";
    this.#last = character;
    this.#odd = character === "\\" && !this.#odd;
    return this.region;
  }

  // Marks of the paragraph

  /** Counts open brackets, and notes whether the characters since the last blank may be an address. */
  #countMarks(character: string): void {
    const frame = this.#top;
    const kind = frame?.kind;
    if (frame?.kind === "inline") {
      if (character === "[" || character === "{") frame.depth++;
      else if (character === "]" || character === "}") frame.depth = Math.max(0, frame.depth - 1);
    }
    if (kind === "inline" || kind === "fence" || kind === "unknown" || kind === "json") return;
    if (character === "[" && !this.#odd) {
      this.#image = this.#last === "!" || (this.#image && this.#brackets > 0);
      this.#brackets++;
    } else if (character === "]" && !this.#odd) {
      // In math or an address a reader may see the bracket go on.
      const goesOn = this.#dollar || kind === "angle" || MATH.has(kind ?? "");
      if (!goesOn) this.#brackets = Math.max(0, this.#brackets - 1);
    }
    this.#noteAddress(character);
  }

  /** Takes a line that begins with three marks, as `!!! note`, for the name of a class. */
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
    const open = this.#braces > 0;
    this.#bracesWentOn = open && (this.#bracesWentOn || text.includes("\n"));
    this.#inAttributes = open && (this.#inAttributes || /[=#]/.test(text));
    const blank = Math.max(...[" ", "\t", "\r", "\n"].map((character) => text.lastIndexOf(character)));
    if (blank >= 0) this.#address = IN_ADDRESS.test(text.slice(blank + 1));
    else this.#address ||= IN_ADDRESS.test(this.#last + text);
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
      this.#marked ||= this.#phase === START;
    }
    if (!isBlank(character) && character !== ">") this.#empty = false;
  }

  #endLine(): void {
    const frame = this.#top;
    if (this.#empty) this.#endParagraph();
    else if (frame?.kind === "definition" && frame.started && !frame.angle && frame.quote === "") {
      if (frame.opening || frame.closing >= TITLE) this.#pop();
      else frame.opening = true; // a title may stand in the next line
    }
    this.#phase = START;
    this.#quotes = this.#column = 0;
    this.#marked = false;
    this.#empty = true;
  }

  #endParagraph(): void {
    const top = this.#top;
    if (this.#quotes > 0 && top !== undefined && ["inline", "link", "definition", "angle"].includes(top.kind)) {
      this.#giveUp(top.region); // behind four blanks the mark of a quotation is text, and the paragraph goes on
      return;
    }
    if (this.#quotes > 0 && (this.#brackets > 0 || this.#braces > 0)) return;
    this.#openLabel ||= this.#brackets > 0; // some readers know labels with empty lines
    this.#lineLabel = this.#abbreviation = false;
    this.#braces = 0;
    if (!this.#image) this.#brackets = 0; // the text of an image may have empty lines
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
    if (this.#frames.some(({ kind }) => kind === "fence" || BLOCK_MATH.has(kind))) return;
    // Code that no mark closes is text for a reader of Markdown.
    this.#tainted ||= this.#frames.some(
      ({ kind, lost, tainted }) => (kind === "angle" && !lost) || (kind === "inline" && tainted),
    );
    this.#frames = this.#frames.filter(({ kind }) => BLOCKS.has(kind));
    this.#slash = NONE;
    this.#dollar = false;
    this.#html &&= this.#quotes > 0; // an empty quotation ends no block of HTML before it
  }

  // Code

  /** Ends a run of backticks or tildes before the first other character. */
  #resolveRuns(character: string): void {
    if (this.#tildes > 0 && character !== "~") {
      const count = this.#tildes;
      this.#tildes = 0;
      if (count >= FENCE_LENGTH) {
        if (this.#top?.kind === "inline") this.#tainted = this.#frames.pop()?.tainted || this.#tainted;
        this.#openFence("~", count);
      }
    }
    const frame = this.#top;
    if (frame?.kind !== "inline" || character === "`") return;
    if (frame.opening) {
      frame.opening = false;
      if (frame.runAtStart && frame.count >= FENCE_LENGTH) {
        this.#frames.pop();
        this.#openFence("`", frame.count);
      } else if (NO_FENCE.has(this.#frames.at(-2)?.kind ?? "")) {
        this.#frames.pop();
        this.#stray = true;
      }
    } else if (frame.closing > 0) {
      const count = frame.closing;
      frame.closing = 0;
      if (frame.runAtStart && count >= FENCE_LENGTH) {
        this.#frames.pop();
        this.#tainted ||= frame.tainted;
        this.#openFence("`", count).torn = count === frame.count; // the run closes code for some readers
      } else if (count === frame.count) {
        this.#closeCode(frame);
      }
    }
  }

  #openFence(mark: string, count: number): Frame {
    const frame = new Frame("fence", "code");
    frame.mark = mark;
    frame.count = count;
    frame.quotes = this.#quotes;
    frame.column = this.#runColumn;
    frame.nested = this.#marked || frame.column >= NESTED_INDENT;
    frame.exact = !this.#marked && this.#quotes === 0 && frame.column === 0;
    frame.uncertain = !frame.exact || this.#html || this.#disputed || this.#frames.length > 0;
    frame.tainted = this.#html; // an empty line ends the HTML, and with it the reading without a fence
    this.#frames.push(frame);
    return frame;
  }

  /** Closes code; if a reader may take it for text that opens something, nothing behind it is prose. */
  #closeCode(frame: Frame): void {
    this.#pop();
    const open = frame.hazard || frame.depth > 0 || frame.tag !== "";
    // A reader who knows no fences sees a link or tag go on behind this one.
    const tag = frame.tag === "'" || frame.tag === '"' || (frame.tag !== "" && beginsBlock(frame.destination));
    const goesOn = frame.kind === "fence" && (frame.depth > 0 || frame.quote !== "" || tag);
    if (frame.shifted || frame.torn || goesOn || (frame.uncertain && open)) this.#giveUp("code");
    else if (frame.kind === "fence" && frame.tag !== "") this.#push("angle", "markup").lost = true;
    // A reader may pair its marks with others of the paragraph.
    else if (frame.kind === "fence" && frame.uncertain) this.#html = true;
  }

  /** Closes a fence; Python-Markdown knows only those whose two lines are alike and not indented. */
  #closeFence(frame: Frame): void {
    const exact = frame.opening && frame.closing === frame.count;
    frame.torn ||= exact !== frame.exact;
    this.#closeCode(frame);
  }

  /** Notes what opens markup, a command or a link for a reader who sees no code: behind it no code is certain. */
  #noteHazard(frame: Frame, character: string): void {
    const last = this.#last;
    let region: Region;
    if (frame.tag !== "") this.#readTagInCode(frame, character);
    if (last === "<" && opensMarkup(character)) {
      region = "markup";
      frame.hazard ||= character === "!" || character === "?";
      frame.tag = "name";
      frame.destination = character;
    } else if (last === "]" && (character === "(" || character === ":")) {
      region = "link";
      frame.hazard = true;
    } else if (last === "\\" && LETTER.test(character)) {
      frame.escaped = true; // one letter alone is no command
      return;
    } else if (frame.escaped && (LETTER.test(character) || "{[*%".includes(character))) {
      region = "link";
      frame.hazard = true;
      frame.escaped = false;
    } else {
      frame.escaped &&= isBlank(character);
      return;
    }
    if (frame.kind === "inline" || frame.uncertain) frame.region = region; // a run may close it, or none
  }

  /** Follows a tag until it ends; what readers may read in two ways is a hazard. */
  #readTagInCode(frame: Frame, character: string): void {
    const part = frame.tag;
    if (character === "<" || character === "`" || (character === ">" && this.#phase === START)) {
      frame.hazard = true; // or the mark of a quotation
    } else if (part === "'" || part === '"') {
      if (character === part) frame.tag = "attributes";
    } else if (character === ">") {
      frame.hazard ||= frame.kind === "inline" && beginsBlock(frame.destination);
      frame.hazard ||= takesInText(frame.destination);
      frame.tag = "";
    } else if ("'\"=".includes(character)) {
      frame.hazard ||= part === "value" || (part === "=") === (character === "=");
      frame.tag = character;
    } else if (isBlank(character)) {
      if (part !== "=") frame.tag = "attributes";
    } else if (part === "=") {
      frame.tag = "value";
    } else if (part === "name" && frame.destination.length < LONGEST_NAME) {
      frame.destination += character;
    }
  }

  #readFence(frame: Frame, character: string, atStart: boolean): Region {
    this.#noteHazard(frame, character);
    if (!frame.started) {
      if (character === "\n") {
        frame.started = true;
        frame.exact &&= INFO.test(frame.info);
        frame.uncertain ||= !frame.exact;
      } else if (character === "`" && frame.mark === "`") {
        frame.kind = "inline"; // code in a line
        frame.closing = 1;
        frame.runAtStart = frame.opening = false;
      } else if (frame.info.length <= LONGEST_NAME) {
        frame.info += character;
      }
      return frame.region;
    }
    this.#followLinkInFence(frame, character, atStart);
    if (atStart) {
      const column = this.#column - 1;
      const leftList = frame.nested && this.#quotes === frame.quotes && column < frame.column;
      if (this.#quotes < frame.quotes || leftList) {
        this.#frames = [new Frame("unknown", "code")]; // readers disagree on where it ends
        return "code";
      }
      const deep = column >= frame.column + CODE_INDENT || this.#quotes !== frame.quotes || this.#marked;
      frame.closing = deep || character !== frame.mark ? 0 : 1;
      frame.opening = column === 0;
      frame.shifted = column !== frame.column && Math.max(column, frame.column) >= CODE_INDENT;
    } else if (frame.closing > 0 && character === frame.mark && this.#last === frame.mark) {
      frame.closing++;
    } else if (frame.closing > 0 && !isBlank(character)) {
      frame.closing = 0;
    } else if (character === "\n" && frame.closing > 0) {
      if (frame.closing >= frame.count) this.#closeFence(frame);
      frame.closing = 0;
    }
    return frame.region;
  }

  /** Follows a link or definition that a reader without fences sees; `depth` and `quote` keep it open. */
  #followLinkInFence(frame: Frame, character: string, atStart: boolean): void {
    if (this.#last === "]" && character === "(") frame.depth = 1;
    else if (frame.depth > 0 && character === "(") frame.depth++;
    else if (frame.depth > 0 && character === ")") frame.depth--;
    if (this.#last === "]" && character === ":") frame.quote = character;
    else if (!isBlank(character) && !frame.closing && !(atStart && character === frame.mark)) frame.quote = "";
  }

  #readInline(frame: Frame, character: string, atStart: boolean): Region {
    if ((atStart && !LETTER.test(character) && character < "\x80") || (character === ">" && this.#phase === START))
      frame.torn ||= frame.info.includes("\n"); // another block may begin with this line
    if (character === "\n") frame.info = character;
    if (character === "`") {
      if (frame.opening) {
        frame.count++;
      } else {
        if (frame.closing === 0) {
          frame.runAtStart = atStart;
          this.#runColumn = this.#column - 1;
        }
        frame.closing++;
      }
    } else if (character === "~" && (atStart || this.#tildes > 0)) {
      this.#countTilde();
    } else {
      frame.tainted ||= this.#last === "<" && opensMarkup(character);
      this.#noteHazard(frame, character);
      frame.uncertain ||= character === "\n" || character === "|"; // another block or cell may begin there
    }
    return frame.region;
  }

  #countTilde(): void {
    if (this.#tildes === 0) this.#runColumn = this.#column - 1;
    this.#tildes++;
  }

  // Everything else

  #push(kind: Kind, region: Region): Frame {
    const frame = new Frame(kind, region);
    if (this.#frames.length < DEEPEST) this.#frames.push(frame);
    else this.#frames = [new Frame("unknown", "markup")]; // the cost of a blank line grows with the depth
    this.#forget();
    return frame;
  }

  #pop(): void {
    this.#frames.pop();
    this.#forget();
  }

  /** Takes all that follows for one region. */
  #giveUp(region: Region): void {
    this.#frames = [new Frame("unknown", region)];
    this.#forget();
  }

  #forget(): void {
    this.#slash = NONE;
    this.#opener = "";
    this.#dollar = false;
  }

  #read(character: string, atStart: boolean): Region {
    let frame = this.#top;
    if (frame?.kind === "unknown") return frame.region;
    if (frame?.kind === "angle") return this.#readAngle(frame, character);
    if (frame?.kind === "fence") return this.#readFence(frame, character, atStart);
    if (frame?.kind === "inline") return this.#readInline(frame, character, atStart);
    if (character === "~" && (atStart || this.#tildes > 0)) {
      this.#countTilde();
      return frame?.region ?? "prose";
    }
    if (frame?.kind === "definition" && this.#isNoDefinition(frame, character, atStart)) {
      this.#pop();
      frame = this.#top;
    }
    let escaped = false;
    if (frame?.kind === "json") this.#readJson(frame, character);
    else escaped = this.#odd;
    if (this.#dollar && this.#openMath(character)) return "math";
    frame ??= this.#top;
    if (this.#readCommand(frame, character)) return this.#regionOf(frame);
    if (frame !== undefined && this.#readEnd(frame, character, escaped)) return frame.region;
    this.#readOpenings(frame, character, atStart, escaped);
    return this.#regionOf(frame);
  }

  #regionOf(frame: Frame | undefined): Region {
    if (frame === undefined) return this.#top?.region ?? "prose";
    const inner = frame.kind === "json" ? (frame.inner?.region ?? "prose") : "prose";
    if (inner === "json") this.role = "spoiler";
    else if (inner !== "prose") return inner;
    return frame.region;
  }

  /** Follows a TeX command; returns whether the character is done with. */
  #readCommand(frame: Frame | undefined, character: string): boolean {
    const kind = frame?.kind;
    const slash = this.#slash;
    const opensMath =
      (character === "(" || character === "[") && !(MATH.has(kind ?? "") || isLink(kind) || kind === "json");
    if (slash === NONE) {
      if (character !== "\\") return false;
      this.#slash = SLASH;
      this.#doubled = false;
      return !isLink(kind);
    }
    if (slash === SLASH) {
      this.#slash = NONE;
      if (character === "\\") {
        this.#slash = SLASH; // a reader may take it for an escape, another for the same as one
        this.#doubled = !this.#doubled;
      } else if (LETTER.test(character)) {
        this.#slash = NAME;
        this.#name = character;
      } else if ((kind === "paren" && character === ")") || (kind === "bracket" && character === "]")) {
        if (frame?.count === 1) this.#pop();
      } else if (opensMath) {
        this.#push(character === "(" ? "paren" : "bracket", "math");
      } else {
        return "{}$`".includes(character) && !this.#doubled && !isLink(kind);
      }
      return !isLink(kind);
    }
    if (slash === NAME && LETTER.test(character)) {
      if (this.#name.length < LONGEST_NAME) this.#name += character;
      return false;
    }
    if (slash === NAME && this.#name.endsWith("def")) {
      this.#giveUp("link"); // its macros may take what stands without braces
      return true;
    }
    if (character === "\\" && slash !== COMMENT) {
      this.#slash = SLASH;
      this.#doubled = false;
      return !isLink(kind);
    }
    if (slash === COMMENT && this.#odd && opensMath) {
      this.#push(character === "(" ? "paren" : "bracket", "math"); // text has no comments
      return true;
    }
    if (slash === NAME && character === "*") return false;
    if (slash === COMMENT || isBlank(character) || character === "%") {
      this.#slash = character === "%" || (slash === COMMENT && character !== "\n") ? COMMENT : ARGUMENTS;
      return false;
    }
    this.#slash = NONE;
    if (character === "{" && !isLink(kind)) {
      const name = this.#name;
      const inherited = frame?.region === "link";
      if (name === "begin" && !inherited) this.#push("begin", "math");
      this.#push("command", SHOWN.has(name) && !inherited ? "math" : "link");
      this.#name = name;
      return true;
    }
    if (character === "[" && slash === NAME && !isLink(kind) && kind !== "json") {
      this.#push("option", "link");
      return true;
    }
    return false;
  }

  /** Follows what closes a region; returns whether the character is done with. */
  #readEnd(frame: Frame, character: string, escaped: boolean): boolean {
    const { kind } = frame;
    if (isLink(kind)) return this.#readLink(frame, character, escaped);
    if (escaped || this.#slash === SLASH) return false;
    if (BLOCK_MATH.has(kind) || kind === "dollar" || kind === "paren") {
      if (character === "{") frame.count++;
      else if (character === "}" && frame.count > 1) frame.count--;
    }
    if (kind === "dollar" && character === "$" && frame.count === 1) {
      this.#pop();
      return true;
    }
    if (kind === "dollars" && character === "$" && frame.count === 1) {
      if (++frame.closing === 2) this.#pop();
      return true;
    }
    if (kind === "command" && (character === "{" || character === "}")) {
      frame.count += character === "{" ? 1 : -1;
      if (frame.count === 0) this.#closeCommand();
      return true;
    }
    if (kind === "option" && character === "]") {
      this.#pop();
      this.#slash = ARGUMENTS;
      return true;
    }
    if (kind === "dollars") frame.closing = 0;
    return false;
  }

  #closeCommand(): void {
    this.#pop();
    if (this.#name === "end" && this.#top?.kind === "begin") this.#pop();
    this.#slash = ARGUMENTS;
    if (this.#name === "begin" || this.#name === "end") this.#name = "";
  }

  #readLink(frame: Frame, character: string, escaped: boolean): boolean {
    if (frame.length <= LONGEST_DESTINATION && (frame.length > 0 || !(isBlank(character) || character === "<"))) {
      frame.destination += character;
      frame.length++;
    }
    const last = this.#last;
    if ((last === "]" && (character === "(" || character === ":")) || (last === "\\" && LETTER.test(character))) {
      this.#giveUp("link"); // no link has this, so a reader may see another one begin
      return true;
    }
    if (frame.kind === "link" && !frame.nested) {
      this.#readPlainLink(frame, character);
      return true;
    }
    const goesOn = escaped || (frame.escaped && character === "\n");
    frame.escaped = escaped && character === "\r";
    if (goesOn || character === "\\") {
      frame.started = true;
      return false;
    }
    if (!frame.started) {
      if (isBlank(character) || (character === ">" && this.#phase === START)) {
        frame.hazard ||= character === "\n";
        return false;
      }
      frame.started = true;
      if (character === "<") {
        frame.angle = frame.hazard = true;
        return true;
      }
    }
    if (frame.angle) {
      if (character === ">" && this.#phase !== START) frame.angle = false;
      else if (isBlank(character) || UNLIKE_LINK.includes(character) || character === "~" || character === ">")
        this.#giveUp("link");
      return true;
    }
    if (frame.kind === "definition") {
      // For a reader who sees no definition, these open something.
      if (character === "`" || character === "$" || character === "<") this.#giveUp("link");
      return false;
    }
    // Few readers take such brackets for a link.
    if (character === "(") frame.count++;
    else if (character === ")" && --frame.count === 0) this.#pop();
    return character === "(" || character === ")";
  }

  /** Reads `(address "title")`; whatever is unlike that, readers end at different places. */
  #readPlainLink(frame: Frame, character: string): void {
    const unlikeLink = UNLIKE_LINK.includes(character);
    const blank = character === " " || character === "\t";
    let unlike: boolean;
    if (frame.angle) {
      frame.angle = character !== ">";
      frame.closing = frame.angle ? 0 : 1;
      unlike = isBlank(character) || (frame.angle && unlikeLink);
    } else if (frame.quote !== "") {
      if (character === frame.quote) {
        frame.quote = "";
        frame.closing++;
      }
      unlike = frame.quote !== "" && unlikeLink;
    } else if (character === ")") {
      frame.count--;
      unlike = frame.count > 0 && frame.closing > 0;
      if (frame.count === 0) this.#pop();
    } else if (blank) {
      if (frame.started) frame.closing ||= 1;
      unlike = frame.count > 1;
    } else if (!frame.started) {
      frame.started = true;
      frame.angle = character === "<";
      unlike = !frame.angle && unlikeLink;
    } else if (frame.closing === 1 && (character === '"' || character === "'") && " \t".includes(this.#last)) {
      frame.quote = character;
      unlike = false;
    } else {
      if (character === "(") frame.count++;
      unlike = frame.closing > 0 || (character !== "(" && unlikeLink);
    }
    if (unlike) this.#giveUp("link");
  }

  /** Follows destination and title; returns whether the character cannot belong to a definition. */
  #isNoDefinition(frame: Frame, character: string, atStart: boolean): boolean {
    if (!frame.started || frame.angle) return false;
    if (frame.quote !== "") {
      if (character === frame.quote && !this.#odd) frame.quote = "";
      return false;
    }
    if (frame.opening && !atStart) return false; // between two lines
    if (!frame.opening) {
      if (isBlank(character)) frame.closing ||= 1;
      if (isBlank(character) || frame.closing === 0) {
        frame.hazard ||= NO_DESTINATION.test(character);
        return false;
      }
    }
    if ("\"'(".includes(character) && frame.closing < TITLE) {
      frame.quote = character === "(" ? ")" : character;
      frame.closing = TITLE;
      frame.opening = false;
      return false;
    }
    return frame.opening || (frame.closing === 1 && !frame.hazard && this.#frames.length === 1);
  }

  #readOpenings(frame: Frame | undefined, character: string, atStart: boolean, escaped: boolean): void {
    const kind = frame?.kind;
    const last = this.#last;
    // Some readers drop the backslash.
    if (last === "<" && (opensMarkup(character) || (character === "\\" && frame === undefined))) {
      if (frame === undefined) {
        const opened = this.#push("angle", "markup");
        opened.destination = character;
        opened.length = 1;
        opened.nested = this.#angleAtStart;
        return;
      }
      this.#giveUp("markup"); // a reader may see no such region, but the tag
      return;
    }
    if (character === "`" && !escaped) {
      if (atStart || !NO_FENCE.has(kind ?? "")) {
        const opened = this.#push("inline", "code");
        opened.opening = true;
        opened.runAtStart = atStart;
        this.#html ||= this.#address || kind !== undefined; // the address or region may have this backtick
        opened.uncertain = this.#html || this.#disputed;
        this.#runColumn = this.#column - 1;
      } else {
        this.#stray = true;
      }
      return;
    }
    const opensLink = (last === "]" || this.#bracketClosed) && character === "(" && !isLink(kind);
    // Else the outcome of the tag decides.
    if (opensLink && !(this.#afterTag && this.#tagLink !== "")) {
      this.#push("link", "link").nested = last !== "]";
      return;
    }
    if (last === "]" && character === ":" && (this.#lineLabel || this.#openLabel) && !isLink(kind)) {
      this.#tagColon = this.#afterTag;
      if (!this.#afterTag) this.#push("definition", "link").hazard = this.#abbreviation;
      return;
    }
    this.#abbreviation ||= character === "[" && last === "*"; // all its line is an attribute
    this.#lineLabel ||= this.#abbreviation;
    this.#lineLabel ||= character === "[" && (atStart || this.#disputed);
    if (frame !== undefined) return;
    if (this.#opener !== "" && !isBlank(character)) {
      const opener = this.#opener;
      this.#opener = "";
      if ((opener === "{" ? '"}' : '[{"').includes(character)) {
        const opening = opener + character;
        this.#brackets = Math.max(0, this.#brackets - (opening.split("[").length - 1));
        if (opener === "{") this.#braces = Math.max(0, this.#braces - 1);
        this.#readJson(this.#push("json", "json"), character);
        return;
      }
    }
    if (character === "{" || character === "[") this.#opener = character;
    if (character === "{") this.#braces++;
    else if (character === "}") this.#braces = Math.max(0, this.#braces - 1);
    this.#dollar = character === "$" && !escaped;
  }

  /** Opens math behind a dollar sign; returns whether the character is done with. */
  #openMath(character: string): boolean {
    this.#dollar = false;
    if (character === "$") {
      this.#push("dollars", "math");
      return true;
    }
    // $[number 1] is an amount.
    if (!isBlank(character) && !isNumeral(character) && character !== "[") this.#push("dollar", "math");
    return false;
  }

  // Markup

  #readAngle(frame: Frame, character: string): Region {
    const name = frame.destination;
    const quotation = character === ">" && this.#phase === START; // which ends no tag
    if (frame.lost || quotation) {
      if (quotation || NOT_LOST.includes(character)) this.#spoilAngle();
      return "markup";
    }
    if (character === ">" && name.endsWith(" ") && !frame.started) {
      this.#spoilAngle(); // markdown2 ends no tag here
      return "markup";
    }
    if (character === ">") {
      this.#frames.pop();
      if (!frame.started) {
        this.#html = true;
        this.#disputed ||= beginsBlock(name);
        this.#tainted ||= !isHarmlessTag(name);
      }
      return frame.region;
    }
    if (isBlank(character)) {
      frame.angle = true; // only words and a slash may follow, and behind a second blank a slash
      frame.quote = character === " " && frame.quote === "" ? "" : "\n";
      if (frame.started) {
        this.#loseAngle(frame, character);
      } else if (frame.length <= LONGEST_NAME) {
        frame.destination += " ";
        frame.length++;
      }
      return "markup";
    }
    const unlike = "<\"'=`".includes(character) && (character !== "=" || frame.region !== "link");
    const behind = frame.angle && (!WORD_IN_TAG.test(character) || (frame.quote !== "" && character !== "/"));
    if (unlike || behind || (!frame.started && frame.length > LONGEST_NAME)) {
      this.#loseAngle(frame, character);
      return "markup";
    }
    if (character === ":" && !frame.started && SCHEME.test(name)) {
      frame.started = true;
      frame.region = "link";
    } else if (character === "@" && !"/!?".includes(name.charAt(0))) {
      frame.started = true;
    }
    if (frame.length <= LONGEST_DESTINATION) {
      frame.destination += character;
      frame.length++;
    }
    return frame.region;
  }

  /** Reads what is no plain tag: in the middle of a line it is a tag, or text, until the paragraph ends. */
  #loseAngle(frame: Frame, character: string): void {
    const name = frame.destination.split(" ")[0] ?? "";
    frame.lost = !(
      frame.nested ||
      this.#html ||
      this.#disputed ||
      beginsBlock(name) ||
      !isHarmlessTag(name) ||
      NOT_LOST.includes(character)
    );
    if (!frame.lost) this.#spoilAngle();
  }

  #spoilAngle(): void {
    this.#frames = [];
    this.#tainted = true;
  }

  // JSON

  #readJson(frame: Frame, character: string): void {
    if (!frame.string) {
      if (!OUTSIDE_STRINGS.test(character)) {
        this.#giveUp("json"); // no JSON, so other readers may see attributes here
        return;
      }
      this.role = '{}[],:"'.includes(character) ? "separator" : "text";
      if (character === '"') {
        frame.string = true;
        frame.inner = this.insideString ? undefined : new Scanner(true);
      } else if (character === "{" || character === "[") {
        frame.count++;
      } else if ((character === "}" || character === "]") && --frame.count === 0) {
        this.#frames = this.#frames.filter((other) => other !== frame);
      }
      return;
    }
    let decoded = character;
    if (frame.unicode !== "") {
      this.role = "spoiler";
      frame.unicode = HEX.test(character) ? frame.unicode + character : "";
      if (frame.unicode.length <= 4) return;
      decoded = String.fromCharCode(Number.parseInt(frame.unicode.slice(1), 16));
      frame.unicode = "";
    } else if (frame.escaped) {
      frame.escaped = false;
      decoded = ESCAPED_BLANKS[character] ?? character;
      if (decoded !== character) {
        this.role = "separator";
      } else {
        this.role = character === '"' ? "ignored" : "spoiler";
        if (character === "u") {
          frame.unicode = "u";
          return;
        }
      }
    } else if (character === "\\") {
      frame.escaped = true;
      this.role = "ignored";
      return;
    } else if (character === '"') {
      this.role = "separator";
      frame.string = false;
      frame.inner = undefined;
      return;
    }
    frame.inner?.step(decoded);
  }
}
