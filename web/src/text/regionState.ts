/** State of the region scanner: the open regions of a reply, and the data about earlier text that it needs. */

import { MAX_TAG_LENGTH } from "./harmlessTags.js";
import { LineReader } from "./lineReader.js";
import type { RegionScanner } from "./regions.js";

/** Region of a character of a reply. */
export type Region = "prose" | "code" | "math" | "json" | "link" | "markup";
/**
 * Role of a character of JSON: a separator ends a chunk, an ignored character has no effect, and a spoiler prevents
 * restoring in its chunk.
 */
export type JsonRole = "text" | "separator" | "ignored" | "spoiler";

/** Return the set of words of a text with single spaces. */
export const splitWords = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Syntax that opens a region. */
export type RegionKind =
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
export const BLOCK_MATH: ReadonlySet<string> = splitWords("dollars bracket begin");
export const BLOCKS: ReadonlySet<string> = splitWords("fence dollars bracket begin json unknown");
export const MATH: ReadonlySet<string> = splitWords("dollars bracket begin dollar paren command option");
export const NO_FENCE: ReadonlySet<string> = splitWords("dollars bracket begin json");

export const MAX_NAME_LENGTH = MAX_TAG_LENGTH;
export const MAX_DESTINATION_LENGTH = 2048;
export const LETTER = /^[A-Za-z]$/;
const MAX_DEPTH = 64;
export const TITLE = 2;
export const FENCE_LENGTH = 3;
export const NESTED_INDENT = 2;
export const CODE_INDENT = 4;
export const TAB = 4;
/** Progress through the marks at the start of a line: quotation marks and blanks, digits, a list mark, the text. */
export const START = 0;
export const DIGITS = 1;
export const MARK = 2;
export const BODY = 3;
/** Progress of a TeX command: none, after the backslash, in its name, after its name or an argument, in a comment. */
export const NONE = 0;
export const SLASH = 1;
export const NAME = 2;
export const ARGUMENTS = 3;
export const COMMENT = 4;
export const isBlank = (character: string): boolean =>
  character === " " || character === "\t" || character === "\r" || character === "\n";
export const isNumeral = (character: string): boolean => character >= "0" && character <= "9" && character.length === 1;
export const opensMarkup = (character: string): boolean =>
  LETTER.test(character) || character === "/" || character === "!" || character === "?";
/**
 * Return whether `>` after this character ends a tag for every viewer. The library markdown2 escapes it after others.
 */
export const mayEndTag = (character: string): boolean => /^[A-Za-z0-9?!/'"-]$/.test(character);
export const isLinkKind = (kind: RegionKind | undefined): boolean => kind === "link" || kind === "definition";

/** A region whose end has not been read yet, with the state of its text so far. */
export class OpenRegion {
  /** Depth of brackets, or length of a fence. */
  count = 1;
  opening = false;
  closing = 0;
  runAtStart = false;
  tainted = false;
  /**
   * For code: whether some viewers treat it as text (`uncertain`), whether it has markup that would open a region for
   * these viewers (`hazard`), and whether its last line has an unusual indentation (`shifted`). A link is uncertain if
   * a line ends before its destination.
   */
  uncertain = false;
  hazard = false;
  shifted = false;
  /** Depth of brackets and braces in code. */
  depth = 0;
  /** Current part of a tag in code, or of a tag such as `[city 1]` in an address; empty outside tags. */
  tag = "";
  /** Whether all viewers recognize the fence. */
  exact = true;
  /** Whether this is a tag only for viewers that find its end in the same paragraph. */
  lost = false;
  /**
   * For a fenced block: whether an empty line splits it, because for some programs it begins as HTML. For a link
   * definition: whether its address has a quotation mark. For a link or an
   * address in angle brackets: whether its address has a tag such as `[city 1]`.
   */
  torn = false;
  info = "";
  /** Whether some viewers display the code as a picture. */
  isPicture = false;
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
  inner: RegionScanner | undefined;

  constructor(
    public kind: RegionKind,
    public region: Region,
  ) {}
}

/** State of the region scanner after a part of the reply: open regions, and marks that affect later text. */
export class RegionState {
  /** The region of the last character. */
  region: Region = "prose";
  /** Role of the last character in JSON; `text` outside JSON. */
  role: JsonRole = "text";
  openRegions: OpenRegion[] = [];
  isTainted = false;
  isHtml = false;
  /** Whether programs disagree, for the rest of the reply, on which text is code or HTML. */
  isDisputed = false;
  angleAtStart = false;
  abbreviation = false;
  tag = false;
  afterTag = false;
  tagColon = false;
  /** Text since a bracket directly after a tag, until it is decided whether the tag is replaced; otherwise empty. */
  tagLink = "";
  phase = START;
  quotes = 0;
  column = 0;
  isListItem = false;
  isEmptyLine = true;
  lastCharacter = "";
  lineLabel = false;
  commandState = NONE;
  commandName = "";
  isDoubledBackslash = false;
  /** Whether the number of backslashes right before is odd. */
  afterOddBackslashes = false;
  opener = "";
  dollar = false;
  tildes = 0;
  runColumn = 0;
  openBrackets = 0;
  openBraces = 0;
  /** Whether the text in open braces has a line end, and whether it has a sign of attributes. */
  bracesSpanLines = false;
  inAttributes = false;
  mayBeAddress = false;
  hasStrayBacktick = false;
  /**
   * Whether a bracket was closed and only blanks follow it; whether a bracket stayed open at the end of a paragraph.
   */
  bracketClosed = false;
  openLabel = false;
  isImage = false;
  classMark = "";
  classMarks = 0;
  /** Number of `<` since a `<` with a backslash, until the next `>`; at most 2. */
  escapedAngles = 0;
  /** In a template tag, from `<%` to `%>`: 1, and 1 more for each `%` right before, at most 3. Elsewhere 0. */
  template = 0;
  templateInCode = false;
  /** Number of open braces at the outermost brace of a template, such as `{{`; 0 outside templates. */
  templateBraces = 0;
  readonly lines = new LineReader();

  constructor(protected readonly isInsideString = false) {}

  /** The innermost open region. */
  get topRegion(): OpenRegion | undefined {
    return this.openRegions[this.openRegions.length - 1];
  }

  /** Open a region inside the current one, and return it. */
  pushRegion(kind: RegionKind, region: Region): OpenRegion {
    const openRegion = new OpenRegion(kind, region);
    if (this.openRegions.length < MAX_DEPTH) this.openRegions.push(openRegion);
    else this.openRegions = [new OpenRegion("unknown", "markup")]; // the cost of a blank line grows with the depth
    this.resetMarks();
    return openRegion;
  }

  /** Close the innermost region. */
  popRegion(): void {
    this.openRegions.pop();
    this.resetMarks();
  }

  /** Treat all following text as `region`, since Markdown viewers may disagree on it. */
  giveUp(region: Region): void {
    this.openRegions = [new OpenRegion("unknown", region)];
    this.resetMarks();
  }

  /** Forget the marks that may open a region. */
  resetMarks(): void {
    this.commandState = NONE;
    this.opener = "";
    this.dollar = false;
  }

  /** Count each `<` that follows an escaped `<`, up to 2. */
  countEscapedAngles(character: string): void {
    if (this.lastCharacter === ">") this.escapedAngles = 0;
    if (character === "<" && (this.escapedAngles > 0 || this.lastCharacter === "\\")) {
      this.escapedAngles = Math.min(this.escapedAngles + 1, 2);
    }
  }

  /**
   * Process a character of a template tag, which begins with `<%` and ends with `%>`. Programs that fill in templates
   * run its content, and Markdown viewers treat the tag in different ways. So if the tag is outside code, and opens
   * another region or is inside one, no later text counts as prose.
   */
  readTemplate(character: string): void {
    let unlike: boolean;
    if (this.template > 0) {
      if (character === ">" && this.template === 2)
        this.template = 0; // ERB does not end a tag at `%%>`
      else this.template = character === "%" ? Math.min(this.template + 1, 3) : 1;
      unlike = "<`$\\[]{}~".includes(character);
    } else if (this.lastCharacter === "<" && character === "%") {
      const kind = this.topRegion?.kind;
      this.template = 1;
      this.templateInCode = kind === "fence" || kind === "inline";
      unlike = kind !== undefined;
    } else return;
    if (unlike && !this.templateInCode) {
      this.template = 0;
      this.giveUp(this.topRegion?.region ?? "markup");
    }
  }

  /** Count open braces. Braces of a template, such as `{{`, `{%` and `#{`, may contain empty lines. */
  countBraces(character: string): void {
    const last = this.lastCharacter;
    const isTemplate = /^(?:\{[{%#]|[#@%]\{)$/.test(last + character);
    if (isTemplate && this.templateBraces === 0) this.templateBraces = Math.max(1, this.openBraces);
    if (character === "{") this.openBraces++;
    else if (character === "}") this.openBraces = Math.max(0, this.openBraces - 1);
    if (this.openBraces < this.templateBraces) this.templateBraces = 0;
  }

  /** Pass the starts of lines, list marks and list items to the line reader. */
  readLineStart(character: string, atStart: boolean): void {
    if (character === "<") this.angleAtStart = atStart;
    if (atStart && this.isEmptyLine) this.lines.beginLine(this.column, this.quotes);
    else if (atStart) this.lines.beginItem(this.column);
    else if (this.phase === MARK && isBlank(character)) this.lines.endListMark(this.column);
  }

  /** Process a character of the indentation or list marks of a line, or the first one of its text. */
  advanceLine(character: string): void {
    const phase = this.phase;
    if (phase === BODY || character === "\n") return;
    this.column += character === "\t" ? TAB - (this.column % TAB) : 1;
    if (phase === START) {
      if (character === ">") {
        this.quotes++;
        this.column = 0;
      } else if ("-+*:".includes(character)) this.phase = MARK;
      else if (isNumeral(character)) this.phase = DIGITS;
      else if (!isBlank(character)) this.phase = BODY;
    } else if (phase === DIGITS) {
      this.phase = isNumeral(character) ? DIGITS : character === "." || character === ")" ? MARK : BODY;
    } else {
      this.phase = isBlank(character) ? START : BODY;
      this.isListItem ||= this.phase === START;
    }
    if (!isBlank(character) && character !== ">") this.isEmptyLine = false;
  }

  /** Pass a character of a line to the line reader, after its indentation and list marks. */
  readInLine(character: string): void {
    if (this.openRegions.length > 0 || this.region !== "prose") this.lines.readOther(character, this.region === "code");
    else this.lines.readText(character);
  }

  /** Count equal marks at the start of a line. Three of them, as in `!!! note`, open a Markdown admonition. */
  countClassMarks(character: string, atStart: boolean): void {
    if (atStart && "!?:".includes(character)) {
      this.classMark = character;
      this.classMarks = 1;
    } else if (character === "\n") {
      this.classMark = "";
      this.classMarks = 0;
    } else if (this.classMark !== "" && character === this.classMark) {
      this.classMarks++;
    } else {
      this.classMark = "";
      if (this.classMarks < FENCE_LENGTH) this.classMarks = 0;
    }
  }
}
