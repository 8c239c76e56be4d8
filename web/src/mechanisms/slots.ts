/** The staircase mechanisms of one level. A *slot* is the place in a text that receives an output. */

import type { TextBundle } from "../bundle/textBundle.js";
import type { RandomUint64 } from "./entropy.js";
import { hasLowerRoles, Staircase, type StaircaseLevel } from "./staircase.js";

const WORDS_MODE_ROLE = 1;
const ALL_MODE_ROLE = 2;
const LOWER_SHIFT = 4;

/** The staircase mechanisms of one level for slots of any case, and for slots in lower case. */
export class SlotStaircases {
  readonly anyCase: Staircase;
  readonly lowerCase: Staircase;

  constructor(bundle: TextBundle, level: StaircaseLevel, keepsFunctionWords: boolean) {
    const { table } = bundle;
    const role = keepsFunctionWords ? WORDS_MODE_ROLE : ALL_MODE_ROLE;
    const lowerRole = hasLowerRoles(table) ? role << LOWER_SHIFT : role;
    this.anyCase = new Staircase(table, level, (y) => ((table.roles[y] ?? 0) & role) !== 0);
    const differsInLower = table.roles.some((roles) => ((roles & role) !== 0) !== ((roles & lowerRole) !== 0));
    this.lowerCase = differsInLower
      ? new Staircase(table, level, (y) => ((table.roles[y] ?? 0) & lowerRole) !== 0)
      : this.anyCase;
  }

  /** Sample one output for each input: first for all slots that are not in lower case, then for all others. */
  drawSymbols(inputs: readonly number[], isLowerCase: readonly boolean[], randomUint64: RandomUint64): number[] {
    const outputs = new Array<number>(inputs.length).fill(0);
    const staircases: [Staircase, boolean | undefined][] =
      this.lowerCase === this.anyCase
        ? [[this.anyCase, undefined]]
        : [
            [this.anyCase, false],
            [this.lowerCase, true],
          ];
    for (const [staircase, isLower] of staircases) {
      const indices: number[] = [];
      for (let index = 0; index < inputs.length; index++) {
        if (isLower === undefined || isLowerCase[index] === isLower) indices.push(index);
      }
      const symbols = staircase.drawSymbols(
        indices.map((index) => inputs[index] ?? 0),
        randomUint64,
      );
      indices.forEach((index, position) => {
        outputs[index] = symbols[position] ?? 0;
      });
    }
    return outputs;
  }
}
