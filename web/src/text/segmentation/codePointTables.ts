/** Tables of code points in the data. */

/** Return the first code point of each range, and the one after its last, in turn. */
export function decodeTable(lines: readonly string[]): number[] {
  let point = 0;
  return lines.flatMap((line) =>
    line.split(" ").map((step) => {
      point += Number(step);
      return point;
    }),
  );
}

/** Return whether a character is in one of the ranges of a table. */
export function isInTable(boundaries: readonly number[], character: string): boolean {
  const point = character.codePointAt(0) ?? 0;
  let [low, high] = [0, boundaries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((boundaries[middle] ?? 0) <= point) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}
