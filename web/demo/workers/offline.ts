// Serves the page without a network. It sees which of its files are asked for, and no text.
import { CACHE, OWN } from "../src/cache.js";
import type { BundleFile } from "../src/messages.js";

declare const BUNDLES: BundleFile[];
declare const FILES: string[];
declare const self: ServiceWorkerGlobalScope;

const here = new URL("./", self.location.href);
const known = new Set([here.href, ...FILES.map((name) => new URL(name, here).href)]);

const archives = BUNDLES.map(({ name }) => name);
const shell = ["./", ...FILES.filter((name) => !archives.includes(name))];

/** Keeps the files of this build. On a first visit the worker that loads the bundles keeps them: none is loaded twice. */
async function keep(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(shell.map((name) => new Request(name, { cache: "no-cache" })));
  for (const name of archives) {
    const older = await caches.match(name);
    if (older !== undefined) await cache.put(name, older);
    else if (self.registration.active !== null) await cache.add(name);
  }
}

self.addEventListener("install", (event) => event.waitUntil(keep()));

self.addEventListener("activate", (event) => {
  const others = (names: string[]) => names.filter((name) => name.startsWith(OWN) && name !== CACHE);
  const clean = caches.keys().then((names) => Promise.all(others(names).map((name) => caches.delete(name))));
  event.waitUntil(clean.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = url.hash = "";
  if (event.request.method !== "GET" || !known.has(url.href)) return;
  const kept = caches.match(url.href, { cacheName: CACHE }).catch(() => undefined);
  event.respondWith(kept.then((found) => found ?? fetch(event.request)));
});
