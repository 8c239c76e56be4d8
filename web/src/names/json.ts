/** JSON inside a text: each string of it, without its escapes, and each number is a text of its own (docs/names-rule.md). */

export const TEXT = 0;
export const NUMBER = 1;
export const COPIED = 2;

/** A part of a text; of a string, where each escape stands in `text`, and how it was written. */
export interface JsonPart {
  readonly kind: number;
  readonly text: string;
  readonly escapes: readonly (readonly [number, string, number])[];
}

const BLANKS = "[ \\t\\r\\n]*";
const STRING = '"[^"\\\\\\n\\r]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\n\\r]*)*"';
const TOKEN = new RegExp(
  `(${STRING})|(-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-]))` +
    "|[ \\t\\r\\n]+|[{}[\\],:]|(?:true|false|null)(?![0-9A-Za-z_])|//[^\\n]*|/\\*(?:[^*]|\\*(?!/)){0,1000}\\*/",
  "y",
);
const START = new RegExp(`\\{${BLANKS}${STRING}${BLANKS}:|\\[${BLANKS}(?=[[{"])`, "g");
const ESCAPE = /\\(?:u([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})|(.))/g;
const SHORT: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

const part = (kind: number, text: string): JsonPart => ({ kind, text, escapes: [] });

/** The parts of a text: one if it has no JSON. */
export function splitJson(text: string): JsonPart[] {
  const found: JsonPart[] = [];
  let rest = 0;
  if (!text.includes("{") && !text.includes("[")) return [part(TEXT, text)];
  START.lastIndex = 0;
  for (let match = START.exec(text); match !== null; match = START.exec(text)) {
    const begun = START.lastIndex;
    const [block, end] = readBlock(text, match.index);
    if (block.length > 0) {
      found.push(part(TEXT, text.slice(rest, match.index)), ...block);
      rest = end;
    }
    START.lastIndex = Math.max(end, begun);
  }
  return [...found, part(TEXT, text.slice(rest))];
}

/** The parts of JSON that begins at a place, none if it is none, and where it or the attempt ends. */
function readBlock(text: string, start: number): [JsonPart[], number] {
  const parts: JsonPart[] = [];
  let [depth, at, copied] = [0, start, start];
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const begun = at;
    at = TOKEN.lastIndex;
    if (match[1] !== undefined || match[2] !== undefined) {
      const quote = match[1] === undefined ? 0 : 1;
      parts.push(part(COPIED, text.slice(copied, begun + quote)));
      parts.push(quote ? readString(match[0].slice(1, -1)) : part(NUMBER, match[0]));
      copied = at - quote;
    } else if (match[0] === "{" || match[0] === "[") {
      depth++;
    } else if ((match[0] === "}" || match[0] === "]") && --depth === 0) {
      break;
    }
  }
  if (depth > 0 && at < text.length) return [[], at];
  return [[...parts, part(COPIED, text.slice(copied, at))], at];
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
  return { kind: TEXT, text: text + written.slice(rest), escapes };
}

/** A stretch of a part that begins at a place of it, with its escapes as they were written. */
export function writeEscapes(text: string, escapes: JsonPart["escapes"], start: number): string {
  let [found, place] = ["", start];
  for (const [at, written, length] of escapes) {
    if (at < start || at >= start + text.length) continue;
    found += text.slice(place - start, at - start) + written;
    place = at + length;
  }
  return found + text.slice(place - start);
}
