/** Explained previews of a text: the position of each piece, and the reason for its treatment. */

/**
 * A piece of a text in an explained preview. Indexes count UTF-16 units.
 */
export interface ExplainedPiece {
  readonly text: string;
  /** Treatment of the piece (`Sanitizer.preview`). */
  readonly state: string;
  readonly start: number;
  readonly end: number;
  /**
   * The list or rule that decides the treatment. Empty for gaps, and in the modes `words` and `all` for all pieces
   * except function words.
   */
  readonly reason: string;
}

/** @internal Reason for kept function words. It is the only reason in the modes `words` and `all`. */
export const FUNCTION_WORD = "function-word";

/** @internal Add positions and reasons to a preview of the modes `words` and `all`. */
export function explainFunctionWords(pieces: readonly (readonly [string, string])[]): ExplainedPiece[] {
  let start = 0;
  return pieces.map(([text, state]) => {
    const piece = { text, state, start, end: start + text.length, reason: state === "kept" ? FUNCTION_WORD : "" };
    start = piece.end;
    return piece;
  });
}
