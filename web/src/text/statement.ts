/** Privacy statements of releases, in numbers and in words. They depend only on the output and public parameters. */

import { FACTS } from "../constants.js";
import { statements } from "../data.js";
import { computeLargestOdds, type Decimal, formatCount, formatThousands } from "../mechanisms/decimal.js";
import type { Facts } from "./names/facts.js";

/** Plain values for JSON, with the same names as in Python. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Privacy statement of one release. It is safe to publish beside the output. */
export abstract class ReleaseStatement {
  /** Name of the mechanism: `staircase` or `names`. */
  abstract readonly mechanism: string;
  /** Information that the release reveals in spite of the noise, in plain words. */
  abstract readonly notProtected: readonly string[];

  constructor(
    /** Content hash of the bundle. */
    readonly bundleHash: string,
    /** Number of randomized words, or of distinct ones with `consistent`; in the mode `names`, of kept words. */
    readonly tokens: number,
  ) {}

  /** Return the full guarantee as one paragraph. */
  abstract summary(): string;

  /** Return one short line on the kept, replaced and randomized parts. */
  abstract formatLine(): string;

  /** Return plain values for JSON. */
  abstract toJSON(): PlainObject;

  /** Return the lines between the summary and the content hash of the bundle. */
  protected listDetails(): string[] {
    return [];
  }

  toString(): string {
    const items = this.notProtected.map((item) => `  - ${item}`);
    return [this.summary(), ...this.listDetails(), `bundle ${this.bundleHash}`, "Not protected:", ...items].join("\n");
  }
}

/** @internal Fill a template with values. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

const { names, revealed_parts: PART_TEXTS, words } = statements;

/** @internal Parameters of the staircase mechanism for any number of texts. */
export interface StaircaseTerms {
  readonly bundleHash: string;
  readonly level: string;
  readonly epsilon: Decimal;
  readonly share: string;
  readonly nearProbability: number;
  readonly guessGain: number;
  readonly protect: "words" | "all";
  readonly consistent: boolean;
  readonly sanitizesPunctuation: boolean;
}

/**
 * @internal Privacy statement of the staircase mechanism: a guarantee per randomized word, between texts of the same
 * template.
 */
export class StaircaseStatement extends ReleaseStatement {
  override readonly mechanism = "staircase";

  constructor(
    readonly terms: StaircaseTerms,
    tokens: number,
  ) {
    super(terms.bundleHash, tokens);
  }

  /** Names of the parts of a text that the output reveals: its template. */
  get revealedParts(): string[] {
    const { protect, sanitizesPunctuation, consistent } = this.terms;
    const { function_words: functionWords, gaps, case: pattern, entity_types: entityTypes, order } = PART_TEXTS;
    return [
      ...(protect === "words" ? [functionWords] : []),
      ...(sanitizesPunctuation ? [] : [gaps, pattern]),
      entityTypes,
      order,
      ...(consistent ? [PART_TEXTS.equal_words] : []),
    ];
  }

  get privacyUnit(): string {
    return this.terms.consistent ? words.unit_consistent : words.unit;
  }

  override get notProtected(): string[] {
    const items = words.not_protected.map((item) => fillTemplate(item, { revealed: this.revealedParts.join(", ") }));
    const optionItems = [
      ...(this.terms.protect === "words" ? [words.not_protected_style] : []),
      ...(this.terms.consistent ? [words.not_protected_equal] : []),
    ];
    return [...items.slice(0, -1), ...optionItems, ...items.slice(-1)];
  }

  override summary(): string {
    const { epsilon } = this.terms;
    return fillTemplate(words.summary, {
      epsilon: String(epsilon),
      total: String(epsilon.multiply(this.tokens)),
      unit: this.privacyUnit,
      revealed: this.revealedParts.join(", "),
      odds: formatThousands(computeLargestOdds(epsilon)),
      count: formatCount(this.tokens, this.privacyUnit),
    });
  }

  override formatLine(): string {
    const { protect, sanitizesPunctuation, consistent, epsilon } = this.terms;
    return fillTemplate(words.lines[protect + (sanitizesPunctuation ? "_with_punctuation" : "")] ?? "", {
      epsilon: String(epsilon),
      count: formatCount(this.tokens, consistent ? words.line_count_consistent : words.line_count),
      unit: consistent ? words.line_unit_consistent : words.line_unit,
    });
  }

  override toJSON(): PlainObject {
    const { terms } = this;
    return {
      mechanism: this.mechanism,
      level: terms.level,
      epsilon_per_word: terms.epsilon.toNumber(),
      epsilon_notion: words.epsilon_kind,
      guarantee: terms.consistent ? words.guarantee_consistent : words.guarantee,
      share: terms.share,
      neighborhood_probability: terms.nearProbability,
      guess_gain: terms.guessGain,
      max_odds_ratio: Number(computeLargestOdds(terms.epsilon)),
      protect: terms.protect,
      revealed_parts: this.revealedParts,
      consistent: terms.consistent,
      randomized_words: this.tokens,
      epsilon_text: terms.epsilon.multiply(this.tokens).toNumber(),
      sanitize_punctuation: terms.sanitizesPunctuation,
      bundle: terms.bundleHash,
      line: this.formatLine(),
      summary: this.summary(),
      not_protected: this.notProtected,
    };
  }
}

/** @internal Options of replacement in the mode `names`. */
export interface ReplacementStyle {
  readonly usesTags: boolean;
  readonly consistent: boolean;
  readonly cap: number;
  readonly keptTypes: ReadonlySet<string>;
  readonly taggedTypes: ReadonlySet<string>;
  readonly droppedTypes: ReadonlySet<string>;
  /** Entity types that are tags in every style because the option `facts` keeps some of their strings. */
  readonly valueTypes: ReadonlySet<string>;
}

/** @internal Parameters of the mode `names` for any number of texts. */
export interface NamesTerms {
  readonly bundleHash: string;
  readonly style: ReplacementStyle;
  /** Value of the option `facts`. */
  readonly facts: Facts;
  readonly hasAllowed: boolean;
  readonly hasDenied: boolean;
  /** Names of the user's own types. */
  readonly ownTypes: readonly string[];
  /** Whether a list of the user names persons. */
  readonly hasKnown: boolean;
}

/**
 * @internal Privacy statement of the mode `names`: replaced parts reveal their entity type only; kept parts are not
 * protected.
 */
export class NamesStatement extends ReleaseStatement {
  override readonly mechanism = "names";

  constructor(
    readonly terms: NamesTerms,
    tokens: number,
  ) {
    super(terms.bundleHash, tokens);
  }

  get #keptTypesText(): string {
    return [...this.terms.style.keptTypes].sort().join(", ");
  }

  override get notProtected(): string[] {
    const { style, hasAllowed, ownTypes, hasKnown } = this.terms;
    const ownPhrase = fillTemplate(names.not_protected_patterns, { types: ownTypes.join(", ") });
    return [
      ...names.not_protected,
      ...this.#listFactTexts(names.not_protected_facts),
      ...(style.keptTypes.size > 0 ? [fillTemplate(names.not_protected_types, { types: this.#keptTypesText })] : []),
      ...(hasAllowed ? [names.not_protected_allowed] : []),
      ...(ownTypes.length > 0 ? [ownPhrase] : []),
      ...(hasKnown ? [names.not_protected_known] : []),
      ...(style.consistent ? [names.not_protected_equal] : []),
    ];
  }

  override formatLine(): string {
    const { keptTypes } = this.terms.style;
    const keptTemplate = keptTypes.size === 0 ? "" : keptTypes.size > 1 ? names.kept_types : names.kept_type;
    const keptPhrase =
      this.#listFactTexts(names.kept_facts).join("") +
      fillTemplate(keptTemplate, { types: this.#keptTypesText }) +
      (this.terms.hasAllowed ? names.kept_allowed : "");
    return fillTemplate(names.line, { more: keptPhrase, randomized: "", replacements: this.#replacementPhrase });
  }

  /** Texts of the value of `facts`, and of all values that keep less. */
  #listFactTexts(textByLevel: Readonly<Record<Exclude<Facts, "none">, string>>): string[] {
    const levels = FACTS.slice(0, FACTS.indexOf(this.terms.facts) + 1);
    return levels.flatMap((level) => (level === "none" ? [] : [textByLevel[level]]));
  }

  /** Phrase on the replacement of words that are neither kept nor randomized. */
  get #replacementPhrase(): string {
    const { usesTags, taggedTypes, droppedTypes } = this.terms.style;
    const typesByTreatment: [string, ReadonlySet<string>][] = [
      ["tags", usesTags ? new Set() : taggedTypes],
      ["removed", droppedTypes],
    ];
    const treatments = typesByTreatment
      .filter(([, entityTypes]) => entityTypes.size > 0)
      .map(([treatment, entityTypes]) => `${treatment}: ${[...entityTypes].sort().join(", ")}`);
    return (
      (usesTags ? names.by_tags : names.by_surrogates) + (treatments.length > 0 ? ` (${treatments.join("; ")})` : "")
    );
  }

  /** Maximum number of distinct strings with surrogates of their own; `null` without such a cap. */
  get #effectiveCap(): number | null {
    const { style } = this.terms;
    return style.consistent && !style.usesTags ? style.cap : null;
  }

  override summary(): string {
    const summary = fillTemplate(names.summary, {
      line: this.formatLine(),
      equal: this.terms.style.consistent ? names.revealed_equal : "",
      kept: formatCount(this.tokens, names.unit),
    });
    return (
      summary +
      (this.#effectiveCap === null ? "" : fillTemplate(names.cap, { cap: formatThousands(this.#effectiveCap) })) +
      this.#listFactTexts(names.facts).join("") +
      (this.terms.facts === "useful" ? names.facts_end.useful : "")
    );
  }

  override toJSON(): PlainObject {
    const { style, facts, hasAllowed, hasDenied, ownTypes, hasKnown } = this.terms;
    return {
      mechanism: this.mechanism,
      level: null,
      protect: "names",
      epsilon_text: null,
      epsilon_notion: names.epsilon_kind,
      guarantee: names.guarantee,
      style: style.usesTags ? "tag" : "surrogate",
      consistent: style.consistent,
      consistent_cap: this.#effectiveCap,
      keep: [...style.keptTypes].sort(),
      tag: [...style.taggedTypes].sort(),
      drop: [...style.droppedTypes].sort(),
      facts,
      allow: hasAllowed,
      deny: hasDenied,
      also: false,
      ...(ownTypes.length > 0 ? { patterns: [...ownTypes] } : {}),
      ...(hasKnown ? { known: true } : {}),
      randomize: null,
      kept_words: this.tokens,
      sanitize_punctuation: false,
      bundle: this.bundleHash,
      line: this.formatLine(),
      summary: this.summary(),
      not_protected: this.notProtected,
    };
  }
}
