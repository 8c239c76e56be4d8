// What the page and its workers say to each other.

/** A mode of the page: its options, and what it is called there. */
export type ModeName = "names" | "words" | "all";
export const MODES: readonly ModeName[] = ["names", "words", "all"];

/** Which public facts the mode names keeps besides common words. */
export type Facts = "none" | "plain" | "useful" | "public";
export const FACTS: readonly Facts[] = ["none", "plain", "useful", "public"];

/** What the loading worker brings: it never gets a message, so it never sees a text. */
export type Loaded = { code: ArrayBuffer; bundles: ArrayBuffer[]; kept: boolean } | { error: string };

/** A bundle of the page: the name of its file, its identity and its language. */
export interface BundleFile {
  name: string;
  identity: string;
  language: string;
}

/** What the user chose: the same for every text. */
export interface Choice {
  style: "surrogate" | "tag";
  facts: Facts;
  epsilon: string;
  deny: string[];
  known: string[];
  patterns: Record<string, string>;
}

export type Ask =
  | { id: number; ask: "open"; bundle: ArrayBuffer; identity: string }
  | { id: number; ask: "look"; text: string; choice: Choice }
  | { id: number; ask: "draw"; text: string; choice: Choice }
  | { id: number; ask: "keep" }
  | { id: number; ask: "restore"; reply: string };

/** A piece of the text, what becomes of it, and why: the list or rule that decides; empty in a long text. */
export type Piece = [text: string, what: string, reason: string];

/** What a mode does to the words of a text; pieces are those of its beginning. */
export interface Look {
  pieces: Piece[];
  stay: number;
  replaced: number;
  drawn: number;
}

export interface Drawn {
  text: string;
  line: string;
  summary: string;
  notProtected: string[];
}

export type Answer =
  | { id: number; opened: { identity: string; modes: ModeName[]; epsilons: string[]; epsilon: string; facts: string } }
  | { id: number; mode: ModeName; look: Look }
  | { id: number; mode: ModeName; drawn: Drawn }
  | { id: number; restored: string }
  | { id: number; error: string }
  | { id: number; done: true };

/** As much of a text is shown; the rest is copied with it. */
export const SHOWN = 10_000;
