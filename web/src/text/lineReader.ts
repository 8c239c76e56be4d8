/**
 * Lines of a reply that a program may execute or treat as code although no Markdown mark opens a region: shell commands,
 * calls such as `search(NAME)`, addresses in quotation marks, and code with an indentation of four columns
 * (docs/restoring.md, line_reader.py).
 */
import { DirectiveReader } from "./directiveReader.js";

const CODE_INDENT = 4;
const CODE_GAP = 5;
const MAX_ITEMS = 64;
const HEAD_CHARACTERS = 96;
const COMMAND_HEAD = new RegExp(
  "^(?:\\$[ \\t]+[a-z]|/[a-z]|[A-Z][a-z]+-[A-Z][A-Za-z]+[ \\t]+-[A-Za-z]|(?:sudo[ \\t]+)?(?:" +
    "(?:curl|wget|nc|ncat|netcat|ssh|scp|sftp|rsync|ftp|telnet|ping|dig|nslookup|openssl|echo|printf|tee|eval|exec|" +
    "bash|sh|zsh|python3?|perl|ruby|node|php|pwsh|powershell|cmd|git|pip3?|npm|npx|docker|kubectl|sqlite3|psql|mysql|" +
    "aws|gcloud|az)[ \\t]" +
    "|[a-z][a-z0-9._-]*[ \\t]+[\"']?(?:-[A-Za-z]|[a-z][a-z0-9+.-]*://|www\\.|(?:~|\\.{1,2})?/|[\\w.+-]+@|" +
    "[\\w-]+(?:\\.[\\w-]+)+[/:?])))",
);
const OPTION = /[ \t](?:--[A-Za-z]|-[A-Za-z][^A-Za-z])/;
const OPTION_BEFORE_VALUE = /[ \t]-[A-Za-z]$/;
const QUOTED_ADDRESS = /(["'])(?:(?:[a-z][a-z0-9+.-]{0,10}:)?\/\/|www\.|(?:mailto|sms|data|javascript|file):)/gi;
/**
 * Start of an attribute of HTML. The library showdown writes the text of a table head into an attribute without escapes,
 * with `_` for each blank: the first quotation mark ends it, and others may follow.
 */
const ATTRIBUTE = /["/][A-Za-z][\w:-]{0,60}=/;
/** Start of a value that may go on beyond the line. */
const QUOTED_VALUE = /=["']/;
const MAX_ATTRIBUTE_CHARACTERS = 64;
const TAIL_CHARACTERS = 16;

/** Reads the lines of a reply, and decides which positions of running text a program may treat as code. */
export class LineReader {
  /** Whether this line is code by its indentation. */
  isIndented = false;
  #isCommand = false;
  #isAfterBlankLine = true;
  #quotes = 0;
  #markEnd = 0;
  /** Columns at which the text of each open list item begins. */
  readonly #items: number[] = [];
  #head = "";
  #tail = "";
  #quotationMarks = 0;
  #calls = 0;
  #isInSurrogate = false;
  /** The mark that ends the address in quotation marks; empty outside of one. */
  #addressMark = "";
  /** Whether this line has a quotation mark and then an attribute such as `/name=value`. */
  hasAttribute = false;
  /** Whether a line so far has such an attribute and then a value that begins with a quotation mark. */
  hasQuotedValue = false;
  /**
   * The end of the line from the last quotation mark on, or from a later slash on; empty without a mark. After an
   * attribute its last character.
   */
  #attribute = "";
  readonly #directives = new DirectiveReader();

  /** Return whether a program may treat the next character as markup: an attribute, or a directive. */
  isMarkup(beginsUnindentedLine: boolean): boolean {
    return this.#directives.isOpen(beginsUnindentedLine) || this.hasAttribute || this.hasQuotedValue;
  }

  /** Whether a program may treat text at this position as code. */
  get isCode(): boolean {
    const isCommand = this.#isCommand || OPTION_BEFORE_VALUE.test(this.#tail);
    return this.isIndented || isCommand || this.#calls > 0 || this.#addressMark !== "";
  }

  /** Process the start of a line. */
  beginLine(column: number, quotes: number): void {
    if (quotes !== this.#quotes) {
      this.#quotes = quotes;
      this.#items.length = 0;
    }
    const at = column - (quotes > 0 ? 1 : 0);
    this.#directives.beginLine(at);
    const mayBeCode = this.#isAfterBlankLine || this.isIndented;
    while (mayBeCode && at < (this.#items.at(-1) ?? at)) this.#items.pop();
    this.isIndented = mayBeCode && at >= CODE_INDENT + (this.#items.at(-1) ?? 0);
    this.#isAfterBlankLine = false;
  }

  /** Process the blank after a list mark such as `-`. The mark ends before `column`. */
  endListMark(column: number): void {
    this.#markEnd = column - (this.#quotes > 0 ? 1 : 0);
  }

  /** Process the first character of a list item, which is at `column`. */
  beginItem(column: number): void {
    this.#directives.beginItem();
    let at = column - (this.#quotes > 0 ? 1 : 0);
    if (at >= this.#markEnd + CODE_GAP) {
      this.isIndented = true;
      at = this.#markEnd + 1;
    }
    while ((this.#items.at(-1) ?? Number.NEGATIVE_INFINITY) >= this.#markEnd) this.#items.pop();
    if (this.#items.length < MAX_ITEMS) this.#items.push(at);
  }

  /** Process a character of a list mark such as `1.` or `:`. A directive may begin with the same character. */
  readMark(character: string): void {
    this.#directives.readText(character);
  }

  /** Process running text of a line, without its indentation, list marks and line end. */
  readText(text: string): void {
    if (this.#isInSurrogate) return;
    this.#directives.readText(text);
    if (!this.#isCommand && this.#head.length < HEAD_CHARACTERS) {
      this.#head = (this.#head + text).slice(0, HEAD_CHARACTERS);
      this.#isCommand = COMMAND_HEAD.test(this.#head);
    }
    const joined = this.#tail + text;
    this.#isCommand ||= joined.includes("-") && OPTION.test(joined);
    if (this.#calls > 0 || text.includes("(")) this.#countCalls(joined, this.#tail.length);
    const start = this.#tail.length;
    this.#tail = joined.slice(-TAIL_CHARACTERS);
    if (this.#addressMark || /["']/.test(joined)) this.#findQuotedAddresses(joined, start);
    this.#quotationMarks += text.split('"').length - 1;
    this.#findAttribute(text);
  }

  /** Mark the start of a surrogate. The text up to `endSurrogate` is not checked for commands. */
  beginSurrogate(): void {
    this.#isInSurrogate = true;
    this.#isCommand ||= OPTION_BEFORE_VALUE.test(this.#tail);
  }

  /** Mark the end of the surrogate that `beginSurrogate` started. */
  endSurrogate(): void {
    this.#isInSurrogate = false;
    this.readOther();
  }

  /**
   * Process a character that is not running text, such as a mark of inline code; or a surrogate, as no character. Code
   * is not searched for directives.
   */
  readOther(character = "", isCode = false): void {
    if (!(isCode || this.#isInSurrogate)) this.#directives.readText(character || "\0");
    this.#findAttribute(character);
    if (!this.#head.endsWith("\0")) this.#head = `${this.#head}\0`.slice(0, HEAD_CHARACTERS);
    this.#tail = "\0";
  }

  /** Process a line end. */
  endLine(isEmpty: boolean): void {
    this.#directives.endLine();
    const goesOn = this.#quotationMarks % 2 > 0 || /[\\^|&][ \t\r]*$/.test(this.#tail);
    this.#isCommand &&= goesOn && !isEmpty;
    this.#head = this.#tail = this.#attribute = "";
    this.hasAttribute = false;
    if (!this.#isCommand) this.#quotationMarks = 0;
    if (isEmpty) {
      this.#isAfterBlankLine = true;
      this.#calls = 0;
      this.#addressMark = "";
    }
  }

  /** Process the quotation marks around addresses after `start`. A mark either begins or ends an address. */
  #findQuotedAddresses(text: string, start: number): void {
    const tailStart = text.length - this.#tail.length;
    for (let at = start, searchStart = 0; ; ) {
      if (this.#addressMark) {
        at = text.indexOf(this.#addressMark, at);
        if (at < 0) return;
        this.#addressMark = "";
        searchStart = at + 1;
        const place = at - tailStart;
        if (place >= 0) this.#tail = `${this.#tail.slice(0, place)}\0${this.#tail.slice(place + 1)}`;
      }
      QUOTED_ADDRESS.lastIndex = searchStart;
      let match = QUOTED_ADDRESS.exec(text);
      while (match && QUOTED_ADDRESS.lastIndex <= at) match = QUOTED_ADDRESS.exec(text);
      if (!match) return;
      this.#addressMark = match[1] ?? "";
      at = searchStart = QUOTED_ADDRESS.lastIndex;
    }
  }

  /** Process characters of a line that may complete an attribute. */
  #findAttribute(text: string): void {
    const start = this.#attribute ? 0 : text.indexOf('"');
    if (start < 0) return;
    let joined = this.#attribute + text.slice(start);
    const match = this.hasAttribute ? null : ATTRIBUTE.exec(joined);
    if (match !== null) {
      this.hasAttribute = true;
      joined = joined.slice(match.index + match[0].length - 1);
    }
    if (this.hasAttribute) {
      this.hasQuotedValue ||= QUOTED_VALUE.test(joined);
      this.#attribute = text === "" ? "\0" : joined.slice(-1);
      return;
    }
    const last = Math.max(joined.lastIndexOf('"'), joined.lastIndexOf("/"));
    this.#attribute = joined.slice(last, last + MAX_ATTRIBUTE_CHARACTERS);
  }

  #countCalls(text: string, start: number): void {
    for (let at = start; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === ")") this.#calls = Math.max(0, this.#calls - 1);
      else if (character === "(" && (this.#calls > 0 || (at > 0 && /\w/.test(text.charAt(at - 1))))) this.#calls++;
    }
  }
}
