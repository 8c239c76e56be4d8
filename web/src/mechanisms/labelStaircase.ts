/** The staircase mechanism for class labels. */

import { MAX_EPSILON } from "../constants.js";
import { BundleDamaged } from "../errors.js";
import { computeFactor, Decimal, divide } from "./decimal.js";
import { drawUniformBelow, drawUniformBelowEach, type RandomUint64 } from "./entropy.js";
import { UNIT } from "./staircase.js";

const MAX_TOTAL = 1n << 62n;

/** Staircase mechanism of one randomizer and epsilon, from true labels to released labels. */
export class LabelStaircase {
  readonly epsilon: Decimal;
  readonly total: bigint;
  readonly #mass: bigint;
  readonly #budget: bigint;
  readonly #factor: bigint;

  /** Check all conditions of the privacy theorem on the integers used for sampling. */
  constructor(
    readonly randomizer: string,
    /** Epsilon per text, in the spelling of the bundle. */
    readonly epsilonText: string,
    readonly base: BigInt64Array,
    readonly budgetMatrix: BigInt64Array,
  ) {
    const labelCount = base.length;
    const makeError = (problem: string): BundleDamaged => new BundleDamaged(`a randomizer: ${problem}`);
    this.epsilon = Decimal.parse(epsilonText) as Decimal;
    if (this.epsilon.units < 1n || this.epsilon.toNumber() > MAX_EPSILON) throw makeError("epsilon is out of range");
    this.#mass = base.reduce((sum, weight) => sum + weight, 0n);
    if (base.some((weight) => weight < 0n) || this.#mass < 1n)
      throw makeError("a base weight is negative, or the sum of all base weights is zero or too large");
    if (budgetMatrix.some((share, index) => share < 0n || share > (base[index % labelCount] ?? 0n))) {
      throw makeError("a label has more budget than its base weight");
    }
    const budgets = Array.from({ length: labelCount }, (_, label) =>
      this.#getRow(label).reduce((sum, share) => sum + share, 0n),
    );
    this.#budget = budgets[0] ?? 0n;
    if (budgets.some((budget) => budget !== this.#budget) || this.#budget < 1n) {
      throw makeError("every row must have the same total budget, above 0");
    }
    this.#factor = computeFactor(this.epsilon, UNIT);
    this.total = UNIT * this.#mass + this.#factor * this.#budget;
    if (this.total >= MAX_TOTAL) throw makeError("its numbers are too large");
  }

  get labelCount(): number {
    return this.base.length;
  }

  /** Largest factor by which a release raises the probability of a correct guess, rounded up to a hundredth. */
  get guessGain(): number {
    return Math.ceil(divide((UNIT + this.#factor) * this.#mass, this.total) * 100) / 100;
  }

  #getRow(label: number): BigInt64Array {
    return this.budgetMatrix.subarray(label * this.labelCount, (label + 1) * this.labelCount);
  }

  /** Sample a label to release. For every label, both possible outputs are computed, and one of them is returned. */
  drawLabel(label: number, randomUint64: RandomUint64): number {
    const u = drawUniformBelow(this.total, 1, randomUint64)[0] ?? 0n;
    drawUniformBelowEach([Math.max(1, Number(this.#mass - this.#budget))], randomUint64); // always drawn, and never used
    const baseWeight = UNIT * this.#mass;
    const fromBase = selectByWeight(this.base, u / UNIT);
    const fromBudget = selectByWeight(
      this.#getRow(label),
      this.#factor > 0n && u >= baseWeight ? (u - baseWeight) / this.#factor : 0n,
    );
    return u < baseWeight ? fromBase : fromBudget;
  }
}

/** Return the first index at which the cumulative weights exceed a number. */
function selectByWeight(weights: BigInt64Array, number: bigint): number {
  let [sum, index] = [0n, 0];
  for (const weight of weights) {
    sum += weight;
    index += sum <= number ? 1 : 0;
  }
  return index;
}
