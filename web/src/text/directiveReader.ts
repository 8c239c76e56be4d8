/**
 * Directives of a reply: texts by which a markup language other than Markdown loads a file or defines a value, such as
 * `.. image:: HOST`, `[img]HOST[/img]` and `&lt;img src=HOST` (docs/restoring.md, directive_reader.py).
 */
import { isBareTag, MAX_TAG_LENGTH } from "./harmlessTags.js";

const HEAD_CHARACTERS = 96;
const TAIL_CHARACTERS = 48;
/** Start of a directive that continues on indented lines. */
const INDENTED_HEAD = /^(?:\.\.[ \t]|__[ \t]|:[!a-zA-Z0-9_][^:\0]{0,80}:[ \t])/u;
/** A line with such a start alone: the value is on the indented lines after it. */
const BARE_HEAD = /^(?:\.\.|__|:[!a-z0-9_][^:\0]{0,80}:)$/u;
/** Start of a directive of one line. */
const LINE_HEAD = /^(?:#\+[a-z]|[a-z][a-z0-9_-]{0,40}::[^ \t\r\n:]|![a-z]|=[a-z]{3})/i;
/** First line of a block of directives, and the start of its last line. */
const BLOCK_HEAD = /^(begin:|#\+begin[_:]|@start)([a-z][a-z0-9_-]{0,40})/;
const BLOCK_ENDS: Readonly<Record<string, string>> = {
  "begin:": "end:",
  "#+begin_": "#+end_",
  "#+begin:": "#+end:",
  "@start": "@end",
};
/** End of a line of a directive that the next line continues, even without indentation. */
const CONTINUES = /[\\+][ \t\r]*$/;
const CODE_NAMES =
  "attach|attachment|audio|avatar|background|bg|email|embed|file|flash|font|ftp|gallery|gif|html|icon|iframe|" +
  "image|imageleft|imageright|img|imgur|iurl|link|mail|media|mp3|mp4|photo|pic|picture|playlist|soundcloud|spotify|" +
  "src|swf|thumb|thumbnail|tweet|twitter|url|video|vimeo|youtube";
/** Start of a tag of BBCode or of similar codes whose content may be an address, or the end of its content. */
const CODE_TAG = new RegExp(`\\[(?:/(${CODE_NAMES})\\]|(${CODE_NAMES})([\\] \\t=:]))`, "gi");
/** Text before the content of such a tag that a program may drop: blanks, and other tags in brackets. */
const BEFORE_CONTENT = /^(?:[ \t\r\n]|\[[^[\]]{0,254}\])*/u;
/** Characters of an address with a host or a scheme, in the first word of the content. */
const ADDRESS = /[/\\@]|[.:][^ \t\r\n]|&#/;
const MAX_CONTENT_CHARACTERS = 256;
/** Within a line, the start of an address in AsciiDoc or in the markup of wikis. */
const INLINE = /(?:image|icon|link|video|audio|include|xref|pass):{1,2}[^ \t\r\n:]|!(?:[a-z]{2,8}:)?\/\//i;
/** An encoded `<` with the first character of the name of a tag, which may be encoded too. `=3cm` is a length. */
const ENCODED_TAG = new RegExp(
  "(?:(?:(?:&|%26|\\\\(?:u00|x)26)(?:(?:amp|#0{0,2}38|#x0{0,2}26);){0,3}(?:lt|#0{0,6}60|#x0{0,5}3c);?" +
    "|(?:%(?:25){0,3}|\\\\x|[\\\\%]u\\{?0{0,6})3c\\}?|\\\\0?74|\\+adw[-a])" +
    "([a-z/!?&%\\\\+])|=3c([a-ln-z/!?&%\\\\]|m[a-z]|=[2-7])|<(&[#a-z]|%[0-9a-f]|\\\\[ux0-7])" +
    "|[\uff1c\ufe64]([^ \\t\\r\\n0-9=;<.,\\-\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]))",
  "gi",
);
/** A whole tag without attributes, from the character after the encoded `<` to an encoded `>`. */
const BARE_TAG =
  /^(\/?[a-z][a-z0-9_]*\/?)(?:>|&(?:amp;){0,3}(?:gt|#0{0,6}62|#x0{0,5}3e);|%(?:25){0,3}3e|=3e|\\x3e|\\u003e)/i;
/** A character without which no text within a line begins a directive. */
const SIGN = /[[\]=:/&%<\\+\uff1c\ufe64]/;
const MAX_ENCODED_TAG = MAX_TAG_LENGTH + 24;

/** Scans the lines of a reply, and finds the positions that are in a directive of some markup language. */
export class DirectiveReader {
  #head = "";
  #tail = "";
  #isLine = false;
  #isIndented = false;
  #isEncoded = false;
  /** The line that ends the open block, such as `end:vcard`; empty outside of a block. */
  #blockEnd = "";
  /**
   * Names of the tags of BBCode whose content has just begun, and its text so far; names of the open tags whose content
   * is an address.
   */
  readonly #codes = new Set<string>();
  #content = "";
  readonly #addressCodes = new Set<string>();
  /** The text after an encoded `<`, until it is known whether it is a harmless tag; empty elsewhere. */
  #tag = "";

  /** Return whether the next character, which may begin a line without indentation, belongs to a directive. */
  isOpen(beginsUnindentedLine: boolean): boolean {
    const isIndented = this.#isIndented && !beginsUnindentedLine;
    const isOpen = this.#isLine || isIndented || this.#isEncoded;
    return isOpen || this.#blockEnd !== "" || this.#tag !== "" || this.#addressCodes.size > 0;
  }

  /** Process the start of a line, whose first character is at `column`, counted from 0. */
  beginLine(column: number): void {
    this.#head = "";
    this.#isIndented &&= column > 0;
  }

  /** Process the start of the text of a list item, which may be a directive as a line may. */
  beginItem(): void {
    this.#head = "";
  }

  /** Process characters of a line outside of code; `"\0"` represents a surrogate. */
  readText(text: string): void {
    if (this.#isEncoded) return;
    if (this.#head.length < 2 * HEAD_CHARACTERS) {
      this.#head = (this.#head + text).slice(0, 2 * HEAD_CHARACTERS);
      this.#isIndented ||= INDENTED_HEAD.test(this.#head);
      this.#isLine ||= this.#isIndented || LINE_HEAD.test(this.#head);
    }
    let start = this.#tail.length;
    let joined = this.#tail + text;
    if (this.#tag) {
      joined = text.slice(this.#readTag(text, 0));
      start = 0;
    }
    this.#tail = joined.slice(-TAIL_CHARACTERS);
    if (this.#codes.size === 0 && !SIGN.test(joined)) return;
    this.#isLine ||= INLINE.test(joined);
    this.#readCodes(joined, start);
    this.#findEncodedTag(joined, start);
  }

  /** Process a line end. */
  endLine(): void {
    const head = [...this.#head]
      .slice(0, HEAD_CHARACTERS)
      .join("")
      .replace(/[ \t\r]+$/, "")
      .toLowerCase();
    this.#isEncoded ||= this.#tag !== "";
    if (this.#blockEnd) this.#blockEnd = head === this.#blockEnd ? "" : this.#blockEnd;
    else {
      const match = BLOCK_HEAD.exec(head);
      this.#blockEnd = match === null ? "" : `${BLOCK_ENDS[match[1] ?? ""]}${match[2]}`;
    }
    this.#readContent("\n");
    this.#isIndented ||= BARE_HEAD.test(head);
    this.#isLine = (this.#isLine || this.#isIndented) && CONTINUES.test(this.#tail);
    this.#head = this.#tail = this.#tag = "";
  }

  /** Read more of a tag after an encoded `<`. Return the index after the tag if it is harmless and has ended. */
  #readTag(text: string, start: number): number {
    const length = this.#tag.length;
    this.#tag += text.slice(start, start + MAX_ENCODED_TAG + 1);
    const match = BARE_TAG.exec(this.#tag);
    if (match !== null && isBareTag(match[1] ?? "")) {
      this.#tag = "";
      return start + match[0].length - length;
    }
    this.#isEncoded ||= match !== null || this.#tag.length > MAX_ENCODED_TAG;
    return text.length;
  }

  /** Process the tags of BBCode in `text` of which a part is after `joinedStart`, and the text between them. */
  #readCodes(text: string, joinedStart: number): void {
    let start = joinedStart;
    for (const match of text.matchAll(CODE_TAG)) {
      const end = match.index + match[0].length;
      if (end <= start) continue;
      this.#readContent(text.slice(start, end));
      start = end;
      const [, closed, name = ""] = match;
      if (closed !== undefined) {
        this.#codes.delete(closed.toLowerCase());
        this.#addressCodes.delete(closed.toLowerCase());
      } else {
        this.#codes.add(name.toLowerCase());
        this.#content = match[3] === "]" ? "" : "[";
      }
    }
    this.#readContent(text.slice(start));
  }

  /** Read the start of the content of the open tags of BBCode, until it is known whether it is an address. */
  #readContent(text: string): void {
    if (this.#codes.size === 0) return;
    const joined = this.#content + text;
    const content = joined.slice(BEFORE_CONTENT.exec(joined)?.[0].length ?? 0);
    const word = /^[^ \t\r\n]*/.exec(content)?.[0] ?? "";
    const isOpen = content.startsWith("[") && !content.includes("]");
    if (content === "" || (isOpen && countCharacters(content) < MAX_CONTENT_CHARACTERS)) this.#content = content;
    else if (ADDRESS.test(word) || countCharacters(word) >= MAX_CONTENT_CHARACTERS) {
      for (const name of this.#codes) this.#addressCodes.add(name);
      this.#codes.clear();
    } else if (word.length < content.length) this.#codes.clear();
    else this.#content = content;
  }

  #findEncodedTag(text: string, start: number): void {
    ENCODED_TAG.lastIndex = 0;
    for (let match = ENCODED_TAG.exec(text); match !== null; match = ENCODED_TAG.exec(text)) {
      const end = ENCODED_TAG.lastIndex;
      if (end <= start) continue;
      const name = match.slice(1).find((group) => group !== undefined) ?? "";
      const at = this.#readTag(text, end - name.length);
      if (this.#tag || this.#isEncoded) return;
      ENCODED_TAG.lastIndex = at;
      this.#tail = text.slice(Math.max(at, text.length - TAIL_CHARACTERS));
    }
  }
}

function countCharacters(text: string): number {
  return [...text].length;
}
