/** Sequences of emoji inside a chunk: listed ones are kept, any other is replaced as one (docs/names-rule.md). */

import { EMOJI, KEYCAP, TONE } from "../constants.js";
import { characters } from "../data.js";
import { decodeTable } from "../tables.js";

const { classes, listed, sequence, spare: spareTable, tones } = characters.emoji;
const character = String.fromCodePoint;

/** A pattern in which names of classes stand for their characters. */
function compile(pattern: string, flags: string): RegExp {
  const filled = pattern.replace(/\{([BEG])\}/g, (_, name: "B" | "E" | "G") => {
    const found = decodeTable(classes[name]);
    return found.map((point, place) => (place % 2 ? `-${character(point - 1)}` : character(point))).join("");
  });
  return new RegExp(filled, flags);
}

const SEQUENCES = compile(sequence, "gu");
const LISTED = compile(`^(?:${listed.join("|")})$`, "u");
const KEY = /^[0-9#*]\ufe0f?\u20e3$/;
const toneOf = new RegExp(`[${tones.join("")}]`, "gu");
const spare: string[] = [];
decodeTable(spareTable).forEach((start, place, all) => {
  for (let point = start; place % 2 === 0 && point < (all[place + 1] ?? 0); point++) spare.push(character(point));
});

/** What is before the first sequence, the sequence, what is behind it, and so on. */
export function cutEmoji(text: string): string[] {
  const found: string[] = [];
  let rest = 0;
  for (const match of text.matchAll(SEQUENCES)) {
    found.push(text.slice(rest, match.index), match[0]);
    rest = match.index + match[0].length;
  }
  return [...found, text.slice(rest)];
}

/** The kind and the layout of a sequence; no kind where it is kept. */
export function emojiKind(sequence: string): [string, string] {
  const layout = sequence.replace(/\u200d/g, "+").replace(toneOf, TONE);
  if (LISTED.test(layout)) return layout.includes(TONE) ? [EMOJI, layout] : ["", ""];
  return [KEY.test(sequence) ? KEYCAP : EMOJI, ""];
}

/** How many surrogates a sequence of a layout has: two tones are two different ones. */
export function emojiSize(layout: string): number {
  const count = layout.split(TONE).length - 1;
  return count === 0 ? spare.length : count === 1 ? tones.length : tones.length * (tones.length - 1);
}

/** A surrogate of a sequence by its number. */
export function emojiMember(layout: string, index: number): string {
  if (layout === "") return spare[index] ?? "";
  let chosen = [index];
  if (layout.split(TONE).length > 2) {
    const [first, second] = [Math.floor(index / (tones.length - 1)), index % (tones.length - 1)];
    chosen = [first, second + Number(second >= first)];
  }
  const written = chosen.reduce((text, tone) => text.replace(TONE, tones[tone] ?? ""), layout);
  return written.replace(/\+/g, "\u200d");
}
