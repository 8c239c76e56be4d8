/** What a release of text promises, in numbers and words: a function of the output and of public parameters alone. */

import { statements } from "./data.js";
import { counted, type Decimal, largestOdds, thousands } from "./decimal.js";

/** Plain values, with the names that statements of all readers have. */
export type Facts = Readonly<Record<string, unknown>>;

/** The promise of one release. Safe to publish beside the output. */
export abstract class Statement {
  /** Mechanism and rung: `staircase` or `names`. */
  abstract readonly mechanism: string;
  /** What the release shows in spite of the noise, in plain words. */
  abstract readonly notProtected: readonly string[];

  constructor(
    /** Identity of the bundle. */
    readonly bundle: string,
    /** What is charged: drawn words, or distinct drawn words; on the rung names how many words are shown. */
    readonly tokens: number,
  ) {}

  /** The promise in full, as one paragraph. */
  abstract summary(): string;

  /** What is shown, replaced and drawn, in one short line. */
  abstract line(): string;

  /** Plain values, as statements in JSON have them. */
  abstract toJSON(): Facts;

  /** Lines between the summary and the identity of the bundle. */
  protected details(): string[] {
    return [];
  }

  toString(): string {
    const items = this.notProtected.map((item) => `  - ${item}`);
    return [this.summary(), ...this.details(), `bundle ${this.bundle}`, "Not protected:", ...items].join("\n");
  }
}

/** @internal Puts values into the places of a template. */
export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

const nats = (value: Decimal): string => (value.toString() === "1" ? "nat" : "nats");
/** Figures are written with their unit in sentences. */
const withUnit = (value: Decimal): string => `${value} ${nats(value)}`;
const { names, visible: PARTS, words } = statements;

/** @internal Under what a staircase draws. */
export interface MentionTerms {
  readonly bundle: string;
  readonly level: string;
  readonly epsilon: Decimal;
  readonly share: string;
  readonly near: number;
  readonly guessGain: number;
  readonly protect: "words" | "all";
  readonly consistent: boolean;
  readonly case: "carry" | "drop";
  readonly bare: boolean;
}

/** @internal What the staircase promises of every drawn word, between texts of the same skeleton. */
export class MentionStatement extends Statement {
  override readonly mechanism = "staircase";

  constructor(
    readonly terms: MentionTerms,
    tokens: number,
  ) {
    super(terms.bundle, tokens);
  }

  /** What the text shows as it is. */
  get visible(): string[] {
    const { protect, bare, consistent } = this.terms;
    const { function_words: functionWords, gaps, case: pattern, kinds, order, equal } = PARTS;
    return [
      ...(protect === "words" ? [functionWords] : []),
      ...(bare ? [] : [gaps]),
      ...(this.terms.case === "carry" && !bare ? [pattern] : []),
      kinds,
      order,
      ...(consistent ? [equal] : []),
    ];
  }

  get unit(): string {
    return this.terms.consistent ? words.consistent_unit : words.unit;
  }

  override get notProtected(): string[] {
    const items = words.not_protected.map((item) => filled(item, { visible: this.visible.join(", ") }));
    const more = [
      ...(this.terms.protect === "words" ? [words.habits] : []),
      ...(this.terms.consistent ? [words.cipher] : []),
    ];
    return [...items.slice(0, -1), ...more, ...items.slice(-1)];
  }

  override summary(): string {
    const { epsilon } = this.terms;
    return filled(words.summary, {
      epsilon: withUnit(epsilon),
      document: withUnit(epsilon.times(this.tokens)),
      unit: this.unit,
      visible: this.visible.join(", "),
      odds: thousands(largestOdds(epsilon)),
      mentions: counted(this.tokens, this.unit),
    });
  }

  override line(): string {
    const { protect, bare, consistent, epsilon } = this.terms;
    return filled(words.lines[protect + (bare ? "_bare" : "")] ?? "", {
      epsilon: withUnit(epsilon),
      words: counted(this.tokens, consistent ? words.other_distinct : words.other),
      each: this.tokens === 1 ? "" : " each",
    });
  }

  override toJSON(): Facts {
    const { terms } = this;
    return {
      mechanism: this.mechanism,
      level: terms.level,
      epsilon_per_word: terms.epsilon.toNumber(),
      epsilon_notion: words.epsilon_kind,
      guarantee: terms.consistent ? words.consistent_notion : words.notion,
      share: terms.share,
      neighborhood_probability: terms.near,
      guess_gain: terms.guessGain,
      max_odds_ratio: Number(largestOdds(terms.epsilon)),
      protect: terms.protect,
      revealed_parts: this.visible,
      consistent: terms.consistent,
      randomized_words: this.tokens,
      epsilon_text: terms.epsilon.times(this.tokens).toNumber(),
      case: terms.case,
      sanitize_punctuation: terms.bare,
      bundle: terms.bundle,
      line: this.line(),
      summary: this.summary(),
      not_protected: this.notProtected,
    };
  }
}

/** @internal How slots of the rung names are written. */
export interface Style {
  readonly tags: boolean;
  readonly consistent: boolean;
  readonly cap: number;
  readonly keep: ReadonlySet<string>;
  readonly tag: ReadonlySet<string>;
  readonly drop: ReadonlySet<string>;
}

/** @internal Under what the rung names replaces. */
export interface NamesTerms {
  readonly bundle: string;
  readonly style: Style;
  readonly allow: boolean;
  readonly deny: boolean;
}

/** @internal What the rung names promises: of what is replaced, everything but its kind; of what is shown, nothing. */
export class NamesStatement extends Statement {
  override readonly mechanism = "names";

  constructor(
    readonly terms: NamesTerms,
    tokens: number,
  ) {
    super(terms.bundle, tokens);
  }

  get #kept(): string {
    return [...this.terms.style.keep].sort().join(", ");
  }

  override get notProtected(): string[] {
    const { style, allow } = this.terms;
    return [
      ...names.not_protected,
      ...(style.keep.size > 0 ? [filled(names.kept, { kinds: this.#kept })] : []),
      ...(allow ? [names.allowed] : []),
      ...(style.consistent ? [names.equal] : []),
    ];
  }

  override line(): string {
    const { keep } = this.terms.style;
    const kept = keep.size === 0 ? "" : keep.size > 1 ? names.kept_types : names.kept_type;
    const more = filled(kept, { kinds: this.#kept }) + (this.terms.allow ? names.allowed_words : "");
    return filled(names.line, { more, drawn: "", others: this.#others });
  }

  /** What stands in the place of a word that is neither shown nor drawn. */
  get #others(): string {
    const { tags, tag, drop } = this.terms.style;
    const ways: [string, ReadonlySet<string>][] = [
      ["tags", tags ? new Set() : tag],
      ["left out", drop],
    ];
    const said = ways
      .filter(([, kinds]) => kinds.size > 0)
      .map(([way, kinds]) => `${way}: ${[...kinds].sort().join(", ")}`);
    return (tags ? names.tags : names.surrogates) + (said.length > 0 ? ` (${said.join("; ")})` : "");
  }

  /** The most different strings that have members of their own; `null` where there is no such cap. */
  get #cap(): number | null {
    const { style } = this.terms;
    return style.consistent && !style.tags ? style.cap : null;
  }

  override summary(): string {
    const summary = filled(names.summary, {
      line: this.line(),
      equal: this.terms.style.consistent ? names.equal_strings : "",
      shown: counted(this.tokens, names.unit),
    });
    return summary + (this.#cap === null ? "" : filled(names.beyond_cap, { cap: thousands(this.#cap) }));
  }

  override toJSON(): Facts {
    const { style, allow, deny } = this.terms;
    return {
      mechanism: this.mechanism,
      level: null,
      protect: "names",
      epsilon_text: null,
      epsilon_notion: names.epsilon_kind,
      guarantee: names.notion,
      style: style.tags ? "tag" : "surrogate",
      consistent: style.consistent,
      consistent_cap: this.#cap,
      keep: [...style.keep].sort(),
      tag: [...style.tag].sort(),
      drop: [...style.drop].sort(),
      allow,
      deny,
      also: false,
      randomize: null,
      kept_words: this.tokens,
      case: "carry",
      sanitize_punctuation: false,
      bundle: this.bundle,
      line: this.line(),
      summary: this.summary(),
      not_protected: this.notProtected,
    };
  }
}
