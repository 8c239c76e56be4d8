/**
 * Copies the data that both packages share into `dist/data`, byte for byte, and embeds it in the module `dist/data.js`.
 * Of `statements.json` it leaves out the sections of mechanisms that only Python has.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const SOURCE = new URL("../../runtime/src/textveil/data/", import.meta.url);
const TARGET = new URL("../dist/data/", import.meta.url);
/** Name of the constant of each file. */
const FILES = {
  characters: "character_tables.json",
  rules: "rules.json",
  statements: "statements.json",
  types: "entity_types.json",
};

/** Sections of `statements.json` for mechanisms that this package does not have. */
const PYTHON_SECTIONS = ["tokens", "vector"];

function readShared(file) {
  const text = readFileSync(new URL(file, SOURCE), "utf8");
  if (file !== FILES.statements) return text;
  const shared = Object.entries(JSON.parse(text)).filter(([section]) => !PYTHON_SECTIONS.includes(section));
  return `${JSON.stringify(Object.fromEntries(shared), undefined, 2)}\n`;
}

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const lines = Object.entries(FILES).map(([name, file]) => {
  const text = readShared(file);
  writeFileSync(new URL(file, TARGET), text);
  return `export const ${name} = ${text.trim()};\n`;
});
writeFileSync(new URL("../data.js", TARGET), lines.join(""));
