"""Writes what both languages say and look up into ``src/generated.ts``: the Python package is the one source.

python web/scripts/generate.py            writes the file
python web/scripts/generate.py --check    fails if it differs
"""

import itertools
import json
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from sentences import refusals, sentences, sentences_of_index, sentences_of_names
from textveil import errors
from textveil.bundle import defaults, files, index, layout, lists, names_files, opened, parts
from textveil.lazy import LatePattern
from textveil.mechanisms import integer_sampling
from textveil.mechanisms.staircase import staircase
from textveil.mechanisms.staircase.index import MAX_CODES
from textveil.text import forms, options, placing, word_characters
from textveil.text.names import chunks, emoji, kinds, lexicon, places, plan, rewrite, spelled, surrogates, words
from textveil.text.names import strings as names_strings
from textveil.text.rewrite import rewriter
from textveil.text.segmentation import characters, strings
from textveil.text.segmentation.words import AUXILIARIES, CLITICS
from textveil.text.skeleton import kinds as shapes
from textveil.text.skeleton import rule
from textveil.vector import static
from textveil.vector.index_encoder import IDENTITY_DIGITS

SOURCE = Path(__file__).parents[1] / "src"
#: Errors that a reader without files, ledgers, models and other processes can meet.
ERRORS = """TextveilError BundleError BundleNotFound BundleDamaged BundleTooLarge BundleVersion WrongBundle
IdentityMismatch OptionError UnknownMechanism UnknownLevel EncoderUnavailable
InputError DocumentTooLong RestoredNotJson EntropyFailed""".split()


def pattern(found: "re.Pattern[str] | LatePattern") -> str:
    """Returns a pattern that JavaScript reads alike in ASCII: all of a text has to fit."""
    return "^(?:" + found.pattern.replace("(?P<", "(?<") + ")$"


def ranges(numbers: Iterable[int]) -> list[int]:
    """Returns the first and the last of each range, in turn."""
    found: list[int] = []
    for number in sorted(numbers):
        if found and found[-1] == number - 1:
            found[-1] = number
        else:
            found += [number, number]
    return found


def base_36(number: int) -> str:
    """Returns a number as JavaScript reads it with the radix 36."""
    head = base_36(number // 36) if number >= 36 else ""
    return head + "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]


def steps(boundaries: list[int]) -> str:
    """Returns boundaries of ranges, each as its distance from the one before it."""
    return " ".join(base_36(b - a) for a, b in itertools.pairwise([0, *boundaries]))


def steps_of_ranges(written: str) -> str:
    """Return ranges of code points as steps between the first of each and the one behind its last."""
    points = emoji.boundaries(written)
    return steps([point + place % 2 for place, point in enumerate(points)])


def every_character() -> Iterable[str]:
    """Yields all characters."""
    return map(chr, range(sys.maxunicode + 1))


def digits_that_are_no_decimals() -> list[int]:
    """Returns ranges of characters with Numeric_Type Digit, which JavaScript has no property for."""
    return ranges(ord(c) for c in every_character() if unicodedata.digit(c, None) is not None and not c.isdecimal())


def constants() -> dict[str, object]:
    """Returns all constants by name."""
    return {
        "FORMAT": layout.FORMAT,
        "FORMAT_VERSION": layout.FORMAT_VERSION,
        "MAX_BUNDLE_BYTES": opened.MAX_BUNDLE_BYTES,
        "MAX_JSON_BYTES": files.MAX_JSON_BYTES,
        "MAX_JSON_VALUES": files.MAX_JSON_VALUES,
        "MAX_SYMBOLS": parts.MAX_SYMBOLS,
        "MAX_LEVELS": parts.MAX_LEVELS,
        "MAX_KINDS": parts.MAX_KINDS,
        "MAX_ENTRIES": lists.MAX_ENTRIES,
        "MAX_LIST_BYTES": lists.MAX_LIST_BYTES,
        "MAX_LINE_BYTES": lists.MAX_LINE_BYTES,
        "BYTES_OF_AN_ENTRY": lists.BYTES_OF_AN_ENTRY,
        "BYTES_OF_A_BYTE": lists.BYTES_OF_A_BYTE,
        "MAX_WORDS": integer_sampling.MAX_WORDS,
        "MAX_EPSILON": staircase.MAX_EPSILON,
        "CHARACTER_CLASSES": list(layout.CHARACTER_CLASSES),
        "RUNGS": list(options.RUNGS),
        "CASES": list(options.CASES),
        "STYLES": list(plan.STYLES),
        "CONSISTENT_CAP": options.CONSISTENT_CAP,
        "BATCH_CHARACTERS": rewriter.BATCH_CHARACTERS,
        "LONG_CHARACTERS": rewriter.LONG_CHARACTERS,
        "NAMES_BATCH": rewrite._BATCH,
        "LONGEST_WORD": strings.LONGEST_WORD,
        "AUXILIARIES": sorted(AUXILIARIES),
        "CLITICS": sorted(CLITICS),
        "MARKS": list(rule.MARKS.outputs),
        "SENTENCE_ENDS": "".join(sorted(rule._ENDS_SENTENCE)),
        "HARD": characters.HARD,
        "SOFT": characters.TRIMMED_URL.removeprefix(characters.TRIMMED),
        "ENDS": characters.TRIMMED,
        "BETWEEN": characters.BETWEEN,
        "TOP_LEVEL": strings.TOP_LEVEL.split(),
        "SHAPES": list(shapes.SHAPES),
        "NAMES_MARKS": list(layout.NAMES_MARKS),
        "CLOSED_KINDS": list(names_files.CLOSED_KINDS),
        "NAMES_KINDS": sorted(plan.KINDS),
        "NAMES_POOLS": sorted(plan.POOLS),
        "ANY_CASE": list(lexicon._ANY_CASE),
        "LOWER_KINDS": list(lexicon._LOWER),
        "CAPITALIZED": list(lexicon._CAPITALIZED),
        "ENDINGS": list(lexicon._ENDINGS),
        "LETTER_CLITICS": "".join(sorted(lexicon._CLITICS)),
        "BEGIN_NAMES": sorted(lexicon._BEGIN_NAMES),
        "FORMS": sorted(lexicon._FORMS),
        "NO_FORM": lexicon._NO_FORM,
        "NAME_LIKE": sorted(lexicon._NAME_LIKE),
        "VERBS": sorted(lexicon._VERBS - lexicon.REQUESTS),
        "REQUESTS": sorted(lexicon.REQUESTS),
        "SHOWN_WHOLE": sorted(chunks._SHOWN_WHOLE),
        "CLITIC_PIECES": sorted(chunks._CLITIC_PIECES),
        "LONE_CLITIC": pattern(chunks._LONE_CLITIC),
        "EMOTICON": pattern(chunks._EMOTICON),
        "ENTITY": chunks._ENTITY.pattern.replace(r"\b", ""),
        "LINE_BREAKS": "".join(sorted(words.LINE_BREAKS)),
        "ENDS_SENTENCE": "".join(sorted(words._ENDS_SENTENCE)),
        "OPENS": "".join(sorted(words._OPENS)),
        "SUFFIXES": sorted(words._SUFFIXES),
        "JOINS": sorted(words.JOINS),
        "JOINS_INITIALS": sorted(words.JOINS_INITIALS),
        "JOINS_FORMS": sorted(words._JOINS_FORMS),
        "ABBREVIATIONS": sorted(words._ABBREVIATIONS),
        "YEARS": sorted(words._YEARS),
        "LONG_HEADLINE": places._LONG_HEADLINE,
        "SMALL": sorted(places._SMALL),
        "CONNECTORS": sorted(places._CONNECTORS),
        "MOST_CONNECTORS": places._MOST_CONNECTORS,
        "JOINS_DIGITS": sorted(spelled.JOINS_DIGITS),
        "BEFORE_LISTED": places._BEFORE_LISTED,
        "BLANKS_LISTED": "".join(sorted(places._BLANKS)),
        "TITLE_LAYOUTS": lexicon.TITLE_LAYOUTS,
        "TITLES": surrogates._TITLES,
        "WHOLE": list(kinds._WHOLE),
        "LAST": [list(pair) for pair in kinds._LAST],
        "ABROAD": kinds._ABROAD,
        "NO_PERSONS": sorted(kinds._NO_PERSONS),
        "PLACE_BEFORE": sorted(kinds._PLACE_BEFORE),
        "UNLISTED": sorted(kinds.UNLISTED),
        "PEOPLE_TOO": sorted(kinds.PEOPLE_TOO),
        "SMALL_KINDS": kinds._SMALL,
        "TITLE_BEFORE": "<title>",
        "TLD": names_strings._TLD,
        "MAC": pattern(names_strings._MAC),
        "IP": pattern(names_strings._IP),
        "TIME": pattern(names_strings._TIME),
        "TIMES": pattern(names_strings._TIMES),
        "DASH": names_strings._DASH,
        "SEASON": pattern(names_strings._SEASON),
        "YEARS_BETWEEN": pattern(names_strings._YEARS),
        "DATE": pattern(names_strings._DATE),
        "ORDINAL": pattern(strings.ORDINAL),
        "DECADE": pattern(names_strings._DECADE),
        "EMAIL": pattern(names_strings._EMAIL),
        "FILE": pattern(names_strings._FILE),
        "PATH": pattern(names_strings._PATH),
        "NUMBER": pattern(names_strings._NUMBER),
        "DIGIT_GROUPS": pattern(names_strings._DIGITS),
        "IBAN": pattern(names_strings._IBAN),
        "OUTWARD": pattern(names_strings._OUTWARD),
        "INWARD": pattern(names_strings._INWARD),
        "UUID": pattern(names_strings._UUID),
        "HASH": pattern(names_strings._HASH),
        "SSN": pattern(names_strings._SSN),
        "WITH_UNIT": pattern(names_strings._WITH_UNIT),
        "IDENTIFIER_DIGITS": names_strings.IDENTIFIER_DIGITS,
        "CALLED": kinds.CALLED,
        "NUMBERS": sorted(surrogates._NUMBERS),
        "SMALLEST_CONSISTENT": surrogates.SMALLEST_CONSISTENT,
        "INITIALS": surrogates._INITIALS,
        "LETTERS": surrogates._LETTERS,
        "SPELLED": surrogates._SPELLED,
        "MOST_LISTED": surrogates._MOST_LISTED,
        "NUMBER_WORDS": spelled.NUMBER_WORDS,
        "CONNECTED": spelled.CONNECTORS,
        "WEAK": sorted(spelled.WEAK),
        "JOINS_SPELLED": sorted(spelled.JOINS_SPELLED),
        "JOINS_LETTERS": sorted(spelled.JOINS_LETTERS),
        "JOINS_NAMES": sorted(spelled._JOINS_NAMES),
        "MOST_SPELLED": spelled.MOST_SPELLED,
        "SPELLED_NUMBER": spelled.SPELLED_NUMBER,
        "SPELLED_LETTERS": spelled.SPELLED_LETTERS,
        "CODE": surrogates._CODE,
        "WRITTEN_SMALL": sorted(surrogates._WRITTEN_SMALL),
        "NETS": list(surrogates._NETS),
        "DOMAINS": list(surrogates._DOMAINS),
        "WHOLES": {size: list(pair) for size, pair in surrogates._WHOLES.items()},
        "UNREADABLE": surrogates._UNREADABLE,
        "MONTHS": forms._MONTHS,
        "MOST_BLANKS": placing._MOST_BLANKS,
        "NUMERIC_DIGITS": digits_that_are_no_decimals(),
        "WORD_CHARACTERS": steps(word_characters.BOUNDARIES),
        "SYMBOLS": steps(word_characters.SYMBOL_BOUNDARIES),
        "EMOJI_CLASSES": {name: steps_of_ranges(of) for name, of in emoji.CLASSES.items()},
        "EMOJI_SEQUENCE": emoji.SEQUENCE,
        "EMOJI_LISTED": emoji.LISTED,
        "EMOJI_SPARE": steps_of_ranges(emoji.SPARE),
        "EMOJI": emoji.EMOJI,
        "KEYCAP": emoji.KEYCAP,
        "TONES": emoji.TONES,
        "TONE": emoji.TONE,
        "REFUSALS": refusals(),
        "STATEMENT": sentences(),
        "NAMES_STATEMENT": sentences_of_names(),
        "INDEX_STATEMENT": sentences_of_index(),
        "MAX_CODES": MAX_CODES,
        "MAX_SENTENCE": index.MAX_SENTENCE,
        "MAX_DIMENSION": index._MAX_DIMENSION,
        "MAX_PAIRS": index._MAX_PAIRS,
        "MAX_CHARACTERS": index._MAX_CHARACTERS,
        "IDENTITY_DIGITS": IDENTITY_DIGITS,
        "INDEX_TOKEN_CLITIC": pattern(static._CLITIC),
    }


def said(value: object) -> str:
    """Returns a value as TypeScript; what is not printed in ASCII is escaped."""
    written = json.dumps(value, ensure_ascii=True, indent=None)
    return f"{written} as const" if isinstance(value, list | dict) else written


_HEAD = "// Written by web/scripts/generate.py from the Python package. Do not edit: change it there.\n"


def written_constants() -> str:
    """Returns ``generated.ts``."""
    return _HEAD + "".join(f"export const {name} = {said(value)};\n" for name, value in constants().items())


def written_errors() -> str:
    """Returns ``errors.ts``."""
    found = [_HEAD]
    for name in ("DEFAULT_BUNDLE_ID", "DEFAULT_ENCODER_ID"):
        found.append(f"export const {name} = {said(getattr(defaults, name))};\n")
    for name in ERRORS:
        error = getattr(errors, name)
        summary = (error.__doc__ or "").split("\n")[0].replace("``", "`")
        first = name == "TextveilError"
        parent, again = ("Error", "") if first else (error.__bases__[0].__name__, "override ")
        found.append(
            f"/** {summary} */\nexport class {name} extends {parent} {{\n"
            f'  override readonly name: string = "{name}";\n'
            f'  {again}readonly code: string = "{error.code}";\n}}\n'
        )
    return "".join(found)


if __name__ == "__main__":
    for name, text in (("generated.ts", written_constants()), ("errors.ts", written_errors())):
        if "--check" not in sys.argv[1:]:
            (SOURCE / name).write_text(text, encoding="utf-8")
        elif (SOURCE / name).read_text(encoding="utf-8") != text:
            sys.exit(f"web/src/{name} differs from what the Python package says: python web/scripts/generate.py")
