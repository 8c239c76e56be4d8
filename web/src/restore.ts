/** Restores words on the device: a reply about a text that was rewritten consistently gets its words back. */

import { counted } from "./decimal.js";
import { InputError } from "./errors.js";
import { type Form, formsOf, type Pair } from "./forms.js";
import { type RestoreOptions, RestorePolicy } from "./policy.js";
import { type FormIndex, RestoreStream } from "./replies.js";
import { Restored } from "./restored.js";
import type { Cutter } from "./segments.js";
import { foldOutput, QuotationIndex } from "./surroundings.js";
import { isUpper, keyOf, WHITE } from "./words.js";

const LIKE_A_TAG = new RegExp(`\\[(?=[\\p{L}\\p{N}_-]+[${WHITE}]+\\p{Nd})`, "gu");
const FORMAT = "textveil-mapping";
const VERSION = 1;

/**
 * Puts the original words back where an output stands for one original only. It undoes the protection: who has it and
 * the rewritten text has the text.
 */
export class Restorer {
  readonly #cutter: Cutter;
  readonly #pairs = new Map<string, Pair>();
  readonly #ambiguous = new Map<string, Pair>();
  /** Pairs with surroundings, each once. */
  readonly #quoted = new Map<string, Pair>();
  #forms: FormIndex | undefined;

  /** @internal */
  constructor(pairs: Iterable<Pair | readonly [output: string, original: string]>, cutter: Cutter) {
    this.#cutter = cutter;
    for (const given of pairs) {
      const pair: Pair = "output" in given ? given : { output: given[0], original: given[1] };
      const { output, original } = pair;
      if (pair.after !== undefined) {
        this.#quoted.set(JSON.stringify(quotedEntry(pair)), pair);
        continue;
      }
      const key = keyOf(output);
      if (this.#ambiguous.has(key)) continue;
      const first = this.#pairs.get(key);
      if (first === undefined) {
        this.#pairs.set(key, pair);
      } else if (!areAlike(first.original, original)) {
        this.#pairs.delete(key);
        this.#ambiguous.set(key, { ...first, original: "" });
      } else if (isUpper(first.original) && !isUpper(original)) {
        this.#pairs.set(key, pair); // a heading in capitals, then the name
      }
    }
  }

  /** How many words it has. */
  get size(): number {
    return this.#pairs.size;
  }

  /** How many outputs stand for several originals, and are not restored. */
  get ambiguous(): number {
    return this.#ambiguous.size;
  }

  /** Shows no word. */
  toString(): string {
    return `<Restorer of ${counted(this.size, "word")}>`;
  }

  /** The mapping as JSON, to be kept on this device: it is as private as the text. */
  toText(): string {
    const pairs = [...this.#pairs.values()];
    const originals = Object.fromEntries(
      pairs.filter((pair) => !pair.lead && !pair.weak).map((pair) => [pair.output, pair.original]),
    );
    const inContext = pairs
      .filter((pair) => pair.lead || pair.weak)
      .map(({ output, original, lead = 0, before = "" }) => [output, original, lead, before]);
    const more = {
      ...(inContext.length > 0 ? { in_context: inContext } : {}),
      ...(this.#ambiguous.size > 0 ? { ambiguous: [...this.#ambiguous.values()].map(({ output }) => output) } : {}),
      ...(this.#quoted.size > 0 ? { quoted: [...this.#quoted.values()].map(quotedEntry) } : {}),
    };
    return `${JSON.stringify({ format: FORMAT, format_version: VERSION, originals, ...more })}\n`;
  }

  /** @internal */
  static fromText(content: string, cutter: Cutter): Restorer {
    let found: unknown;
    try {
      found = JSON.parse(content);
    } catch {
      found = undefined;
    }
    const {
      format,
      format_version: version,
      originals,
      in_context: inContext = [],
      quoted = [],
      ambiguous = [],
    } = (found ?? {}) as Record<string, unknown>;
    const entries = typeof originals === "object" && originals !== null ? Object.entries(originals) : undefined;
    const sound = entries?.every((entry): entry is [string, string] => typeof entry[1] === "string");
    if (
      format !== FORMAT ||
      version !== VERSION ||
      entries === undefined ||
      !sound ||
      !isInContext(inContext) ||
      !isQuoted(quoted) ||
      !isStrings(ambiguous)
    ) {
      throw new InputError("the mapping is not one that textveil has written");
    }
    const pairs: Pair[] = inContext.map(([output, original, lead, before]) => ({
      output,
      original,
      lead,
      weak: lead === 0,
      before,
    }));
    for (const [output, original, weak, before, after] of quoted) pairs.push({ output, original, weak, before, after });
    const restorer = new Restorer([...entries, ...pairs], cutter);
    for (const output of ambiguous) {
      restorer.#pairs.delete(keyOf(output));
      restorer.#ambiguous.set(keyOf(output), { output, original: "" });
    }
    return restorer;
  }

  /**
   * Returns a reply with the original words in place of the outputs it mentions, and a report: as they came out, in the
   * plural, in another case, with clitics, with digits in groups, as a date in another order, and over the ends of
   * lines. They come into running text alone, unless the options open more. Numbers of the sanitized text are not
   * reported as unknown.
   */
  restore(reply: string, options: RestoreOptions = {}, sanitized = ""): Restored {
    const stream = this.stream(options, sanitized);
    if (typeof reply !== "string") throw new InputError("the reply is not a string");
    const text = stream.feed(reply) + stream.close();
    return new Restored(text, stream.report);
  }

  /** Returns what restores one reply that comes in parts. The numbers of the sanitized text are known to its report. */
  stream(options: RestoreOptions = {}, sanitized = ""): RestoreStream {
    return new RestoreStream(this.#index(), this.#cutter, new RestorePolicy(options), sanitized);
  }

  /**
   * Returns all forms; `undefined` for a form with several originals. Of two pairs with one form, the pair with that form
   * as its unchanged output takes precedence. The order of the pairs has no effect: a file keeps none.
   */
  #index(): FormIndex {
    if (this.#forms !== undefined) return this.#forms;
    const found = new Map<string, Form | undefined>();
    const unchanged = new Map<string, Form | undefined>();
    for (const pair of this.#pairs.values()) {
      for (const form of formsOf(pair)) {
        const sameText = form.way === "" ? unchanged : found;
        const other = sameText.get(form.text);
        if (!sameText.has(form.text)) sameText.set(form.text, form);
        else if (other === undefined || !areAlike(other.pair.original, pair.original)) {
          sameText.set(form.text, undefined);
        } else if (isPreferred(form, other)) sameText.set(form.text, form);
      }
    }
    for (const [text, form] of unchanged) found.set(text, form);
    for (const pair of this.#ambiguous.values()) {
      for (const form of formsOf(pair)) if (form.way === "") found.set(form.text, undefined);
    }
    // A file has no pair of an ambiguous output, and a reply may have it elsewhere.
    for (const { output } of this.#quoted.values()) {
      const form = foldOutput(output);
      if (!found.has(form)) found.set(form, undefined);
    }
    const begins = new Set<string>();
    for (const text of found.keys()) for (let end = 1; end <= text.length; end++) begins.add(text.slice(0, end));
    const hasNumbers = [...found.values()].some((form) => form !== undefined && replacesNumber(form.pair));
    this.#forms = { forms: found, begins, quotations: new QuotationIndex(this.#quoted.values()), hasNumbers };
    return this.#forms;
  }
}

/** Whether these are outputs, each with its original, a length and the word before it. */
function isInContext(value: unknown): value is [string, string, number, string][] {
  return (
    Array.isArray(value) &&
    value.every((entry) => {
      if (!Array.isArray(entry) || entry.length !== 4) return false;
      const [output, original, lead, before] = entry;
      if (![output, original, before].every((one) => typeof one === "string")) return false;
      return Number.isSafeInteger(lead) && lead >= 0 && lead < [...output].length;
    })
  );
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

/** Returns whether a form ranks before another one of the same text, whose original differs in case at most. */
function isPreferred(form: Form, other: Form): boolean {
  const [ranks, others] = [form, other].map(({ pair, way }) => {
    const { lead = 0, weak = false, output, original, before = "" } = pair;
    return [lead, weak, isUpper(original), output, original, before, way];
  });
  const at = ranks?.findIndex((rank, place) => rank !== others?.[place]) ?? -1;
  return at >= 0 && (ranks?.[at] ?? 0) < (others?.[at] ?? 0);
}

/** Whether a pair has a number for another one; a tag tells no number. */
const replacesNumber = ({ output, original }: Pair): boolean =>
  !output.startsWith("[") && /[0-9]/.test(output) && /[0-9]/.test(original);

type QuotedEntry = [output: string, original: string, weak: boolean, before: string, after: string];

/** A pair with surroundings as a mapping has it. */
const quotedEntry = ({ output, original, weak = false, before = "", after = "" }: Pair): QuotedEntry => [
  output,
  original,
  weak,
  before,
  after,
];

/** Whether these are outputs, each with its original, a flag, and what stands before and behind it. */
function isQuoted(value: unknown): value is QuotedEntry[] {
  const types = ["string", "string", "boolean", "string", "string"];
  return (
    Array.isArray(value) &&
    value.every(
      (entry) =>
        Array.isArray(entry) &&
        entry.length === types.length &&
        entry.every((part, at) => typeof part === types[at]) &&
        entry[0] !== "",
    )
  );
}

/** @internal A text that has no tags of ours with a blank in all that looks like one, so that it is not restored. */
export function notATag(text: string): string {
  return text.replace(LIKE_A_TAG, "[ ");
}

/**
 * Whether two originals differ in case and kind of apostrophe alone. A letter of mathematics such as U+1D465 and the
 * plain letter have one surrogate, but a reader tells them apart.
 */
function areAlike(one: string, other: string): boolean {
  const fold = (text: string): string => text.normalize("NFC").toLowerCase().replaceAll("\u2019", "'");
  return one === other || fold(one) === fold(other);
}
