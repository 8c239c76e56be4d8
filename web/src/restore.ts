/** Restores words on the device. */
const LIKE_A_TAG = /\[(?=[\p{L}\p{M}\p{N}_-]+\s+\p{Nd})/gu;
export class Restorer {
  constructor(readonly pairs: Iterable<readonly [string, string]>) {}
  restore(reply: string): string {
    return reply;
  }
}
export function notATag(text: string): string {
  return text.replace(LIKE_A_TAG, "[ ");
}
