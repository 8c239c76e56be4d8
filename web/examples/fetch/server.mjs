// Serves the example and answers tickets: `node examples/fetch/server.mjs [PORT]`, after `npm run build`. It prints what it received.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { packed } from "../../demo/bundle.mjs";
import { serving } from "../../demo/serve.mjs";

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Returns what answers requests; each ticket that comes is told to `received`. */
export async function tickets(received) {
  const { bytes, name } = await packed();
  const pages = serving(folder("."));
  const library = serving(folder("../../dist"));
  return async (request, response) => {
    if (request.url === `/${name}`) return response.end(bytes);
    if (request.url.startsWith("/textveil/")) {
      request.url = request.url.slice("/textveil".length);
      return library(request, response);
    }
    if (request.method !== "POST" || request.url !== "/tickets") return pages(request, response);
    let body = "";
    for await (const chunk of request) body += chunk;
    const { text } = JSON.parse(body);
    received(text);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ reply: `We are sorry. You wrote: ${text}` }));
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? "8080");
  createServer(await tickets((text) => console.log(text))).listen(port, "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${port}/`),
  );
}
