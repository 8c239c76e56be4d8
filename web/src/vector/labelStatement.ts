/** Privacy statement of a released class label, with one epsilon per text. */

import { statements } from "../data.js";
import { computeLargestOdds, formatThousands } from "../mechanisms/decimal.js";
import type { LabelStaircase } from "../mechanisms/labelStaircase.js";
import { parseEpsilon } from "../text/options.js";
import { fillTemplate, type PlainObject, ReleaseStatement } from "../text/statement.js";

/** Privacy statement of one released class label. */
export class LabelStatement extends ReleaseStatement {
  override readonly mechanism: string;
  override readonly notProtected = statements.class_label.not_protected;
  /** Name of the randomizer. */
  readonly randomizer: string;
  /** Epsilon per text, in the spelling of the bundle. */
  readonly epsilon: string;
  readonly #guessGain: number;
  readonly #labelCount: number;

  /** @internal */
  constructor(
    staircase: LabelStaircase,
    bundle: string,
    /** Number of public sentences, one of which replaces the label; 0 if the label itself is released. */
    readonly sentences: number,
  ) {
    super(bundle, 1);
    this.randomizer = staircase.randomizer;
    this.epsilon = staircase.epsilonText;
    this.#guessGain = staircase.guessGain;
    this.#labelCount = staircase.labelCount;
    this.mechanism = `class label (${this.randomizer})`;
  }

  /** Explanation of a released sentence for its readers. */
  get sentenceDescription(): string {
    return fillTemplate(statements.class_label.sentence, { sentences: String(this.sentences) });
  }

  override summary(): string {
    const { randomizer, epsilon } = this;
    const labelPhrase = fillTemplate(statements.class_label.label, { labels: String(this.#labelCount) });
    return fillTemplate(statements.class_label.summary, {
      released: this.sentences > 0 ? this.sentenceDescription : labelPhrase,
      randomizer,
      epsilon,
      odds: formatThousands(computeLargestOdds(parseEpsilon(epsilon))),
    });
  }

  override formatLine(): string {
    return this.summary();
  }

  protected override listDetails(): string[] {
    const guess = fillTemplate(statements.class_label.guess_gain, { gain: formatGain(this.#guessGain) });
    return this.sentences > 0 ? [guess, statements.class_label.sentence_note] : [guess];
  }

  override toJSON(): PlainObject {
    return {
      ...(this.sentences > 0 ? { sentences: this.sentences, sentence_description: this.sentenceDescription } : {}),
      randomizer: this.randomizer,
      label_count: this.#labelCount,
      epsilon_text: Number(this.epsilon),
      delta_text: 0,
      guess_gain: this.#guessGain,
      bundle: this.bundleHash,
      not_protected: [...this.notProtected],
    };
  }
}

/** Format a rounded number in the same way as Python. */
const formatGain = (gain: number): string => (Number.isInteger(gain) ? `${gain}.0` : String(gain));
