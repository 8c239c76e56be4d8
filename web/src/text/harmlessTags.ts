/** Tells tags of markup that change nothing behind them from those that may act, by their names. */

const splitWords = (text: string): readonly string[] => text.split(" ");
/** Elements of which a reader of HTML takes the content for something else than text of the page. */
const RAW_TEXT_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select " +
      "frameset object applet",
  ),
);
/** Elements that act without attributes, show code, or may hold an address. */
const ACTIVE_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "code samp tt option datalist optgroup frame embed param form input button isindex base basefont bgsound link meta " +
      "html head body a area map img image picture source track audio video canvas portal keygen command dialog slot " +
      "marquee layer ilayer",
  ),
);
/** Parts of names that programs read as the call of a tool. */
const TOOL_CALL_NAME =
  /tool|func|call|search|quer|invok|action|exec|fetch|brows|ur[il]|link|im(?:g|age)|command|param|arg|cod|json|xml|file|run/;
/** Elements of which Python-Markdown takes everything for HTML until they end. */
const BLOCK_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "address article aside blockquote center colgroup dd details div dl dt fieldset figcaption figure footer group h1 " +
      "h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol output p progress section summary table tbody td tfoot " +
      "th thead tr ul",
  ),
);
/** A name, and words behind it as in `<first name>`. */
const PLACEHOLDER = /^\/?([a-z][a-z0-9_]*)((?: +[a-z0-9_]+)* *)\/?$/;
export const MAX_TAG_LENGTH = 64;

/** Tells whether a tag, without its angle brackets, changes nothing behind it for any reader. */
export function isHarmlessTag(tag: string): boolean {
  const name = tag.length <= MAX_TAG_LENGTH ? PLACEHOLDER.exec(tag.toLowerCase())?.[1] : undefined;
  return name !== undefined && !RAW_TEXT_TAGS.has(name) && !ACTIVE_TAGS.has(name) && !TOOL_CALL_NAME.test(name);
}

/** Tells whether a tag is harmless and has nothing but its name. */
export const isBareTag = (tag: string): boolean => isHarmlessTag(tag) && !tag.includes(" ");

/** Tells whether the text behind a tag of this name may be read as something else than text. */
export const consumesText = (name: string): boolean => RAW_TEXT_TAGS.has(name.toLowerCase().replace(/^\/+|\/+$/g, ""));

/** Tells whether some readers take everything behind a tag for HTML, also beyond its paragraph. */
export function beginsBlock(tag: string): boolean {
  const name = PLACEHOLDER.exec(tag.toLowerCase())?.[1];
  return name === undefined || BLOCK_TAGS.has(name);
}
