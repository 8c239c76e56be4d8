/** Results of restoring a reply: the text with its originals, and a report. */

import { RestoredNotJson } from "../errors.js";
import type { SkipReason } from "./restorePolicy.js";

/** A surrogate that stays in a reply. */
export interface NotRestored {
  /** The surrogate as written in the reply. */
  readonly written: string;
  /** Reason for which it stays. */
  readonly reason: SkipReason;
}

/** Report on the surrogates of a reply. It contains only words of the reply, and no originals. */
export class RestoreReport {
  constructor(
    /** Restored surrogates, as written in the reply. */
    readonly restored: readonly string[] = [],
    /** Surrogates that stay, each with the reason. */
    readonly notRestored: readonly NotRestored[] = [],
    /**
     * Numbers of the reply that are neither surrogates nor in the sanitized text, where numbers of the text were
     * replaced: a model may have computed them from surrogates.
     */
    readonly unknownNumbers: readonly string[] = [],
    /**
     * Tags of the reply, such as `[person 99]`, that are not in the mapping. Empty if the mapping has no tag.
     */
    readonly unknownTags: readonly string[] = [],
  ) {}

  /** Surrogates that were not restored because of their position in the reply, each with the reason. */
  get skipped(): NotRestored[] {
    return this.notRestored.filter(({ reason }) => reason !== "word" && reason !== "ambiguous");
  }

  /** Surrogates that were not restored, since they may be words of the reply itself. */
  get notRestoredWords(): string[] {
    return this.#selectByReason("word");
  }

  /** Surrogates that were not restored, since they have several originals. */
  get ambiguous(): string[] {
    return this.#selectByReason("ambiguous");
  }

  #selectByReason(selected: SkipReason): string[] {
    return this.notRestored.filter(({ reason }) => reason === selected).map(({ written }) => written);
  }

  /** Return plain values for JSON, with the same names as in Python. */
  toJSON(): Readonly<Record<string, unknown>> {
    return {
      restored: this.restored,
      not_restored: this.notRestored,
      unknown_numbers: this.unknownNumbers,
      unknown_tags: this.unknownTags,
    };
  }
}

/**
 * A reply with the user's words, and a report on the surrogates that were not restored. It acts as its text in
 * templates, `String()` and `+`. `JSON.stringify` throws an error, so that no code writes it to JSON by accident:
 * use `text`, or `toObject()` for text and report.
 */
export class Restored {
  /** The reply with the user's words. It is as private as the text that was sanitized. */
  readonly text: string;
  /** Report on restored and other surrogates. */
  readonly report: RestoreReport;

  /** @internal */
  constructor(text: string, report: RestoreReport) {
    this.text = text;
    this.report = report;
  }

  toString(): string {
    return this.text;
  }

  /** Return text and report as plain values for JSON. */
  toObject(): Readonly<Record<string, unknown>> {
    return { text: this.text, ...this.report.toJSON() };
  }

  /** @throws RestoredNotJson Always. */
  toJSON(): never {
    throw new RestoredNotJson(
      "a Restored object cannot be written to JSON: use .text, or .toObject() for text and report",
    );
  }
}
