/** How many words a second are rewritten, as JSON: what `speed.py` asks. Processor time of all threads. */

import { readFileSync } from "node:fs";
import { Sanitizer } from "../dist/textveil.js";

const { bundle, texts, alone } = JSON.parse(readFileSync(0, "utf8"));
const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const words = (given) => given.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0);
const wall = performance.now();
let start = seconds();
const sanitizer = await Sanitizer.load(bundle);
const found = { "load (s)": seconds() - start, "load, by the clock (s)": (performance.now() - wall) / 1000 };
for (const protect of ["names", "words"]) {
  start = seconds();
  sanitizer.sanitize("Anna saw the doctor.", { protect });
  found[`${protect}, first text (s)`] = seconds() - start;
  start = seconds();
  sanitizer.sanitizeBatch(texts, { protect });
  found[`${protect}, together`] = words(texts) / (seconds() - start);
  start = seconds();
  for (const text of texts.slice(0, alone)) sanitizer.sanitize(text, { protect });
  found[`${protect}, one by one`] = words(texts.slice(0, alone)) / (seconds() - start);
}
console.log(JSON.stringify(found));
