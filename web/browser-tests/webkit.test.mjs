// The page in WebKit, the engine of Safari and of the web views of iOS: WebKitGTK and its driver, on a screen in memory.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { served } from "./harness.mjs";

const [DRIVER, SCREEN] = ["/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb"];
const BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
const missing = [DRIVER, SCREEN, BROWSER].find((path) => !existsSync(path));
const skip = missing === undefined ? false : `there is no ${missing}: install Debian's webkit2gtk-driver and xvfb`;
const [DISPLAY, PORT] = [":97", 9797];

/** Asks the driver for something until it answers. */
async function ask(method, path, body, tries = 50) {
  try {
    const response = await fetch(`http://127.0.0.1:${PORT}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (value?.error) throw new assert.AssertionError({ message: `${value.error}: ${value.message}` });
    return value;
  } catch (error) {
    if (error instanceof assert.AssertionError || tries === 0) throw error;
    await pause(200);
    return ask(method, path, body, tries - 1);
  }
}

/** Starts the browser; `run` runs a script in the page that is open, `until` does until it returns something. */
async function webkit(t) {
  const screen = spawn(SCREEN, [DISPLAY, "-screen", "0", "1280x1000x24"], { stdio: "ignore" });
  const env = {
    ...process.env,
    DISPLAY,
    WEBKIT_DISABLE_COMPOSITING_MODE: "1",
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
  };
  const driver = spawn(DRIVER, [`--port=${PORT}`], { stdio: "ignore", env });
  let sessionId;
  t.after(async () => {
    if (sessionId) await ask("DELETE", `/session/${sessionId}`);
    driver.kill();
    screen.kill();
  });
  const options = { "webkitgtk:browserOptions": { binary: BROWSER, args: ["--automation"] } };
  ({ sessionId } = await ask("POST", "/session", { capabilities: { alwaysMatch: options } }));
  const run = (script, ...args) => ask("POST", `/session/${sessionId}/execute/sync`, { script, args });
  const until = async (script, tries = 150) => {
    const found = await run(script);
    if (found || tries === 0) return found;
    await pause(200);
    return until(script, tries - 1);
  };
  return { run, until, open: (url) => ask("POST", `/session/${sessionId}/url`, { url }) };
}

const SETTLED = "return document.querySelectorAll('[data-mode]:not([aria-busy])').length === 3";

test("the page rewrites in WebKit, keeps itself, and may connect to nothing", { skip }, async (t) => {
  const { seen, address } = await served();
  const { open, run, until } = await webkit(t);
  await open(address);
  const state = await until(
    "const { state } = document.getElementById('state').dataset; return state !== 'loading' && state",
  );
  assert.equal(state, "offline");
  assert.ok(await until(SETTLED));
  const text = "Anna Novak paid the invoice in Boston.";
  await run(
    "const f = document.getElementById('text'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))",
    text,
  );
  assert.ok(await until(SETTLED));
  const out = await run("return document.querySelector('[data-mode=names] .out').textContent");
  assert.match(out, /paid the invoice in/);
  assert.doesNotMatch(out, /Novak|Boston/);
  const before = seen.length;
  await run("fetch('/sent').then(() => { window.sent = 'yes' }, () => { window.sent = 'no' })");
  assert.equal(await until("return window.sent"), "no");
  assert.equal(seen.length, before);
});
