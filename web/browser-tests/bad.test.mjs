// What goes wrong is one line on the page, never with the text in it, and no output stands there that was not drawn.
import assert from "node:assert/strict";
import test from "node:test";
import { browser, mode, open, served, settled, skip, write } from "./harness.mjs";

const SECRET = "Qwyzzle";

const problem = (page) => page.textContent("#problem");

async function failed(page) {
  await page.waitForFunction(() => document.getElementById("problem").textContent !== "");
  const line = await problem(page);
  assert.ok(!line.includes("\n") && !line.includes(SECRET), line);
  return line;
}

/** Puts code before that of a script. */
const before = (script, code) => (path, bytes) => (path.endsWith(script) ? code + bytes : undefined);

test("a bundle cut short or edited is refused in one line, and not kept", { skip }, async () => {
  const context = await browser();
  for (const damage of [
    (bytes) => bytes.subarray(0, bytes.length >> 1),
    (bytes) => bytes.subarray(0, 3),
    () => Buffer.alloc(0),
    (bytes) => Buffer.from(bytes).fill(bytes[bytes.length >> 1] ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
  ]) {
    let damaged = true;
    const { address } = await served((path, bytes) => (damaged && path.endsWith(".zip") ? damage(bytes) : undefined));
    const page = await open(context, address);
    assert.equal(await page.getAttribute("#state", "data-state"), "failed");
    await failed(page);
    assert.equal((await mode(page, "names")).out, "");
    damaged = false;
    await page.reload();
    await page.waitForSelector("#state[data-state=offline]");
    await page.close();
  }
});

test("a bundle that is not there is said in one line", { skip }, async () => {
  const context = await browser();
  const { address } = await served((path) => {
    if (path.endsWith(".zip")) throw new Error("not there");
  });
  const page = await open(context, address);
  assert.match(await failed(page), /could not be loaded/);
});

test("code cut short is said in one line, and not kept", { skip }, async () => {
  const context = await browser();
  let cut = true;
  const { address } = await served((path, bytes) =>
    cut && path.endsWith("sanitize.js") ? bytes.subarray(0, 999) : undefined,
  );
  const page = await open(context, address);
  assert.match(await failed(page), /cannot be started/);
  cut = false;
  await page.reload();
  await page.waitForSelector("#state[data-state=offline]");
});

test("without https the bundle is refused: its hashes cannot be checked", { skip }, async () => {
  const context = await browser("--host-resolver-rules=MAP * 127.0.0.1");
  const { address } = await served();
  const page = await open(context, address.replace("127.0.0.1", "plain.example"));
  assert.match(await failed(page), /^BundleError: .*use https/);
});

test("random bytes that fail are refused, and nothing is drawn", { skip }, async () => {
  const context = await browser();
  for (const broken of [
    "crypto.getRandomValues = () => { throw new Error('Qwyzzle'); };",
    "Object.defineProperty(self.crypto, 'getRandomValues', { value: undefined });",
  ]) {
    const { address } = await served(before("sanitize.js", broken));
    const page = await open(context, address);
    await write(page, `My name is ${SECRET} Novak.`);
    await failed(page);
    for (const name of ["names", "words", "all"]) {
      const shown = await mode(page, name);
      assert.equal(shown.out, "");
      assert.match(shown.marked, /Novak/);
    }
    assert.ok(await page.isDisabled("[data-mode=names] button"));
    await page.close();
  }
});

test("a full storage: the page works and says that it needs a network", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: address.slice(0, -1), quotaSize: 1000 });
  await page.goto(address);
  await page.waitForSelector("#state:not([data-state=loading])");
  assert.equal(await page.getAttribute("#state", "data-state"), "online");
  assert.match(await page.textContent("#state"), /did not keep the page/);
  await write(page, "Anna Novak paid.");
  assert.notEqual((await mode(page, "names")).out, "");
});

test("a worker that is ended in the middle is started again", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  await context.addInitScript(() => {
    const made = [];
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...given) {
        super(...given);
        made.push(this);
      }
    };
    window.endWorker = () => made.at(-1).terminate();
  });
  const page = await open(context, address);
  await write(page, `Anna ${SECRET} paid.`);
  await page.evaluate(() => {
    const clipboard = new DataTransfer();
    clipboard.setData("text/plain", "Anna Novak paid. ".repeat(200_000));
    document
      .getElementById("text")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, cancelable: true }));
  });
  await page.waitForSelector("#busy:not([hidden])");
  await page.evaluate(() => window.endWorker());
  assert.match(await failed(page), /ended from outside/);
  assert.equal((await mode(page, "all")).out, "");
  await page.click("#clear");
  await write(page, "Anna Novak paid.");
  assert.equal(await problem(page), "");
  assert.notEqual((await mode(page, "all")).out, "");
});

test("a text that is written while an older one takes long is waited for", { skip }, async () => {
  const context = await browser();
  const slow = `const real = crypto.getRandomValues.bind(crypto);
    let first = true;
    crypto.getRandomValues = (array) => {
      for (const end = Date.now() + 3000; first && Date.now() < end; );
      first = false;
      return real(array);
    };`;
  const { address } = await served(before("sanitize.js", slow));
  const page = await open(context, address);
  await page.waitForTimeout(2000);
  await write(page, "Anna Novak paid.");
  assert.match((await mode(page, "names")).out, /paid/);
});

test("a line of 10 MB leaves the page alive, and can be stopped", { skip, timeout: 300_000 }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  await settled(page);
  await page.evaluate(() => {
    const clipboard = new DataTransfer();
    clipboard.setData("text/plain", "Anna Novak paid in Boston. ".repeat(400_000));
    const field = document.getElementById("text");
    field.select();
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, cancelable: true }));
  });
  await page.waitForSelector("#busy:not([hidden])");
  await page.fill("#reply", "The page answers while the worker works.");
  assert.match(await page.textContent("#text-hint"), /10,800,000 characters/);
  await page.click("#stop");
  await page.waitForSelector("#busy", { state: "hidden" });
  assert.equal(await page.textContent("#said"), "Stopped.");
  assert.deepEqual(await mode(page, "all"), { promise: "", out: "", counts: "", marked: "" });
  await page.click("#clear");
  await write(page, "Anna Novak paid.");
  assert.doesNotMatch((await mode(page, "names")).out, /Novak/);
});

test("lone surrogates, NUL, marks of direction and nothing at all are texts", { skip }, async () => {
  const context = await browser();
  const { address } = await served();
  const page = await open(context, address);
  for (const text of [
    "",
    "\ud800",
    "Anna \udc00 Novak \ud83d paid",
    "Anna\u0000Novak paid\u0000",
    "\u202eAnna\u202c",
    "\ufeff",
    "😀".repeat(500),
    "a".repeat(60_000),
  ]) {
    await write(page, text);
    assert.equal(await problem(page), "", JSON.stringify(text.slice(0, 20)));
    assert.equal((await mode(page, "names")).marked.includes("Novak"), text.includes("Novak"));
    assert.ok(!(await mode(page, "names")).out.includes("Novak"));
  }
});
