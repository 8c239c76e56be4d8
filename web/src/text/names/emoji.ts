/** Sequences of emoji in a chunk: listed ones are kept, others are replaced as a whole (docs/names-rule.md). */

import { EMOJI, KEYCAP, TONE_PLACEHOLDER } from "../../constants.js";
import { characters } from "../../data.js";
import { decodeTable } from "../segmentation/codePointTables.js";

const { classes, listed, sequence, spare: surrogateTable, tones: SKIN_TONES } = characters.emoji;
const makeCharacter = String.fromCodePoint;

/** Compile a pattern in which class names in braces denote characters. */
function compilePattern(pattern: string, flags: string): RegExp {
  const expanded = pattern.replace(/\{([BEG])\}/g, (_, name: "B" | "E" | "G") => {
    const boundaries = decodeTable(classes[name]);
    return boundaries
      .map((point, index) => (index % 2 ? `-${makeCharacter(point - 1)}` : makeCharacter(point)))
      .join("");
  });
  return new RegExp(expanded, flags);
}

const SEQUENCES = compilePattern(sequence, "gu");
const LISTED = compilePattern(`^(?:${listed.join("|")})$`, "u");
const KEY = /^[0-9#*]\ufe0f?\u20e3$/;
const ANY_TONE = new RegExp(`[${SKIN_TONES.join("")}]`, "gu");
const SURROGATE_EMOJI: string[] = [];
decodeTable(surrogateTable).forEach((start, index, all) => {
  for (let point = start; index % 2 === 0 && point < (all[index + 1] ?? 0); point++)
    SURROGATE_EMOJI.push(makeCharacter(point));
});

/** Split a text at its emoji sequences: text and sequence in turn, with text at both ends. */
export function splitAtEmoji(text: string): string[] {
  const parts: string[] = [];
  let position = 0;
  for (const match of text.matchAll(SEQUENCES)) {
    parts.push(text.slice(position, match.index), match[0]);
    position = match.index + match[0].length;
  }
  return [...parts, text.slice(position)];
}

/** Return the entity type and the layout of an emoji sequence. The type is empty if the sequence is kept. */
export function classifySequence(sequence: string): [string, string] {
  const layout = sequence.replace(/\u200d/g, "+").replace(ANY_TONE, TONE_PLACEHOLDER);
  if (LISTED.test(layout)) return layout.includes(TONE_PLACEHOLDER) ? [EMOJI, layout] : ["", ""];
  return [KEY.test(sequence) ? KEYCAP : EMOJI, ""];
}

/** Return the number of surrogates of a layout. Two skin tones in a surrogate always differ. */
export function countEmojiSurrogates(layout: string): number {
  const count = layout.split(TONE_PLACEHOLDER).length - 1;
  return count === 0
    ? SURROGATE_EMOJI.length
    : count === 1
      ? SKIN_TONES.length
      : SKIN_TONES.length * (SKIN_TONES.length - 1);
}

/** Return the surrogate of a layout with an index below `countEmojiSurrogates(layout)`. */
export function makeEmojiSurrogate(layout: string, index: number): string {
  if (layout === "") return SURROGATE_EMOJI[index] ?? "";
  let chosen = [index];
  if (layout.split(TONE_PLACEHOLDER).length > 2) {
    const [first, second] = [Math.floor(index / (SKIN_TONES.length - 1)), index % (SKIN_TONES.length - 1)];
    chosen = [first, second + Number(second >= first)];
  }
  const filled = chosen.reduce((text, tone) => text.replace(TONE_PLACEHOLDER, SKIN_TONES[tone] ?? ""), layout);
  return filled.replace(/\+/g, "\u200d");
}
