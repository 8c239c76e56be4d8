// Serves a folder on this machine: `node demo/serve.mjs [FOLDER] [PORT]`. No header of its own: a static host adds none either.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Answers with the files of a folder; `changed` may give another answer for a path. */
export function serving(folder, changed = () => undefined) {
  return async (request, response) => {
    const path = normalize(new URL(request.url, "http://here").pathname).replace(/\/$/, "/index.html");
    try {
      const bytes = await readFile(join(folder, path));
      const answer = changed(path, bytes) ?? bytes;
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
      response.end(answer);
    } catch {
      response.writeHead(404).end();
    }
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = fileURLToPath(new URL("dist", import.meta.url)), port = "8080"] = process.argv.slice(2);
  createServer(serving(folder)).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
}
