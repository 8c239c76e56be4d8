/** Bundles the compiled modules into `dist/textveil.js`, and shortens properties that are long, frequent and internal. */

import { build } from "esbuild";

/** Properties that no caller sees and no key of a file names. */
const INTERNAL = [
  "classifyWord",
  "escapedAngles",
  "isAddressed",
  "isEmptyLine",
  "isIndented",
  "isPartyPlace",
  "isPerson",
  "isShared",
  "keepsFunctionWords",
  "sanitizesPunctuation",
  "templateBraces",
];

await build({
  entryPoints: ["dist/index.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  mangleProps: new RegExp(`^(${INTERNAL.join("|")})$`),
  outfile: "dist/textveil.js",
  logLevel: "warning",
});
