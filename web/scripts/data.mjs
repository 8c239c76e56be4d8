/** Copies the data that both packages share into `dist/data`, byte for byte, and embeds it in the module `dist/data.js`. */

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const SOURCE = new URL("../../runtime/src/textveil/data/", import.meta.url);
const TARGET = new URL("../dist/data/", import.meta.url);
/** Name of the constant of each file. */
const FILES = {
  characters: "character_tables.json",
  rules: "rules.json",
  statements: "statements.json",
  types: "entity_types.json",
};

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const lines = Object.entries(FILES).map(([name, file]) => {
  copyFileSync(new URL(file, SOURCE), new URL(file, TARGET));
  return `export const ${name} = ${readFileSync(new URL(file, TARGET), "utf8").trim()};\n`;
});
writeFileSync(new URL("../data.js", TARGET), lines.join(""));
