/** The staircase of one level over one set of outputs (docs/format-staircase.md, "The staircase"). */

import { type Level, type Table, UNIT } from "./bundle/text.js";
import { factorOf, quotient } from "./decimal.js";
import { uniformBelow, uniformBelowEach, type Words } from "./entropy.js";
import { BundleDamaged } from "./errors.js";

const UNIT_BITS = 20n;

/** The budget of one input, ready to draw from. */
interface Row {
  readonly first: number;
  /** Running sums of what is dealt. */
  readonly dealt: Float64Array;
  /** Where the removed intervals begin in what is left of the base, ascending. */
  readonly shifted: Float64Array;
  /** Running sums of what is removed, 0 first. */
  readonly removed: Float64Array;
  readonly total: number;
  readonly left: number;
}

/** How many ascending entries are at most a value: as many steps whatever it is. */
function atMost(ascending: Float64Array, value: number): number {
  const last = ascending.length - 1;
  let position = -1;
  for (let step = 1 << (31 - Math.clz32(ascending.length)); step > 0; step >>= 1) {
    const probe = Math.min(position + step, last);
    position = (ascending[probe] ?? 0) <= value ? probe : position;
  }
  return position + 1;
}

export class Staircase {
  readonly #base: Float64Array;
  readonly #sums: Float64Array;
  readonly #mass: number;
  readonly #budget: number;
  readonly #ownCap: number;
  readonly #factor: bigint;
  readonly #near: bigint;
  readonly total: bigint;

  constructor(
    readonly table: Table,
    readonly level: Level,
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
    if (mass < 1) throw new BundleDamaged("staircase.safetensors: there is no output");
    this.#mass = mass;
    const budget = level.share.of(BigInt(mass));
    const dealt = budget > 1n ? budget : 1n;
    this.#budget = Number(dealt);
    this.#ownCap = Number(level.ownShare.of(dealt));
    this.#factor = factorOf(level.epsilon, UNIT);
    this.#near = UNIT * BigInt(mass);
    this.total = this.#near + this.#factor * dealt;
  }

  /** How often a draw comes from the budget. */
  get near(): number {
    return quotient(this.#factor * BigInt(this.#budget), this.total);
  }

  /** How much likelier a right guess gets at most. */
  get guessGain(): number {
    return quotient((UNIT + this.#factor) * BigInt(this.#mass), this.total);
  }

  #row(x: number): Row {
    const { table } = this;
    const width = table.width;
    const known = x < table.base.length;
    const first = known ? x * width : 0;
    const order = new Float64Array(width);
    const budgets = new Float64Array(width);
    const dealt = new Float64Array(width);
    let before = 0;
    let total = 0;
    for (let place = 0; place < width; place++) {
      const y = table.neighbors[first + place] ?? 0;
      const most = known ? Math.min(this.#base[y] ?? 0, place === 0 ? this.#ownCap : Number.MAX_SAFE_INTEGER) : 0;
      const share = Math.min(Math.max(this.#budget - before, 0), most);
      before += most;
      total += share;
      budgets[place] = share;
      dealt[place] = total;
      order[place] = y * width + place;
    }
    order.sort();
    const shifted = new Float64Array(width);
    const removed = new Float64Array(width + 1);
    let taken = 0;
    for (let place = 0; place < width; place++) {
      const entry = order[place] ?? 0;
      const y = Math.floor(entry / width);
      shifted[place] = (this.#sums[y] ?? 0) - (this.#base[y] ?? 0) - taken;
      taken += budgets[entry - y * width] ?? 0;
      removed[place + 1] = taken;
    }
    return { first, dealt, shifted, removed, total, left: Math.max(1, this.#mass - total) };
  }

  /**
   * One output for each input, independently. Every output is found from the base, from the neighbors and from what is
   * left of the base, and `u` says which one is taken: the bound is about the output alone, not about how it was found.
   */
  draw(inputs: ArrayLike<number>, take: Words): Int32Array {
    const rows = new Map<number, Row>();
    const count = inputs.length;
    const found: Row[] = [];
    const left = new Float64Array(count);
    for (let place = 0; place < count; place++) {
      const x = inputs[place] ?? 0;
      let row = rows.get(x);
      if (row === undefined) {
        row = this.#row(x);
        rows.set(x, row);
      }
      found.push(row);
      left[place] = row.left;
    }
    const u = uniformBelow(this.total, count, take);
    const w = uniformBelowEach(left, take);
    const outputs = new Int32Array(count);
    for (let place = 0; place < count; place++) {
      outputs[place] = this.#select(found[place] as Row, u[place] ?? 0n, w[place] ?? 0);
    }
    return outputs;
  }

  #select(row: Row, u: bigint, w: number): number {
    const ofBudget = u - this.#near;
    const fromBase = ofBudget < 0n;
    const v = this.#factor > 0n ? Number((fromBase ? 0n : ofBudget) / this.#factor) : 0;
    const near = atMost(row.dealt, v);
    const leftover = w + (row.removed[atMost(row.shifted, w)] ?? 0);
    const ofBase = Math.min(Number(u >> UNIT_BITS), this.#mass - 1);
    const output = atMost(this.#sums, fromBase ? ofBase : leftover);
    const stored = this.table.neighbors[row.first + Math.min(near, this.table.width - 1)] ?? 0;
    return !fromBase && v < row.total ? stored : output;
  }
}
