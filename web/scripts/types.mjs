/** Joins the declarations that `dist/index.d.ts` refers to into that one file: names that it does not export stay inside. */

import { readFileSync, writeFileSync } from "node:fs";

const DIST = new URL("../dist/", import.meta.url);
const FROM = /^(?:import|export)(?: type)? \{([^}]*)\} from "(\..*?)\.js";\n/gm;

/** Contents of the files in the order in which they are referred to. */
const files = new Map();
function read(url) {
  if (files.has(url.href)) return;
  const text = readFileSync(url, "utf8");
  files.set(url.href, text);
  for (const [, , path] of text.matchAll(FROM)) read(new URL(`${path}.d.ts`, url));
}

const index = new URL("index.d.ts", DIST);
read(index);
const [head, ...others] = files.values();
const names = [...head.matchAll(FROM)].flatMap(([, list]) =>
  list.split(",").map((name) => name.trim().replace(/^type /, "")),
);
const exported = new Set(names);
const inside = others.map((text) =>
  text
    .replace(/^\/\*\*.*?\*\/\n/s, "") // what the file is about
    .replace(FROM, "")
    .replace(/^export (?=(?:declare |abstract )*(?:class|interface|type|const|function) (\w+))/gm, (word, name) =>
      exported.has(name) ? word : "",
    ),
);
const joined = [head.replace(FROM, ""), ...inside, "export {};\n"].join("");
writeFileSync(
  index,
  joined
    .replace(/^(?: {4})+/gm, (indent) => " ".repeat(indent.length / 4))
    // The fields have the comments of these parameters.
    .replace(/^ constructor\(.*?\);$/gms, (parameters) => parameters.replace(/\s*\/\*\*.*?\*\/\s*/gs, "")),
);
