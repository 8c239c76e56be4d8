// Rewrites texts. It runs from a blob, so it has the policies of its page: it can connect to nothing.
import { type Options, type Result, Sanitizer, TextveilError } from "textveil";
import {
  type Answer,
  type Ask,
  type Choice,
  type Look,
  MODES,
  type ModeName,
  type Piece,
  SHOWN,
} from "../src/messages.js";

declare const self: DedicatedWorkerGlobalScope;

let sanitizer: Sanitizer | undefined;
/** What puts words back: of the text that is shown, and of the one that was copied last. */
let shown: Result | undefined;
let copied: Result | undefined;

const say = (answer: Answer) => self.postMessage(answer);

function options(mode: ModeName, { style, facts, epsilon, deny, known, patterns }: Choice): Options {
  if (mode === "names") return { protect: mode, style, facts, deny, known, patterns };
  return { protect: mode, epsilon, deny };
}

function look(text: string, chosen: Options, opened: Sanitizer): Look {
  const found: Look = { pieces: [], stay: 0, replaced: 0, drawn: 0 };
  let length = 0;
  const pieces: Piece[] =
    text.length > SHOWN // reasons need a second reading, and only the beginning is displayed
      ? opened.preview(text, chosen).map(([piece, what]) => [piece, what, ""])
      : opened.preview(text, { ...chosen, explain: true }).map((piece) => [piece.text, piece.state, piece.reason]);
  for (const [piece, what, reason] of pieces) {
    if (what === "kept") found.stay++;
    else if (what === "randomized" || what === "unknown") found.drawn++;
    else if (what !== "gap") found.replaced++;
    if (length < SHOWN) found.pieces.push([piece, what, reason]);
    length += piece.length;
  }
  return found;
}

async function answer(asked: Ask): Promise<void> {
  if (asked.ask === "open") {
    sanitizer = await Sanitizer.load(new Uint8Array(asked.bundle), { expectId: asked.identity });
    const { bundleHash: identity, epsilons, modes } = sanitizer;
    const { facts } = sanitizer.statement({ protect: "names" }).toJSON();
    const hasWords = modes.includes("words"); // a language pack has lists of the mode names alone
    const epsilon = hasWords ? String(sanitizer.statement({ protect: "words" }).toJSON().epsilon_per_word) : "";
    return say({ id: asked.id, opened: { identity, modes, epsilons, epsilon, facts: String(facts) } });
  }
  if (sanitizer === undefined) throw new Error("not open");
  if (asked.ask === "restore") {
    const of = copied ?? shown;
    return say({ id: asked.id, restored: of === undefined ? "" : of.restore(asked.reply).text });
  }
  if (asked.ask === "keep") copied = shown;
  else {
    for (const mode of MODES.filter((mode) => sanitizer?.modes.includes(mode))) {
      const chosen = options(mode, asked.choice);
      if (asked.ask === "look") {
        say({ id: asked.id, mode, look: look(asked.text, chosen, sanitizer) });
        continue;
      }
      const result = sanitizer.sanitize(asked.text, chosen);
      if (mode === "names") shown = result;
      const { statement } = result;
      const drawn = {
        text: result.text,
        line: statement.formatLine(),
        summary: statement.summary(),
        notProtected: [...statement.notProtected],
      };
      say({ id: asked.id, mode, drawn });
    }
  }
  say({ id: asked.id, done: true });
}

/** One line, and never the text: errors of the library keep that promise, of others only the kind is said. */
function told(error: unknown): string {
  if (error instanceof TextveilError) return `${error.name}: ${error.message}`;
  return `The text could not be rewritten (${error instanceof Error ? error.name : "unknown"}).`;
}

// The page sees that this worker was ended when its lock is free again. Without https there are no locks.
if (navigator.locks !== undefined) {
  const alive = `textveil ${crypto.randomUUID()}`;
  navigator.locks.request(alive, () => {
    self.postMessage({ alive });
    return new Promise(() => {});
  });
}

let last = Promise.resolve();
self.onmessage = ({ data }: MessageEvent<Ask>) => {
  last = last.then(() => answer(data)).catch((error) => say({ id: data.id, error: told(error) }));
};
