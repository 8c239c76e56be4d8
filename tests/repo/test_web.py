"""Comparison of the constants, errors and messages of the package for browsers with those of the Python package."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil import Sanitizer, errors
from textveil.bundle import defaults, files, label_bundle, layout, parsers, rules, word_lists
from textveil.lazy import load_data
from textveil.mechanisms import entropy
from textveil.mechanisms.staircase import staircase
from textveil.mechanisms.staircase.label_staircase import MAX_LABELS
from textveil.text import form_index, options
from textveil.text.names import emoji, numbers, plan, rewrite, spans, spelled_tokens, surrogates, tokens
from textveil.text.rewrite import rewriter
from textveil.text.segmentation import MAX_WORD_LENGTH
from textveil.text.token_rules import SHAPES
from textveil.vector.label_encoder import HASH_DIGITS

WEB = Path(__file__).parents[2] / "web"
GOLDEN = WEB.parent / "docs" / "golden"
#: Errors that a reader without files, ledgers, models and other processes can meet.
ERRORS = """TextveilError BundleError BundleNotFound BundleDamaged BundleTooLarge BundleVersion WrongBundle
ContentHashMismatch OptionError UnknownMechanism UnknownLevel EncoderUnavailable
InputError DocumentTooLong RestoredNotJson EntropyFailed""".split()
CONSTANTS = {
    "FORMAT": layout.FORMAT,
    "FORMAT_VERSION": layout.FORMAT_VERSION,
    "MAX_BUNDLE_BYTES": files.MAX_BUNDLE_BYTES,
    "MAX_JSON_BYTES": parsers.MAX_JSON_BYTES,
    "MAX_JSON_VALUES": parsers.MAX_JSON_VALUES,
    "MAX_RULES_BYTES": rules.MAX_RULES_BYTES,
    "MAX_RULE_WORDS": rules.MAX_RULE_WORDS,
    "MAX_RULE_TEXT": rules.MAX_RULE_TEXT,
    "MAX_ELEMENTS": rules.MAX_ELEMENTS,
    "MAX_SURROGATES": rules.MAX_SURROGATES,
    "MAX_SYMBOLS": layout.MAX_SYMBOLS,
    "MAX_LEVELS": layout.MAX_LEVELS,
    "MAX_ENTITY_TYPES": layout.MAX_ENTITY_TYPES,
    "MAX_LIST_ENTRIES": word_lists.MAX_LIST_ENTRIES,
    "MAX_LIST_BYTES": word_lists.MAX_LIST_BYTES,
    "MAX_LINE_BYTES": layout.MAX_LINE_BYTES,
    "BYTES_PER_ENTRY": word_lists.BYTES_PER_ENTRY,
    "BYTES_PER_LIST_BYTE": word_lists.BYTES_PER_LIST_BYTE,
    "MAX_WORDS": entropy.MAX_WORDS,
    "MAX_EPSILON": staircase.MAX_EPSILON,
    "MAX_LABELS": MAX_LABELS,
    "MAX_SENTENCE": label_bundle.MAX_SENTENCE,
    "MAX_DIMENSION": label_bundle._MAX_DIMENSION,
    "MAX_PAIRS": label_bundle._MAX_PAIRS,
    "MAX_CHARACTERS": label_bundle._MAX_CHARACTERS,
    "HASH_DIGITS": HASH_DIGITS,
    "CHARACTER_CLASSES": [*layout.CHARACTER_CLASSES],
    "MODES": [*options.MODES],
    "STYLES": [*plan.STYLES],
    "FACTS": [*options.FACTS],
    "DEFAULT_FACTS": options.DEFAULT_FACTS,
    "SHAPES": [*SHAPES],
    "COMMON_WORD_FLAGS": [*layout.COMMON_WORD_FLAGS],
    "FACT_KINDS": [*layout.FACT_KINDS],
    "CONSISTENT_CAP": options.CONSISTENT_CAP,
    "MAX_BATCH_CHARACTERS": rewriter.MAX_BATCH_CHARACTERS,
    "MAX_WHOLE_CHARACTERS": rewriter.MAX_WHOLE_CHARACTERS,
    "NAMES_BATCH_CHARACTERS": rewrite._BATCH_CHARACTERS,
    "MAX_WORD_LENGTH": MAX_WORD_LENGTH,
    "MIN_HEADLINE_WORDS": spans._MIN_HEADLINE_WORDS,
    "MAX_CONNECTORS": tokens.MAX_CONNECTORS,
    "MIN_IDENTIFIER_DIGITS": numbers.MIN_IDENTIFIER_DIGITS,
    "MIN_CONSISTENT_POOL": surrogates.MIN_CONSISTENT_POOL,
    "MAX_LISTED_NUMBERS": surrogates._MAX_LISTED_NUMBERS,
    "MAX_SPELLED": spelled_tokens.MAX_SPELLED,
    "MAX_BLANKS": form_index._MAX_BLANKS,
    "AFTER_TITLE": tokens.AFTER_TITLE,
    "SPELLED_NUMBER": spelled_tokens.SPELLED_NUMBER,
    "SPELLED_LETTERS": spelled_tokens.SPELLED_LETTERS,
    "EMOJI": emoji.EMOJI,
    "KEYCAP": emoji.KEYCAP,
    "TONE_PLACEHOLDER": emoji.TONE_PLACEHOLDER,
    "NUMBER_CLASSES": rules.NUMBER_CLASSES,
}


def parse_constants(source: str) -> dict[str, Any]:
    """Return the constants of a TypeScript file: numbers, strings, arrays and objects of strings."""
    found = {}
    for name, value in re.findall(r"^export const (\w+) =\s(.*?)(?: as const)?;$", source, re.M | re.S):
        literal = re.sub(r"(?<=\d)_(?=\d)", "", value)
        literal = re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', literal)
        found[name] = json.loads(re.sub(r",(\s*[\]}])", r"\1", literal))
    return found


def read_refusals() -> dict[str, str]:
    """Return the messages of calls that both packages refuse in the same words."""
    names, without_names = Sanitizer.load(GOLDEN / "names"), Sanitizer.load(GOLDEN / "staircase")
    calls: dict[str, Callable[[], object]] = {
        "noMechanism": lambda: names.preview("", protect="words"),
        "noNames": lambda: without_names.preview("", protect="names"),
        "namesOnly": lambda: without_names.preview("", style="tag"),
        "notOfNames": lambda: names.preview("", protect="names", sanitize_punctuation=True),
        "notOfDefault": lambda: names.preview("", sanitize_punctuation=True),
        "noTexts": lambda: names.sanitize_batch(5),  # pyright: ignore[reportArgumentType]
        "noDocument": lambda: without_names.sanitize_documents([5]),  # pyright: ignore[reportArgumentType]
        "noDocuments": lambda: without_names.sanitize_documents(5),  # pyright: ignore[reportArgumentType]
    }
    found = {}
    for name, call in calls.items():
        with pytest.raises(errors.TextveilError) as error:
            call()
        found[name] = re.sub(r"\b(style|sanitize_punctuation)\b", "{options}", str(error.value))
    return found


def test_constants_are_those_of_this_package() -> None:
    found = parse_constants((WEB / "src/constants.ts").read_text(encoding="utf-8"))
    assert found == {**CONSTANTS, "SHARED_MESSAGES": read_refusals()}


#: A script that reads patterns and strings, and writes which string each pattern matches as a whole, and the groups.
_MATCH = """
const { patterns, strings } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const found = patterns.map(([text, anyCase]) => {
  const pattern = new RegExp(`^(?:${text})$`, anyCase ? "isu" : "su");
  return strings.map((string) => pattern.exec(string)?.map((group) => group ?? null) ?? null);
});
console.log(JSON.stringify(found));
"""
_STRINGS = r"""
- 212-555-0101 anna@example.com a(at)b.de 123-45-6789 12345678 GB29NWBK60161331926819 AB12CDE 192.0.2.7 192.0.2.7:80/24
::1 00:00:5e:00:53:01 report.pdf REPORT.PDF a.docx /home/anna C:\anna ~\x a/b/c/d deadbeef01 2020-02-01 1/2/2003
1.2.03 1-2/03 9:05 7pm 11AM 08:51:06 12.30a.m 7-9pm 2021-2023 2021/22 1990s 90s 20's 1,234.5 1,23 .5 5, 22nd 1,000th
5kg 7.5LBS sw1a 1aa e1 SW1A 1AA 123e4567-e89b-12d3-a456-426614174000 1999 2099 2100 1492 10:30–11:45 2020‒2021 7‐9pm
1‐2‐3 90’s ١٢ ſ5 café.pdf 😀
""".split()


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_both_languages_match_the_patterns_of_rules_alike() -> None:
    texts = load_data("rules.json")["patterns"]
    patterns = [(rules.expand_pattern(texts, name), entry["any_case"]) for name, entry in texts.items()]
    examples = [*_STRINGS, *map("".join, itertools.product("0a:.,-/@ M", repeat=4))]
    given = json.dumps({"patterns": patterns, "strings": examples})
    run = subprocess.run(["node", "-e", _MATCH], input=given, capture_output=True, text=True, check=True)
    compiled = [re.compile(text, re.DOTALL | (re.IGNORECASE * any_case)) for text, any_case in patterns]
    matched = 0
    for name, pattern, found in zip(texts, compiled, json.loads(run.stdout), strict=True):
        for string, match in zip(examples, found, strict=True):
            own = pattern.fullmatch(string)
            assert (own and [own[0], *own.groups()]) == match, (name, string)
        matched += any(found)
    assert matched == len(patterns)


def test_errors_are_those_of_this_package() -> None:
    source = (WEB / "src/errors.ts").read_text(encoding="utf-8")
    pattern = (
        r"^/\*\* (.*) \*/\nexport class (\w+) extends (\w+) \{\n"
        r'  override readonly name: string = "(\w+)";\n  (?:override )?readonly code: string = "([\w-]+)";\n\}$'
    )
    found = {match[1]: match for match in re.findall(pattern, source, re.M)}
    assert [*found] == ERRORS
    assert source.count("export class") == len(ERRORS)
    for name, (summary, _, parent, printed, code) in found.items():
        error = getattr(errors, name)
        assert (summary, printed, code) == ((error.__doc__ or "").split("\n")[0].replace("``", "`"), name, error.code)
        assert parent == ("Error" if name == "TextveilError" else error.__bases__[0].__name__)
    ids = {name: getattr(defaults, name) for name in ("DEFAULT_BUNDLE_ID", "DEFAULT_ENCODER_ID")}
    assert parse_constants(source) == ids


def test_the_package_needs_nothing_and_its_lock_names_no_host() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert all(re.fullmatch(r"[0-9.]+", version) for version in package["devDependencies"].values())
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
