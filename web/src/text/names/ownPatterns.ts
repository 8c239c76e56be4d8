/**
 * Patterns of the user's own entity types: a safe subset of regular expressions.
 *
 * A pattern becomes a position automaton (Glushkov, 1961). The matcher follows all positions at once and never
 * backtracks. The *layout* of a match is the sequence of its character classes, which is a pattern: `EMP[0-9]{5}`.
 */

import { OptionError } from "../../errors.js";
import { isWordCharacter } from "../replyChunk.js";

/** Largest number of patterns of a call, of characters, positions and nodes of a pattern, and of characters of a match. */
const [MAX_PATTERNS, MAX_PATTERN_LENGTH, MAX_POSITIONS, MAX_NODES, MAX_MATCH] = [32, 200, 400, 1 << 12, 64];
/** Maximum number of surrogates of a layout, so that every index is an exact number. */
const MAX_POOL = 2 ** 52;
const TYPE_NAME = /^[a-z](?:[a-z0-9_-]{0,30}[a-z0-9])?$/;
/** Characters of patterns: printable ASCII, without those that begin, end or escape JSON. */
const ALPHABET: ReadonlySet<string> = new Set(
  Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).filter(
    (character) => !'"\\[]{}'.includes(character),
  ),
);
const SPECIAL = "\\^$.|?*+()[]{}";
const DIGITS = "0123456789";
const SHORT_CLASSES: ReadonlyMap<string, string> = new Map([
  ["d", DIGITS],
  ["w", `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz`],
]);
const BOUNDS = /\{([0-9]{1,3})(?:(,)([0-9]{0,3}))?\}/y;
const ALPHANUMERIC = /^[\p{L}\p{N}]$/u;
const MAX_STEPS = 1 << 14;
const SUPPORTED =
  "supported are classes such as [A-Z0-9], \\d, \\w, groups, |, ?, {m,n}, and + and * after one character or class";

type Node =
  | { readonly kind: "class"; readonly members: string }
  | { readonly kind: "alternatives" | "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "repetition"; readonly node: Node; readonly least: number; readonly most: number | undefined };

/** Error for an unsupported pattern. Its message is the end of a sentence that begins "pattern 1". */
class PatternProblem extends Error {}

function checkCharacter(character: string): string {
  if (!ALPHABET.has(character))
    throw new PatternProblem(
      'has a character that no pattern matches: remove it; patterns match printable ASCII without " \\ [ ] { }',
    );
  return character;
}

/** Recursive-descent parser of one pattern. */
class PatternParser {
  readonly #text: string;
  #at = 0;

  constructor(pattern: string) {
    const text = pattern.startsWith("\\b") ? pattern.slice(2) : pattern;
    this.#text = text.endsWith("\\b") ? text.slice(0, -2) : text;
  }

  parse(): Node {
    const node = this.#parseAlternatives(0);
    if (this.#at < this.#text.length)
      throw new PatternProblem("has a closing bracket without an opening one: add the opening one");
    return node;
  }

  get #next(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  #take(): string {
    const character = this.#next;
    this.#at += character.length;
    return character;
  }

  #parseAlternatives(depth: number): Node {
    if (depth > 20) throw new PatternProblem("has more than 20 groups inside each other: use fewer");
    const nodes = [this.#parseSequence(depth)];
    while (this.#next === "|") {
      this.#at++;
      nodes.push(this.#parseSequence(depth));
    }
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: "alternatives", nodes };
  }

  #parseSequence(depth: number): Node {
    const nodes: Node[] = [];
    while (!["", "|", ")"].includes(this.#next)) nodes.push(this.#parseRepetition(this.#parseAtom(depth)));
    return { kind: "sequence", nodes };
  }

  #parseAtom(depth: number): Node {
    const character = this.#take();
    if (character === "(") {
      if (this.#next === "?") {
        if (!this.#text.startsWith("?:", this.#at))
          throw new PatternProblem(
            'has a group that begins with "(?": of these only "(?:" is supported, without names and flags',
          );
        this.#at += 2;
      }
      const node = this.#parseAlternatives(depth + 1);
      if (this.#take() !== ")") throw new PatternProblem("has a group without a closing bracket: add the bracket");
      return node;
    }
    if (character === "[") return { kind: "class", members: this.#parseClass() };
    if (character === "\\") return { kind: "class", members: this.#parseEscape() };
    if ("?*+{".includes(character))
      throw new PatternProblem("has a repetition with nothing before it: write what to repeat");
    if (SPECIAL.includes(character)) throw new PatternProblem(`has the special character ${character}: ${SUPPORTED}`);
    return { kind: "class", members: checkCharacter(character) };
  }

  #parseEscape(): string {
    const character = this.#take();
    const members = SHORT_CLASSES.get(character);
    if (members !== undefined) return members;
    if (character === "" || character > "\x7f" || ALPHANUMERIC.test(character))
      throw new PatternProblem(`has an escape or a back reference: ${SUPPORTED}`);
    return checkCharacter(character);
  }

  #parseClass(): string {
    const members = new Set<string>();
    if (this.#next === "^") throw new PatternProblem(`has a negated class such as [^a]: ${SUPPORTED}`);
    while (this.#next !== "]") {
      const first = this.#parseMember();
      const isRange = this.#next === "-" && !["", "]"].includes(this.#text.charAt(this.#at + 1));
      if (!isRange) {
        for (const member of first) members.add(member);
        continue;
      }
      this.#at++;
      const last = this.#parseMember();
      if (first.length !== 1 || last.length !== 1 || first > last)
        throw new PatternProblem("has a range of characters in the wrong order: begin with the lower one");
      for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++) {
        const member = String.fromCharCode(code);
        if (ALPHABET.has(member)) members.add(member);
      }
    }
    this.#at++;
    if (members.size === 0) throw new PatternProblem("has an empty class: add a character between [ and ]");
    return [...members].sort().join("");
  }

  #parseMember(): string {
    const character = this.#take();
    if (character === "") throw new PatternProblem("has a character class without a closing ]: add the bracket");
    return character === "\\" ? this.#parseEscape() : checkCharacter(character);
  }

  #parseRepetition(node: Node): Node {
    const mark = this.#next;
    if (mark === "" || !"?*+{".includes(mark)) return node;
    let [least, most]: [number, number | undefined] = mark === "?" ? [0, 1] : [mark === "+" ? 1 : 0, undefined];
    if (mark === "{") {
      BOUNDS.lastIndex = this.#at;
      const match = BOUNDS.exec(this.#text);
      if (match === null)
        throw new PatternProblem(
          'has a "{" without a repetition of at most 999 times, such as {2}: write one, or remove the bracket',
        );
      least = Number(match[1]);
      most = match[2] === undefined ? least : match[3] ? Number(match[3]) : undefined;
      this.#at = BOUNDS.lastIndex;
    } else this.#at++;
    if (this.#next !== "" && "?*+{".includes(this.#next))
      throw new PatternProblem(`repeats a repetition: ${SUPPORTED}`);
    if (most === undefined && node.kind !== "class")
      throw new PatternProblem(`repeats a group without a limit: ${SUPPORTED}`);
    if (most !== undefined && (most < least || most === 0))
      throw new PatternProblem("has a repetition whose maximum is 0 or below its minimum: raise the maximum");
    return { kind: "repetition", node, least, most };
  }
}

/** Part of an automaton: whether it matches the empty string, and its possible first and last positions. */
interface Fragment {
  readonly nullable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const EMPTY: Fragment = { nullable: true, first: [], last: [] };

/** Match of a pattern in a text. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
  readonly entityType: string;
  readonly layout: string;
}

/** Return whether a character next to a match shows that the match is only a part of a word. */
export const isPartOfWord = (character: string): boolean => character === "_" || isWordCharacter(character);

/** Return the character before an index. */
export function getCharacterBefore(text: string, index: number): string {
  const isPair = index > 1 && (text.charCodeAt(index - 1) & 0xfc00) === 0xdc00;
  return text.slice(isPair ? index - 2 : index - 1, index);
}

/** Return the character at an index; empty at the end. */
export function getCharacterAt(text: string, index: number): string {
  const code = text.codePointAt(index);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** Finds the matches of all own patterns in a text, in time linear in its length. */
export class PatternMatcher {
  readonly #classes: string[] = [];
  readonly #follow: Set<number>[] = [];
  readonly #names: string[] = [];
  readonly #first = new Set<number>();
  readonly #last = new Set<number>();
  readonly #start: RegExp;
  readonly #steps = new Map<string, readonly number[]>();
  #built = 0;

  constructor(patterns: ReadonlyMap<string, string>, reservedNames: ReadonlySet<string>) {
    if (patterns.size > MAX_PATTERNS)
      throw new OptionError(`patterns: more than ${MAX_PATTERNS} patterns: join some of them with |`);
    let number = 0;
    for (const [name, pattern] of patterns) {
      number++;
      const isReserved = reservedNames.has(name);
      if (isReserved || !TYPE_NAME.test(name)) {
        const problem = isReserved ? "is that of a built-in type" : "is not supported";
        throw new OptionError(
          `patterns: the name of pattern ${number} ${problem}: choose another one, of letters a-z, digits, - and _`,
        );
      }
      try {
        this.#addPattern(name, pattern);
      } catch (error) {
        if (!(error instanceof PatternProblem)) throw error;
        throw new OptionError(`patterns: pattern ${number} ${error.message}`);
      }
    }
    const starts = [...this.#first].map((place) => this.#classes[place] ?? "").join("");
    this.#start = new RegExp(
      `[${[...starts].map((character) => character.replace(/[\]\\^-]/, "\\$&")).join("")}]`,
      "g",
    );
  }

  #addPattern(name: string, pattern: string): void {
    if ([...pattern].length > MAX_PATTERN_LENGTH)
      throw new PatternProblem(`has more than ${MAX_PATTERN_LENGTH} characters: shorten it`);
    const before = this.#classes.length;
    this.#built = 0;
    const fragment = this.#build(new PatternParser(pattern).parse(), before);
    for (let place = before; place < this.#classes.length; place++) this.#names.push(name);
    if (fragment.nullable) throw new PatternProblem("matches the empty string: require at least one character");
    if ([...fragment.first, ...fragment.last].some((place) => this.#classes[place]?.includes(" ")))
      throw new PatternProblem("begins or ends with a blank: remove the blank");
    for (const place of fragment.first) this.#first.add(place);
    for (const place of fragment.last) this.#last.add(place);
  }

  #build(node: Node, before: number): Fragment {
    this.#built++;
    if (this.#classes.length - before >= MAX_POSITIONS || this.#built > MAX_NODES)
      throw new PatternProblem("is too large once its repetitions are expanded: repeat fewer times");
    if (node.kind === "class") {
      const place = this.#classes.push([...node.members].sort().join("")) - 1;
      this.#follow.push(new Set());
      return { nullable: false, first: [place], last: [place] };
    }
    if (node.kind === "alternatives") {
      const made = node.nodes.map((choice) => this.#build(choice, before));
      return {
        nullable: made.some(({ nullable }) => nullable),
        first: made.flatMap(({ first }) => first),
        last: made.flatMap(({ last }) => last),
      };
    }
    let whole = EMPTY;
    if (node.kind !== "repetition") {
      for (const part of node.nodes) whole = this.#append(whole, this.#build(part, before));
      return whole;
    }
    const { node: child, least, most } = node;
    for (let count = 0; count < (most ?? least); count++) {
      const one = this.#build(child, before);
      whole = this.#append(whole, { ...one, nullable: one.nullable || count >= least });
    }
    if (most === undefined) {
      if (least === 0) whole = { ...this.#build(child, before), nullable: true };
      const place = Math.max(...whole.last);
      this.#follow[place]?.add(place);
    }
    return whole;
  }

  #append(before: Fragment, after: Fragment): Fragment {
    for (const place of before.last) for (const next of after.first) this.#follow[place]?.add(next);
    return {
      nullable: before.nullable && after.nullable,
      first: before.nullable ? [...before.first, ...after.first] : before.first,
      last: after.nullable ? [...before.last, ...after.last] : after.last,
    };
  }

  /** Return the first match that begins at `start` or later; `undefined` if there is none. */
  findNext(text: string, start: number): PatternMatch | undefined {
    this.#start.lastIndex = start;
    for (let found = this.#start.exec(text); found !== null; found = this.#start.exec(text)) {
      const begin = found.index;
      if (begin > 0 && isPartOfWord(getCharacterBefore(text, begin))) continue;
      const end = this.#findEnd(text, begin);
      if (end > 0) return this.#describe(text, begin, end);
    }
    return undefined;
  }

  /** Return the end of the longest match that begins at `start`; 0 if there is none. */
  #findEnd(text: string, start: number): number {
    let [state, end] = [this.#filter([...this.#first], text.charAt(start)), 0];
    for (let at = start + 1; at <= Math.min(text.length, start + MAX_MATCH); at++) {
      const following = getCharacterAt(text, at);
      if (state.some((place) => this.#last.has(place)) && !(following !== "" && isPartOfWord(following))) end = at;
      if (following === "") break;
      state = this.#step(state, following);
      if (state.length === 0) break;
    }
    return end;
  }

  #filter(places: readonly number[], character: string): readonly number[] {
    return places.filter((place) => this.#classes[place]?.includes(character)).sort((one, other) => one - other);
  }

  #step(state: readonly number[], character: string): readonly number[] {
    if (!ALPHABET.has(character)) return [];
    const key = `${character}${state.join(",")}`;
    let reached = this.#steps.get(key);
    if (reached === undefined) {
      const next = new Set(state.flatMap((place) => [...(this.#follow[place] ?? [])]));
      reached = this.#filter([...next], character);
      if (this.#steps.size >= MAX_STEPS) this.#steps.clear();
      this.#steps.set(key, reached);
    }
    return reached;
  }

  /** Return a match with its layout: that of the path through the earliest positions. */
  #describe(text: string, start: number, end: number): PatternMatch {
    const states = [this.#filter([...this.#first], text.charAt(start))];
    for (let at = start + 1; at < end; at++) states.push(this.#step(states.at(-1) ?? [], text.charAt(at)));
    let reachable = new Set((states.at(-1) ?? []).filter((place) => this.#last.has(place)));
    const reachables = [reachable];
    for (let at = states.length - 2; at >= 0; at--) {
      const next = reachable;
      reachable = new Set(
        (states[at] ?? []).filter((place) => [...(this.#follow[place] ?? [])].some((other) => next.has(other))),
      );
      reachables.unshift(reachable);
    }
    const path = [Math.min(...(reachables[0] ?? []))];
    for (const state of reachables.slice(1)) {
      const follow = this.#follow[path.at(-1) ?? 0];
      path.push(Math.min(...[...state].filter((place) => follow?.has(place))));
    }
    return {
      start,
      end,
      entityType: this.#names[path[0] ?? 0] ?? "",
      layout: formatLayout(path.map((place) => this.#classes[place] ?? "")),
    };
  }
}

const escapeCharacter = (character: string): string => (/[A-Za-z0-9 _]/.test(character) ? character : `\\${character}`);

function formatClass(members: string): string {
  if (members.length === 1) return escapeCharacter(members);
  let [written, start] = ["", 0];
  for (let end = 1; end <= members.length; end++) {
    if (end < members.length && members.charCodeAt(end) === members.charCodeAt(end - 1) + 1) continue;
    written +=
      end - start > 2
        ? `${escapeCharacter(members.charAt(start))}-${escapeCharacter(members.charAt(end - 1))}`
        : [...members.slice(start, end)].map(escapeCharacter).join("");
    start = end;
  }
  return `[${written}]`;
}

/** Write a sequence of character classes as a pattern. */
function formatLayout(classes: readonly string[]): string {
  let layout = "";
  for (let at = 0; at < classes.length; ) {
    let end = at + 1;
    while (classes[end] === classes[at]) end++;
    layout += formatClass(classes[at] ?? "") + (end - at > 1 ? `{${end - at}}` : "");
    at = end;
  }
  return layout;
}

/** Character classes of a layout, its first position that varies, and its number of surrogates. */
interface ParsedLayout {
  readonly classes: readonly string[];
  readonly firstFree: number;
  readonly size: number;
}

const parsedLayouts = new Map<string, ParsedLayout>();

function parseLayout(layout: string): ParsedLayout {
  let parsed = parsedLayouts.get(layout);
  if (parsed === undefined) {
    const classes: string[] = [];
    const tree = new PatternParser(layout).parse();
    for (const node of tree.kind === "sequence" ? tree.nodes : []) {
      const [repeated, count] = node.kind === "repetition" ? [node.node, node.least] : [node, 1];
      for (let at = 0; at < count; at++) classes.push(repeated.kind === "class" ? repeated.members : "");
    }
    let [size, firstFree] = [1, 0];
    for (let place = classes.length - 1; place >= 0; place--) {
      const larger = size * (classes[place] ?? "").length;
      if (larger > MAX_POOL) {
        firstFree = place + 1;
        break;
      }
      size = larger;
    }
    parsed = { classes, firstFree, size };
    if (parsedLayouts.size >= 256) parsedLayouts.clear();
    parsedLayouts.set(layout, parsed);
  }
  return parsed;
}

/** Return how many surrogates a layout has. */
export const countLayoutSurrogates = (layout: string): number => parseLayout(layout).size;

/** Return the surrogate of a layout with the given index. */
export function spellLayoutSurrogate(layout: string, index: number): string {
  const { classes, firstFree } = parseLayout(layout);
  let [written, rest] = ["", index];
  for (let place = classes.length - 1; place >= 0; place--) {
    const members = classes[place] ?? "";
    let chosen = 0;
    if (place >= firstFree) {
      chosen = rest % members.length;
      rest = Math.floor(rest / members.length);
    }
    written = members.charAt(chosen) + written;
  }
  return written;
}
