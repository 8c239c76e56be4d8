/** Bundles of other languages: checked, joined for mixed texts, and without public facts where a pack has no words for them. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Sanitizer } from "../dist/index.js";
import { bytes, changed, english, filesOf, golden, json } from "./files.mjs";

const invented = `${golden}names-qaa`;
const refused = (code, message) => (error) => {
  assert.equal(error.code, code, error.stack);
  assert.match(error.message, message);
  return true;
};

test("a bundle of another language is refused by its name", async () => {
  assert.deepEqual((await Sanitizer.load(invented, { language: "qaa" })).modes, ["names"]);
  assert.ok((await Sanitizer.load(english, { language: "en" })).modes.includes("words"));
  await assert.rejects(
    Sanitizer.load(invented, { language: "es" }),
    refused("option", /is for the language qaa, not es/),
  );
  await assert.rejects(Sanitizer.load(english, { language: "qaa" }), refused("option", /for the language en, not qaa/));
  for (const language of ["", "EN", "../x", "en+", "en+en", "a.b", "es+fr+nl+de+pt", 7, null, "qaa+en"]) {
    await assert.rejects(Sanitizer.load(invented, { language }), refused("option", /^language/), String(language));
  }
});

test("joined packs keep words of both, and have one content hash", async () => {
  const both = [invented, english];
  const sanitizer = await Sanitizer.load(both, { language: "qaa+en" });
  const text = "the meeting qalq was l'qapfu and they can't stay";
  const packs = await Promise.all(both.map(async (source) => (await Sanitizer.load(source)).bundleHash));
  const joined = createHash("sha256").update(packs.join("+")).digest("hex");
  assert.equal(sanitizer.bundleHash, joined);
  assert.equal(sanitizer.sanitize(text).text, text);
  assert.deepEqual(sanitizer.modes, ["names"]);
  assert.throws(() => sanitizer.sanitize("a", { protect: "words" }), refused("unknown-mechanism", /use protect names/));
  await Sanitizer.load(both, { language: "qaa+en", expectId: joined });
  await assert.rejects(
    Sanitizer.load(both, { language: "qaa+en", expectId: packs[0] }),
    refused("bundle-content-hash", /./),
  );
  for (const language of ["en+qaa", "qaa", undefined, "qaa+en+es"]) {
    await assert.rejects(Sanitizer.load(both, { language }), refused("option", /language/), String(language));
  }
});

test("packs that break a rule of the format are refused, with hashes that fit", async () => {
  const pack = filesOf(invented);
  const rules = json(pack, "rules.json");
  rules.endings.kept = ["zzz"];
  const another = new Map(pack).set("manifest.json", bytes({ ...json(pack, "manifest.json"), format_version: 99 }));
  for (const [files, code, message] of [
    [another, "bundle-version", /format version 5 only/],
    [changed(pack, "rules.json", bytes(rules)), "bundle-damaged", /lacks the list word-zzz/],
    [
      changed(pack, "entity.weekday.txt", bytes("qalq\n")),
      "bundle-damaged",
      /also a weekday, and the mode names replaces each weekday/,
    ],
  ]) {
    const use = async () => (await Sanitizer.load(files)).sanitize("x"); // lists are read when they are first used
    await assert.rejects(use, refused(code, message));
  }
});

test("joined packs hide a word that one of them lists as a name and does not keep", async () => {
  const other = changed(filesOf(`${golden}names`), "entity.city.txt", bytes("boston\ndoctor\nftalq\n"));
  const text = "ftalq qapfu doctor";
  const kept = await Sanitizer.load([invented, `${golden}names`], { language: "qaa+en" });
  assert.equal(kept.sanitize(text).text, text);
  for (const [packs, language] of [
    [[invented, other], "qaa+en"],
    [[other, invented], "en+qaa"],
  ]) {
    const [first, ...others] = (await Sanitizer.load(packs, { language })).sanitize(text).text.split(" ");
    assert.notEqual(first, "ftalq");
    assert.deepEqual(others, ["qapfu", "doctor"]);
  }
});

test("a language without words for public facts keeps none, and states it", async () => {
  const files = filesOf(invented);
  for (const key of ["secret_words", "address_words"]) {
    const rules = json(files, "rules.json");
    rules.optional.facts[key] = [];
    const sanitizer = await Sanitizer.load(changed(files, "rules.json", bytes(rules)));
    for (const facts of [undefined, "plain", "public"]) {
      const { text, statement } = sanitizer.sanitize("qalq 34 gzolq 1998", { facts, style: "tag" });
      assert.equal(text, "qalq [number 1] gzolq [year 1]");
      assert.equal(statement.toJSON().facts, "none");
    }
  }
});

test("a language with words for public facts keeps those of plain at most, and states it", async () => {
  const sanitizer = await Sanitizer.load(invented);
  for (const facts of [undefined, "plain", "useful", "public"]) {
    const { text, statement } = sanitizer.sanitize("qalq 3,5 gzolq 1998", { facts, style: "tag" });
    assert.equal(text, "qalq 3,5 gzolq [year 1]");
    assert.equal(statement.toJSON().facts, "plain");
  }
});
