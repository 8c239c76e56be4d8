/** Restoring on the device: originals replace the surrogates in a reply to a sanitized text. */

import { NO_REPLY_RULES, parseReplyRules, type ReplyRules } from "../bundle/replyRules.js";
import { InputError } from "../errors.js";
import { formatCount } from "../mechanisms/decimal.js";
import { iterateForms, type SurrogateForm, type SurrogatePair } from "./inflections.js";
import { foldOutput, QuotationIndex } from "./quotations.js";
import { type FormIndex, StreamRestorer } from "./replyMatcher.js";
import { Restored } from "./restored.js";
import { type RestoreOptions, RestorePolicy } from "./restorePolicy.js";
import type { Segmenter } from "./segmentation/segments.js";
import { foldWord, isUpper, WHITE } from "./segmentation/words.js";

const LIKE_A_TAG = new RegExp(`\\[(?=[\\p{L}\\p{N}_-]+[${WHITE}]+\\p{Nd})`, "gu");
const MAPPING_FORMAT = "textveil-mapping";
const MAPPING_VERSION = 1;

/**
 * Mapping from outputs (surrogates) to originals, for restoring outputs that have a single original. It undoes the
 * protection.
 */
export class Restorer {
  readonly #segmenter: Segmenter;
  readonly #rules: ReplyRules;
  readonly #pairs = new Map<string, SurrogatePair>();
  readonly #ambiguous = new Map<string, SurrogatePair>();
  /** Pairs with surroundings, each once. */
  readonly #quotedPairs = new Map<string, SurrogatePair>();
  #formIndex: FormIndex | undefined;

  /** @internal */
  constructor(
    pairs: Iterable<SurrogatePair | readonly [output: string, original: string]>,
    segmenter: Segmenter,
    rules: ReplyRules = NO_REPLY_RULES,
  ) {
    this.#segmenter = segmenter;
    this.#rules = rules;
    for (const entry of pairs) {
      const pair: SurrogatePair = "output" in entry ? entry : { output: entry[0], original: entry[1] };
      const { output, original } = pair;
      if (pair.after !== undefined) {
        this.#quotedPairs.set(JSON.stringify(makeQuotationEntry(pair)), pair);
        continue;
      }
      const key = foldWord(output);
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

  /** Number of outputs with a single original. */
  get size(): number {
    return this.#pairs.size;
  }

  /** Number of surrogates that have several originals. */
  get ambiguousCount(): number {
    return this.#ambiguous.size;
  }

  /** Return the size, without a word of the text. */
  toString(): string {
    return `<Restorer of ${formatCount(this.size, "word")}>`;
  }

  /** Return the mapping as JSON. It is as private as the text, so store it only on this device. */
  toJsonText(): string {
    const pairs = [...this.#pairs.values()];
    const originals = Object.fromEntries(
      pairs.filter((pair) => !pair.lead && !pair.weak).map((pair) => [pair.output, pair.original]),
    );
    const inContext = pairs
      .filter((pair) => pair.lead || pair.weak)
      .map(({ output, original, lead = 0, before = "" }) => [output, original, lead, before]);
    const extraFields = {
      ...(inContext.length > 0 ? { in_context: inContext } : {}),
      ...(this.#ambiguous.size > 0 ? { ambiguous: [...this.#ambiguous.values()].map(({ output }) => output) } : {}),
      ...(this.#quotedPairs.size > 0 ? { quoted: [...this.#quotedPairs.values()].map(makeQuotationEntry) } : {}),
      ...(Object.keys(this.#rules.data).length > 0 ? { replies: this.#rules.data } : {}),
    };
    return `${JSON.stringify({ format: MAPPING_FORMAT, format_version: MAPPING_VERSION, originals, ...extraFields })}\n`;
  }

  /** @internal */
  static fromJsonText(content: string, segmenter: Segmenter): Restorer {
    let parsed: unknown;
    try {
      parsed = JSON.parse(content);
    } catch {
      parsed = undefined;
    }
    const {
      format,
      format_version: version,
      originals,
      in_context: inContext = [],
      quoted = [],
      ambiguous = [],
      replies = {},
    } = (parsed ?? {}) as Record<string, unknown>;
    const entries = typeof originals === "object" && originals !== null ? Object.entries(originals) : undefined;
    const rules = parseReplyRules(replies);
    const areStrings = entries?.every((entry): entry is [string, string] => typeof entry[1] === "string");
    if (
      rules === undefined ||
      format !== MAPPING_FORMAT ||
      version !== MAPPING_VERSION ||
      entries === undefined ||
      !areStrings ||
      !areContextEntries(inContext) ||
      !areQuotationEntries(quoted) ||
      !areStringArray(ambiguous)
    ) {
      throw new InputError("the file is not a mapping that textveil wrote");
    }
    const pairs: SurrogatePair[] = inContext.map(([output, original, lead, before]) => ({
      output,
      original,
      lead,
      weak: lead === 0,
      before,
    }));
    for (const [output, original, weak, before, after] of quoted) pairs.push({ output, original, weak, before, after });
    const restorer = new Restorer([...entries, ...pairs], segmenter, rules);
    for (const output of ambiguous) {
      restorer.#pairs.delete(foldWord(output));
      restorer.#ambiguous.set(foldWord(output), { output, original: "" });
    }
    return restorer;
  }

  /**
   * Replace the outputs in a reply, also inflected ones, by their originals, and return the reply with a report.
   * Originals are restored only in running text, unless the options permit more. The report has
   * the numbers of the reply that are not in `sanitized`, the sanitized text.
   */
  restore(reply: string, options: RestoreOptions = {}, sanitized?: string): Restored {
    const stream = this.openStream(options, sanitized);
    if (typeof reply !== "string") throw new InputError("the reply must be a string");
    const text = stream.feed(reply) + stream.close();
    return new Restored(text, stream.report);
  }

  /** Create a restorer for one reply that arrives in parts. */
  openStream(options: RestoreOptions = {}, sanitized?: string): StreamRestorer {
    return new StreamRestorer(this.#buildIndex(), this.#segmenter, new RestorePolicy(options), sanitized);
  }

  /**
   * Return all forms with their pairs; `undefined` for a form with several originals. If two pairs have the same form,
   * the pair whose output equals the form has precedence. The order of the pairs has no effect, because saved mappings
   * do not preserve it.
   */
  #buildIndex(): FormIndex {
    if (this.#formIndex !== undefined) return this.#formIndex;
    const forms = new Map<string, SurrogateForm | undefined>();
    const unchanged = new Map<string, SurrogateForm | undefined>();
    for (const pair of this.#pairs.values()) {
      for (const form of iterateForms(pair, this.#rules)) {
        const formsByText = form.notation === "" ? unchanged : forms;
        const other = formsByText.get(form.text);
        if (!formsByText.has(form.text)) formsByText.set(form.text, form);
        else if (other === undefined || !areAlike(other.pair.original, pair.original)) {
          formsByText.set(form.text, undefined);
        } else if (isPreferred(form, other)) formsByText.set(form.text, form);
      }
    }
    for (const [text, form] of unchanged) forms.set(text, form);
    for (const pair of this.#ambiguous.values()) {
      for (const form of iterateForms(pair, this.#rules)) if (form.notation === "") forms.set(form.text, undefined);
    }
    // A file has no pair of an ambiguous output, and a reply may have it elsewhere.
    for (const { output } of this.#quotedPairs.values()) {
      const form = foldOutput(output);
      if (!forms.has(form)) forms.set(form, undefined);
    }
    const begins = new Set<string>();
    for (const text of forms.keys()) for (let end = 1; end <= text.length; end++) begins.add(text.slice(0, end));
    const hasNumbers = [...forms.values()].some((form) => form !== undefined && replacesNumber(form.pair));
    const hasTags = [...this.#pairs.values(), ...this.#ambiguous.values()].some(({ output }) => output.startsWith("["));
    this.#formIndex = {
      forms: forms,
      prefixes: begins,
      quotations: new QuotationIndex(this.#quotedPairs.values()),
      rules: this.#rules,
      hasNumbers,
      hasTags,
    };
    return this.#formIndex;
  }
}

/** Return whether each entry of a saved mapping has an output, its original, a length and the word before it. */
function areContextEntries(value: unknown): value is [string, string, number, string][] {
  return (
    Array.isArray(value) &&
    value.every((entry) => {
      if (!Array.isArray(entry) || entry.length !== 4) return false;
      const [output, original, lead, before] = entry;
      if (![output, original, before].every((field) => typeof field === "string")) return false;
      return Number.isSafeInteger(lead) && lead >= 0 && lead < [...output].length;
    })
  );
}

const areStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

/** Return whether a form ranks before another one of the same text, whose original differs in case at most. */
function isPreferred(form: SurrogateForm, other: SurrogateForm): boolean {
  const [ownRanks, otherRanks] = [form, other].map(({ pair, notation }) => {
    const { lead = 0, weak = false, output, original, before = "" } = pair;
    return [lead, weak, isUpper(original), output, original, before, notation];
  });
  const difference = ownRanks?.findIndex((rank, index) => rank !== otherRanks?.[index]) ?? -1;
  return difference >= 0 && (ownRanks?.[difference] ?? 0) < (otherRanks?.[difference] ?? 0);
}

/** Return whether a pair replaces a text with digits by a number or a numbered tag. */
const replacesNumber = ({ output, original }: SurrogatePair): boolean => /[0-9]/.test(output) && /[0-9]/.test(original);

type QuotationEntry = [output: string, original: string, weak: boolean, before: string, after: string];

/** Return a pair with surroundings as an entry of a mapping file. */
const makeQuotationEntry = ({
  output,
  original,
  weak = false,
  before = "",
  after = "",
}: SurrogatePair): QuotationEntry => [output, original, weak, before, after];

/** Return whether each entry of a saved mapping has an output, its original, a flag, and the texts before and after. */
function areQuotationEntries(value: unknown): value is QuotationEntry[] {
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

/** @internal Insert a blank into each part of a text that looks like a tag, such as `[city 1]`. */
export function escapeTags(text: string): string {
  return text.replace(LIKE_A_TAG, "[ ");
}

/**
 * Return whether two originals differ only in case and in the kind of apostrophe. A mathematical letter such as U+1D465
 * and the plain letter have the same surrogate, but do not count as equal.
 */
function areAlike(first: string, second: string): boolean {
  const foldCase = (text: string): string => text.normalize("NFC").toLowerCase().replaceAll("\u2019", "'");
  return first === second || foldCase(first) === foldCase(second);
}
