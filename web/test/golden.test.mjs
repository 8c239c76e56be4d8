/** The golden vectors: the staircase, the mode names, and an index. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LabelBundle } from "../dist/bundle/labelBundle.js";
import { TextBundle } from "../dist/bundle/textBundle.js";
import { splitIdentifier } from "../dist/text/identifiers.js";
import { NamesPlan } from "../dist/text/names/plan.js";
import { Sanitizer } from "../dist/text/sanitizer.js";
import { TextLabelEncoder } from "../dist/vector/labelEncoder.js";
import { oneWord, words } from "./stream.mjs";

const golden = fileURLToPath(new URL("../../docs/golden/", import.meta.url));
const vectors = (name) => JSON.parse(readFileSync(`${golden}${name}.json`, "utf8"));
const stream = (label, word) => (word === undefined ? words(label) : oneWord(word));
const inCamel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const camel = (options) => Object.fromEntries(Object.entries(options).map(([name, value]) => [inCamel(name), value]));

test("the golden vectors of identifiers", () => {
  const cases = vectors("identifiers");
  for (const [identifier, words] of cases) assert.deepEqual(splitIdentifier(identifier), words, identifier);
  assert.ok(cases.length > 50);
});

test("the golden vectors of replies in other languages", async () => {
  const sanitizer = await Sanitizer.load(`${golden}names`);
  for (const { mapping, replies } of vectors("replies")) {
    const restorer = sanitizer.readMapping(JSON.stringify(mapping));
    assert.deepEqual(JSON.parse(restorer.toJsonText()), mapping);
    for (const [reply, restored] of replies) {
      assert.equal(restorer.restore(reply).text, restored, reply);
      for (const length of [1, 2, 3, 5]) {
        const stream = restorer.openStream();
        let text = "";
        for (let at = 0; at < reply.length; at += length) text += stream.feed(reply.slice(at, at + length));
        assert.equal(text + stream.close(), restored, reply);
      }
    }
  }
  const wrong = [[], { x: [] }, { elisions: ["d'"] }, { vowels: ["ae"] }, { inflections: { plural: "s" } }];
  const [{ mapping }] = vectors("replies");
  for (const replies of [...wrong, { inflections: { a: ["s"] }, word_inflections: { a: ["s"] } }, null]) {
    const content = JSON.stringify({ ...mapping, replies });
    assert.throws(() => sanitizer.readMapping(content), /not a mapping that textveil wrote/, content);
  }
});

test("the golden vectors of the staircase", async (t) => {
  const bundle = await TextBundle.load(`${golden}staircase`);
  const { texts, cases } = vectors("staircase");
  let compared = 0;
  for (const { options, random_label: label, random_word: word, random_words: count, outputs, tokens } of cases) {
    const { take, taken } = stream(label, word);
    const found = new Sanitizer(bundle, take).sanitizeBatch(texts, camel(options));
    assert.deepEqual(
      found.map((one) => one.text),
      outputs,
      JSON.stringify(options),
    );
    assert.deepEqual(
      found.map((one) => one.statement.tokens),
      tokens,
    );
    assert.equal(taken.count, count);
    compared++;
  }
  assert.ok(compared >= 10);
  t.diagnostic(`${compared} cases of ${texts.length} texts`);
});

async function checkNames(t, name, folder = name) {
  const bundle = await TextBundle.load(`${golden}${folder}`);
  const { documents, cases } = vectors(name);
  for (const expected of cases) {
    const { take, taken } = words(expected.random_label);
    const options = { ...camel(expected.options), protect: "names" };
    const found = new Sanitizer(bundle, take).sanitizeDocuments(documents, options);
    assert.deepEqual(
      found.map((one) => one.texts),
      expected.outputs,
      JSON.stringify(options),
    );
    assert.deepEqual(
      found.map((one) => one.statement.tokens),
      expected.kept_words,
    );
    assert.equal(taken.count, expected.random_words);
    const patterns = new Map(Object.entries(options.patterns ?? {}));
    const plan = new NamesPlan(bundle, { ...options, patterns });
    assert.deepEqual(
      documents.map((texts) => plan.listTemplates(texts)),
      expected.templates,
    );
    for (const one of found) assert.equal(one.statement.formatLine(), expected.line);
  }
  t.diagnostic(`${cases.length} cases of ${documents.length} documents`);
}

test("the golden vectors of the mode names", (t) => checkNames(t, "names"));

test("the golden vectors of the option facts", (t) => checkNames(t, "facts"));

test("the golden vectors of an invented language", (t) => checkNames(t, "names-qaa"));

test("the golden vectors of own types", (t) => checkNames(t, "own-types", "names"));

test("the golden vectors of an index", async (t) => {
  const bundle = await LabelBundle.load(`${golden}index`);
  const { texts, class_labels: labels, cases } = vectors("index");
  for (const { randomizer, epsilon, random_label: label, random_words: count, lines } of cases) {
    const { take, taken } = words(label);
    const encoder = new TextLabelEncoder(bundle, take);
    assert.deepEqual(
      texts.map((text) => encoder.computeTrueLabel(text)),
      labels,
    );
    assert.deepEqual(
      encoder.encodeBatch(texts, { randomizer, epsilon }).map((one) => one.line),
      lines,
    );
    assert.equal(taken.count, count);
  }
  t.diagnostic(`${cases.length} cases of ${texts.length} texts`);
});
