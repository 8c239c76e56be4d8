/** Bundles that cannot be used are refused, by an error with a name; all sources give the same bundle. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TextBundle } from "../dist/bundle/textBundle.js";
import { Sanitizer, TextLabelEncoder } from "../dist/index.js";
import { zipped } from "../scripts/zip.mjs";
import { bytes, changed, english, filesOf, golden, json } from "./files.mjs";

const words = filesOf(`${golden}staircase`);
const names = filesOf(`${golden}names`);
const index = filesOf(`${golden}index`);
const refused = (code) => (error) => {
  assert.equal(error.code, code, error.stack);
  assert.ok(!error.message.includes("\n"));
  return true;
};
const decoded = (files, name) => new TextDecoder().decode(files.get(name));
const edited = (files, name, from, to) => {
  const text = decoded(files, name);
  assert.ok(text.includes(from), `${name} has no ${from}`);
  return changed(files, name, bytes(text.replace(from, to)));
};
const manifest = (files, change) => {
  const found = json(files, "manifest.json");
  change(found);
  return new Map(files).set("manifest.json", bytes(found));
};
/** Loads, and draws once: some lists are read when they are first used. */
async function used(files) {
  const sanitizer = await Sanitizer.load(files);
  for (const protect of sanitizer.modes) sanitizer.sanitize("Anna saw the doctor.", { protect });
}

test("sources of one bundle give one identity", async () => {
  const archive = zipped(words);
  const folder = mkdtempSync(join(tmpdir(), "textveil-"));
  writeFileSync(join(folder, "bundle.zip"), archive);
  const { bundleHash: identity } = await Sanitizer.load(words);
  const sources = [
    `${golden}staircase`,
    pathToFileURL(`${golden}staircase/`),
    Object.fromEntries(words),
    archive,
    archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.length),
    join(folder, "bundle.zip"),
  ];
  for (const source of sources) assert.equal((await Sanitizer.load(source)).bundleHash, identity);
  assert.equal((await Sanitizer.load(words, { expectId: ` ${identity.toUpperCase()}` })).bundleHash, identity);
});

test("lists of public facts are read strictly", async () => {
  const withFact = (kind, content) => {
    const file = `facts.${kind}.txt`;
    const law = json(names, "mechanism.json");
    law.names.facts = [kind];
    law.files[file] = createHash("sha256").update(content).digest("hex");
    return changed(changed(names, "mechanism.json", bytes(law)), file, bytes(content));
  };
  const lists = (await TextBundle.load(withFact("acronym", "API\nJSON\n"))).namesLists.factLists;
  assert.deepEqual([...lists.acronym], ["API", "JSON"]);
  assert.deepEqual(Object.keys(lists), ["term", "capital", "company", "acronym", "language", "foreign"]);
  assert.equal(lists.term.size, 0);
  for (const [kind, content] of [
    ["term", "b\na\n"],
    ["term", "API\n"],
    ["term", "a\tstrict\n"],
    ["language", "english\nenglish\n"],
    ["capital", "Vue\nReact\n"],
    ["capital", "vue\n"],
    ["company", "openai\n"],
    ["acronym", "Json\n"],
    ["acronym", "A\n"],
    ["acronym", "ABCDEFG\n"],
  ]) {
    await assert.rejects(used(withFact(kind, content)), refused("bundle-damaged"), `${kind} ${content}`);
  }
});

test("lists of facts with an unknown name are hashed and counted, and not used", async () => {
  const file = "facts.units.txt";
  const withFacts = (facts, content) => {
    const law = json(names, "mechanism.json");
    law.names.facts = facts;
    if (content !== undefined) law.files[file] = createHash("sha256").update(content).digest("hex");
    const files = changed(names, "mechanism.json", bytes(law));
    return content === undefined ? files : changed(files, file, content);
  };
  const units = bytes("km\n");
  const whole = withFacts(["units"], units);
  const [plain, sanitizer] = [await Sanitizer.load(names), await Sanitizer.load(whole)];
  assert.notEqual(sanitizer.bundleHash, plain.bundleHash);
  const text = "Anna saw 5 km of Lyon.";
  assert.deepEqual(sanitizer.preview(text, { protect: "names" }), plain.preview(text, { protect: "names" }));
  await used(withFacts([]));
  await assert.rejects(Sanitizer.load(new Map(whole).set(file, bytes("mi\n"))), refused("bundle-damaged"));
  for (const facts of [["terms"], ["../units"], ["units", "units"], "units", null, [5]]) {
    await assert.rejects(Sanitizer.load(withFacts(facts, units)), refused("bundle-damaged"), JSON.stringify(facts));
  }
  await assert.rejects(Sanitizer.load(withFacts(["units"])), refused("bundle-damaged"));
});

test("a bundle is fetched from a URL, as a folder or in one file", async (t) => {
  const archive = zipped(words);
  t.mock.method(globalThis, "fetch", async (url) => {
    const [, name] = /^https:\/\/example\.org\/(.*)$/.exec(url);
    const found = name === "a.zip" ? archive : words.get(name.replace("folder/", ""));
    return found === undefined ? new Response("", { status: 404 }) : new Response(found);
  });
  const { bundleHash: identity } = await Sanitizer.load(words);
  assert.equal((await Sanitizer.load("https://example.org/folder/")).bundleHash, identity);
  assert.equal((await Sanitizer.load(new URL("https://example.org/a.zip"))).bundleHash, identity);
  await assert.rejects(Sanitizer.load("https://example.org/b.zip"), refused("bundle-not-found"));
  await assert.rejects(Sanitizer.load("https://example.org/a.zip", { maxBytes: 10 }), refused("bundle-too-large"));
  t.mock.method(globalThis, "fetch", async () => {
    throw new TypeError("no network");
  });
  await assert.rejects(Sanitizer.load("https://example.org/a.zip"), refused("bundle-not-found"));
});

test("what is no bundle, or another one, is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "textveil-"));
  await assert.rejects(Sanitizer.load(join(folder, "no")), refused("bundle-not-found"));
  await assert.rejects(Sanitizer.load(folder), refused("bundle-not-found"));
  await assert.rejects(Sanitizer.load(new Map()), refused("bundle-not-found"));
  for (const source of [undefined, null, 5, new Blob([zipped(words)]), new Response(""), [words], "file://host/x"]) {
    await assert.rejects(Sanitizer.load(source), refused("option"));
  }
  for (const pins of [null, 5]) await assert.rejects(Sanitizer.load(words, pins), refused("option"));
  await assert.rejects(Sanitizer.load(words, { expectId: "0".repeat(64) }), refused("bundle-content-hash"));
  await assert.rejects(Sanitizer.load(words, { expectID: "" }), refused("option"));
  await assert.rejects(Sanitizer.load(words, { expectId: 5 }), refused("option"));
  for (const maxBytes of [0, 1.5, "5"]) await assert.rejects(Sanitizer.load(words, { maxBytes }), refused("option"));
  await assert.rejects(Sanitizer.load(words, { maxBytes: 1000 }), refused("bundle-too-large"));
  await assert.rejects(Sanitizer.load(index), refused("bundle-type"));
  await assert.rejects(TextLabelEncoder.load(words), refused("bundle-type"));
  await assert.rejects(TextLabelEncoder.load(index, { expectId: "0".repeat(64) }), refused("bundle-content-hash"));
  await assert.rejects(TextLabelEncoder.load(index, { maxBytes: 1000 }), refused("bundle-too-large"));
  const cases = [
    [(found) => void (found.format_version = 4), "bundle-version"],
    [(found) => void (found.format = "textveil-other"), "bundle-version"],
    [(found) => void (found.format = "other"), "bundle-damaged"],
    [(found) => void (found.bundle_type = "constructor"), "bundle-damaged"],
    [(found) => void (found.bundle_type = "vectors"), "bundle-type"],
    [(found) => void (found.files["../a"] = { sha256: "0".repeat(64), bytes: 1 }), "bundle-damaged"],
    [(found) => void (found.files["manifest.json"] = { sha256: "0".repeat(64), bytes: 1 }), "bundle-damaged"],
    [(found) => void (found.files["mechanism.json"].bytes += 1), "bundle-damaged"],
    [(found) => void (found.files["mechanism.json"].sha256 = "0".repeat(64)), "bundle-damaged"],
    [(found) => void (found.files["mechanism.json"].bytes = -1), "bundle-damaged"],
    [(found) => void delete found.files["mechanism.json"], "bundle-damaged"],
    [(found) => void (found.files = []), "bundle-damaged"],
    [(found) => void (found.name = "\u202ereversed"), "bundle-damaged"],
  ];
  for (const [change, code] of cases) await assert.rejects(Sanitizer.load(manifest(words, change)), refused(code));
});

test("a platform that lacks what is needed is named, and not the bundle", async (t) => {
  const without = async (object, name, source) => {
    const real = object[name];
    object[name] = undefined;
    t.after(() => {
      object[name] = real;
    });
    await assert.rejects(Sanitizer.load(source), (error) => refused("bundle")(error) && error.message.includes(name));
    object[name] = real;
  };
  await without(process, "getBuiltinModule", english);
  await without(globalThis, "DecompressionStream", zipped(words));
});

test("a bundle without a staircase says what to do", async () => {
  const sanitizer = await Sanitizer.load(names);
  for (const options of [{ protect: "words" }, { protect: "all", epsilon: 10 }]) {
    assert.throws(() => sanitizer.sanitize("", options), /^UnknownMechanism: .*: use protect names$/);
  }
  assert.throws(
    () => sanitizer.sanitize("", { epsilon: 10 }),
    /^OptionError: the default mode 'names' does not support/,
  );
  for (const [options, message] of [
    [{ styl: "tag" }, "unknown option: did you mean style?"],
    [{ zzz: "tag" }, /^OptionError: unknown option: choose among protect, .*, sanitizePunctuation$/],
    [{ keep: ["city"], keeep: [] }, /^OptionError: unknown option: choose among /],
    [{ facts: "usefu" }, "facts must be one of none, plain, useful, public; did you mean useful?"],
    [{ style: 5 }, "style must be one of surrogate, tag"],
  ]) {
    assert.throws(() => sanitizer.sanitize("", options), message instanceof RegExp ? message : { message });
  }
  assert.equal(sanitizer.statement().toJSON().protect, "names");
  const other = await Sanitizer.load(`${golden}words`);
  assert.throws(() => other.sanitize(""), /^UnknownMechanism: this package does not support santext/);
  assert.throws(() => other.sanitize("", { protect: "names" }), /: use the built-in bundle$/);
});

test("files that are missing, cut short, altered or links are refused", async () => {
  for (const name of words.keys()) {
    const missing = new Map(words);
    missing.delete(name);
    await assert.rejects(
      Sanitizer.load(missing),
      refused(name === "manifest.json" ? "bundle-not-found" : "bundle-damaged"),
    );
    const short = new Map(words).set(name, words.get(name).slice(0, -1));
    await assert.rejects(Sanitizer.load(short), refused("bundle-damaged"));
    const altered = Uint8Array.from(words.get(name));
    altered[altered.length >> 1] ^= 1;
    if (name !== "manifest.json") {
      await assert.rejects(Sanitizer.load(new Map(words).set(name, altered)), refused("bundle-damaged"));
    }
  }
  const folder = mkdtempSync(join(tmpdir(), "textveil-"));
  for (const [name, content] of words) {
    if (name === "mechanism.json") symlinkSync(`${golden}staircase/mechanism.json`, join(folder, name));
    else writeFileSync(join(folder, name), content);
  }
  await assert.rejects(Sanitizer.load(folder), refused("bundle-damaged"));
});

test("archives that are cut short or altered are refused", async () => {
  const archive = zipped(words);
  for (let size = 0; size < archive.length; size += 997) {
    await assert.rejects(Sanitizer.load(archive.slice(0, size)), refused("bundle-damaged"));
  }
  let refusals = 0;
  for (let place = 0; place < archive.length; place += 499) {
    const altered = Uint8Array.from(archive);
    altered[place] ^= 0x55;
    await Sanitizer.load(altered).catch((error) => {
      assert.match(error.code, /^bundle/);
      refusals++;
    });
  }
  assert.ok(refusals > 10);
});

test("an archive that inflates to more than it says is refused", async () => {
  const bomb = new Map(words).set("mechanism.json", new Uint8Array(50_000_000));
  const archive = zipped(bomb);
  const view = new DataView(archive.buffer, archive.byteOffset);
  const spelled = Buffer.from(archive.buffer, archive.byteOffset, archive.length);
  for (let at = spelled.indexOf("mechanism.json"); at >= 0; at = spelled.indexOf("mechanism.json", at + 1)) {
    const [local, central] = [at - 30, at - 46]; // a name is behind the entry of a file, and behind that of the list
    if (view.getUint32(local, true) === 0x04034b50)
      view.setUint32(local + 22, words.get("mechanism.json").length, true);
    else view.setUint32(central + 24, words.get("mechanism.json").length, true);
  }
  await assert.rejects(Sanitizer.load(archive), refused("bundle-damaged"));
});

test("contents that break a rule of the format are refused, with hashes that fit", async () => {
  const law = json(words, "mechanism.json");
  const lawOf = (change) => {
    const found = structuredClone(law);
    change(found);
    return changed(words, "mechanism.json", bytes(found));
  };
  const level = law.staircase.levels[0];
  const laws = [
    lawOf((found) => void (found.more = 1)),
    lawOf((found) => void delete found.defaults),
    lawOf((found) => void (found.vocabulary_size += 1)),
    lawOf((found) => void (found.token_type = "word")),
    lawOf((found) => void (found.staircase.levels = [])),
    lawOf((found) => void found.staircase.levels.push(level)),
    lawOf((found) => void (found.staircase.levels[0].epsilon = "17")),
    lawOf((found) => void (found.staircase.levels[0].epsilon = "0")),
    lawOf((found) => void (found.staircase.levels[0].epsilon = 4)),
    lawOf((found) => void (found.staircase.levels[0].share = "2")),
    lawOf((found) => void (found.staircase.levels[0].share = "1/0")),
    lawOf((found) => void (found.staircase.levels[0].own_share = "1")),
    lawOf((found) => void (found.defaults.staircase.level = "no")),
    lawOf((found) => void (found.defaults.staircase.mode = "names")),
    lawOf((found) => void (found.files["vocabulary.tsv"] = "0".repeat(64))),
    lawOf((found) => void found.template.entity_types.pop()),
    lawOf((found) => void (found.template.entity_types[0].name = found.template.entity_types[1].name)),
    changed(
      words,
      "mechanism.json",
      bytes(decoded(words, "mechanism.json").replace('"santext"', '"santext":null,"santext"')),
    ),
    changed(words, "mechanism.json", bytes(`${decoded(words, "mechanism.json")}x`)),
    changed(words, "mechanism.json", bytes("[")),
    changed(words, "mechanism.json", bytes("[".repeat(3000))),
    changed(words, "mechanism.json", new Uint8Array([0xff])),
    edited(
      words,
      "mechanism.json",
      `"vocabulary_size": ${law.vocabulary_size}`,
      `"vocabulary_size": ${law.vocabulary_size}.0`,
    ),
  ];
  const others = [
    edited(words, "vocabulary.tsv", "doctor", "nurse"),
    edited(words, "vocabulary.tsv", "doctor", "doc\u0007tor"),
    changed(words, "vocabulary.tsv", words.get("vocabulary.tsv").slice(0, -1)),
    edited(words, "entity.month.txt", "january", "January"),
    edited(words, "entity.month.txt", "january", "two words"),
    edited(words, "entity.month.txt", "january", "january\tcapitalized,capitalized"),
    edited(words, "entity.month.txt", "january", ""),
    edited(words, "shape.year.txt", "\n", "\nword\n"),
    edited(words, "function-words.txt", "the", "the\tno-mark"),
    edited(words, "function-words.txt", "the", "the end"),
    edited(words, "characters.json", '"unicode"', '"version"'),
    edited(words, "characters.json", "[9,", "[10, 9, 9,"),
    edited(names, "common-words.txt", "\n", "\nzzzz\n"),
    edited(names, "kept-symbols.txt", "\n", "\nab\n"),
    edited(names, "surrogates.month.txt", "\n", "\n \n"),
    changed(names, "kept-capitals.txt", bytes("")),
  ];
  for (const files of [...laws, ...others]) await assert.rejects(used(files), refused("bundle-damaged"));
  const long = changed(words, "vocabulary.tsv", bytes(`${"a".repeat(5000)}\n`));
  await assert.rejects(used(long), refused("bundle-too-large"));
  const many = changed(words, "mechanism.json", bytes(`[${"0,".repeat(70_000)}0]`));
  await assert.rejects(used(many), refused("bundle-too-large"));
});

test("tables that break a condition of the theorem are refused", async () => {
  const name = "staircase.safetensors";
  const content = words.get(name);
  const view = new DataView(content.buffer, content.byteOffset);
  const start = 8 + view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(content.subarray(8, start)));
  const at = (array, number, width) => start + header[array].data_offsets[0] + number * width;
  const set = (place, value) => {
    const found = Uint8Array.from(content);
    new DataView(found.buffer).setUint16(place, value, true);
    return changed(words, name, found);
  };
  const symbols = json(words, "mechanism.json").vocabulary_size;
  const broken = [
    set(at("neighbors", 1, 2), 0), // the word itself again
    set(at("neighbors", 0, 2), 1), // another word first
    set(at("neighbors", 1, 2), symbols), // beyond the vocabulary
    set(at("roles", 0, 1), 0xffff),
    set(0, 0xffff),
    changed(words, name, content.slice(0, 4)),
    changed(words, name, new Uint8Array([...content, 0])),
  ];
  const zero = Uint8Array.from(content);
  new DataView(zero.buffer).setUint32(at("base", 0, 4), 0, true);
  broken.push(changed(words, name, zero));
  for (const files of broken) await assert.rejects(used(files), refused("bundle-damaged"));
});

test("a bundle of an index is checked", async () => {
  const channels = Uint8Array.from(index.get("randomizers.safetensors"));
  channels[channels.length - 8] ^= 1;
  const release = (change) => manifest(index, (found) => change(found.release));
  const cases = [
    [changed(index, "randomizers.safetensors", channels), "bundle-damaged"],
    [changed(index, "words.txt", bytes("a\na\n")), "bundle-damaged"],
    [changed(index, "rows.safetensors", index.get("label-classifier.safetensors")), "bundle-damaged"],
    [release((found) => void (found.label_count = 1)), "bundle-damaged"],
    [release((found) => void (found.more = 1)), "bundle-damaged"],
    [release((found) => void (found.extractor.pairs = 3)), "bundle-damaged"],
    [release((found) => void (found.extractor = { extractor_type: "onnx" })), "encoder-unavailable"],
    [release((found) => void (found.default.epsilon = "99")), "bundle-damaged"],
    [manifest(index, (found) => void found.labels.pop()), "bundle-damaged"],
  ];
  for (const [files, code] of cases) await assert.rejects(TextLabelEncoder.load(files), refused(code));
});

test("the bundle that the package is made for has the identity that it names", async () => {
  const { DEFAULT_BUNDLE_ID } = await import("../dist/index.js");
  assert.equal((await Sanitizer.load(english)).bundleHash, DEFAULT_BUNDLE_ID);
});
