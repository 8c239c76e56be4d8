/** Regions of a reply, and the state of an open one. */

import type { RegionScanner } from "./regions.js";

/** Region of a character of a reply. */
export type Region = "prose" | "code" | "math" | "json" | "link" | "markup";
/**
 * Role of a character of JSON: a separator ends a chunk, an ignored character has no effect, a spoiler spoils its
 * chunk.
 */
export type JsonRole = "text" | "separator" | "ignored" | "spoiler";

/** Return the set of words of a text with single spaces. */
export const splitWords = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Syntax that opens a region. */
export type RegionKind =
  | "fence"
  | "inline"
  | "dollar"
  | "dollars"
  | "paren"
  | "bracket"
  | "begin"
  | "command"
  | "option"
  | "json"
  | "link"
  | "definition"
  | "angle"
  | "unknown";
export const BLOCK_MATH: ReadonlySet<string> = splitWords("dollars bracket begin");
export const BLOCKS: ReadonlySet<string> = splitWords("fence dollars bracket begin json unknown");
export const MATH: ReadonlySet<string> = splitWords("dollars bracket begin dollar paren command option");
export const NO_FENCE: ReadonlySet<string> = splitWords("dollars bracket begin json");

/** Open region, with the state of the text read in it so far. */
export class OpenRegion {
  /** Depth of brackets, or length of a fence. */
  count = 1;
  opening = false;
  closing = 0;
  runAtStart = false;
  tainted = false;
  /**
   * Code that some readers treat as text; something in it that would open a region there; a last line with an
   * unusual indentation. A link is uncertain if a line ends before its destination.
   */
  uncertain = false;
  hazard = false;
  shifted = false;
  /** Depth of brackets and braces in code. */
  depth = 0;
  /** Current part of a tag in code; empty outside tags. */
  tag = "";
  /** Whether all readers recognize the fence. */
  exact = true;
  /** A tag if a reader finds its end in the paragraph, else text. */
  lost = false;
  /** Whether an empty line splits a fence that begins as HTML for some readers. */
  torn = false;
  info = "";
  mark = "`";
  quotes = 0;
  column = 0;
  nested = false;
  started = false;
  angle = false;
  quote = "";
  escaped = false;
  destination = "";
  length = 0;
  string = false;
  unicode = "";
  inner: RegionScanner | undefined;

  constructor(
    public kind: RegionKind,
    public region: Region,
  ) {}
}
