import { CACHE } from "./cache.js";
import { Latest } from "./latest.js";
import { keep, LoadFailed, load } from "./load.js";
import { lock } from "./lock.js";
import { type BundleFile, type Choice, FACTS, type ModeName } from "./messages.js";
import { type Open, Refused, Rewriter, Stopped } from "./rewriter.js";
import { SAMPLE } from "./sample.js";
import { cards } from "./view.js";

declare const BUNDLES: BundleFile[];

/** A pasted text of more characters is kept beside the text field: a field with megabytes stops the whole page. */
const LONG = 100_000;
/** A newer text ends the work on an older one after so long. */
const PATIENCE_MS = 1_000;

function the<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no ${id}`);
  return found as T;
}

const text = the<HTMLTextAreaElement>("text");
const hint = the("text-hint");
const reply = the<HTMLTextAreaElement>("reply");
const deny = the<HTMLInputElement>("deny");
const known = the<HTMLTextAreaElement>("known");
const patterns = the<HTMLTextAreaElement>("patterns");
const language = the<HTMLSelectElement>("language");
const style = the<HTMLSelectElement>("style");
const facts = the<HTMLSelectElement>("facts");
const epsilon = the<HTMLSelectElement>("epsilon");
const again = the<HTMLButtonElement>("again");
const example = the<HTMLButtonElement>("example");
const short = hint.textContent ?? "";

let rewriter: Rewriter;
let long: string | undefined;
let names = "";
let running = 0;
/** How often the text or an option changed. */
let changes = 0;

const shown = cards(copy);
the("modes").append(...[...shown.values()].map(({ element }) => element));

const state = (name: string, says: string) => {
  the("state").dataset.state = name;
  the("state-says").textContent = says;
};
const problem = (line: string) => {
  the("problem").textContent = line;
};
const announce = (line: string) => {
  the("said").textContent = line;
};
const written = () => long ?? text.value;
const choice = (): Choice => ({
  style: style.value === "tag" ? "tag" : "surrogate",
  facts: FACTS.find((value) => value === facts.value) ?? "plain",
  epsilon: epsilon.value,
  deny: deny.value.split(",").filter((word) => word.trim() !== ""),
  known: known.value.trim() === "" ? [] : known.value.split("\n"),
  patterns: Object.fromEntries(
    patterns.value
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => [line.split("=", 1)[0]?.trim() ?? "", line.slice(line.indexOf("=") + 1)]),
  ),
});

/** Runs a job and says what went wrong; returns whether it was done. A job that a newer one ended says nothing. */
async function attempt(job: () => Promise<void>): Promise<boolean> {
  running++;
  const slow = setTimeout(() => {
    the("busy").hidden = false;
  }, 400);
  try {
    await job();
    problem("");
    return true;
  } catch (error) {
    if (error instanceof Refused) problem(error.message);
    else if (!(error instanceof Stopped)) problem("Something in this page failed. Nothing left it. Load it again.");
    return false;
  } finally {
    clearTimeout(slow);
    if (--running === 0) the("busy").hidden = true;
  }
}

const look = new Latest(async () => {
  const done = await attempt(() =>
    rewriter.ask({ ask: "look", text: written(), choice: choice() }, (answer) => {
      if ("look" in answer) shown.get(answer.mode)?.look(answer.look);
    }),
  );
  if (!done) for (const card of shown.values()) card.unmark();
});

const draw = new Latest(async () => {
  const [of, at] = [written(), changes];
  const done = await attempt(() =>
    rewriter.ask({ ask: "draw", text: of, choice: choice() }, (answer) => {
      if (!("drawn" in answer)) return;
      if (answer.mode === "names") names = answer.drawn.text;
      if (of === written()) shown.get(answer.mode)?.draw(answer.drawn);
      example.disabled = names === "";
    }),
  );
  if (done) return;
  for (const card of shown.values()) {
    card.clear();
    if (at !== changes) card.stale(); // the next draw is on its way
  }
});

const restore = new Latest(async () => {
  await attempt(() =>
    rewriter.ask({ ask: "restore", reply: reply.value }, (answer) => {
      if ("restored" in answer) the("restored").textContent = answer.restored;
    }),
  );
});

/** The text or an option changed: marks follow at once, draws after a pause. */
function changed(pause_ms: number): void {
  changes++;
  if (rewriter.working_ms > PATIENCE_MS) stop();
  announce("");
  for (const card of shown.values()) card.stale();
  look.soon(pause_ms / 8);
  draw.soon(pause_ms);
}

function stop(): void {
  rewriter.stop().catch(() => problem("The worker could not be started again. Load the page again."));
}

async function copy(mode: ModeName, full: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(full);
    if (mode === "names") await rewriter.ask({ ask: "keep" });
    announce("Copied.");
  } catch {
    problem("The browser did not allow copying. Select the text and copy it.");
  }
}

/** Takes a text in place of what is in the field. */
function take(value: string): void {
  long = value.length > LONG ? value : undefined;
  text.value = long === undefined ? value : value.slice(0, 1_000);
  text.readOnly = long !== undefined;
  hint.textContent =
    long === undefined
      ? short
      : `A text of ${value.length.toLocaleString("en")} characters; only its beginning is displayed. Clear it to write another.`;
  changed(0);
}

function listen(): void {
  the("restored").tabIndex = 0; // so that it scrolls with the keys
  text.addEventListener("input", () => changed(400));
  text.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.length <= LONG || text.readOnly) return;
    event.preventDefault();
    take(text.value.slice(0, text.selectionStart) + pasted + text.value.slice(text.selectionEnd));
  });
  for (const field of [deny, known, patterns]) field.addEventListener("input", () => changed(400));
  for (const select of [style, facts, epsilon]) select.addEventListener("change", () => changed(0));
  the("sample").addEventListener("click", () => take(SAMPLE));
  the("clear").addEventListener("click", () => {
    take("");
    text.focus();
  });
  again.addEventListener("click", () => {
    changed(0);
    announce("Sampled again in every mode.");
  });
  the("stop").addEventListener("click", () => {
    stop();
    announce("Stopped.");
  });
  language.addEventListener("change", () => {
    attempt(async () => {
      const chosen = language.selectedIndex;
      const opened = await rewriter.choose(chosen);
      if (chosen !== language.selectedIndex) return;
      names = "";
      example.disabled = true;
      show(opened);
      changed(0);
    });
  });
  reply.addEventListener("input", () => restore.soon(150));
  example.addEventListener("click", () => {
    reply.value = `You wrote: ${names}`;
    restore.now();
  });
}

/** Shows the modes and values of the bundle that is open. */
function show(opened: Open): void {
  for (const [mode, card] of shown) {
    card.clear();
    card.unmark();
    card.element.hidden = !opened.modes.includes(mode);
  }
  epsilon.replaceChildren(
    ...opened.epsilons.map((label) => new Option(label, label, label === opened.epsilon, label === opened.epsilon)),
  );
  epsilon.disabled = opened.epsilons.length === 0;
  facts.value = opened.facts;
  const { name } = BUNDLES[language.selectedIndex] ?? { name: "" };
  the("bundle").textContent = `Bundle ${name.replace(/-[0-9a-f]+\.zip$/, "")}, ${opened.identity}`;
}

async function start(): Promise<void> {
  the("form").addEventListener("submit", (event) => event.preventDefault()); // Enter in a field; the policy forbids it too
  if (text.value === "") text.value = SAMPLE;
  const [{ kept }, files] = await Promise.all([keep(), load()]);
  lock(); // before the worker that rewrites is made, which has the policies of this moment
  const inEnglish = new Intl.DisplayNames("en", { type: "language" });
  language.replaceChildren(...BUNDLES.map(({ language: tag }) => new Option(inEnglish.of(tag) ?? tag, tag)));
  the("language-option").hidden = BUNDLES.length === 1;
  const identities = BUNDLES.map(({ identity }) => identity);
  rewriter = new Rewriter(files.code, files.bundles, identities);
  const opened = await rewriter.open().catch(async (error) => {
    // What cannot be opened is not kept: the next load asks for it anew. Else what keeps the page could still put it back.
    await kept;
    const cache = await self.caches?.open(CACHE).catch(() => undefined);
    for (const name of [...BUNDLES.map(({ name }) => name), "sanitize.js"])
      await cache?.delete(name).catch(() => false);
    throw error;
  });
  show(opened);
  const offline = (await kept) && files.kept;
  listen();
  again.disabled = false;
  changed(0);
  if (offline) state("offline", "Ready. It sends nothing, and works without a network from now on.");
  else
    state("online", "Ready. It sends nothing. The browser did not keep the page, so loading it again needs a network.");
}

start().catch((error) => {
  state("failed", "Not ready.");
  const known = error instanceof LoadFailed || error instanceof Refused;
  problem(known ? error.message : "This page could not start. Load it again.");
});
