/** Regions of links, of TeX commands and math, and of markup: the rules for the end of each region. */

import { beginsBlock, isHarmlessTag } from "./harmlessTags.js";
import {
  ARGUMENTS,
  BLOCK_MATH,
  COMMENT,
  isBlank,
  isLinkKind,
  isNumeral,
  LETTER,
  MATH,
  MAX_DESTINATION_LENGTH,
  MAX_NAME_LENGTH,
  mayEndTag,
  NAME,
  NONE,
  type OpenRegion,
  type Region,
  type RegionState,
  SLASH,
  START,
  splitWords,
  TITLE,
} from "./regionState.js";

/** Math commands whose arguments are displayed and never fetched. */
const DISPLAYED_COMMANDS = splitWords(
  "text textbf textit textrm textsf texttt mathrm mathbf mathit mathsf mathcal mathbb operatorname frac dfrac tfrac " +
    "sqrt boxed overline underline hat bar vec tilde begin end",
);
/** Math commands that define or redefine others, such as `\\gdef`, `\\let` and `\\renewcommand`. */
const DEFINING_COMMAND = /(?:def|let|command|environment|columntype|tagform|extarrow)$|^(?:declare|provide)/i;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{1,31}$/;
const WEB_ADDRESS = /^(?:https?|ftp):./i;
const WORD_IN_TAG = /^[A-Za-z0-9_/]$/;
/** Characters that open a region, or may open one, inside a possible tag. */
const REGION_OPENERS = "<`$\\[]{}~\"'=";
/** Characters after which a blank and a word cannot belong to a link destination. */
const NO_DESTINATION = /^[\0-\x08\x0b\x0c\x0e-\x1f"-)/:->@[-^`{-\x7f]$/;
/** Characters in the address or title of an inline link with which programs disagree on the end of the link. */
const UNLIKE_LINK = "<>[]{}()`|\\\"'\n\r";
/** A tag such as `[city 1]` in the address of a link; and the start of one. */
const TAG = /^\[[A-Za-z][A-Za-z_-]* ?[0-9]+\]$/;
const TAG_START = /^\[(?:[A-Za-z][A-Za-z_-]*(?: ?[0-9]*)?)?$/;
/** Start of an address in angle brackets that may have a tag: nothing in it begins a region if viewers see no address. */
const TAGGED_ADDRESS = /^(?:https?|ftp):[\w/.?#&*+,;=%:@-]*$/i;
const IN_TAGGED_ADDRESS = /^[\w/.?#&*+,;=%:@-]$/;

/** Process a character that may belong to a TeX command; return whether the character is consumed. */
export function readCommand(state: RegionState, openRegion: OpenRegion | undefined, character: string): boolean {
  const kind = openRegion?.kind;
  const progress = state.commandState;
  const opensMath =
    (character === "(" || character === "[") && !(MATH.has(kind ?? "") || isLinkKind(kind) || kind === "json");
  if (progress === NONE) {
    if (character !== "\\") return false;
    state.commandState = SLASH;
    state.isDoubledBackslash = false;
    return !isLinkKind(kind);
  }
  if (progress === SLASH) {
    state.commandState = NONE;
    if (character === "\\") {
      state.commandState = SLASH; // a viewer may treat it as an escape, another as a single backslash
      state.isDoubledBackslash = !state.isDoubledBackslash;
    } else if (LETTER.test(character)) {
      state.commandState = NAME;
      state.commandName = character;
    } else if ((kind === "paren" && character === ")") || (kind === "bracket" && character === "]")) {
      if (openRegion?.count === 1) state.popRegion();
    } else if (opensMath) {
      state.pushRegion(character === "(" ? "paren" : "bracket", "math");
    } else {
      return "{}$`".includes(character) && !state.isDoubledBackslash && !isLinkKind(kind);
    }
    return !isLinkKind(kind);
  }
  if (progress === NAME && LETTER.test(character)) {
    if (state.commandName.length < MAX_NAME_LENGTH) state.commandName += character;
    return false;
  }
  if (progress === NAME && DEFINING_COMMAND.test(state.commandName)) {
    state.giveUp("link"); // any later command may be a link
    return true;
  }
  if (character === "\\" && progress !== COMMENT) {
    state.commandState = SLASH;
    state.isDoubledBackslash = false;
    return !isLinkKind(kind);
  }
  if (progress === COMMENT && state.afterOddBackslashes && opensMath) {
    state.pushRegion(character === "(" ? "paren" : "bracket", "math"); // text has no comments
    return true;
  }
  if (progress === NAME && character === "*") return false;
  if (progress === COMMENT || isBlank(character) || character === "%") {
    state.commandState = character === "%" || (progress === COMMENT && character !== "\n") ? COMMENT : ARGUMENTS;
    return false;
  }
  state.commandState = NONE;
  if (character === "{" && !isLinkKind(kind)) {
    const name = state.commandName;
    const inherited = openRegion?.region === "link";
    if (name === "begin" && !inherited) state.pushRegion("begin", "math");
    state.pushRegion("command", DISPLAYED_COMMANDS.has(name) && !inherited ? "math" : "link");
    state.commandName = name;
    return true;
  }
  if (character === "[" && progress === NAME && !isLinkKind(kind) && kind !== "json") {
    state.pushRegion("option", "link");
    return true;
  }
  return false;
}

/** Process a character that may close the innermost region; return whether the character is consumed. */
export function readEnd(state: RegionState, openRegion: OpenRegion, character: string, escaped: boolean): boolean {
  const { kind } = openRegion;
  if (isLinkKind(kind)) return readLink(state, openRegion, character, escaped);
  if (escaped || state.commandState === SLASH) return false;
  if (BLOCK_MATH.has(kind) || kind === "dollar" || kind === "paren") {
    if (character === "{") openRegion.count++;
    else if (character === "}" && openRegion.count > 1) openRegion.count--;
  }
  if (kind === "dollar" && character === "$" && openRegion.count === 1) {
    state.popRegion();
    return true;
  }
  if (kind === "dollars" && character === "$" && openRegion.count === 1) {
    if (++openRegion.closing === 2) state.popRegion();
    return true;
  }
  if (kind === "command" && (character === "{" || character === "}")) {
    openRegion.count += character === "{" ? 1 : -1;
    if (openRegion.count === 0) closeCommand(state);
    return true;
  }
  if (kind === "option" && character === "]") {
    state.popRegion();
    state.commandState = ARGUMENTS;
    return true;
  }
  if (kind === "dollars") openRegion.closing = 0;
  return false;
}

function closeCommand(state: RegionState): void {
  state.popRegion();
  if (state.commandName === "end" && state.topRegion?.kind === "begin") state.popRegion();
  state.commandState = ARGUMENTS;
  if (state.commandName === "begin" || state.commandName === "end") state.commandName = "";
}

/** Process a character of a link, or of the definition of a link; return whether no other rule applies to it. */
export function readLink(state: RegionState, openRegion: OpenRegion, character: string, escaped: boolean): boolean {
  if (
    openRegion.length <= MAX_DESTINATION_LENGTH &&
    (openRegion.length > 0 || !(isBlank(character) || character === "<"))
  ) {
    openRegion.destination += character;
    openRegion.length++;
  }
  const last = state.lastCharacter;
  if ((last === "]" && (character === "(" || character === ":")) || (last === "\\" && LETTER.test(character))) {
    state.giveUp("link"); // no link contains this, so another one may begin for some viewer
    return true;
  }
  if (openRegion.kind === "link" && !openRegion.nested) {
    readPlainLink(state, openRegion, character);
    return true;
  }
  const goesOn = escaped || (openRegion.escaped && character === "\n");
  openRegion.escaped = escaped && character === "\r";
  if (goesOn || character === "\\") {
    openRegion.started = true;
    return false;
  }
  if (!openRegion.started) {
    if (isBlank(character) || (character === ">" && state.phase === START)) {
      openRegion.hazard ||= character === "\n";
      return false;
    }
    openRegion.started = true;
    if (character === "<") {
      openRegion.angle = openRegion.hazard = true;
      return true;
    }
  }
  if (openRegion.angle) {
    if (character === ">" && state.phase !== START) openRegion.angle = false;
    else if (isBlank(character) || UNLIKE_LINK.includes(character) || character === "~" || character === ">")
      state.giveUp("link");
    return true;
  }
  if (openRegion.kind === "definition") {
    openRegion.torn ||= openRegion.closing === 0 && (character === '"' || character === "'");
    // For a viewer that does not support definitions, these open a region.
    if (character === "`" || character === "$" || character === "<") state.giveUp("link");
    return false;
  }
  // Few viewers treat such brackets as a link.
  if (character === "(") openRegion.count++;
  else if (character === ")" && --openRegion.count === 0) state.popRegion();
  return character === "(" || character === ")";
}

/**
 * Process a character of `(address "title")`, which all Markdown viewers end in the same way.
 *
 * The address may also contain tags such as `[city 1]`. Then some viewers see no link, but all others end it at the same
 * position if it has no title and no round bracket after a tag.
 */
function readPlainLink(state: RegionState, openRegion: OpenRegion, character: string): void {
  const unlikeLink = UNLIKE_LINK.includes(character);
  const blank = character === " " || character === "\t";
  const isInAddress =
    !(openRegion.angle || openRegion.quote !== "" || openRegion.closing > 0) && openRegion.count === 1;
  let unlike: boolean;
  if (openRegion.tag !== "" || (character === "[" && isInAddress)) {
    openRegion.started = openRegion.torn = true;
    unlike = !continuesTag(openRegion, character);
  } else if (openRegion.torn && (isBlank(character) || character === "$" || (unlikeLink && character !== ")"))) {
    unlike = true;
  } else if (openRegion.angle) {
    openRegion.angle = character !== ">";
    openRegion.closing = openRegion.angle ? 0 : 1;
    unlike = isBlank(character) || (openRegion.angle && unlikeLink);
  } else if (openRegion.quote !== "") {
    if (character === openRegion.quote) {
      openRegion.quote = "";
      openRegion.closing++;
    }
    unlike = openRegion.quote !== "" && unlikeLink;
  } else if (character === ")") {
    openRegion.count--;
    unlike = openRegion.count > 0 && openRegion.closing > 0;
    if (openRegion.count === 0) state.popRegion();
  } else if (blank) {
    if (openRegion.started) openRegion.closing ||= 1;
    unlike = openRegion.count > 1;
  } else if (!openRegion.started) {
    openRegion.started = true;
    openRegion.angle = character === "<";
    unlike = !openRegion.angle && unlikeLink;
  } else if (
    openRegion.closing === 1 &&
    (character === '"' || character === "'") &&
    " \t".includes(state.lastCharacter)
  ) {
    openRegion.quote = character;
    unlike = false;
  } else {
    if (character === "(") openRegion.count++;
    unlike = openRegion.closing > 0 || (character !== "(" && unlikeLink);
  }
  if (unlike) state.giveUp("link");
}

/** Whether a character continues, or ends, a tag such as `[city 1]` in the address of a link. */
function continuesTag(openRegion: OpenRegion, character: string): boolean {
  const tag = openRegion.tag + character;
  openRegion.tag = character === "]" ? "" : tag;
  return tag.length <= MAX_NAME_LENGTH && (openRegion.tag === "" ? TAG : TAG_START).test(tag);
}

/** Process a character of the definition of a link; return whether the definition ended before this character. */
export function endsDefinition(
  state: RegionState,
  openRegion: OpenRegion,
  character: string,
  atStart: boolean,
): boolean {
  if (!openRegion.started || openRegion.angle) return false;
  if (openRegion.quote !== "") {
    if (character === openRegion.quote && !state.afterOddBackslashes) openRegion.quote = "";
    return false;
  }
  if (openRegion.opening && !atStart) return false; // between two lines
  if (!openRegion.opening) {
    if (isBlank(character)) openRegion.closing ||= 1;
    if (isBlank(character) || openRegion.closing === 0) {
      openRegion.hazard ||= NO_DESTINATION.test(character);
      return false;
    }
  }
  if ("\"'(".includes(character) && openRegion.closing < TITLE) {
    openRegion.quote = character === "(" ? ")" : character;
    openRegion.closing = TITLE;
    openRegion.opening = false;
    return false;
  }
  openRegion.torn &&= openRegion.opening;
  return openRegion.opening || (openRegion.closing === 1 && !openRegion.hazard && state.openRegions.length === 1);
}

/** End the definition of a link. */
export function endDefinition(state: RegionState, openRegion: OpenRegion): void {
  if (openRegion.torn) state.giveUp("link");
  else state.popRegion();
}

/** Open math after a dollar sign; return whether the character is consumed. */
export function openMath(state: RegionState, character: string): boolean {
  state.dollar = false;
  if (character === "$") {
    state.pushRegion("dollars", "math");
    return true;
  }
  // $[number 1] is an amount.
  if (!isBlank(character) && !isNumeral(character) && character !== "[") {
    state.pushRegion("dollar", "math").hazard = character === "{";
  }
  return false;
}

/** Process a character of a possible tag or address in angle brackets, and return its region. */
export function readAngle(state: RegionState, openRegion: OpenRegion, character: string): Region {
  const name = openRegion.destination;
  const quotation = character === ">" && state.phase === START; // which ends no tag
  if (openRegion.lost || quotation) {
    if (quotation || REGION_OPENERS.includes(character)) giveUpTag(state);
    return "markup";
  }
  const mayHaveTag = openRegion.length <= MAX_DESTINATION_LENGTH && TAGGED_ADDRESS.test(name);
  if (openRegion.tag !== "" || openRegion.torn || (character === "[" && mayHaveTag)) {
    return readTaggedAddress(state, openRegion, character);
  }
  const staysOpen = !mayEndTag(state.lastCharacter) && !WEB_ADDRESS.test(name); // for markdown2
  if (character === ">" && (staysOpen || state.escapedAngles > 1)) {
    giveUpTag(state);
    return "markup";
  }
  if (character === ">") {
    state.openRegions.pop();
    if (!openRegion.started) {
      state.isHtml = true;
      state.isDisputed ||= beginsBlock(name);
      state.isTainted ||= !isHarmlessTag(name);
    }
    return openRegion.region;
  }
  if (isBlank(character)) {
    openRegion.angle = true; // only words and a slash may follow, and behind a second blank a slash
    openRegion.quote = character === " " && openRegion.quote === "" ? "" : "\n";
    if (openRegion.started) {
      loseTag(state, openRegion, character);
    } else if (openRegion.length <= MAX_NAME_LENGTH) {
      openRegion.destination += " ";
      openRegion.length++;
    }
    return "markup";
  }
  const unlike = "<\"'=`".includes(character) && (character !== "=" || openRegion.region !== "link");
  const behind = openRegion.angle && (!WORD_IN_TAG.test(character) || (openRegion.quote !== "" && character !== "/"));
  if (unlike || behind || (!openRegion.started && openRegion.length > MAX_NAME_LENGTH)) {
    loseTag(state, openRegion, character);
    return "markup";
  }
  if (character === ":" && !openRegion.started && SCHEME.test(name)) {
    openRegion.started = true;
    openRegion.region = "link";
  } else if (character === "@" && !"/!?".includes(name.charAt(0))) {
    openRegion.started = true;
  }
  if (openRegion.length <= MAX_DESTINATION_LENGTH) {
    openRegion.destination += character;
    openRegion.length++;
  }
  return openRegion.region;
}

/**
 * Process a character of an address in angle brackets with a tag, such as `<https://example.org/[city 1]>`.
 *
 * Because of the blank some viewers see no address there, but all others end it at its `>`. The library markdown2 ends
 * no tag at a `>` after `]`: then the text up to the end of the paragraph is markup. If the address has a character that
 * begins a region for a viewer that sees none, all later text is markup.
 */
function readTaggedAddress(state: RegionState, openRegion: OpenRegion, character: string): Region {
  let isPlain: boolean;
  if (openRegion.tag !== "" || character === "[") {
    openRegion.torn = true;
    isPlain = continuesTag(openRegion, character);
    if (openRegion.tag === "") state.openBrackets = Math.max(0, state.openBrackets - 1); // the end of the tag
  } else if (character === ">" && state.escapedAngles <= 1) {
    if (mayEndTag(state.lastCharacter)) {
      state.openRegions.pop();
      return openRegion.region;
    }
    isPlain = openRegion.lost = !(openRegion.nested || state.isHtml || state.isDisputed);
  } else {
    isPlain = IN_TAGGED_ADDRESS.test(character) && !(character === ":" && state.lastCharacter === "]");
  }
  if (isPlain) return openRegion.region;
  giveUpTag(state);
  return "markup";
}

/** Process a character that cannot belong to a plain tag, although a plain tag may have begun. */
function loseTag(state: RegionState, openRegion: OpenRegion, character: string): void {
  const name = openRegion.destination.split(" ")[0] ?? "";
  openRegion.lost = !(
    openRegion.nested ||
    state.isHtml ||
    state.isDisputed ||
    beginsBlock(name) ||
    !isHarmlessTag(name) ||
    REGION_OPENERS.includes(character)
  );
  if (!openRegion.lost) giveUpTag(state);
}

function giveUpTag(state: RegionState): void {
  state.openRegions = [];
  state.isTainted = true;
}
