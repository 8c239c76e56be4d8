/** Tells tags of markup that change nothing behind them from those that may act, by their names. */

const words = (text: string): readonly string[] => text.split(" ");
/** Elements of which a reader of HTML takes the content for something else than text of the page. */
const TAKING: ReadonlySet<string> = new Set(
  words(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select " +
      "frameset object applet",
  ),
);
/** Elements that act without attributes, show code, or may hold an address. */
const ACTING: ReadonlySet<string> = new Set(
  words(
    "code samp tt option datalist optgroup frame embed param form input button isindex base basefont bgsound link meta " +
      "html head body a area map img image picture source track audio video canvas portal keygen command dialog slot " +
      "marquee layer ilayer",
  ),
);
/** Parts of names that programs read as the call of a tool. */
const CALLING =
  /tool|func|call|search|quer|invok|action|exec|fetch|brows|ur[il]|link|im(?:g|age)|command|param|arg|cod|json|xml|file|run/;
/** Elements of which Python-Markdown takes everything for HTML until they end. */
const BLOCKS: ReadonlySet<string> = new Set(
  words(
    "address article aside blockquote center colgroup dd details div dl dt fieldset figcaption figure footer group h1 " +
      "h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol output p progress section summary table tbody td tfoot " +
      "th thead tr ul",
  ),
);
/** A name, and words behind it as in `<first name>`. */
const WORDS = /^\/?([a-z][a-z0-9_]*)((?: +[a-z0-9_]+)* *)\/?$/;
export const LONGEST_TAG = 64;

/** Tells whether a tag, without its angle brackets, changes nothing behind it for any reader. */
export function isHarmlessTag(tag: string): boolean {
  const name = tag.length <= LONGEST_TAG ? WORDS.exec(tag.toLowerCase())?.[1] : undefined;
  return name !== undefined && !TAKING.has(name) && !ACTING.has(name) && !CALLING.test(name);
}

/** Tells whether a tag is harmless and has nothing but its name. */
export const isBareTag = (tag: string): boolean => isHarmlessTag(tag) && !tag.includes(" ");

/** Tells whether the text behind a tag of this name may be read as something else than text. */
export const takesInText = (name: string): boolean => TAKING.has(name.toLowerCase().replace(/^\/+|\/+$/g, ""));

/** Tells whether some readers take everything behind a tag for HTML, also beyond its paragraph. */
export function beginsBlock(tag: string): boolean {
  const name = WORDS.exec(tag.toLowerCase())?.[1];
  return name === undefined || BLOCKS.has(name);
}
