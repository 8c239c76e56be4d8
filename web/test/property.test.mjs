/** What is replaced leaves nothing: words in an alphabet of their own leave no character of it in any output. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sanitizer } from "../dist/textveil.js";
import { english } from "./files.mjs";

const sanitizer = await Sanitizer.load(english);
/** Alphabets that no list of the bundle has: small letters, capitals, digits. */
const ALPHABETS = {
  Deseret: ["\u{10428}", "\u{10400}", 40, "0"],
  Glagolitic: ["\u2c30", "\u2c00", 40, "0"],
  Osage: ["\u{104d8}", "\u{104b0}", 30, "0"],
  Vai: ["\ua500", "\ua500", 200, "\ua620"],
  Adlam: ["\u{1e922}", "\u{1e900}", 30, "\u{1e950}"],
};
const BETWEEN = [
  " ",
  " ",
  " ",
  ", ",
  ". ",
  "\n",
  "-",
  "'s ",
  "’",
  "(",
  ") ",
  ": ",
  "/",
  "@",
  ".",
  "&",
  " & ",
  "#",
  "_",
  ";",
  '"',
];
const SHOWN = ["the", "in", "said", "He", "Dr.", "at", "a", "on 3 May", "5", "Boston", "of", "and", "don't", "www."];

/** A small generator of numbers, so that a failure can be made again. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function word(next, [small, capital, letters, zero]) {
  const of = (first, place) => String.fromCodePoint(first.codePointAt(0) + place);
  const spelled = Array.from({ length: 1 + next(8) }, () => next(letters));
  const kind = next(10);
  if (kind < 1 && zero !== "0") return spelled.map((place) => of(zero, place % 10)).join("");
  if (kind < 5) return spelled.map((place) => of(small, place)).join("");
  return spelled.map((place, at) => of(kind > 7 || at === 0 ? capital : small, place)).join("");
}

for (const [name, alphabet] of Object.entries(ALPHABETS)) {
  test(`words in ${name} leave none of its characters`, () => {
    const next = chance(name.length * 7919);
    const own = new RegExp(
      `[\\p{Script=${name}}${alphabet[3] === "0" ? "" : `${alphabet[3]}-${String.fromCodePoint(alphabet[3].codePointAt(0) + 9)}`}]`,
      "u",
    );
    const texts = Array.from({ length: 300 }, () =>
      Array.from({ length: 2 + next(12) }, () => [
        next(3) > 0 ? word(next, alphabet) : SHOWN[next(SHOWN.length)],
        BETWEEN[next(BETWEEN.length)],
      ])
        .flat()
        .join(""),
    );
    assert.ok(texts.filter((text) => own.test(text)).length > 250);
    const every = [
      ...["words", "all"].flatMap((protect) => [
        { protect },
        { protect, consistent: true },
        { protect, sanitizePunctuation: true },
        { protect, deny: ["the", "Boston"] },
      ]),
      { protect: "names" },
      { protect: "names", style: "tag" },
      { protect: "names", consistent: false, tag: ["person"], drop: ["city"] },
      { protect: "names", keep: ["weekday"], deny: ["said"] },
      { protect: "names", consistentCap: 1 },
      { protect: "names", facts: "plain" },
      { protect: "names", facts: "public", consistent: false },
      { protect: "names", facts: "public", deny: ["the", "may"], drop: ["id", "number"] },
    ];
    let outputs = 0;
    for (const options of every) {
      for (const { text, statement } of sanitizer.sanitizeBatch(texts, options)) {
        assert.ok(!own.test(text), JSON.stringify([options, text]));
        assert.ok(!own.test(JSON.stringify(statement)));
        outputs++;
      }
    }
    assert.equal(outputs, 300 * every.length);
  });
}

test("the test sees a character that stays", () => {
  const [small] = ALPHABETS.Deseret;
  const { text } = sanitizer.sanitize(`the ${small}${small} said`, { protect: "names", allow: [small + small] });
  assert.ok(/\p{Script=Deseret}/u.test(text));
});
