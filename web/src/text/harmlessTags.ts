/** Classification of markup tags by name: harmless tags, and tags that may have an effect. */

const splitWords = (text: string): readonly string[] => text.split(" ");
/** Elements whose content programs do not treat as text. */
const RAW_TEXT_TAGS: ReadonlySet<string> = new Set(
  splitWords(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select " +
      "frameset object applet",
  ),
);
/** Elements that have an effect without attributes, display code, or may contain an address. */
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

/** Return whether a tag has no effect on the text after it in any program that displays the reply. */
export function isHarmlessTag(tag: string): boolean {
  const name = tag.length <= MAX_TAG_LENGTH ? PLACEHOLDER.exec(tag.toLowerCase())?.[1] : undefined;
  return name !== undefined && !RAW_TEXT_TAGS.has(name) && !ACTIVE_TAGS.has(name) && !TOOL_CALL_NAME.test(name);
}

/** Return whether a tag is harmless and has no attributes. */
export const isBareTag = (tag: string): boolean => isHarmlessTag(tag) && !tag.includes(" ");

/** Return whether a program may treat the text after a tag as code or raw text, as after `<script>`. */
export const consumesText = (name: string): boolean => RAW_TEXT_TAGS.has(name.toLowerCase().replace(/^\/+|\/+$/g, ""));

/** Return whether some programs treat the text after a tag as HTML, even beyond the end of its paragraph. */
export function beginsBlock(tag: string): boolean {
  const name = PLACEHOLDER.exec(tag.toLowerCase())?.[1];
  return name === undefined || BLOCK_TAGS.has(name);
}
