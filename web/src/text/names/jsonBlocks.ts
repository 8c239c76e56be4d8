/** JSON in a text: each string, without its escapes, each number and each comment is a separate text (docs/names-rule.md). */

export const TEXT = 0;
export const NUMBER = 1;
export const COPIED = 2;

/** Part of a text; for a string, `escapes` has position, original spelling and length of each escape. */
export interface JsonPart {
  readonly partType: number;
  readonly text: string;
  readonly escapes: readonly (readonly [number, string, number])[];
}

const BLANKS = "[ \\t\\r\\n]*";
const STRING = '"[^"\\\\\\n\\r]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\n\\r]*)*"';
const TOKEN = new RegExp(
  `(${STRING})|(-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-]))` +
    "|[ \\t\\r\\n]+|[{}[\\],:]|(?:true|false|null)(?![0-9A-Za-z_])|(//[^\\n]*|/\\*(?:[^*]|\\*(?!/)){0,1000}\\*/)",
  "y",
);
const START = new RegExp(`\\{${BLANKS}${STRING}${BLANKS}:|\\[${BLANKS}(?=[[{"])`, "g");
const ESCAPE = /\\(?:u([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})|(.))/g;
const SHORT: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

const makePart = (partType: number, text: string): JsonPart => ({ partType, text, escapes: [] });

/** Split a text into parts; a text without JSON is one part. */
export function splitJson(text: string): JsonPart[] {
  const parts: JsonPart[] = [];
  let position = 0;
  if (!text.includes("{") && !text.includes("[")) return [makePart(TEXT, text)];
  START.lastIndex = 0;
  for (let match = START.exec(text); match !== null; match = START.exec(text)) {
    const startEnd = START.lastIndex;
    const [block, end] = readBlock(text, match.index);
    if (block.length > 0) {
      parts.push(makePart(TEXT, text.slice(position, match.index)), ...block);
      position = end;
    }
    START.lastIndex = Math.max(end, startEnd);
  }
  return [...parts, makePart(TEXT, text.slice(position))];
}

/** Return how many brackets are open behind a key after copied text, or -1 after the end of the key's object. */
export function countOpenBrackets(copied: string, before: number): number {
  let depth = before;
  for (const mark of copied) {
    if ("{[".includes(mark)) depth++;
    else if ("}]".includes(mark)) depth--;
    if (depth < 0) return -1;
  }
  return depth;
}

/**
 * Return the parts of the JSON value at an index, and its end. Without a JSON value, return no parts, and the index up
 * to which the text was read.
 */
function readBlock(text: string, start: number): [JsonPart[], number] {
  const parts: JsonPart[] = [];
  let [depth, at, copyStart] = [0, start, start];
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const tokenStart = at;
    at = TOKEN.lastIndex;
    if (match[1] !== undefined || match[2] !== undefined) {
      const quote = match[1] === undefined ? 0 : 1;
      parts.push(makePart(COPIED, text.slice(copyStart, tokenStart + quote)));
      parts.push(quote ? readString(match[0].slice(1, -1)) : makePart(NUMBER, match[0]));
      copyStart = at - quote;
    } else if (match[3] !== undefined) {
      const commentEnd = match[0].startsWith("/*") ? at - 2 : at;
      parts.push(makePart(COPIED, text.slice(copyStart, tokenStart + 2)));
      parts.push(makePart(TEXT, text.slice(tokenStart + 2, commentEnd)));
      copyStart = commentEnd;
    } else if (match[0] === "{" || match[0] === "[") {
      depth++;
    } else if ((match[0] === "}" || match[0] === "]") && --depth === 0) {
      break;
    }
  }
  if (depth > 0 && at < text.length) return [[], at];
  return [[...parts, makePart(COPIED, text.slice(copyStart, at))], at];
}

function readString(written: string): JsonPart {
  const escapes: [number, string, number][] = [];
  let text = "";
  let rest = 0;
  for (const match of written.matchAll(ESCAPE)) {
    text += written.slice(rest, match.index);
    const code = match[1];
    const character =
      code === undefined
        ? (SHORT[match[2] ?? ""] ?? match[2] ?? "")
        : String.fromCharCode(...code.split("\\u").map((half) => Number.parseInt(half, 16)));
    escapes.push([text.length, match[0], character.length]);
    text += character;
    rest = match.index + match[0].length;
  }
  return { partType: TEXT, text: text + written.slice(rest), escapes };
}

/** Return a substring of a part with its original escapes; `start` is its position. */
export function writeEscapes(text: string, escapes: JsonPart["escapes"], start: number): string {
  let [written, index] = ["", start];
  for (const [offset, original, length] of escapes) {
    if (offset < start || offset >= start + text.length) continue;
    written += text.slice(index - start, offset - start) + original;
    index = offset + length;
  }
  return written + text.slice(index - start);
}
