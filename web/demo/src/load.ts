import type { Loaded } from "./messages.js";

/** The page cannot go on: what the user reads about it. */
export class LoadFailed extends Error {}

/** Everything the page needs, and whether it is kept for a start without a network. */
export type Files = Exclude<Loaded, { error: string }>;

/** Has a worker load the bundle and the code that rewrites, and ends it. It is the only one that may connect. */
export function load(): Promise<Files> {
  return new Promise((resolve, reject) => {
    const worker = new Worker("load.js");
    worker.onmessage = ({ data }: MessageEvent<Loaded>) => {
      worker.terminate();
      if ("error" in data) reject(new LoadFailed(data.error));
      else resolve(data);
    };
    worker.onerror = () => {
      worker.terminate();
      reject(new LoadFailed("The page could not be loaded in full. Load it again."));
    };
  });
}

/** Starts the worker that serves the page without a network; returns once it is registered, and later whether it is there. */
export async function keep(): Promise<{ kept: Promise<boolean> }> {
  try {
    const registration = await navigator.serviceWorker.register("offline.js");
    const coming = registration.active ?? registration.waiting ?? registration.installing;
    return { kept: coming === null ? Promise.resolve(false) : settled(coming) };
  } catch {
    return { kept: Promise.resolve(false) }; // private windows and pages without TLS have none
  }
}

function settled(worker: ServiceWorker): Promise<boolean> {
  return new Promise((resolve) => {
    const look = () => {
      if (worker.state === "activated") resolve(true);
      if (worker.state === "redundant") resolve(false);
    };
    worker.addEventListener("statechange", look);
    look();
  });
}
