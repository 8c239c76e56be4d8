// Rewrites each line of standard input: `node examples/node/rewrite.mjs BUNDLE [names|words|all] <notes.txt`.
// BUNDLE is a folder or an archive. The text goes to standard output, the promise to standard error.
import { createInterface } from "node:readline";
import { Sanitizer, TextveilError } from "textveil";

const [bundle, protect = "names"] = process.argv.slice(2);
try {
  const sanitizer = await Sanitizer.load(bundle);
  const lines = [];
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }))
    lines.push(line);
  for (const { text, statement } of sanitizer.sanitizeBatch(lines, { protect })) {
    console.log(text);
    console.error(statement.formatLine());
  }
} catch (error) {
  if (!(error instanceof TextveilError)) throw error;
  console.error(`${error.name}: ${error.message}`); // one line, without the text
  process.exitCode = 1;
}
