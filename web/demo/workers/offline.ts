// Serves the page without a network. It sees which of its files are asked for, and no text.
declare const CACHE: string;
declare const BUNDLE: string;
declare const FILES: string[];
declare const self: ServiceWorkerGlobalScope;

const here = new URL("./", self.location.href);
const known = new Set([here.href, ...FILES.map((name) => new URL(name, here).href)]);

// The bundle is put there by the worker that loads it: it is not loaded twice.
const shell = ["./", ...FILES.filter((name) => name !== BUNDLE)];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(shell)));
});

self.addEventListener("activate", (event) => {
  const others = (names: string[]) => names.filter((name) => name.startsWith("textveil ") && name !== CACHE);
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

export {};
