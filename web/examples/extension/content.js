// Offers to replace names when a form with a text in it is sent, or with Alt+Shift+N in a field. It reads a field then, and at no other time.

/** The form that is being sent, and the very texts that the user let go. */
let approved;
let open = false;

/** Fields of several lines: those of one line are for searching, for signing in, and for an address that is meant. */
const FIELDS = "textarea, [contenteditable=''], [contenteditable=true i], [contenteditable=plaintext-only i]";

// innerText has the lines of what is edited, and textContent none.
const readable = (field) => ("value" in field ? field.value : field.innerText);
/** The texts of fields, to be compared. */
const written = (fields) => JSON.stringify(fields.map(readable));

/** Writes into a field so that the scripts of the page notice. */
function write(field, text) {
  if ("value" in field) Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
  else field.innerText = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** Asks the worker of the extension; an answer is `{ texts, line, replaced }` or `{ error }`. */
async function ask(texts) {
  try {
    return await chrome.runtime.sendMessage({ texts });
  } catch {
    return { error: "The extension does not answer. Nothing was sent." };
  }
}

const STYLE = `
  dialog { box-sizing: border-box; width: min(40rem, calc(100vw - 2rem)); border: 1px solid #7d8785; border-radius: 12px; padding: 1.2rem;
    font: 16px/1.5 system-ui, sans-serif; color: #1c2423; background: #fff; }
  dialog::backdrop { background: #0008; }
  h2 { margin: 0 0 .5rem; font-size: 1.1rem; }
  pre { max-height: 40vh; overflow: auto; margin: 0 0 .75rem; padding: .75rem; border: 1px solid #dcdfdb; border-radius: 8px; white-space: pre-wrap;
    overflow-wrap: anywhere; font: inherit; }
  p { margin: 0 0 .75rem; font-size: .9rem; color: #56615f; }
  .buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
  button { min-height: 2.5rem; padding: 0 .9rem; border: 1px solid #7d8785; border-radius: 8px; font: inherit; color: inherit; background: none; cursor: pointer; }
  button.main { border-color: #0f5f59; background: #0f5f59; color: #fff; font-weight: 600; }
  :focus-visible { outline: 3px solid #0f5f59; outline-offset: 2px; }
  @media (prefers-color-scheme: dark) {
    dialog { color: #e6ebe9; background: #1a2120; } p { color: #a3afac; } pre { border-color: #303a38; }
    button.main { border-color: #6cc9bd; background: #6cc9bd; color: #06201d; } :focus-visible { outline-color: #6cc9bd; }
  }`;

/** Shows what would leave and returns the user's choice: `"replace"`, `"again"`, `"send"` or `"back"`. The page cannot look into it. */
function offer(answer, sends) {
  const host = document.createElement("names-stay-here");
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const element = (tag, text, parent) =>
    parent.appendChild(Object.assign(document.createElement(tag), { textContent: text }));
  const dialog = element("dialog", "", root);
  dialog.setAttribute("aria-labelledby", "title");
  const failed = "error" in answer;
  element("h2", failed ? "The names were not replaced" : "Replace names before this is sent?", dialog).id = "title";
  for (const text of failed ? [] : answer.texts) element("pre", text, dialog).tabIndex = 0;
  element("p", failed ? answer.error : answer.line, dialog);
  const buttons = element("div", "", dialog);
  buttons.className = "buttons";
  const asIs = sends ? [["send", "Send as it is"]] : [];
  // The first one has the focus: Enter never sends names.
  const choices = failed
    ? [["back", "Back"], ...asIs]
    : [["replace", sends ? "Replace and send" : "Replace"], ["again", "Sample again"], ...asIs, ["back", "Back"]];
  document.documentElement.append(host);
  return new Promise((resolve) => {
    for (const [value, label] of choices) {
      const button = element("button", label, buttons);
      if (value === choices[0][0]) Object.assign(button, { className: "main", autofocus: true });
      button.addEventListener("click", () => dialog.close(value));
    }
    dialog.addEventListener("close", () => {
      host.remove();
      resolve(dialog.returnValue || "back");
    });
    dialog.showModal();
  });
}

/** Offers until the user chose; writes what was chosen into the fields. */
async function settle(fields, sends) {
  if (open) return "back";
  open = true;
  try {
    for (;;) {
      const before = written(fields);
      const answer = await ask(fields.map(readable));
      const choice = answer.replaced === 0 ? "send" : await offer(answer, sends); // nothing to replace: no offer
      if (choice !== "back" && written(fields) !== before) continue; // what was answered is not what is there now
      if (choice === "replace") for (const [index, field] of fields.entries()) write(field, answer.texts[index]);
      if (choice !== "again") return choice;
    }
  } finally {
    open = false;
  }
}

addEventListener(
  "submit",
  async (event) => {
    const form = event.target;
    const fields = [...document.querySelectorAll(FIELDS)].filter(
      (field) => (field.form === form || Node.prototype.contains.call(form, field)) && readable(field).trim() !== "",
    );
    if (fields.length === 0 || (approved?.form === form && approved.texts === written(fields))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { submitter } = event;
    if ((await settle(fields, true)) === "back") return;
    approved = { form, texts: written(fields) };
    try {
      HTMLFormElement.prototype.requestSubmit.call(form, submitter); // a field may be called requestSubmit
    } finally {
      approved = undefined; // the page may have refused it: what is sent later is offered anew
    }
  },
  true,
);

addEventListener(
  "keydown",
  (event) => {
    const field = event.target instanceof Element ? event.target.closest(FIELDS) : null;
    if (field === null || !event.altKey || !event.shiftKey || event.code !== "KeyN" || readable(field).trim() === "")
      return;
    event.preventDefault();
    settle([field], false);
  },
  true,
);
