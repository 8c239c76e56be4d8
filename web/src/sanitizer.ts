/** `Sanitizer`: replaces the words of a text by random ones. The one class that applications use. */

import type { Pins } from "./bundle/open.js";
import type { Source } from "./bundle/source.js";
import { type Level, TextBundle } from "./bundle/text.js";
import { REFUSALS } from "./constants.js";
import { randomWords, type Words } from "./entropy.js";
import { InputError, OptionError, UnknownLevel } from "./errors.js";
import { NamesPlan } from "./names/plan.js";
import { capOf, epsilonOf, type Given, givenOf, isMany, type Options } from "./options.js";
import type { RestoreOptions } from "./policy.js";
import { Restorer } from "./restore.js";
import type { Restored } from "./restored.js";
import { type Plan, Rewriter, Slots } from "./rewrite.js";
import { Rule } from "./skeleton.js";
import { MentionStatement, type MentionTerms, type Statement } from "./statement.js";

/** A sanitized text and what it promises. */
export interface Result {
  readonly text: string;
  /** What is promised. */
  readonly statement: Statement;
  /** What restores words after consistent draws; undefined otherwise. It undoes the protection. */
  readonly mapping: Restorer | undefined;
  /**
   * The share of words that the rung names kept: below a half the text may not be English. Names, numbers and identifiers
   * are not counted. Undefined on other rungs and without words.
   */
  readonly keptShare: number | undefined;
  /** Returns a reply about the sanitized text with its original words in running text, on this device, and a report. */
  restore(reply: string, options?: RestoreOptions): Restored;
}

/** The texts of a document after the draw, with one statement for all of them together. */
export interface DocumentResult {
  readonly texts: readonly string[];
  readonly statement: Statement;
  readonly mapping: Restorer | undefined;
  /** As of `Result`, for all texts of the document. */
  readonly keptShare: number | undefined;
}

class Drawn implements Result {
  readonly #mapping: Restorer | undefined;

  constructor(
    readonly text: string,
    readonly statement: Statement,
    mapping: Restorer | undefined,
    readonly keptShare: number | undefined,
  ) {
    this.#mapping = mapping;
  }

  /** Not a property of its own: what is logged or cloned has no mapping. */
  get mapping(): Restorer | undefined {
    return this.#mapping;
  }

  restore(reply: string, options?: RestoreOptions): Restored {
    if (this.#mapping === undefined) {
      throw new OptionError("there is no mapping: words are restored after consistent draws, in the same process");
    }
    return this.#mapping.restore(reply, options, this.text);
  }
}

/** A share to three decimals, as Python rounds: a half, which only sixteenths have exactly, to the even side. */
function roundShare(share: number): number {
  if (!Number.isInteger(16 * share)) return Number(share.toFixed(3));
  const below = Math.floor(1000 * share);
  return (below + (1000 * share - below === 0.5 && below % 2 === 1 ? 1 : 0)) / 1000;
}

const BOUNDS_SCALE = 10_000;
const GAIN_SCALE = 10;
const ROUNDED_UP = 1 + 1e-12;
/** Plans that are kept: each has tables as long as the vocabulary. */
const MOST_SLOTS = 16;

/** Rewrites text under local differential privacy, offline, with one bundle. It holds no random state. */
export class Sanitizer {
  readonly #bundle: TextBundle;
  readonly #take: Words;
  readonly #slots = new Map<string, Slots>();

  /** @internal */
  constructor(bundle: TextBundle, take: Words = randomWords) {
    this.#bundle = bundle;
    this.#take = take;
  }

  /**
   * Opens a bundle: hashes and structure of every file are checked.
   *
   * @throws BundleError The bundle cannot be used, or is not the one expected.
   */
  static async load(source: Source, pins: Pins = {}): Promise<Sanitizer> {
    return new Sanitizer(await TextBundle.load(source, pins));
  }

  /** Identity of the bundle: SHA-256 of its manifest. */
  get identity(): string {
    return this.#bundle.identity;
  }

  /** The rungs that the bundle can be drawn by. */
  get rungs(): ("names" | "words" | "all")[] {
    return [
      ...(this.#bundle.hasNames ? (["names"] as const) : []),
      ...(this.#bundle.hasStaircase ? (["words", "all"] as const) : []),
    ];
  }

  /** The epsilons of the staircase, strictest first; none without one. */
  get epsilons(): string[] {
    return this.#bundle.hasStaircase ? this.#bundle.table.levels.map((level) => level.epsilon.toString()) : [];
  }

  /**
   * Sanitizes one text. Every call draws afresh: the same text again is a second release, and weakens the first.
   *
   * @throws OptionError An option has a value that the bundle does not have.
   * @throws InputError The text is not a string, or too long for consistent draws.
   * @throws EntropyFailed The platform gives no random bytes.
   */
  sanitize(text: string, options: Options = {}): Result {
    return this.sanitizeBatch([text], options)[0] as Result;
  }

  /** Sanitizes many texts, each a document of its own. All are drawn together, which is faster. */
  sanitizeBatch(texts: Iterable<string>, options: Options = {}): Result[] {
    if (!isMany(texts)) throw new InputError(REFUSALS.noTexts);
    const found = [...texts];
    found.forEach((text, place) => {
      if (typeof text !== "string") throw new InputError(`text ${place + 1} of ${found.length} is not a string`);
    });
    return this.#rewrite(
      found.map((text) => [text]),
      options,
    ).map((document) => new Drawn(document.texts[0] ?? "", document.statement, document.mapping, document.keptShare));
  }

  /** Sanitizes documents that have several texts each, such as the cells of a row. */
  sanitizeDocuments(documents: Iterable<Iterable<string>>, options: Options = {}): DocumentResult[] {
    if (!isMany(documents)) throw new InputError(REFUSALS.noDocuments);
    const found = [...documents].map((texts) => {
      if (!isMany(texts)) throw new InputError(REFUSALS.noDocument);
      return [...texts];
    });
    found.forEach((texts, place) => {
      if (!texts.every((text) => typeof text === "string")) {
        throw new InputError(`document ${place + 1} of ${found.length} has a text that is not a string`);
      }
    });
    return this.#rewrite(found as string[][], options);
  }

  /** Returns each piece of a text with what becomes of it. Nothing is drawn; it is as private as the text. */
  preview(text: string, options: Options = {}): [string, string][] {
    if (typeof text !== "string") throw new InputError("the text is not a string");
    const given = givenOf(options);
    if (given.protect === "names") return new NamesPlan(this.#bundle, given).preview(text);
    return new Rewriter(this.#plan(given)[0], this.#take).preview(text);
  }

  /** Reads a mapping that `Restorer.toText` has written. */
  readMapping(content: string): Restorer {
    return Restorer.fromText(content, this.#bundle.cutter);
  }

  /** Returns what a call with these options promises of a text with so many tokens. Nothing is drawn. */
  terms(options: Options = {}, tokens = 0): Statement {
    if (!Number.isSafeInteger(tokens) || tokens < 0) throw new OptionError("tokens is a whole number, at least 0");
    const given = givenOf(options);
    if (given.protect === "names") return new NamesPlan(this.#bundle, given).statement(tokens);
    return new MentionStatement(this.#plan(given)[1], tokens);
  }

  #rewrite(documents: readonly (readonly string[])[], options: Options): DocumentResult[] {
    const given = givenOf(options);
    if (given.protect === "names") {
      const plan = new NamesPlan(this.#bundle, given);
      return plan.rewrite(documents, this.#take).map(({ texts, tokens, replaced = 0, pairs }) => ({
        texts,
        statement: plan.statement(tokens),
        mapping: plan.style.consistent ? new Restorer(pairs, this.#bundle.cutter) : undefined,
        keptShare: tokens + replaced > 0 ? roundShare(tokens / (tokens + replaced)) : undefined,
      }));
    }
    const [plan, terms] = this.#plan(given);
    return new Rewriter(plan, this.#take).rewrite(documents).map(({ texts, tokens, pairs }) => ({
      texts,
      statement: new MentionStatement(terms, tokens),
      mapping: plan.consistent ? new Restorer(pairs, this.#bundle.cutter) : undefined,
      keptShare: undefined,
    }));
  }

  #plan(given: Given): [Plan, MentionTerms] {
    const bundle = this.#bundle;
    const { table } = bundle;
    const level = this.#level(given);
    const protect = given.protect === undefined ? table.defaultProtect : given.protect === "all" ? "all" : "words";
    const cap = capOf(given);
    const { consistent = false, split = false, sanitizePunctuation: bare = false } = given;
    if (!consistent && (given.consistentCap !== undefined || split)) {
      throw new OptionError("consistentCap and split need consistent");
    }
    const known = `${protect} ${level.epsilon}`;
    let slots = this.#slots.get(known);
    if (slots === undefined) {
      slots = new Slots(bundle, level, protect === "words");
      if (this.#slots.size >= MOST_SLOTS) this.#slots.clear();
      this.#slots.set(known, slots);
    }
    const pattern = bare ? "drop" : (given.case ?? "carry");
    const near = Math.max(slots.strict.near, slots.lower.near);
    const gain = Math.max(slots.strict.guessGain, slots.lower.guessGain);
    const plan: Plan = {
      bundle,
      rule: new Rule(bundle.lists, protect === "words", given.deny ?? []),
      slots,
      keepsCase: pattern === "carry",
      bare,
      consistent,
      cap,
      split,
    };
    const terms: MentionTerms = {
      bundle: bundle.identity,
      level: level.name,
      epsilon: level.epsilon,
      share: level.share.toString(),
      near: Math.ceil(near * BOUNDS_SCALE) / BOUNDS_SCALE,
      guessGain: Math.ceil(gain * ROUNDED_UP * GAIN_SCALE) / GAIN_SCALE,
      protect,
      consistent,
      case: pattern,
      bare,
    };
    return [plan, terms];
  }

  #level(given: Given): Level {
    const { table } = this.#bundle;
    const wanted = given.epsilon === undefined ? undefined : epsilonOf(given.epsilon);
    const level = table.levels.find((one) =>
      wanted === undefined ? one.name === table.defaultLevel : one.epsilon.equals(wanted),
    );
    if (level === undefined) {
      throw new UnknownLevel(`no such level; the staircase has the epsilons ${this.epsilons.join(", ")}`);
    }
    return level;
  }
}
