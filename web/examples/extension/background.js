// Replaces names for the content script. Nothing is kept: a message comes in, its answer goes out.
import { Sanitizer, TextveilError } from "textveil";

/** @type {import("textveil").Options} */
const OPTIONS = { protect: "names" };

/** @type {Promise<Sanitizer> | undefined} */
let loading;
const sanitizer = () => {
  loading ??= Sanitizer.load(chrome.runtime.getURL(BUNDLE), { expectId: IDENTITY });
  return loading;
};

async function answer(texts) {
  try {
    const opened = await sanitizer();
    const pieces = texts.flatMap((text) => opened.preview(text, OPTIONS));
    const replaced = pieces.filter(([, what]) => what !== "gap" && what !== "kept").length;
    const results = opened.sanitizeBatch(texts, OPTIONS);
    return { texts: results.map(({ text }) => text), line: results[0].statement.formatLine(), replaced };
  } catch (error) {
    loading = undefined;
    return {
      error: error instanceof TextveilError ? `${error.name}: ${error.message}` : "The text could not be rewritten.",
    };
  }
}

chrome.runtime.onMessage.addListener(({ texts }, sender, respond) => {
  if (sender.id !== chrome.runtime.id || !Array.isArray(texts)) return false;
  answer(texts).then(respond);
  return true; // the answer comes later
});
