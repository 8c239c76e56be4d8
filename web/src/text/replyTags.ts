/** Search for tags of a reply that are not in the mapping, such as `[person 99]`: a model may have invented them. */

const TAG = /\[[A-Za-z][A-Za-z-]{0,39} [0-9]{1,9}\]/g;
const OPEN_TAG = /\[(?:[A-Za-z][A-Za-z-]{0,39}(?: [0-9]{0,9})?)?$/;
/** Length of the longest match of `OPEN_TAG`. */
const MAX_OPEN_TAG = 51;

/** Collects the tags of a reply that arrives in parts, without the surrogates among them. */
export class TagFinder {
  /** The tags in order, each once. */
  readonly tags = new Set<string>();
  #open = "";

  /** Add the next part of the reply, which contains no surrogate. */
  feed(added: string): void {
    const text = this.#open + added;
    for (const [tag] of text.matchAll(TAG)) this.tags.add(tag);
    this.#open = OPEN_TAG.exec(text.slice(-MAX_OPEN_TAG))?.[0] ?? "";
  }

  /** Drop a tag that is not complete before a surrogate. */
  endText(): void {
    this.#open = "";
  }
}
