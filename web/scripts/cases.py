"""Print calls with their options, random words and Python's results; ``compare.mjs`` repeats each call in TypeScript.

    python web/scripts/cases.py [--texts 50000] [--pack FOLDER ...] | node web/scripts/compare.mjs

Every set of options occurs. With ``--pack`` only the bundle of a language pack is compared, or several joined ones, on
texts of these languages among those of English.
"""

import argparse
import hashlib
import itertools
import json
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil import Result, Sanitizer, TextLabelEncoder
from textveil.bundle import TextBundle, open_bundle
from textveil.bundle.languages import join_bundles, read_language
from textveil.errors import DocumentTooLong, TextveilError
from textveil.mechanisms import entropy
from textveil.text.options import FACTS
from textveil.text.restore_policy import RestorePolicy
from textveil.text.unicode_compat import CharacterSwap, find_swap

from inputs import ROOT, characters, odd, of_language, of_names, of_words, real_lines, texts  # isort: skip; it finds the fixtures
from replies import OPTION_SETS, make_reply  # isort: skip
import damaged
import fact_texts
import written_replies

#: Bundle of which a copy with more lists of public facts is compared, and encoder.
BUNDLE, ENCODER = ROOT / "artifacts" / "english-v4", ROOT / "artifacts" / "ag-static"
DIST = ROOT / "web" / "dist"
#: Texts of a record, and every so many records one whose documents have several texts.
TEXTS, SEVERAL = 150, 4
#: Characters of a text in a call that has a document with more words than consistent outputs may have.
LONGEST = 2000
CASES = "lower", "Title", "UPPER", "JSON"
#: Options that are refused: as `NAME=VALUE`, where JSON has the value.
REFUSED = """protect=null epsilon="10"|protect=null sanitize_punctuation=true
protect="x"|protect="names" epsilon="10"|protect="names" sanitize_punctuation=true
style="tag"|facts="none"|protect="names" facts="x"|allow=["a"]|keep=["city"]|protect="names" style="x"
protect="names" keep=["x"]|protect="names" keep=["street"]|protect="names" keep=["city"] drop=["city"]
protect="names" keep=["city"] tag=["city"]|consistent_cap=5
patterns={"a1":"b"}|known=["Anna"]|protect="names" patterns=["b"]|protect="names" patterns={"a1":5}
protect="names" known="x"|protect="names" patterns={"person":"b"}|protect="names" patterns={"A":"b"}
protect="names" patterns={"a1":"(a+)+"}
protect="names" patterns={"a1":"(a+)+$"}|protect="names" patterns={"a1":"a*"}|protect="names" patterns={"a1":"[a"}
protect="names" patterns={"a1":"(?=a)"}|protect="names" patterns={"a1":"((a{20}){20}){20}"}|protect="names" known=["#"]
protect="names" known=["x"]|protect="names" known=["Anna","Anna,Bob"]|protect="names" known=[","]
protect="names" known=[5]
consistent=true consistent_cap=0|consistent=true consistent_cap=1|protect="names" consistent_cap=-1
epsilon="5"|epsilon="-10"|epsilon="x"|epsilon="nan"|epsilon="inf"|epsilon=""|epsilon=true|deny="x"|deny=[5]""".replace(
    "\n", "|"
)


def write_moved_bundle() -> Path:
    """Write a copy of the built-in bundle in which some characters change class, and return its folder."""
    folder = fact_texts.add_fact_lists(BUNDLE, DIST / "moved")
    damaged.move_classes(folder)
    return folder


class Stream:
    """Derive the same random words from a label in both languages.

    One word in five is so near 2^64 that rejection sampling discards it for many totals.
    """

    def __init__(self, label: str) -> None:
        self._label, self._at = label, 0
        self._words = self._made(1 << 14)

    def _made(self, count: int) -> NDArray[np.uint64]:
        words = np.frombuffer(hashlib.shake_256(self._label.encode("ascii")).digest(8 * count), dtype="<u8").copy()
        near = words % np.uint64(5) == 0
        words[near] = np.uint64(2**64 - 1) - (words[near] >> np.uint64(8)) % np.uint64(4)
        return words

    def take(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words, as uint64."""
        while self._at + count > len(self._words):
            self._words = self._made(2 * len(self._words))
        self._at += count
        return self._words[self._at - count : self._at].copy()


def digest(pieces: Sequence[object]) -> str:
    """Return a short hash of the tokens or pairs that a reader found in a text."""
    said = "\x1e".join(pieces if isinstance(pieces[0], str) else map("\x1f".join, pieces)) if pieces else ""  # pyright: ignore
    return hashlib.sha256(said.encode("utf-16-le", "surrogatepass")).hexdigest()[:16]


def explain(sanitizer: Sanitizer, text: str, options: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the pieces of an explained preview, with positions in UTF-16 code units as JavaScript has them."""
    pieces, position, start = [], 0, 0
    for piece in sanitizer.preview(text, explain=True, **options):
        assert (piece.start, piece.end) == (position, position + len(piece.text))
        end = start + len(piece.text.encode("utf-16-le", "surrogatepass")) // 2
        pieces.append((piece.text, piece.state, str(start), str(end), piece.reason))
        position, start = piece.end, end
    return pieces


def template(sanitizer: Sanitizer, document: list[str], options: dict[str, Any]) -> list[list[list[str]]]:
    """Return the elements of each text's template in the mode `names`, as lists of strings."""
    words = [*options.get("deny", ()), *options.get("allow", ()), *options.get("known", ())]
    found, swap = [], find_swap(sanitizer.bundle.characters_json, document + words) or CharacterSwap({})
    for text in (
        sanitizer.names_plan(**swap.replace_in_options(options))
        .make_reader()
        .read_texts([*map(swap.replace_characters, document)])
    ):
        entries = []
        for entry in text.elements:
            if isinstance(entry, str):
                entries.append([swap.restore_characters(entry)])
                continue
            kind, case, layout, titles, before, *parts = entry.template_entry
            told = [str(kind), CASES[int(str(case))], str(layout), str(titles), str(before)]
            entries.append(told + ["/".join(part) for part in parts])  # pyright: ignore
        found.append(entries)
    return found


def in_camel(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with their names in JavaScript."""

    def camel(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(map(str.title, rest))

    return {camel(name): value for name, value in options.items()}


def mapping(result: Result) -> str:
    """Return the saved form of a result's mapping, as JSON."""
    assert result.mapping is not None
    return result.mapping.to_json()


def fill_reply(line: dict[str, Any], result: Result) -> str:
    """Return a reply from the file of written replies, its placeholders filled with this result's surrogates."""
    came_out = {original: output for output, original in json.loads(mapping(result))["originals"].items()}
    known = re.compile("|".join(map(re.escape, sorted(came_out, key=len, reverse=True))) or "$^")

    def form(place: re.Match[str]) -> str:
        output = known.sub(lambda found: came_out[found[0]], line["mentions"].get(place[1], place[0]))
        return written_replies.formed(output, place[2]) or output

    return written_replies.PLACE.sub(form, line["reply"])


def restore_replies(results: Sequence[Result], replies: Sequence[str]) -> dict[str, Any]:
    """Return text, report, kept share and language warning of each reply, for each set of restore options."""
    made: dict[str, Any] = {"restored": [], "reports": [], "kept_shares": [], "language_warnings": []}
    for result, reply in zip(results, replies, strict=True):
        assert result.mapping is not None
        found = [result.mapping.restore(reply, RestorePolicy.parse(**options), result.text) for options in OPTION_SETS]
        made["restored"].append([restored.text for restored in found])
        made["reports"].append([restored.report.to_dict() for restored in found])
        made["kept_shares"].append(result.kept_share)
        words = result.kept_words
        if words is None or not words.may_be_foreign:
            made["language_warnings"].append(None)
        else:
            made["language_warnings"].append(words.describe_language(is_english=False, option=""))
    return made


def record(
    number: int, options: dict[str, Any], documents: list[list[str]], sanitizer: Sanitizer, lines: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return one call with its results.

    Args:
        number: Number of the call, which seeds its random words.
        options: Options of the call.
        documents: The texts of each document.
        sanitizer: The sanitizer to call.
        lines: Written replies to the texts; without them, replies are made from the outputs.
    """
    stream = Stream(f"case {number}")
    entropy.random_uint64 = stream.take
    made: dict[str, Any] = {"number": number, "options": in_camel(options), "documents": documents}
    terms = sanitizer.terms(**options)
    if all(len(document) == 1 for document in documents):
        results = sanitizer.sanitize_batch([text for (text,) in documents], **options)
        made["outputs"] = [[result.text] for result in results]
        made["tokens"] = [result.tokens for result in results]
        if results[0].mapping is not None:
            asked = (
                [fill_reply(*pair) for pair in zip(lines, results, strict=True)]
                if lines
                else [make_reply(result, 1000 * number + place) for place, result in enumerate(results)]
            )
            made["replies"] = asked
            made["mappings"] = [json.loads(mapping(result)) for result in results]
            made["restore_options"] = [in_camel(restoring) for restoring in OPTION_SETS]
            made |= restore_replies(results, asked)
    else:
        found = sanitizer.sanitize_documents(documents, **options)
        made["outputs"], made["tokens"] = [one.texts for one in found], [one.tokens for one in found]
    for several in (0, 1, 31, 4321):
        statement = terms.statement(several)
        made.setdefault("statements", []).append([several, statement.to_dict(), str(statement)])
    made["previews"] = [[digest(sanitizer.preview(text, **options)) for text in document] for document in documents]
    made["explained"] = [[digest(explain(sanitizer, text, options)) for text in document] for document in documents]
    if options["protect"] == "names":
        told = [template(sanitizer, document, options) for document in documents]
        made["templates"] = [[digest(text) for text in document] for document in told]
    return made


def record_cut(
    number: int, options: dict[str, Any], documents: list[list[str]], sanitizer: Sanitizer
) -> dict[str, Any]:
    """Return one call with its results; of documents beyond the cap of consistent outputs only beginnings are read."""
    try:
        return record(number, options, documents, sanitizer)
    except DocumentTooLong:
        return record(number, options, [[text[:LONGEST] for text in document] for document in documents], sanitizer)


def iterate_refused_options(sanitizer: Sanitizer) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each set of invalid options, with the class and the code of the error."""
    for said in REFUSED.split("|"):
        options: dict[str, Any] = {"protect": "words"}
        options |= {name: json.loads(value) for name, value in (pair.split("=", 1) for pair in said.split(" "))}
        try:
            sanitizer.sanitize("Anna saw the doctor twice.", **options)
        except TextveilError as error:
            yield in_camel(options), f"{type(error).__name__} {error.code}"
        else:
            raise AssertionError(said)


def of_index(encoder: TextLabelEncoder, asked: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the labels of some texts for every randomizer and epsilon, as numbers and as sentences."""
    channels = encoder.bundle.randomizers
    for number, (name, as_text) in enumerate(itertools.product(channels, (False, True))):
        for level in channels[name]:
            label = f"index {number} {level.level.epsilon}"
            options: dict[str, Any] = {"randomizer": name, "epsilon": f"{level.level.epsilon:f}", "as_text": as_text}
            entropy.random_uint64 = Stream(label).take
            statement = encoder.statement(**options)
            yield {
                "index": label,
                "options": in_camel(options),
                "texts": asked,
                "lines": [release.line for release in encoder.encode_batch(asked, **options)],
                "class_labels": [encoder.compute_true_label(text) for text in asked],
                "facts": [statement.to_dict()],
                "said": [str(statement)],
            }


def together(source: Iterator[str], count: int, *, several: bool) -> list[list[str]]:
    """Take `count` texts and return them as documents of one text each, or of up to three."""
    documents: list[list[str]] = []
    for left in range(count, 0, -1):
        if several and documents and left % 3:
            documents[-1].append(next(source))
        else:
            documents.append([next(source)])
    return documents


def spread_facts(options: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return options of the mode names with a value of ``facts`` or without; other options unchanged."""
    level = chance.choice(("", "none", "plain", *("useful", "public") * 2))
    assert not level or level in FACTS
    return options | {"facts": level} if options["protect"] == "names" and level else options


def open_packs(folders: Sequence[Path]) -> tuple[Sanitizer, list[str]]:
    """Return the sanitizer of a pack or of joined packs, and the languages."""
    bundles = [open_bundle(folder, TextBundle) for folder in folders]
    languages = [read_language(bundle) for bundle in bundles]
    bundle = replace(bundles[0], language=languages[0]) if len(bundles) == 1 else join_bundles(bundles)
    return Sanitizer(bundle), languages


def print_pack_records(folders: Sequence[Path], count: int, seed: int) -> None:
    """Print the calls of language packs, in the mode names alone."""
    sanitizer, languages = open_packs(folders)
    names = [str(folder.resolve()) for folder in folders]
    header = {"bundle": names if len(names) > 1 else names[0], "language": "+".join(languages), "encoder": str(ENCODER)}
    print(json.dumps(header))
    chance, facts, every = random.Random(seed), random.Random(-seed), [*of_names()]
    written = [text for language in languages for text in of_language(language)]
    any_of = sorted({*characters(sanitizer.bundle), *"".join(written)})
    english = texts(chance, real_lines(), any_of)
    each = max(1, min(TEXTS, -(-count // len(every))))
    for number, options in enumerate(every):
        documents = together(mix_texts(chance, written, english), each, several=number % SEVERAL == 0)
        print(json.dumps(record(number, spread_facts(options, facts), documents, sanitizer)))


def mix_texts(chance: random.Random, written: Sequence[str], others: Iterator[str]) -> Iterator[str]:
    """Yield texts of some languages in several cases, one in four of them other ones."""
    while True:
        text = chance.choice(written)
        cased = chance.choices((text, text.lower(), text.upper(), text.title()), (6, 1, 1, 1))[0]
        yield next(others) if chance.random() < 1 / 4 else cased


def main() -> None:
    """Print the calls, one line of JSON each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pack", type=Path, action="append", default=[], metavar="FOLDER", help="bundle of a language")
    asked = parser.parse_args()
    if asked.pack:
        print_pack_records(asked.pack, asked.texts, asked.seed)
        return
    listed = fact_texts.add_fact_lists(BUNDLE, DIST / "listed")
    sanitizer, chance, facts = Sanitizer.load(listed), random.Random(asked.seed), random.Random(-asked.seed)
    source, done = texts(chance, real_lines(), characters(sanitizer.bundle)), 0
    every = [*of_words(), *of_names()]
    each = max(1, min(TEXTS, -(-asked.texts // len(every))))
    print(json.dumps({"bundle": str(listed), "encoder": str(ENCODER)}))
    print(json.dumps({"refused": list(iterate_refused_options(sanitizer))}))
    # The index cuts by the platform's classes: docs/encoder-format.md.
    settled = (text for text in source if all(unicodedata.category(character) != "Cn" for character in text))
    for found in of_index(TextLabelEncoder.load(ENCODER), list(itertools.islice(settled, 100))):
        print(json.dumps(found))
    lines = [json.loads(line) for line in written_replies.FILE.read_text(encoding="utf-8").splitlines()]
    for number, style in enumerate(("surrogate", "tag"), -2):
        messages = [[line["message"]] for line in lines]
        print(json.dumps(record(number, {"protect": "names", "style": style}, messages, sanitizer, lines)))
    for number, options in enumerate(itertools.cycle(every)):
        if done >= asked.texts and number >= len(every):
            break
        options = spread_facts(options, facts)
        print(json.dumps(record_cut(number, options, together(source, each, several=number % SEVERAL == 0), sanitizer)))
        done += each
    folder = write_moved_bundle()
    print(json.dumps({"bundle": str(folder), "encoder": str(ENCODER)}))
    sanitizer, mixed = Sanitizer.load(folder), [*damaged.MOVED, *damaged.MOVED.values(), *"Aa1. "]
    for number, options in enumerate(every[::13], len(every) * 1000):
        options = spread_facts(options, facts)
        made = record(number, options, [[odd(chance, mixed)] for _ in range(each)], sanitizer)
        made.pop("restored", None)  # what a form is depends on the platform's Unicode
        print(json.dumps(made))


if __name__ == "__main__":
    main()
