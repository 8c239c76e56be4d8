// The examples do what they show: a page that rewrites before it sends, an extension that offers to, a script in Node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as read } from "node:stream/consumers";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { extension } from "../examples/extension/build.mjs";
import { tickets } from "../examples/fetch/server.mjs";
import { browser, folder, server, skip } from "./harness.mjs";

const MESSAGE = "My name is Anna Novak. The kettle arrived broken in Boston. Call 617-555-0143.";

test("a page sends what was rewritten, and shows the reply in the user's words", { skip }, async () => {
  const received = [];
  const { address } = await server(await tickets((text) => received.push(text)));
  const page = await (await browser()).newPage();
  await page.goto(address);
  await page.fill("#message", MESSAGE);
  await page.click("button");
  await page.waitForFunction(() => document.getElementById("reply").textContent !== "");
  assert.equal(received.length, 1);
  assert.match(received[0], /^My name is .*The kettle arrived broken in/);
  assert.doesNotMatch(received[0], /Anna|Novak|Boston|0143/);
  assert.equal(await page.textContent("#reply"), `We are sorry. You wrote: ${MESSAGE}`);
});

test("a page whose sanitizer fails sends nothing", { skip }, async () => {
  const received = [];
  const { address } = await server(await tickets((text) => received.push(text)));
  const page = await (await browser()).newPage();
  await page.addInitScript(() => {
    crypto.getRandomValues = () => {
      throw new Error("Novak");
    };
  });
  await page.goto(address);
  await page.fill("#message", MESSAGE);
  await page.click("button");
  await page.waitForFunction(() => document.getElementById("said").textContent !== "");
  assert.match(await page.textContent("#said"), /^Not sent\./);
  assert.doesNotMatch(await page.textContent("#said"), /Novak/);
  assert.deepEqual(received, []);
});

const FORM = `<!doctype html><title>A form</title><form method="post" action="/send" target="_self">
  <label>Message <textarea name="message"></textarea></label><label>Search <input name="search" value="Anna Novak"></label><button>Send</button></form>`;

/** A page with a form, in a browser with the extension; `sent` has the messages that came, `choose` answers the offer. */
async function written(message) {
  const built = await folder();
  await extension(built);
  const context = await browser(`--disable-extensions-except=${built}`, `--load-extension=${built}`);
  if (context.serviceWorkers().length === 0) await context.waitForEvent("serviceworker");
  const sent = [];
  const { seen, address } = await server(async (request, response) => {
    if (request.method === "POST") sent.push(new URLSearchParams(await read(request)).get("message"));
    response.setHeader("content-type", "text/html");
    response.end(request.method === "POST" ? "<p id=thanks>Thank you</p>" : FORM);
  });
  const page = await context.newPage();
  await page.goto(address);
  await page.fill("textarea", message);
  return { context, page, sent, seen };
}

// The page cannot look into the offer, and neither can a test: it presses keys, as a user does.
const offered = (page) => page.waitForSelector("names-stay-here", { state: "attached" });

test("the extension offers before a form is sent, and sends what it showed", { skip }, async () => {
  const { page, sent } = await written(MESSAGE);
  await page.click("form button");
  await offered(page);
  assert.deepEqual(sent, []);
  await page.keyboard.press("Enter"); // on the first button, which has the focus
  await page.waitForSelector("#thanks");
  assert.equal(sent.length, 1);
  assert.match(sent[0], /^My name is .*The kettle arrived broken in/);
  assert.doesNotMatch(sent[0], /Novak|Boston|0143/);
});

test("the extension sends the text as it is, or nothing, if the user says so", { skip }, async () => {
  const { page, sent } = await written(MESSAGE);
  await page.click("form button");
  await offered(page);
  await page.keyboard.press("Escape");
  await page.waitForSelector("names-stay-here", { state: "detached" });
  assert.deepEqual(sent, []);
  assert.equal(await page.inputValue("textarea"), MESSAGE);
  await page.click("form button");
  await offered(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab"); // past "Sample again"
  await page.keyboard.press("Enter");
  await page.waitForSelector("#thanks");
  assert.deepEqual(sent, [MESSAGE]);
});

test("the extension replaces in the field with its keys, and lets a text without names go", { skip }, async () => {
  const { page, sent } = await written(MESSAGE);
  await page.focus("textarea");
  await page.keyboard.press("Alt+Shift+N");
  await offered(page);
  await page.keyboard.press("Enter");
  await page.waitForSelector("names-stay-here", { state: "detached" });
  assert.doesNotMatch(await page.inputValue("textarea"), /Novak|Boston|0143/);
  assert.deepEqual(sent, []);
  await page.fill("textarea", "the kettle arrived broken");
  await page.click("form button");
  await page.waitForSelector("#thanks");
  assert.deepEqual(sent, ["the kettle arrived broken"]);
});

test("what the page refuses to send is not let go for the next text", { skip }, async () => {
  const { page, sent } = await written(MESSAGE);
  await page.click("form button");
  await offered(page);
  await page.evaluate(() => {
    const field = document.querySelector("textarea");
    field.addEventListener("input", () => field.setCustomValidity("too long"), { once: true });
  });
  await page.keyboard.press("Enter");
  await page.waitForSelector("names-stay-here", { state: "detached" });
  await page.waitForFunction(() => !document.querySelector("textarea").validity.valid);
  assert.deepEqual(sent, []);
  await page.evaluate(() => document.querySelector("textarea").setCustomValidity(""));
  await page.fill("textarea", "I am Zelda Quillfeather.");
  await page.click("form button");
  await offered(page);
  assert.deepEqual(sent, []);
});

test("the extension offers for what is edited as plain text", { skip }, async () => {
  const { page, sent } = await written(MESSAGE);
  await page.evaluate((message) => {
    document.querySelector("form").innerHTML =
      "<input type=hidden name=message><div contenteditable=plaintext-only></div><button>Send</button>";
    const [field, edited] = document.querySelectorAll("[name=message], div");
    edited.innerText = message;
    document.querySelector("form").addEventListener("submit", () => {
      field.value = edited.innerText;
    });
  }, MESSAGE);
  await page.click("form button");
  await offered(page);
  assert.deepEqual(sent, []);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#thanks");
  assert.equal(sent.length, 1);
  assert.doesNotMatch(sent[0], /Novak|Boston|0143/);
});

test("the extension connects to nothing, and a failure sends nothing", { skip }, async () => {
  const { context, page, sent, seen } = await written(MESSAGE);
  const [worker] = context.serviceWorkers();
  const before = seen.length;
  const refused = await worker.evaluate(
    (to) =>
      fetch(to).then(
        () => false,
        () => true,
      ),
    `${page.url()}from-the-extension`,
  );
  assert.ok(refused);
  assert.equal(seen.length, before);
  await worker.evaluate(() => {
    crypto.getRandomValues = () => {
      throw new Error("Novak");
    };
  });
  await page.click("form button");
  await offered(page);
  await page.keyboard.press("Enter"); // on "Back", which has the focus
  await page.waitForSelector("names-stay-here", { state: "detached" });
  assert.deepEqual(sent, []);
  assert.equal(await page.inputValue("textarea"), MESSAGE);
});

test("the script in Node rewrites lines, and says errors in one line", async () => {
  const script = fileURLToPath(new URL("../examples/node/rewrite.mjs", import.meta.url));
  const bundle = fileURLToPath(new URL("../../artifacts/english-v4", import.meta.url));
  const run = async (...given) => {
    const child = spawn(process.execPath, [script, ...given], { stdio: "pipe" });
    child.stdin.end(`${MESSAGE}\nThank you.\n`);
    const [out, error, [code]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, "close")]);
    return { out, error, code };
  };
  const { out, error, code } = await run(bundle, "names");
  assert.equal(code, 0);
  assert.equal(out.split("\n").length, 3);
  assert.doesNotMatch(out, /Novak|Boston|0143/);
  assert.match(error, /^Kept: common words from a public list, /);
  const none = await run("/nowhere");
  assert.equal(none.code, 1);
  assert.match(none.error, /^BundleNotFound: .*\n$/);
});
