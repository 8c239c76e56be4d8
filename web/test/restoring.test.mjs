/** Originals come into running text alone: the replies that Python is tried on, each option, and streams however cut. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Sanitizer } from "../dist/textveil.js";
import { english } from "./files.mjs";

const sanitizer = await Sanitizer.load(english);
const originals = { Gomez: "Novak", "[person 1]": "Hale" };
const hidden = sanitizer.readMapping(JSON.stringify({ format: "textveil-mapping", format_version: 1, originals }));
const file = new URL("../../tests/runtime/text/restoring_attacks.jsonl", import.meta.url);
const replies = readFileSync(file, "utf8").trimEnd().split("\n").map(JSON.parse);
const putIn = ({ reply }, word = "Gomez") => reply.replaceAll("SURROGATE", word);
const full = (reply) => putIn(reply, "Novak").replaceAll("[person 1]", "Hale");

/** What a stream makes of a reply that comes in parts. */
function streamed(deltas, options) {
  const stream = hidden.openStream(options);
  const text = deltas.map((delta) => stream.feed(delta)).join("") + stream.close();
  return { text, report: stream.report };
}

test("an original comes only into running text, as in Python", () => {
  assert.ok(replies.length > 400);
  for (const reply of replies) {
    const { text, report } = hidden.restore(putIn(reply));
    const { skipped } = report;
    const reasons = skipped.filter(({ written }) => written === "Gomez").map(({ reason }) => reason);
    if (reply.restored) {
      assert.equal(text, full(reply));
      assert.deepEqual(skipped, []);
    } else {
      assert.ok(!text.includes("Novak"), putIn(reply));
      assert.deepEqual([...new Set(reasons)], [reply.reason], putIn(reply));
    }
    assert.equal(`${hidden.restore(putIn(reply))}`, text);
    assert.equal(`${hidden.restore(putIn(reply), { restorePlaces: "all" })}`, full(reply)); // so the test sees originals
  }
});

test("no cut of a stream changes what is restored", () => {
  for (const reply of replies) {
    const after = reply.reason === "active"; // nothing is restored from there on; the words before are out
    const text = after ? `${putIn(reply, "x")} Gomez` : putIn(reply);
    const whole = { ...hidden.restore(text) };
    for (const length of [1, 2, 3, 5]) {
      const deltas = text.match(new RegExp(`.{1,${length}}`, "gs")) ?? [];
      assert.deepEqual(streamed(deltas), whole);
    }
  }
});

const PIECES =
  '``` ~~~ ` $ $$ \\( \\href{ } {" " [ ]( ) ]: [x]: <b> </b> <img| <% %> <https://ok.example/ https://ok.example/ > ~ ~~ >| -| | | | | \\n a Gomez Gomez Gomez| [person|1] . : ( \' 5 * @ & ; # / **Gomez** 5, \\def < \\'
    .split(" ")
    .map((piece) => piece.replaceAll("|", " "))
    .concat(
      "\n",
      "\n",
      "\n\n",
      "\r",
      "\r\n",
      "\ufeff",
      "![",
      "}",
      "//",
      "\u200b",
      "\u00a0",
      "\u{1f600}",
      "\u{20000}",
      "\ud800",
      "x".repeat(1030),
      "|",
      "é",
    );
const DIRECTIVES =
  "&lt; &gt; &lt;b&gt; %3C =3 c [img] [/img] [url= //|x ..| __| :x:| image: image:: #+ ! BEGIN:VCARD\n END:VCARD\n #+begin_x\n #+end_x\n \n| \uff1c"
    .split(" ")
    .map((piece) => piece.replaceAll("|", " "));
const WITH_DIRECTIVES = [...PIECES, ...DIRECTIVES];
const OPTIONS = [
  {},
  { restorePlaces: "all" },
  { restorePlaces: ["code"] },
  { restorePlaces: ["json", "math"] },
  { restorePlaces: new Set(["code", "json", "math"]), restoreHosts: ["ok.example"] },
  { restoreHosts: ["ok.example"] },
];

test("no cut of any reply changes what is restored, skipped or left", () => {
  let state = 7;
  const next = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let restored = 0;
  for (let round = 0; round < 4000; round++) {
    const pieces = round % 12 < OPTIONS.length ? PIECES : WITH_DIRECTIVES;
    const text = Array.from({ length: 1 + next(18) }, () => pieces[next(pieces.length)]).join("");
    const options = OPTIONS[round % OPTIONS.length];
    const whole = { ...hidden.restore(text, options) };
    const cuts = [0, ...Array.from({ length: next(20) }, () => next(120)).sort((a, b) => a - b), text.length];
    const parts = cuts.slice(1).map((cut, place) => text.slice(cuts[place], cut));
    assert.equal(cuts.at(-2) <= text.length ? parts.join("") : text, text);
    for (const deltas of [[...text], text.split(""), [text, ""], cuts.at(-2) <= text.length ? parts : [text]]) {
      assert.deepEqual(streamed(deltas, options), whole, JSON.stringify([text, options]));
    }
    assert.equal(whole.text.replaceAll("Novak", "Gomez").replaceAll("Hale", "[person 1]"), text);
    restored += whole.report.restored.length;
  }
  assert.ok(restored > 500);
});

test("each option opens its places alone", () => {
  for (const [options, reply, expected] of [
    [{ restorePlaces: ["code"] }, "`Gomez` ![x](https://e/?Gomez)", "`Novak` ![x](https://e/?Gomez)"],
    [{ restorePlaces: ["math"] }, "$x_{Gomez}$ \\href{ Gomez } `Gomez`", "$x_{Novak}$ \\href{ Gomez } `Gomez`"],
    [{ restorePlaces: ["math"] }, "$\\def\\a#1;{\\url{#1}}\\a Gomez ;$", "$\\def\\a#1;{\\url{#1}}\\a Gomez ;$"],
    [{ restorePlaces: ["json"] }, '{"a": "Hi,\\nGomez k=Gomez"} `Gomez`', '{"a": "Hi,\\nNovak k=Gomez"} `Gomez`'],
    [{ restorePlaces: ["code"] }, "```js\nGomez\n```", "```js\nNovak\n```"],
    ...["mermaid", " {.Mermaid}", "merm&#97;id", "svg", `${" ".repeat(80)}dot`].map((info) => [
      { restorePlaces: ["code"] },
      `\`\`\`${info}\nclick A "https://e.example/? Gomez "\n\`\`\``,
      `\`\`\`${info}\nclick A "https://e.example/? Gomez "\n\`\`\``,
    ]),
    [{ restorePlaces: ["code"] }, "~~~ <img src='//e/?\nGomez '>", "~~~ <img src='//e/?\nGomez '>"],
    ...["$$\\let\\text\\href$$", "$\\renewcommand{\\text}[1]{\\href{//e/?#1}{x}}$"].map((definition) => [
      { restorePlaces: ["math"] },
      `${definition} $\\text{ Gomez }$`,
      `${definition} $\\text{ Gomez }$`,
    ]),
    [{ restorePlaces: "all" }, "![x](https://e/?Gomez) <script>", "![x](https://e/?Novak) <script>"],
    [{ restoreHosts: ["OK.example"] }, "[x](https://ok.example/?q=Gomez)", "[x](https://ok.example/?q=Novak)"],
    [{ restoreHosts: ["ok.example"] }, "(https://ok.example/Gomez).", "(https://ok.example/Novak)."],
    [{ restoreHosts: ["ok.example"] }, "https://ok.example:80/Gomez", "https://ok.example:80/Gomez"],
    [{ restoreHosts: ["ok.example"] }, "https://ok.example@e.example/Gomez", "https://ok.example@e.example/Gomez"],
  ]) {
    assert.equal(hidden.restore(reply, options).text, expected);
    assert.ok(!hidden.restore(reply).text.includes("Novak"));
  }
});

test("a report has what was restored, and why the rest stayed", () => {
  const { report } = hidden.restore("Gomez `Gomez` k=Gomez gomez <img src=Gomez>");
  assert.deepEqual(report.restored, ["Gomez"]);
  assert.deepEqual(report.notRestoredWords, ["gomez"]);
  assert.deepEqual(
    report.skipped,
    ["code", "chunk", "markup"].map((reason) => ({ written: "Gomez", reason })),
  );
  const result = sanitizer.sanitize("Anna met Bob.", { protect: "names" });
  const inCode = `\`${result.text}\``;
  assert.equal(result.restore(inCode).text, inCode);
  assert.equal(result.restore(inCode, { restorePlaces: ["code"] }).text, "`Anna met Bob.`");
});

test("an original that is an address takes in no other", () => {
  const address = "https://evil.example/?q";
  const originals = { Gomez: address, Anna: "Novak" };
  const mapping = sanitizer.readMapping(JSON.stringify({ format: "textveil-mapping", format_version: 1, originals }));
  for (const [reply, expected] of [
    ["Gomez,Anna", `${address},Anna`],
    ["Anna,Gomez", `Anna,${address}`],
    ["Gomez,Gomez Anna", `${address},Gomez Novak`],
    ["Anna,Anna", "Novak,Novak"],
    ["Gomez, Anna", `${address}, Novak`],
  ]) {
    assert.equal(mapping.restore(reply).text, expected);
  }
});

test("an original with control characters leaves JSON valid", () => {
  for (const original of ["Anna\nNovak", "C:\\Anna\tNovak", "Anna\u0007"]) {
    const content = { format: "textveil-mapping", format_version: 1, originals: { "Karl Gomez": original } };
    const mapping = sanitizer.readMapping(JSON.stringify(content));
    for (const restorePlaces of [["json"], "all"]) {
      assert.deepEqual(JSON.parse(mapping.restore('{"a": "Karl Gomez"}', { restorePlaces }).text), { a: original });
    }
    assert.equal(mapping.restore("Dear Karl Gomez").text, `Dear ${original}`);
  }
});

test("options of restoring are checked", () => {
  const places = "restorePlaces must be a collection of code, json, math, all";
  const hosts = "restoreHosts must be a collection of host names, such as docs.example.com";
  for (const [options, message] of [
    [{ restorePlaces: ["links"] }, places],
    [{ restorePlaces: "code" }, places],
    [{ restorePlaces: [5] }, places],
    [{ restorePlaces: 5 }, places],
    ...["ok.example", ["https://ok.example"], ["ok.example/"], ["*.example"], [""], [null], ["a@b"]].map((value) => [
      { restoreHosts: value },
      hosts,
    ]),
    ["code", "unknown option: choose among restorePlaces, restoreHosts"],
    [{ places: ["code"] }, "unknown option: did you mean restorePlaces?"],
  ]) {
    for (const ask of [() => hidden.restore("Gomez", options), () => hidden.openStream(options)]) {
      assert.throws(ask, { name: "OptionError", code: "option", message });
    }
  }
  assert.throws(() => hidden.openStream().feed(5), { code: "input" });
});

test("a stream holds back no more than a chunk", () => {
  const stream = hidden.openStream();
  const reply = `Gomez ${"x".repeat(5000)} Gomez${",a".repeat(3000)} Gomez:/${"b".repeat(900)}`;
  let [read, out] = [0, 0];
  for (const character of reply) {
    out += stream.feed(character).length;
    assert.ok(++read - out <= 1024 + "[person 1]".length + 6);
  }
});

test("a restored reply acts as its text, is refused by JSON, and reports numbers of neither side", () => {
  const restored = hidden.restore("Dear Gomez");
  assert.equal(`${restored}`, "Dear Novak");
  assert.throws(() => JSON.stringify({ restored }), { name: "RestoredNotJson", code: "restored-not-json" });
  assert.deepEqual(JSON.parse(JSON.stringify(restored.toObject())), {
    text: "Dear Novak",
    restored: ["Gomez"],
    not_restored: [],
    unknown_numbers: [],
    unknown_tags: [],
  });
  const content = { format: "textveil-mapping", format_version: 1, originals: { 57: "12" } };
  const numbers = sanitizer.readMapping(JSON.stringify(content));
  assert.deepEqual(numbers.restore("57 and 60, of 8", {}, "57 of 8").report.unknownNumbers, ["60"]);
  const originals = { "[number 1]": "12", "[number 2]": "30", "[person 1]": "Vos" };
  const tags = sanitizer.readMapping(JSON.stringify({ ...content, originals }));
  const reply = "The sum of [number 1] and [number 2] is 5023, not 8 or 2. See [person 77] and [an aside 4].";
  const sent = "[number 1] and [number 2] of 8";
  assert.deepEqual(tags.restore(reply, {}, sent).report.unknownNumbers, ["5023", "2", "4"]);
  const stream = tags.openStream({}, sent);
  for (const character of reply) stream.feed(character);
  stream.close();
  assert.deepEqual(stream.report.unknownNumbers, ["5023", "2", "4"]);
  assert.deepEqual(stream.report.unknownTags, ["[person 77]"]);
  assert.deepEqual(tags.restore("[Person 1] [Person 99] [city 1 [x 2]").report.unknownTags, ["[Person 99]", "[x 2]"]);
  assert.deepEqual(numbers.restore("[figure 3]").report.unknownTags, []);
});

test("all control characters are treated alike, and come back", () => {
  const replies = [
    "Gomez\f",
    "\fGomez",
    "Go\fmez",
    "\f Gomez \f",
    "[\f](Gomez)",
    "<\fi Gomez>",
    "[x]:\f Gomez",
    "`\f` Gomez",
  ];
  const restoreWith = (reply, control) =>
    hidden.restore(reply.replaceAll("\f", control)).text.replaceAll(control, "\f");
  for (const reply of replies) {
    const expected = restoreWith(reply, "\x01");
    assert.equal(expected.replaceAll("Novak", "Gomez"), reply);
    for (const control of ["\x02", "\x03", "\0", "\x7f"]) assert.equal(restoreWith(reply, control), expected);
  }
});

test("a saved mapping restores as the one in memory, whole and streamed", () => {
  const content = {
    format: "textveil-mapping",
    format_version: 1,
    originals: { Gomez: "Novak", 1200: "6", "1,200": "5", clinic: "Zorblax", Straße: "acme", STRASSE: "ACME" },
    ambiguous: ["clinics", "dirty"],
  };
  const reply = "Gomez dirty clinics clinic 1200.00 1,200 Strasse";
  const mapping = sanitizer.readMapping(JSON.stringify(content));
  const again = sanitizer.readMapping(mapping.toJsonText());
  assert.deepEqual([again.size, again.ambiguousCount, again.toJsonText()], [6, 2, mapping.toJsonText()]);
  const stream = again.openStream();
  const streamed = [...reply].map((character) => stream.feed(character)).join("") + stream.close();
  for (const restored of [mapping.restore(reply), again.restore(reply), { text: streamed, report: stream.report }]) {
    assert.equal(restored.text, "Novak dirty clinics zorblax 1200.00 5 acme");
    assert.deepEqual(restored.report.ambiguous, ["dirty", "clinics", "1200.00"]);
  }
  for (const ambiguous of [{}, [5], null]) {
    assert.throws(() => sanitizer.readMapping(JSON.stringify({ ...content, ambiguous })), { code: "input" });
  }
});

test("a short surrogate is restored where a reply quotes it", () => {
  const quoted = [["7", "3", true, "\na pump of ", "v and a lamp.\n"]];
  const content = {
    format: "textveil-mapping",
    format_version: 1,
    originals: {},
    in_context: [["7", "3", 0, ""]],
    quoted,
  };
  const mapping = sanitizer.readMapping(JSON.stringify(content));
  assert.equal(mapping.restore("A pump of 7V and a lamp.").text, "A pump of 3V and a lamp.");
  const { text, report } = mapping.restore("Step 7");
  assert.deepEqual([text, report.notRestoredWords], ["Step 7", ["7"]]);
});

/** How many characters strings and patterns copy and search while `work` runs. */
function countWork(work) {
  const [slice, indexOf, exec] = [String.prototype.slice, String.prototype.indexOf, RegExp.prototype.exec];
  let count = 0;
  try {
    String.prototype.slice = function (...places) {
      const part = slice.apply(this, places);
      count += part.length;
      return part;
    };
    String.prototype.indexOf = function (searched, start = 0) {
      const found = indexOf.call(this, searched, start);
      count += (found < 0 ? this.length : found + 1) - start;
      return found;
    };
    RegExp.prototype.exec = function (text) {
      const start = this.global ? this.lastIndex : 0;
      const match = exec.call(this, text);
      count += (match === null ? text.length : match.index + match[0].length) - start;
      return match;
    };
    work();
  } finally {
    String.prototype.slice = slice;
    String.prototype.indexOf = indexOf;
    RegExp.prototype.exec = exec;
  }
  return count;
}

test("quoted addresses take linear time", () => {
  for (const unit of ['"//" ', "'//' ", '"//', "\"//'//", "\"www.a' "]) {
    const [short, long] = [1_000, 8_000].map((times) => countWork(() => hidden.restore(unit.repeat(times))));
    assert.ok(short > 0 && long <= 10 * short, `${unit}: ${short} and ${long}`);
  }
});
