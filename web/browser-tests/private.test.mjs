// The page sends nothing: no request after loading, whatever is done on it, and none that its policy would let through.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { browser, folder, open, served, settled, skip, write } from "./harness.mjs";

const SECRET = "Xaverine Qwyzzle of Ouagadougou, 617-555-0199";

/**
 * What was asked for since a time, by the browser's own log: what a page asked for, and what the browser asked about
 * fields that it saw. It asks its maker for other things at its start, which no page can prevent.
 */
function asked(log, since) {
  const { constants, events } = JSON.parse(log);
  const began = events.filter(
    ({ type, params }) => type === constants.logEventTypes.URL_REQUEST_START_JOB && params?.url,
  );
  const late = began.filter(({ time }) => Number(time) + constants.timeTickOffset >= since).map(({ params }) => params);
  return {
    byPages: late.filter(({ initiator }) => initiator !== "not an origin").map(({ url }) => url),
    aboutFields: began.map(({ params }) => params.url).filter((url) => url.includes("autofill")),
  };
}

/** Ways to send a text, each run in the page. Playwright's own evaluation is not under the policy; what it starts is. */
async function tries(page, address) {
  await page.evaluate(async (to) => {
    const at = (way) => `${to}sent-by-${way}`;
    const quiet = (work) =>
      Promise.resolve()
        .then(work)
        .catch(() => {});
    const element = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
    await quiet(() => fetch(at("fetch"), { method: "POST", body: "text" }));
    await quiet(() => fetch(at("no-cors"), { mode: "no-cors", keepalive: true }));
    await quiet(() => {
      const request = new XMLHttpRequest();
      request.open("GET", at("xhr"));
      request.send();
    });
    await quiet(() => navigator.sendBeacon(at("beacon"), "text"));
    await quiet(() => new EventSource(at("events")));
    await quiet(() => new WebSocket(at("socket").replace("http", "ws")));
    await quiet(() => new Worker(at("worker")));
    await quiet(() => new Worker("load.js?sent-by-loader"));
    await quiet(() => new SharedWorker(at("shared")));
    await quiet(() => navigator.serviceWorker.register(`offline.js?sent-by-register`, { scope: "/elsewhere/" }));
    await quiet(() => element("img", { src: at("image") }));
    await quiet(() => element("script", { src: at("script") }));
    await quiet(() => element("iframe", { src: at("frame") }));
    await quiet(() => element("object", { data: at("object") }));
    await quiet(() => element("video", { src: at("video") }));
    await quiet(() => element("link", { rel: "stylesheet", href: at("style").replace("127.0.0.1", "localhost") }));
    await quiet(() => element("link", { rel: "prefetch", href: at("prefetch") }));
    await quiet(() => element("link", { rel: "modulepreload", href: at("preload") }));
    await quiet(() => {
      const form = Object.assign(document.createElement("form"), {
        action: at("form"),
        method: "post",
        target: "_blank",
      });
      document.body.append(form);
      form.submit();
    });
  }, address);
  await page.waitForTimeout(500);
}

const sent = (seen) =>
  seen.filter((path) => path.includes("sent-by")).map((path) => path.match(/sent-by-\w+(?:-cors)?/)[0]);

test("typing, drawing, copying and restoring make no request", { skip }, async () => {
  const log = join(await folder(), "net.json");
  const context = await browser(`--log-net-log=${log}`);
  const { seen, address } = await served();
  const page = await open(context, address);
  assert.equal(await page.getAttribute("#state", "data-state"), "offline");
  await settled(page);
  const loaded = seen.length;
  assert.ok(loaded > 5);
  await page.waitForTimeout(500);
  const since = Date.now();
  await page.fill("#text", "");
  await page.locator("#text").pressSequentially(`Dear ${SECRET}, `);
  await settled(page);
  await page.selectOption("#style", "tag");
  await page.selectOption("#epsilon", { index: 0 });
  await page.fill("#deny", "kettle");
  await page.click("#again");
  await settled(page);
  await page.click("[data-mode=names] button");
  await page.click("#example");
  await page.waitForFunction(() => document.getElementById("restored").textContent !== "");
  await page.click("#sample");
  await settled(page);
  await page.waitForTimeout(500);
  const later = seen.slice(loaded).filter((path) => path !== "/offline.js"); // the browser looks for a new one by itself
  assert.deepEqual(later, []);
  await context.close(); // which completes the log
  const said = await readFile(log, "utf8");
  const { byPages, aboutFields } = asked(said, since);
  assert.ok(asked(said, 0).byPages.includes(`${address}sanitize.js`), "what a page asks for is seen");
  assert.deepEqual(byPages, []);
  assert.deepEqual(aboutFields, []);
  assert.ok(!said.includes("Qwyzzle"));
});

test("nothing in the page can send, and each way is one that sends without the policy", { skip }, async () => {
  const context = await browser();
  const { seen, address } = await served();
  await tries(await open(context, address), address);
  assert.deepEqual(sent(seen), []);

  const bare = await served((path, bytes) => {
    if (path.endsWith(".html")) return bytes.toString().replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
    if (path.endsWith("page.js")) return bytes.toString().replaceAll("Content-Security-Policy", "x-none");
  });
  const open_to_all = await open(context, bare.address);
  await tries(open_to_all, bare.address);
  const ways = new Set(sent(bare.seen));
  for (const way of ["fetch", "xhr", "beacon", "events", "worker", "image", "script", "frame", "prefetch", "form"]) {
    assert.ok(ways.has(`sent-by-${way}`), way);
  }
});

test("the worker that sees the text has the policy of the page", { skip }, async () => {
  const context = await browser();
  const { seen, address } = await served();
  const page = await open(context, address);
  await write(page, SECRET);
  const [worker, ...others] = page.workers();
  assert.equal(others.length, 0, "the worker that loads is gone");
  const refused = await worker.evaluate(async (to) => {
    const ways = {
      fetch: () => fetch(`${to}sent-by-fetch`),
      import: () => importScripts(`${to}sent-by-import`),
      module: () => import(`${to}sent-by-module`),
      xhr: () =>
        new Promise((resolve, reject) => {
          const request = new XMLHttpRequest();
          Object.assign(request, { onerror: reject, onload: resolve });
          request.open("GET", `${to}sent-by-xhr`);
          request.send();
        }),
      socket: () =>
        new Promise((resolve, reject) => {
          Object.assign(new WebSocket(`${to.replace("http", "ws")}sent-by-socket`), {
            onopen: resolve,
            onerror: reject,
          });
        }),
    };
    const failed = [];
    for (const [name, way] of Object.entries(ways))
      await Promise.resolve()
        .then(way)
        .catch(() => failed.push(name));
    return failed;
  }, address);
  assert.deepEqual(refused, ["fetch", "import", "module", "xhr", "socket"]);
  assert.deepEqual(sent(seen), []);
});

test("no file of the page names another host, but for those of examples", { skip }, async () => {
  const { address } = await served();
  for (const file of ["", "page.js", "load.js", "sanitize.js", "offline.js", "style.css"]) {
    const text = await (await fetch(address + file)).text();
    const named = [...text.matchAll(/(?:https?:)?\/\/([a-z0-9-]+\.)+[a-z]{2,}/gi)]
      .map(([found]) => found)
      .filter((host) => !/example\.\w+$/.test(host));
    assert.deepEqual(named, [], file);
  }
});
