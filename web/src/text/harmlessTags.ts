/** Classification of markup tags by name: harmless tags, and tags that may act. */

const splitWords = (text: string): readonly string[] => text.split(" ");
/** Elements whose content readers of HTML treat as something else than text. */
const RAW_TEXT_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select " +
      "frameset object applet",
  ),
);
/** Elements that act without attributes, display code, or may contain an address. */
const ACTIVE_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "code samp tt option datalist optgroup frame embed param form input button isindex base basefont bgsound link meta " +
      "html head body a area map img image picture source track audio video canvas portal keygen command dialog slot " +
      "marquee layer ilayer",
  ),
);
/** Parts of names that programs may treat as a tool call. */
const TOOL_CALL_NAME =
  /tool|func|call|search|quer|invok|action|exec|fetch|brows|ur[il]|link|im(?:g|age)|command|param|arg|cod|json|xml|file|run/;
/** Elements that Python-Markdown treats as HTML up to their end. */
const BLOCK_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "address article aside blockquote center colgroup dd details div dl dt fieldset figcaption figure footer group h1 " +
      "h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol output p progress section summary table tbody td tfoot " +
      "th thead tr ul",
  ),
);
/** A name with optional further words, as in `<first name>`. */
const PLACEHOLDER = /^\/?([a-z][a-z0-9_]*)((?: +[a-z0-9_]+)* *)\/?$/;
export const MAX_TAG_LENGTH = 64;

/** Return whether a tag, without angle brackets, changes the text after it for no reader. */
export function isHarmlessTag(tag: string): boolean {
  const name = tag.length <= MAX_TAG_LENGTH ? PLACEHOLDER.exec(tag.toLowerCase())?.[1] : undefined;
  return name !== undefined && !RAW_TEXT_TAGS.has(name) && !ACTIVE_TAGS.has(name) && !TOOL_CALL_NAME.test(name);
}

/** Return whether a tag is harmless and consists of its name only. */
export const isBareTag = (tag: string): boolean => isHarmlessTag(tag) && !tag.includes(" ");

/** Return whether a reader may treat the text after a tag of this name as something else than text. */
export const consumesText = (name: string): boolean => RAW_TEXT_TAGS.has(name.toLowerCase().replace(/^\/+|\/+$/g, ""));

/** Return whether some readers treat the text after a tag as HTML, even beyond its paragraph. */
export function beginsBlock(tag: string): boolean {
  const name = PLACEHOLDER.exec(tag.toLowerCase())?.[1];
  return name === undefined || BLOCK_TAGS.has(name);
}
