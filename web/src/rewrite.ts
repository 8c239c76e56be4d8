/** Rewrites documents under the staircase: reads their tokens, draws, and writes what came out into the gaps. */

import { hasLowerRoles, type Level, type TextBundle } from "./bundle/text.js";
import { size } from "./characters.js";
import { BATCH_CHARACTERS, LONG_CHARACTERS } from "./constants.js";
import { thousands } from "./decimal.js";
import { uniformBelowEach, type Words } from "./entropy.js";
import { DocumentTooLong } from "./errors.js";
import type { Pair } from "./forms.js";
import { GAP, STRING } from "./segments.js";
import { endsSentence, MEMBER, MENTION, markOf, marksOf, type Rule, type Token, VISIBLE } from "./skeleton.js";
import { Staircase } from "./staircase.js";
import { inCase, keyOf, LOWER } from "./words.js";

const WORDS_ROLE = 1;
const ALL_ROLE = 2;
const LOWER_SHIFT = 4;

/** The staircases of one level: of slots of any case, and of those in lower case, where they have other outputs. */
export class Slots {
  readonly strict: Staircase;
  readonly lower: Staircase;

  constructor(bundle: TextBundle, level: Level, visible: boolean) {
    const { table } = bundle;
    const role = visible ? WORDS_ROLE : ALL_ROLE;
    const lower = hasLowerRoles(table) ? role << LOWER_SHIFT : role;
    this.strict = new Staircase(table, level, (y) => ((table.roles[y] ?? 0) & role) !== 0);
    const differ = table.roles.some((found) => ((found & role) !== 0) !== ((found & lower) !== 0));
    this.lower = differ ? new Staircase(table, level, (y) => ((table.roles[y] ?? 0) & lower) !== 0) : this.strict;
  }

  /** An output for each input; first come those that are not in lower case. */
  draw(inputs: readonly number[], lower: readonly boolean[], take: Words): number[] {
    const outputs = new Array<number>(inputs.length).fill(0);
    const sets: [Staircase, boolean | undefined][] =
      this.lower === this.strict
        ? [[this.strict, undefined]]
        : [
            [this.strict, false],
            [this.lower, true],
          ];
    for (const [staircase, isLower] of sets) {
      const places: number[] = [];
      for (let place = 0; place < inputs.length; place++) {
        if (isLower === undefined || lower[place] === isLower) places.push(place);
      }
      const drawn = staircase.draw(
        places.map((place) => inputs[place] ?? 0),
        take,
      );
      places.forEach((place, number) => {
        outputs[place] = drawn[number] ?? 0;
      });
    }
    return outputs;
  }
}

/** How texts are rewritten under one set of options. */
export interface Plan {
  readonly bundle: TextBundle;
  readonly rule: Rule;
  readonly slots: Slots;
  readonly keepsCase: boolean;
  readonly bare: boolean;
  readonly consistent: boolean;
  readonly cap: number;
  readonly split: boolean;
}

/** A document after the draw: its texts, what is charged, and pairs of what came out and what stood there. */
export interface Rewritten {
  readonly texts: string[];
  readonly tokens: number;
  /** On the rung names: how many words on no list are replaced. */
  readonly replaced?: number;
  readonly pairs: readonly (Pair | readonly [string, string])[];
}

/** What a text is read as: gaps, and the tokens of each word or string. */
type Items = (string | readonly Token[])[];

/** One draw: a token that it is for, and whether all its slots are in lower case. */
interface Draw {
  readonly token: Token;
  readonly document: number;
  lower: boolean;
  word: string;
}

/** Documents that are drawn together; that bounds memory. */
export function* batches(
  documents: readonly (readonly string[])[],
  most = BATCH_CHARACTERS,
): Generator<(readonly string[])[]> {
  let batch: (readonly string[])[] = [];
  let characters = 0;
  for (const document of documents) {
    const long = document.reduce((sum, text) => sum + size(text), 0);
    if (batch.length > 0 && (characters + long > most || long > LONG_CHARACTERS)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(document);
    characters += long;
    if (long > LONG_CHARACTERS) {
      yield batch;
      [batch, characters] = [[], 0];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Rewrites the documents of one call. It holds what the user wrote, and ends with the call. */
export class Rewriter {
  readonly #inside = new Map<string, readonly Token[]>();
  readonly #starting = new Map<string, readonly Token[]>();
  readonly #inGap = new Map<string, readonly Token[]>();
  readonly #spellings = new Map<string, string>();

  constructor(
    readonly plan: Plan,
    readonly take: Words,
  ) {}

  /** Rewrites documents of any number of texts, each of which begins a sentence. */
  rewrite(documents: readonly (readonly string[])[]): Rewritten[] {
    const found: Rewritten[] = [];
    for (const batch of batches(documents)) for (const one of this.#together(batch)) found.push(one);
    return found;
  }

  /** Each piece of a text with what becomes of it. */
  preview(text: string): [string, string][] {
    const { plan } = this;
    const found: [string, string][] = [];
    let [gap, first] = ["", true];
    plan.rule.lists.cutter.cut(
      text,
      (kind, segment) => {
        if (kind === GAP) {
          const isMark = plan.bare && marksOf(segment, plan.rule.lists.cutter).length > 0;
          found.push([segment, isMark ? plan.rule.nameOf(plan.rule.markKind) : "gap"]);
          gap += segment;
          return;
        }
        const starts = first || (!plan.bare && endsSentence(gap));
        for (const token of plan.rule.tokens(kind, segment, starts)) {
          found.push([token.spelled, this.#becomes(token)]);
        }
        [gap, first] = ["", false];
      },
      plan.rule.visible && !plan.bare,
    );
    return found;
  }

  #becomes(token: Token): string {
    if (token.role === VISIBLE) return "kept";
    if (token.role === MEMBER) return this.plan.rule.nameOf(token.kind);
    return this.#symbol(token) < this.plan.bundle.symbols ? "randomized" : "unknown";
  }

  #symbol(token: Token): number {
    const { bundle } = this.plan;
    return token.key === undefined ? bundle.symbols : (bundle.ids.get(token.key) ?? bundle.symbols);
  }

  #read(text: string): Items {
    const { plan } = this;
    const { rule } = plan;
    const items: Items = [];
    let [ended, first] = [false, true];
    rule.lists.cutter.cut(
      text,
      (kind, segment) => {
        if (kind !== GAP) {
          items.push(this.#tokens(kind, segment, first || (ended && !plan.bare)));
          [ended, first] = [false, false];
          return;
        }
        if (!plan.bare) {
          items.push(segment);
          ended ||= segment !== " " && endsSentence(segment);
          return;
        }
        let marks = this.#inGap.get(segment);
        if (marks === undefined) {
          marks = marksOf(segment, rule.lists.cutter).map((mark) => markOf(rule, mark));
          this.#inGap.set(segment, marks);
        }
        if (marks.length > 0) items.push(marks);
      },
      rule.visible && !plan.bare,
    );
    return items;
  }

  #tokens(kind: number, segment: string, starts: boolean): readonly Token[] {
    const known = kind === STRING ? ` ${segment}` : segment; // no segment begins with a blank
    const found = (starts ? this.#starting : this.#inside).get(known);
    if (found !== undefined) return found;
    const { rule } = this.plan;
    const inside = rule.tokens(kind, segment, false);
    const first = inside[0] as Token;
    // Only what is drawn as an unknown word inside a sentence may be something else at the start of one.
    const starting = first.role === MENTION && first.key === undefined ? rule.tokens(kind, segment, true) : inside;
    this.#inside.set(known, inside);
    this.#starting.set(known, starting);
    if (this.plan.consistent) {
      for (const token of starting === inside ? inside : [...inside, ...starting]) {
        const equal = this.#equal(token);
        if (equal !== undefined && !this.#spellings.has(equal)) this.#spellings.set(equal, token.spelled);
      }
    }
    return starts ? starting : inside;
  }

  /** What equal tokens have in common; nothing of a token that is equal to no other. */
  #equal(token: Token): string | undefined {
    if (token.role === VISIBLE || token.kind === this.plan.rule.markKind) return undefined;
    if (token.role === MEMBER) return `${token.kind} ${keyOf(token.spelled)}`;
    const symbol = this.#symbol(token);
    return symbol < this.plan.bundle.symbols ? `# ${symbol}` : `? ${keyOf(token.spelled)}`;
  }

  #together(batch: readonly (readonly string[])[]): Rewritten[] {
    const { plan, take } = this;
    const read = batch.map((texts) => texts.map((text) => this.#read(text)));
    const [drawOf, draws] = this.#draws(read);
    const mentions = draws.filter((draw) => draw.token.role === MENTION);
    const members = draws.filter((draw) => draw.token.role === MEMBER);
    const symbols = plan.slots.draw(
      mentions.map((draw) => this.#symbol(draw.token)),
      mentions.map((draw) => draw.lower),
      take,
    );
    mentions.forEach((draw, number) => {
      draw.word = plan.bundle.vocabulary[symbols[number] ?? 0] ?? "";
    });
    const outputs = members.map((draw) => plan.rule.outputs(draw.token.kind));
    const chosen = uniformBelowEach(
      outputs.map((words) => words.length),
      take,
    );
    members.forEach((draw, number) => {
      draw.word = outputs[number]?.[chosen[number] ?? 0] ?? "";
    });
    const tokens = new Array<number>(batch.length).fill(0);
    for (const draw of mentions) tokens[draw.document] = (tokens[draw.document] ?? 0) + 1;
    let place = 0;
    return read.map((texts, document) => {
      const pairs: [string, string][] = [];
      const written = texts.map((items) => {
        const parts: string[] = [];
        for (const item of items) {
          if (typeof item === "string") {
            parts.push(item);
            continue;
          }
          for (let number = 0; number < item.length; number++) {
            const token = item[number] as Token;
            const draw = drawOf[place++];
            const word = draw === undefined ? (token.key ?? "") : draw.word;
            const spelled = plan.keepsCase ? inCase(word, token.case) : word;
            if (plan.bare ? parts.length > 0 : number > 0 && token.role !== VISIBLE) parts.push(" ");
            parts.push(spelled);
            const equal = plan.consistent && draw !== undefined ? this.#equal(token) : undefined;
            if (equal !== undefined) pairs.push([keyOf(spelled), this.#spellings.get(equal) ?? token.spelled]);
          }
        }
        return parts.join("");
      });
      return { texts: written, tokens: tokens[document] ?? 0, pairs };
    });
  }

  /** The draw of every token, in order (nothing for what is visible), and all draws, by their first tokens. */
  #draws(read: readonly (readonly Items[])[]): [(Draw | undefined)[], Draw[]] {
    const { plan } = this;
    const of: (Draw | undefined)[] = [];
    const draws: Draw[] = [];
    read.forEach((texts, document) => {
      let counted = 0;
      let part = 0;
      let known = new Map<string, Draw>();
      for (const items of texts) {
        for (const item of items) {
          if (typeof item === "string") continue;
          for (const token of item) {
            if (token.role === VISIBLE) {
              of.push(undefined);
              continue;
            }
            const isLower = !plan.keepsCase || token.case === LOWER;
            const equal = plan.consistent ? this.#equal(token) : undefined;
            if (equal !== undefined && Math.floor(counted++ / plan.cap) > part) {
              if (!plan.split) throw tooLong(plan.cap);
              part++;
              known = new Map();
            }
            let draw = equal === undefined ? undefined : known.get(equal);
            if (draw === undefined) {
              draw = { token, document, lower: true, word: "" };
              draws.push(draw);
              if (equal !== undefined) known.set(equal, draw);
            }
            draw.lower &&= isLower;
            of.push(draw);
          }
        }
      }
    });
    return [of, draws];
  }
}

const tooLong = (cap: number): DocumentTooLong =>
  new DocumentTooLong(
    `a document has more drawn words, names and numbers than ${thousands(cap)}: consistent draws need it split, or ` +
      "a higher cap",
  );
