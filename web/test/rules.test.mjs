/** The rules of a language: read strictly, as in Python, and those of a bundle replace those of English. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ENGLISH, readRules } from "../dist/bundle/rules.js";
import { rules as english } from "../dist/data.js";
import { Sanitizer } from "../dist/index.js";
import { bytes, changed, filesOf, golden, json } from "./files.mjs";

const fixture = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/fixtures/${name}.json`, import.meta.url), "utf8"));
const invented = fixture("invented_rules");
const { right, wrong } = fixture("changed_rules");

/** The rules of English with other values. */
function withValues(values) {
  const found = structuredClone(english);
  for (const [path, value] of Object.entries(values)) {
    const keys = path.split(".");
    const last = keys.pop();
    keys.reduce((place, key) => place[key], found)[last] = value;
  }
  return bytes(found);
}

test("the rules of English are sound", () => {
  assert.deepEqual(readRules(bytes(english)).data, ENGLISH.data);
});

test("what is not of the format is refused", () => {
  for (const values of wrong) {
    const refused = ({ name, message }) => name === "BundleDamaged" && message.startsWith("rules.json: ");
    assert.throws(() => readRules(withValues(values)), refused, JSON.stringify(values));
  }
  assert.throws(() => readRules(bytes(`${JSON.stringify(english).slice(0, -1)},"language":"en"}`)), {
    name: "BundleDamaged",
  });
  assert.throws(() => readRules(new Uint8Array(65_537).fill(32)), { name: "BundleTooLarge" });
  assert.throws(() => readRules(withValues({ language: "x".repeat(513) })), { name: "BundleTooLarge" });
  for (const values of right) readRules(withValues(values));
});

test("the rules of a bundle replace those of English", async () => {
  const files = filesOf(`${golden}names`);
  const law = json(files, "mechanism.json");
  law.files["rules.json"] = "";
  const other = changed(new Map(files).set("mechanism.json", bytes(law)), "rules.json", withValues(invented.changes));
  for (const [source, expected] of [
    [files, invented.english],
    [other, invented.invented],
  ]) {
    const sanitizer = await Sanitizer.load(source);
    const found = invented.texts.map((text) => sanitizer.sanitize(text, { facts: "none", style: "tag" }).text);
    assert.deepEqual(found, expected);
  }
  const { text } = (await Sanitizer.load(other)).sanitize(invented.texts.at(-1), { protect: "names" });
  assert.match(text, new RegExp(`^${invented.phone}$`));
  const unlisted = changed(files, "rules.json", withValues({}));
  await assert.rejects(Sanitizer.load(unlisted), { name: "BundleDamaged" });
});
