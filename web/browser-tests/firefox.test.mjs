// The page in Firefox, by its own protocol (WebDriver BiDi). Node 20 has WebSocket behind a flag: `--experimental-websocket`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { folder, served } from "./harness.mjs";

const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const lacks = existsSync(FIREFOX) ? "" : `there is no ${FIREFOX}: install Debian's firefox-esr, or name one in FIREFOX`;
const skip =
  lacks || (typeof WebSocket === "undefined" && "this Node has no WebSocket: --experimental-websocket") || false;

/** Starts Firefox; `open` leads it somewhere, `run` runs the body of a function there and returns its value. */
async function firefox(t) {
  const child = spawn(FIREFOX, [
    "--headless",
    "--no-remote",
    "--profile",
    await folder(),
    "--remote-debugging-port",
    "0",
  ]);
  t.after(() => child.kill());
  let said = "";
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes("BiDi listening on ws:")) break;
  }
  const socket = new WebSocket(`${said.match(/BiDi listening on (ws:\S+)/)[1]}/session`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const waiting = new Map();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error, message } = JSON.parse(data);
    const { resolve, reject } = waiting.get(id) ?? {};
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(`${error}: ${message}`));
  });
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask("session.new", { capabilities: {} });
  const { contexts } = await ask("browsingContext.getTree", {});
  const { context } = contexts[0];
  const run = async (body) => {
    const functionDeclaration = `async () => { ${body} }`;
    const { result } = await ask("script.callFunction", {
      functionDeclaration,
      awaitPromise: true,
      target: { context },
    });
    return result.value;
  };
  const until = async (body, tries = 150) => {
    const found = await run(body);
    if (found || tries === 0) return found;
    await pause(200);
    return until(body, tries - 1);
  };
  return { run, until, open: (url) => ask("browsingContext.navigate", { context, url, wait: "complete" }) };
}

const SETTLED = "return document.querySelectorAll('[data-mode]:not([aria-busy])').length === 3";

test("the page rewrites in Firefox, keeps itself, and may connect to nothing", { skip }, async (t) => {
  const { seen, address } = await served();
  const { open, run, until } = await firefox(t);
  await open(address);
  const state = await until(
    "const { state } = document.getElementById('state').dataset; return state === 'loading' ? '' : state",
  );
  assert.equal(state, "offline");
  assert.ok(await until(SETTLED));
  const out = await run("return document.querySelector('[data-mode=names] .out').textContent");
  assert.match(out, /my name is/);
  assert.doesNotMatch(out, /Novak|Boston/);
  const before = seen.length;
  assert.equal(await run("return fetch('/sent').then(() => 'sent', () => 'refused')"), "refused");
  assert.equal(seen.length, before);
});
