"""Replies in other languages are restored by the rules in the mapping: inflections, and words before a vowel."""

import json
from pathlib import Path
from typing import Any

import pytest
from invented_language import CLITICS_BEFORE, WORDS, make_rules, write_invented
from small_names import write_names
from textveil import Sanitizer
from textveil.bundle.reply_rules import join_reply_rules, make_reply_rules
from textveil.errors import BundleDamaged, InputError
from textveil.text.restore import Restorer

CASES = [
    (entry["mapping"], reply, restored)
    for entry in json.loads((Path(__file__).parents[2] / "docs/golden/replies.json").read_text("utf-8"))
    for reply, restored in entry["replies"]
]


@pytest.mark.parametrize(("mapping", "reply", "restored"), CASES, ids=[reply for _, reply, _ in CASES])
def test_a_reply_is_restored_whole_and_in_pieces(mapping: dict[str, Any], reply: str, restored: str) -> None:
    restorer = Restorer.from_json(json.dumps(mapping).encode())
    assert str(restorer.restore(reply)) == restored
    for length in range(1, 8):
        stream = restorer.open_stream()
        pieces = [stream.feed(reply[start : start + length]) for start in range(0, len(reply), length)]
        assert "".join(pieces) + stream.close() == restored
    assert json.loads(restorer.to_json()) == mapping


def test_each_rule_changes_some_reply() -> None:
    """A reader that ignores a key of the rules fails one of the golden replies at least."""
    for mapping in {json.dumps(mapping): mapping for mapping, *_ in CASES}.values():
        for key in mapping["replies"]:
            fewer = mapping | {"replies": {name: of for name, of in mapping["replies"].items() if name != key}}
            restorer = Restorer.from_json(json.dumps(fewer).encode())
            assert any(str(restorer.restore(reply)) != after for of, reply, after in CASES if of == mapping), key


@pytest.mark.parametrize(
    "replies",
    [
        [],
        {"x": []},
        {"elisions": {}},
        {"elisions": ["d'"]},
        {"elisions": ["d de"]},
        {"vowels": ["ae"]},
        {"inflections": []},
        {"inflections": {"plural": "s"}},
        {"inflections": {"plural": ["s  es"]}},
        {"inflections": {"plural": ["s"]}, "word_inflections": {"plural": ["s"]}},
        {"clitics": ["'d"]},
    ],
)
def test_malformed_rules_of_a_mapping_are_refused(replies: Any) -> None:
    mapping = {"format": "textveil-mapping", "format_version": 1, "originals": {}, "replies": replies}
    with pytest.raises(InputError, match="not a mapping that textveil wrote"):
        Restorer.from_json(json.dumps(mapping).encode())


def test_rules_of_several_languages_are_joined() -> None:
    one, other = (
        make_reply_rules({"clitics": ["d'"], "inflections": {"plural": ["s"]}}),
        make_reply_rules({"clitics": ["l'", "d'"], "inflections": {"plural": ["en"]}}),
    )
    joined = join_reply_rules([one, make_reply_rules({}), other])
    assert joined.clitics == {"d'", "l'"}
    assert [joined.inflect("Keller", name) for name in joined.list_inflections("Keller")] == ["Kellers", "Kelleren"]


def test_a_bundle_gives_its_rules_to_the_mapping(tmp_path: Path) -> None:
    sanitizer = Sanitizer.load(write_invented(tmp_path / "pack"))
    result = sanitizer.sanitize(f"{WORDS[0]} Vrobelq {WORDS[1]}", protect="names")
    (surrogate,) = set(result.text.split()) - {WORDS[0], WORDS[1]}
    reply = f"{surrogate}m {WORDS[0]} l'{surrogate} {surrogate}oq lo {surrogate}"
    assert str(result.restore(reply)) == f"Vrobelq' {WORDS[0]} l'Vrobelq Vrobelzzen lo Vrobelq"
    assert result.mapping is not None
    saved = json.loads(result.mapping.to_json())["replies"]
    assert saved == {"clitics": [*CLITICS_BEFORE], **make_rules()["optional"]["replies"]}


@pytest.mark.parametrize(
    ("key", "entries", "problem"),
    [
        ("elisions", ["d'"], "elisions: an entry is malformed"),
        (
            "word_inflections",
            {"plural": ["a"]},
            "word_inflections: an inflection has the same name as an entry of inflections",
        ),
        ("inflections", {"a b": ["a"]}, "inflections: a key must consist of lower-case letters"),
        ("vowels", ["A"], "vowels: a word is empty, too long, not in lower case"),
    ],
)
def test_malformed_rules_of_a_bundle_are_refused_by_their_key(
    key: str, entries: Any, problem: str, tmp_path: Path
) -> None:
    rules = make_rules()
    rules["optional"]["replies"][key] = entries
    folder = write_names(tmp_path / "pack", changed={"rules.json": json.dumps(rules)})
    with pytest.raises(BundleDamaged, match=rf"rules\.json: optional\.replies\.{problem}"):
        Sanitizer.load(folder).sanitize("x", protect="names")
