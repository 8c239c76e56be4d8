"""Build the public list of words in field names, from published descriptions of APIs and file formats.

    python artifacts/field-words/build.py SOURCES

`SOURCES` is a folder with the archives that README.md beside this script lists. The script writes
runtime/src/textveil/conversation/field-words.txt. The same archives give the same bytes on every machine.
"""

import argparse
import gzip
import json
import re
import tarfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textveil import Sanitizer
from textveil.text.identifiers import split_identifier

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "runtime/src/textveil/conversation/field-words.txt"
#: A word is taken from this many objects: of two descriptions, or of one vendor who has it in more objects.
LEAST_OBJECTS, LEAST_DESCRIPTIONS, LEAST_OBJECTS_OF_ONE = 3, 2, 8
#: A common word that is a name too is a word of fields if this many descriptions have a field that is called so.
LEAST_LONE = 8
#: A word that may name a firm or a city is taken from this many vendors, and one of two or three letters, which may be
#: somebody's initials, from this many.
LEAST_VENDORS_OF_FIRMS, LEAST_VENDORS_OF_SHORT, MOST_SHORT = 3, 2, 3
#: Parties of contracts and of products, which the list leaves out on purpose: their keys are replaced.
LEFT_OUT = re.compile("sub(?:agent|contractor|tenant)s?")
_PROPERTY = re.compile(r"^\s+(?:readonly )?'?(\w+)'?\??: ", re.MULTILINE)
_ATTRIBUTES = re.compile(r"attribute_map = \{(.*?)\}", re.DOTALL)
_NOT_SCHEMA = frozenset(("example", "examples", "enum", "default", "x-examples"))
_VERSIONED = re.compile(r"-v?\d+(\.\d+)*(-\w+)?\.json$")

#: The names of the fields of an object.
Fields = frozenset[str]


def list_fields(schema: Any) -> list[Fields]:
    """Return the names of the fields of each object that a JSON schema or an OpenAPI description defines."""
    found, open_values = [], [schema]
    while open_values:
        value = open_values.pop()
        if isinstance(value, list):
            open_values += value
        if not isinstance(value, dict):
            continue
        for name, entry in value.items():
            if name == "properties" and isinstance(entry, dict):
                found.append(frozenset(entry))
            elif name == "parameters":
                named = (
                    entry if isinstance(entry, dict) else [one.get("name") for one in entry if isinstance(one, dict)]
                )
                found.append(frozenset(one for one in named if isinstance(one, str)))
            if name not in _NOT_SCHEMA:
                open_values.append(entry)
    return [fields for fields in found if fields]


def join_digits(words: list[str]) -> Iterator[str]:
    """Yield the words of an identifier that contain digits, such as ``ec2`` and ``i18n``.

    Words whose digits are at the end of the identifier are omitted, since they need no list.
    """
    for word, digits, behind in zip(words, words[1:], words[2:], strict=False):
        if word.isalpha() and digits.isdigit() and len(digits) <= 3:
            yield word + digits
            if len(word) == len(behind) == 1 and behind.isalpha():
                yield word + digits + behind


def read_members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of an archive whose names match a pattern, in the order of names."""
    matches = re.compile(pattern).search
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in sorted(filter(matches, archive.namelist())):
                yield name, archive.read(name)
    else:
        with tarfile.open(path) as archive:
            for member in sorted(filter(lambda one: matches(one.name), archive), key=lambda one: one.name):
                content = archive.extractfile(member)
                yield member.name, content.read() if content else b""


def read_aws(path: Path) -> Iterator[tuple[str, list[Fields]]]:
    """Yield the name of each service of Amazon Web Services, and the fields of the objects in its newest version."""
    newest = {name.split("/")[2]: content for name, content in read_members(path, r"/service-2\.json(\.gz)?$")}
    for service, content in newest.items():
        shapes = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)["shapes"]
        members = [shape["members"] for shape in shapes.values() if shape.get("members")]
        yield service, [frozenset(n for k, m in one.items() for n in (k, m.get("locationName", k))) for one in members]


def read_google(path: Path) -> Iterator[tuple[str, list[Fields]]]:
    """Yield the name of each API of Google, and the fields of the objects in its newest description."""
    newest = {Path(name).name.split(".")[0]: content for name, content in read_members(path, r"/documents/.*\.json$")}
    for name, content in newest.items():
        yield name, list_fields(json.loads(content))


def read_schemas(path: Path, pattern: str) -> Iterator[tuple[str, list[Fields]]]:
    """Yield the file name of each schema in an archive, and the fields of its objects.

    Files whose name contains a version are skipped.
    """
    for name, content in read_members(path, pattern):
        if not _VERSIONED.search(name):
            yield name, list_fields(json.loads(content.decode("utf-8-sig")))


def read_kubernetes(path: Path) -> Iterator[tuple[str, list[Fields]]]:
    """Yield one pair: the name ``kubernetes``, and the fields of each Kubernetes model."""
    texts = [content.decode() for _, content in read_members(path, r"^kubernetes/client/models/\w+\.py$")]
    maps = [match[1] for text in texts if (match := _ATTRIBUTES.search(text))]
    yield "kubernetes", [frozenset(re.findall(r": '([^']*)'", one)) for one in maps]


def read_stripe(path: Path) -> Iterator[tuple[str, list[Fields]]]:
    """Yield one pair: the name ``stripe``, and the fields of each interface of Stripe."""
    texts = [content.decode() for _, content in read_members(path, r"^package/esm/resources/.*\.d\.ts$")]
    blocks = [block for text in texts for block in re.split(r"\binterface \w+", text)[1:]]
    yield "stripe", [frozenset(_PROPERTY.findall(block)) for block in blocks]


#: How each archive is read; a vendor's name begins its file name.
READERS = {
    "botocore": read_aws,
    "compose-spec": lambda path: read_schemas(path, r"/schema/[\w-]+\.json$"),
    "google_api_python_client": read_google,
    "kubernetes": read_kubernetes,
    "octokit-openapi": lambda path: read_schemas(path, r"/api\.github\.com\.json$"),
    "openai-openapi": lambda path: read_schemas(path, r"/openapi\.json$"),
    "schemastore": lambda path: read_schemas(path, r"/src/schemas/json/[\w.-]+\.json$"),
    "stripe": read_stripe,
    "twilio-oai": lambda path: read_schemas(path, r"/spec/json/\w+\.json$"),
}


class WordCounts:
    """Count how often each word occurs in field names.

    Attributes:
        objects: For each word the number of objects with a field name that contains the word.
        descriptions: For each word the descriptions that contain these objects, as pairs of vendor and name.
        lone: For each word the descriptions in which the whole name of a field is this word, in lower case.
    """

    def __init__(self) -> None:
        self.objects: Counter[str] = Counter()
        self.descriptions: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self.lone: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    def add(self, vendor: str, name: str, objects: list[Fields]) -> None:
        """Count the words in the field names of a description; objects with the same fields count once."""
        for fields in set(objects):
            words = set[str]()
            for field in fields:
                small = [w.lower() for w in split_identifier(field)] if field.isascii() and len(field) <= 64 else []
                words |= {word for word in small if word.isalpha() and len(word) > 1}
                words |= set(join_digits(small))
                if small == [field]:
                    self.lone[field].add((vendor, name))
            for word in words:
                self.objects[word] += 1
                self.descriptions[word].add((vendor, name))

    def is_frequent(self, word: str) -> bool:
        """Return whether the word occurs in enough objects and descriptions."""
        count, descriptions = self.objects[word], len(self.descriptions[word])
        return count >= LEAST_OBJECTS and (descriptions >= LEAST_DESCRIPTIONS or count >= LEAST_OBJECTS_OF_ONE)

    def count_vendors(self, word: str) -> int:
        """Return the number of vendors that use the word."""
        return len({vendor for vendor, _ in self.descriptions[word]})


def choose_words(counts: WordCounts) -> list[str]:
    """Return the words of the list; omit a person's name unless it is a field name in many descriptions."""
    lists = Sanitizer.load().names_plan(protect="names").lists
    kinds = lists.members_by_type
    never = {word for kind in ("country", "family", "group", "month", "number-word", "weekday") for word in kinds[kind]}
    firms = {*kinds["city"], *kinds["organization"]}
    found = []
    for word in counts.objects:
        least = LEAST_VENDORS_OF_FIRMS if word in firms else LEAST_VENDORS_OF_SHORT if len(word) <= MOST_SHORT else 1
        if word in kinds["given"] or word in kinds["family"]:
            if word in lists.common_words and len(counts.lone[word]) >= LEAST_LONE:
                found.append(word)
        elif word in lists.common_words or word in never or LEFT_OUT.fullmatch(word) or is_login(word, kinds):
            continue
        elif counts.is_frequent(word) and counts.count_vendors(word) >= least:
            found.append(word)
    return sorted(found)


def is_login(word: str, kinds: Any) -> bool:
    """Return whether a word joins a given name and a family name, or an initial and one of these names."""
    given, family = kinds["given"], kinds["family"]
    if word[1:] in family or word[:-1] in given:
        return len(word) > 4
    return any(word[:cut] in given and word[cut:] in family for cut in range(3, len(word) - 2))


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, help="folder of the archives")
    folder = parser.parse_args().sources
    counts = WordCounts()
    for vendor, read in READERS.items():
        paths = sorted(folder.glob(f"{vendor}-*"))
        if len(paths) != 1:
            raise SystemExit(f"{folder}: one archive of {vendor} is needed")
        descriptions = [*read(paths[0])]
        for name, objects in descriptions:
            counts.add(vendor, name, objects)
        print(f"{vendor:25} {len(descriptions):5} descriptions {sum(len(o) for _, o in descriptions):7,} objects")
    words = sorted({*choose_words(counts), *(HERE / "by_hand.txt").read_text("ascii").split()})
    TARGET.write_text("".join(f"{word}\n" for word in words), "ascii")
    print(len(words), "words")


if __name__ == "__main__":
    main()
