// Loads what the page needs, hands it over and is ended. It is sent no message: no text ever reaches it.
import { CACHE } from "../src/cache.js";
import type { BundleFile, Loaded } from "../src/messages.js";

declare const BUNDLES: BundleFile[];
declare const self: DedicatedWorkerGlobalScope;

/** Returns a file's bytes, and whether they are kept. Storage may be full or forbidden: then they are not. */
async function bytes(name: string): Promise<{ bytes: ArrayBuffer; kept: boolean }> {
  const cache = await self.caches?.open(CACHE).catch(() => undefined); // there are none without https
  const found = await cache?.match(name).catch(() => undefined);
  if (found) return { bytes: await found.arrayBuffer(), kept: true };
  const response = await fetch(name);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const read = await response.arrayBuffer();
  const kept = cache?.put(name, new Response(read)).then(
    () => true,
    () => false,
  );
  return { bytes: read, kept: (await kept) ?? false };
}

async function load(): Promise<Loaded> {
  try {
    const [code, ...bundles] = await Promise.all(["sanitize.js", ...BUNDLES.map(({ name }) => name)].map(bytes));
    if (code === undefined) throw new Error("no code");
    const kept = [code, ...bundles].every((file) => file.kept);
    return { code: code.bytes, bundles: bundles.map((file) => file.bytes), kept };
  } catch {
    return { error: "The word lists could not be loaded. Check the network, and load the page again." };
  }
}

load().then((loaded) => self.postMessage(loaded, "error" in loaded ? [] : [loaded.code, ...loaded.bundles]));
