// Rewrites a message before it is sent. If that fails nothing is sent, and never the message itself.
import { DEFAULT_BUNDLE_ID, Sanitizer, TextveilError } from "textveil";

// Once, while the user writes. Another bundle is refused.
const loading = Sanitizer.load(new URL("english-v4.zip", import.meta.url), { expectId: DEFAULT_BUNDLE_ID });
const show = (id, text) => {
  document.getElementById(id).textContent = text;
};

document.getElementById("ticket").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const sanitizer = await loading;
    const result = sanitizer.sanitize(document.getElementById("message").value, { protect: "names" });
    show("sent", result.text);
    show("said", result.statement.formatLine());
    const response = await fetch("tickets", { method: "POST", body: JSON.stringify({ text: result.text }) });
    const { reply } = await response.json();
    show("reply", result.restore(reply)); // the server never saw the names in it
  } catch (error) {
    show("said", error instanceof TextveilError ? `Not sent. ${error.name}: ${error.message}` : "Sending failed.");
  }
});
