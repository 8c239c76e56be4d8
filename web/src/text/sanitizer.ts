/** `Sanitizer`, the main class for applications. */

import type { ExpectedBundle } from "../bundle/open.js";
import type { BundleSource } from "../bundle/source.js";
import { TextBundle } from "../bundle/textBundle.js";
import { SHARED_MESSAGES } from "../constants.js";
import { InputError, OptionError, UnknownLevel } from "../errors.js";
import { type RandomUint64, readRandomUint64 } from "../mechanisms/entropy.js";
import { SlotStaircases } from "../mechanisms/slots.js";
import type { StaircaseLevel } from "../mechanisms/staircase.js";
import { type ExplainedPiece, explainFunctionWords } from "./explanation.js";
import { describeLanguage } from "./keptWords.js";
import { NamesPlan } from "./names/plan.js";
import { type CheckedOptions, checkOptions, isCollection, type Options, parseCap, parseEpsilon } from "./options.js";
import { Restorer } from "./restore.js";
import type { Restored } from "./restored.js";
import type { RestoreOptions } from "./restorePolicy.js";
import { DocumentRewriter, type SanitizingPlan } from "./rewrite.js";
import { type ReleaseStatement, StaircaseStatement, type StaircaseTerms } from "./statement.js";
import { TemplateRule } from "./tokenRules/rule.js";

/** A sanitized text and its privacy statement. */
export interface Result {
  readonly text: string;
  /** Privacy statement of the release. */
  readonly statement: ReleaseStatement;
  /** Mapping for restoring after consistent outputs; undefined otherwise. It undoes the protection. */
  readonly mapping: Restorer | undefined;
  /**
   * Share of words that the mode `names` kept, without counting names, numbers and identifiers. If it is below one half,
   * the text may not be English. Undefined in other modes, and if the text has no words.
   */
  readonly keptShare: number | undefined;
  /**
   * Warning that the text may be in another language than the bundle, since the mode `names` kept few words. Undefined
   * if it kept enough.
   */
  readonly languageWarning: string | undefined;
  /** Return a reply about the sanitized text with its original words in running text, on this device, and a report. */
  restore(reply: string, options?: RestoreOptions): Restored;
}

/** Options of a preview. */
type PreviewOptions = Options & { readonly explain?: boolean | undefined };

/** Sanitized texts of one document, with one statement for all of them. */
export interface SanitizedDocument {
  readonly texts: readonly string[];
  readonly statement: ReleaseStatement;
  readonly mapping: Restorer | undefined;
  /** Share of kept words in all texts of the document, as in `Result`. */
  readonly keptShare: number | undefined;
  /** Warning that the texts of the document may be in another language, as in `Result`. */
  readonly languageWarning: string | undefined;
}

class SanitizedText implements Result {
  readonly #mapping: Restorer | undefined;

  constructor(
    readonly text: string,
    readonly statement: ReleaseStatement,
    mapping: Restorer | undefined,
    readonly keptShare: number | undefined,
    readonly languageWarning: string | undefined,
  ) {
    this.#mapping = mapping;
  }

  /** Getter instead of a property, so that logs and copies contain no mapping. */
  get mapping(): Restorer | undefined {
    return this.#mapping;
  }

  restore(reply: string, options?: RestoreOptions): Restored {
    if (this.#mapping === undefined) {
      throw new OptionError(
        "this result has no mapping: only results with consistent: true have one, and only in the process that created " +
          "them",
      );
    }
    return this.#mapping.restore(reply, options, this.text);
  }
}

/** Round a share to three decimals as Python does. Exact halves, which only multiples of 1/16 have, become even. */
function roundShare(share: number): number {
  if (!Number.isInteger(16 * share)) return Number(share.toFixed(3));
  const below = Math.floor(1000 * share);
  return (below + (1000 * share - below === 0.5 && below % 2 === 1 ? 1 : 0)) / 1000;
}

const BOUNDS_SCALE = 10_000;
const GAIN_SCALE = 10;
const ROUNDING_FACTOR = 1 + 1e-12;
/** Maximum number of cached mechanisms: each has tables as long as the vocabulary. */
const MAX_CACHED_PLANS = 16;

/** Sanitizes texts, offline, with the mechanisms of one bundle. */
export class Sanitizer {
  readonly #bundle: TextBundle;
  readonly #randomUint64: RandomUint64;
  readonly #mechanisms = new Map<string, SlotStaircases>();

  /** @internal */
  constructor(bundle: TextBundle, randomUint64: RandomUint64 = readRandomUint64) {
    this.#bundle = bundle;
    this.#randomUint64 = randomUint64;
  }

  /**
   * Open a bundle, and check hashes and structure of every file.
   *
   * @param source The bundle, or for mixed texts the packs of several languages.
   * @param expected Requirements on the bundle. For a list of packs, `language: "es+en"` names their languages in order.
   *   A word is kept if one pack keeps it, unless another pack lists it as a name and does not keep it.
   * @throws BundleError The bundle cannot be used, or is not the expected one.
   * @throws OptionError The bundle is of another language.
   */
  static async load(source: BundleSource | readonly BundleSource[], expected: ExpectedBundle = {}): Promise<Sanitizer> {
    return new Sanitizer(await TextBundle.load(source, expected));
  }

  /** Content hash of the bundle: SHA-256 of its manifest. */
  get bundleHash(): string {
    return this.#bundle.contentHash;
  }

  /** Protection modes that the bundle supports. */
  get modes(): ("names" | "words" | "all")[] {
    return [
      ...(this.#bundle.hasNames ? (["names"] as const) : []),
      ...(this.#bundle.hasStaircase ? (["words", "all"] as const) : []),
    ];
  }

  /** Epsilons per word of the staircase mechanism, strictest first; none without it. */
  get epsilons(): string[] {
    return this.#bundle.hasStaircase ? this.#bundle.table.levels.map((level) => level.epsilon.toString()) : [];
  }

  /**
   * Sanitize one text. Every call samples again, so sanitizing the same text again weakens its protection.
   *
   * @throws OptionError The bundle does not support the value of an option.
   * @throws InputError The text is not a string, or too long for consistent outputs.
   * @throws EntropyFailed The platform returns no random bytes.
   */
  sanitize(text: string, options: Options = {}): Result {
    return this.sanitizeBatch([text], options)[0] as Result;
  }

  /** Sanitize many texts. Each text is a document of its own, with its own statement. */
  sanitizeBatch(texts: Iterable<string>, options: Options = {}): Result[] {
    if (!isCollection(texts)) throw new InputError(SHARED_MESSAGES.noTexts);
    const textList = [...texts];
    textList.forEach((text, index) => {
      if (typeof text !== "string") throw new InputError(`text ${index + 1} of ${textList.length} must be a string`);
    });
    return this.#rewrite(
      textList.map((text) => [text]),
      options,
    ).map(
      ({ texts: [text = ""], statement, mapping, keptShare, languageWarning }) =>
        new SanitizedText(text, statement, mapping, keptShare, languageWarning),
    );
  }

  /** Sanitize documents that consist of several texts, such as the cells of a row. */
  sanitizeDocuments(documents: Iterable<Iterable<string>>, options: Options = {}): SanitizedDocument[] {
    if (!isCollection(documents)) throw new InputError(SHARED_MESSAGES.noDocuments);
    const documentList = [...documents].map((texts) => {
      if (!isCollection(texts)) throw new InputError(SHARED_MESSAGES.noDocument);
      return [...texts];
    });
    documentList.forEach((texts, index) => {
      if (!texts.every((text) => typeof text === "string")) {
        throw new InputError(`document ${index + 1} of ${documentList.length} has a text that is not a string`);
      }
    });
    return this.#rewrite(documentList as string[][], options);
  }

  /**
   * Return each token and gap of a text with its treatment, without sampling. With `explain: true`, also return the
   * position of each piece and the list or rule that decides its treatment. The result is as private as the text.
   */
  preview(text: string, options: Options & { readonly explain: true }): ExplainedPiece[];
  preview(text: string, options?: Options & { readonly explain?: false | undefined }): [string, string][];
  preview(text: string, options: PreviewOptions = {}): [string, string][] | ExplainedPiece[] {
    if (typeof text !== "string") throw new InputError("the text must be a string");
    const isObject = typeof options === "object" && options !== null;
    const { explain = false, ...others } = isObject ? options : {};
    if (typeof explain !== "boolean") throw new OptionError("explain must be true or false");
    const checked = checkOptions(isObject ? others : options, this.#bundle.hasNames);
    if (checked.protect === "names") {
      const plan = new NamesPlan(this.#bundle, checked);
      return explain ? plan.explain(text) : plan.preview(text);
    }
    const pieces = new DocumentRewriter(this.#makePlan(checked)[0], this.#randomUint64).preview(text);
    return explain ? explainFunctionWords(pieces) : pieces;
  }

  /** Parse a mapping from the result of `Restorer.toJsonText`. */
  readMapping(content: string): Restorer {
    return Restorer.fromJsonText(content, this.#bundle.segmenter);
  }

  /** Return the privacy statement of a call with these options for a text of `tokens` tokens, without sampling. */
  statement(options: Options = {}, tokens = 0): ReleaseStatement {
    if (!Number.isSafeInteger(tokens) || tokens < 0) throw new OptionError("tokens must be an integer, at least 0");
    const checked = checkOptions(options, this.#bundle.hasNames);
    if (checked.protect === "names") return new NamesPlan(this.#bundle, checked).statement(tokens);
    return new StaircaseStatement(this.#makePlan(checked)[1], tokens);
  }

  #rewrite(documents: readonly (readonly string[])[], options: Options): SanitizedDocument[] {
    const checked = checkOptions(options, this.#bundle.hasNames);
    if (checked.protect === "names") {
      const plan = new NamesPlan(this.#bundle, checked);
      const rewritten = plan.rewrite(documents, this.#randomUint64);
      return rewritten.map(({ texts, tokens, replacedWords = 0, foreignWords = 0, pairs }) => ({
        texts,
        statement: plan.statement(tokens),
        mapping: plan.style.consistent ? new Restorer(pairs, this.#bundle.segmenter, plan.replyRules) : undefined,
        keptShare: tokens + replacedWords > 0 ? roundShare(tokens / (tokens + replacedWords)) : undefined,
        languageWarning: describeLanguage({ kept: tokens, replaced: replacedWords, foreign: foreignWords }),
      }));
    }
    const [plan, terms] = this.#makePlan(checked);
    return new DocumentRewriter(plan, this.#randomUint64).rewrite(documents).map(({ texts, tokens, pairs }) => ({
      texts,
      statement: new StaircaseStatement(terms, tokens),
      mapping: plan.consistent ? new Restorer(pairs, this.#bundle.segmenter) : undefined,
      keptShare: undefined,
      languageWarning: undefined,
    }));
  }

  #makePlan(checked: CheckedOptions): [SanitizingPlan, StaircaseTerms] {
    const bundle = this.#bundle;
    const { table } = bundle;
    const level = this.#findLevel(checked);
    const protect = checked.protect === undefined ? table.defaultMode : checked.protect === "all" ? "all" : "words";
    const cap = parseCap(checked);
    const { consistent = false, sanitizePunctuation: sanitizesPunctuation = false } = checked;
    if (!consistent && checked.consistentCap !== undefined)
      throw new OptionError("consistentCap works only with consistent: set consistent, or omit consistentCap");
    const cacheKey = `${protect} ${level.epsilon}`;
    let mechanism = this.#mechanisms.get(cacheKey);
    if (mechanism === undefined) {
      mechanism = new SlotStaircases(bundle, level, protect === "words");
      if (this.#mechanisms.size >= MAX_CACHED_PLANS) this.#mechanisms.clear();
      this.#mechanisms.set(cacheKey, mechanism);
    }
    const nearProbability = Math.max(mechanism.anyCase.nearProbability, mechanism.lowerCase.nearProbability);
    const guessGain = Math.max(mechanism.anyCase.guessGain, mechanism.lowerCase.guessGain);
    const plan: SanitizingPlan = {
      bundle,
      rule: new TemplateRule(bundle.entityTypes, protect === "words", checked.deny ?? []),
      mechanism,
      keepsCase: !sanitizesPunctuation,
      sanitizesPunctuation,
      consistent,
      cap,
    };
    const terms: StaircaseTerms = {
      bundleHash: bundle.contentHash,
      level: level.name,
      epsilon: level.epsilon,
      share: level.share.toString(),
      nearProbability: Math.ceil(nearProbability * BOUNDS_SCALE) / BOUNDS_SCALE,
      guessGain: Math.ceil(guessGain * ROUNDING_FACTOR * GAIN_SCALE) / GAIN_SCALE,
      protect,
      consistent,
      sanitizesPunctuation,
    };
    return [plan, terms];
  }

  #findLevel(checked: CheckedOptions): StaircaseLevel {
    const { table } = this.#bundle;
    const requested = checked.epsilon === undefined ? undefined : parseEpsilon(checked.epsilon);
    const level = table.levels.find((level) =>
      requested === undefined ? level.name === table.defaultLevel : level.epsilon.equals(requested),
    );
    if (level === undefined) {
      throw new UnknownLevel(`no such level; the staircase has the epsilons ${this.epsilons.join(", ")}`);
    }
    return level;
  }
}
