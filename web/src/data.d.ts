/** Data shared with the Python package; `scripts/data.mjs` embeds it at the build. */

import type { ReplyData } from "./bundle/replyRules.js";

/** Words for one class of numbers, such as the tens, and the words that may replace them. */
export interface NumberWords {
  readonly surrogates: readonly string[];
  readonly words: readonly string[];
}

/** A pattern of strings. A name in braces is a reference to another pattern. */
export interface PatternData {
  readonly any_case: boolean;
  readonly text: string;
}

/** Names of the patterns of strings. */
export type PatternName =
  | "dash"
  | "date"
  | "decade"
  | "digit_groups"
  | "email"
  | "file"
  | "hash"
  | "iban"
  | "ip"
  | "mac"
  | "number"
  | "number_with_unit"
  | "ordinal"
  | "path"
  | "plain_number"
  | "postcode_end"
  | "postcode_start"
  | "season"
  | "ssn"
  | "time"
  | "time_range"
  | "uuid"
  | "year"
  | "year_range";

/** Names of the lists of words that the rules for public facts read. */
export type FactWordKey =
  | "address_words"
  | "age_ends"
  | "clause_subjects"
  | "code_constants"
  | "comma_words"
  | "counters"
  | "currencies"
  | "label_nouns"
  | "decimal_marks"
  | "determined_nouns"
  | "determiners"
  | "elisions"
  | "joined_words"
  | "request_words"
  | "error_words"
  | "foreign_words"
  | "heading_leads"
  | "field_words"
  | "identifier_pieces"
  | "institution_ends"
  | "joining_words"
  | "kin"
  | "language_leads"
  | "language_nouns"
  | "language_varieties"
  | "month_leads"
  | "name_cues"
  | "name_followers"
  | "name_leads"
  | "name_prefixes"
  | "not_plurals"
  | "number_words"
  | "party_words"
  | "phone_labels"
  | "phrases"
  | "firm_leads"
  | "platforms"
  | "plurals"
  | "range_words"
  | "roles"
  | "secret_words"
  | "start_followers"
  | "starts"
  | "street_leads"
  | "technical_names"
  | "units"
  | "version_words"
  | "weak_address_words"
  | "work_words";

type Words<Names extends string> = Readonly<Record<Names, readonly string[]>>;

/** How dates with the name of a month are written. */
export interface DateWords {
  /** Words between a day, a month and a year. */
  readonly links: readonly string[];
  /** Whether months are in lower case. */
  readonly lower_months: boolean;
  /** Whether a full stop follows a day before a month. */
  readonly day_stop: boolean;
}

/** Rules of a language (docs/format-rules.md). */
export interface RulesData {
  readonly ages: Words<"before" | "behind" | "short" | "units">;
  readonly clitics: Words<"after" | "before" | "negation_stems"> & { readonly negation: string };
  readonly domains: Words<"all" | "names" | "words">;
  readonly endings: Words<"except" | "kept">;
  readonly kept_whole: readonly string[];
  readonly language: string;
  readonly months: Words<"also_words" | "names"> & { readonly short: Readonly<Record<string, number>> };
  readonly names: Words<
    | "also_persons"
    | "connectors"
    | "first_short_forms"
    | "function_words"
    | "legal_forms"
    | "no_legal_forms"
    | "place_prepositions"
    | "suffixes"
  > & { readonly titles: Readonly<Record<string, { readonly surrogate: string; readonly words: readonly string[] }>> };
  readonly numbers: Readonly<Record<"and" | "digits" | "multipliers" | "point" | "scales", NumberWords>> &
    Words<"letters" | "weak">;
  readonly optional?: {
    readonly facts?: Partial<Words<FactWordKey>>;
    readonly dates?: Partial<DateWords>;
    readonly replies?: ReplyData;
  };
  readonly patterns: Readonly<Record<PatternName, PatternData>>;
  readonly sentences: Words<"abbreviations" | "headline_words" | "requests" | "verbs">;
  readonly surrogates: {
    readonly choices: Readonly<Record<string, readonly string[]>>;
    readonly templates: Readonly<Record<string, string>>;
  };
}

export const rules: RulesData;

/** Unicode tables, punctuation, and gaps that join words. A table has the code points outside and inside of ranges. */
export const characters: {
  readonly emoji: Words<"listed" | "spare" | "tones"> & {
    readonly classes: Words<"B" | "E" | "G">;
    readonly sequence: string;
  };
  readonly gaps: Words<
    | "apostrophes"
    | "joins"
    | "joins_digits"
    | "joins_forms"
    | "joins_initials"
    | "joins_letters"
    | "joins_names"
    | "joins_spelled"
  > &
    Readonly<
      Record<
        | "before_listed"
        | "between_numbers"
        | "blanks"
        | "blanks_listed"
        | "ends_sentence"
        | "line_breaks"
        | "opens"
        | "quotes",
        string
      >
    >;
  readonly marks: Words<"punctuation"> & Readonly<Record<"hard" | "sentence_ends" | "soft" | "trimmed", string>>;
  readonly patterns: Readonly<
    Record<
      "digit_years" | "emoticon" | "entity" | "entity_name" | "number_with_groups" | "phone_number" | "redirection",
      string
    >
  >;
  readonly tables: Words<"digits" | "symbols" | "word_characters">;
};

/** Lists and pools of the mode `names`, and how the types relate. */
export const types: Words<
  | "any_case"
  | "capitalized"
  | "closed"
  | "headline"
  | "lists"
  | "lower_case"
  | "lower_pools"
  | "never_consistent"
  | "no_persons"
  | "pools"
  | "unlisted"
  | "whole"
> & {
  readonly called: Readonly<Record<string, string>>;
  readonly first_names_only: string;
  readonly last: readonly (readonly [string, string])[];
  readonly without_capitals: Readonly<Record<string, string>>;
};

/** Texts of privacy statements; names in braces are replaced by figures. */
export const statements: {
  readonly class_label: Readonly<Record<"guess_gain" | "label" | "sentence" | "sentence_note" | "summary", string>> &
    Words<"not_protected">;
  readonly names: Readonly<
    Record<
      | "by_surrogates"
      | "by_tags"
      | "cap"
      | "epsilon_kind"
      | "guarantee"
      | "kept_allowed"
      | "kept_type"
      | "kept_types"
      | "line"
      | "not_protected_allowed"
      | "not_protected_equal"
      | "not_protected_known"
      | "not_protected_patterns"
      | "not_protected_types"
      | "revealed_equal"
      | "summary"
      | "unit",
      string
    >
  > &
    Words<"not_protected"> &
    Readonly<
      Record<"facts" | "kept_facts" | "not_protected_facts", Readonly<Record<"plain" | "public" | "useful", string>>>
    > & { readonly facts_end: Readonly<Record<"useful", string>> };
  readonly revealed_parts: Readonly<
    Record<"case" | "entity_types" | "equal_words" | "function_words" | "gaps" | "order", string>
  >;
  readonly words: Readonly<
    Record<
      | "epsilon_kind"
      | "guarantee"
      | "guarantee_consistent"
      | "line_count"
      | "line_count_consistent"
      | "line_unit"
      | "line_unit_consistent"
      | "not_protected_equal"
      | "not_protected_style"
      | "summary"
      | "unit"
      | "unit_consistent",
      string
    >
  > &
    Words<"not_protected"> & { readonly lines: Readonly<Record<string, string>> };
};
