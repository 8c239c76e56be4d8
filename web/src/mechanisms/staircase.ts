/** The staircase mechanism of one level with one set of outputs (docs/format-staircase.md, "The staircase"). */

import { BundleDamaged } from "../errors.js";
import { computeFactor, type Decimal, divide, type Ratio } from "./decimal.js";
import { drawUniformBelow, drawUniformBelowEach, type RandomUint64 } from "./entropy.js";

const UNIT_BITS = 20n;
const LOWER_ROLES = 48;
/** Weight of one unit of base (`G` in docs/proofs/staircase.md). */
export const UNIT = 1n << 20n;

/** Parameters of the staircase mechanism at one level. */
export interface StaircaseLevel {
  readonly name: string;
  readonly epsilon: Decimal;
  readonly share: Ratio;
}

/** Neighbors, base weights and roles of the staircase mechanism. */
export interface StaircaseTable {
  readonly neighbors: Uint16Array | Uint32Array;
  readonly width: number;
  readonly base: Uint32Array;
  readonly roles: Uint8Array;
  readonly levels: readonly StaircaseLevel[];
  readonly defaultLevel: string;
  readonly defaultMode: "words" | "all";
}

/** The distribution of the budget of one input, prepared for sampling. */
interface StaircaseRow {
  readonly firstNeighbor: number;
  /** Cumulative sums of the budget that the neighbors get. */
  readonly cumulativeBudget: Float64Array;
  /** Positions in the remaining base at which intervals were removed, ascending. */
  readonly shifted: Float64Array;
  /** Cumulative sums of the lengths of the removed intervals, beginning with 0. */
  readonly cumulativeRemoved: Float64Array;
  readonly total: number;
  readonly left: number;
}

/** Count the entries of an ascending array that are at most `value`. The number of steps does not depend on `value`. */
function countAtMost(ascending: Float64Array, value: number): number {
  const last = ascending.length - 1;
  let position = -1;
  for (let step = 1 << (31 - Math.clz32(ascending.length)); step > 0; step >>= 1) {
    const probe = Math.min(position + step, last);
    position = (ascending[probe] ?? 0) <= value ? probe : position;
  }
  return position + 1;
}

/** Staircase mechanism: pure local differential privacy for each randomized word. */
export class Staircase {
  readonly #base: Float64Array;
  readonly #sums: Float64Array;
  readonly #mass: number;
  readonly #budget: number;
  readonly #factor: bigint;
  readonly #baseWeight: bigint;
  readonly total: bigint;

  constructor(
    readonly table: StaircaseTable,
    readonly level: StaircaseLevel,
    isOutput: (symbol: number) => boolean,
  ) {
    const symbols = table.base.length;
    this.#base = new Float64Array(symbols);
    this.#sums = new Float64Array(symbols);
    let mass = 0;
    for (let y = 0; y < symbols; y++) {
      const weight = isOutput(y) ? (table.base[y] ?? 0) : 0;
      this.#base[y] = weight;
      mass += weight;
      this.#sums[y] = mass;
    }
    if (mass < 1) throw new BundleDamaged("staircase.safetensors: no output is possible");
    this.#mass = mass;
    const budget = level.share.multiplyDown(BigInt(mass));
    const rowBudget = budget > 1n ? budget : 1n;
    this.#budget = Number(rowBudget);
    this.#factor = computeFactor(level.epsilon, UNIT);
    this.#baseWeight = UNIT * BigInt(mass);
    this.total = this.#baseWeight + this.#factor * rowBudget;
  }

  /** Probability that a sample comes from the budget. */
  get nearProbability(): number {
    return divide(this.#factor * BigInt(this.#budget), this.total);
  }

  /** Largest factor by which an output raises the probability of a correct guess of a word. */
  get guessGain(): number {
    return divide((UNIT + this.#factor) * BigInt(this.#mass), this.total);
  }

  #prepareRow(x: number): StaircaseRow {
    const { table } = this;
    const width = table.width;
    const isKnown = x < table.base.length;
    const firstNeighbor = isKnown ? x * width : 0;
    const order = new Float64Array(width);
    const budgets = new Float64Array(width);
    const cumulativeBudget = new Float64Array(width);
    let capSum = 0;
    let total = 0;
    for (let index = 0; index < width; index++) {
      const y = table.neighbors[firstNeighbor + index] ?? 0;
      const cap = isKnown ? (this.#base[y] ?? 0) : 0;
      const share = Math.min(Math.max(this.#budget - capSum, 0), cap);
      capSum += cap;
      total += share;
      budgets[index] = share;
      cumulativeBudget[index] = total;
      order[index] = y * width + index;
    }
    order.sort();
    const shifted = new Float64Array(width);
    const cumulativeRemoved = new Float64Array(width + 1);
    let removedSum = 0;
    for (let index = 0; index < width; index++) {
      const entry = order[index] ?? 0;
      const y = Math.floor(entry / width);
      shifted[index] = (this.#sums[y] ?? 0) - (this.#base[y] ?? 0) - removedSum;
      removedSum += budgets[entry - y * width] ?? 0;
      cumulativeRemoved[index + 1] = removedSum;
    }
    return {
      firstNeighbor,
      cumulativeBudget,
      shifted,
      cumulativeRemoved,
      total,
      left: Math.max(1, this.#mass - total),
    };
  }

  /**
   * Sample one output for each input independently. For every input, three outputs are computed (from the base, the
   * neighbors and the remaining base), and `u` selects one of them. The privacy bound covers only the output, so it must
   * not be visible which of the three was selected.
   */
  drawSymbols(inputs: ArrayLike<number>, randomUint64: RandomUint64): Int32Array {
    const rows = new Map<number, StaircaseRow>();
    const count = inputs.length;
    const inputRows: StaircaseRow[] = [];
    const left = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      const x = inputs[index] ?? 0;
      let row = rows.get(x);
      if (row === undefined) {
        row = this.#prepareRow(x);
        rows.set(x, row);
      }
      inputRows.push(row);
      left[index] = row.left;
    }
    const u = drawUniformBelow(this.total, count, randomUint64);
    const w = drawUniformBelowEach(left, randomUint64);
    const outputs = new Int32Array(count);
    for (let index = 0; index < count; index++) {
      outputs[index] = this.#selectOutput(inputRows[index] as StaircaseRow, u[index] ?? 0n, w[index] ?? 0);
    }
    return outputs;
  }

  #selectOutput(row: StaircaseRow, u: bigint, w: number): number {
    const budgetOffset = u - this.#baseWeight;
    const isFromBase = budgetOffset < 0n;
    const v = this.#factor > 0n ? Number((isFromBase ? 0n : budgetOffset) / this.#factor) : 0;
    const neighborIndex = countAtMost(row.cumulativeBudget, v);
    const leftover = w + (row.cumulativeRemoved[countAtMost(row.shifted, w)] ?? 0);
    const baseOffset = Math.min(Number(u >> UNIT_BITS), this.#mass - 1);
    const output = countAtMost(this.#sums, isFromBase ? baseOffset : leftover);
    const stored = this.table.neighbors[row.firstNeighbor + Math.min(neighborIndex, this.table.width - 1)] ?? 0;
    return !isFromBase && v < row.total ? stored : output;
  }
}

/** Return whether some symbols are possible outputs only in lower case. */
export function hasLowerRoles(table: StaircaseTable): boolean {
  return table.roles.some((role) => role & LOWER_ROLES);
}
