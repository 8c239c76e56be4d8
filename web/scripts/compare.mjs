/** Makes of each record of `cases.py` what Python made of it, counts, and fails where anything differs. */

import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { LabelBundle } from "../dist/bundle/labelBundle.js";
import { TextBundle } from "../dist/bundle/textBundle.js";
import { NamesPlan } from "../dist/text/names/plan.js";
import { Sanitizer } from "../dist/text/sanitizer.js";
import { TextLabelEncoder } from "../dist/vector/labelEncoder.js";

const MOST_SHOWN = 20;

/** The random words of a label, as `cases.py` makes them. */
export function stream(label) {
  let words = made(label, 1 << 14);
  let at = 0;
  return (count) => {
    while (at + count > words.length) words = made(label, 2 * words.length);
    at += count;
    return words.slice(at - count, at);
  };
}

function made(label, count) {
  const digest = createHash("shake256", { outputLength: 8 * count })
    .update(label, "ascii")
    .digest();
  const words = new BigUint64Array(digest.buffer.slice(digest.byteOffset, digest.byteOffset + 8 * count));
  for (let place = 0; place < count; place++) {
    if (words[place] % 5n === 0n) words[place] = 0xffff_ffff_ffff_ffffn - ((words[place] >> 8n) % 4n);
  }
  return words;
}

function digest(pieces) {
  const said = pieces.map((piece) => piece.join("\x1f")).join("\x1e");
  return createHash("sha256").update(Buffer.from(said, "utf16le")).digest("hex").slice(0, 16);
}

/** What a stream makes of a reply that comes in pieces of so many code units. */
function inPieces(stream, reply, length) {
  let text = "";
  for (let at = 0; at < reply.length; at += length) text += stream.feed(reply.slice(at, at + length));
  text += stream.close();
  return { text, ...stream.report.toJSON() };
}

/** The pieces of an explained preview, each with its positions. */
function explained(sanitizer, text, options) {
  return sanitizer.preview(text, { ...options, explain: true }).map((piece) => {
    const { start, end, state, reason } = piece;
    if (text.slice(start, end) !== piece.text) throw new Error("the position of a piece is another one");
    return [piece.text, state, `${start}`, `${end}`, reason];
  });
}

/** What this reader makes of a record. */
export function answer(bundle, record) {
  const { options, documents } = record;
  const sanitizer = new Sanitizer(bundle, stream(`case ${record.number}`));
  const found = sanitizer.sanitizeDocuments(documents, options);
  const plain = JSON.parse(JSON.stringify(record.statements.map(([tokens]) => sanitizer.statement(options, tokens))));
  const answered = {
    outputs: found.map((one) => [...one.texts]),
    tokens: found.map((one) => one.statement.tokens),
    statements: record.statements.map(([tokens], place) => [
      tokens,
      plain[place],
      sanitizer.statement(options, tokens).toString(),
    ]),
    previews: documents.map((texts) => texts.map((text) => digest(sanitizer.preview(text, options)))),
    explained: documents.map((texts) => texts.map((text) => digest(explained(sanitizer, text, options)))),
  };
  if (record.restored !== undefined) {
    answered.mappings = record.replies.map((_, place) => JSON.parse(found[place].mapping.toJsonText()));
    const reports = record.replies.map((reply, place) =>
      record.restore_options.map((restoring) =>
        found[place].mapping.restore(reply, restoring, record.outputs[place][0]).toObject(),
      ),
    );
    answered.restored = reports.map((one) => one.map(({ text }) => text));
    answered.reports = reports.map((one) => one.map(({ text, ...report }) => report));
    answered.kept_shares = found.map(({ keptShare }) => keptShare ?? null);
    answered.language_warnings = found.map(({ languageWarning }) => languageWarning ?? null);
    for (const [at, reply] of record.replies.entries()) {
      const options = record.restore_options[at % record.restore_options.length];
      const streamed = inPieces(found[at].mapping.openStream(options, record.outputs[at][0]), reply, 1 + (at % 7));
      const whole = reports[at][at % record.restore_options.length];
      const active = whole.not_restored.some(({ reason }) => reason === "active");
      if (!active && !isDeepStrictEqual(streamed, whole)) answered.restored[at] = streamed;
    }
  }
  if (record.templates !== undefined) {
    const patterns = new Map(Object.entries(options.patterns ?? {}));
    const plan = new NamesPlan(bundle, { ...options, patterns });
    const told = (entry) => {
      if (typeof entry === "string") return [entry];
      const [kind, pattern, initial, titles, before, ...parts] = entry;
      return [
        kind,
        pattern,
        initial === true ? "initial" : initial || "",
        `${titles}`,
        before,
        ...parts.map((part) => part.join("/")),
      ];
    };
    answered.templates = documents.map((texts) => plan.listTemplates(texts).map((text) => digest(text.map(told))));
  }
  return answered;
}

/** What this reader makes of a record of an index. */
function answerOfIndex(bundle, { index, options, texts }) {
  const encoder = new TextLabelEncoder(bundle, stream(index));
  const statement = encoder.statement(options);
  return {
    lines: encoder.encodeBatch(texts, options).map((release) => release.line),
    class_labels: texts.map((text) => encoder.computeTrueLabel(text)),
    facts: [JSON.parse(JSON.stringify(statement))],
    said: [`${statement}`],
  };
}

/** The names and codes of the errors that refuse some options, where they are others than in Python. */
function otherwiseRefused(bundle, refused) {
  const sanitizer = new Sanitizer(bundle);
  const found = ([options]) => {
    try {
      return sanitizer.sanitize("Anna saw the doctor twice.", options).text;
    } catch (error) {
      return `${error.name} ${error.code}`;
    }
  };
  return refused.filter((one) => found(one) !== one[1]);
}

/** Where an answer differs from a record: what, and the number of the document or statement. */
export function differences(record, answered) {
  const found = [];
  for (const [name, mine] of Object.entries(answered)) {
    for (let place = 0; place < Math.max(mine.length, record[name].length); place++) {
      if (!isDeepStrictEqual(mine[place], record[name][place])) found.push([name, place]);
    }
  }
  return found;
}

/** Something else of the same type. */
function other(value) {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return `${value}.`;
  return Array.isArray(value) ? [...value, 0] : { ...value, planted: true };
}

/** Fails unless a difference that is planted in any part of a record is seen. */
function plantEach(record, answered) {
  for (const name of Object.keys(answered)) {
    const planted = structuredClone(record);
    const last = planted[name].length - 1;
    const entry = planted[name][last];
    planted[name][last] = other(entry);
    if (differences(planted, answered).length !== 1) throw new Error(`a planted difference is not seen: ${name}`);
  }
}

async function main() {
  let [bundle, encoder] = [];
  const counts = { refused: 0, records: 0, encoded: 0, texts: 0, restored: 0, skipped: 0, statements: 0, planted: 0 };
  let wrong = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const record = JSON.parse(line);
    if (record.bundle !== undefined) {
      bundle = await TextBundle.load(record.bundle, { language: record.language });
      encoder = await LabelBundle.load(record.encoder);
      continue;
    }
    if (record.refused !== undefined) {
      counts.refused = record.refused.length;
      for (const other of otherwiseRefused(bundle, record.refused)) {
        wrong++;
        console.log("refused otherwise", JSON.stringify(other));
      }
      continue;
    }
    const answered = record.index === undefined ? answer(bundle, record) : answerOfIndex(encoder, record);
    const found = differences(record, answered);
    for (const [name, place] of found) {
      if (wrong++ < MOST_SHOWN) {
        console.log(JSON.stringify([record.number, name, place, record.options], null, 0));
        console.log("  text    ", JSON.stringify((record.documents ?? record.texts)[place]));
        console.log("  expected", JSON.stringify(record[name][place]));
        console.log("  found   ", JSON.stringify(answered[name][place]));
      }
    }
    if ((counts.records + counts.encoded / 100) % 50 === 0 && found.length === 0) {
      plantEach(record, answered);
      counts.planted += Object.keys(answered).length;
    }
    if (record.index !== undefined) {
      counts.encoded += record.texts.length;
      continue;
    }
    counts.records++;
    counts.texts += record.documents.flat().length;
    counts.restored += record.restored?.flat().length ?? 0;
    counts.skipped += record.reports?.flat().flatMap((report) => report.not_restored).length ?? 0;
    counts.statements += record.statements.length;
  }
  console.log(
    `${counts.texts} texts under ${counts.records} sets of options: outputs, templates and spends; ` +
      `${counts.restored} replies restored, ${counts.skipped} surrogates not restored; ${counts.statements} statements; ${counts.encoded} texts encoded; ${counts.refused} options refused; ${counts.planted} planted differences seen; ` +
      `${wrong} differences`,
  );
  if (wrong > 0 || counts.texts === 0) process.exitCode = 1;
}

if (process.argv[1]?.endsWith("compare.mjs")) await main();
