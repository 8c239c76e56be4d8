/** Privacy statement of a released class label: one epsilon per text. */

import { statements } from "../data.js";
import { computeLargestOdds, formatThousands } from "../mechanisms/decimal.js";
import type { LabelStaircase } from "../mechanisms/labelStaircase.js";
import { parseEpsilon } from "../text/options.js";
import { fillTemplate, type PlainObject, ReleaseStatement } from "../text/statement.js";

/** What a released index promises: one epsilon, for any two texts. */
export class LabelStatement extends ReleaseStatement {
  override readonly mechanism: string;
  override readonly notProtected = statements.index.not_protected;
  /** Name of the channel. */
  readonly randomizer: string;
  /** The level, as the bundle spells it: loss of the whole text. */
  readonly epsilon: string;
  readonly #guessGain: number;
  readonly #labelCount: number;

  /** @internal */
  constructor(
    staircase: LabelStaircase,
    bundle: string,
    /** Of how many public sentences one is released in the place of the index; 0 for the index itself. */
    readonly sentences: number,
  ) {
    super(bundle, 1);
    this.randomizer = staircase.randomizer;
    this.epsilon = staircase.epsilonText;
    this.#guessGain = staircase.guessGain;
    this.#labelCount = staircase.labelCount;
    this.mechanism = `index ${this.randomizer}`;
  }

  /** What a released sentence is, for whoever reads it. */
  get sentenceDescription(): string {
    return fillTemplate(statements.index.sentences, { sentences: String(this.sentences) });
  }

  override summary(): string {
    const { randomizer, epsilon } = this;
    const labelPhrase = fillTemplate(statements.index.indices, { indices: String(this.#labelCount) });
    return fillTemplate(statements.index.summary, {
      released: this.sentences > 0 ? this.sentenceDescription : labelPhrase,
      channel: randomizer,
      epsilon,
      odds: formatThousands(computeLargestOdds(parseEpsilon(epsilon))),
    });
  }

  override formatLine(): string {
    return this.summary();
  }

  protected override listDetails(): string[] {
    const guess = fillTemplate(statements.index.guess, { gain: formatGain(this.#guessGain) });
    return this.sentences > 0 ? [guess, statements.index.fixed] : [guess];
  }

  override toJSON(): PlainObject {
    return {
      ...(this.sentences > 0 ? { sentences: this.sentences, kind_of_text: this.sentenceDescription } : {}),
      channel: this.randomizer,
      indices: this.#labelCount,
      epsilon_whole_text: Number(this.epsilon),
      delta_whole_text: 0,
      guess_gain: this.#guessGain,
      bundle: this.bundleHash,
      not_protected: [...this.notProtected],
    };
  }
}

/** As Python writes a number that it rounded. */
const formatGain = (gain: number): string => (Number.isInteger(gain) ? `${gain}.0` : String(gain));
