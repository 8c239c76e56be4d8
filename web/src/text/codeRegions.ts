/** Regions of code: fenced blocks and inline code, which programs that display Markdown end at different marks. */

import { beginsBlock, consumesText } from "./harmlessTags.js";
import {
  CODE_INDENT,
  FENCE_LENGTH,
  isBlank,
  LETTER,
  MAX_NAME_LENGTH,
  mayEndTag,
  NESTED_INDENT,
  NO_FENCE,
  OpenRegion,
  opensMarkup,
  type Region,
  type RegionState,
  START,
} from "./regionState.js";

/** Pattern of info strings after which every program treats a line as the opening of a fenced block. */
const INFO = /^ *[A-Za-z0-9_#.+-]* *\r?$/;
/** Languages whose code applications display as a picture, a map or math. Such code may contain addresses. */
const PICTURE_LANGUAGES = new Set(
  (
    "mermaid plantuml c4plantuml puml uml graphviz dot d2 vega vegalite kroki nomnoml wavedrom bytefield ditaa svgbob " +
    "pikchr excalidraw drawio bpmn structurizr blockdiag seqdiag actdiag nwdiag packetdiag rackdiag tikz flowchart " +
    "mindmap markmap geojson topojson svg math echarts chart plotly embed oembed iframe"
  ).split(" "),
);

/** Decide whether consecutive backticks or tildes open or close code, once another character follows them. */
export function resolveRuns(state: RegionState, character: string): void {
  if (state.tildes > 0 && character !== "~") {
    const count = state.tildes;
    state.tildes = 0;
    if (count >= FENCE_LENGTH) {
      if (state.topRegion?.kind === "inline") state.isTainted = state.openRegions.pop()?.tainted || state.isTainted;
      openFence(state, "~", count);
    }
  }
  const openRegion = state.topRegion;
  if (openRegion?.kind !== "inline" || character === "`") return;
  if (openRegion.opening) {
    openRegion.opening = false;
    if (openRegion.runAtStart && openRegion.count >= FENCE_LENGTH) {
      state.openRegions.pop();
      openFence(state, "`", openRegion.count);
    } else if (NO_FENCE.has(state.openRegions.at(-2)?.kind ?? "")) {
      state.openRegions.pop();
      state.hasStrayBacktick = true;
    } else {
      openRegion.uncertain ||= openRegion.count > 1; // for snarkdown each backtick of a run opens or closes code
    }
  } else if (openRegion.closing > 0) {
    const count = openRegion.closing;
    openRegion.closing = 0;
    if (openRegion.runAtStart && count >= FENCE_LENGTH) {
      state.openRegions.pop();
      state.isTainted ||= openRegion.tainted;
      openFence(state, "`", count).torn = count === openRegion.count; // the run closes code for some viewers
    } else if (count === openRegion.count) {
      closeCode(state, openRegion);
    } else {
      openRegion.uncertain = true;
    }
  }
}

/** Open a fenced block at the marks that were just read. */
function openFence(state: RegionState, mark: string, count: number): OpenRegion {
  const openRegion = new OpenRegion("fence", "code");
  openRegion.mark = mark;
  openRegion.count = count;
  openRegion.quotes = state.quotes;
  openRegion.column = state.runColumn;
  openRegion.nested = state.isListItem || openRegion.column >= NESTED_INDENT;
  openRegion.exact = !state.isListItem && state.quotes === 0 && openRegion.column === 0;
  openRegion.uncertain = !openRegion.exact || state.isHtml || state.isDisputed || state.openRegions.length > 0;
  openRegion.tainted = state.isHtml; // an empty line ends the HTML, and with it the reading without a fence
  state.openRegions.push(openRegion);
  return openRegion;
}

/** Close a region of code. */
function closeCode(state: RegionState, openRegion: OpenRegion): void {
  state.popRegion();
  const open = openRegion.hazard || openRegion.depth > 0 || openRegion.tag !== "";
  // For a viewer that does not support fences, a link or tag inside the fence continues after it.
  const tag =
    openRegion.tag === "'" || openRegion.tag === '"' || (openRegion.tag !== "" && beginsBlock(openRegion.destination));
  const goesOn = openRegion.kind === "fence" && (openRegion.depth > 0 || openRegion.quote !== "" || tag);
  if (openRegion.shifted || openRegion.torn || goesOn || (openRegion.uncertain && open)) state.giveUp("code");
  else if (openRegion.kind === "fence" && openRegion.tag !== "") state.pushRegion("angle", "markup").lost = true;
  // A viewer may pair its marks with others of the paragraph.
  else if (openRegion.kind === "fence" && openRegion.uncertain) state.isHtml = true;
}

/** Close a fenced block. For Python-Markdown, both fences must have the same length and no indentation. */
function closeFence(state: RegionState, openRegion: OpenRegion): void {
  const exact = openRegion.opening && openRegion.closing === openRegion.count;
  openRegion.torn ||= exact !== openRegion.exact;
  closeCode(state, openRegion);
}

/** Process a character of code, and record markup, commands and links in the code. */
function noteHazard(state: RegionState, openRegion: OpenRegion, character: string): void {
  const last = state.lastCharacter;
  let region: Region;
  if (openRegion.tag !== "") readTagInCode(state, openRegion, character);
  if (last === "<" && opensMarkup(character)) {
    region = "markup";
    openRegion.hazard ||= character === "!" || character === "?";
    openRegion.tag = "name";
    openRegion.destination = character;
  } else if (last === "]" && (character === "(" || character === ":")) {
    region = "link";
    openRegion.hazard = true;
  } else if (last === "\\" && LETTER.test(character)) {
    openRegion.escaped = true; // one letter alone is no command
    return;
  } else if (openRegion.escaped && (LETTER.test(character) || "{[*%".includes(character))) {
    region = "link";
    openRegion.hazard = true;
    openRegion.escaped = false;
  } else {
    openRegion.escaped &&= isBlank(character);
    return;
  }
  if (openRegion.kind === "inline" || openRegion.uncertain) openRegion.region = region; // a run may close it, or none
}

/** Process a character of an HTML tag in code, and record a hazard if viewers disagree on its end. */
function readTagInCode(state: RegionState, openRegion: OpenRegion, character: string): void {
  const part = openRegion.tag;
  if (character === "<" || character === "`" || (character === ">" && state.phase === START)) {
    openRegion.hazard = true; // or the mark of a quotation
  } else if (part === "'" || part === '"') {
    if (character === part) openRegion.tag = "attributes";
  } else if (character === ">" && !mayEndTag(state.lastCharacter)) {
    openRegion.hazard = true;
  } else if (character === ">") {
    openRegion.hazard ||= openRegion.kind === "inline" && beginsBlock(openRegion.destination);
    openRegion.hazard ||= consumesText(openRegion.destination);
    openRegion.tag = "";
  } else if ("'\"=".includes(character)) {
    openRegion.hazard ||= part === "value" || (part === "=") === (character === "=");
    openRegion.tag = character;
  } else if (isBlank(character)) {
    if (part !== "=") openRegion.tag = "attributes";
  } else if (part === "=") {
    openRegion.tag = "value";
  } else if (part === "name" && openRegion.destination.length < MAX_NAME_LENGTH) {
    openRegion.destination += character;
  }
}

/**
 * Return whether a program may display a fenced block with this info string as a picture. An entity or a backslash may
 * represent other characters, and only the beginning of a long info string is available.
 */
function mayBePicture(info: string): boolean {
  if (/[&\\]/.test(info) || [...info].length > MAX_NAME_LENGTH) return true;
  return (info.toLowerCase().match(/[a-z0-9]+/g) ?? []).some((word) => PICTURE_LANGUAGES.has(word));
}

/** Process a character of a fenced block of code, and return the region of this character. */
export function readFence(state: RegionState, openRegion: OpenRegion, character: string, atStart: boolean): Region {
  noteHazard(state, openRegion, character);
  if (!openRegion.started) {
    if (character === "\n") {
      openRegion.started = true;
      openRegion.exact &&= INFO.test(openRegion.info);
      openRegion.uncertain ||= !openRegion.exact;
      if (openRegion.uncertain && (openRegion.hazard || openRegion.tag !== "")) openRegion.region = "markup";
      openRegion.isPicture = mayBePicture(openRegion.info);
    } else if (character === "`" && openRegion.mark === "`") {
      openRegion.kind = "inline"; // code in a line
      openRegion.closing = 1;
      openRegion.runAtStart = openRegion.opening = false;
    } else if ([...openRegion.info].length <= MAX_NAME_LENGTH) {
      openRegion.info += character;
    }
    return openRegion.region;
  }
  followLinkInFence(state, openRegion, character, atStart);
  if (atStart) {
    const column = state.column - 1;
    const leftList = openRegion.nested && state.quotes === openRegion.quotes && column < openRegion.column;
    if (state.quotes < openRegion.quotes || leftList) {
      state.openRegions = [new OpenRegion("unknown", "code")]; // viewers disagree on where it ends
      return "code";
    }
    const deep = column >= openRegion.column + CODE_INDENT || state.quotes !== openRegion.quotes || state.isListItem;
    openRegion.closing = deep || character !== openRegion.mark ? 0 : 1;
    openRegion.opening = column === 0;
    openRegion.shifted = column !== openRegion.column && Math.max(column, openRegion.column) >= CODE_INDENT;
  } else if (openRegion.closing > 0 && character === openRegion.mark && state.lastCharacter === openRegion.mark) {
    openRegion.closing++;
  } else if (openRegion.closing > 0 && !isBlank(character)) {
    openRegion.closing = 0;
  } else if (character === "\n" && openRegion.closing > 0) {
    if (openRegion.closing >= openRegion.count) closeFence(state, openRegion);
    openRegion.closing = 0;
  }
  return openRegion.region;
}

/** Process a character of a link in a fenced block, for viewers that do not support fenced blocks. */
function followLinkInFence(state: RegionState, openRegion: OpenRegion, character: string, atStart: boolean): void {
  if (state.lastCharacter === "]" && character === "(") openRegion.depth = 1;
  else if (openRegion.depth > 0 && character === "(") openRegion.depth++;
  else if (openRegion.depth > 0 && character === ")") openRegion.depth--;
  if (state.lastCharacter === "]" && character === ":") openRegion.quote = character;
  else if (!isBlank(character) && !openRegion.closing && !(atStart && character === openRegion.mark))
    openRegion.quote = "";
}

/** Process a character of inline code, and return the region of this character. */
export function readInline(state: RegionState, openRegion: OpenRegion, character: string, atStart: boolean): Region {
  if ((atStart && !LETTER.test(character) && character < "\x80") || (character === ">" && state.phase === START))
    openRegion.torn ||= openRegion.info.includes("\n"); // another block may begin with this line
  if (character === "\n") openRegion.info = character;
  if (character === "`") {
    if (openRegion.opening) {
      openRegion.count++;
    } else {
      if (openRegion.closing === 0) {
        openRegion.runAtStart = atStart;
        state.runColumn = state.column - 1;
      }
      openRegion.closing++;
    }
  } else if (character === "~" && (atStart || state.tildes > 0)) {
    countTilde(state);
  } else {
    openRegion.tainted ||= state.lastCharacter === "<" && opensMarkup(character);
    noteHazard(state, openRegion, character);
    openRegion.uncertain ||= character === "\n" || character === "|"; // another block or cell may begin there
  }
  return openRegion.region;
}

/** Count one of several consecutive tildes, which may open a fenced block. */
export function countTilde(state: RegionState): void {
  if (state.tildes === 0) state.runColumn = state.column - 1;
  state.tildes++;
}
