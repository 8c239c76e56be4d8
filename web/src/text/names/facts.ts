/** Option `facts` of the mode `names`: which public facts it keeps besides common words. */

import type { NamesLists } from "../../bundle/namesFiles.js";
import type { FACTS } from "../../constants.js";

/** @internal Value of the option. */
export type Facts = (typeof FACTS)[number];

/** @internal Lists and value of the option for calls with one set of options. */
export class FactRules {
  constructor(
    readonly lists: NamesLists,
    readonly level: Facts,
  ) {}
}
