/** What is asked of the classes that applications use: options, errors without the text, randomness, odd texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sanitizer, TextLabelEncoder } from "../dist/textveil.js";
import { english, golden } from "./files.mjs";

const SECRET = "Zorblaxia Quuxington";
const sanitizer = await Sanitizer.load(english);
const text = `Dear ${SECRET}, the doctor saw 17 [city 1] in Boston.`;
const refusedAs = (code) => (error) => {
  assert.equal(error.code, code, error.stack);
  assert.ok(!/Zorb|Quux/i.test(`${error}${JSON.stringify(error)}`) && !error.message.includes("\n"));
  return true;
};

test("all modes sanitize, each with a statement that adds up", () => {
  assert.deepEqual(sanitizer.modes, ["names", "words", "all"]);
  for (const protect of sanitizer.modes) {
    const { text: out, statement } = sanitizer.sanitize(text, { protect });
    assert.ok(!out.includes("Zorblaxia"));
    assert.equal(statement.toJSON().protect, protect);
    assert.equal(statement.bundleHash, sanitizer.bundleHash);
    assert.ok(`${statement}`.includes("Not protected:"));
  }
  const { tokens } = sanitizer.sanitize(text, { protect: "words", epsilon: 4 }).statement;
  assert.equal(
    tokens,
    sanitizer.preview(text, { protect: "words" }).filter(([, what]) => /randomized|unknown/.test(what)).length,
  );
});

test("a preview reads letters that the engine does not have by the classes of the bundle", () => {
  // A letter by the bundle's classes, in a range without assigned characters.
  const options = { protect: "names", facts: "none", keep: ["url"] };
  const word = "\u{3fa1f}\u3586";
  const pieces = sanitizer.preview(`http://x.y/(z)${word}`, options);
  assert.deepEqual(pieces.slice(-3), [
    ["z", "kept"],
    [")", "gap"],
    [word, "kept"],
  ]);
});

test("no denied word is kept as a part of a string", () => {
  const keepText = (deny) =>
    sanitizer
      .preview("see docs.github.com, dev_report; N/A", { protect: "names", facts: "public", deny })
      .map(([text, state]) => (state === "kept" || state === "gap" ? text : "#"))
      .join("");
  for (const word of ["docs", "dev", "N/A"]) {
    assert.ok(keepText([]).includes(word), word);
    assert.ok(!keepText([word]).includes(word), word);
  }
});

test("an explained preview has the position and the reason of each piece", () => {
  const asked = "😀 Call Anna Novak, Müllhuber about Kubernetes in 12 pages.";
  const options = { protect: "names", facts: "useful", deny: ["pages"] };
  const pieces = sanitizer.preview(asked, { ...options, explain: true });
  assert.equal(pieces.map((piece) => piece.text).join(""), asked);
  for (const { text, start, end } of pieces) assert.equal(asked.slice(start, end), text);
  assert.deepEqual(
    pieces.map(({ text, state }) => [text, state]),
    sanitizer.preview(asked, { ...options, explain: false }),
  );
  const reasons = Object.fromEntries(pieces.map(({ text, reason }) => [text, reason]));
  assert.equal(reasons["Anna Novak"], "list: given, family");
  assert.equal(reasons.Kubernetes, "facts: capital");
  assert.deepEqual([reasons.about, reasons.pages, reasons[" "]], ["function-word", "deny", ""]);
  const plain = sanitizer.preview("Anna saw the doctor.", { protect: "words", explain: true });
  assert.deepEqual(
    plain.filter(({ reason }) => reason !== "").map(({ text, reason }) => [text, reason]),
    [["the", "function-word"]],
  );
  assert.throws(() => sanitizer.preview(SECRET, { explain: SECRET }), refusedAs("option"));
  assert.throws(() => sanitizer.sanitize(SECRET, { explain: true }), refusedAs("option"));
});

test("a reply gets its words back, after consistent draws alone", () => {
  const names = sanitizer.sanitize("Anna Novak met Bob Novak in Boston.", { protect: "names" });
  assert.equal(names.restore(names.text).text, "Anna Novak met Bob Novak in Boston.");
  const tagged = sanitizer.sanitize("Anna wrote [city 1].", { protect: "names", style: "tag", keep: ["number"] });
  assert.equal(tagged.text, "[person 1] wrote [ city 1].");
  assert.equal(`${tagged.restore("Thanks, [person 1]! [person 2]")}`, "Thanks, Anna! [person 2]");
  const kept = sanitizer.readMapping(tagged.mapping.toJsonText());
  assert.equal(`${kept.restore("[person 1]")}`, "Anna");
  assert.throws(() => sanitizer.sanitize(text, { protect: "words" }).restore(SECRET), refusedAs("option"));
  assert.throws(() => names.restore(5), refusedAs("input"));
  for (const content of ["", "{}", `{"format":"textveil-mapping","format_version":2,"originals":{"${SECRET}":"a"}}`]) {
    assert.throws(() => sanitizer.readMapping(content), refusedAs("input"));
  }
});

test("what is logged of a result has no original", () => {
  const result = sanitizer.sanitize(text, { protect: "names" });
  const shown = `${JSON.stringify(result)}${result.mapping}${JSON.stringify(result.mapping)}${JSON.stringify({ ...result })}`;
  assert.ok(!/Zorblaxia/i.test(shown));
  assert.throws(() => structuredClone(result).restore(""), TypeError);
});

test("options that are none of a mode, or have no such value, are refused without a word of the text", async () => {
  const bad = [
    { protect: SECRET },
    { fluent: true },
    { level: "10" },
    { mechanism: "staircase" },
    { epsilon: true },
    { epsilon: [] },
    { protect: "words", epsilon: SECRET },
    { protect: "names", epsilon: 10 },
    { protect: "names", sanitizePunctuation: true },
    { epsilon: 10 },
    { sanitizePunctuation: true },
    { protect: "words", style: "tag" },
    { protect: "words", facts: "plain" },
    { protect: "words", facts: "none" },
    { protect: "names", facts: SECRET },
    { protect: "names", facts: 1 },
    { protect: "words", allow: [SECRET] },
    { protect: "words", keep: ["city"] },
    { protect: "names", style: SECRET },
    { protect: "names", keep: [SECRET] },
    { protect: "names", keep: "city" },
    { protect: "names", keep: ["city"], drop: ["city"] },
    { case: SECRET },
    { consistent: "yes" },
    { consistent: 1 },
    { deny: SECRET },
    { deny: [5] },
    { deny: 5 },
    { protect: "words", consistentCap: 5 },
    { split: true, consistent: true },
    { protect: "words", consistent: true, consistentCap: 0 },
    { protect: "words", consistent: true, consistentCap: 1.5 },
    { protect: "names", consistentCap: -1 },
    null,
    5,
  ];
  for (const options of bad)
    assert.throws(() => sanitizer.sanitize(text, options), refusedAs("option"), JSON.stringify(options));
  for (const tokens of [SECRET, -1, 0.5, Number.NaN, null, {}]) {
    for (const protect of sanitizer.modes) {
      assert.throws(() => sanitizer.statement({ protect }, tokens), refusedAs("option"), `${tokens}`);
    }
  }
  const encoder = await TextLabelEncoder.load(`${golden}index`);
  for (const options of [null, 5, SECRET, { epsilon: [] }, { epsilon: Object.create(null) }, { asText: 1 }]) {
    assert.throws(() => encoder.encode(text, options), refusedAs("option"));
  }
  const protect = "words";
  assert.throws(() => sanitizer.sanitize(text, { protect, epsilon: 5 }), refusedAs("unknown-epsilon"));
  for (const epsilon of [10, "10", "10.0", "1e1", undefined]) sanitizer.sanitize(text, { protect, epsilon });
  const oneWord = { protect, consistent: true, consistentCap: 1 };
  assert.throws(() => sanitizer.sanitize(text, oneWord), refusedAs("document-too-long"));
  sanitizer.sanitize(text, { protect, consistent: true, consistentCap: 100 });
});

test("without a mode, common words and the facts of plain are kept", () => {
  const sent = sanitizer.sanitize("Please send Zorblaxia Novak 3 kg of aspirin.");
  assert.match(sent.text, /^Please send .* 3 kg of aspirin\.$/);
  assert.ok(!/Zorblaxia|Novak/.test(sent.text));
  const { protect, facts, style } = sent.statement.toJSON();
  assert.deepEqual([protect, facts, style], ["names", "plain", "surrogate"]);
});

test("inputs that are no text are refused", async () => {
  const encoder = await TextLabelEncoder.load(`${golden}index`);
  for (const input of [undefined, null, 5, [text], { text }]) {
    assert.throws(() => sanitizer.sanitize(input), refusedAs("input"));
    assert.throws(() => sanitizer.preview(input), refusedAs("input"));
  }
  for (const input of [undefined, null, 5, text, [5], [[5]], [undefined]]) {
    assert.throws(() => sanitizer.sanitizeDocuments(input), refusedAs("input"));
    assert.throws(() => encoder.encodeBatch(input), refusedAs("input"));
  }
  assert.throws(() => sanitizer.sanitizeBatch(text), refusedAs("input"));
  assert.throws(() => sanitizer.sanitizeBatch(5), refusedAs("input"));
  assert.throws(() => sanitizer.sanitizeBatch([text, 5]), refusedAs("input"));
  assert.throws(() => sanitizer.sanitizeDocuments([text]), refusedAs("input"));
  assert.deepEqual(sanitizer.sanitizeBatch([]), []);
});

test("nothing is released without the platform's random bytes, and Math.random is never asked", async (t) => {
  t.mock.method(Math, "random", () => assert.fail("Math.random was asked"));
  const encoder = await TextLabelEncoder.load(`${golden}index`);
  const calls = [
    () => sanitizer.sanitize(text, { protect: "words" }),
    () => sanitizer.sanitize(text, { protect: "names" }),
    () => encoder.encode(text),
  ];
  for (const call of calls) call();
  const real = globalThis.crypto;
  const failing = [
    undefined,
    {},
    {
      getRandomValues: () => {
        throw new Error(SECRET);
      },
    },
    { getRandomValues: () => new Uint8Array(8) },
    { getRandomValues: (array) => array },
    { getRandomValues: (array) => new Uint8Array(array.buffer).fill(255) && array },
  ];
  for (const crypto of failing) {
    Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true });
    try {
      // An index may be drawn from ones alone: they are less than its total.
      const asked = crypto === failing.at(-1) ? calls.slice(0, 2) : calls;
      for (const call of asked) assert.throws(call, refusedAs("entropy"));
    } finally {
      Object.defineProperty(globalThis, "crypto", { value: real, configurable: true });
    }
  }
  let left = 1;
  const once = (array) => (left-- > 0 ? real.getRandomValues(array) : assert.fail(SECRET));
  t.mock.method(real, "getRandomValues", once);
  assert.throws(calls[0], refusedAs("entropy"));
  assert.equal(left, -1, "some draws came before the one that failed");
});

test("texts with lone surrogates, NUL and odd characters, and empty ones", () => {
  const odd = [
    "",
    " ",
    "\0",
    "\ud800",
    "\udfff\ud800 Anna",
    "a\u0000b",
    "\u2028\u2029",
    "\ufeff",
    "👩‍🚀🇩🇪",
    "(".repeat(2000),
    "1(".repeat(2000),
  ];
  for (const protect of sanitizer.modes) {
    for (const consistent of [true, false]) {
      for (const [place, { text: out }] of sanitizer.sanitizeBatch(odd, { protect, consistent }).entries()) {
        assert.equal(typeof out, "string");
        if (place < 2) assert.equal(out, odd[place]);
      }
    }
  }
});

test("a line of ten megabytes", () => {
  const line = "Anna Novak saw 17 good doctors in Boston, on 3 May. ".repeat(200_000);
  for (const protect of ["names", "words"]) {
    const { text: out, statement } = sanitizer.sanitize(line, { protect });
    assert.ok(out.length > 1_000_000 && statement.tokens > 100_000);
  }
  for (const solid of ["a", "1", "(", "1(", ".", "a.", "/", "é", "😀"]) {
    for (const protect of ["names", "words"]) sanitizer.sanitize(solid.repeat(100_000 / solid.length), { protect });
  }
});

test("a result warns of a text in another language, and of no other", () => {
  const german =
    "Ich wollte gestern fragen, wann der nächste Termin frei wird, weil mein Knie seit Tagen wieder schmerzt.";
  const englishText =
    "I wanted to ask when the next appointment is free, since my knee has been hurting again for days.";
  for (const facts of ["none", "plain", "useful"]) {
    const results = sanitizer.sanitizeBatch([german, englishText, "Ich rufe morgen an."], { facts });
    const warnings = results.map(({ languageWarning }) => languageWarning);
    assert.match(
      warnings[0],
      /^\d+ % of the words were replaced.*: the text may not be in the language of the bundle$/,
    );
    assert.deepEqual(warnings.slice(1), [undefined, undefined]);
    const [document] = sanitizer.sanitizeDocuments([[german, german]], { facts });
    assert.equal(document.languageWarning, warnings[0]);
  }
  assert.equal(sanitizer.sanitize(german, { protect: "words" }).languageWarning, undefined);
});
