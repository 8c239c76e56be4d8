import { type Drawn, type Look, MODES, type ModeName, type Piece, SHOWN } from "./messages.js";

const ABOUT: Record<ModeName, [title: string, about: string]> = {
  names: ["Names", "For a reader, such as a model or a colleague: names, numbers and rare words go."],
  words: ["Words", "For learning from texts, or sorting them: most words are randomized."],
  all: ["All", "The same, and words such as “the” and “not” are randomized too."],
};

/** Makes an element with a class and text. */
function made<K extends keyof HTMLElementTagNameMap>(tag: K, name = "", text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  return element;
}

/** One mode: what it does to the user's words, and what would leave. */
export class Card {
  readonly element = made("article", "mode");
  readonly #promise = made("p", "promise");
  readonly #counts = made("p", "counts");
  readonly #marked = made("div", "text marked");
  readonly #out = made("div", "text out");
  readonly #copy = made("button", "quiet", "Copy");
  readonly #said = made("p", "summary");
  readonly #not = made("ul");
  #full = "";

  constructor(
    readonly mode: ModeName,
    copied: (mode: ModeName, text: string) => void,
  ) {
    const [title, about] = ABOUT[mode];
    const heading = made("h3", "", title);
    heading.id = `mode-${mode}`;
    this.element.setAttribute("aria-labelledby", heading.id);
    this.element.dataset.mode = mode;
    const top = made("div", "top");
    top.append(heading, made("p", "about", about), this.#promise);
    const yours = made("div", "block");
    yours.append(made("h4", "", "Your text, marked"), this.#marked, this.#counts);
    const leaves = made("div", "block leaves");
    const bar = made("div", "row");
    this.#copy.type = "button";
    this.#copy.setAttribute("aria-label", `Copy what leaves in the mode ${title}`);
    this.#copy.addEventListener("click", () => copied(mode, this.#full));
    bar.append(made("h4", "", "What leaves"), this.#copy);
    leaves.append(bar, this.#out);
    const more = made("details");
    more.append(made("summary", "", "The whole statement"), this.#said, made("p", "", "Not protected:"), this.#not);
    this.element.append(top, yours, leaves, more);
    for (const [box, label] of [
      [this.#marked, "Your text, marked"],
      [this.#out, "What leaves"],
    ] as const) {
      box.tabIndex = 0; // so that it scrolls with the keys
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${label}: ${title}`);
    }
    this.clear();
  }

  /** Shows what stays, what is replaced and what is drawn. */
  look(look: Look): void {
    this.#marked.replaceChildren(...look.pieces.map(mark));
    const all = look.pieces.reduce((length, [piece]) => length + piece.length, 0);
    if (all >= SHOWN) this.#marked.append(made("p", "hint", "Only the beginning is displayed."));
    const n = (count: number) => count.toLocaleString("en");
    this.#counts.textContent = `${n(look.stay)} kept, ${n(look.replaced)} replaced, ${n(look.drawn)} randomized`;
  }

  /** Shows what would leave, and its promise. */
  draw(drawn: Drawn): void {
    this.element.removeAttribute("aria-busy");
    this.#full = drawn.text;
    this.#promise.textContent = drawn.line;
    this.#said.textContent = drawn.summary;
    this.#not.replaceChildren(...drawn.notProtected.map((line) => made("li", "", line)));
    this.#out.textContent = drawn.text.slice(0, SHOWN);
    if (drawn.text.length > SHOWN)
      this.#out.append(made("p", "hint", "Only the beginning is displayed. Copy copies all."));
    this.#copy.disabled = drawn.text === "";
  }

  /** Shows no marks. */
  unmark(): void {
    this.#marked.textContent = "";
    this.#counts.textContent = "";
  }

  /** Shows no output and no promise: they stand beside the text that they are of, or not at all. */
  clear(): void {
    this.element.removeAttribute("aria-busy");
    this.#full = "";
    for (const part of [this.#promise, this.#out, this.#said, this.#not]) part.textContent = "";
    this.#copy.disabled = true;
  }

  /** Says that the output is of an older text: it cannot be copied until the next draw. */
  stale(): void {
    if (this.element.hidden) return; // a mode that the bundle lacks has no output
    this.element.setAttribute("aria-busy", "true");
    this.#copy.disabled = true;
  }
}

/** Reasons of the options `facts`, `keep` and `allow`: what they keep is underlined. */
const OPTION_REASON = /^(?:facts: |keep: |allow$)/;

/** A piece of the text: plain if it stays, else marked, with what becomes of it for those who hear the page. */
function mark([piece, what, reason]: Piece): Node {
  if (what === "gap" || (what === "kept" && reason === "")) return document.createTextNode(piece);
  if (what === "kept") {
    const kept = made("span", OPTION_REASON.test(reason) ? "fact" : "", piece);
    kept.title = `is kept: ${reason}`;
    return kept;
  }
  const drawn = what === "randomized" || what === "unknown";
  const span = made("span", drawn ? (what === "randomized" ? "drawn" : "drawn unknown") : "replaced", piece);
  span.title = drawn
    ? what === "randomized"
      ? "is randomized"
      : "is randomized: it is on no list"
    : `is replaced: ${what}${reason ? ` (${reason})` : ""}`;
  if (what !== "randomized") span.append(made("span", "heard", ` (${what})`));
  return span;
}

/** The cards, in the order of the ladder. */
export function cards(copied: (mode: ModeName, text: string) => void): Map<ModeName, Card> {
  return new Map(MODES.map((mode) => [mode, new Card(mode, copied)]));
}
