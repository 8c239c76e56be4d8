/** Explained previews: each piece of a text with its position and the reason for its treatment. */

/**
 * A piece of a text in an explained preview. `text.slice(start, end)` is the piece: both are indexes of JavaScript
 * strings, UTF-16 code units.
 */
export interface ExplainedPiece {
  readonly text: string;
  /** Its treatment, as in `Sanitizer.preview`. */
  readonly state: string;
  readonly start: number;
  readonly end: number;
  /**
   * The list or rule that decides the treatment. Empty for gaps, and for all but function words in the modes `words`
   * and `all`.
   */
  readonly reason: string;
}

/** @internal Reason for a kept word of the list of function words; the only reason in the modes `words` and `all`. */
export const FUNCTION_WORD = "function-word";

/** @internal Return the pieces of a preview of the modes `words` and `all` with their positions and reasons. */
export function explainFunctionWords(pieces: readonly (readonly [string, string])[]): ExplainedPiece[] {
  let start = 0;
  return pieces.map(([text, state]) => {
    const piece = { text, state, start, end: start + text.length, reason: state === "kept" ? FUNCTION_WORD : "" };
    start = piece.end;
    return piece;
  });
}
